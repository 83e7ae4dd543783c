//! `POST /v1/charges`: parses the body into values that are always valid (`docs/interface/charges.md#creating`).

use regente_domain::card::{CardNumber, CardNumberError, Cvv, Expiry};
use regente_domain::charge::{
    CaptureMode, CardSource, Credit, INSTALLMENTS_MAX, PaymentMethod, PaymentType, Recurrence, References,
    Voucher,
};
use regente_domain::currency::Currency;
use regente_domain::customer::Document;
use regente_domain::decline::DeclinedCode;
use regente_domain::id::{CardId, CustomerId, MerchantId, TokenId};
use regente_domain::money::Amount;
use regente_domain::text::chars_max;
use regente_domain::time::Timestamp;
use regente_engine::card_data::CvvSource;
use regente_engine::error::Error;
use regente_engine::flows::attempt::SANDBOX_FAULTS;
use regente_providers::request::{CardDetails, Mode};
use regente_providers::sandbox;
use serde_json::{Map, Value, json};

use crate::api::customers::read_document;
use crate::api::fields::{Field, Fields};

/// The most bytes of one free-form JSON member.
const FREE_FORM_BYTES_MAX: usize = 16 * 1024;
/// The member with data for risk analysis, also of the sealed data.
pub const FRAUD_ANALYSIS: &str = "fraudAnalysis";
/// Bytes of fraud analysis data.
const FRAUD_ANALYSIS_BYTES_MAX: usize = 64 * 1024;
/// Characters of a card holder's name.
const HOLDER_CHARS_MAX: usize = chars_max::NAME;
/// Items of a voucher.
const ITEMS_MAX: usize = 1000;

/// A parsed request for a charge.
pub struct ChargeRequest {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The amount to charge.
    pub amount: Amount,
    /// The currency of the amount.
    pub currency: Currency,
    /// Whether the amount is captured at once.
    pub capture: CaptureMode,
    /// The merchant's reference.
    pub order_id: Option<String>,
    /// The buyer.
    pub customer_id: Option<CustomerId>,
    /// The payment method.
    pub method: Method,
    /// The payment source.
    pub source: Source,
    /// Statement text, description and references.
    pub references: References,
    /// Personal data that is sealed: fraud analysis, and the buyer of a voucher.
    pub private: Map<String, Value>,
}

/// A payment method before its source is resolved.
pub enum Method {
    /// By credit card.
    Credit {
        /// Number of installments.
        installments: u8,
        /// The stored-credential flag.
        recurrence: Option<Recurrence>,
    },
    /// By voucher.
    Voucher {
        /// `items`, as sent.
        items: Option<Value>,
    },
}

impl Method {
    /// The word of the interface.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::Credit { .. } => PaymentType::Credit,
            Self::Voucher { .. } => PaymentType::Voucher,
        }
    }

    /// Number of installments, 1 where there are none.
    pub const fn installments(&self) -> u8 {
        match self {
            Self::Credit { installments, .. } => *installments,
            Self::Voucher { .. } => 1,
        }
    }

    /// The method with its resolved card.
    pub fn paid_with(self, source: CardSource) -> PaymentMethod {
        match self {
            Self::Credit { installments, recurrence } => {
                PaymentMethod::Credit(Credit { source, installments, recurrence })
            }
            Self::Voucher { items } => PaymentMethod::Voucher(Voucher { source, items: items.map(Box::new) }),
        }
    }
}

/// What the charge is paid with (`docs/interface/charges.md#payment-sources`).
pub enum Source {
    /// A stored card.
    StoredCard {
        /// Which.
        card_id: CardId,
        /// Its security code, sent when the buyer is present.
        cvv: CvvSource,
    },
    /// A card in the body.
    InlineCard(InlineCard),
    /// A card token.
    Token(TokenId),
    /// The default card of a customer.
    Customer {
        /// Whose.
        payer: Payer,
        /// The card's security code, sent when the buyer is present.
        cvv: CvvSource,
    },
}

