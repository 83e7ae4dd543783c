//! What the simulator asks of a payer, by payment method (`docs/interface/sandbox.md#payers`).

use std::time::Duration;

use regente_domain::br_code::{BrCode, TXID_CHARS_MAX};
use regente_domain::charge::{PaymentMethod, Pix};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::time::Timestamp;

use crate::outcome::{Approval, Instructions, Pending};
use crate::request::Authorization;

use super::draws::Draws;
use super::rules::{Verdict, network_says};

/// Where the payer's bank would read a charge; nothing is there.
const LOCATION: &str = "pix.sandbox.example/v2";
/// Who is paid, so that nobody takes the code for a real one.
const MERCHANT_NAME: &str = "SANDBOX";
const MERCHANT_CITY: &str = "SAO PAULO";

/// The instructions of a method that is paid without a card; a decline for a method that needs one.
pub(super) fn issue(authorization: &Authorization, at: Timestamp, draws: &Draws) -> Verdict {
    match &authorization.method {
        PaymentMethod::Pix(method) => pix(authorization, method, at, draws),
        PaymentMethod::Credit(_)
        | PaymentMethod::Debit(_)
        | PaymentMethod::Voucher(_)
        | PaymentMethod::ApplePay(_)
        | PaymentMethod::ClickToPay(_) => {
            Verdict::Decline(network_says(Decline::of(DeclinedCode::InvalidData), "sandbox no card"))
        }
    }
}

/// The code of one charge. Its `txid` is the id of the transaction.
fn pix(authorization: &Authorization, method: &Pix, at: Timestamp, draws: &Draws) -> Verdict {
    let refused =
        |reason| Verdict::Decline(network_says(Decline::of(DeclinedCode::TransactionNotAllowed), reason));
    if authorization.currency != Currency::BRL {
        return refused("sandbox pix is in BRL");
    }
    let mut txid = draws.letters_and_digits("txid");
    txid.truncate(TXID_CHARS_MAX);
    let code = BrCode {
        location: &format!("{LOCATION}/{}", draws.call_key().simple()),
        merchant_name: MERCHANT_NAME,
        merchant_city: MERCHANT_CITY,
        category: authorization.merchant_mcc.clone(),
        amount: authorization.amount,
        txid: &txid,
    };
    let Ok(data) = code.encode() else { return refused("sandbox amount too large for a code") };
    Verdict::Wait(Box::new(Pending {
        instructions: Instructions::QrCode { data },
        reference: Approval { transaction_id: Some(txid), ..Approval::default() },
        expires_at: Some(at + Duration::from_secs(method.expires_in.into())),
    }))
}
