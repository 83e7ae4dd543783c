//! The risk analysis of a charge: what the merchant's anti-fraud provider has to do with it, what it found, and what
//! follows. Pure.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::attempt::{Asks, Outcome, RequestType, TransactionRequest};
use super::{Charge, ChargeState, Finish, FollowUpKind, Means, Next, NotPending};
use crate::capture_mode::CaptureMode;
use crate::decline::{Decline, DeclinedCode};
use crate::id::ProviderId;
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::routing;
use crate::routing::explanation::Stopped;
use crate::time::Timestamp;
use crate::words::words;

/// What the merchant's anti-fraud provider has to do with a charge, as chosen when the charge was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Screening {
    /// The anti-fraud provider.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// What follows a verdict; absent when the charge is not analysed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
    /// How far the analysis has come.
    pub progress: Progress,
    /// Whether the provider is told of the charge when it ends without an analysis.
    pub feeding: Feeding,
}

/// What follows a verdict (`docs/interface/charges.md#fraud-analysis`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rules {
    /// When the charge is analysed.
    pub timing: Timing,
    /// What follows an approval.
    pub on_approved: Consequence,
    /// What follows a reproval.
    pub on_reproved: Consequence,
    /// What follows an analysis without a verdict.
    pub on_error: Consequence,
}

words! {
    /// When a charge is analysed.
    Timing {
        /// Before a payment provider is asked.
        BeforeCharge = "before_charge",
        /// After a payment provider has reserved the amount.
        AfterReservation = "after_reservation",
    }
}

words! {
    /// What follows a verdict on a reserved charge.
    Consequence {
        /// It is captured, if the caller wanted that.
        Capture = "capture",
        /// It is voided.
        Void = "void",
        /// It stays reserved.
        Keep = "keep",
    }
}

words! {
    /// How far the analysis of a charge has come.
    Progress {
        /// No analysis was requested.
        NotAnalysed = "not_analysed",
        /// One was requested: the amount may be reserved alone.
        Analysed = "analysed",
        /// The analysis came before the charge and allows it as the caller wants it.
        Cleared = "cleared",
    }
}

words! {
    /// Whether an anti-fraud provider is told of charges that it did not analyse.
    Feeding {
        /// It is.
        Wanted = "wanted",
        /// It is not.
        NotWanted = "not_wanted",
    }
}

words! {
    /// What a risk analysis found.
    AnalysisStatus {
        /// The provider decides later.
        Pending = "pending",
        /// The risk is acceptable.
        Approved = "approved",
        /// The risk is too high.
        Reproved = "reproved",
        /// The analysis ended without a verdict.
        Failed = "failed",
    }
}

words! {
    /// What a tester may set as the verdict of a pending risk analysis.
    #[schema(as = SettableVerdict)]
    SimulatedVerdict {
        /// The risk is acceptable.
        Approved = "approved",
        /// The risk is too high.
        Reproved = "reproved",
        /// The analysis ended without a verdict.
        Failed = "failed",
    }
}

/// The answer to an analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysed {
    /// The provider's own id of the analysis.
    pub reference: Option<String>,
    /// What it found.
    pub verdict: Verdict,
}

/// What an analysis found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Verdict {
    /// The provider decides later.
    Pending,
    /// The risk is acceptable.
    Approved {
        /// On the provider's own scale.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<Number>,
    },
    /// The risk is too high.
    Reproved {
        /// On the provider's own scale.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<Number>,
        /// The refusal of the charge, when the reproval itself ends it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decline: Option<Decline>,
    },
    /// The analysis ended without a verdict.
    Failed {
        /// Whether the provider answered.
        failure: Failure,
        /// Error code, for programs.
        reason: String,
        /// Error message, for people.
        message: String,
    },
}

words! {
    /// How an analysis failed.
    Failure {
        /// The provider did not answer in time.
        Unanswered = "unanswered",
        /// The provider could not be reached, or reported an error.
        Reported = "reported",
    }
}

