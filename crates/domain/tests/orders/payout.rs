//! Payouts in all orders: charges are captured, refunded and charged back, what is due is made into batches by two nodes, and handed to a
//! bank that pays, refuses, answers late or not at all, and gives back what it has paid; receivables are paid early. Nodes are slow and
//! die at each step, also between writing that a transfer may have been sent and sending it.

mod bank;
mod held;
mod node;
mod paying;
mod worlds;
mod written;

use jiff::civil::Date;
use regente_domain::local_day;
use regente_domain::payout::change::Change;
use regente_domain::payout::method::PayoutMethod;
use regente_domain::payout::transfer::{Answer, Found};
use regente_domain::payout::{BatchStatus, OrderType};
use regente_domain::plan::Terms;
use regente_domain::prepayment::{Item, PrepaymentStatus, Rates};
use stateright::{Model, Property};

use bank::{Has, Name};
use node::Task;
use paying::{Batch, May, Node, Paying};

/// A charge that may be captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sale {
    pub method: PayoutMethod,
    pub amount: i64,
}

/// One bounded world of payouts.
#[derive(Clone, Debug)]
pub(crate) struct Payouts {
    /// The first of them is captured already.
    pub sales: Vec<Sale>,
    pub terms: Terms,
    /// How much a refund gives back of the first charge.
    pub refund: i64,
    /// The items of each offer of prepayment, their rates, and when they are paid.
    pub offers: Vec<Vec<Item>>,
    pub rates: Rates,
    pub paid_on: Date,
    pub today: Date,
    pub left: May,
    pub fault: Option<Fault>,
}

/// What is done wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A transfer that may have been sent is sent under another name, and nobody asks first.
    AnotherName,
    /// No answer counts as a refusal.
    UnknownIsRefused,
    /// A debt is written whatever it has become since it was read.
    DebtUnguarded,
    /// A debt of nothing has no row, so that two batches do not meet at it.
    FirstDebtUnguarded,
    /// Whether money came back is asked once, also where nobody answers.
    OneLook,
}

/// What may happen next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Begin(usize, Task),
    Write(usize),
    /// A node sends the transfer that it is about to send.
    Send(usize),
    /// It hears what the bank answers.
    Hear(usize),
    /// It hears nothing, and the call may arrive later.
    Silence(usize),
    Crash(usize),
    /// A transfer arrives at the bank.
    Arrive(Name, Has),
    /// It never does.
    Lose(Name),
    /// The bank decides what it has.
    Decide(Name, Has),
    News(News),
    /// Nothing is due any more on the days that have come.
    DayIsOver,
    /// The next day comes on which something is to be done.
    Wait,
}

/// What happens to charges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum News {
    Captured,
    Refunded,
    ChargedBack,
    Reversed,
}

impl Payouts {
    /// What is to be done today beside transfers.
    fn due(&self, state: &Paying) -> Vec<Task> {
        let mut tasks: Vec<Task> = (0..state.charges.len())
            .filter(|charge| {
                let written = state.of_charge(*charge).map(|order| order.step).max();
                state.charges[*charge].last().map(|change| change.step) > written
            })
            .map(Task::Orders)
            .collect();
        if state.paydays.first().is_some_and(|day| *day <= state.today) {
            let methods = [PayoutMethod::Credit, PayoutMethod::Pix];
            let taking = paying::Taking::Due(state.today);
            let is_due = |method: &PayoutMethod| !state.taken(*method, taking).is_empty();
            tasks.extend(methods.into_iter().filter(is_due).map(Task::Payday));
        }
        let prepayments = (0..state.prepayments.len()).map(Task::Prepayment);
        tasks.extend(prepayments.filter(|task| self.begin(state, 0, *task).is_some()));
        tasks
    }

    fn transfers(state: &Paying) -> impl Iterator<Item = Task> {
        let is_followed = |batch: &Batch| match batch.status {
            BatchStatus::Pending => batch.sent_on <= state.today,
            BatchStatus::Paid => batch.look.is_some_and(|day| day <= state.today),
            BatchStatus::Failed | BatchStatus::Offset => false,
        };
        (0..state.batches.len()).filter(move |place| is_followed(&state.batches[*place])).map(Task::Transfer)
    }

