//! Payments by card: what is charged, who attends, and what is known of the authentication of the cardholder.

use regente_domain::charge::authentication::{Found, LiabilityShift, Purpose};
use regente_domain::charge::{PaymentMethod, Recurrence};
use regente_domain::decline::Decline;

use super::super::declines;
use super::super::wire::{
    Authentication, AuthenticationData, BillingAddress, BrowserInfo, Installments, Method, MpiData,
    PaymentsBody, Shopper, Terms, ThreeDsRequestData, WireAmount,
};
use super::payer::{address, name};
use super::{
    AdyenRequest, Expects, merchant_account, nowhere, pay as payment, reference, terms, wire_amount,
};
use crate::authentication::{AddressData, Browser, Mpi, Proof, ThreeDSecure};
use crate::request::{Authorization, Call, CardDetails, PayerDetails, Verification};

/// Values of `mpiData.directoryResponse` and `mpiData.authenticationResponse`.
const DIRECTORY_RESPONSES: [&str; 8] = ["A", "C", "D", "I", "N", "R", "U", "Y"];
const AUTHENTICATION_RESPONSES: [&str; 4] = ["Y", "N", "U", "A"];
/// The issuer has asked the cardholder (EMV 3-D Secure, `transStatus`).
const CHALLENGE: &str = "C";

pub(super) fn pay<'a>(call: &'a Call, authorization: &'a Authorization) -> Result<AdyenRequest<'a>, Decline> {
    let Some(card) = authorization.instrument.card() else {
        return Err(declines::not_sent("cards, Pix and boletos alone"));
    };
    let proof = authorization.proof.as_deref();
    let asks = asks_of_cardholder(proof);
    if asks.is_some() && authorization.liability_shift == LiabilityShift::Required {
        return Err(declines::not_sent("it cannot be told to refuse without a shift of liability"));
    }
    let funding_source = match &authorization.method {
        PaymentMethod::Debit(_) => Some("debit"),
        PaymentMethod::Credit(_)
        | PaymentMethod::Voucher(_)
        | PaymentMethod::Pix(_)
        | PaymentMethod::Nupay(_)
        | PaymentMethod::Drip(_)
        | PaymentMethod::Picpay(_)
        | PaymentMethod::ApplePay(_)
        | PaymentMethod::ClickToPay(_)
        | PaymentMethod::Boleto(_) => None,
    };
    let return_url = asks.map(|(.., return_url)| return_url);
    let request = PaymentsBody {
        merchant_account: merchant_account(&call.credentials),
        amount: wire_amount(authorization.amount, authorization.currency)?,
        reference: reference(call),
        return_url: return_url.unwrap_or_else(|| nowhere(call)),
        payment_method: method(card, funding_source),
        terms: recurrence(authorization)?,
        shopper: shopper(asks.map(|(_, data, _)| data), authorization.buyer.as_deref()),
        authentication: authentication(proof),
    };
    Ok(payment(call, request, Expects::Card { return_url: return_url.map(str::to_owned) }))
}

pub(super) fn verify<'a>(
    call: &'a Call,
    verification: &'a Verification,
) -> Result<AdyenRequest<'a>, Decline> {
    let request = PaymentsBody {
        merchant_account: merchant_account(&call.credentials),
        amount: WireAmount { currency: verification.currency.code(), value: 0 },
        reference: reference(call),
        return_url: nowhere(call),
        payment_method: method(&verification.card, None),
        terms: Terms { shopper_interaction: Some("Ecommerce"), ..Terms::default() },
        shopper: Shopper::default(),
        authentication: authentication(None),
    };
    Ok(payment(call, request, Expects::Card { return_url: None }))
}

fn method<'a>(card: &'a CardDetails, funding_source: Option<&'static str>) -> Method<'a> {
    Method::Card {
        number: card.number.expose_digits(),
        expiry_month: card.expiry.month_text(),
        expiry_year: card.expiry.year_text(),
        holder_name: &card.holder_name,
        cvc: card.cvv.as_ref().map(|cvv| cvv.expose()),
        funding_source,
    }
}

/// Who attends, and which agreement the payment belongs to.
fn recurrence(authorization: &Authorization) -> Result<Terms<'_>, Decline> {
    let mut terms = terms(authorization)?;
    let installments = authorization.method.installments();
    terms.installments = (installments > 1).then_some(Installments { value: installments });
    let (interaction, model) = match authorization.method.recurrence() {
        None => ("Ecommerce", None),
        Some(Recurrence::Initial) => ("Ecommerce", Some("Subscription")),
        Some(Recurrence::Subsequent) => ("ContAuth", Some("Subscription")),
        Some(Recurrence::Unscheduled) => ("ContAuth", Some("UnscheduledCardOnFile")),
    };
    terms.shopper_interaction = Some(interaction);
    terms.recurring_processing_model = model;
    if let Some(named) = authorization.network_transaction_id.as_deref() {
        terms.additional_data.insert("networkTxReference", named.into());
    }
    Ok(terms)
}

