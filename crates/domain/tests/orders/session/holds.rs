//! What must hold of a session and its payments, in every state and where nothing is under way.

use regente_domain::charge::attempt::{Outcome, RequestGroup, TransactionRequest};
use regente_domain::charge::{ChargeState, FollowUpKind};
use regente_domain::session::payment::PaymentState;
use regente_domain::session::{Capacity, DECLINES_MAX, Session, SessionStatus};
use stateright::Property;

use super::Buyers;
use super::sale::{Paying, Sale, Work};
use crate::charge::Orders;
use crate::several::{REQUESTS_MAX, is_over};
use crate::world::World;

/// How often the provider has refused to give a payment back.
pub(super) fn refused_voids(world: &World) -> usize {
    let is_refused = |request: &&TransactionRequest| {
        request.request_type.group() == RequestGroup::FollowUp(FollowUpKind::Void)
            && matches!(request.outcome, Outcome::Declined(_))
    };
    world.stored.requests.iter().filter(is_refused).count()
}

/// Whether a provider holds money for the charge.
fn is_held(paying: &Paying) -> bool {
    !paying.world.bank.held().is_empty()
}

/// Whether a provider has ever taken the whole amount, or its merchant has accepted less.
fn was_paid(paying: &Paying) -> bool {
    let World { bank, stored, .. } = &paying.world;
    let is_whole = bank
        .authorizations
        .iter()
        .any(|taken| (0..taken.payments.len()).any(|place| taken.less & (1 << place) == 0));
    let is_accepted = stored.charge.paid_otherwise.is_some() && !stored.charge.is_underpaid();
    is_whole || is_accepted
}

impl Buyers {
    fn rests(&self, sale: &Sale) -> bool {
        let is_done = |(paying, orders): (&Option<Paying>, &Orders)| {
            paying.as_ref().is_none_or(|paying| {
                paying.to_count.is_none() && !paying.to_return && orders.rests(&paying.world)
            })
        };
        sale.nodes.iter().all(|work| matches!(work, Work::Idle))
            && sale.to_close == 0
            && !(sale.to_expire && sale.is_due)
            && sale.payments.iter().zip(&self.orders).all(is_done)
    }

    /// The most payments that the session may take, whatever its merchant changes.
    fn most(&self) -> Option<i64> {
        let capacities = self.patches.iter().filter_map(|patch| patch.capacity);
        let limits = capacities.chain([self.session.capacity]).map(|capacity| match capacity {
            Capacity::One => Some(1),
            Capacity::Many(limit) => Some(i64::from(limit)),
            Capacity::Unlimited => None,
        });
        limits.collect::<Option<Vec<i64>>>().and_then(|limits| limits.into_iter().max())
    }

    /// What is counted of a payment is what the provider holds for it.
    fn is_counted(sale: &Sale, paying: &Paying) -> bool {
        let Paying { world, payment, .. } = paying;
        let charge = &world.stored.charge;
        payment.state == PaymentState::of(charge)
            && Orders::agrees(world)
            && match payment.counted {
                PaymentState::Authorizing => false,
                PaymentState::Pending => {
                    matches!(charge.state, ChargeState::AwaitingPayer { .. })
                        && sale.session.status != SessionStatus::Canceled
                }
                PaymentState::Underpaid => {
                    is_held(paying) && charge.is_underpaid() && sale.session.status != SessionStatus::Canceled
                }
                PaymentState::Paid => is_held(paying) && !charge.is_underpaid(),
                PaymentState::Ended | PaymentState::Returned | PaymentState::Surplus => !is_held(paying),
            }
    }