    /// The next day on which something is to be done.
    fn next_day(&self, state: &Paying) -> Option<Date> {
        let pending = state.batches.iter().filter(|batch| batch.status == BatchStatus::Pending);
        let is_open = |status: &PrepaymentStatus| {
            matches!(status, PrepaymentStatus::Pending | PrepaymentStatus::Committed)
        };
        let prepaid = state.prepayments.iter().any(is_open).then_some(self.paid_on);
        let days = state.paydays.iter().copied().chain(pending.map(|batch| batch.sent_on));
        let days = days.chain(state.batches.iter().filter_map(|batch| batch.look)).chain(prepaid);
        days.filter(|day| *day > state.today).min()
    }

    fn news(&self, state: &Paying, news: News) -> Option<Paying> {
        let mut after = state.clone();
        let at = local_day::hour_of(state.today, 12);
        let change = |step: usize, order_type, amount| Change {
            step: step as i64 * 2,
            at,
            receiver: None,
            order_type,
            amount,
        };
        let first = state.charges.first().map(Vec::as_slice).unwrap_or_default();
        let held: i64 = first.iter().map(|change| change.amount).sum();
        let (left, order_type, amount) = match news {
            News::Captured => {
                after.left.captures = after.left.captures.checked_sub(1)?;
                let sale = self.sales.get(state.charges.len())?;
                after.charges.push(vec![change(1, OrderType::Authorization, sale.amount)]);
                return Some(after);
            }
            News::Refunded => (&mut after.left.refunds, OrderType::Void, -self.refund.min(held)),
            News::ChargedBack => (&mut after.left.charge_backs, OrderType::ChargeBack, -held),
            News::Reversed => {
                let last = first.last().filter(|last| last.order_type == OrderType::ChargeBack)?;
                (&mut after.left.reversals, OrderType::Authorization, -last.amount)
            }
        };
        *left = left.checked_sub(1).filter(|_| amount != 0)?;
        after.charges[0].push(change(first.len() + 1, order_type, amount));
        Some(after)
    }

    /// The bank says for the first time, or later, what becomes of a transfer.
    fn becomes(after: &mut Paying, has: Has) -> Option<()> {
        let left = match has {
            Has::Paid => return Some(()),
            Has::Pending => &mut after.left.delays,
            Has::Refused => &mut after.left.refusals,
            Has::Returned => &mut after.left.returns,
        };
        *left = left.checked_sub(1)?;
        Some(())
    }

    fn hear(&self, state: &Paying, node: usize, is_silent: bool) -> Option<Paying> {
        let mut after = state.clone();
        if is_silent {
            after.left.silences = after.left.silences.checked_sub(1)?;
        }
        let unknown = Found::Told(Answer::Unknown);
        let (place, status, found) = match state.nodes[node] {
            Node::Waits(name) => {
                let answer = || state.bank.answer(name).map(Found::Told);
                let found = if is_silent { unknown } else { answer()? };
                (name % bank::OTHER, BatchStatus::Pending, found)
            }
            Node::Asks(place, status) => {
                (place, status, if is_silent { unknown } else { state.bank.find(place) })
            }
            Node::Idle | Node::Writes(_) | Node::Sends(_) => return None,
        };
        self.follow(&mut after, node, place, status, Some(found));
        Some(after)
    }

    /// Whether a bank may give back what it has paid: it does so before it is asked for the last time.
    fn may_return(state: &Paying, name: Name) -> bool {
        let batch = &state.batches[name % bank::OTHER];
        batch.status == BatchStatus::Pending || batch.look.is_some()
    }

    fn rests(&self, state: &Paying) -> bool {
        state.nodes.iter().all(|node| *node == Node::Idle)
            && state.bank.wire.is_empty()
            && state.paydays.is_empty()
            && self.next_day(state).is_none()
            && self.due(state).is_empty()
            && Self::transfers(state).next().is_none()
    }
}

