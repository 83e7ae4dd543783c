//! A charge as answers show it (`docs/interface/charges.md#record`).

mod redirects;

use regente_domain::boleto::{Fine, FineRate, Interest, InterestRate};
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::authentication::newest_answer;
use regente_domain::charge::{AdditionalInfo, CardSource, Charge, PaymentMethod, PaymentSource};
use regente_domain::id::{CardId, ChargeId, ClientId, MerchantId, ProviderId, TokenId, TransactionRequestId};
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_domain::time::Timestamp;
use regente_engine::caller::{Authority, Caller};
use regente_engine::document_links::Addresses;
use regente_engine::events::instructions::{BarcodeView, InstructionsView, PicpayView, QrCodeView};
use regente_engine::events::transaction_request::TransactionRequestView;
use serde::Serialize;
use serde_json::{Map, Number, Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use self::redirects::{DripMethodView, NupayMethodView};
use super::request::{DRIP_BROWSER, NUPAY_RECIPIENTS, SourceType, VOUCHER_CUSTOMER, WALLET, WALLET_SOURCE};
use super::{methods, three_d_secure};
use crate::api::schema::words;

/// A charge.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Charge)]
pub struct ChargeView {
    #[schema(value_type = Uuid)]
    id: ChargeId,
    #[schema(value_type = Uuid)]
    client_id: ClientId,
    #[schema(value_type = Uuid)]
    merchant_id: MerchantId,
    #[schema(required = true)]
    customer_id: Option<Uuid>,
    #[schema(required = true)]
    description: Option<String>,
    #[schema(required = true)]
    order_id: Option<String>,
    #[schema(required = true)]
    provider_reference_key: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// What the merchant still keeps, in the minor unit of the currency.
    #[schema(value_type = i64, example = 150)]
    amount: Amount,
    /// What was charged; never changes.
    #[schema(value_type = i64, example = 150)]
    original_amount: Amount,
    #[schema(value_type = words::Currency, example = "BRL")]
    currency: &'static str,
    #[schema(required = true)]
    statement_descriptor: Option<String>,
    capture: bool,
    is_dispute: bool,
    #[schema(value_type = words::ChargeStatus, example = "authorized")]
    status: &'static str,
    /// The provider that handled it; null while none has.
    #[schema(value_type = Option<words::ProviderType>, example = "SANDBOX", required = true)]
    responsible_provider_type: Option<&'static str>,
    #[schema(value_type = methods::PaymentMethod)]
    payment_method: PaymentMethodView,
    #[schema(value_type = methods::PaymentSource)]
    payment_source: PaymentSourceView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    fraud_analysis_metadata: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    payment_flow: Option<Value>,
    /// The authentication of the cardholder: what was sent, and what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<super::three_d_secure::ThreeDSecureSchema>)]
    three_d_secure2: Option<Value>,
    /// Every call to a provider, newest first.
    #[schema(value_type = Vec<TransactionRequestSchema>)]
    transaction_requests: Vec<TransactionRequestView>,
    #[schema(value_type = Option<Object>, required = true)]
    app_info: Option<Value>,
}

/// How a charge is paid; [`methods::PaymentMethod`] describes it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentMethodView {
    payment_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    installments: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recurrence: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_info: Option<Vec<AdditionalInfo>>,
    #[serde(flatten)]
    code: Option<QrCodeView>,
    #[serde(flatten)]
    nupay: Option<NupayMethodView>,
    #[serde(flatten)]
    drip: Option<DripMethodView>,
    #[serde(flatten)]
    picpay: Option<PicpayView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interest: Option<LateChargeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fine: Option<LateChargeView>,
    #[serde(flatten)]
    barcode: Option<BarcodeView>,
}

/// Interest or a fine of a boleto that is paid late.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LateChargeView {
    days: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentage: Option<Number>,
}

/// What a charge was paid with; [`methods::PaymentSource`] describes it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentSourceView {
    source_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    card_id: Option<CardId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_id: Option<TokenId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_id: Option<Uuid>,
    /// What a wallet has handed out; empty once it was erased.
    #[serde(flatten)]
    wallet: Map<String, Value>,
}

