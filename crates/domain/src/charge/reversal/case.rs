//! The cases of a charge: each may end several times, and its last end counts, in whatever order the ends are heard.

use crate::money::Amount;
use crate::time::{Timestamp, later_of};

use super::{Reversal, ReversalKind};
use crate::charge::attempt::{Reported, RequestGroup, RequestType, TransactionRequest};

impl ReversalKind {
    /// Whether its case is decided with it, for the time being.
    const fn ends_case(self) -> bool {
        match self {
            Self::DisputeWon | Self::ChargeBackReversed | Self::DisputeLost | Self::ChargedBack => true,
            Self::DisputeOpened | Self::RefundReverted => false,
        }
    }

    /// How grave an end is.
    pub(super) const fn gravity(self) -> Option<Gravity> {
        match self {
            Self::DisputeWon | Self::ChargeBackReversed => Some(Gravity::Left),
            Self::DisputeLost | Self::ChargedBack => Some(Gravity::Taken),
            Self::DisputeOpened | Self::RefundReverted => None,
        }
    }
}

/// What an end of a case leaves of the money, the graver last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gravity {
    /// The merchant has it.
    Left,
    /// The payer's bank has it.
    Taken,
}

/// The place of an end among those of its case: the later one counts, and of two of one moment the graver one, so that the
/// order in which they are heard does not matter.
pub(super) type Rank = (Timestamp, Gravity);

impl Reversal {
    /// Whether what is recorded of its case says as much, or something newer.
    pub(super) fn is_told_by(&self, case: Case<'_>) -> bool {
        let has = |told: RequestType| case.requests().any(|request| request.request_type == told);
        if self.kind == ReversalKind::ChargeBackReversed && !case.is_lost() {
            return true;
        }
        let Some(gravity) = self.kind.gravity() else {
            return match self.kind {
                ReversalKind::DisputeOpened => has(RequestType::Dispute) || case.end().is_some(),
                ReversalKind::RefundReverted => has(RequestType::RevertVoid),
                ReversalKind::DisputeWon
                | ReversalKind::ChargeBackReversed
                | ReversalKind::DisputeLost
                | ReversalKind::ChargedBack => false,
            };
        };
        let Some((newest, end)) = case.end() else { return false };
        match self.occurred_at {
            Some(at) => (at, gravity) <= newest,
            // Without a dispute a case takes the money once: what repeats it, at no time that is known, is an old message.
            None if self.kind == ReversalKind::ChargedBack => has(RequestType::ChargeBack),
            None => end.request_type == self.kind.request_type(),
        }
    }
}

/// Of all that a provider has told of a payment, in order, what counts: of a case that ended several times the last end. A
/// provider that repeats the whole story would end the case anew each time otherwise.
pub fn counting(told: &[Reversal]) -> impl Iterator<Item = &Reversal> {
    let is_overruled = |place: usize, reversal: &Reversal| {
        let is_later_end = |later: &Reversal| later.kind.ends_case() && later.id == reversal.id;
        reversal.kind.ends_case() && told.iter().skip(place + 1).any(is_later_end)
    };
    let counts = move |(place, reversal): &(usize, &Reversal)| !is_overruled(*place, reversal);
    told.iter().enumerate().filter(counts).map(|(_, reversal)| reversal)
}

/// What is recorded of a case.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) requests: &'a [TransactionRequest],
    pub(super) id: &'a str,
}

impl<'a> Case<'a> {
    /// The cases among these requests, oldest first.
    pub(super) fn all(requests: &'a [TransactionRequest]) -> impl Iterator<Item = Self> {
        let of_case = |request: &&TransactionRequest| {
            matches!(
                request.request_type.group(),
                RequestGroup::Reversal(Reported::Dispute | Reported::DisputeClosed | Reported::ChargeBack)
            )
        };
        let mut ids = Vec::new();
        for id in requests.iter().filter(of_case).filter_map(TransactionRequest::transaction_id) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids.into_iter().map(move |id| Self { requests, id })
    }

    /// Whether anything of it is recorded.
    pub(super) fn is_known(&self) -> bool {
        self.requests().next().is_some()
    }

    /// Whether it is about this sum; of what names none, any case may be meant.
    pub(super) fn is_of(self, sum: Option<Amount>) -> bool {
        sum.is_none_or(|sum| self.requests().any(|request| request.amount == sum))
    }

