//! Replays recorded charges through another flow (`docs/flow-replay.md`). Of each charge the records tell a part: what a provider has
//! answered, it would answer again. A try that was never made has the outcome that such tries have had on average. What
//! neither can say is counted as such. Pure.

mod fees;
mod prediction;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with::serde_as;

pub use fees::{FeeTerms, FeesFile};
pub use prediction::{Approvals, Prediction, ProviderLine, Untold, Use};

use crate::card::Brand;
use crate::card::record::CardFace;
use crate::charge::attempt::{Outcome, TransactionRequest};
use crate::charge::{Charge, ChargeState};
use crate::decline::{Decline, RefusedBy};
use crate::flow::Group;
use crate::id::ProviderId;
use crate::rates::band;
use crate::routing::explanation::Skipped;

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Approved, or answered with instructions for the payer.
    Approved,
    /// Refused, and the next provider may be asked.
    Passed,
    /// Refused for good.
    Ended,
    /// Nobody knows.
    Unknown,
}

impl Answer {
    /// `None` for a request that is no try of its own.
    fn of(request: &TransactionRequest) -> Option<Self> {
        if !request.request_type.is_authorization() || request.follows.is_some() {
            return None;
        }
        let refused = |decline: &Decline| match decline.refused_by {
            RefusedBy::Provider if decline.retryable => Self::Passed,
            RefusedBy::Provider | RefusedBy::Payer => Self::Ended,
        };
        Some(match &request.outcome {
            Outcome::Approved(_) | Outcome::Pending(_) => Self::Approved,
            Outcome::Declined(decline) | Outcome::NoEffect(decline) => refused(decline),
            Outcome::Open | Outcome::Accepted(_) | Outcome::Analysed(_) => Self::Unknown,
        })
    }
}

/// A charge of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The charges that it is comparable with.
    pub group: Group,
    /// What was charged, in the minor unit of the currency.
    pub amount: i64,
    /// The providers of its route.
    pub route: Vec<ProviderId>,
    /// The providers that were asked, in their order, with their answers.
    pub tries: Vec<(ProviderId, Answer)>,
    /// The provider that analysed its risk.
    pub analysed_by: Option<ProviderId>,
    /// Whether it has not been decided yet.
    pub is_under_way: bool,
}

impl Recorded {
    /// `requests` are those of the charge, oldest first; `card` is the card that pays, if one does.
    pub fn of(charge: &Charge, card: Option<&CardFace>, requests: &[TransactionRequest]) -> Self {
        let tries = requests.iter().filter_map(|request| Some((request.provider_id, Answer::of(request)?)));
        // A circuit that was open belongs to that day, not to the flow.
        let is_in_route = |skipped: Option<Skipped>| skipped.is_none_or(|why| why == Skipped::CircuitOpen);
        let considered = charge.explanation.considered.iter();
        let amount = charge.original_amount.minor_units();
        Self {
            group: Group {
                brand: card.and_then(|card| card.brand).map_or("", Brand::name).to_owned(),
                currency: charge.currency.code().to_owned(),
                band: band(amount),
            },
            amount,
            route: considered.filter(|at| is_in_route(at.skipped)).map(|at| at.provider_id).collect(),
            tries: tries.collect(),
            analysed_by: charge
                .screening
                .as_deref()
                .filter(|screening| screening.rules.is_some())
                .map(|screening| screening.provider_id),
            is_under_way: match charge.state {
                ChargeState::Processing | ChargeState::AwaitingPayer { .. } => true,
                ChargeState::CapturePending { .. }
                | ChargeState::RefundPending { .. }
                | ChargeState::RefundAccepted { .. }
                | ChargeState::PreAuthorized { .. }
                | ChargeState::Authorized { .. }
                | ChargeState::Failed { .. }
                | ChargeState::Canceled { .. }
                | ChargeState::Voided { .. }
                | ChargeState::ChargedBack { .. } => false,
            },
        }
    }

    fn answer_of(&self, provider_id: ProviderId) -> Option<Answer> {
        self.tries.iter().find(|(id, _)| *id == provider_id).map(|(_, answer)| *answer)
    }

    fn is_approved(&self) -> bool {
        self.tries.iter().any(|(_, answer)| *answer == Answer::Approved)
    }
}

/// What a flow says for a charge of the past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The providers that would be asked, in their order.
    pub route: Vec<ProviderId>,
    /// The provider that would analyse its risk.
    pub analysed_by: Option<ProviderId>,
}

/// A try at a provider, by its place in the course of a charge: after a refusal fewer are approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The provider.
    pub provider_id: ProviderId,
    /// Whether another provider has refused the charge before.
    pub is_later: bool,
}

/// Tries of the past that have ended, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    approved: u64,
    passed: u64,
    ended: u64,
}

/// What a provider was used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Used {
    tries: u64,
    approved: u64,
    /// The sum of what it approved, in minor units.
    volume: i64,
}

impl Used {
    fn add(&mut self, of: Self) {
        self.tries += of.tries;
        self.approved += of.approved;
        self.volume = self.volume.saturating_add(of.volume);
    }

    fn one(answer: Answer, amount: i64) -> Self {
        match answer {
            Answer::Approved => Self { tries: 1, approved: 1, volume: amount },
            Answer::Passed | Answer::Ended | Answer::Unknown => Self { tries: 1, approved: 0, volume: 0 },
        }
    }
}