/// One call to a provider.
#[derive(ToSchema)]
#[schema(as = TransactionRequest, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct TransactionRequestSchema {
    #[schema(value_type = Uuid)]
    id: TransactionRequestId,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// The key sent to the provider; null for what follows an authorization.
    #[schema(required = true)]
    idempotency_key: Option<Uuid>,
    #[schema(required = true)]
    request_id: Option<String>,
    /// Null for an authentication, whose 3DS server is no provider of the merchant.
    #[schema(value_type = Option<Uuid>, required = true)]
    provider_id: Option<ProviderId>,
    #[schema(value_type = words::ProviderType, example = "SANDBOX")]
    provider_type: &'static str,
    #[schema(required = true)]
    transaction_id: Option<String>,
    /// Null for a verdict on the risk that came later.
    #[schema(value_type = Option<i64>, example = 150, required = true)]
    amount: Option<Amount>,
    #[schema(required = true)]
    authorization_code: Option<String>,
    #[schema(required = true)]
    authorization_nsu: Option<String>,
    #[schema(required = true)]
    response_code: Option<String>,
    #[schema(value_type = words::RequestStatus, example = "success")]
    request_status: &'static str,
    #[schema(required = true)]
    request_status_reason: Option<String>,
    #[schema(value_type = words::RequestType, example = "authorization")]
    request_type: &'static str,
    tokenized_payment: bool,
    #[schema(example = "35ms", required = true)]
    response_ts: Option<String>,
    provider_error: Option<ProviderErrorSchema>,
    provider_authorization: Option<ProviderAuthorizationSchema>,
    fraud_analysis: Option<FraudAnalysisSchema>,
    /// The code of a Pix.
    pix: Option<methods::PixInstructions>,
    /// The page of a NuPay, how it was paid, or the id of its refund.
    nupay: Option<methods::NupayDetails>,
    /// The page of a Drip, with what was asked for.
    drip: Option<methods::DripInstructions>,
    /// The code of a PicPay.
    picpay: Option<methods::PicpayInstructions>,
    /// The line and the slip of a boleto.
    boleto: Option<methods::BoletoInstructions>,
    /// What it says about the authentication of the cardholder.
    threeds: Option<three_d_secure::ThreeDsSchema>,
}

/// What a risk analysis found.
#[derive(ToSchema)]
#[schema(as = FraudAnalysisResult, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct FraudAnalysisSchema {
    /// On the provider's own scale; null without a verdict.
    #[schema(value_type = Option<f64>, example = 85, required = true)]
    score: Option<()>,
    #[schema(value_type = words::AnalysisStatus, example = "approved")]
    status: &'static str,
}

/// What a provider refused with.
#[derive(ToSchema)]
#[schema(as = ProviderError, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct ProviderErrorSchema {
    message: String,
    /// Null when nothing was declined: a risk analysis that failed.
    #[schema(value_type = Option<words::DeclinedCode>, example = "try_again", required = true)]
    declined_code: Option<&'static str>,
    /// Whether the next provider may be asked.
    retryable: bool,
    #[schema(required = true)]
    network_denied_reason: Option<String>,
    #[schema(required = true)]
    network_denied_message: Option<String>,
}

/// What the card network said.
#[derive(ToSchema)]
#[schema(as = ProviderAuthorization, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document; the engine writes it")]
pub struct ProviderAuthorizationSchema {
    #[schema(required = true)]
    network_authorization_code: Option<String>,
    #[schema(required = true)]
    network_response_code: Option<String>,
}

/// The personal data of a charge, decrypted.
pub type Private = Map<String, Value>;

