//! What payouts of the own provider have kept and paid out (`docs/payouts.md`). They have posted it themselves, so lines of a file
//! about it are compared, and nothing is posted of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::matching::Due;
use super::{Covered, Kind, Line, Verdict};
use crate::currency::Currency;
use crate::id::SellerId;
use crate::ledger::{Entry, Movement, Purpose};
use crate::time::Timestamp;

/// What follows the id of a payment batch in the name of a line about its return.
const RETURNED: &str = ".returned";
/// The version of the ids of orders and batches. The sources of lines of files have another one, which is derived from a name.
const OF_RECORDS: usize = 7;

/// What payouts have posted of an order or of a payment batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The order of a fee; the payment batch of a payout or an anticipation.
    pub source_id: Uuid,
    /// A fee, a payout or an anticipation.
    pub kind: Kind,
    /// When it was posted.
    pub at: Timestamp,
    /// Its currency.
    pub currency: Currency,
    /// In minor units; negative for what was given back, and for a payout that came back.
    pub amount: i64,
    /// The seller whose it is; nobody named is the account itself.
    pub seller_id: Option<SellerId>,
}

/// A line, what payouts have posted, or both together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedKept {
    /// What was found.
    pub verdict: Verdict,
    /// The line, if there is one.
    pub line: Option<Line>,
    /// What payouts have posted, if they have.
    pub ours: Option<Kept>,
}

impl Kept {
    /// What an entry of the own provider says of it; `None` for other entries, and for those of lines of files.
    pub fn of(entry: &Entry) -> Option<Self> {
        let kind = match entry.movement {
            Movement::ProviderFee => Kind::Fee,
            Movement::Payout => Kind::Payout,
            Movement::Anticipation => Kind::Anticipation,
            Movement::AuthorizationHold
            | Movement::HoldRelease
            | Movement::Capture
            | Movement::Refund
            | Movement::RefundReverted
            | Movement::ChargeBack
            | Movement::ChargeBackReversal
            | Movement::Opening
            | Movement::SettlementDifference => return None,
        };
        let sign = if entry.debit == Purpose::ProviderReceivable { -1 } else { 1 };
        (entry.source.id.get_version_num() == OF_RECORDS).then(|| Self {
            source_id: entry.source.id,
            kind,
            at: entry.at,
            currency: entry.currency,
            amount: sign * entry.amount.minor_units(),
            seller_id: entry.seller_id,
        })
    }

    /// The name of the line about it: the id of the order or of the batch; of a payout that came back with `.returned`.
    pub fn name(&self) -> String {
        match (self.kind, self.amount < 0) {
            (Kind::Payout, true) => format!("{}{RETURNED}", self.source_id),
            (
                Kind::Payout
                | Kind::Fee
                | Kind::Anticipation
                | Kind::Sale
                | Kind::Refund
                | Kind::RefundReverted
                | Kind::ChargeBack
                | Kind::ChargeBackReversal,
                _,
            ) => self.source_id.to_string(),
        }
    }

    /// What the line of this name says of it.
    fn verdict(&self, line: &Line) -> Verdict {
        if self.currency.code() != line.currency {
            Verdict::ForeignCurrency
        } else if self.amount != line.amount {
            Verdict::DifferingAmount
        } else if line.seller_id.is_some() && line.seller_id != self.seller_id {
            Verdict::DifferingParts
        } else {
            Verdict::Matched
        }
    }
}

/// Judges lines about fees, payouts and anticipations of the own provider, each with whether an earlier one has its name and kind.
/// A line is about what has its name. `is_told` says which kinds the file has lines of; of others nothing is missing.
pub fn judge_kept(
    lines: impl IntoIterator<Item = (Line, bool)>,
    kept: impl IntoIterator<Item = Kept>,
    covered: Option<&Covered>,
    is_told: impl Fn(Kind) -> bool,
) -> Vec<JudgedKept> {
    let mut left: BTreeMap<(Kind, String), Kept> =
        kept.into_iter().map(|kept| ((kept.kind, kept.name()), kept)).collect();
    let of_line = |(line, is_doubled): (Line, bool)| {
        if is_doubled {
            return JudgedKept { verdict: Verdict::Doubled, line: Some(line), ours: None };
        }
        let ours = left.remove(&(line.kind, line.id.clone()));
        let verdict = ours.as_ref().map_or(Verdict::MissingHere, |ours| ours.verdict(&line));
        JudgedKept { verdict, line: Some(line), ours }
    };
    let mut judged: Vec<JudgedKept> = lines.into_iter().map(of_line).collect();
    let missing = left.into_values().filter(|ours| is_told(ours.kind)).filter_map(|ours| {
        let verdict = match covered.map_or(Due::No, |covered| covered.due(ours.at)) {
            Due::Yes => Verdict::MissingThere,
            Due::Perhaps => Verdict::OnTheEdge,
            Due::No => return None,
        };
        Some(JudgedKept { verdict, line: None, ours: Some(ours) })
    });
    judged.extend(missing);
    judged
}