/// Charges whose outcome follows from tries that were never made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Case {
    group: Group,
    /// The tries, in their order: each one is made if the one before it was passed on.
    tries: Vec<Place>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Charges {
    charges: u64,
    volume: i64,
}

/// Sums over charges of the past. It grows with the number of groups (brand, currency, band of the amount) and of orders of
/// providers, not with that of charges.
#[serde_as]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Charges that were walked.
    pub charges: u64,
    /// Those of them that a provider approved.
    pub approved: u64,
    /// Those for which the branch has no provider that can serve them.
    pub unserved: u64,
    /// Those whose outcome is the recorded one, and an approval.
    told_approved: u64,
    /// Those that somebody would analyse who has not analysed them, or that were refused after an analysis that would not be made.
    not_analysed: u64,
    /// Those whose outcome at a provider is unknown, or that are under way.
    unknown: u64,
    /// Which provider is asked first: recorded, replayed.
    #[serde_as(as = "Vec<(_, _)>")]
    moves: BTreeMap<(Option<ProviderId>, Option<ProviderId>), u64>,
    #[serde_as(as = "Vec<(_, _)>")]
    recorded: BTreeMap<(ProviderId, String), Used>,
    #[serde_as(as = "Vec<(_, _)>")]
    told: BTreeMap<(ProviderId, String), Used>,
    #[serde_as(as = "Vec<(_, _)>")]
    history: BTreeMap<(Place, Group), Ended>,
    #[serde_as(as = "Vec<(_, _)>")]
    cases: BTreeMap<Case, Charges>,
}

impl Tally {
    /// Adds a charge.
    pub fn add(&mut self, recorded: &Recorded, replayed: &Replayed) {
        self.charges += 1;
        self.approved += u64::from(recorded.is_approved());
        let mut is_later = false;
        for (provider_id, answer) in &recorded.tries {
            let used = Used::one(*answer, recorded.amount);
            self.recorded.entry((*provider_id, recorded.group.currency.clone())).or_default().add(used);
            let place = Place { provider_id: *provider_id, is_later };
            let ended = self.history.entry((place, recorded.group.clone())).or_default();
            match answer {
                Answer::Approved => ended.approved += 1,
                Answer::Passed => ended.passed += 1,
                Answer::Ended => ended.ended += 1,
                Answer::Unknown => {}
            }
            is_later = true;
        }
        let first = |route: &[ProviderId]| route.first().copied();
        *self.moves.entry((first(&recorded.route), first(&replayed.route))).or_default() += 1;
        self.replay(recorded, replayed);
    }

    fn replay(&mut self, recorded: &Recorded, replayed: &Replayed) {
        if replayed.route.is_empty() {
            self.unserved += 1;
            return;
        }
        let is_analysed_alike = recorded.analysed_by == replayed.analysed_by;
        if !is_analysed_alike && (replayed.analysed_by.is_some() || recorded.tries.is_empty()) {
            self.not_analysed += 1;
            return;
        }
        if recorded.tries.is_empty() {
            // It came to no provider, and would come to none again.
            self.unknown += u64::from(recorded.is_under_way);
            return;
        }
        let told = |tally: &mut Self, provider_id, answer| {
            let used = Used::one(answer, recorded.amount);
            tally.told.entry((provider_id, recorded.group.currency.clone())).or_default().add(used);
            match answer {
                Answer::Approved => tally.told_approved += 1,
                Answer::Unknown => tally.unknown += 1,
                Answer::Passed | Answer::Ended => {}
            }
        };
        if recorded.route == replayed.route {
            for (provider_id, answer) in &recorded.tries {
                told(self, *provider_id, *answer);
            }
            return;
        }
        let mut is_later = false;
        let mut left = replayed.route.iter().copied().peekable();
        while let Some((provider_id, answer)) =
            left.peek().and_then(|id| Some((*id, recorded.answer_of(*id)?)))
        {
            left.next();
            told(self, provider_id, answer);
            match answer {
                Answer::Passed => is_later = true,
                Answer::Approved | Answer::Ended | Answer::Unknown => return,
            }
        }
        // From the first try that was never made on, the answers of others would be those to another course.
        let tries: Vec<Place> = left
            .map(|provider_id| Place { provider_id, is_later: std::mem::replace(&mut is_later, true) })
            .collect();
        if !tries.is_empty() {
            let case = self.cases.entry(Case { group: recorded.group.clone(), tries }).or_default();
            case.charges += 1;
            case.volume = case.volume.saturating_add(recorded.amount);
        }
    }

    /// Adds other charges.
    pub fn merge(&mut self, other: Self) {
        let Self {
            charges,
            approved,
            unserved,
            told_approved,
            not_analysed,
            unknown,
            moves,
            recorded,
            told,
            history,
            cases,
        } = other;
        self.charges += charges;
        self.approved += approved;
        self.unserved += unserved;
        self.told_approved += told_approved;
        self.not_analysed += not_analysed;
        self.unknown += unknown;
        for (of, n) in moves {
            *self.moves.entry(of).or_default() += n;
        }
        for (of, used) in recorded {
            self.recorded.entry(of).or_default().add(used);
        }
        for (of, used) in told {
            self.told.entry(of).or_default().add(used);
        }
        for (of, more) in history {
            let ended = self.history.entry(of).or_default();
            ended.approved += more.approved;
            ended.passed += more.passed;
            ended.ended += more.ended;
        }
        for (of, more) in cases {
            let case = self.cases.entry(of).or_default();
            case.charges += more.charges;
            case.volume = case.volume.saturating_add(more.volume);
        }
    }
}
