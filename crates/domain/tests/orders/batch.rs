//! What a node writes of a charge: every decision is the product's own.

use std::sync::Arc;
use std::time::Duration;

use regente_domain::charge::attempt::{Gone, Outcome, TransactionRequest};
use regente_domain::charge::reversal::{Reversal, ReversalKind, ReversalVerdict};
use regente_domain::charge::{
    AfterRevoking, BUYER_IS_GONE, ChargeState, Ended, FollowUpKind, Misstep, OrphanVoid, Step, Taken,
    Transition, approved_authorization,
};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::TransactionRequestId;
use regente_domain::time::Timestamp;
use serde_json::json;

use super::bank::{outcomes, payment_id};
use super::charge::{EXPIRES, NOW, Orders, at_once};
use super::world::{Job, Plan, Report, Sends, Stored, World, bit};

/// After so many refusals to void an authorization the operator is told.
pub(crate) const REFUSALS_MAX: usize = 2;

impl Orders {
    /// Decides a job from what is stored now; the jobs that remain to be done have nothing to write.
    pub(crate) fn decide(&self, world: &World, node: usize, job: &mut Job) -> Result<Option<Plan>, Misstep> {
        let stored = &world.stored;
        let (charge, requests, now) = (&stored.charge, &stored.requests, Self::now(world));
        let ids = self.ids(world, node);
        match job {
            Job::Conclude(_) => unreachable!("an answer is concluded from what was read before the call"),
            Job::Take { found, is_over } => {
                while let Some(first) = found.first().cloned() {
                    let may_ask = charge.may_ask_on(requests, &first) && self.has_card();
                    let means = match may_ask {
                        true => at_once(),
                        false => BUYER_IS_GONE,
                    };
                    if let Some(taken) = charge.take(requests.clone(), &first, means, &ids, now)? {
                        return Ok(Some(self.taken(stored, taken, may_ask)));
                    }
                    found.remove(0);
                }
                let _ = is_over;
                Ok(None)
            }
            Job::EndSent(ended) => {
                if !charge.has_open(ended) {
                    return Ok(None);
                }
                let step = charge.after_operation(ended, now)?;
                Ok(Some(written(stored, Some(ended.clone()), step)))
            }
            Job::End(ended) => match charge.end_operation(requests, ended, now)? {
                Ended::Operation(step) => Ok(Some(written(stored, Some(ended.clone()), *step))),
                Ended::Known => Ok(None),
                // Without a write: the operator is told at once.
                Ended::Contradicted(_) => Ok(Some(told(stored))),
                Ended::Orphan(end) => Ok(Some(self.orphan(stored, end.0.clone(), &end.1, None, &ids, now))),
            },
            Job::EndAccepted(accepted, word) => {
                let outcome = outcomes(*word, accepted.provider_key(), EXPIRES).remove(0);
                let Some((told, end)) = charge.end_accepted(requests, accepted, outcome, &ids, now)? else {
                    return Ok(None);
                };
                Ok(match end {
                    Ended::Operation(step) => Some(written(stored, Some(told), *step)),
                    Ended::Known | Ended::Contradicted(_) => None,
                    Ended::Orphan(end) => {
                        Some(self.orphan(stored, end.0.clone(), &end.1, Some(accepted), &ids, now))
                    }
                })
            }
            Job::Begin(kind) => {
                let Some(authorization) = approved_authorization(requests) else { return Ok(None) };
                if *kind == FollowUpKind::Capture
                    && let Some(accepting) = charge.accept_underpaid(None, now)
                {
                    let Ok(Transition { charge, announces }) = accepting else { return Ok(None) };
                    return Ok(Some(written(stored, None, Step { charge, announces, next: None })));
                }
                let Ok((opened, open)) = charge.open(*kind, None, now) else { return Ok(None) };
                let asks = regente_domain::charge::attempt::Asks::about(
                    authorization,
                    kind.request_type(),
                    open.amount,
                );
                let request = opened.begin_request(ids(), asks, now);
                let step = Step { charge: opened, announces: None, next: Some(request) };
                Ok(Some(written(stored, None, step)))
            }
            Job::Reverse(report) => Ok(match self.reverse(world, report) {
                Some(ReversalVerdict::Applies(reversed)) => {
                    let told = reversed.request(ids());
                    let mut requests = requests.clone();
                    requests.push(told);
                    let after = Stored::new(reversed.transition.charge, requests, stored.watched);
                    Some(Plan { base: charge.version, after, sends: None, tells: false })
                }
                Some(ReversalVerdict::Known | ReversalVerdict::TooEarly(_) | ReversalVerdict::Refused(_))
                | None => None,
            }),
            Job::Revoke(about) => {
                let refused = Decline::of(DeclinedCode::StolenCard);
                Ok(match charge.revoke(ids(), requests, *about, &refused, now) {
                    AfterRevoking::Revoked(revoked) => {
                        let (transition, told) = *revoked;
                        let mut requests = requests.clone();
                        requests.push(told);
                        let after = Stored::new(transition.charge, requests, stored.watched);
                        Some(Plan { base: charge.version, after, sends: None, tells: false })
                    }
                    AfterRevoking::NotPossible(_) => Some(self::told(stored)),
                    AfterRevoking::Nothing | AfterRevoking::TooEarly => None,
                })
            }
            Job::Withdraw => {
                let ChargeState::AwaitingPayer { .. } = charge.state else { return Ok(None) };
                let awaited = requests.iter().rfind(|request| request.pending().is_some()).cloned().unwrap();
                let taken = charge.without_payer(requests.clone(), &awaited, Gone::Withdrawn, &ids, now)?;
                Ok(taken.map(|taken| self.taken(stored, taken, false)))
            }
        }
    }

