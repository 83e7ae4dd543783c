//! What is counted of a request for an authorization, for the rates of approval (decision 41, `docs/interface/rates.md`): how a
//! provider has answered a try, and what became of a try that a payer had to act on.

mod interval;

use std::time::Duration;

pub use interval::Interval;

use crate::card::record::CardFace;
use crate::charge::Charge;
use crate::charge::attempt::{Outcome, ToldBy, TransactionRequest};
use crate::decline::{Reason, RefusedBy};
use crate::id::{MerchantId, ProviderId};
use crate::routing;
use crate::words::words;

/// How long rates are kept unless a setting says otherwise: a year can be compared with the one before.
pub const KEPT_FOR: Duration = Duration::from_secs(400 * 24 * 60 * 60);

words! {
    /// What is counted. A try is counted once by its answer, and a try with instructions once more when it is known what
    /// became of them.
    Counted {
        /// Approved by the answer.
        Approved = "approved",
        /// Declined by the answer.
        Declined = "declined",
        /// The provider was not reached, or has done nothing.
        Failed = "failed",
        /// Answered with instructions for the payer.
        Instructed = "instructed",
        /// Approved after the payer had followed the instructions.
        Paid = "paid",
        /// Declined by the provider after instructions.
        Refused = "refused",
        /// The payer did not come, or did not want to pay.
        Unpaid = "unpaid",
    }
}

/// Who has told the outcome of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known {
    /// The answer to the call.
    AtOnce,
    /// Somebody later: it was unknown for a while.
    Later,
}

impl Known {
    /// 1 for an outcome that was unknown for a while.
    pub const fn number(self) -> i64 {
        match self {
            Self::AtOnce => 0,
            Self::Later => 1,
        }
    }
}

/// What is counted, by everything that rates can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RateKey {
    /// When the try was made, in hours since the epoch.
    pub hour: i64,
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The configured provider.
    pub provider_id: ProviderId,
    /// The type of the provider.
    pub provider_type: &'static str,
    /// The payment type.
    pub payment_type: &'static str,
    /// The brand of the card; empty without a card or for no known brand.
    pub brand: &'static str,
    /// The first six digits of the card; 0 without a card.
    pub bin: i64,
    /// The currency.
    pub currency: &'static str,
    /// The band of the amount: [`band`].
    pub band: i64,
    /// What is counted.
    pub counted: Counted,
    /// The code of a refusal; empty for the others.
    pub code: &'static str,
    /// The bucket of how long the call took: [`bucket`]; -1 where no call told it.
    pub latency: i64,
    /// Who told it.
    pub known: Known,
    /// Whether the provider is the first of the charge's route. Tries after a refusal are of charges that are refused more often,
    /// so that only first tries can be compared.
    pub is_first: bool,
}

/// The highest bucket: 65,536 ms and more.
const BUCKET_MAX: u32 = 17;

/// The bucket of a duration: 0 below a millisecond, then n for 2^(n−1) up to 2^n milliseconds.
pub fn bucket(duration: Duration) -> i64 {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    i64::from((u64::BITS - millis.leading_zeros()).min(BUCKET_MAX))
}

/// Above all durations of a bucket, in milliseconds.
pub const fn bucket_end(bucket: i64) -> i64 {
    1 << bucket
}

/// The band of an amount in minor units of its currency: n for 4^n up to 4^(n+1). 0 is in the first.
pub fn band(minor_units: i64) -> i64 {
    i64::from(minor_units.max(1).ilog(4))
}

/// The smallest amount of a band, in minor units.
pub const fn band_start(band: i64) -> i64 {
    1 << (2 * band)
}

