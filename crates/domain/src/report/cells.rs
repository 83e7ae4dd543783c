//! Makes the cells of a row. Texts that a spreadsheet would take for a formula begin with an apostrophe.

use serde_json::{Map, Value};

use super::{Column, Row, Zone};
use crate::charge::Recurrence;
use crate::charge::analysis::Verdict;
use crate::charge::attempt::{Approval, TransactionRequest};
use crate::customer::Address;
use crate::decline::DeclinedCode;
use crate::money::Amount;
use crate::provider_type::ProviderType;

/// What makes a spreadsheet take a text for a formula, or look for one behind it.
const BEGINS_A_FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// The text of a cell that no spreadsheet computes.
pub fn neutral(text: String) -> String {
    if text.starts_with(BEGINS_A_FORMULA) { format!("'{text}") } else { text }
}

/// The cell of a column; empty where the row has nothing for it.
pub fn cell(column: Column, row: &Row<'_>, zone: &Zone) -> String {
    neutral(value(column, row, zone).unwrap_or_default())
}

fn value(column: Column, row: &Row<'_>, zone: &Zone) -> Option<String> {
    use Column as C;
    let Row { charge, request, buyer, card, .. } = *row;
    let references = &charge.references;
    let money = |amount: Amount| amount.in_major_units_of(charge.currency);
    let approval = |read: fn(&Approval) -> &Option<String>| read(request?.reference()?).clone();
    let home = |read: fn(&Address) -> &Option<String>| read(&buyer?.address.as_ref()?.1).clone();
    let billing = |name: &str| of_address(row, "billingAddress", name);
    let delivery = |name: &str| of_address(row, "deliveryAddress", name);
    match column {
        C::TransactionCreatedAt => Some(zone.shown(charge.id.created_at())),
        C::TransactionId => Some(charge.id.to_string()),
        C::TransactionOrderId => charge.order_id.clone(),
        C::SessionId => charge.session_id.map(|id| id.to_string()),
        C::TransactionMerchantId => Some(charge.merchant_id.to_string()),
        C::TransactionDescription => references.description.clone(),
        C::TransactionSourcePaymentMethod | C::TransactionRequestPaymentMethod => {
            Some(charge.method.payment_type().word().to_owned())
        }
        C::TransactionSourcePaymentMethodRecurrence => {
            charge.method.recurrence().map(Recurrence::word).map(str::to_owned)
        }
        C::TransactionCurrency => Some(charge.currency.code().to_owned()),
        C::TransactionOriginalAmount => Some(money(charge.original_amount)),
        C::TransactionAmount => Some(money(row.amount)),
        C::TransactionInstallments => Some(charge.method.installments().to_string()),
        C::TransactionStatus => Some(row.status.word().to_owned()),
        C::TransactionCapture => Some(charge.capture.flag().to_string()),
        C::TransactionIsDispute => Some(row.is_disputed.to_string()),
        C::TransactionClientId | C::CustomerClientId => Some(charge.client_id.to_string()),
        C::TransactionStatementDescriptor => references.statement_descriptor.clone(),
        // The key of a caller is kept as a digest, and of tokens there is no record: a card is what is left of one.
        C::TransactionIdempotencyKey | C::TokenCreatedAt => None,
        C::TransactionPaymentFlowId => Some(charge.explanation.flow.as_ref()?.id.to_string()),
        C::PaymentFlowMetadata => references.flow_metadata.as_ref().map(Value::to_string),
        C::TransactionResponsibleProviderId => row.responsible?.0.map(|id| id.to_string()),
        C::TransactionResponsibleProviderType => Some(row.responsible?.1.shown().to_owned()),
        C::NupayPaymentType => row.paid_as.map(|paid| paid.payment_type.clone()),
        C::NupayInstallmentsNumber => row.paid_as.map(|paid| paid.installments_number.to_string()),
        C::MerchantName => row.merchant_name.map(str::to_owned),
        C::ProviderName => row.provider_name.map(str::to_owned),
        C::CardBrandBrand => Some(card?.face.brand?.name().to_owned()),
        C::CardNumber => Some(card?.masked_number()),
        C::CardHolderName => card?.holder_name.clone(),
        C::CardCardId | C::TransactionSourceCardId => charge.method.card_id().map(|id| id.to_string()),
        C::CustomerId => charge.customer_id.map(|id| id.to_string()),
        C::CustomerName => Some(buyer?.name.clone()),
        C::CustomerEmail => buyer?.email.clone(),
        C::CustomerPhoneNumber => Some(buyer?.phone_number.clone()),
        C::CustomerDocumentNumber => Some(buyer?.document_number.clone()),
        C::CustomerAddressId => Some(buyer?.address.as_ref()?.0.to_string()),
        C::CustomerAddressStreet => home(|address| &address.street),
        C::CustomerAddressStreetNumber => home(|address| &address.street_number),
        C::CustomerAddressComplement => home(|address| &address.complement),
        C::CustomerAddressZipCode => home(|address| &address.zip_code),
        C::CustomerAddressState => home(|address| &address.state),
        C::CustomerAddressCity => home(|address| &address.city),
        C::CustomerAddressDistrict => home(|address| &address.district),
        C::CustomerAddressCountry => Some(buyer?.address.as_ref()?.1.country?.code().to_owned()),
        C::RiskCustomerName => of_customer(row, "name"),
        C::RiskCustomerIdentity => of_customer(row, "identity"),
        C::RiskCustomerEmail => of_customer(row, "email"),
        C::RiskCustomerPhone => of_customer(row, "phone"),
        C::RiskBillingStreet => billing("street"),
        C::RiskBillingNumber => billing("number"),
        C::RiskBillingComplement => billing("complement"),
        C::RiskBillingZipCode => billing("zipCode"),
        C::RiskBillingCity => billing("city"),
        C::RiskBillingState => billing("state"),
        C::RiskBillingDistrict => billing("district"),
        C::RiskBillingCountry => billing("country"),
        C::RiskDeliveryStreet => delivery("street"),
        C::RiskDeliveryNumber => delivery("number"),
        C::RiskDeliveryComplement => delivery("complement"),
        C::RiskDeliveryZipCode => delivery("zipCode"),
        C::RiskDeliveryCity => delivery("city"),
        C::RiskDeliveryState => delivery("state"),
        C::RiskDeliveryDistrict => delivery("district"),
        C::RiskDeliveryCountry => delivery("country"),
        C::TransactionRequestId => Some(request?.id.to_string()),
        C::TransactionRequestCreatedAt => Some(zone.shown(request?.id.created_at())),
        C::TransactionRequestUpdatedAt => Some(zone.shown(request?.updated_at)),
        C::TransactionRequestProviderId => {
            let asked = request.filter(|request| !request.request_type.is_authentication())?;
            Some(asked.provider_id.to_string())
        }
        C::TransactionRequestProviderType => Some(shown_type(request?.provider_type)),
        C::TransactionRequestRequestType => Some(request?.shown_type().to_owned()),
        C::TransactionRequestRequestStatus => Some(request?.status().word().to_owned()),
        C::TransactionRequestAmount => {
            request.filter(|request| !request.is_later_verdict()).map(|request| money(request.amount))
        }
        C::TransactionRequestResponseTs => {
            let called = request.filter(|request| !request.request_type.is_authentication())?;
            called.duration.map(|took| format!("{}ms", took.as_millis()))
        }
        C::TransactionRequestTokenizedPayment => {
            let is_about_risk = request.is_some_and(|request| request.request_type.is_about_risk());
            Some((charge.method.is_tokenized() && !is_about_risk).to_string())
        }
        C::TransactionRequestNetworkTransactionId => approval(|given| &given.network_transaction_id),
        C::TransactionRequestAuthorizationCode => approval(|given| &given.authorization_code),
        C::TransactionRequestAuthorizationNsu => approval(|given| &given.authorization_nsu),
        C::TransactionRequestResponseCode => approval(|given| &given.response_code),
        C::ProviderAuthorizationNetworkResponseCode => approval(|given| &given.network_response_code),
        C::TransactionRequestIdempotencyKey => request?.shown_key().map(|key| key.to_string()),
        C::ProviderErrorMessage => Some(Refusal::of(request?)?.message.to_owned()),
        C::ProviderErrorRetryable => Some(Refusal::of(request?)?.retryable.to_string()),
        C::ProviderErrorDeclinedCode => Some(Refusal::of(request?)?.code?.code().to_owned()),
        C::ProviderErrorNetworkDeniedReason => Refusal::of(request?)?.reason.map(str::to_owned),
        C::ProviderErrorNetworkDeniedMessage => Refusal::of(request?)?.network_message.map(str::to_owned),
        C::AnalysisScore => Some(request?.verdict()?.score()?.to_string()),
        C::AnalysisStatus => Some(request?.verdict()?.status().word().to_owned()),
    }
}

