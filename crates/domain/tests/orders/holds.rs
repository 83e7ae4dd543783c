//! What must hold of a charge in the [`World`], in every state and where nothing is under way.

use regente_domain::charge::attempt::{Outcome, RequestGroup, TransactionRequest};
use regente_domain::charge::reversal::{ReversalKind, ReversalVerdict};
use regente_domain::charge::{ChargeState, FollowUpKind, PaidOtherwise, approved_authorization};
use stateright::Property;

use super::bank::{Decision, Money, payment_id};
use super::charge::Orders;
use super::world::{Node, Stored, World, is_sent_again};

impl Orders {
    pub(crate) fn rests(&self, world: &World) -> bool {
        world.nodes.iter().all(|node| matches!(node, Node::Idle))
            && world.calls.is_empty()
            && world.news.is_empty()
            && world.reports.iter().all(|report| {
                matches!(self.reverse(world, report), None | Some(ReversalVerdict::TooEarly(_)))
            })
            && world.bank.operations.iter().all(|operation| operation.answer != Decision::Later)
            && !(0..world.stored.requests.len()).any(|at| self.look(world, 0, at).is_some())
            && !(0..world.stored.requests.len()).any(|at| is_sent_again(world, at))
    }

    pub(crate) fn agrees(world: &World) -> bool {
        let Stored { charge, requests, .. } = &*world.stored;
        let held = world.bank.held();
        let kept = approved_authorization(requests);
        let holds = |money| {
            let [(key, place, held)] = held.as_slice() else { return false };
            kept.is_some_and(|kept| {
                kept.provider_key() == *key
                    && kept.transaction_id() == Some(payment_id(*key, *place).as_str())
                    && *held == money
                    && charge.amount == world.bank.sum(*key, *place, charge.original_amount)
            })
        };
        match &charge.state {
            ChargeState::PreAuthorized { .. } => holds(Money::Reserved),
            ChargeState::Authorized { .. } => {
                let is_open = world.bank.cases.contains(&Some(ReversalKind::DisputeOpened));
                // What is less than was charged waits for the merchant, unless they have accepted it.
                let is_less = charge.amount < charge.original_amount;
                let is_accepted = matches!(charge.paid_otherwise, Some(PaidOtherwise::Accepted { .. }));
                (charge.is_underpaid() || is_accepted) == is_less
                    && holds(Money::Taken)
                    && !world.bank.is_lost()
                    && charge.is_disputed(requests) == is_open
            }
            ChargeState::ChargedBack { .. } => holds(Money::Taken) && world.bank.is_lost(),
            ChargeState::Processing
            | ChargeState::CapturePending { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. } => false,
            ChargeState::AwaitingPayer { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. } => held.is_empty(),
        }
    }

    /// Whether the charge has lost what the lost cases have taken.
    fn has_lost(&self, world: &World) -> bool {
        let charge = &world.stored.charge;
        let ChargeState::ChargedBack { lost, .. } = charge.state else { return true };
        let cases = world.bank.cases.iter().zip(self.disputed);
        let taken = cases.filter(|(case, _)| **case == Some(ReversalKind::DisputeLost)).map(|(_, sum)| sum);
        lost.unwrap_or(charge.amount).minor_units() == taken.sum::<i64>().min(charge.amount.minor_units())
    }

    /// How many authorizations are recorded as approved and are not being given back.
    pub(crate) fn kept(world: &World) -> usize {
        let requests = &world.stored.requests;
        let is_undone = |taken: &TransactionRequest| {
            requests.iter().any(|request| {
                matches!(request.request_type.group(), RequestGroup::FollowUp(FollowUpKind::Void))
                    && request.follows == Some(taken.id)
            })
        };
        let is_revoked = |taken: &TransactionRequest| {
            let about = taken.follows.unwrap_or(taken.id);
            requests.iter().any(|request| {
                request.ordinal > taken.ordinal
                    && request.request_type == taken.request_type
                    && request.follows == Some(about)
                    && matches!(request.outcome, Outcome::Declined(_))
            })
        };
        let is_kept = |request: &&TransactionRequest| {
            request.request_type.is_authorization()
                && matches!(request.outcome, Outcome::Approved(_))
                && !is_undone(request)
                && !is_revoked(request)
        };
        requests.iter().filter(is_kept).count()
    }

    pub(crate) fn invariants() -> Vec<Property<Self>> {
        vec![
            Property::always("a case never takes more than was paid", |model: &Self, world: &World| {
                let whole = model.charge.original_amount;
                let reported = |request: &TransactionRequest| {
                    matches!(request.request_type.group(), RequestGroup::Reversal(_))
                };
                !world.stored.requests.iter().any(|request| reported(request) && request.amount > whole)
            }),
            Property::always(
                "what rests has lost the sum of the lost cases",
                |model: &Self, world: &World| !model.rests(world) || world.told || model.has_lost(world),
            ),
            Property::always("every outcome fits its charge", |_, world: &World| world.broken.is_none()),
            Property::always("never two kept authorizations", |_, world: &World| Self::kept(world) <= 1),
            Property::always(
                "what rests agrees with every provider, or an operator has been told",
                |model: &Self, world: &World| {
                    world.broken.is_some() || !model.rests(world) || Self::agrees(world) || world.told
                },
            ),
        ]
    }
}