impl Source {
    /// The card token, when the source is one.
    pub const fn token_id(&self) -> Option<TokenId> {
        match self {
            Self::Token(token_id) => Some(*token_id),
            Self::StoredCard { .. } | Self::InlineCard(_) | Self::Customer { .. } => None,
        }
    }
}

/// The customer whose default card is charged.
pub enum Payer {
    /// A stored customer.
    Stored(CustomerId),
    /// A stored customer who matches the buyer in the body.
    Described {
        /// E-mail address.
        email: String,
        /// Document.
        document: Document,
    },
}

/// A card in the body with well-formed members. [`InlineCard::checked`] checks the card itself.
pub struct InlineCard {
    number: Option<CardNumber>,
    holder_name: String,
    expiry: Expiry,
    /// Absent only where the charge needs none.
    cvv: Option<Cvv>,
}

impl InlineCard {
    /// The card; an error when its check digit is wrong or it has expired, both answered as a declined card
    /// (`docs/interface/tokens-and-cards.md#tokens`).
    pub fn checked(self, now: Timestamp) -> Result<CardDetails, Error> {
        let Self { number, holder_name, expiry, cvv } = self;
        let declined = |code, message: &'static str| Error::CardDeclined { code, message: message.into() };
        let number = number.ok_or_else(|| declined(DeclinedCode::InvalidNumber, "invalid card number"))?;
        if expiry.is_past(now) {
            return Err(declined(DeclinedCode::ExpiredCard, "expired card"));
        }
        Ok(CardDetails { number, holder_name, expiry, cvv })
    }
}

/// The payment methods of this release.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paid {
    ByCredit,
    ByVoucher,
}

/// The methods by their words.
const METHODS: &[(&str, Paid)] =
    &[(PaymentType::Credit.word(), Paid::ByCredit), (PaymentType::Voucher.word(), Paid::ByVoucher)];

/// Members that change the effect of a charge and that this release does not support. They are refused: ignoring them
/// would move money differently than requested.
const NOT_YET: &[&str] = &["splitRules", "threeDSecure2", "vendor"];

/// Parses the body; every problem is noted with its path.
pub fn read(fields: &Fields<'_>, mode: Mode) -> Option<ChargeRequest> {
    let merchant_id = fields.required("merchantId").id();
    let amount = fields.required("amount").positive_amount();
    let currency = or_default(fields, "currency", Currency::BRL, |field| field.currency());
    let capture = or_default(fields, "capture", false, |field| field.boolean());
    let order_id = fields.optional("orderId").text(chars_max::LINE);
    let customer_id = fields.optional("customerId").id();
    let method = fields.required("paymentMethod").object(read_method);
    let code = method.as_ref().map_or(CodeRule::Required, |(method, _)| CodeRule::of(method));
    let source = fields.required("paymentSource").object(|source| read_source(source, code));
    let references = read_references(fields, mode);
    let fraud_analysis = fields.optional(FRAUD_ANALYSIS).object(read_fraud_analysis);
    for name in NOT_YET {
        let is_empty_list = fields.members().get(*name).is_some_and(|value| *value == json!([]));
        if fields.has(name) && !is_empty_list {
            fields.problem(name, "is not available in this release");
        }
    }
    let (method, voucher_customer) = method?;
    let mut private = Map::new();
    private.extend(fraud_analysis.map(|data| (FRAUD_ANALYSIS.to_owned(), Value::Object(data))));
    private.extend(voucher_customer.map(|data| ("voucherCustomer".to_owned(), Value::Object(data))));
    Some(ChargeRequest {
        merchant_id: merchant_id?,
        amount: amount?,
        currency: currency?,
        capture: CaptureMode::from_flag(capture?),
        order_id,
        customer_id,
        method,
        source: source?,
        references,
        private,
    })
}

