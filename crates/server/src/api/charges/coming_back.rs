//! Where a payer comes back to: a page with a public key names only pages that its merchant has registered. Whoever reads the
//! key could otherwise have this service, or a provider in the merchant's name, send others anywhere.

use regente_domain::session::Session;
use regente_engine::caller::Caller;
use regente_engine::error::Error;
use regente_engine::link_settings;
use url::Url;

use super::of_session::return_page;
use super::request::{ChargeRequest, Paid, PayerMethod};
use crate::app::App;

const RULE: &str = "must be at an origin of the settings redirectOrigins or companyUrl";
const RULE_OF_SESSION: &str =
    "must be the page of the session, or at an origin of the settings redirectOrigins or companyUrl";

/// Whether every address that the request names is registered, where its caller is a page. The terms of a session name
/// addresses of their own, which its merchant has set.
///
/// # Errors
/// [`Error::Invalid`] names the first field with another address.
pub(super) async fn must_be_registered(
    app: &App,
    caller: &Caller,
    session: Option<&Session>,
    request: &ChargeRequest,
) -> Result<(), Error> {
    if !caller.is_public_key() {
        return Ok(());
    }
    let from_bank = request.authentication.as_ref().and_then(|data| data.redirect_url.as_deref());
    let from_bank = from_bank.map(|address| ("threeDSecure2.redirectURL", address));
    let (own, rule, of_method) = match session {
        Some(session) => (return_page(session.id, &app.settings), RULE_OF_SESSION, Vec::new()),
        None => (None, RULE, of_method(&request.paid)),
    };
    for (field, address) in from_bank.into_iter().chain(of_method) {
        if own.as_deref() == Some(address) {
            continue;
        }
        let page = Url::parse(address).map_err(Error::internal)?;
        match link_settings::has_registered(app, caller.client_id, request.merchant_id, &page).await? {
            true => {}
            false => return Err(Error::invalid(field, rule)),
        }
    }
    Ok(())
}

/// The addresses of the methods whose payer is sent to a page of a provider, by their fields.
fn of_method(paid: &Paid) -> Vec<(&'static str, &str)> {
    let addresses = match paid {
        Paid::ByPayer(PayerMethod::Nupay(nupay), _) => nupay.addresses().to_vec(),
        Paid::ByPayer(PayerMethod::Drip(drip), _) => drip.addresses().to_vec(),
        Paid::ByPayer(PayerMethod::Pix { .. } | PayerMethod::Boleto(_) | PayerMethod::Picpay, _)
        | Paid::ByCard(..)
        | Paid::ByWallet(..) => Vec::new(),
    };
    addresses.into_iter().filter_map(|(field, address)| Some((field, address?))).collect()
}
