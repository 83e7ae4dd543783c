//! Where a payer comes back to: a page with a public key names only pages that its merchant has registered.

use std::fmt::Display;

use super::method::PayerMethod;
use super::order::{ChargeOrder, PaidBy, PlacedBy};
use crate::app::App;
use crate::error::Error;
use crate::link_settings::{self, UNREGISTERED};
use crate::settings::Settings;

const RULE_OF_SESSION: &str =
    "must be the page of the session, or at an origin of the settings redirectOrigins or companyUrl";

/// The page of the session to which a buyer comes back from the bank; `None` when the service does not know its own address.
pub fn return_page(session_id: impl Display, settings: &Settings) -> Option<String> {
    settings.base_url.as_deref().map(|base| format!("{base}/pay/{session_id}/returned"))
}

/// Whether every address that the order names is registered, where it comes from a page. The terms of a session name
/// addresses of their own, which its merchant has set.
///
/// # Errors
/// [`Error::Invalid`] names the first field with another address.
pub(super) async fn must_be_registered(app: &App, by: &PlacedBy, order: &ChargeOrder) -> Result<(), Error> {
    if !by.is_public() {
        return Ok(());
    }
    let from_bank = order.authentication.as_ref().and_then(|data| data.redirect_url.as_deref());
    let from_bank = from_bank.map(|address| ("threeDSecure2.redirectURL", address));
    let (own, rule, of_method) = match order.origin.session() {
        Some(session) => (return_page(session.id, &app.settings), RULE_OF_SESSION, Vec::new()),
        None => (None, UNREGISTERED, of_method(&order.paid_by)),
    };
    let mut addresses: Vec<(&str, &str)> = from_bank.into_iter().chain(of_method).collect();
    addresses.retain(|(_, address)| own.as_deref() != Some(*address));
    link_settings::must_be_registered(app, (by.client_id(), order.merchant_id), &addresses, rule).await
}

/// The addresses of the methods whose payer is sent to a page of a provider, by their fields.
fn of_method(paid_by: &PaidBy) -> Vec<(&'static str, &str)> {
    let addresses = match paid_by {
        PaidBy::Payer(PayerMethod::Nupay(nupay), _) => nupay.addresses().to_vec(),
        PaidBy::Payer(PayerMethod::Drip(drip), _) => drip.addresses().to_vec(),
        PaidBy::Payer(PayerMethod::Pix(_) | PayerMethod::Boleto(_) | PayerMethod::Picpay, _)
        | PaidBy::Card(..)
        | PaidBy::Wallet(..) => Vec::new(),
    };
    addresses.into_iter().filter_map(|(field, address)| Some((field, address?))).collect()
}
