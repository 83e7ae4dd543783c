//! How a payment is divided, in the provider's form: every part in cents, that of the merchant among them.

use regente_domain::decline::Decline;
use regente_domain::money::Amount;

use super::not_taken;
use crate::division::{Division, SellerPart};
use crate::pagarme_v5::wire::sent::{SplitOptions, SplitPart};
use crate::request::{Authorization, Call, FollowUp};

/// The credential with the merchant's own recipient.
const OWN_RECIPIENT: &str = "recipientId";
/// The word for a part in cents.
const FLAT: &str = "flat";

type Parts<'a> = Option<Vec<SplitPart<'a>>>;

/// The split of an authorization.
pub(super) fn of_authorization<'a>(
    call: &'a Call,
    authorization: &'a Authorization,
) -> Result<Parts<'a>, Decline> {
    authorization.division.as_deref().map(|division| parts(call, division)).transpose()
}

/// The split of what is captured.
pub(super) fn capture_of<'a>(call: &'a Call, follow_up: &'a FollowUp) -> Result<Parts<'a>, Decline> {
    follow_up.division.as_deref().map(|division| parts(call, division)).transpose()
}

/// What each gives back.
pub(super) fn return_of<'a>(call: &'a Call, follow_up: &'a FollowUp) -> Result<Parts<'a>, Decline> {
    capture_of(call, follow_up)
}

/// The sellers, then the merchant. Who has nothing is left out: the provider takes no parts of zero.
fn parts<'a>(call: &'a Call, division: &'a Division) -> Result<Vec<SplitPart<'a>>, Decline> {
    // Somebody must bear what no seller bears.
    let of_seller = |part: &SellerPart| {
        part.bears.processing_fee == Some(true) || part.bears.charge_entire_fee == Some(true)
    };
    let sellers = division.sellers.iter().filter(|part| part.amount > Amount::ZERO);
    let mut parts = Vec::with_capacity(division.sellers.len() + 1);
    for part in sellers {
        let recipient_id = part.recipient.as_deref().ok_or_else(|| not_taken("seller without recipient"))?;
        let options = SplitOptions {
            charge_processing_fee: of_seller(part),
            charge_remainder_fee: part.bears.charge_remainder_fee == Some(true)
                || part.bears.charge_entire_fee == Some(true),
            liable: part.bears.liable == Some(true),
        };
        parts.push(SplitPart { kind: FLAT, amount: part.amount.minor_units(), recipient_id, options });
    }
    if division.rest > Amount::ZERO {
        let own = call.credentials.expose(OWN_RECIPIENT);
        let recipient_id = own.ok_or_else(|| not_taken("split without recipientId"))?;
        let is_borne = |bears: fn(&SplitOptions) -> bool| parts.iter().any(|part| bears(&part.options));
        let options = SplitOptions {
            charge_processing_fee: !is_borne(|options| options.charge_processing_fee),
            charge_remainder_fee: !is_borne(|options| options.charge_remainder_fee),
            // The merchant bears what the sellers who are not liable keep.
            liable: true,
        };
        parts.push(SplitPart { kind: FLAT, amount: division.rest.minor_units(), recipient_id, options });
    }
    Ok(parts)
}
