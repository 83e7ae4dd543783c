//! What a node writes of a session: every decision is the product's own.

use std::sync::Arc;

use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::session::cards::{CardRefused, Cards};
use regente_domain::session::payment::PaymentState;
use regente_domain::session::{EntryStatus, Session, SessionAction, SessionStatus};
use regente_domain::webhook::EventName;

use super::Buyers;
use super::sale::{Counted, Paying, Plan, Sale, Task, Work};
use crate::several::is_busy;
use crate::world::{Job, Node};

impl Buyers {
    /// A node reads and decides; `None` when nothing changes.
    pub(super) fn begin(&self, sale: &Sale, node: usize, task: Task) -> Option<Sale> {
        let plan = Arc::new(self.plan(sale, task)?);
        let mut after = sale.clone();
        after.nodes[node] = Work::Writes { task, plan, closes: None };
        Some(after)
    }

    fn plan(&self, sale: &Sale, task: Task) -> Option<Plan> {
        let (session, now) = (&sale.session, Self::now(sale));
        let (advance, counted) = match task {
            Task::Count(place) => {
                let Paying { payment, world, .. } = sale.payments[place].as_ref()?;
                let is_known = payment.counted == payment.state && payment.state != PaymentState::Underpaid;
                // No refund comes back here, so what is given back already needs no look.
                if is_known || payment.counted == PaymentState::Surplus {
                    return None;
                }
                let charge = &world.stored.charge;
                let refused = card_refused(charge, world.stored.requests.last());
                let counted = session.count(*payment, charge, refused, now)?;
                let is_returnable = charge.can_be_given_back();
                let (read, version) = (*payment, charge.version);
                (counted.advance, Some(Counted { read, version, to: counted.counted, is_returnable }))
            }
            Task::Expire => (session.expire(now)?, None),
            Task::Cancel => (session.cancel(now).ok()??, None),
            Task::Patch(patch) => (session.patch(&self.patches[patch], now).ok()??, None),
        };
        let forgiven = session.cards.refused - advance.session.cards.refused;
        Some(Plan { base: session.version, advance, counted, forgiven })
    }

    /// Without the jobs that have nothing to count.
    pub(super) fn without_done(&self, mut sale: Sale) -> Sale {
        for place in 0..sale.payments.len() {
            let counts = sale.payments[place].as_ref().is_some_and(|paying| paying.to_count.is_some());
            if counts && self.plan(&sale, Task::Count(place)).is_none() {
                sale.payments[place].as_mut().unwrap().to_count = None;
            }
        }
        sale
    }

    /// The job that ends the payments of a canceled session begins.
    pub(super) fn close(sale: &Sale, node: usize) -> Sale {
        let is_open = |paying: &Paying| match paying.payment.state {
            PaymentState::Authorizing | PaymentState::Pending | PaymentState::Underpaid => true,
            PaymentState::Paid | PaymentState::Ended | PaymentState::Returned | PaymentState::Surplus => {
                false
            }
        };
        let places = sale.payments.iter().enumerate();
        let open = places.filter(|(_, paying)| paying.as_ref().is_some_and(is_open));
        let mut after = sale.clone();
        after.to_close -= 1;
        after.nodes[node] = closes(open.map(|(place, _)| 1 << place).sum());
        after
    }

    pub(super) fn go_on(&self, sale: &Sale, node: usize) -> Option<Sale> {
        match &sale.nodes[node] {
            Work::Idle => None,
            Work::Writes { task, plan, closes } => Some(self.write(sale, node, *task, plan, *closes)),
            Work::Closes { rest, is_withdrawn: false } => {
                let place = rest.trailing_zeros() as usize;
                if is_busy(&sale.payments[place].as_ref()?.world, node) {
                    return None;
                }
                let withdrawn = self.on_charge(sale, place, |orders, world| {
                    orders.give(world, node, Job::Withdraw, None, None)
                });
                let mut after = withdrawn.unwrap_or_else(|| sale.clone());
                after.nodes[node] = Work::Closes { rest: *rest, is_withdrawn: true };
                Some(after)
            }
            Work::Closes { rest, is_withdrawn: true } => {
                let place = rest.trailing_zeros() as usize;
                if let Node::Writes { job: Job::Withdraw, .. } =
                    sale.payments[place].as_ref()?.world.nodes[node]
                {
                    return None;
                }
                let mut after = sale.clone();
                let task = Task::Count(place);
                after.nodes[node] = match self.plan(sale, task) {
                    Some(plan) => Work::Writes { task, plan: Arc::new(plan), closes: Some(*rest) },
                    None => closes(rest & (rest - 1)),
                };
                Some(after)
            }
        }
    }