/// An optional field with a default: absent gives the default, invalid gives `None`.
fn or_default<T>(
    fields: &Fields<'_>,
    name: &str,
    default: T,
    read: impl FnOnce(Field<'_>) -> Option<T>,
) -> Option<T> {
    if fields.has(name) { read(fields.optional(name)) } else { Some(default) }
}

/// Reads the method, and the buyer of a voucher.
fn read_method(fields: &Fields<'_>) -> Option<(Method, Option<Map<String, Value>>)> {
    let payment_type = fields.required("paymentType").one_of(METHODS);
    let installments = or_default(fields, "installments", 1, |field| {
        field.integer(1..=i64::from(INSTALLMENTS_MAX)).and_then(|number| u8::try_from(number).ok())
    });
    let recurrence = fields.optional("recurrence").one_of(Recurrence::WORDS);
    let voucher = |name: &str| payment_type == Some(Paid::ByVoucher) && fields.has(name);
    let items = if voucher("items") { read_items(fields.optional("items")) } else { None };
    let customer =
        if voucher("customer") { fields.optional("customer").raw_object(FREE_FORM_BYTES_MAX) } else { None };
    let installments = installments?;
    Some(match payment_type? {
        Paid::ByCredit => (Method::Credit { installments, recurrence }, None),
        Paid::ByVoucher => (Method::Voucher { items }, customer),
    })
}

fn read_items(field: Field<'_>) -> Option<Value> {
    field
        .array(0..=ITEMS_MAX, |item| item.raw_object(FREE_FORM_BYTES_MAX).map(Value::Object))
        .map(Value::Array)
}

/// The payment sources by `sourceType`.
#[derive(Clone, Copy, Debug)]
pub(super) enum SourceType {
    /// A stored card or a card in the body.
    Card,
    /// A card token.
    Token,
    /// A customer's default card.
    Customer,
}

impl SourceType {
    const WORDS: [(&str, Self); 3] = [
        (Self::Card.word(), Self::Card),
        (Self::Token.word(), Self::Token),
        (Self::Customer.word(), Self::Customer),
    ];

    /// The word of the interface.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Token => "token",
            Self::Customer => "customer",
        }
    }
}

/// Whether a card that is sent needs its security code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRule {
    /// It does.
    Required,
    /// It does not: the buyer is not there to give it.
    Optional,
}

impl CodeRule {
    const fn of(method: &Method) -> Self {
        match method {
            Method::Credit { recurrence: Some(Recurrence::Subsequent | Recurrence::Unscheduled), .. } => {
                Self::Optional
            }
            Method::Credit { recurrence: Some(Recurrence::Initial) | None, .. } | Method::Voucher { .. } => {
                Self::Required
            }
        }
    }
}

fn read_source(fields: &Fields<'_>, code: CodeRule) -> Option<Source> {
    match fields.required("sourceType").one_of(&SourceType::WORDS)? {
        SourceType::Token => fields.required("tokenId").id().map(Source::Token),
        SourceType::Customer => {
            let payer = if fields.has("customer") && !fields.has("customerId") {
                fields.required("customer").object(read_payer)
            } else {
                fields.required("customerId").id().map(Payer::Stored)
            };
            let cvv = read_cvv_source(fields);
            Some(Source::Customer { payer: payer?, cvv: cvv? })
        }
        SourceType::Card if fields.has("card") && !fields.has("cardId") => {
            fields.required("card").object(|card| read_card(card, "cardCvv", code)).map(Source::InlineCard)
        }
        SourceType::Card => {
            let card_id = fields.required("cardId").id();
            let cvv = read_cvv_source(fields);
            Some(Source::StoredCard { card_id: card_id?, cvv: cvv? })
        }
    }
}

/// Reads a buyer in the body. E-mail address and document identify him; only other methods need the rest.
fn read_payer(fields: &Fields<'_>) -> Option<Payer> {
    let email = fields.required("email").email();
    let document = fields
        .required("document")
        .object(|document| read_document(document, "paymentSource.customer.document"));
    Some(Payer::Described { email: email?, document: document? })
}