impl ChargeView {
    /// The charge as `caller` may see it. For a public key, a buyer that it named appears under the alias it was given.
    /// `requests` are those of this version, oldest first.
    pub fn of(
        charge: &Charge,
        private: &Private,
        addresses: &Addresses,
        requests: &[TransactionRequest],
        caller: &Caller,
    ) -> Self {
        let references = charge.references.clone();
        let shown = usize::try_from(charge.requests).unwrap_or(usize::MAX);
        let requests = &requests[..shown.min(requests.len())];
        let newest_first = requests.iter().rev();
        let instructions =
            newest_first.clone().find_map(|request| InstructionsView::of(&charge.method, request, addresses));
        let answer = newest_answer(requests);
        let view = |request| {
            let shown = TransactionRequestView::of(request, &charge.method, addresses);
            shown.with_browser(private.get(DRIP_BROWSER)).after(request, answer)
        };
        Self {
            id: charge.id,
            client_id: charge.client_id,
            merchant_id: charge.merchant_id,
            customer_id: shown_customer(charge, caller),
            description: references.description,
            order_id: charge.order_id.clone(),
            provider_reference_key: references.provider_reference_key,
            created_at: charge.id.created_at(),
            updated_at: charge.updated_at,
            amount: charge.amount,
            original_amount: charge.original_amount,
            currency: charge.currency.code(),
            statement_descriptor: references.statement_descriptor,
            capture: charge.capture.flag(),
            is_dispute: charge.is_disputed(requests),
            status: charge.state.status().word(),
            responsible_provider_type: charge.state.responsible().map(|provider| provider.code()),
            payment_method: PaymentMethodView::of(charge, private, instructions),
            payment_source: PaymentSourceView::of(charge, private, caller),
            fraud_analysis_metadata: private.get("fraudAnalysis").map(fraud_analysis_metadata),
            payment_flow: references.flow_metadata.map(|metadata| json!({ "metadata": metadata })),
            three_d_secure2: three_d_secure::shown(charge, private, requests),
            transaction_requests: newest_first.map(view).collect(),
            app_info: references.app_info,
        }
    }
}

impl ChargeView {
    /// Adds the token of the request. Only the answer to that request can show it, since the id is not stored.
    pub fn echoing(mut self, token_id: Option<TokenId>) -> Self {
        self.payment_source.token_id = token_id;
        self
    }
}

fn shown_customer(charge: &Charge, caller: &Caller) -> Option<Uuid> {
    let real = charge.customer_id.map(|id| id.uuid());
    match caller.authority {
        Authority::SecretKey => real,
        Authority::ClientToken { .. } => charge.customer_alias.map(|alias| alias.uuid()).or(real),
    }
}

impl PaymentMethodView {
    /// `instructions` are the last ones that the payer was given.
    fn of(charge: &Charge, private: &Private, instructions: Option<InstructionsView>) -> Self {
        let bare = Self {
            payment_type: charge.method.payment_type().word(),
            installments: None,
            recurrence: None,
            items: None,
            customer: None,
            expires_in: None,
            additional_info: None,
            code: None,
            nupay: None,
            drip: None,
            picpay: None,
            expires_date: None,
            instructions: None,
            interest: None,
            fine: None,
            barcode: None,
        };
        match &charge.method {
            PaymentMethod::Credit(credit) => Self {
                installments: Some(credit.installments),
                recurrence: credit.recurrence.map(|recurrence| recurrence.word()),
                ..bare
            },
            PaymentMethod::Debit(debit) => Self { installments: Some(debit.installments), ..bare },
            PaymentMethod::Voucher(voucher) => Self {
                items: voucher.items.as_deref().cloned(),
                customer: private.get(VOUCHER_CUSTOMER).cloned(),
                ..bare
            },
            PaymentMethod::ApplePay(wallet) | PaymentMethod::ClickToPay(wallet) => {
                Self { installments: Some(wallet.installments), ..bare }
            }
            PaymentMethod::Pix(pix) => Self {
                expires_in: Some(pix.expires_in),
                additional_info: (!pix.additional_info.is_empty()).then(|| pix.additional_info.clone()),
                items: pix.items.as_deref().cloned(),
                code: instructions.and_then(InstructionsView::qr_code),
                ..bare
            },
            PaymentMethod::Boleto(boleto) => Self {
                expires_date: Some(boleto.due.to_string()),
                instructions: boleto.instructions.clone(),
                interest: boleto.late_charges.interest.map(LateChargeView::of_interest),
                fine: boleto.late_charges.fine.map(LateChargeView::of_fine),
                items: boleto.items.as_deref().cloned(),
                barcode: instructions.and_then(InstructionsView::barcode),
                ..bare
            },
            PaymentMethod::Drip(drip) => {
                let payment_url = match instructions {
                    Some(InstructionsView::Drip(given)) => Some(given.payment_url),
                    Some(
                        InstructionsView::Pix(_)
                        | InstructionsView::Boleto(_)
                        | InstructionsView::Nupay(_)
                        | InstructionsView::Picpay(_),
                    )
                    | None => None,
                };
                let browser = private.get(DRIP_BROWSER).cloned();
                Self {
                    items: drip.items.as_deref().cloned(),
                    drip: Some(DripMethodView::of(drip, browser, payment_url)),
                    ..bare
                }
            }
            PaymentMethod::Picpay(_) => Self {
                picpay: match instructions {
                    Some(InstructionsView::Picpay(given)) => Some(given),
                    Some(
                        InstructionsView::Pix(_)
                        | InstructionsView::Boleto(_)
                        | InstructionsView::Nupay(_)
                        | InstructionsView::Drip(_),
                    )
                    | None => None,
                },
                ..bare
            },
            PaymentMethod::Nupay(nupay) => Self {
                nupay: Some(NupayMethodView::of(nupay, private.get(NUPAY_RECIPIENTS).cloned())),
                ..bare
            },
        }
    }
}

