//! A purchase with two cards, each of them a charge in a [`World`] of its own. Two nodes drive it, as the job of a purchase
//! does: a node reads the purchase and its charges, the product decides, and the node writes under the version that it has
//! read, or begins a capture or void and waits for its end.

use std::sync::Arc;

use regente_domain::charge::analysis::Standing;
use regente_domain::charge::{ChargeState, FollowUpKind};
use regente_domain::purchase::{Change, Next, Phase, Purchase, Seen};
use stateright::{Model, Property};

use super::bank::Money;
use super::bought::{Bought, Driver, Step, id_of, state_of};
use super::charge::{NOW, Orders};
use super::moves::Move;
use super::several::{REQUESTS_MAX, begun, crash, is_busy, is_over, is_stopped, moves, on_charge};
use super::world::{Job, Left, Node, World};

/// One bounded world of a purchase.
pub(crate) struct Cards {
    pub purchase: Purchase,
    pub orders: [Orders; 2],
    /// What may happen to both cards together.
    pub left: Left,
    /// How often somebody waits until the next thing is due.
    pub waits: u8,
    /// How often a second node drives the purchase too.
    pub twins: u8,
}

impl Cards {
    fn seen(state: &Bought, refused: u8) -> Vec<Seen> {
        let seen = |(index, world): (usize, &Option<World>)| Seen {
            state: world.as_ref().map(|world| world.stored.charge.state.clone()),
            declined_code: None,
            standing: Standing::Free,
            is_undoing_refused: refused & (1 << index) != 0,
            is_unanswered: false,
        };
        state.cards.iter().enumerate().map(seen).collect()
    }

    fn next(state: &Bought, refused: u8) -> Next {
        state.purchase.next(&Self::seen(state, refused), state.now)
    }

    /// Something happens to a card; what may happen how often is common to both.
    fn on_card(
        &self,
        state: &Bought,
        card: usize,
        step: impl FnOnce(&Orders, &World) -> Option<World>,
    ) -> Option<Bought> {
        let world = state.cards[card].as_ref()?;
        let (changed, left) = on_charge(&self.orders[card], world, of_cards(state.left), step)?;
        let mut after = state.clone();
        let Left { crashes, captures, voids, .. } = state.left;
        after.left = Left { crashes, captures, voids, ..left };
        after.cards[card] = Some(changed);
        Some(after)
    }

    fn writes(state: &Bought, refused: u8, change: Change, begins: Option<usize>) -> Driver {
        let advance = state.purchase.apply(change, state.now);
        let (base, gave_up) = (state.purchase.version, advance.gave_up);
        Driver::Writes { refused, base, after: Arc::new(advance.purchase), begins, gave_up }
    }

    fn drive(&self, state: &Bought, node: usize) -> Option<Bought> {
        let mut after = state.clone();
        after.drivers[node] = match &state.drivers[node] {
            Driver::Idle => return self.decide(state, node, 0),
            Driver::Runs { refused } => {
                let idle = Bought { drivers: self.idle(state, node), ..state.clone() };
                // A node that does something else for the card goes on with the purchase afterwards.
                return match Self::next(state, *refused) {
                    Next::Capture(card) | Next::Undo(card) if Self::is_busy(state, node, card) => None,
                    Next::Rest
                    | Next::Wait(_)
                    | Next::Note(_)
                    | Next::Authorize(_)
                    | Next::Capture(_)
                    | Next::Undo(_) => Some(self.decide(state, node, *refused).unwrap_or(idle)),
                };
            }
            Driver::Writes { base, .. } if *base != state.purchase.version => Driver::Runs { refused: 0 },
            Driver::Writes { refused, after: purchase, begins, gave_up, base } => {
                after.purchase = Arc::clone(purchase);
                after.told |= gave_up;
                match begins {
                    None => Driver::Runs { refused: *refused },
                    Some(card) => {
                        after.cards[*card] = Some(begun(&self.orders[*card], node));
                        let (base, before) = (*base + 1, String::new());
                        Driver::Waits { refused: *refused, card: *card, operation: None, base, before }
                    }
                }
            }
            Driver::Waits { refused, card, operation, before, .. } => {
                let world = state.cards[*card].as_ref()?;
                if is_busy(world, node) {
                    return None;
                }
                match operation {
                    Some(FollowUpKind::Capture) if state_of(world) == *before => {
                        Self::writes(state, *refused, Change::CaptureFailed(*card), None)
                    }
                    Some(FollowUpKind::Void) if state_of(world) == *before => {
                        Driver::Runs { refused: refused | (1 << card) }
                    }
                    Some(_) | None => Driver::Runs { refused: *refused },
                }
            }
        };
        Some(after)
    }

    fn is_busy(state: &Bought, node: usize, card: usize) -> bool {
        state.cards[card].as_ref().is_some_and(|world| is_busy(world, node))
    }

