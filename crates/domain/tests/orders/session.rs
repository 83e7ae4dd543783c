//! A session that buyers pay, each of their charges in a [`World`] of its own. Two nodes count what becomes of the charges,
//! as the flow and the jobs of a session do: a node reads the session and the payment, the product decides, and the node
//! writes under the version of the session and the state of the payment that it has read.

mod counting;
mod holds;
mod sale;
mod worlds;

use std::sync::Arc;

use regente_domain::charge::{ChargeState, FollowUpKind};
use regente_domain::session::cards::{CardRefused, Try};
use regente_domain::session::payment::{Made, PaymentState, SessionPayment};
use regente_domain::session::{OpenPaymentKind, Patch, Session};
use regente_domain::time::Timestamp;
use stateright::{Model, Property};

use crate::batch::REFUSALS_MAX;
use crate::charge::{NOW, Orders};
use crate::moves::Move;
use crate::several::{self, is_busy, is_stopped, moves};
use crate::world::{Job, Left, Node, World};
use sale::{Paying, Requests, Sale, Step, Task, Work};

/// When the session can be paid no longer, if it has a due date.
const DUE: Timestamp = Timestamp::from_millis(NOW.as_millis() + 60_000);

/// One bounded world of a session.
pub(crate) struct Buyers {
    pub session: Session,
    /// A charge of each buyer.
    pub orders: Vec<Orders>,
    /// Whether the buyers are alike: then they come in turn, since it makes no difference which comes first.
    pub alike: bool,
    /// What may happen to all charges together.
    pub left: Left,
    pub requests: Requests,
    /// What the merchant may change.
    pub patches: Vec<Patch>,
    /// Whether the instructions of payers expire.
    pub expires: bool,
    /// How many nodes are at work for a charge, and how many for the session.
    pub at_charge: usize,
    pub at_session: usize,
}

impl Buyers {
    fn now(sale: &Sale) -> Timestamp {
        if sale.is_due { DUE } else { NOW }
    }

    /// Something happens to a charge. The batch that changes it says where its payment stands.
    fn on_charge(
        &self,
        sale: &Sale,
        place: usize,
        step: impl FnOnce(&Orders, &World) -> Option<World>,
    ) -> Option<Sale> {
        let paying = sale.payments[place].as_ref()?;
        let common = Left { crashes: 0, ..sale.left };
        let (world, left) = several::on_charge(&self.orders[place], &paying.world, common, step)?;
        let (before, after) = (&paying.world.stored.charge, &world.stored.charge);
        let state = PaymentState::of(after);
        let stands_as_before = PaymentState::of(before) == state && before.amount >= after.amount;
        let mut moved = Paying { world: world.clone(), ..paying.clone() };
        if !stands_as_before {
            moved.payment.state = state;
            if state == PaymentState::Paid {
                moved.payment.made = Made::Yes;
            }
            moved.to_count = Some(after.version);
        }
        let mut changed = sale.clone();
        let cards = &mut Arc::make_mut(&mut changed.session).cards;
        match Try::by(before, after, world.stored.requests.last()) {
            Some(Try::Begins) => cards.trying += 1,
            Some(Try::GoesOnRefused) => unreachable!("a card of these worlds has one provider"),
            Some(Try::Ends(refused)) => {
                cards.trying -= i64::from(PaymentState::of(before) == PaymentState::Authorizing);
                cards.refused += i64::from(refused == CardRefused::Yes);
            }
            None => {}
        }
        changed.left = Left { crashes: sale.left.crashes, ..left };
        changed.payments[place] = Some(moved);
        Some(changed)
    }

    /// A buyer begins to pay. The batch that begins their charge makes room for it, or is refused.
    fn come(&self, sale: &Sale, place: usize) -> Option<Sale> {
        let orders = &self.orders[place];
        sale.session.must_take(orders.charge.method.payment_type(), Self::now(sale)).ok()?;
        let mut after = sale.clone();
        let session = Arc::make_mut(&mut after.session);
        session.tally.authorizing += 1;
        session.cards.trying +=
            i64::from(OpenPaymentKind::of(orders.charge.method.payment_type()) == OpenPaymentKind::Cards);
        session.version += 1;
        let begun = PaymentState::Authorizing;
        after.payments[place] = Some(Paying {
            world: several::begun(orders, 0),
            payment: SessionPayment { state: begun, made: Made::Never, counted: begun },
            to_count: None,
            to_return: false,
            succeeded: 0,
        });
        Some(after)
    }