    /// Whether this was recorded of it, as of this time.
    pub(super) fn has(self, told: RequestType, at: Option<Timestamp>) -> bool {
        at.is_some()
            && self.requests().any(|request| request.request_type == told && request.occurred_at == at)
    }

    fn requests(self) -> impl Iterator<Item = &'a TransactionRequest> {
        self.requests.iter().filter(move |request| {
            matches!(request.request_type.group(), RequestGroup::Reversal(_))
                && request.transaction_id() == Some(self.id)
        })
    }

    /// The end that counts. One that came without a time is newer than all before it.
    pub(super) fn end(self) -> Option<(Rank, &'a TransactionRequest)> {
        let mut newest: Option<(Rank, &'a TransactionRequest)> = None;
        for request in self.requests() {
            let Some(gravity) = gravity_of(request) else { continue };
            let rank = match (request.occurred_at, newest) {
                (Some(at), Some((rank, _))) if (at, gravity) <= rank => continue,
                (Some(at), _) => (at, gravity),
                (None, Some(((before, _), _))) => (later_of(request.updated_at, before), gravity),
                (None, None) => (request.updated_at, gravity),
            };
            newest = Some((rank, request));
        }
        newest
    }

    /// Whether it has the money.
    pub(super) fn is_lost(self) -> bool {
        self.end().is_some_and(|((_, gravity), _)| gravity == Gravity::Taken)
    }
}

/// How grave the end is that a request records.
const fn gravity_of(request: &TransactionRequest) -> Option<Gravity> {
    match request.request_type.group() {
        RequestGroup::Reversal(Reported::DisputeClosed) => Some(Gravity::Left),
        RequestGroup::Reversal(Reported::ChargeBack) => Some(Gravity::Taken),
        RequestGroup::Reversal(Reported::Dispute | Reported::RevertVoid)
        | RequestGroup::Authorization(_)
        | RequestGroup::CardCheck
        | RequestGroup::FollowUp(_)
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(_) => None,
    }
}

/// Whether a request is the end that counts of a case that is lost. What was set by hand has no case.
pub(super) fn is_lost(requests: &[TransactionRequest], request: &TransactionRequest) -> bool {
    let counts = |id| Case { requests, id }.end().is_some_and(|(_, end)| end.id == request.id);
    gravity_of(request) == Some(Gravity::Taken) && request.transaction_id().is_none_or(counts)
}

/// What the lost cases among `requests` have taken of `whole`, never more than that.
pub fn lost(requests: &[TransactionRequest], whole: Amount) -> Amount {
    sum(requests.iter().filter(|request| is_lost(requests, request)), whole)
}

/// The same without one case.
pub(super) fn lost_besides(requests: &[TransactionRequest], id: &str, whole: Amount) -> Amount {
    let is_of_another = |request: &&TransactionRequest| request.transaction_id() != Some(id);
    sum(requests.iter().filter(is_of_another).filter(|request| is_lost(requests, request)), whole)
}

fn sum<'a>(requests: impl Iterator<Item = &'a TransactionRequest>, at_most: Amount) -> Amount {
    let add =
        |sum: Amount, request: &TransactionRequest| sum.plus(request.amount).unwrap_or(at_most).min(at_most);
    requests.fold(Amount::ZERO, add)
}

/// The requests that opened a dispute which has not ended.
pub(super) fn open_disputes(requests: &[TransactionRequest]) -> impl Iterator<Item = &TransactionRequest> {
    let is_over = |opening: &TransactionRequest| {
        requests.iter().any(|request| {
            matches!(request.request_type, RequestType::DisputeClosed | RequestType::ChargeBack)
                && request.transaction_id() == opening.transaction_id()
        })
    };
    requests
        .iter()
        .filter(|request| request.request_type == RequestType::Dispute)
        .filter(move |request| !is_over(request))
}

/// Whether a request that closed a dispute, at this place, is the end of a charge back: its case had taken the money.
pub(crate) fn reverses_charge_back(requests: &[TransactionRequest], place: usize) -> bool {
    let closed = requests.get(place).filter(|request| request.request_type == RequestType::DisputeClosed);
    let id = closed.and_then(TransactionRequest::transaction_id);
    let earlier = requests.get(..place).unwrap_or_default();
    id.is_some_and(|id| Case { requests: earlier, id }.is_lost())
}