fn shown_type(provider_type: ProviderType) -> String {
    provider_type.shown().to_owned()
}

/// What a provider refused with, or what an analysis failed with.
struct Refusal<'a> {
    message: &'a str,
    code: Option<DeclinedCode>,
    retryable: bool,
    reason: Option<&'a str>,
    network_message: Option<&'a str>,
}

impl<'a> Refusal<'a> {
    fn of(request: &'a TransactionRequest) -> Option<Self> {
        if let Some(Verdict::Failed { reason, message, .. }) = request.verdict() {
            let (reason, network_message) = (Some(reason.as_str()), Some(message.as_str()));
            return Some(Self { message, code: None, retryable: false, reason, network_message });
        }
        request.decline().map(|decline| Self {
            message: &decline.message,
            code: Some(decline.code),
            retryable: decline.retryable,
            reason: decline.network_denied_reason.as_deref(),
            network_message: decline.network_denied_message.as_deref(),
        })
    }
}

fn of_customer(row: &Row<'_>, name: &str) -> Option<String> {
    text_of(row.analysed_customer?, name)
}

fn of_address(row: &Row<'_>, address: &str, name: &str) -> Option<String> {
    let address = row.analysed_customer?.get(address)?.as_object()?;
    // Either spelling of the number in the street was sent.
    text_of(address, name).or_else(|| match name {
        "number" => text_of(address, "streetNumber"),
        _ => None,
    })
}

fn text_of(members: &Map<String, Value>, name: &str) -> Option<String> {
    match members.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
