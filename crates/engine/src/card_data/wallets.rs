//! What wallets hand out for a payment. An Apple Pay token is opened with the account's key; the number in it exists only
//! while the charge is made, so a charge that is continued later asks no further provider.

use std::time::Duration;

use regente_domain::card::{CardNumber, Expiry};
use regente_domain::currency::Currency;
use regente_domain::id::ClientId;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use regente_providers::request::{ClickToPayCheckout, NetworkToken, WalletDetails};
use regente_wallets::apple_pay::{Payment, Token};

use super::WalletFunding;
use crate::app::App;
use crate::audit::Openings;
use crate::error::Error;

/// How long a payment is remembered: until its token is too old under any setting.
const PAYMENT_KEPT_FOR: Duration = Duration::from_secs(2 * 24 * 60 * 60);
/// The member with an Apple Pay token.
const PAYMENT_DATA_PATH: &str = "paymentSource.paymentData";

/// A wallet's part of a charge, as it was sent.
pub enum Wallet {
    /// A token of Apple Pay.
    ApplePay(Token),
    /// A checkout at Click to Pay.
    ClickToPay(ClickToPayCheckout),
}

/// Opens what a wallet has handed out and checks it against the charge. The opening is noted.
///
/// # Errors
/// [`Error::Invalid`] with the member that is wrong; [`Error::Impossible`] when the account has no key.
pub fn fund(
    app: &App,
    client_id: ClientId,
    wallet: Wallet,
    (amount, currency): (Amount, Currency),
    openings: &Openings,
) -> Result<WalletFunding, Error> {
    let token = match wallet {
        Wallet::ApplePay(token) => token,
        Wallet::ClickToPay(checkout) => {
            return Ok(WalletFunding { details: WalletDetails::ClickToPay(checkout), payment_digest: None });
        }
    };
    let keys = app.apple_pay.as_ref().and_then(|keys| keys.of(client_id));
    let keys = keys.ok_or_else(|| Error::impossible("no Apple Pay key is configured for this account"))?;
    let now = Duration::from_millis(u64::try_from(app.clock.of(client_id).as_millis()).unwrap_or(0));
    let payment = keys
        .open(&token, now)
        .map_err(|error| Error::invalid(format!("{PAYMENT_DATA_PATH}.{}", error.member()), error))?;
    openings.note_wallet(payment.digest);
    if u64::try_from(amount.minor_units()) != Ok(payment.amount) {
        return Err(Error::invalid(
            "amount",
            "must be the amount that the payer has confirmed to the wallet",
        ));
    }
    if currency.number() != payment.currency_number {
        return Err(Error::invalid(
            "currency",
            "must be the currency that the payer has confirmed to the wallet",
        ));
    }
    let payment_digest = Some(payment.digest);
    Ok(WalletFunding { details: WalletDetails::NetworkToken(network_token(payment)?), payment_digest })
}

/// Until when a payment that is made now is remembered.
pub fn payment_kept_until(now: Timestamp) -> Timestamp {
    now + PAYMENT_KEPT_FOR
}

/// A wallet's payment was made before.
pub fn paid_before() -> Error {
    Error::invalid(PAYMENT_DATA_PATH, "was used by an earlier charge: a wallet's payment is made once")
}

fn network_token(payment: Payment) -> Result<NetworkToken, Error> {
    let wrong =
        |name| Error::invalid(format!("{PAYMENT_DATA_PATH}.data"), format!("must contain a valid `{name}`"));
    let number = CardNumber::parse(&payment.device_account_number)
        .map_err(|_| wrong("applicationPrimaryAccountNumber"))?;
    let expiry = Expiry::parse(&format!("{:02}/{:04}", payment.expiration_month, payment.expiration_year))
        .ok_or_else(|| wrong("applicationExpirationDate"))?;
    Ok(NetworkToken { number, expiry, cryptogram: payment.cryptogram, eci: payment.eci })
}