    fn write(&self, sale: &Sale, node: usize, task: Task, plan: &Plan, closing: Option<u8>) -> Sale {
        let mut after = sale.clone();
        after.nodes[node] = Work::Idle;
        let is_as_read = |place: usize, counted: Counted| {
            sale.payments[place].as_ref().is_some_and(|paying| {
                let (now, read) = (paying.payment, counted.read);
                now.state == read.state && now.counted == read.counted
            })
        };
        let is_current = match (task, plan.counted) {
            (Task::Count(place), Some(counted)) => is_as_read(place, counted),
            _ => true,
        };
        if plan.base != sale.session.version || !is_current {
            match (task, closing) {
                (_, Some(rest)) => after.nodes[node] = Work::Closes { rest, is_withdrawn: true },
                // The job runs again.
                (Task::Count(_) | Task::Expire, None) => {}
                (Task::Cancel | Task::Patch(_), None) => {
                    return self.begin(&after, node, task).unwrap_or(after);
                }
            }
            return after;
        }
        after.record(task, plan);
        // The numbers of cards change by increments alone.
        let Cards { trying, refused } = sale.session.cards;
        let cards = Cards { trying, refused: refused - plan.forgiven };
        after.session = Arc::new(Session { cards, ..plan.advance.session.clone() });
        match (task, plan.counted) {
            (Task::Count(place), Some(Counted { version, to, is_returnable, .. })) => {
                let paying = after.payments[place].as_mut().unwrap();
                paying.payment.counted = to;
                paying.to_count = paying.to_count.filter(|woken| *woken > version);
                if to == PaymentState::Surplus {
                    paying.to_return |= is_returnable;
                    after.told |= !is_returnable;
                }
                // Canceled while the provider was making the instructions.
                let is_late = to == PaymentState::Pending && sale.session.status == SessionStatus::Canceled;
                after.to_close += u8::from(is_late);
            }
            (Task::Count(_), None) => unreachable!("a payment is counted"),
            (Task::Expire, _) => after.to_expire = false,
            (Task::Cancel, _) => after.to_close += 1,
            (Task::Patch(_), _) => after.to_expire |= after.session.due_at.is_some(),
        }
        if let Some(rest) = closing {
            after.nodes[node] = closes(rest & (rest - 1));
        }
        after
    }
}

impl Sale {
    /// Looks at the entries of the history that a change adds.
    fn record(&mut self, task: Task, plan: &Plan) {
        let (before, after, entries) = (&self.session, &plan.advance.session, &plan.advance.entries);
        let mut is_wrong = |is_wrong: bool, what| {
            if is_wrong {
                self.misrecorded = Some(what);
            }
        };
        let ordinals = entries.iter().map(|entry| entry.ordinal);
        is_wrong(!ordinals.eq(before.entries..after.entries), "the entries are not in turn");
        let shown = |of: &regente_domain::session::Session| {
            (of.status, of.is_active, of.due_at, of.capacity, of.tally.paid)
        };
        let is_counted = plan.counted.is_some_and(|Counted { read, to, .. }| match to {
            PaymentState::Pending | PaymentState::Underpaid | PaymentState::Surplus => true,
            PaymentState::Ended => read.counted != PaymentState::Paid,
            PaymentState::Authorizing | PaymentState::Paid | PaymentState::Returned => false,
        });
        let must_tell = is_counted || shown(before) != shown(after);
        is_wrong(must_tell && entries.is_empty(), "a change without an entry");
        let told = entries.iter().rfind(|entry| entry.status != EntryStatus::Disabled);
        let differs = told.is_some_and(|told| told.status.word() != after.status.word());
        is_wrong(differs, "an entry with another status than its session");
        let is_paid = |event: &&EventName| **event == EventName::SessionPaid;
        self.paid_events += u8::try_from(plan.advance.announces.iter().filter(is_paid).count()).unwrap();
        if let Task::Count(place) = task {
            let succeeded = |actions: &[SessionAction]| actions.contains(&SessionAction::PaymentSucceeded);
            let new = entries.iter().filter(|entry| succeeded(&entry.actions)).count();
            self.payments[place].as_mut().unwrap().succeeded += u8::try_from(new).unwrap();
        }
    }

    pub(super) fn is_told(&self) -> bool {
        self.told || self.payments.iter().flatten().any(|paying| paying.world.told)
    }
}

fn closes(rest: u8) -> Work {
    match rest {
        0 => Work::Idle,
        rest => Work::Closes { rest, is_withdrawn: false },
    }
}

/// Whether the last request of a charge tells that the buyer's card was refused.
fn card_refused(charge: &Charge, last: Option<&TransactionRequest>) -> CardRefused {
    match charge.method.card_id() {
        Some(_) => CardRefused::by(last),
        None => CardRefused::No,
    }
}
