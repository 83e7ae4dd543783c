//! Decides what the end of a capture or void makes of its charge when its caller is gone: the reconcile job has sent it
//! again, or the provider has told of it. The void of an orphaned authorization ends here too.

use super::attempt::{Asks, Outcome, RequestGroup, ToldBy, TransactionRequest};
use super::found::{BUYER_IS_GONE, NewId};
use super::step::{Misstep, Step};
use super::{Charge, PaymentSource, SecurityCode, Transition, refused_voids};
use crate::time::{Timestamp, later_of};

/// What is done with what a provider says of a request after its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// Nothing is known still, or an accepted operation has no result yet.
    NothingNew,
    /// The outcome of an authorization or authentication ([`Charge::take`]).
    Authorization,
    /// The end of a capture or void ([`Charge::end_operation`]).
    EndOfOperation,
    /// The result of a capture or void that was accepted ([`Charge::end_accepted`]).
    ResultOfAccepted,
    /// The verdict of a risk analysis.
    Verdict,
}

impl Says {
    /// What `outcome` says of `request`.
    pub const fn of(request: &TransactionRequest, outcome: &Outcome) -> Self {
        match (&request.outcome, outcome) {
            (_, Outcome::Open) | (Outcome::Accepted(_), Outcome::Accepted(_) | Outcome::Pending(_)) => {
                return Self::NothingNew;
            }
            (
                Outcome::Open
                | Outcome::Pending(_)
                | Outcome::Accepted(_)
                | Outcome::Approved(_)
                | Outcome::Declined(_)
                | Outcome::NoEffect(_)
                | Outcome::Analysed(_),
                _,
            ) => {}
        }
        match request.request_type.group() {
            RequestGroup::Authorization(_) | RequestGroup::CardCheck | RequestGroup::Authentication(_) => {
                Self::Authorization
            }
            RequestGroup::FollowUp(_) | RequestGroup::Reversal(_) => match &request.outcome {
                Outcome::Accepted(_) => Self::ResultOfAccepted,
                Outcome::Open
                | Outcome::Pending(_)
                | Outcome::Approved(_)
                | Outcome::Declined(_)
                | Outcome::NoEffect(_)
                | Outcome::Analysed(_) => Self::EndOfOperation,
            },
            RequestGroup::Risk(_) => Self::Verdict,
        }
    }
}

/// What the end of a capture or void makes of its charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The operation of the charge ended: this follows.
    Operation(Box<Step>),
    /// It is recorded already.
    Known,
    /// It is recorded as refused, and the provider says that it has accepted it or carried it out: the operator must look.
    /// The request is the recorded one.
    Contradicted(Box<TransactionRequest>),
    /// The void of an orphaned authorization ended: the request as it is written, and what follows.
    Orphan(Box<(TransactionRequest, OrphanVoid)>),
}

/// What follows the end of the void of an orphaned authorization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrphanVoid {
    /// The money was given back.
    Confirmed(Transition),
    /// The provider reports the result later. The charge gets a version of its own: an operation on it that is under way
    /// would otherwise be answered with the void as it was before.
    Accepted(Charge),
    /// The provider has refused so often; another void follows, or the operator is told.
    Refused {
        /// How often.
        refusals: usize,
    },
}

impl Charge {
    /// What follows the end of the open operation, whose request is `ended`.
    ///
    /// # Errors
    /// What [`Misstep`] says.
    pub fn after_operation(&self, ended: &TransactionRequest, now: Timestamp) -> Result<Step, Misstep> {
        let requests = std::slice::from_ref(ended);
        let next = self.next(requests, BUYER_IS_GONE, now);
        self.step(requests, next, SecurityCode::NotNeeded, &|| ended.id, now)?.ok_or(Misstep::NoOperation)
    }