impl Model for Payouts {
    type State = Paying;
    type Action = Step;

    fn init_states(&self) -> Vec<Paying> {
        vec![self.initial()]
    }

    fn actions(&self, state: &Paying, steps: &mut Vec<Step>) {
        let due = self.due(state);
        let is_busy = state.nodes.iter().any(|node| *node != Node::Idle);
        for (node, does) in state.nodes.iter().enumerate() {
            match does {
                // Which of two idle nodes begins makes no difference.
                Node::Idle if !is_busy && node > 0 => {}
                Node::Idle if is_busy && state.left.twins == 0 => {}
                Node::Idle => {
                    let commits = (0..state.prepayments.len()).map(Task::Commit);
                    let tasks = due.iter().copied().chain(Self::transfers(state)).chain(commits);
                    steps.extend(tasks.map(|task| Step::Begin(node, task)));
                }
                Node::Writes(_) => steps.push(Step::Write(node)),
                Node::Sends(_) => steps.push(Step::Send(node)),
                Node::Waits(_) | Node::Asks(..) => steps.extend([Step::Hear(node), Step::Silence(node)]),
            }
            if *does != Node::Idle && state.left.crashes > 0 {
                steps.push(Step::Crash(node));
            }
        }
        for name in &state.bank.wire {
            steps.extend([Has::Paid, Has::Pending, Has::Refused].map(|has| Step::Arrive(*name, has)));
            steps.push(Step::Lose(*name));
        }
        for (name, has) in &state.bank.has {
            match has {
                Has::Pending => steps.extend([Has::Paid, Has::Refused].map(|has| Step::Decide(*name, has))),
                Has::Paid if Self::may_return(state, *name) => steps.push(Step::Decide(*name, Has::Returned)),
                Has::Paid | Has::Refused | Has::Returned => {}
            }
        }
        let news = [News::Captured, News::Refunded, News::ChargedBack, News::Reversed];
        steps.extend(news.map(Step::News));
        if due.is_empty() {
            let is_over = state.paydays.first().is_some_and(|day| *day <= state.today);
            steps.push(if is_over { Step::DayIsOver } else { Step::Wait });
        }
    }

    fn next_state(&self, state: &Paying, step: Step) -> Option<Paying> {
        let mut after = state.clone();
        match step {
            Step::Begin(node, task) => {
                after = self.begin(state, node, task)?;
                let is_busy = state.nodes.iter().any(|node| *node != Node::Idle);
                after.left.twins -= u8::from(is_busy);
            }
            Step::Write(node) => {
                let Node::Writes(plan) = state.nodes[node].clone() else { return None };
                self.write(&mut after, node, plan);
            }
            Step::Send(node) => {
                let Node::Sends(name) = state.nodes[node] else { return None };
                after.nodes[node] = Node::Waits(name);
                // A second one of the same name says nothing new to the bank.
                if !after.bank.has.contains_key(&name) {
                    after.bank.wire.insert(name);
                }
            }
            Step::Hear(node) => return self.hear(state, node, false),
            Step::Silence(node) => return self.hear(state, node, true),
            Step::Crash(node) => {
                after.nodes[node] = Node::Idle;
                after.left.crashes -= 1;
            }
            Step::Arrive(name, has) => {
                Self::becomes(&mut after, has)?;
                after.bank.arrive(name, has);
            }
            Step::Lose(name) => {
                after.left.silences = after.left.silences.checked_sub(1)?;
                after.bank.wire.remove(&name);
            }
            Step::Decide(name, has) => {
                Self::becomes(&mut after, has)?;
                after.bank.has.insert(name, has);
            }
            Step::News(news) => return self.news(state, news),
            Step::DayIsOver => after.paydays.retain(|day| *day > state.today),
            Step::Wait => after.today = self.next_day(state)?,
        }
        Some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        held::properties()
    }
}