impl LateChargeView {
    fn of_interest(Interest { days, rate }: Interest) -> Self {
        match rate {
            InterestRate::AmountPerDay(amount) => Self { days, amount: Some(amount), percentage: None },
            InterestRate::PercentagePerMonth(percentage) => {
                Self { days, amount: None, percentage: number(percentage) }
            }
        }
    }

    fn of_fine(Fine { days, rate }: Fine) -> Self {
        match rate {
            FineRate::Amount(amount) => Self { days, amount: Some(amount), percentage: None },
            FineRate::Percentage(percentage) => Self { days, amount: None, percentage: number(percentage) },
        }
    }
}

/// The percentage as a JSON number with its own decimals.
fn number(percentage: Percentage) -> Option<Number> {
    percentage.to_string().parse().ok()
}

impl PaymentSourceView {
    fn of(charge: &Charge, private: &Private, caller: &Caller) -> Self {
        match charge.method.source() {
            PaymentSource::Card(source) => Self::of_card(source, charge, caller),
            PaymentSource::Payer(_) => Self::of_customer(charge, caller),
            PaymentSource::Wallet => {
                let wallet = private.get(WALLET).and_then(Value::as_object).cloned();
                Self { wallet: wallet.unwrap_or_default(), ..Self::bare(WALLET_SOURCE) }
            }
        }
    }

    fn of_card(source: &CardSource, charge: &Charge, caller: &Caller) -> Self {
        match source {
            CardSource::Card { card_id } => {
                Self { card_id: Some(*card_id), ..Self::bare(SourceType::Card.word()) }
            }
            CardSource::Customer { .. } => Self::of_customer(charge, caller),
        }
    }

    fn of_customer(charge: &Charge, caller: &Caller) -> Self {
        Self { customer_id: shown_customer(charge, caller), ..Self::bare(SourceType::Customer.word()) }
    }

    fn bare(source_type: &'static str) -> Self {
        Self { source_type, card_id: None, token_id: None, customer_id: None, wallet: Map::new() }
    }
}

/// Members of `fraudAnalysis` that answers repeat; a member that was not sent is null
/// (`docs/interface/charges.md#fraud-analysis`).
fn fraud_analysis_metadata(sent: &Value) -> Value {
    const MEMBERS: &[&str] = &["sla", "cart", "orderOrigin", "operationalSystem", "country"];
    const CUSTOMER_MEMBERS: &[&str] = &[
        "name",
        "identity",
        "identityType",
        "birthdate",
        "phone",
        "email",
        "billingAddress",
        "deliveryAddress",
    ];
    let mut shown = pick(sent, MEMBERS);
    let customer =
        sent.get("customer").map_or(Value::Null, |customer| pick(customer, CUSTOMER_MEMBERS).into());
    shown.insert("customer".to_owned(), customer);
    shown.into()
}

fn pick(from: &Value, members: &[&str]) -> Map<String, Value> {
    members.iter().map(|name| ((*name).to_owned(), from.get(name).cloned().unwrap_or(Value::Null))).collect()
}