impl Verdict {
    /// `fraudAnalysis.status`.
    pub const fn status(&self) -> AnalysisStatus {
        match self {
            Self::Pending => AnalysisStatus::Pending,
            Self::Approved { .. } => AnalysisStatus::Approved,
            Self::Reproved { .. } => AnalysisStatus::Reproved,
            Self::Failed { .. } => AnalysisStatus::Failed,
        }
    }

    /// `fraudAnalysis.score`.
    pub const fn score(&self) -> Option<&Number> {
        match self {
            Self::Approved { score } | Self::Reproved { score, .. } => score.as_ref(),
            Self::Pending | Self::Failed { .. } => None,
        }
    }
}

impl Rules {
    /// The rules in the stored options of an anti-fraud provider.
    pub fn of(options: &Map<String, Value>) -> Self {
        let is_on = |name: &str| options.get(name).and_then(Value::as_bool) == Some(true);
        let when = |name: &str, consequence: Consequence| {
            if is_on(name) { consequence } else { Consequence::Keep }
        };
        Self {
            timing: if is_on("runBeforeCharge") { Timing::BeforeCharge } else { Timing::AfterReservation },
            on_approved: when("captureOnApproved", Consequence::Capture),
            on_reproved: when("refundOnReproved", Consequence::Void),
            on_error: match when("refundOnError", Consequence::Void) {
                Consequence::Keep => when("captureOnError", Consequence::Capture),
                void @ (Consequence::Void | Consequence::Capture) => void,
            },
        }
    }

    /// What follows a verdict on a reserved charge; `None` while there is none.
    const fn after(self, verdict: &Verdict) -> Option<Consequence> {
        match verdict {
            Verdict::Pending => None,
            Verdict::Approved { .. } => Some(self.on_approved),
            Verdict::Reproved { .. } => Some(self.on_reproved),
            Verdict::Failed { .. } => Some(self.on_error),
        }
    }
}

impl Feeding {
    /// The choice in the stored options of an anti-fraud provider.
    pub fn of(options: &Map<String, Value>) -> Self {
        match options.get("sendAllCharges").and_then(Value::as_bool) {
            Some(true) => Self::Wanted,
            Some(false) | None => Self::NotWanted,
        }
    }
}

/// Where the analysis of a charge stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nobody analyses the charge, or the verdict lets it go on.
    Free,
    /// The verdict is not known yet.
    Undecided,
    /// It was reproved, or the analysis failed: the merchant decides about the reservation.
    Held(AnalysisStatus),
}

impl Charge {
    /// The rules of its analysis, if it is analysed at this time.
    pub(super) fn analysed(&self, timing: Timing) -> Option<Rules> {
        let rules = self.screening.as_ref().and_then(|screening| screening.rules);
        rules.filter(|rules| rules.timing == timing)
    }

    /// The first step, before any authorization. An analysis is no authorization and does not advance the route.
    pub(super) fn next_to_begin(&self, requests: &[TransactionRequest], means: Means) -> Next {
        let authorize = || routing::at(&self.explanation, self.position).map_or(Next::Rest, Next::Authorize);
        let Some(rules) = self.analysed(Timing::BeforeCharge) else { return authorize() };
        let Some(analysis) = newest_analysis(requests) else { return Next::Analyse };
        let Some(verdict) = analysis.verdict() else { return Next::AwaitOutcome };
        let by = analysis.provider_type;
        let stopped = match (verdict, means) {
            (Verdict::Reproved { .. }, _) => Stopped::Reproved,
            (Verdict::Failed { .. }, _) if rules.on_error == Consequence::Void => Stopped::AnalysisFailed,
            (
                Verdict::Approved { .. } | Verdict::Pending | Verdict::Failed { .. },
                Means::Complete { .. },
            ) => {
                return authorize();
            }
            (
                Verdict::Approved { .. } | Verdict::Pending | Verdict::Failed { .. },
                Means::Incomplete(stopped),
            ) => stopped,
        };
        Next::Finish(Finish::Failed { by, stopped })
    }

