//! The fields that a review asks for, named like the members of a seller's request. What a value of one may be is the rule of
//! that member: an answer is read as a change of the seller. No value of a seller is ever shown beside them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::country::Country;
use crate::problems::Problems;
use crate::seller::data::{AccountType, HolderType, SellerData, TransferInterval};
use crate::seller::document::DocumentKind;
use crate::text::chars_max;
use crate::words::words;

words! {
    /// What the value of a field of a review is.
    #[schema(as = RegistrationReviewFieldType)]
    FieldType {
        /// A text.
        String = "string",
        /// A number with two decimals at most.
        Number = "number",
        /// True or false.
        Boolean = "boolean",
        /// A day.
        Date = "date",
        /// The id of an uploaded file.
        Document = "document",
    }
}

/// A field that a review asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Whether an answer must have it.
    pub required: bool,
}

/// What is known of a field by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownField {
    /// Its name: the path in a seller's request.
    pub name: &'static str,
    /// What its value is.
    pub kind: FieldType,
    /// What it is called: in English, Portuguese and Spanish.
    pub labels: [&'static str; 3],
}

use FieldType::{Boolean, Date as Day, Document, Number, String as Text};

const fn field(name: &'static str, kind: FieldType, labels: [&'static str; 3]) -> KnownField {
    KnownField { name, kind, labels }
}

/// How many fields a review may ask for: all that there are.
pub const FIELDS_MAX: usize = FIELDS.len();

