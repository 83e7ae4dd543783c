//! What is printed on the slip of a boleto: what the bank has registered, the merchant, and the payer as the bank was told of
//! them. After an erasure the slip names no payer.

use jiff::civil::Date;
use regente_documents::slip::{Party, Slip};
use regente_documents::{DrawError, Mark};
use regente_domain::boleto::IssuedBoleto;
use regente_domain::customer::{Address, Document, normal_number};
use regente_domain::local_day::day_of;
use regente_domain::money::Amount;
use regente_engine::charges::routing;
use regente_engine::customers::payer::{PRINTED_PAYER, PrintedPayer};
use regente_engine::error::Error;
use regente_engine::events::masked;
use regente_store::charges::StoredCharge;

use crate::api::charges::open_private;
use crate::app::App;

/// A slip with its texts.
pub(super) struct PrintedSlip {
    issued: IssuedBoleto,
    beneficiary: String,
    payer: Payer,
    amount: Amount,
    issued_on: Date,
    document_number: String,
    instructions: String,
}

/// The payer; empty where nothing is known.
#[derive(Default)]
struct Payer {
    name: String,
    document: String,
    address: String,
}

impl PrintedSlip {
    pub(super) async fn of(app: &App, stored: StoredCharge, issued: IssuedBoleto) -> Result<Self, Error> {
        let charge = &stored.charge;
        let merchant = routing::merchant(app, charge.client_id, charge.merchant_id).await?;
        let beneficiary = merchant.and_then(|found| found.merchant.details.shown_name().map(str::to_owned));
        let printed = open_private(app, &stored).await?.remove(PRINTED_PAYER);
        let payer = match printed {
            Some(printed) => Payer::of(serde_json::from_value(printed).map_err(Error::internal)?),
            None => Payer::default(),
        };
        let instructions = charge.method.boleto().and_then(|boleto| boleto.instructions.clone());
        Ok(Self {
            beneficiary: beneficiary.unwrap_or_default(),
            payer,
            amount: charge.original_amount,
            issued_on: day_of(charge.id.created_at()),
            document_number: masked(charge.order_id.as_deref()).unwrap_or_default(),
            instructions: instructions.unwrap_or_default(),
            issued,
        })
    }

    /// The slip as a PDF file.
    pub(super) fn pdf(&self, mark: Mark) -> Result<Vec<u8>, DrawError> {
        let Self { issued, payer, .. } = self;
        let slip = Slip {
            barcode: issued.barcode,
            bank: issued.barcode.bank(),
            bank_name: &issued.bank_name,
            beneficiary: Party { name: &self.beneficiary, document: "", address: "" },
            beneficiary_code: &issued.beneficiary_code,
            payer: Party { name: &payer.name, document: &payer.document, address: &payer.address },
            due: issued.due,
            amount: self.amount,
            issued_on: self.issued_on,
            our_number: &issued.our_number,
            document_number: &self.document_number,
            instructions: &self.instructions,
            late_charges: issued.late_charges,
            pix_code: issued.pix_code.as_deref(),
            mark,
        };
        slip.pdf()
    }
}

impl Payer {
    fn of(PrintedPayer { name, document, address }: PrintedPayer) -> Self {
        let address = address.as_ref().map(in_one_line).unwrap_or_default();
        Self { name, document: printed(&document), address }
    }
}

/// The document with its type and the usual punctuation: `CPF 729.120.530-13`.
fn printed(document: &Document) -> String {
    if document.is_absent() {
        return String::new();
    }
    let (kind, number) = (document.kind.to_uppercase(), normal_number(&document.number));
    let punctuated = match kind.as_str() {
        "CPF" => punctuated(&number, "###.###.###-##"),
        "CNPJ" => punctuated(&number, "##.###.###/####-##"),
        _ => None,
    };
    format!("{kind} {}", punctuated.as_ref().unwrap_or(&document.number))
}

/// The number in a pattern, in which `#` stands for each of its signs; `None` when it has another length.
fn punctuated(number: &str, pattern: &str) -> Option<String> {
    let places = pattern.chars().filter(|sign| *sign == '#').count();
    let mut signs = number.chars();
    let filled = pattern.chars().filter_map(|sign| if sign == '#' { signs.next() } else { Some(sign) });
    (number.chars().count() == places).then(|| filled.collect())
}

/// `Rua do Ouvidor, 50, apto. 302, Centro, Rio de Janeiro – RJ, 20040-030`.
fn in_one_line(address: &Address) -> String {
    let Address { country: _, state, city, district, zip_code, street, street_number, complement } = address;
    let city = match (city, state) {
        (Some(city), Some(state)) => Some(format!("{city} – {state}")),
        (city, state) => city.clone().or_else(|| state.clone()),
    };
    let parts =
        [street.clone(), street_number.clone(), complement.clone(), district.clone(), city, zip_code.clone()];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.trim().is_empty()).collect();
    parts.join(", ")
}