    /// The step after this authorization is approved.
    pub(super) fn next_after_approval(
        &self,
        requests: &[TransactionRequest],
        authorization: &TransactionRequest,
    ) -> Next {
        let by = authorization.provider_type;
        let approved = Next::Finish(Finish::Approved { by, amount: authorization.amount });
        let Some(rules) = self.analysed(Timing::AfterReservation) else { return approved };
        let Some(analysis) = newest_analysis(requests) else { return Next::Analyse };
        match analysis.verdict() {
            None => Next::AwaitOutcome,
            Some(verdict) => match self.follow_up_of(rules, verdict) {
                Some(follow_up) => Next::FollowUp { kind: follow_up, at: by },
                None => approved,
            },
        }
    }

    /// The capture or void that a verdict on the reserved charge leads to.
    fn follow_up_of(&self, rules: Rules, verdict: &Verdict) -> Option<FollowUpKind> {
        match (rules.after(verdict)?, self.capture) {
            (Consequence::Capture, CaptureMode::Automatic) => Some(FollowUpKind::Capture),
            (Consequence::Void, _) => Some(FollowUpKind::Void),
            (Consequence::Capture, CaptureMode::Manual) | (Consequence::Keep, _) => None,
        }
    }

    /// The capture or void that a verdict leads to that came after the charge was answered. A charge that the merchant
    /// has captured or voided meanwhile stays as it is.
    pub fn follow_up_after(&self, verdict: &Verdict) -> Option<FollowUpKind> {
        let rules = self.screening.as_ref().and_then(|screening| screening.rules)?;
        match self.state {
            ChargeState::PreAuthorized { .. } => self.follow_up_of(rules, verdict),
            ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::CapturePending { .. }
            | ChargeState::Authorized { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => None,
        }
    }

    /// Begins the analysis: the charge is under way until the verdict is known.
    ///
    /// # Errors
    /// [`NotPending`] when the charge has ended.
    pub fn begin_analysis(&self, now: Timestamp) -> Result<Self, NotPending> {
        self.must_be_pending()?;
        Ok(self.moved(ChargeState::Processing, now).with_one_more_request().under_analysis())
    }

    /// The charge with its analysis requested.
    #[must_use]
    pub fn under_analysis(self) -> Self {
        self.at_progress(Progress::Analysed)
    }

    /// The charge with what an analysis before the charge allows: without a verdict for it, the amount is only
    /// reserved.
    #[must_use]
    pub(super) fn cleared_by(self, requests: &[TransactionRequest]) -> Self {
        let Some(rules) = self.analysed(Timing::BeforeCharge) else { return self };
        match newest_analysis(requests).and_then(TransactionRequest::verdict) {
            Some(Verdict::Approved { .. }) => self.at_progress(Progress::Cleared),
            Some(Verdict::Failed { .. }) if rules.on_error == Consequence::Capture => {
                self.at_progress(Progress::Cleared)
            }
            Some(Verdict::Failed { .. } | Verdict::Reproved { .. } | Verdict::Pending) | None => self,
        }
    }

    fn at_progress(mut self, progress: Progress) -> Self {
        if let Some(screening) = &mut self.screening {
            screening.progress = progress;
        }
        self
    }

    /// The analysis to request; `None` when nobody analyses the charge.
    pub fn analysis(&self) -> Option<Asks> {
        let screening = self.screening.as_ref().filter(|screening| screening.rules.is_some())?;
        Some(Asks {
            provider_id: screening.provider_id,
            provider_type: screening.provider_type,
            request_type: RequestType::AntiFraud,
            amount: self.amount,
            follows: None,
        })
    }

    /// What the provider of risk is told of a charge that ended and that it did not analyse; `None` when it is told
    /// nothing.
    pub fn feeding(&self) -> Option<Asks> {
        let screening = self.screening.as_ref()?;
        let is_due = screening.feeding == Feeding::Wanted
            && screening.progress == Progress::NotAnalysed
            && match self.state {
                ChargeState::Authorized { .. }
                | ChargeState::Failed { .. }
                | ChargeState::Canceled { .. }
                | ChargeState::Voided { .. } => true,
                ChargeState::Processing
                | ChargeState::AwaitingPayer { .. }
                | ChargeState::PreAuthorized { .. }
                | ChargeState::CapturePending { .. }
                | ChargeState::RefundPending { .. }
                | ChargeState::RefundAccepted { .. }
                | ChargeState::ChargedBack { .. } => false,
            };
        is_due.then_some(Asks {
            provider_id: screening.provider_id,
            provider_type: screening.provider_type,
            request_type: RequestType::AntiFraudFeeding,
            amount: self.amount,
            follows: None,
        })
    }

    /// The verdict with the refusal of the charge, if the reproval ends it: a charge that is analysed before a payment
    /// provider is asked.
    pub fn judged(&self, verdict: Verdict) -> Verdict {
        match (verdict, self.analysed(Timing::BeforeCharge)) {
            (Verdict::Reproved { score, .. }, Some(_)) => {
                let decline = Decline { retryable: false, ..Decline::of(DeclinedCode::FraudSuspect) };
                Verdict::Reproved { score, decline: Some(decline) }
            }
            (verdict, _) => verdict,
        }
    }

    /// The next version with one more request and the same state.
    #[must_use]
    pub fn noting_one_more_request(&self, now: Timestamp) -> Self {
        self.moved(self.state.clone(), now).with_one_more_request()
    }

    /// Where its analysis stands. `requests` are those of the charge, oldest first.
    pub fn standing(&self, requests: &[TransactionRequest]) -> Standing {
        let Some(rules) = self.screening.as_ref().and_then(|screening| screening.rules) else {
            return Standing::Free;
        };
        let Some(analysis) = newest_analysis(requests) else { return Standing::Free };
        match analysis.verdict() {
            None | Some(Verdict::Pending) => Standing::Undecided,
            Some(Verdict::Approved { .. }) => Standing::Free,
            Some(Verdict::Failed { .. }) if rules.on_error == Consequence::Capture => Standing::Free,
            Some(verdict @ (Verdict::Failed { .. } | Verdict::Reproved { .. })) => {
                Standing::Held(verdict.status())
            }
        }
    }
}

/// The analysis whose verdict is still to come, if the newest one is pending.
pub fn pending_analysis(requests: &[TransactionRequest]) -> Option<&TransactionRequest> {
    newest_analysis(requests).filter(|analysis| analysis.verdict() == Some(&Verdict::Pending))
}

fn newest_analysis(requests: &[TransactionRequest]) -> Option<&TransactionRequest> {
    requests.iter().rfind(|request| request.request_type == RequestType::AntiFraud)
}

impl TransactionRequest {
    /// What the analysis found, once it was answered.
    pub const fn verdict(&self) -> Option<&Verdict> {
        match &self.outcome {
            Outcome::Analysed(analysed) => Some(&analysed.verdict),
            Outcome::Open
            | Outcome::Pending(_)
            | Outcome::Accepted(_)
            | Outcome::Approved(_)
            | Outcome::Declined(_)
            | Outcome::NoEffect(_) => None,
        }
    }

    /// Whether this records a verdict that came later, in answer to an earlier request.
    pub fn is_later_verdict(&self) -> bool {
        self.request_type == RequestType::AntiFraud && self.follows.is_some()
    }

    /// The request that records the later verdict on a pending analysis. No call is behind it.
    #[must_use]
    pub fn later_verdict(&self, amount: Amount) -> Asks {
        Asks::about(self, RequestType::AntiFraud, amount)
    }
}
