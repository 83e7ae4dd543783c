//! What the simulator asks of a payer, by payment method (`docs/interface/sandbox.md#payers`).

use std::time::Duration;

use regente_domain::charge::{PaymentMethod, Pix};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::time::Timestamp;

use crate::outcome::{Approval, Instructions, Pending};
use crate::request::Authorization;

use super::draws::Draws;
use super::rules::{Verdict, network_says};

/// Characters of a `txid`, the id of a Pix charge at its provider, at most (BR Code manual).
const TXID_CHARS: usize = 25;

/// The instructions of a method that is paid without a card; a decline for a method that needs one.
pub(super) fn issue(authorization: &Authorization, at: Timestamp, draws: &Draws) -> Verdict {
    match &authorization.method {
        PaymentMethod::Pix(method) => Verdict::Wait(Box::new(pix(method, at, draws))),
        PaymentMethod::Credit(_) | PaymentMethod::Voucher(_) => {
            Verdict::Decline(network_says(Decline::of(DeclinedCode::InvalidData), "sandbox no card"))
        }
    }
}

/// A code for one payment. Its `txid` is the id of the transaction.
fn pix(method: &Pix, at: Timestamp, draws: &Draws) -> Pending {
    let mut txid = draws.letters_and_digits("txid");
    txid.truncate(TXID_CHARS);
    Pending {
        instructions: Instructions::QrCode { data: format!("00020101021226{txid}") },
        reference: Approval { transaction_id: Some(txid), ..Approval::default() },
        expires_at: Some(at + Duration::from_secs(method.expires_in.into())),
    }
}