    fn idle(&self, state: &Bought, node: usize) -> [Driver; 2] {
        let mut drivers = state.drivers.clone();
        drivers[node] = Driver::Idle;
        drivers
    }

    /// Decides the next step; `None` when nothing is to be done now.
    fn decide(&self, state: &Bought, node: usize, refused: u8) -> Option<Bought> {
        let mut after = state.clone();
        after.drivers[node] = match Self::next(state, refused) {
            Next::Rest | Next::Wait(_) => return None,
            Next::Note(change) => Self::writes(state, refused, change, None),
            Next::Authorize(card) => {
                Self::writes(state, refused, Change::SlotBegun(card, id_of(card)), Some(card))
            }
            Next::Capture(card) => return self.follow(state, node, card, FollowUpKind::Capture, refused),
            Next::Undo(card) => return self.follow(state, node, card, FollowUpKind::Void, refused),
        };
        Some(after)
    }

    fn follow(
        &self,
        state: &Bought,
        node: usize,
        card: usize,
        kind: FollowUpKind,
        refused: u8,
    ) -> Option<Bought> {
        if Self::is_busy(state, node, card) {
            return None;
        }
        let (before, base) = (state_of(state.cards[card].as_ref()?), state.purchase.version);
        let begun =
            self.on_card(state, card, |orders, world| orders.give(world, node, Job::Begin(kind), None, None));
        let Some(mut after) = begun else {
            // A void that cannot be requested counts as refused.
            let mut after = state.clone();
            after.drivers[node] = match kind {
                FollowUpKind::Void => Driver::Runs { refused: refused | (1 << card) },
                FollowUpKind::Capture => return None,
            };
            return Some(after);
        };
        after.drivers[node] = Driver::Waits { refused, card, operation: Some(kind), base, before };
        Some(after)
    }

    /// A capture or void for the purchase is begun only as long as the purchase is as it was read.
    fn is_outdated(state: &Bought, card: usize, step: &Move) -> Option<usize> {
        let Move::Write(node) = step else { return None };
        let is_begun =
            matches!(state.cards[card].as_ref()?.nodes[*node], Node::Writes { job: Job::Begin(_), .. });
        let Driver::Waits { base, .. } = &state.drivers[*node] else { return None };
        (is_begun && *base != state.purchase.version).then_some(*node)
    }

    fn rests(&self, state: &Bought) -> bool {
        let is_over = match Self::next(state, 0) {
            Next::Rest => true,
            Next::Wait(_) => matches!(state.purchase.phase, Phase::PreAuthorized { .. }),
            Next::Authorize(_) | Next::Capture(_) | Next::Undo(_) | Next::Note(_) => false,
        };
        is_over
            && state.drivers.iter().all(|driver| matches!(driver, Driver::Idle))
            && state
                .cards
                .iter()
                .zip(&self.orders)
                .all(|(world, orders)| world.as_ref().is_none_or(|world| orders.rests(world)))
    }

    /// All or nothing: what the providers hold of the cards is what the purchase says.
    fn agrees(state: &Bought) -> bool {
        let held: Vec<Option<Money>> =
            state.cards.iter().map(|world| Some(world.as_ref()?.bank.held().first()?.2)).collect();
        let all = |money| held.iter().all(|held| *held == money);
        let is_of_purchase = match state.purchase.phase {
            Phase::PreAuthorized { .. } => all(Some(Money::Reserved)),
            Phase::Paid => all(Some(Money::Taken)),
            Phase::Failed | Phase::Cancelled => all(None),
            Phase::Authorizing { .. } | Phase::Capturing { .. } | Phase::Undoing(_) => false,
        };
        is_of_purchase && state.cards.iter().flatten().all(Orders::agrees)
    }

    fn is_told(state: &Bought) -> bool {
        state.told || state.cards.iter().flatten().any(|world| world.told)
    }
}

/// What may happen to the cards, of all that may happen: the rest happens to the purchase.
fn of_cards(left: Left) -> Left {
    Left { crashes: 0, captures: 0, voids: 0, ..left }
}

impl Model for Cards {
    type State = Bought;
    type Action = Step;

    fn init_states(&self) -> Vec<Bought> {
        vec![Bought {
            purchase: Arc::new(self.purchase.clone()),
            cards: [None, None],
            drivers: [Driver::Idle, Driver::Idle],
            left: self.left,
            waits: self.waits,
            twins: self.twins,
            now: NOW,
            told: false,
        }]
    }