/// Every field that a review may ask for.
#[rustfmt::skip]
const FIELDS: [KnownField; 68] = [
    field("owner.name", Text, ["Name", "Nome", "Nombre"]),
    field("owner.email", Text, ["E-mail", "E-mail", "Correo electrónico"]),
    field("owner.phoneNumber", Text, ["Phone", "Telefone", "Teléfono"]),
    field("owner.birthdate", Day, ["Date of birth", "Data de nascimento", "Fecha de nacimiento"]),
    field("owner.document.type", Text, ["Kind of document", "Tipo de documento", "Tipo de documento"]),
    field("owner.document.number", Text, ["Number of the document", "Número do documento", "Número del documento"]),
    field("owner.document.country", Text, ["Country of the document", "País do documento", "País del documento"]),
    field("owner.address.street", Text, ["Street", "Rua", "Calle"]),
    field("owner.address.streetNumber", Text, ["Number", "Número", "Número"]),
    field("owner.address.complement", Text, ["Complement", "Complemento", "Complemento"]),
    field("owner.address.referencePoint", Text, ["Point of reference", "Ponto de referência", "Punto de referencia"]),
    field("owner.address.district", Text, ["District", "Bairro", "Barrio"]),
    field("owner.address.city", Text, ["City", "Cidade", "Ciudad"]),
    field("owner.address.state", Text, ["State", "Estado", "Estado"]),
    field("owner.address.zipCode", Text, ["Postal code", "CEP", "Código postal"]),
    field("owner.address.country", Text, ["Country", "País", "País"]),
    field("owner.monthlyIncome", Number, ["Monthly income", "Renda mensal", "Ingreso mensual"]),
    field("owner.professionalOccupation", Text, ["Occupation", "Profissão", "Ocupación"]),
    field("owner.annualRevenue", Number, ["Annual revenue", "Faturamento anual", "Facturación anual"]),
    field("owner.businessCategory", Text, ["Line of business", "Ramo de atividade", "Rubro"]),
    field("owner.isBusinessRepresentative", Boolean, ["Legal representative", "Representante legal", "Representante legal"]),
    field("business.name", Text, ["Company", "Empresa", "Empresa"]),
    field("business.email", Text, ["E-mail of the company", "E-mail da empresa", "Correo de la empresa"]),
    field("business.phoneNumber", Text, ["Phone of the company", "Telefone da empresa", "Teléfono de la empresa"]),
    field("business.corporateReason", Text, ["Registered name", "Razão social", "Razón social"]),
    field("business.website", Text, ["Web site", "Site", "Sitio web"]),
    field("business.facebook", Text, ["Facebook page", "Página no Facebook", "Página de Facebook"]),
    field("business.twitter", Text, ["Twitter page", "Página no Twitter", "Página de Twitter"]),
    field("business.description", Text, ["What the company does", "O que a empresa faz", "A qué se dedica la empresa"]),
    field("business.openingDate", Day, ["Opened on", "Data de abertura", "Fecha de apertura"]),
    field("business.annualRevenue", Number, ["Annual revenue of the company", "Faturamento anual da empresa", "Facturación anual de la empresa"]),
    field("business.document.type", Text, ["Kind of document of the company", "Tipo de documento da empresa", "Tipo de documento de la empresa"]),
    field("business.document.number", Text, ["Number of the document of the company", "Número do documento da empresa", "Número del documento de la empresa"]),
    field("business.document.country", Text, ["Country of the document of the company", "País do documento da empresa", "País del documento de la empresa"]),
    field("business.address.street", Text, ["Street of the company", "Rua da empresa", "Calle de la empresa"]),
    field("business.address.streetNumber", Text, ["Number of the company", "Número da empresa", "Número de la empresa"]),
    field("business.address.complement", Text, ["Complement of the company", "Complemento da empresa", "Complemento de la empresa"]),
    field("business.address.referencePoint", Text, ["Point of reference of the company", "Ponto de referência da empresa", "Punto de referencia de la empresa"]),
    field("business.address.district", Text, ["District of the company", "Bairro da empresa", "Barrio de la empresa"]),
    field("business.address.city", Text, ["City of the company", "Cidade da empresa", "Ciudad de la empresa"]),
    field("business.address.state", Text, ["State of the company", "Estado da empresa", "Estado de la empresa"]),
    field("business.address.zipCode", Text, ["Postal code of the company", "CEP da empresa", "Código postal de la empresa"]),
    field("business.address.country", Text, ["Country of the company", "País da empresa", "País de la empresa"]),
    field("bankAccount.holderName", Text, ["Holder of the account", "Titular da conta", "Titular de la cuenta"]),
    field("bankAccount.holderDocument", Text, ["Document of the holder", "Documento do titular", "Documento del titular"]),
    field("bankAccount.holdeType", Text, ["Kind of holder", "Tipo de titular", "Tipo de titular"]),
    field("bankAccount.bank", Text, ["Bank (3 digits)", "Banco (3 dígitos)", "Banco (3 dígitos)"]),
    field("bankAccount.ispb", Text, ["ISPB (8 digits)", "ISPB (8 dígitos)", "ISPB (8 dígitos)"]),
    field("bankAccount.branchNumber", Text, ["Branch", "Agência", "Sucursal"]),
    field("bankAccount.branchCheckDigit", Text, ["Check digit of the branch", "Dígito da agência", "Dígito de la sucursal"]),
    field("bankAccount.accountNumber", Text, ["Account", "Conta", "Cuenta"]),
    field("bankAccount.accountCheckDigit", Text, ["Check digit of the account", "Dígito da conta", "Dígito de la cuenta"]),
    field("bankAccount.type", Text, ["Kind of account", "Tipo de conta", "Tipo de cuenta"]),
    field("bankAccount.pixKey", Text, ["Pix key", "Chave Pix", "Clave Pix"]),
    field("transferPolicy.transferInterval", Text, ["How often money is transferred", "Frequência das transferências", "Frecuencia de las transferencias"]),
    field("transferPolicy.transferDay", Number, ["Day of the transfer", "Dia da transferência", "Día de la transferencia"]),
    field("transferPolicy.transferEnabled", Boolean, ["Automatic transfers", "Transferências automáticas", "Transferencias automáticas"]),
    field("transferPolicy.automaticAnticipationEnabled", Boolean, ["Automatic anticipation", "Antecipação automática", "Anticipo automático"]),
    field("transferPolicy.anticipatableVolumePercentage", Text, ["Share that is anticipated", "Percentual antecipável", "Porcentaje anticipable"]),
    field("transferPolicy.automaticAnticipationType", Text, ["Kind of anticipation", "Tipo de antecipação", "Tipo de anticipo"]),
    field("transferPolicy.automaticAnticipationDays", Text, ["Days of the anticipation", "Dias da antecipação", "Días del anticipo"]),
    field("transferPolicy.automaticAnticipation1025Delay", Text, ["Delay of the anticipation", "Prazo da antecipação", "Plazo del anticipo"]),
    field("documents.SELFIE", Document, ["Photo of the person", "Foto da pessoa", "Foto de la persona"]),
    field("documents.CNH_FULL", Document, ["Driving licence", "CNH", "Licencia de conducir"]),
    field("documents.CNH_FRONT", Document, ["Driving licence, front", "CNH, frente", "Licencia de conducir, frente"]),
    field("documents.CNH_BACK", Document, ["Driving licence, back", "CNH, verso", "Licencia de conducir, dorso"]),
    field("documents.RG_FRONT", Document, ["Identity card, front", "RG, frente", "Documento, frente"]),
    field("documents.RG_BACK", Document, ["Identity card, back", "RG, verso", "Documento, dorso"]),
];

