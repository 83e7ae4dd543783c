//! The fields that a review asks for, named like the members of a seller's request, and what an answer may say in them. No
//! value of a seller is ever shown beside them.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::charge::words::words;
use crate::problems::Problems;
use crate::seller::data::{AccountType, SellerData};
use crate::seller::document::DocumentKind;
use crate::text::chars_max;

words! {
    /// `type` of a field.
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
pub struct Known {
    /// Its name: the path in a seller's request.
    pub name: &'static str,
    /// What its value is.
    pub kind: FieldType,
    /// What it is called: in English, Portuguese and Spanish.
    pub labels: [&'static str; 3],
}

use FieldType::{Boolean, Date as Day, Document, Number, String as Text};

const fn field(name: &'static str, kind: FieldType, labels: [&'static str; 3]) -> Known {
    Known { name, kind, labels }
}

/// Every field that a review may ask for.
#[rustfmt::skip]
const FIELDS: [Known; 39] = [
    field("owner.name", Text, ["Name", "Nome", "Nombre"]),
    field("owner.email", Text, ["E-mail", "E-mail", "Correo electrónico"]),
    field("owner.phoneNumber", Text, ["Phone", "Telefone", "Teléfono"]),
    field("owner.birthdate", Day, ["Date of birth", "Data de nascimento", "Fecha de nacimiento"]),
    field("owner.monthlyIncome", Number, ["Monthly income", "Renda mensal", "Ingreso mensual"]),
    field("owner.professionalOccupation", Text, ["Occupation", "Profissão", "Ocupación"]),
    field("owner.annualRevenue", Number, ["Annual revenue", "Faturamento anual", "Facturación anual"]),
    field("owner.businessCategory", Text, ["Line of business", "Ramo de atividade", "Rubro"]),
    field("owner.isBusinessRepresentative", Boolean, ["Legal representative", "Representante legal", "Representante legal"]),
    field("owner.address.street", Text, ["Street", "Rua", "Calle"]),
    field("owner.address.streetNumber", Text, ["Number", "Número", "Número"]),
    field("owner.address.complement", Text, ["Complement", "Complemento", "Complemento"]),
    field("owner.address.district", Text, ["District", "Bairro", "Barrio"]),
    field("owner.address.city", Text, ["City", "Cidade", "Ciudad"]),
    field("owner.address.state", Text, ["State", "Estado", "Estado"]),
    field("owner.address.zipCode", Text, ["Postal code", "CEP", "Código postal"]),
    field("business.name", Text, ["Company", "Empresa", "Empresa"]),
    field("business.email", Text, ["E-mail of the company", "E-mail da empresa", "Correo de la empresa"]),
    field("business.phoneNumber", Text, ["Phone of the company", "Telefone da empresa", "Teléfono de la empresa"]),
    field("business.corporateReason", Text, ["Registered name", "Razão social", "Razón social"]),
    field("business.website", Text, ["Web site", "Site", "Sitio web"]),
    field("business.description", Text, ["What the company does", "O que a empresa faz", "A qué se dedica la empresa"]),
    field("business.openingDate", Day, ["Opened on", "Data de abertura", "Fecha de apertura"]),
    field("business.annualRevenue", Number, ["Annual revenue of the company", "Faturamento anual da empresa", "Facturación anual de la empresa"]),
    field("business.address.street", Text, ["Street of the company", "Rua da empresa", "Calle de la empresa"]),
    field("business.address.streetNumber", Text, ["Number of the company", "Número da empresa", "Número de la empresa"]),
    field("business.address.district", Text, ["District of the company", "Bairro da empresa", "Barrio de la empresa"]),
    field("business.address.city", Text, ["City of the company", "Cidade da empresa", "Ciudad de la empresa"]),
    field("business.address.state", Text, ["State of the company", "Estado da empresa", "Estado de la empresa"]),
    field("business.address.zipCode", Text, ["Postal code of the company", "CEP da empresa", "Código postal de la empresa"]),
    field("bankAccount.holderName", Text, ["Holder of the account", "Titular da conta", "Titular de la cuenta"]),
    field("bankAccount.branchNumber", Text, ["Branch", "Agência", "Sucursal"]),
    field("bankAccount.accountNumber", Text, ["Account", "Conta", "Cuenta"]),
    field("bankAccount.accountCheckDigit", Text, ["Check digit of the account", "Dígito da conta", "Dígito de la cuenta"]),
    field("bankAccount.type", Text, ["Kind of account", "Tipo de conta", "Tipo de cuenta"]),
    field("documents.SELFIE", Document, ["Photo of the person", "Foto da pessoa", "Foto de la persona"]),
    field("documents.CNH_FULL", Document, ["Driving licence", "CNH", "Licencia de conducir"]),
    field("documents.RG_FRONT", Document, ["Identity card, front", "RG, frente", "Documento, frente"]),
    field("documents.RG_BACK", Document, ["Identity card, back", "RG, verso", "Documento, dorso"]),
];

/// What is asked for unless a provider says otherwise.
pub const BY_DEFAULT: [&str; 2] = ["owner.phoneNumber", "owner.monthlyIncome"];

/// The largest number of an answer, in hundredths.
const NUMBER_MAX: f64 = 1e12;

impl Known {
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
        let is_closed = self.name == "bankAccount.type";
        is_closed.then(|| AccountType::WORDS.iter().map(|(word, _)| *word).collect())
    }

    /// What an uploaded file must show.
    pub fn document_kind(&self) -> Option<DocumentKind> {
        self.name.strip_prefix("documents.").and_then(DocumentKind::parse)
    }

    /// The most characters of a text.
    fn chars_max(&self) -> usize {
        if self.name.ends_with("phoneNumber") { chars_max::PHONE } else { chars_max::LINE }
    }

    /// The rule that a value breaks.
    fn fault(&self, value: &Value) -> Option<String> {
        let rule = |holds: bool, rule: &str| (!holds).then(|| rule.to_owned());
        match (self.kind, value) {
            (Text, Value::String(text)) if text.chars().count() > self.chars_max() => {
                Some(format!("must be shorter than or equal to {} characters", self.chars_max()))
            }
            (Text, Value::String(text)) if self.format() == Some("email") => rule(
                text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')),
                "must be an email",
            ),
            (Text, Value::String(text)) => match self.words() {
                Some(words) if !words.contains(&text.as_str()) => {
                    Some(format!("must be one of the following values: {}", words.join(", ")))
                }
                Some(_) | None => None,
            },
            (Text, _) => rule(false, "must be a string"),
            (Number, Value::Number(number)) => {
                let amount = number.as_f64().unwrap_or(f64::INFINITY);
                rule((0.0..=NUMBER_MAX).contains(&amount), "must be a number that is not less than 0")
            }
            (Number, _) => rule(false, "must be a number"),
            (Boolean, value) => rule(value.is_boolean(), "must be a boolean"),
            (Day, value) => {
                let day = value.as_str().filter(|text| text.len() == 10);
                rule(
                    day.is_some_and(|text| text.parse::<Date>().is_ok()),
                    "must be a valid ISO 8601 date string",
                )
            }
            (Document, value) => {
                rule(value.as_str().is_some_and(|id| uuid::Uuid::try_parse(id).is_ok()), "must be a UUID")
            }
        }
    }
}

