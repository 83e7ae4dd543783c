//! The worlds of payouts that are explored, how large they are, and the faults that must be found in them.

use std::collections::BTreeSet;

use jiff::civil::{Date, date};
use regente_domain::business_days::Calendar;
use regente_domain::money::Amount;
use regente_domain::payout::method::PayoutMethod;
use regente_domain::percentage::Percentage;
use regente_domain::plan::{Fee, PlanMethod, Policy, Recurrence, Terms};
use regente_domain::prepayment::{Offers, PrepaymentStatus, Rates, receivables};
use stateright::{Checker, HasDiscoveries, Model};

use super::bank::Bank;
use super::held::{AS_THE_BANK, BATCH_OF_ORDERS, DEBT_ONCE, ONE_PAID_BATCH, ONE_TRANSFER};
use super::node::Task;
use super::paying::{Debt, May, Node, Paying};
use super::{Fault, News, Payouts, Sale};
use crate::{all, explore};

/// The states that were reached, and how many steps the deepest of them was away.
const SILENT: (usize, usize) = (3_602, 29);
const ALL_FAULTS: (usize, usize) = (243_206, 48);
const GIVEN_BACK: (usize, usize) = (685, 32);
const TAKEN_BACK: (usize, usize) = (29_167, 36);
const TAKEN_BACK_AGAIN: (usize, usize) = (939_023, 56);
const OWED: (usize, usize) = (36_121, 38);
const DUE_AGAIN: (usize, usize) = (52_314, 43);
const OWED_AGAIN: (usize, usize) = (1_175_799, 50);
const PREPAID: (usize, usize) = (3_072, 27);
const PREPAID_TWICE: (usize, usize) = (2_322, 29);
const PREPAID_ALL: (usize, usize) = (357_992, 39);

const MONDAY: Date = date(2026, 3, 23);

const PIX: Sale = Sale { method: PayoutMethod::Pix, amount: 1_000 };
const SMALL_PIX: Sale = Sale { method: PayoutMethod::Pix, amount: 400 };
const CARD: Sale = Sale { method: PayoutMethod::Credit, amount: 500 };

/// Charges of which two per cent are kept; a card is paid after `days`, a Pix after one.
fn payouts(sales: &[Sale], days: u16, left: May) -> Payouts {
    let fee = |payment_method| Fee {
        payment_method,
        brand: None,
        installments_from: None,
        installments_to: None,
        percentage: Some(Percentage::from_hundredths(200)),
        fixed_amount: None,
    };
    let policy = Policy {
        payment_method: PlanMethod::Credit,
        payout_term_days: days,
        payout_recurrence: Recurrence::Daily,
        payout_day: None,
    };
    let rate = Percentage::from_hundredths;
    Payouts {
        sales: sales.to_vec(),
        terms: Terms { policies: vec![policy], fees: [PlanMethod::Credit, PlanMethod::Pix].map(fee).into() },
        refund: 600,
        offers: Vec::new(),
        rates: Rates { monthly_rate: rate(150), markup: rate(200) },
        paid_on: Calendar::NATIONAL.after(MONDAY),
        today: MONDAY,
        left,
        fault: None,
    }
}

impl Payouts {
    /// The first charge is captured, and its orders are written.
    pub(super) fn initial(&self) -> Paying {
        let nothing = Paying {
            today: self.today,
            charges: Vec::new(),
            orders: Vec::new(),
            batches: Vec::new(),
            debt: Debt::default(),
            prepayments: vec![PrepaymentStatus::Pending; self.offers.len()],
            paydays: BTreeSet::new(),
            nodes: [Node::Idle, Node::Idle],
            bank: Bank::default(),
            left: May { captures: 1, ..May::default() },
        };
        let captured = self.news(&nothing, News::Captured).unwrap();
        let begun = self.begin(&captured, 0, Task::Orders(0)).unwrap();
        let Node::Writes(plan) = begun.nodes[0].clone() else { panic!("orders are written") };
        let mut written = begun;
        self.write(&mut written, 0, plan);
        Paying { left: self.left, ..written }
    }

    /// So many offers of all that the first charge brings later.
    fn offered(self, times: usize) -> Self {
        let orders: Vec<_> = self.initial().orders.iter().map(|order| (**order).clone()).collect();
        let mut offers = Offers::at(self.rates);
        let items: Vec<_> = receivables(&orders, self.paid_on)
            .into_iter()
            .map(|receivable| offers.item(self.paid_on, receivable))
            .collect();
        assert!(items.iter().all(|item| item.net < item.gross && item.net > Amount::ZERO));
        Self { offers: vec![items; times], ..self }
    }
}