/// What the end of an authorization request adds to the rates; nothing for another request, and for one that was told by
/// hand. `told_of` is the request with instructions that it tells the end of.
pub fn counted(
    charge: &Charge,
    card: Option<&CardFace>,
    ended: &TransactionRequest,
    told_of: Option<&TransactionRequest>,
) -> Option<RateKey> {
    if !ended.request_type.is_authorization() {
        return None;
    }
    let counted = match told_of {
        Some(_) => after_instructions(ended)?,
        None => answer(ended)?,
    };
    let card = charge.method.card_id().and(card);
    let decline = match &ended.outcome {
        Outcome::Declined(decline) | Outcome::NoEffect(decline) => Some(decline),
        Outcome::Open
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Approved(_)
        | Outcome::Analysed(_) => None,
    };
    let known = match (told_of, ended.told_by) {
        (Some(_), _) | (None, None | Some(ToldBy::NotSent)) => Known::AtOnce,
        (
            None,
            Some(
                ToldBy::Probe
                | ToldBy::Repetition
                | ToldBy::Notification
                | ToldBy::Elsewhere
                | ToldBy::Nobody,
            ),
        ) => Known::Later,
    };
    let duration = ended.duration.filter(|_| told_of.is_none() && known == Known::AtOnce);
    Some(RateKey {
        hour: told_of.unwrap_or(ended).id.created_at().hour(),
        merchant_id: charge.merchant_id,
        provider_id: ended.provider_id,
        provider_type: ended.provider_type.code(),
        payment_type: charge.method.payment_type().word(),
        brand: card.and_then(|card| card.brand).map_or("", crate::card::Brand::name),
        bin: card.and_then(|card| card.first6digits.parse().ok()).unwrap_or(0),
        currency: charge.currency.code(),
        band: band(charge.original_amount.minor_units()),
        counted,
        code: decline.map_or("", |decline| decline.code.code()),
        latency: duration.map_or(-1, bucket),
        known,
        is_first: routing::first(&charge.explanation).is_some_and(|hop| hop.provider_id == ended.provider_id),
    })
}

/// The answer to a try.
fn answer(ended: &TransactionRequest) -> Option<Counted> {
    // Told by hand, or by the provider of something that was not asked.
    if ended.follows.is_some() || (ended.duration.is_none() && ended.told_by.is_none()) {
        return None;
    }
    match &ended.outcome {
        Outcome::Approved(_) => Some(Counted::Approved),
        Outcome::Pending(_) => Some(Counted::Instructed),
        Outcome::NoEffect(_) => Some(Counted::Failed),
        Outcome::Declined(decline) => {
            let is_sent = ended.told_by != Some(ToldBy::NotSent) && !decline.is_for(Reason::RequestNotSent);
            Some(if is_sent { Counted::Declined } else { Counted::Failed })
        }
        Outcome::Open | Outcome::Accepted(_) | Outcome::Analysed(_) => None,
    }
}

/// What became of instructions.
fn after_instructions(told: &TransactionRequest) -> Option<Counted> {
    match &told.outcome {
        Outcome::Approved(_) => Some(Counted::Paid),
        Outcome::Declined(decline) => {
            let is_payers = told.told_by == Some(ToldBy::Nobody) || decline.refused_by == RefusedBy::Payer;
            Some(if is_payers { Counted::Unpaid } else { Counted::Refused })
        }
        Outcome::NoEffect(_) => Some(Counted::Unpaid),
        Outcome::Open | Outcome::Pending(_) | Outcome::Accepted(_) | Outcome::Analysed(_) => None,
    }
}

/// The request with instructions that `told` is the first to tell the end of: what comes after the first word is not
/// counted.
pub fn first_told_of<'a>(
    requests: &'a [TransactionRequest],
    told: &TransactionRequest,
) -> Option<&'a TransactionRequest> {
    let follows = told.follows?;
    let is_earlier = |other: &TransactionRequest| {
        other.follows == Some(follows)
            && other.ordinal < told.ordinal
            && other.request_type.is_authorization()
    };
    let awaited = requests.iter().find(|request| request.id == follows && request.pending().is_some())?;
    (!requests.iter().any(is_earlier)).then_some(awaited)
}

/// All that the requests of a charge have added to the rates: what is kept, counted anew.
pub fn recount(charge: &Charge, card: Option<&CardFace>, requests: &[TransactionRequest]) -> Vec<RateKey> {
    let of = |request| counted(charge, card, request, first_told_of(requests, request));
    requests.iter().filter_map(of).collect()
}
