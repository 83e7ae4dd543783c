//! What the bank holds: payments and what became of each. It knows no wire format and no faults.

use std::time::Duration;

use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

/// How often a dispute ends, at most: each time another way.
const ENDS_MAX: u8 = 3;
/// How long it stands as it does, at least.
const CASE_STANDS_FOR: Duration = Duration::from_secs(60);

/// The provider whose format is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Face {
    Stripe,
    Adyen,
    PagarmeV5,
}

impl Face {
    pub const ALL: &[Self] = &[Self::Stripe, Self::Adyen, Self::PagarmeV5];
}

/// How it is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    Card,
    Pix,
    Boleto,
}

/// Where an authorization stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Refused,
    /// The acquirer has reserved it, and whether it is captured is decided later.
    Undecided,
    /// The payer has instructions until then.
    Waiting {
        until: Timestamp,
    },
    /// Nobody has paid.
    Expired,
    Reserved,
    Taken,
    /// Nothing is held any more: released, or taken back by the provider.
    Released,
}

/// An authorization.
#[derive(Clone, Debug)]
pub struct Payment {
    pub id: String,
    pub face: Face,
    /// The key of the merchant.
    pub account: String,
    pub object_id: Uuid,
    pub key: Uuid,
    /// Our name for it, as it was sent.
    pub reference: String,
    pub means: Means,
    pub at: Timestamp,
    /// What was asked for.
    pub amount: i64,
    pub standing: Standing,
    /// Whether it is captured without being asked.
    pub is_captured_at_once: bool,
    /// Captured, or paid by the payer.
    pub taken: i64,
    /// The capture that was asked for.
    pub captured_by: Option<Capture>,
    pub refunds: Vec<Refund>,
    pub cases: Vec<Case>,
    /// What the provider keeps for the merchant.
    pub metadata: Map<String, Value>,
    /// Until then it is shown as an error on the way to the acquirer.
    pub denied_until: Option<Timestamp>,
    /// The provider will take back that it has taken it.
    pub is_retracted: bool,
    /// What the payer has paid once more, where the provider has no payment of its own for it.
    pub added: i64,
    /// The payer has paid twice.
    pub is_paid_twice: bool,
    /// What was done last, in the words of the face.
    pub last: &'static str,
}

/// A capture that was asked for.
#[derive(Clone, Debug)]
pub struct Capture {
    pub id: String,
    /// Our name for it.
    pub reference: String,
    pub at: Timestamp,
    /// The provider will say that it has failed.
    pub fails: bool,
}

#[derive(Clone, Debug)]
pub struct Refund {
    pub id: String,
    pub reference: String,
    pub amount: i64,
    pub state: RefundState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundState {
    /// Received, and carried out later.
    UnderWay,
    Done,
    Failed,
}

/// A dispute.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: String,
    pub amount: i64,
    pub state: CaseState,
    /// When it was opened or ended last.
    pub at: Timestamp,
    pub ends: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseState {
    Open,
    Won,
    Lost,
}

/// Why the bank does not do what it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum No {
    /// It does not stand as it would have to.
    Standing,
    Amount,
    Disputed,
}

/// The money of a charge, or of all, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub reserved: i64,
    /// Taken, and neither given back nor charged back.
    pub kept: i64,
    /// Charged back.
    pub lost: i64,
    /// How many authorizations hold or have kept something.
    pub holding: usize,
    /// Of what is kept: paid once more, and added by the provider to the payment before. Nobody can be told of it but an
    /// operator.
    pub added: i64,
    /// How many were made while another one held something, or might.
    pub second: usize,
    /// How many may still take money: a payer has instructions, or the acquirer has not decided.
    pub waiting: usize,
}

impl Held {
    /// Whether somebody else counts as much as reserved and kept. What was added they may have counted, if they have heard of both
    /// payments as one.
    pub fn is(&self, counted: (i64, i64)) -> bool {
        let is = |added: i64| counted == (self.reserved, self.kept - added);
        is(0) || is(self.added)
    }
}

impl Payment {
    pub fn refunded(&self) -> i64 {
        self.refunds_in(RefundState::Done)
    }

    pub fn under_way(&self) -> i64 {
        self.refunds_in(RefundState::UnderWay)
    }

    fn refunds_in(&self, state: RefundState) -> i64 {
        self.refunds.iter().filter(|refund| refund.state == state).map(|refund| refund.amount).sum()
    }

    pub fn lost(&self) -> i64 {
        self.cases.iter().filter(|case| case.state == CaseState::Lost).map(|case| case.amount).sum()
    }

    /// What is kept and no open case is about.
    pub fn undisputed(&self) -> i64 {
        let open = self.cases.iter().filter(|case| case.state == CaseState::Open);
        self.kept() - open.map(|case| case.amount).sum::<i64>()
    }

    pub fn kept(&self) -> i64 {
        self.taken - self.refunded() - self.lost()
    }

    pub fn reserved(&self) -> i64 {
        if self.standing == Standing::Reserved { self.amount } else { 0 }
    }

    /// Until when the payer has instructions, if they have any.
    pub fn waits_until(&self) -> Option<Timestamp> {
        match self.standing {
            Standing::Waiting { until } => Some(until),
            Standing::Undecided
            | Standing::Refused
            | Standing::Expired
            | Standing::Reserved
            | Standing::Taken
            | Standing::Released => None,
        }
    }

