//! What wallets hand out for a payment, which pays one charge. An Apple Pay token is opened with the account's key; the number
//! in it exists only while the charge is made, so a charge that is continued later asks no further provider.

use std::time::Duration;

use regente_domain::card::{CardNumber, Expiry};
use regente_domain::currency::Currency;
use regente_domain::id::ClientId;
use regente_domain::money::Amount;
use regente_providers::request::{ClickToPayCheckout, NetworkToken, WalletDetails};
use regente_wallets::apple_pay::{DevicePayment, Token};

use super::WalletFunding;
use crate::app::App;
use crate::audit::Openings;
use crate::error::Error;
use crate::vault::sha256;

/// How long a token of Apple Pay is remembered: until it is too old under any setting.
const TOKEN_KEPT_FOR: Duration = Duration::from_secs(2 * 24 * 60 * 60);
/// How long a checkout at Click to Pay is remembered. Nothing in it says when it was made, so it is remembered until no
/// provider fetches a card with it any more: wallets keep a checkout for hours.
const CHECKOUT_KEPT_FOR: Duration = Duration::from_secs(400 * 24 * 60 * 60);
/// The member with an Apple Pay token.
const PAYMENT_DATA_PATH: &str = "paymentSource.paymentData";
/// The member with a checkout at Click to Pay.
const CHECKOUT_PATH: &str = "paymentSource.walletClickToPay";

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
            let (payment_digest, kept_for) = (digest_of(&checkout), CHECKOUT_KEPT_FOR);
            return Ok(WalletFunding {
                details: WalletDetails::ClickToPay(checkout),
                payment_digest,
                kept_for,
            });
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
    let (payment_digest, kept_for) = (payment.digest, TOKEN_KEPT_FOR);
    let details = WalletDetails::NetworkToken(network_token(payment)?);
    Ok(WalletFunding { details, payment_digest, kept_for })
}

/// A wallet's payment was made before.
pub fn paid_before(details: &WalletDetails) -> Error {
    let path = match details {
        WalletDetails::NetworkToken(_) => PAYMENT_DATA_PATH,
        WalletDetails::ClickToPay(_) => CHECKOUT_PATH,
    };
    Error::invalid(path, "was used by an earlier charge: a wallet's payment is made once")
}

/// All members of a checkout, each behind its length: a text that moves from one member to the next makes another checkout.
fn digest_of(checkout: &ClickToPayCheckout) -> [u8; 32] {
    let ClickToPayCheckout { dpa_id, correlation_id, flow_id, merchant_transaction_id } = checkout;
    let members = [dpa_id, correlation_id, flow_id, merchant_transaction_id].map(|member| member.as_bytes());
    let lengths = members.map(|member| member.len().to_be_bytes());
    let mut parts: Vec<&[u8]> = vec![b"regente click to pay"];
    parts.extend(lengths.iter().zip(members).flat_map(|(length, member)| [length.as_slice(), member]));
    sha256(&parts)
}

fn network_token(payment: DevicePayment) -> Result<NetworkToken, Error> {
    let wrong =
        |name| Error::invalid(format!("{PAYMENT_DATA_PATH}.data"), format!("must contain a valid `{name}`"));
    let number = CardNumber::parse(&payment.device_account_number)
        .map_err(|_| wrong("applicationPrimaryAccountNumber"))?;
    let expiry = Expiry::parse(&format!("{:02}/{:04}", payment.expiration_month, payment.expiration_year))
        .ok_or_else(|| wrong("applicationExpirationDate"))?;
    Ok(NetworkToken { number, expiry, cryptogram: payment.cryptogram, eci: payment.eci })
}