/// What the provider is to ask the cardholder, with what is known of them and where they return.
fn asks_of_cardholder(proof: Option<&Proof>) -> Option<(Purpose, &ThreeDSecure, &str)> {
    match proof? {
        Proof::ToDo { purpose, data, return_url } => Some((*purpose, data, return_url)),
        Proof::Answered(_) | Proof::Outside(_) => None,
    }
}

/// A payment whose cardholder cannot be sent away is not to be authenticated, whatever the rules of the account say.
fn authentication(proof: Option<&Proof>) -> Authentication<'_> {
    let never = Some(AuthenticationData { attempt_authentication: "never", three_ds_request_data: None });
    match proof {
        None => Authentication { authentication_data: never, ..Authentication::default() },
        Some(Proof::Answered(answered)) => match answered.found {
            Found::Authenticated | Found::Attempted if answered.cavv.is_some() => {
                let status = if answered.found == Found::Authenticated { "Y" } else { "A" };
                let mpi_data = MpiData {
                    cavv: answered.cavv.as_deref(),
                    eci: answered.eci.as_deref(),
                    ds_trans_id: answered.network_transaction_id.as_deref(),
                    three_ds_version: answered.version.as_deref(),
                    ..statuses(status, answered.challenged)
                };
                Authentication { mpi_data: Some(mpi_data), ..Authentication::default() }
            }
            Found::Authenticated
            | Found::Attempted
            | Found::ChallengeWanted
            | Found::NotEnrolled
            | Found::DataShared
            | Found::Failed
            | Found::NotCompleted
            | Found::Error
            | Found::Unavailable => {
                Authentication { authentication_data: never, ..Authentication::default() }
            }
        },
        Some(Proof::Outside(mpi)) if mpi.proof().is_some() => {
            Authentication { mpi_data: Some(outside(mpi)), ..Authentication::default() }
        }
        Some(Proof::Outside(_)) => Authentication { authentication_data: never, ..Authentication::default() },
        Some(Proof::ToDo { purpose, data, .. }) => Authentication {
            authentication_data: Some(AuthenticationData {
                attempt_authentication: "always",
                three_ds_request_data: Some(ThreeDsRequestData {
                    native_three_ds: "disabled",
                    data_only: match purpose {
                        Purpose::Authenticate => None,
                        Purpose::ShareData => Some("true"),
                    },
                }),
            }),
            mpi_data: None,
            browser_info: data.browser.as_ref().map(browser_info),
            channel: Some("Web"),
        },
    }
}

fn outside(mpi: &Mpi) -> MpiData<'_> {
    MpiData {
        cavv: mpi.proof(),
        eci: mpi.eci.as_deref(),
        ds_trans_id: mpi.directory_server_transaction_id.as_deref(),
        three_ds_version: mpi.version.as_deref(),
        xid: mpi.xid.as_deref(),
        ..statuses(mpi.trans_status.as_deref().unwrap_or_default(), mpi.challenged == Some(true))
    }
}

/// After a challenge the directory has answered that there is one, and the issuer how it ended.
fn statuses(status: &str, challenged: bool) -> MpiData<'_> {
    let known = |known: &[&str]| known.contains(&status).then_some(status);
    match challenged {
        true => MpiData {
            directory_response: Some(CHALLENGE),
            authentication_response: known(&AUTHENTICATION_RESPONSES),
            ..MpiData::default()
        },
        false => MpiData { directory_response: known(&DIRECTORY_RESPONSES), ..MpiData::default() },
    }
}

fn browser_info(browser: &Browser) -> BrowserInfo<'_> {
    BrowserInfo {
        accept_header: &browser.accept_header,
        color_depth: browser.color_depth,
        java_enabled: browser.java_enabled,
        java_script_enabled: browser.java_script_enabled,
        language: &browser.language,
        screen_height: browser.screen_height,
        screen_width: browser.screen_width,
        time_zone_offset: browser.time_zone_offset.trim().parse().unwrap_or_default(),
        user_agent: &browser.user_agent,
    }
}

/// Who pays: what the merchant has sent for the authentication, else what is known of the customer.
fn shopper<'a>(data: Option<&'a ThreeDSecure>, buyer: Option<&'a PayerDetails>) -> Shopper<'a> {
    let holder = data.and_then(|data| data.card_holder.as_ref());
    Shopper {
        shopper_email: holder
            .map(|holder| holder.email.as_str())
            .or_else(|| buyer.and_then(|buyer| buyer.email.as_deref())),
        shopper_ip: data.and_then(|data| data.browser.as_ref()).map(|browser| browser.ip.as_str()),
        shopper_name: buyer.and_then(name),
        billing_address: data
            .and_then(|data| data.billing_address.as_ref())
            .and_then(sent_address)
            .or_else(|| buyer.and_then(address)),
        delivery_address: data.and_then(|data| data.shipping_address.as_ref()).and_then(sent_address),
        ..Shopper::default()
    }
}

fn sent_address(sent: &AddressData) -> Option<BillingAddress<'_>> {
    let AddressData { city, country, street_number, zip_code, state, street } = sent;
    super::payer::wire_address(street, street_number, zip_code, city, state, country)
}