    /// Whether it holds something or has kept it, what was charged back included.
    pub fn is_holding(&self) -> bool {
        self.reserved() + self.kept() + self.lost() > 0
    }

    pub fn is_disputed(&self) -> bool {
        self.cases.iter().any(|case| case.state != CaseState::Won)
    }

    /// Whether what follows the beginning of a dispute names the payment and not the dispute: the account of the merchant is set
    /// up so or not.
    pub fn names_itself_alone(&self) -> bool {
        self.face == Face::Adyen && self.account.bytes().map(u32::from).sum::<u32>() % 2 == 1
    }

    /// The case that can end so: an open one, or one whose end the card's scheme overturns.
    pub fn can_end(&self, end: CaseState, now: Timestamp) -> Option<usize> {
        let is_open = |case: &Case| case.state == CaseState::Open;
        let is_overturned = |case: &Case| {
            let has_money = match end {
                CaseState::Lost => self.undisputed() >= case.amount && self.under_way() == 0,
                CaseState::Open | CaseState::Won => true,
            };
            case.state != end && case.ends < ENDS_MAX && now.since(case.at) >= CASE_STANDS_FOR && has_money
        };
        let overturned = || self.cases.iter().position(is_overturned).filter(|_| self.face == Face::Adyen);
        self.cases.iter().position(is_open).or_else(overturned)
    }

    pub fn capture(&mut self, amount: i64, by: Capture) -> Result<(), No> {
        if self.standing != Standing::Reserved {
            return Err(No::Standing);
        }
        if amount > self.amount {
            return Err(No::Amount);
        }
        (self.standing, self.taken, self.captured_by) = (Standing::Taken, amount, Some(by));
        Ok(())
    }

    /// All of it is released.
    pub fn release(&mut self) -> Result<(), No> {
        if self.standing != Standing::Reserved && self.waits_until().is_none() {
            return Err(No::Standing);
        }
        (self.standing, self.is_retracted) = (Standing::Released, false);
        Ok(())
    }

    /// Whether the provider is going to take back that it has taken it.
    pub fn is_to_be_retracted(&self) -> bool {
        let is_held = matches!(self.standing, Standing::Reserved | Standing::Taken);
        self.is_retracted && is_held && self.is_untouched()
    }

    /// The capture of which the provider is going to say that it has failed.
    pub fn failing_capture(&self) -> Option<&Capture> {
        let is_held = self.standing == Standing::Taken && self.is_untouched();
        self.captured_by.as_ref().filter(|capture| capture.fails && is_held)
    }

    fn is_untouched(&self) -> bool {
        self.refunds.is_empty() && self.cases.is_empty()
    }

    pub fn refund(
        &mut self,
        id: String,
        reference: String,
        amount: i64,
        state: RefundState,
    ) -> Result<(), No> {
        if self.standing != Standing::Taken {
            return Err(No::Standing);
        }
        if self.is_disputed() {
            return Err(No::Disputed);
        }
        if amount < 1 || amount > self.kept() - self.under_way() {
            return Err(No::Amount);
        }
        self.refunds.push(Refund { id, reference, amount, state });
        Ok(())
    }

    /// The payer pays.
    pub fn pay(&mut self, amount: i64) {
        self.taken += amount;
        self.standing = Standing::Taken;
    }
}

#[derive(Default)]
pub struct Books {
    pub payments: Vec<Payment>,
    /// The charges of payments that were authorized while another one of the same charge held something, or might.
    second: Vec<Uuid>,
}

impl Books {
    pub fn held(&self, object_id: Option<Uuid>) -> Held {
        let mut held = Held::default();
        let of_charge = |payment: &&Payment| object_id.is_none_or(|id| payment.object_id == id);
        for payment in self.payments.iter().filter(of_charge) {
            held.reserved += payment.reserved();
            held.kept += payment.kept();
            held.lost += payment.lost();
            held.added += payment.added;
            // What was charged back was kept: no other authorization may be.
            held.holding += usize::from(payment.is_holding());
            held.waiting +=
                usize::from(payment.waits_until().is_some() || payment.standing == Standing::Undecided);
        }
        held.second = self.second.iter().filter(|of| object_id.is_none_or(|id| **of == id)).count();
        held
    }

    /// Writes a payment down, and whether the same charge might have had one before. The number of the payment.
    pub fn add(&mut self, payment: Payment) -> usize {
        let is_authorized = payment.is_holding()
            || matches!(payment.standing, Standing::Undecided | Standing::Waiting { .. });
        let may_hold = |other: &Payment| other.is_holding() || other.standing == Standing::Undecided;
        if is_authorized && self.of_charge(payment.object_id).any(may_hold) {
            self.second.push(payment.object_id);
        }
        self.payments.push(payment);
        self.payments.len() - 1
    }

    pub fn of_charge(&self, object_id: Uuid) -> impl Iterator<Item = &Payment> {
        self.payments.iter().filter(move |payment| payment.object_id == object_id)
    }

    pub fn find(&self, id: &str) -> Option<usize> {
        self.payments.iter().position(|payment| payment.id == id)
    }
}
