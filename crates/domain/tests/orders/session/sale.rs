//! A session as it is stored, its payments, and what two nodes do with it.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use regente_domain::session::payment::{PaymentState, SessionPayment};
use regente_domain::session::{Advance, Session};

use crate::moves::Move;
use crate::several::digest_of;
use crate::world::{Left, World};

/// A payment of the session.
#[derive(Clone, Debug)]
pub(crate) struct Paying {
    pub world: World,
    pub payment: SessionPayment,
    /// The version of the charge that is to be counted.
    pub to_count: Option<i64>,
    /// Whether it is to be given back.
    pub to_return: bool,
    /// How many entries of the history say that it succeeded.
    pub succeeded: u8,
}

/// A change of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Task {
    /// A payment is counted.
    Count(usize),
    /// The due date has passed.
    Expire,
    Cancel,
    /// The merchant changes it, by the place of the change.
    Patch(usize),
}

/// A change that is decided and not written yet.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub base: i64,
    pub advance: Advance,
    pub counted: Option<Counted>,
    /// How many refused cards are forgotten with it.
    pub forgiven: i64,
}

/// What a payment is counted as.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    pub read: SessionPayment,
    pub version: i64,
    pub to: PaymentState,
    /// Whether its provider can give it back.
    pub is_returnable: bool,
}

/// What a node does with the session.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Idle,
    /// It is about to write. With `closes` it ends these payments of a canceled session, and the first one is counted.
    Writes {
        task: Task,
        plan: Arc<Plan>,
        closes: Option<u8>,
    },
    /// It ends these payments of a canceled session; of the first one the payer is not waited for any more, perhaps.
    Closes {
        rest: u8,
        is_withdrawn: bool,
    },
}

/// How often what may happen to the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Requests {
    pub cancels: u8,
    pub patches: u8,
}

#[derive(Clone, Debug)]
pub(crate) struct Sale {
    pub session: Arc<Session>,
    pub payments: Vec<Option<Paying>>,
    pub nodes: [Work; 2],
    pub left: Left,
    pub requests: Requests,
    /// Jobs that end the payments of a canceled session.
    pub to_close: u8,
    pub to_expire: bool,
    /// Whether the due date has passed.
    pub is_due: bool,
    pub told: bool,
    /// How often it was announced that the session is paid.
    pub paid_events: u8,
    /// What is wrong with an entry of the history.
    pub misrecorded: Option<&'static str>,
}

/// What may happen next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Something happens to the charge of a payment.
    Charge(usize, Move),
    /// A buyer begins to pay.
    Come(usize),
    /// A job of the session begins at a node.
    Count(usize, usize),
    Expire(usize),
    Close(usize),
    /// A node goes on with what it does.
    GoOn(usize),
    /// A job gives a payment back.
    Return(usize, usize),
    Crash(usize),
    /// The due date passes.
    Due,
    /// The merchant cancels the session, or changes it.
    Cancel(usize),
    Patch(usize, usize),
}

/// The versions of a session are compared and nothing else, so two sessions that differ by them alone are one.
fn hash_session<H: Hasher>(session: &Session, state: &mut H) {
    let Session { status, is_active, due_at, capacity, tally, cards, .. } = session;
    let counts = (tally.authorizing, tally.pending, tally.paid, tally.returned);
    (status.word(), is_active, due_at, capacity.max_payments(), counts).hash(state);
    (cards.trying, cards.refused).hash(state);
}

fn hash_payment<H: Hasher>(payment: &SessionPayment, state: &mut H) {
    (payment.state.word(), format!("{:?}", payment.made), payment.counted.word()).hash(state);
}

impl Hash for Paying {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { world, payment, to_count, to_return, succeeded } = self;
        hash_payment(payment, state);
        (world, to_count, to_return, succeeded).hash(state);
    }
}

impl Hash for Sale {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_session(&self.session, state);
        self.payments.hash(state);
        for node in &self.nodes {
            match node {
                Work::Idle => 0_u8.hash(state),
                Work::Closes { rest, is_withdrawn } => (1_u8, rest, is_withdrawn).hash(state),
                Work::Writes { task, plan, closes } => {
                    (2_u8, task, plan.base == self.session.version, closes).hash(state);
                    hash_session(&plan.advance.session, state);
                    if let Some(Counted { read, version, to, is_returnable }) = &plan.counted {
                        hash_payment(read, state);
                        (version, to.word(), is_returnable).hash(state);
                    }
                }
            }
        }
        let Self { left, requests, to_close, to_expire, is_due, told, .. } = self;
        (left, requests, to_close, to_expire, is_due, told, self.paid_events, self.misrecorded).hash(state);
    }
}

impl PartialEq for Sale {
    fn eq(&self, other: &Self) -> bool {
        digest_of(self) == digest_of(other)
    }
}