/// Checks an answer: every field that must be there, and nothing that was not asked for. A gap is never filled.
///
/// # Errors
/// One problem for each field.
pub fn check(asked: &[Field], data: &Map<String, Value>) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for field in asked {
        let known = Known::parse(&field.name);
        match (data.get(&field.name).filter(|value| !is_empty(value)), known) {
            (None, _) if field.required => {
                problems.add(format_args!("data.{}", field.name), "should not be empty")
            }
            (Some(value), Some(known)) => {
                if let Some(rule) = known.fault(value) {
                    problems.add(format_args!("data.{}", field.name), rule);
                }
            }
            (None, _) | (Some(_), None) => {}
        }
    }
    for name in data.keys().filter(|name| !asked.iter().any(|field| field.name == **name)) {
        let shown: String = name.chars().take(chars_max::LINE).collect();
        problems.add(format_args!("data.{shown}"), "is not asked for");
    }
    problems.into_result()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// The data of a seller with what it has answered. `None` when the answer does not fit the seller, such as a company's name of
/// one who is a person.
pub fn applied(data: &SellerData, answer: &Map<String, Value>) -> Option<SellerData> {
    let mut record = serde_json::to_value(data).ok()?;
    for (name, value) in answer.iter().filter(|(_, value)| !is_empty(value)) {
        if Known::parse(name).is_none_or(|known| known.kind == Document) {
            continue;
        }
        let (object, member) = name.rsplit_once('.')?;
        let object = record.pointer_mut(&format!("/{}", object.replace('.', "/")))?.as_object_mut()?;
        object.insert(member.to_owned(), value.clone());
    }
    serde_json::from_value(record).ok()
}
