//! The 82 countries of addresses and documents, and the document types of each
//! (`docs/interface/conventions.md#countries`).

mod schema;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use schema::CountryOrBlank;

/// A country that the interface accepts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Country(u8);

/// What a document number identifies. A label for the provider; no decision depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// A bank account.
    Bank,
    /// A company.
    Company,
    /// A medicine.
    Medicine,
    /// A person.
    Person,
    /// A person or a company.
    PersonOrCompany,
    /// A person, or a payer of value added tax.
    PersonOrVat,
    /// A tax payer.
    Tax,
    /// A tax payer that is a company.
    TaxOrCompany,
    /// A tax payer that is a person.
    TaxOrPerson,
    /// A tax payer, also of value added tax.
    TaxOrVat,
    /// A payer of value added tax.
    Vat,
}

/// A type of document of a country.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentType {
    /// The word on the wire, compared without regard to case.
    pub name: &'static str,
    /// What its number identifies.
    pub kind: DocumentKind,
}

impl Country {
    /// Brazil, the default of documents and addresses.
    pub const BR: Self = Self::listed("BR");

    /// Reads an ISO 3166-1 alpha-2 code, in upper case as on the wire.
    pub fn parse(code: &str) -> Option<Self> {
        Self::all().find(|country| country.code() == code)
    }