/// A planted fault breaks this property.
#[track_caller]
fn finds(fault: Fault, payouts: Payouts, property: &'static str) {
    let broken = Payouts { fault: Some(fault), ..payouts };
    let wanted = HasDiscoveries::AllOf([property].into());
    let explored = broken.checker().threads(1).finish_when(wanted).spawn_bfs().join();
    assert!(explored.discovery(property).is_some(), "{fault:?} is not found");
}

/// A Pix that is paid out, and a call that is not answered.
fn silent() -> Payouts {
    payouts(&[PIX], 1, May { silences: 1, refusals: 1, crashes: 1, twins: 1, ..May::default() })
}

/// A Pix that is paid out and comes back.
fn given_back() -> Payouts {
    payouts(&[PIX], 1, May { delays: 1, returns: 1, silences: 1, ..May::default() })
}

/// A Pix that is charged back, and a card that sets off what is owed.
fn owed() -> Payouts {
    payouts(&[PIX, CARD], 1, May { captures: 1, charge_backs: 1, twins: 1, ..May::default() })
}

/// Two Pix, of which the first may be due again while the second one is paid out.
fn due_again() -> Payouts {
    payouts(&[PIX, SMALL_PIX], 1, May { captures: 1, refusals: 1, twins: 2, ..May::default() })
}

#[test]
fn a_transfer_is_made_once_although_it_is_not_answered_and_nodes_die() {
    explore("a payout, an unanswered call, a refusal, a crash, two nodes", silent(), SILENT.0, SILENT.1);
    if all() {
        let left =
            May { silences: 2, delays: 1, refusals: 1, returns: 1, crashes: 1, twins: 2, ..May::default() };
        let payouts = payouts(&[PIX], 1, left);
        explore("a payout, all that a bank does, two nodes", payouts, ALL_FAULTS.0, ALL_FAULTS.1);
    }
}

#[test]
fn what_comes_back_is_paid_again() {
    explore("a payout, late, given back, an unanswered call", given_back(), GIVEN_BACK.0, GIVEN_BACK.1);
}

#[test]
fn what_is_taken_back_is_deducted_whenever_it_comes() {
    let left = May { refunds: 1, charge_backs: 1, reversals: 1, twins: 1, ..May::default() };
    let taken_back = payouts(&[PIX], 1, left);
    explore("a payout, a refund, a charge back, undone", taken_back, TAKEN_BACK.0, TAKEN_BACK.1);
    if all() {
        let left = May {
            refunds: 1,
            charge_backs: 1,
            refusals: 1,
            returns: 1,
            crashes: 1,
            twins: 1,
            ..May::default()
        };
        let payouts = payouts(&[PIX], 1, left);
        explore(
            "a payout, a refund, a charge back, refused",
            payouts,
            TAKEN_BACK_AGAIN.0,
            TAKEN_BACK_AGAIN.1,
        );
    }
}

#[test]
fn a_debt_is_set_off_once() {
    explore("two payouts, a charge back, a debt", owed(), OWED.0, OWED.1);
    explore("two payouts, one is refused", due_again(), DUE_AGAIN.0, DUE_AGAIN.1);
    if all() {
        let left = May { captures: 1, charge_backs: 1, refusals: 1, twins: 1, crashes: 1, ..May::default() };
        let payouts = payouts(&[PIX, CARD], 1, left);
        explore(
            "two payouts, a charge back, a debt, one is refused, a crash",
            payouts,
            OWED_AGAIN.0,
            OWED_AGAIN.1,
        );
    }
}

#[test]
fn a_receivable_is_paid_early_once() {
    let left = May { commits: 2, twins: 1, refunds: 1, ..May::default() };
    let one = payouts(&[CARD], 30, left).offered(1);
    explore("a prepayment, accepted twice, a refund", one, PREPAID.0, PREPAID.1);
    let left = May { commits: 2, twins: 1, refusals: 1, ..May::default() };
    let two = payouts(&[CARD], 30, left).offered(2);
    explore("two prepayments of one receivable, refused", two, PREPAID_TWICE.0, PREPAID_TWICE.1);
    if all() {
        let left = May {
            commits: 3,
            twins: 2,
            refunds: 1,
            charge_backs: 1,
            refusals: 1,
            crashes: 1,
            ..May::default()
        };
        let payouts = payouts(&[CARD], 30, left).offered(2);
        explore("two prepayments, a refund, a charge back", payouts, PREPAID_ALL.0, PREPAID_ALL.1);
    }
}

#[test]
fn planted_faults_are_found() {
    finds(Fault::AnotherName, silent(), ONE_TRANSFER);
    finds(Fault::UnknownIsRefused, silent(), ONE_PAID_BATCH);
    finds(Fault::DebtUnguarded, owed(), DEBT_ONCE);
    finds(Fault::FirstDebtUnguarded, due_again(), BATCH_OF_ORDERS);
    finds(Fault::OneLook, given_back(), AS_THE_BANK);
}