    fn agrees(&self, sale: &Sale) -> bool {
        let counted = |states: &[PaymentState]| {
            let is_in = |paying: &&Paying| states.contains(&paying.payment.counted);
            i64::try_from(sale.payments.iter().flatten().filter(is_in).count()).unwrap()
        };
        let (tally, kept) = (sale.session.tally, counted(&[PaymentState::Paid]));
        // A limit that was lowered may be raised again.
        let can_be_paid = |limit: i64| tally.paid < limit || self.most() > Some(limit);
        let is_of_status = match (sale.session.status, sale.session.capacity) {
            (SessionStatus::Created, Capacity::One) => kept == 0,
            // Paid as often as may be, and all of it given back, it is voided.
            (SessionStatus::Created, Capacity::Many(limit)) => kept > 0 || can_be_paid(i64::from(limit)),
            (SessionStatus::Created, Capacity::Unlimited) => true,
            (SessionStatus::Paid, _) => kept == 1,
            (SessionStatus::Canceled, _) => true,
            (SessionStatus::Voided, _) => kept == 0 && tally.paid > 0,
        };
        let is_switched_off =
            !sale.is_due || sale.session.due_at.is_none() || sale.session.status != SessionStatus::Created;
        is_of_status
            && (is_switched_off || !sale.session.is_active)
            && tally.authorizing == 0
            && tally.pending == counted(&[PaymentState::Pending, PaymentState::Underpaid])
            && tally.paid - tally.returned == kept
            && sale.payments.iter().flatten().all(|paying| Self::is_counted(sale, paying))
    }

    pub(super) fn invariants() -> Vec<Property<Self>> {
        vec![
            Property::always("every outcome fits its charge", |_, sale: &Sale| {
                sale.payments.iter().flatten().all(|paying| paying.world.broken.is_none())
            }),
            Property::always("never two kept authorizations of a charge", |_, sale: &Sale| {
                sale.payments.iter().flatten().all(|paying| Orders::kept(&paying.world) <= 1)
            }),
            Property::always("no request is sent for ever", |_, sale: &Sale| {
                sale.payments
                    .iter()
                    .flatten()
                    .all(|paying| paying.world.stored.requests.len() <= REQUESTS_MAX)
            }),
            Property::always(
                "a session never takes more payments than its limit",
                |model: &Self, sale: &Sale| {
                    let tally = sale.session.tally;
                    let counts = [tally.authorizing, tally.pending, tally.paid, tally.returned];
                    counts.iter().all(|count| *count >= 0)
                        && tally.returned <= tally.paid
                        && model.most().is_none_or(|most| tally.paid <= most)
                },
            ),
            Property::always("a card holds a place while it is tried", |_, sale: &Sale| {
                let is_tried = |paying: &&Paying| {
                    let charge = &paying.world.stored.charge;
                    charge.method.card_id().is_some() && PaymentState::of(charge) == PaymentState::Authorizing
                };
                let tried = sale.payments.iter().flatten().filter(is_tried).count();
                i64::try_from(tried) == Ok(sale.session.cards.trying)
            }),
            Property::always("no more cards are refused than may be", |_, sale: &Sale| {
                let Session { cards, tally, .. } = &*sale.session;
                cards.refused >= 0 && cards.trying + cards.refused <= DECLINES_MAX + tally.paid
            }),
            Property::always(
                "a session is paid only by a whole amount, or one that was accepted",
                |model: &Self, sale: &Sale| {
                    // The books do not say any more what was taken before an approval was taken back.
                    let is_regretted = sale.left.regrets < model.left.regrets;
                    let is_taken = |paying: &Paying| {
                        let is_kept =
                            matches!(paying.payment.counted, PaymentState::Paid | PaymentState::Returned);
                        !is_kept || is_regretted || was_paid(paying)
                    };
                    sale.payments.iter().flatten().all(is_taken)
                },
            ),
            Property::always("the history has an entry for each change", |_, sale: &Sale| {
                sale.misrecorded.is_none()
            }),
            Property::always("each payment succeeds once in the history", |_, sale: &Sale| {
                let succeeded = sale.payments.iter().flatten().map(|paying| paying.succeeded);
                succeeded.clone().all(|times| times <= 1)
                    && succeeded.map(i64::from).sum::<i64>() == sale.session.tally.paid
                    && sale.paid_events <= 1
            }),
            Property::always(
                "a session that rests has counted what the providers hold, or an operator has been told",
                |model: &Self, sale: &Sale| sale.is_told() || !model.rests(sale) || model.agrees(sale),
            ),
            Property::always("every run ends at rest", |model: &Self, sale: &Sale| {
                sale.is_told() || model.rests(sale) || !is_over(model, sale)
            }),
        ]
    }
}