    /// The ISO 3166-1 alpha-2 code.
    pub fn code(self) -> &'static str {
        TABLE[usize::from(self.0)].0
    }

    /// The document types of the country; empty when none is published.
    pub fn document_types(self) -> &'static [DocumentType] {
        TABLE[usize::from(self.0)].1
    }

    /// Every country, in the order in which an error names them.
    pub fn all() -> impl Iterator<Item = Self> {
        (0_u8..).zip(TABLE).map(|(index, _)| Self(index))
    }

    /// Finds a code at compile time; an unlisted code does not compile.
    const fn listed(code: &str) -> Self {
        let mut index = 0;
        while index < TABLE.len() {
            let (listed, code) = (TABLE[index].0.as_bytes(), code.as_bytes());
            if listed[0] == code[0] && listed[1] == code[1] {
                return Self(index as u8);
            }
            index += 1;
        }
        panic!("not a listed country")
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
impl Serialize for Country {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
impl<'de> Deserialize<'de> for Country {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        Self::parse(&code).ok_or_else(|| de::Error::custom("not a listed country"))
    }
}

use DocumentKind::{
    Bank, Company, Medicine, Person, PersonOrCompany, PersonOrVat, Tax, TaxOrCompany, TaxOrPerson, TaxOrVat,
    Vat,
};

const fn document(name: &'static str, kind: DocumentKind) -> DocumentType {
    DocumentType { name, kind }
}

/// One row a country: its code and its document types, with the oddities of the published table.
#[rustfmt::skip]
const TABLE: [(&str, &[DocumentType]); 82] = [
    ("AL", &[document("NIPT", Vat)]),
    ("AD", &[document("NRT", Tax)]),
    ("AR", &[document("CBU", Bank), document("CUIT", Tax), document("DNI", Person)]),
    ("AT", &[document("Businessid", Company), document("TIN", Tax), document("UID", Vat), document("VNR", Person)]),
    ("AU", &[document("ABN", Company), document("ACN", Company), document("TFN", Tax)]),
    ("BA", &[document("JMBG", Person)]),
    ("BZ", &[document("TIN", PersonOrCompany)]),
    ("BE", &[document("VAT", Company)]),
    ("BG", &[document("EGN", Person), document("PNF", Person), document("VAT", Company)]),
    ("BR", &[document("CPF", Person), document("CNPJ", Company)]),
    ("BY", &[document("UNP", PersonOrCompany)]),
    ("CA", &[document("BN", Company), document("SIN", Person)]),
    ("CU", &[document("NI", Person)]),
    ("CY", &[document("VAT", Company)]),
    ("CZ", &[document("DIC", Company), document("RC", Person)]),
    ("CH", &[document("SSN", Person), document("UID", Company), document("VAT", Company)]),
    ("CL", &[document("RUT", Tax)]),
    ("CN", &[document("RIC", Person), document("USCC", Company)]),
    ("CO", &[document("NIT", Tax)]),
    ("CR", &[document("CPF", Person), document("CPJ", Company), document("CR", Person)]),
    ("DE", &[document("IDNR", Person), document("STNR", Company), document("VAT", Company)]),
    ("DK", &[document("VAT", Company)]),
    ("DO", &[document("CEDULA", Person), document("NCF", Vat), document("RNC", Tax)]),
    ("EC", &[document("CI", Person), document("RUC", TaxOrVat)]),
    ("EE", &[document("IK", Person), document("KMKR", Company), document("Registrikood", Company)]),
    ("SV", &[document("NIT", Tax)]),
    ("GT", &[document("CUI", Person), document("NIT", Company)]),
    ("FI", &[document("ALV", Company), document("HETU", Person), document("YTUNNUS", Company)]),
    ("FR", &[document("NIF", Person), document("NIR", Person), document("SIREN", Company), document("SIRET", Company), document("TVA", Vat)]),
    ("GB", &[document("UTR", Person), document("VAT", Company)]),
    ("GR", &[document("AMKA", Company), document("VAT", Company)]),
    ("HR", &[document("OIB", Person)]),
    ("HK", &[document("HKID", Person)]),
    ("HU", &[document("ANUM", Vat)]),
    ("IS", &[document("KENNITALA", PersonOrCompany), document("VSK", Vat)]),
    ("ID", &[document("NPWP", PersonOrCompany)]),
    ("IE", &[document("PPS", Person), document("VAT", TaxOrVat)]),
    ("IN", &[document("AADHAAR", Company), document("PAN", Person)]),
    ("IL", &[document("IDNR", Person), document("HR", Company)]),
    ("IT", &[document("AIC", Medicine), document("CODICEFISCALE", Person), document("IVA", Vat)]),
    ("LI", &[document("PEID", PersonOrCompany)]),
    ("LT", &[document("ASMENS", Person), document("PVM", Vat)]),
    ("LU", &[document("TVA", Vat)]),
    ("LV", &[document("PVN", PersonOrVat)]),
    ("MK", &[document("JMBG", Person)]),
    ("MC", &[document("TVA", Vat)]),
    ("MD", &[document("IDNO", Vat)]),
    ("MT", &[document("VAT", Vat)]),
    ("MU", &[document("NID", Person)]),
    ("JP", &[document("CN", Company)]),
    ("KR", &[document("BRN", Company), document("RRN", Person)]),
    ("MX", &[document("RFC", TaxOrVat), document("CURP", Person), document("CLABE", Bank)]),
    ("ME", &[document("JMBG", Person)]),
    ("MY", &[document("NRIC", Person)]),
    ("NL", &[document("BSN", Person), document("BTW", Vat), document("Onderwijsnummer", Person)]),
    ("NZ", &[document("IRD", PersonOrCompany), document("BANK", Bank)]),
    ("NO", &[document("Fodsels", Person), document("Konto", Bank), document("MVA", Vat), document("Orgnr", Company)]),
    ("PY", &[document("RUC", TaxOrVat)]),
    ("PE", &[document("CUI", Person), document("RUC", TaxOrVat), document("CE", Person)]),
    ("PK", &[document("CNIC", Person), document("NTN", Company)]),
    ("PL", &[document("NIP", Vat), document("PESEL", Person), document("REGON", Company)]),
    ("PT", &[document("NIF", Vat)]),
    ("RU", &[document("INN", TaxOrVat)]),
    ("RO", &[document("CF", Vat), document("CNP", Person), document("CUI", Tax), document("ONRC", Company)]),
    ("SM", &[document("COE", Company)]),
    ("RS", &[document("PIB", Vat), document("JMBG", Person)]),
    ("SE", &[document("ORGNR", Company), document("PERSONNUMMER", Person), document("VAT", Vat)]),
    ("SG", &[document("UEN", Company)]),
    ("TH", &[document("IDNR", Person)]),
    ("TW", &[document("UBN", Company)]),
    ("TR", &[document("TCKIMLIK", Person), document("VKN", Tax)]),
    ("SI", &[document("DDV", Vat), document("JMBG", Person)]),
    ("SK", &[document("DPH", Vat), document("RC", Person)]),
    ("ES", &[document("CIF", TaxOrVat), document("DNI", Person), document("NIE", Person), document("NIF", Tax)]),
    ("UY", &[document("RUT", TaxOrVat), document("CEDULA", Person), document("NIE", Person)]),
    ("UA", &[document("RNTRC", Person), document("EDRPOU", Company)]),
    ("US", &[document("EIN", TaxOrCompany), document("SSN", TaxOrPerson)]),
    ("VE", &[document("RIF", Vat)]),
    ("VN", &[document("MST", Company)]),
    ("ZA", &[document("IDNR", Person), document("TIN", PersonOrCompany)]),
    ("BO", &[]),
    ("PA", &[]),
];
