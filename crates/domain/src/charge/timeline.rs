//! Builds the timeline of a charge: which providers were considered, which were skipped and why, what each was asked
//! and the outcome, as facts and as sentences. Pure: it decides nothing.

mod sentences;

use std::collections::HashMap;
use std::time::Duration;

use crate::decline::Decline;
use crate::id::{ProviderId, TransactionRequestId};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::routing::explanation::{CircuitNote, Considered, Skipped, Stopped};
use crate::time::Timestamp;
use crate::words::words;

use super::Charge;
use super::analysis::{Failure, Verdict};
use super::attempt::{OpenReason, Outcome, RequestType, ToldBy, TransactionRequest};
use super::revoked::takes_back;

/// Who reads the timeline. A public key sees which providers were asked, but nothing of the merchant's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The merchant or the operator.
    Merchant,
    /// A holder of a public key of the merchant.
    Payer,
}

/// A request with the record of its probes.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The request.
    pub request: TransactionRequest,
    /// Number of probes since.
    pub probes: i64,
    /// When the next probe is due.
    pub next_probe_at: Option<Timestamp>,
    /// When probing was given up.
    pub given_up_at: Option<Timestamp>,
}

/// A provider as the timeline names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The provider.
    pub id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// The name that the merchant gave it.
    pub name: Option<String>,
    /// Its priority when the route was chosen.
    pub priority: Option<i64>,
}

/// A provider of the route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The provider.
    pub provider: Named,
    /// Why it was skipped.
    pub skipped: Option<Skipped>,
    /// Why it was not skipped although its circuit was not closed.
    pub circuit: Option<CircuitNote>,
}

words! {
    /// How a request ended.
    #[schema(as = StepOutcome)]
    Ended {
        /// The provider approved it.
        Approved = "approved",
        /// The provider refused it.
        Declined = "declined",
        /// No answer came, and the provider confirmed that nothing happened.
        NoEffect = "no_effect",
        /// The provider issued instructions for the payer.
        Instructed = "instructed",
        /// The analysis of the risk goes on; its verdict comes later.
        VerdictPending = "verdict_pending",
        /// The analysis of the risk ended without a verdict.
        NoVerdict = "no_verdict",
        /// The provider accepted it and reports its result later.
        Accepted = "accepted",
        /// Unknown outcome.
        Unknown = "unknown",
    }
}

words! {
    /// What followed a request.
    #[schema(as = StepSequel)]
    Then {
        /// Nothing was left to do.
        Done = "done",
        /// The next provider was asked.
        NextAsked = "next_asked",
        /// No other provider was asked; the timeline's `stopped` says why.
        Stopped = "stopped",
        /// No other provider is asked until the outcome is known.
        Waiting = "waiting",
    }
}

/// One request of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineStep {
    /// The request.
    pub id: TransactionRequestId,
    /// The provider that was asked.
    pub provider: Named,
    /// The operation.
    pub request_type: RequestType,
    /// The amount of the operation.
    pub amount: Amount,
    /// How it ended.
    pub ended: Ended,
    /// The refusal, or the one recorded for a missing answer.
    pub decline: Option<Decline>,
    /// From the call to its outcome, when one process saw both.
    pub duration: Option<Duration>,
    /// When the request was stored, just before the call.
    pub began_at: Timestamp,
    /// When its outcome was stored.
    pub ended_at: Option<Timestamp>,
    /// Number of probes since.
    pub probes: i64,
    /// When the next probe is due.
    pub next_probe_at: Option<Timestamp>,
    /// Why its outcome was unknown at first.
    pub open_reason: Option<OpenReason>,
    /// What told its outcome, if it was not the answer to the call.
    pub told_by: Option<ToldBy>,
    /// When probing was given up.
    pub given_up_at: Option<Timestamp>,
    /// Whether a tester set it without asking a provider.
    pub set_by_hand: bool,
    /// Whether it records the payer's action on an earlier request's instructions.
    pub of_payer: bool,
    /// Whether it records the result of a capture or void that the provider had accepted.
    pub of_accepted: bool,
    /// Whether the provider refused what it had approved.
    pub takes_back: bool,
    /// Whether it records the later verdict of an analysis.
    pub of_analysis: bool,
    /// What followed it.
    pub then: Then,
}