/// What is asked for unless a provider says otherwise.
pub const BY_DEFAULT: [&str; 2] = ["owner.phoneNumber", "owner.monthlyIncome"];

impl KnownField {
    /// The field of this name.
    pub fn parse(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|known| known.name == name)
    }

    /// What a text is, where it is more than a text.
    pub fn format(&self) -> Option<&'static str> {
        match self.kind {
            Day => Some("date"),
            Text if self.name.ends_with(".email") => Some("email"),
            Text | Number | Boolean | Document => None,
        }
    }

    /// The words that a text may be, where they are a closed list.
    pub fn words(&self) -> Option<Vec<&'static str>> {
        fn of<T>(table: &[(&'static str, T)]) -> Option<Vec<&'static str>> {
            Some(table.iter().map(|(word, _)| *word).collect())
        }
        match self.name {
            "bankAccount.type" => of(AccountType::WORDS),
            "bankAccount.holdeType" => of(HolderType::WORDS),
            "transferPolicy.transferInterval" => of(TransferInterval::WORDS),
            name if name.ends_with(".country") => Some(Country::all().map(Country::code).collect()),
            _ => None,
        }
    }

    /// What an uploaded file must show.
    pub fn document_kind(&self) -> Option<DocumentKind> {
        self.name.strip_prefix("documents.").and_then(DocumentKind::parse)
    }

    /// Whether this seller can answer it: a person has no company.
    pub fn is_of(&self, seller: &SellerData) -> bool {
        seller.business.is_some() || !self.name.starts_with("business.")
    }
}

/// Checks what an answer has: every field that must be there, and nothing that was not asked for. A gap is never filled. What
/// the values may be is the rule of the seller's own request.
///
/// # Errors
/// One problem for each field.
pub fn check(asked: &[Field], data: &Map<String, Value>) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for field in asked {
        let is_document = KnownField::parse(&field.name).is_some_and(|known| known.kind == Document);
        match data.get(&field.name).filter(|value| !is_empty(value)) {
            None if field.required => {
                problems.add(format_args!("data.{}", field.name), "should not be empty")
            }
            Some(value) if is_document && value.as_str().is_none_or(|id| Uuid::try_parse(id).is_err()) => {
                problems.add(format_args!("data.{}", field.name), "must be a UUID")
            }
            None | Some(_) => {}
        }
    }
    for name in data.keys().filter(|name| !asked.iter().any(|field| field.name == **name)) {
        let shown: String = name.chars().take(chars_max::LINE).collect();
        problems.add(format_args!("data.{shown}"), "is not asked for");
    }
    problems.into_result()
}

/// Whether a value stands for none.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// The members of a seller's request with what it has answered; files are not among them.
pub fn merged(data: &SellerData, answer: &Map<String, Value>) -> Map<String, Value> {
    let mut record = serde_json::to_value(data).unwrap_or_default();
    let values = answer.iter().filter(|(_, value)| !is_empty(value));
    for (name, value) in
        values.filter(|(name, _)| KnownField::parse(name).is_some_and(|known| known.kind != Document))
    {
        let mut place = &mut record;
        for member in name.split('.') {
            // What the seller does not have yet, such as a transfer policy, is made.
            place = &mut place[member];
        }
        *place = value.clone();
    }
    match record {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// The data of a seller with what it has answered. `None` when the answer does not fit the seller, such as a company's name of
/// one who is a person.
pub fn applied(data: &SellerData, answer: &Map<String, Value>) -> Option<SellerData> {
    serde_json::from_value(Value::Object(merged(data, answer))).ok()
}