    /// What `ended`, a capture or void with its outcome, makes of the charge. `requests` are the stored ones, oldest first.
    ///
    /// # Errors
    /// What [`Misstep`] says.
    pub fn end_operation(
        &self,
        requests: &[TransactionRequest],
        ended: &TransactionRequest,
        now: Timestamp,
    ) -> Result<Ended, Misstep> {
        if self.has_open(ended) {
            return Ok(Ended::Operation(Box::new(self.after_operation(ended, now)?)));
        }
        let is_ended =
            |stored: &&TransactionRequest| stored.id == ended.id && stored.outcome != Outcome::Open;
        // The original caller was only slow and has written the outcome meanwhile.
        if let Some(known) = requests.iter().find(is_ended) {
            let was_refused = matches!(known.outcome, Outcome::Declined(_) | Outcome::NoEffect(_));
            return Ok(
                match was_refused && matches!(ended.outcome, Outcome::Approved(_) | Outcome::Accepted(_)) {
                    true => Ended::Contradicted(Box::new(known.clone())),
                    false => Ended::Known,
                },
            );
        }
        // It ends after the version that an answer may have shown meanwhile, with the void open.
        let updated_at = later_of(now, self.updated_at);
        let ended = TransactionRequest { updated_at, ..ended.clone() };
        let follows = match &ended.outcome {
            Outcome::Approved(_) => OrphanVoid::Confirmed(self.confirm_orphan_voided(now)),
            Outcome::Declined(_) | Outcome::NoEffect(_) => {
                OrphanVoid::Refused { refusals: refused_voids(requests, ended.follows) + 1 }
            }
            Outcome::Accepted(_) => OrphanVoid::Accepted(self.note_orphan_void(updated_at)),
            Outcome::Open | Outcome::Pending(_) | Outcome::Analysed(_) => return Err(Misstep::NotEnded),
        };
        Ok(Ended::Orphan(Box::new((ended, follows))))
    }

    /// What the result of `accepted`, a capture or void that its provider had accepted, makes of the charge, with the
    /// request that tells of it; `None` when it is recorded already or nothing follows. `requests` are the stored ones,
    /// oldest first.
    ///
    /// # Errors
    /// What [`Misstep`] says.
    pub fn end_accepted(
        &self,
        requests: &[TransactionRequest],
        accepted: &TransactionRequest,
        outcome: Outcome,
        new_id: NewId<'_>,
        now: Timestamp,
    ) -> Result<Option<(TransactionRequest, Ended)>, Misstep> {
        if requests.iter().any(|request| request.follows == Some(accepted.id)) {
            return Ok(None);
        }
        let counted = self.clone().with_one_more_request();
        let asks = Asks::about(accepted, accepted.request_type, accepted.amount);
        let told = TransactionRequest { outcome, ..counted.begin_request(new_id(), asks, now) };
        if self.has_open(accepted) {
            let requests = [requests, std::slice::from_ref(&told)].concat();
            let next = counted.next(&requests, BUYER_IS_GONE, now);
            let step = counted.step(&requests, next, SecurityCode::NotNeeded, new_id, now)?;
            return Ok(step.map(|step| (told, Ended::Operation(Box::new(step)))));
        }
        let follows = match &told.outcome {
            Outcome::Approved(_) => OrphanVoid::Confirmed(counted.confirm_orphan_voided(told.updated_at)),
            // The accepted void is already among the refused ones.
            Outcome::Declined(_) | Outcome::NoEffect(_) => {
                OrphanVoid::Refused { refusals: refused_voids(requests, accepted.follows) }
            }
            Outcome::Open | Outcome::Pending(_) | Outcome::Accepted(_) | Outcome::Analysed(_) => {
                return Err(Misstep::NotEnded);
            }
        };
        Ok(Some((told.clone(), Ended::Orphan(Box::new((told, follows))))))
    }

    /// Whether the provider is asked on about `refused`, an authorization that ended with this charge: it has refused one whose
    /// answer never came. The payer may hold its instructions all the same, and pay what was withdrawn.
    pub const fn may_have_unseen_instructions(&self, refused: &TransactionRequest) -> bool {
        let is_answer_lost = matches!(refused.told_by, Some(ToldBy::Probe | ToldBy::Notification));
        match self.method.source() {
            PaymentSource::Payer(_) => {
                is_answer_lost
                    && refused.request_type.is_authorization()
                    && matches!(refused.outcome, Outcome::Declined(_))
            }
            PaymentSource::Card(_) | PaymentSource::Wallet => false,
        }
    }

    /// Whether the provider is asked on about the request that `told` tells of, once the charge is this one. Whoever pays by
    /// themselves may pay twice, after the charge has expired, and also what was refused or withdrawn.
    pub const fn is_asked_on(&self, told: &TransactionRequest) -> bool {
        match self.method.source() {
            _ if self.ended_unpaid() => true,
            PaymentSource::Payer(_) => told.request_type.is_authorization(),
            PaymentSource::Card(_) | PaymentSource::Wallet => false,
        }
    }
}