/// The timeline of a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The providers of the route, in its order.
    pub providers: Vec<Candidate>,
    /// The requests, oldest first.
    pub steps: Vec<TimelineStep>,
    /// Why no other provider was asked, when the charge ended without approval; only for the merchant.
    pub stopped: Option<Stopped>,
    /// The timeline in sentences, one a line.
    pub lines: Vec<String>,
}

/// Builds the timeline. `asked` are the charge's requests, oldest first; `names` are the merchant's names of
/// providers.
pub fn tell(
    charge: &Charge,
    asked: &[Attempt],
    names: &HashMap<ProviderId, String>,
    audience: Audience,
) -> Timeline {
    let shown = usize::try_from(charge.requests).unwrap_or(usize::MAX);
    let asked = &asked[..asked.len().min(shown)];
    let teller = Teller { charge, asked, names, audience };
    let mut timeline = Timeline {
        providers: teller.providers(),
        steps: teller.steps(),
        stopped: teller.for_the_merchant(charge.explanation.stopped),
        lines: Vec::new(),
    };
    timeline.lines = sentences::of(charge, &timeline);
    timeline
}

struct Teller<'a> {
    charge: &'a Charge,
    asked: &'a [Attempt],
    names: &'a HashMap<ProviderId, String>,
    audience: Audience,
}

impl Teller<'_> {
    fn providers(&self) -> Vec<Candidate> {
        let was_asked = |id: ProviderId| self.asked.iter().any(|asked| asked.request.provider_id == id);
        let is_shown = |considered: &&Considered| match self.audience {
            Audience::Merchant => true,
            Audience::Payer => was_asked(considered.provider_id),
        };
        let candidate = |considered: &Considered| Candidate {
            provider: self.named(considered.provider_id, considered.provider_type),
            skipped: considered.skipped,
            circuit: self.for_the_merchant(considered.circuit),
        };
        self.charge.explanation.considered.iter().filter(is_shown).map(candidate).collect()
    }

    fn steps(&self) -> Vec<TimelineStep> {
        let steps = self.asked.iter().enumerate();
        steps.map(|(place, asked)| self.step(asked, self.asked.get(place + 1))).collect()
    }

    fn step(&self, asked: &Attempt, next: Option<&Attempt>) -> TimelineStep {
        let request = &asked.request;
        let ended = match &request.outcome {
            Outcome::Approved(_) => Ended::Approved,
            Outcome::Declined(_) => Ended::Declined,
            Outcome::NoEffect(_) => Ended::NoEffect,
            Outcome::Pending(_) => Ended::Instructed,
            Outcome::Accepted(_) => Ended::Accepted,
            Outcome::Open => Ended::Unknown,
            Outcome::Analysed(analysed) => match analysed.verdict {
                Verdict::Approved { .. } => Ended::Approved,
                Verdict::Reproved { .. } => Ended::Declined,
                Verdict::Pending => Ended::VerdictPending,
                Verdict::Failed { .. } => Ended::NoVerdict,
            },
        };
        TimelineStep {
            id: request.id,
            provider: self.named(request.provider_id, request.provider_type),
            request_type: request.request_type,
            amount: request.amount,
            ended,
            decline: request.decline().cloned(),
            duration: request.duration,
            began_at: request.id.created_at(),
            ended_at: (ended != Ended::Unknown).then_some(request.updated_at),
            probes: self.for_the_merchant(Some(asked.probes)).unwrap_or(0),
            next_probe_at: self
                .for_the_merchant(asked.next_probe_at)
                .filter(|_| matches!(ended, Ended::Unknown | Ended::VerdictPending)),
            open_reason: self.for_the_merchant(request.open_reason.or_else(|| unanswered_analysis(request))),
            told_by: self.for_the_merchant(request.told_by),
            given_up_at: self.for_the_merchant(asked.given_up_at),
            set_by_hand: asked.is_set_by_hand(),
            of_payer: request.request_type.is_authorization() && request.awaited().is_some(),
            of_accepted: self.is_result_of_accepted(request),
            takes_back: takes_back(request, self.asked.iter().map(|asked| &asked.request)),
            of_analysis: request.is_later_verdict(),
            then: then(asked, ended, next, self.charge.explanation.stopped),
        }
    }

    fn is_result_of_accepted(&self, request: &TransactionRequest) -> bool {
        let is_accepted = |asked: &&Attempt| matches!(asked.request.outcome, Outcome::Accepted(_));
        let mut accepted = self.asked.iter().filter(is_accepted);
        request.follows.is_some_and(|id| accepted.any(|asked| asked.request.id == id))
    }

    fn named(&self, id: ProviderId, provider_type: ProviderType) -> Named {
        let priority_of = |considered: &&Considered| considered.provider_id == id;
        let considered = self.charge.explanation.considered.iter().find(priority_of);
        Named {
            id,
            provider_type,
            name: self.for_the_merchant(self.names.get(&id).cloned()),
            priority: self.for_the_merchant(considered.map(|considered| considered.priority)),
        }
    }

    /// Hides a fact from everyone but the merchant.
    fn for_the_merchant<T>(&self, fact: Option<T>) -> Option<T> {
        match self.audience {
            Audience::Merchant => fact,
            Audience::Payer => None,
        }
    }
}