    pub(crate) fn reverse(&self, world: &World, report: &Report) -> Option<ReversalVerdict> {
        let Stored { charge, requests, .. } = &*world.stored;
        let about = requests.iter().find(|request| request.provider_key() == report.key)?;
        Some(charge.reverse(requests, about, &self.reversal(report), Self::now(world)))
    }

    /// What the provider says, as an adapter makes it.
    fn reversal(&self, report: &Report) -> Reversal {
        let at = NOW + Duration::from_secs(u64::from(report.at));
        let id = match report.what {
            ReversalKind::DisputeOpened => format!("case {}", report.case),
            _ if self.names_payment => payment_id(report.key, 0),
            _ => format!("case {}", report.case),
        };
        let amount = self.disputed[report.case];
        let told = json!({ "kind": report.what, "id": id, "amount": amount, "occurredAt": at });
        serde_json::from_value(told).unwrap()
    }

    fn taken(&self, stored: &Stored, taken: Taken, may_ask: bool) -> Plan {
        let Taken { ended, step, .. } = taken;
        let plan = written(stored, ended, step);
        // The void of an orphaned authorization is left to the reconcile job.
        let sends = plan.sends.filter(|(_, sends)| *sends == Sends::Operates || may_ask);
        Plan { sends, ..plan }
    }

    fn orphan(
        &self,
        stored: &Stored,
        ended: TransactionRequest,
        follows: &OrphanVoid,
        accepted: Option<&TransactionRequest>,
        ids: &dyn Fn() -> TransactionRequestId,
        now: Timestamp,
    ) -> Plan {
        let before = &stored.charge;
        let counted = match accepted {
            Some(_) => before.clone().with_one_more_request(),
            None => before.clone(),
        };
        let (after, next, tells) = match follows {
            OrphanVoid::Confirmed(confirmed) => (confirmed.charge.clone(), None, false),
            OrphanVoid::Accepted(after) => (after.clone(), None, false),
            OrphanVoid::Refused { refusals } => {
                let refused = accepted.unwrap_or(&ended);
                let (after, void) = counted.void_orphan_again(ids(), refused, now);
                (after, Some(void), *refusals > REFUSALS_MAX)
            }
        };
        let step = Step { charge: after, announces: None, next };
        let plan = written(stored, Some(ended), step);
        let given_up = plan.after.requests.last().filter(|_| tells).map_or(0, bit);
        let after = &plan.after;
        let after = Stored::new(after.charge.clone(), after.requests.clone(), after.watched & !given_up);
        Plan { after, sends: None, tells, ..plan }
    }
}

/// The operator is told, and nothing changes.
fn told(stored: &Arc<Stored>) -> Plan {
    Plan { base: stored.charge.version, after: Arc::clone(stored), sends: None, tells: true }
}

/// A batch: the charge after `step`, the outcome of `ended`, and the next request.
pub(crate) fn written(stored: &Stored, ended: Option<TransactionRequest>, step: Step) -> Plan {
    let Step { charge, next, announces: _ } = step;
    let (mut requests, mut watched) = (stored.requests.clone(), stored.watched);
    if let Some(ended) = ended {
        let is_told = ended.follows.filter(|_| ended.ordinal >= stored.charge.requests);
        if let Some(told_of) = is_told {
            if !charge.is_asked_on(&ended) {
                let followed = requests.iter().find(|request| request.id == told_of).unwrap();
                watched &= !bit(followed);
            }
            requests.push(ended);
        } else {
            match &ended.outcome {
                Outcome::Pending(_) | Outcome::Accepted(_) | Outcome::NoEffect(_) => watched |= bit(&ended),
                Outcome::Declined(_) if charge.may_have_unseen_instructions(&ended) => watched |= bit(&ended),
                Outcome::Open | Outcome::Approved(_) | Outcome::Declined(_) | Outcome::Analysed(_) => {
                    watched &= !bit(&ended);
                }
            }
            let at = requests.iter().position(|request| request.id == ended.id).unwrap();
            requests[at] = ended;
        }
    }
    let sends = next.as_ref().map(|next| {
        let sends = match next.request_type.is_authorization() {
            true => Sends::Drives,
            false => Sends::Operates,
        };
        (next.id, sends)
    });
    // A void that is not the charge's own is left to the reconcile job.
    let sends = sends.filter(|(_, sends)| {
        *sends == Sends::Drives || next.as_ref().is_some_and(|next| charge.has_open(next))
    });
    if let Some(next) = next {
        watched |= bit(&next);
        requests.push(next);
    }
    Plan { base: stored.charge.version, after: Stored::new(charge, requests, watched), sends, tells: false }
}