    /// The job that gives a payment back voids it, and looks again while something else is under way.
    fn give_back(&self, sale: &Sale, place: usize, node: usize) -> Option<Sale> {
        let world = &sale.payments[place].as_ref()?.world;
        let is_begun = |node: &Node| matches!(node, Node::Writes { job: Job::Begin(_), .. });
        match &world.stored.charge.state {
            ChargeState::PreAuthorized { .. } | ChargeState::Authorized { .. } => {
                if holds::refused_voids(world) > REFUSALS_MAX {
                    return Some(Sale { told: true, ..sale.clone() });
                }
                if world.nodes.iter().any(is_begun) {
                    return None;
                }
                let void = Job::Begin(FollowUpKind::Void);
                self.on_charge(sale, place, |orders, world| orders.give(world, node, void, None, None))
            }
            ChargeState::CapturePending { .. }
            | ChargeState::RefundPending { .. }
            | ChargeState::RefundAccepted { .. } => None,
            ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. }
            | ChargeState::ChargedBack { .. } => {
                let mut after = sale.clone();
                after.payments[place].as_mut()?.to_return = false;
                Some(after)
            }
        }
    }

    fn crash(sale: &Sale, node: usize) -> Sale {
        let mut after = sale.clone();
        after.left.crashes -= 1;
        // What it was doing for a canceled session was a job, which runs again.
        after.to_close += u8::from(match &sale.nodes[node] {
            Work::Closes { .. } => true,
            Work::Writes { closes, .. } => closes.is_some(),
            Work::Idle => false,
        });
        after.nodes[node] = Work::Idle;
        for paying in after.payments.iter_mut().flatten() {
            several::crash(&mut paying.world, node);
        }
        after
    }

    fn may_happen(&self, place: usize, world: &World, step: &Move) -> bool {
        match step {
            Move::Expire => self.expires,
            // Of a further payment only a notification tells.
            Move::Pay(of, _) => {
                self.orders[place].notifies || world.bank.authorizations[*of].payments.is_empty()
            }
            Move::Look(node, _)
            | Move::Again(node, ..)
            | Move::Deliver(node, _)
            | Move::Repeat(node, _)
            | Move::Begin(node, _)
            | Move::Withdraw(node)
            | Move::Hear(node, _)
            | Move::HearTwice(node, _) => *node < self.at_charge,
            _ => true,
        }
    }

    /// The first node that does nothing for a charge.
    fn free_at(&self, world: &World) -> Option<usize> {
        (0..self.at_charge).find(|node| !is_busy(world, *node))
    }

    fn of_session(&self, sale: &Sale, steps: &mut Vec<Step>) {
        for (node, work) in sale.nodes.iter().enumerate() {
            let is_idle = matches!(work, Work::Idle);
            if !is_idle {
                steps.push(Step::GoOn(node));
            }
            let is_at_work =
                !is_idle || sale.payments.iter().flatten().any(|paying| is_busy(&paying.world, node));
            if sale.left.crashes > 0 && is_at_work {
                steps.push(Step::Crash(node));
            }
        }
        if self.session.due_at.is_some() && !sale.is_due {
            steps.push(Step::Due);
        }
        let mut nodes = sale.nodes.iter().take(self.at_session);
        let Some(node) = nodes.position(|work| matches!(work, Work::Idle)) else { return };
        let counts = |place: &usize| sale.payments[*place].as_ref().is_some_and(|it| it.to_count.is_some());
        steps.extend((0..sale.payments.len()).filter(counts).map(|place| Step::Count(node, place)));
        if sale.to_expire && sale.is_due {
            steps.push(Step::Expire(node));
        }
        if sale.to_close > 0 {
            steps.push(Step::Close(node));
        }
        if sale.requests.cancels > 0 {
            steps.push(Step::Cancel(node));
        }
        if sale.requests.patches > 0 {
            steps.extend((0..self.patches.len()).map(|patch| Step::Patch(node, patch)));
        }
    }
}

impl Model for Buyers {
    type State = Sale;
    type Action = Step;

    fn init_states(&self) -> Vec<Sale> {
        vec![Sale {
            session: Arc::new(self.session.clone()),
            payments: vec![None; self.orders.len()],
            nodes: [Work::Idle, Work::Idle],
            left: self.left,
            requests: self.requests,
            to_close: 0,
            to_expire: self.session.due_at.is_some(),
            is_due: false,
            told: false,
            paid_events: 0,
            misrecorded: None,
        }]
    }

    fn actions(&self, sale: &Sale, steps: &mut Vec<Step>) {
        // From then on the operator decides.
        if sale.is_told() || sale.payments.iter().flatten().any(|paying| is_stopped(&paying.world)) {
            return;
        }
        for (place, paying) in sale.payments.iter().enumerate() {
            let Some(paying) = paying else {
                if !self.alike || place == 0 || sale.payments[place - 1].is_some() {
                    steps.push(Step::Come(place));
                }
                continue;
            };
            let moves = moves(&self.orders[place], &paying.world, Left { crashes: 0, ..sale.left });
            let possible = moves.into_iter().filter(|step| self.may_happen(place, &paying.world, step));
            steps.extend(possible.map(|step| Step::Charge(place, step)));
            if let Some(node) = self.free_at(&paying.world).filter(|_| paying.to_return) {
                steps.push(Step::Return(node, place));
            }
        }
        self.of_session(sale, steps);
    }

    fn next_state(&self, sale: &Sale, step: Step) -> Option<Sale> {
        let after = match step {
            Step::Charge(place, step) => {
                self.on_charge(sale, place, |orders, world| orders.next_state(world, step))
            }
            Step::Come(place) => self.come(sale, place),
            Step::Count(node, place) => self.begin(sale, node, Task::Count(place)),
            Step::Expire(node) => {
                let expired = self.begin(sale, node, Task::Expire);
                Some(expired.unwrap_or_else(|| Sale { to_expire: false, ..sale.clone() }))
            }
            Step::Close(node) => Some(Self::close(sale, node)),
            Step::GoOn(node) => self.go_on(sale, node),
            Step::Return(node, place) => self.give_back(sale, place, node),
            Step::Crash(node) => Some(Self::crash(sale, node)),
            Step::Due => Some(Sale { is_due: true, ..sale.clone() }),
            Step::Cancel(node) => {
                let Requests { cancels, patches } = sale.requests;
                let requests = Requests { cancels: cancels - 1, patches };
                self.begin(&Sale { requests, ..sale.clone() }, node, Task::Cancel)
            }
            Step::Patch(node, patch) => {
                let Requests { cancels, patches } = sale.requests;
                let requests = Requests { cancels, patches: patches - 1 };
                self.begin(&Sale { requests, ..sale.clone() }, node, Task::Patch(patch))
            }
        };
        after.map(|after| self.without_done(after))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        Self::invariants()
    }
}