impl Attempt {
    /// Whether a tester set it: such a request ends when it begins, so it has no duration and no probes.
    fn is_set_by_hand(&self) -> bool {
        !matches!(self.request.outcome, Outcome::Open)
            && self.request.duration.is_none()
            && self.request.open_reason.is_none()
            && self.request.told_by.is_none()
            && self.probes == 0
            && self.request.follows.is_none()
            && !self.request.request_type.is_authentication()
    }
}

/// Why an analysis has no verdict, if its provider did not answer: nobody asks again, so that is its end.
fn unanswered_analysis(request: &TransactionRequest) -> Option<OpenReason> {
    match request.verdict()? {
        Verdict::Failed { failure: Failure::Unanswered, .. } => Some(OpenReason::TimedOut),
        Verdict::Failed { failure: Failure::Reported, .. }
        | Verdict::Pending
        | Verdict::Approved { .. }
        | Verdict::Reproved { .. } => None,
    }
}

fn then(asked: &Attempt, ended: Ended, next: Option<&Attempt>, stopped: Option<Stopped>) -> Then {
    let request_type = asked.request.request_type;
    let is_routed =
        request_type.is_authentication() || (request_type.is_authorization() && !asked.is_set_by_hand());
    let next_is_of_the_route = next.is_some_and(|next| {
        next.request.request_type == asked.request.request_type && !next.is_set_by_hand()
    });
    match ended {
        Ended::Unknown => Then::Waiting,
        Ended::Instructed | Ended::Accepted | Ended::VerdictPending if next.is_none() => Then::Waiting,
        Ended::Declined | Ended::NoVerdict if has_stopped_the_charge(asked, stopped) => Then::Stopped,
        Ended::Approved | Ended::Instructed | Ended::Accepted | Ended::VerdictPending | Ended::NoVerdict => {
            Then::Done
        }
        Ended::Declined | Ended::NoEffect if !is_routed => Then::Done,
        Ended::Declined | Ended::NoEffect if next_is_of_the_route => Then::NextAsked,
        Ended::Declined | Ended::NoEffect => Then::Stopped,
    }
}

/// Whether this analysis ended the charge.
fn has_stopped_the_charge(asked: &Attempt, stopped: Option<Stopped>) -> bool {
    asked.request.request_type == RequestType::AntiFraud
        && matches!(stopped, Some(Stopped::Reproved | Stopped::AnalysisFailed))
}