fn read_cvv_source(fields: &Fields<'_>) -> Option<CvvSource> {
    if fields.has("tokenCvv") {
        return fields.optional("tokenCvv").id().map(CvvSource::Token);
    }
    or_default(fields, "cardCvv", CvvSource::None, |field| read_cvv(field).map(CvvSource::Inline))
}

/// Reads a card with all its members; `cvv` is the name of its security code, which differs in tokens
/// (`docs/interface/tokens-and-cards.md#tokens`).
pub fn read_card(fields: &Fields<'_>, cvv: &'static str, code: CodeRule) -> Option<InlineCard> {
    let holder_name = fields.required("cardHolderName").non_empty_text(HOLDER_CHARS_MAX);
    let number = read_card_number(fields.required("cardNumber"));
    let cvv = match code {
        CodeRule::Optional if !fields.has(cvv) => Some(None),
        CodeRule::Optional | CodeRule::Required => read_cvv(fields.required(cvv)).map(Some),
    };
    let expiry = read_expiry(fields.required("cardExpirationDate"));
    Some(InlineCard { number: number?, holder_name: holder_name?, expiry: expiry?, cvv: cvv? })
}

/// Reads a well-formed card number; the inner `None` means a wrong check digit, which is a decline and no problem of
/// the body.
fn read_card_number(field: Field<'_>) -> Option<Option<CardNumber>> {
    field.text_as("must be a card number of 13 to 19 digits", |text| match CardNumber::parse(text) {
        Ok(number) => Some(Some(number)),
        Err(CardNumberError::Checksum) => Some(None),
        Err(CardNumberError::NotDigits | CardNumberError::Length) => None,
    })
}

/// A security code.
pub fn read_cvv(field: Field<'_>) -> Option<Cvv> {
    field.text_as("must be 3 or 4 digits", Cvv::parse)
}

/// An expiry `MM/YYYY`.
pub fn read_expiry(field: Field<'_>) -> Option<Expiry> {
    field.text_as("must be a month in the form MM/YYYY", Expiry::parse)
}

fn read_references(fields: &Fields<'_>, mode: Mode) -> References {
    References {
        description: fields.optional("description").text(chars_max::FREE),
        statement_descriptor: fields.optional("statementDescriptor").text(chars_max::LINE),
        provider_reference_key: fields.optional("providerReferenceKey").text(chars_max::LINE),
        flow_metadata: fields.optional("paymentFlow").object(|flow| read_flow_metadata(flow, mode)),
        app_info: fields.optional("appInfo").raw_object(FREE_FORM_BYTES_MAX).map(Value::Object),
    }
}

/// Reads free-form metadata; in the sandbox the simulator overrides in it are checked.
pub fn read_flow_metadata(flow: &Fields<'_>, mode: Mode) -> Option<Value> {
    let metadata = flow.required("metadata").raw_object(FREE_FORM_BYTES_MAX)?;
    if let (Mode::Sandbox, Some(faults)) = (mode, metadata.get(SANDBOX_FAULTS)) {
        let path = format!("paymentFlow.metadata.{SANDBOX_FAULTS}");
        if let Err(problems) = sandbox::validate(faults, &path) {
            flow.problems(problems);
        }
    }
    Some(Value::Object(metadata))
}

/// Reads data for risk analysis: free-form, but known members are checked.
pub fn read_fraud_analysis(fields: &Fields<'_>) -> Option<Map<String, Value>> {
    fields.optional("sla").integer(0..=i64::from(i32::MAX));
    fields.optional("customer").raw_object(FRAUD_ANALYSIS_BYTES_MAX);
    fields.optional("cart").object(|cart| {
        cart.optional("items").one_or_many(0..=ITEMS_MAX, |item| item.raw_object(FREE_FORM_BYTES_MAX));
        Some(())
    });
    if serde_json::to_string(fields.members()).map_or(0, |text| text.len()) > FRAUD_ANALYSIS_BYTES_MAX {
        fields.problem_here(format!("must not be larger than {FRAUD_ANALYSIS_BYTES_MAX} bytes"));
    }
    Some(fields.members().clone())
}