    fn actions(&self, state: &Bought, steps: &mut Vec<Step>) {
        if Self::is_told(state) || state.cards.iter().flatten().any(is_stopped) {
            return;
        }
        for (card, world) in state.cards.iter().enumerate() {
            let Some(world) = world else { continue };
            let moves = moves(&self.orders[card], world, of_cards(state.left));
            steps.extend(moves.into_iter().map(|step| Step::Card(card, step)));
        }
        let is_driven = state.drivers.iter().any(|driver| !matches!(driver, Driver::Idle));
        for (node, driver) in state.drivers.iter().enumerate() {
            match driver {
                Driver::Idle if is_driven && state.twins == 0 => {}
                // Which of two idle nodes begins makes no difference.
                Driver::Idle if !is_driven && node > 0 => {}
                Driver::Idle | Driver::Runs { .. } | Driver::Writes { .. } | Driver::Waits { .. } => {
                    steps.push(Step::Drive(node));
                }
            }
            let is_at_work = !matches!(driver, Driver::Idle)
                || state.cards.iter().flatten().any(|world| is_busy(world, node));
            if state.left.crashes > 0 && is_at_work {
                steps.push(Step::Crash(node));
            }
        }
        if state.waits > 0 && !is_driven {
            steps.push(Step::Wait);
        }
        if state.left.captures > 0 {
            steps.push(Step::Request(FollowUpKind::Capture));
        }
        if state.left.voids > 0 {
            steps.push(Step::Request(FollowUpKind::Void));
        }
    }

    fn next_state(&self, state: &Bought, step: Step) -> Option<Bought> {
        match step {
            Step::Card(card, step) => {
                if let Some(node) = Self::is_outdated(state, card, &step) {
                    let mut after = state.clone();
                    after.drivers[node] = Driver::Idle;
                    after.cards[card].as_mut()?.nodes[node] = Node::Idle;
                    return Some(after);
                }
                self.on_card(state, card, |orders, world| orders.next_state(world, step))
            }
            Step::Drive(node) => {
                let mut after = self.drive(state, node)?;
                let is_second = state.drivers.iter().any(|driver| !matches!(driver, Driver::Idle))
                    && matches!(state.drivers[node], Driver::Idle);
                after.twins -= u8::from(is_second);
                Some(after)
            }
            Step::Crash(node) => {
                let mut after = state.clone();
                after.left.crashes -= 1;
                after.drivers[node] = Driver::Idle;
                for world in after.cards.iter_mut().flatten() {
                    crash(world, node);
                }
                Some(after)
            }
            Step::Wait => {
                let due_at = match (Self::next(state, 0), &state.purchase.phase) {
                    (Next::Wait(_), Phase::Authorizing { until } | Phase::Capturing { until }) => *until,
                    (Next::Wait(until), _) => until,
                    (
                        Next::Rest | Next::Note(_) | Next::Authorize(_) | Next::Capture(_) | Next::Undo(_),
                        _,
                    ) => {
                        return None;
                    }
                };
                let waits = state.waits - 1;
                Some(Bought { now: due_at, waits, ..state.clone() })
            }
            Step::Request(kind) => {
                let mut after = state.clone();
                let requested = match kind {
                    FollowUpKind::Capture => {
                        after.left.captures -= 1;
                        state.purchase.request_capture(state.now)
                    }
                    FollowUpKind::Void => {
                        after.left.voids -= 1;
                        state.purchase.request_void(&Self::seen(state, 0), state.now)
                    }
                };
                after.purchase = Arc::new(requested.ok()?.purchase);
                Some(after)
            }
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("every outcome fits its charge", |_, state: &Bought| {
                state.cards.iter().flatten().all(|world| world.broken.is_none())
            }),
            Property::always("never two kept authorizations of a card", |_, state: &Bought| {
                state.cards.iter().flatten().all(|world| Orders::kept(world) <= 1)
            }),
            Property::always("no request is sent for ever", |_, state: &Bought| {
                state.cards.iter().flatten().all(|world| world.stored.requests.len() <= REQUESTS_MAX)
            }),
            Property::always("a purchase is paid once each of its cards is captured", |_, state: &Bought| {
                let is_taken = |world: &World| {
                    matches!(world.bank.held().as_slice(), [(_, _, Money::Taken)])
                        || matches!(world.stored.charge.state, ChargeState::Voided { .. })
                };
                state.purchase.phase != Phase::Paid
                    || state.cards.iter().all(|world| world.as_ref().is_some_and(is_taken))
            }),
            Property::always(
                "a purchase that rests holds all of its cards or none, or an operator has been told",
                |model: &Self, state: &Bought| {
                    Self::is_told(state) || !model.rests(state) || Self::agrees(state)
                },
            ),
            Property::always("every run ends at rest", |model: &Self, state: &Bought| {
                let waits = state.waits == 0 && matches!(Self::next(state, 0), Next::Wait(_));
                Self::is_told(state) || waits || model.rests(state) || !is_over(model, state)
            }),
        ]
    }
}
