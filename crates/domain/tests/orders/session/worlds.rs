//! The worlds of a session that are explored, and how large they are.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::PaymentMethod;
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::session::{
    Capacity, Cards, DECLINES_MAX, OfferedMethod, Patch, Session, SessionStatus, Tally, Terms,
};
use serde_json::Map;

use super::sale::Requests;
use super::{Buyers, DUE};
use crate::bank::Decision::{self, Later, No, Yes};
use crate::bank::Sum;
use crate::charge::{NOW, Orders};
use crate::world::Left;
use crate::{all, card, explore, id, pix, world};

/// The states that were reached, and how many steps the deepest of them was away.
const TWICE: (usize, usize) = (25_968, 39);
const TWICE_NOTIFIED: (usize, usize) = (85_041, 30);
const MIXED: (usize, usize) = (68_534, 39);
const MIXED_SILENT: (usize, usize) = (7_556, 28);
const MIXED_CRASH: (usize, usize) = (3_873, 25);
const MIXED_ALL: (usize, usize) = (187_015, 35);
const RESERVED: (usize, usize) = (66_549, 41);
const RESERVED_CRASH: (usize, usize) = (83_891, 35);
const REVOKED: (usize, usize) = (9_612, 39);
const LESS: (usize, usize) = (9_338, 31);
const LESS_CANCELED: (usize, usize) = (22_759, 28);
const LESS_CANCELED_TWICE: (usize, usize) = (117_847, 47);
const CANCELED: (usize, usize) = (91_521, 52);
const CANCELED_NOTIFIED: (usize, usize) = (107_107, 31);
const CANCELED_CRASH: (usize, usize) = (18_747, 29);
const CANCELED_TWICE: (usize, usize) = (684_794, 62);
const DUE_CHANGED: (usize, usize) = (11_369, 28);
const DUE_CANCELED: (usize, usize) = (60_242, 38);
const DUE_GIVEN_BACK: (usize, usize) = (125_081, 33);
const LIMIT_RAISED: (usize, usize) = (7_924, 21);
const LIMIT_LOWERED: (usize, usize) = (29_111, 26);
const LIMIT_PIX: (usize, usize) = (5_145, 37);
const THREE: (usize, usize) = (137_853, 29);
const LAST_CARD: (usize, usize) = (1, 1);
const LAST_CARD_SILENT: (usize, usize) = (1, 1);
const LAST_CARD_CRASH: (usize, usize) = (1, 1);

fn session(capacity: Capacity, methods: &[PaymentMethod]) -> Session {
    let offered =
        |method: &PaymentMethod| OfferedMethod { payment_type: method.payment_type(), terms: Map::new() };
    let terms = Terms {
        name: None,
        description: None,
        statement_descriptor: None,
        provider_reference_key: None,
        capture: true,
        captcha_enabled: false,
        create_link: false,
        vendor: None,
        items: Vec::new(),
        methods: methods.iter().map(offered).collect(),
        split_rules: Vec::new(),
    };
    let session = Session {
        id: id(7),
        client_id: id(2),
        merchant_id: id(3),
        status: SessionStatus::Created,
        is_active: true,
        card_wanted: None,
        amount: Amount::new(150).unwrap(),
        currency: Currency::BRL,
        order_id: None,
        due_at: None,
        capacity,
        tally: Tally::default(),
        cards: Cards::default(),
        customers: 0,
        terms,
        entries: 0,
        unknown_members: Map::new(),
        version: 1,
        updated_at: NOW,
    };
    session.create().session
}

/// A world in which buyers with these methods come, and nothing goes wrong.
fn buyers(capacity: Capacity, methods: &[(PaymentMethod, &[Decision])]) -> Buyers {
    let offered: Vec<PaymentMethod> = methods.iter().map(|(method, _)| method.clone()).collect();
    let session = session(capacity, &offered);
    let orders = (1..).zip(methods).map(|(place, (method, authorizes))| {
        let mut orders = world(method.clone(), CaptureMode::Automatic, authorizes);
        orders.charge.explanation.considered.truncate(1);
        orders.charge.id = id(50 + place);
        orders.charge.session_id = Some(session.id);
        Orders { place, operates: vec![Yes], ..orders }
    });
    let alike = methods.windows(2).all(|pair| pair[0].0 == pair[1].0);
    Buyers {
        orders: orders.collect(),
        session,
        alike,
        left: Left::default(),
        requests: Requests::default(),
        patches: Vec::new(),
        expires: false,
        at_charge: 1,
        at_session: 2,
    }
}

/// One payer pays.
const ONCE: Left = Left { payments: 1, ..NOTHING };

/// Nothing happens but what buyers and nodes do.
const NOTHING: Left = Left {
    crashes: 0,
    silences: 0,
    repeats: 0,
    losses: 0,
    payments: 0,
    regrets: 0,
    captures: 0,
    voids: 0,
    withdrawals: 0,
    disputes: 0,
};

/// Two buyers with a Pix each.
fn two_pix(left: Left, capacity: Capacity) -> Buyers {
    let two = [(pix(), [Later].as_slice()), (pix(), [Later].as_slice())];
    Buyers { left, ..buyers(capacity, &two) }
}

fn one_pix(left: Left) -> Buyers {
    Buyers { left, ..buyers(Capacity::One, &[(pix(), [Later].as_slice())]) }
}

/// A buyer with a card and one with a Pix.
fn card_and_pix(left: Left) -> Buyers {
    let methods = [(card(), [Yes, No].as_slice()), (pix(), [Later].as_slice())];
    Buyers { left, ..buyers(Capacity::One, &methods) }
}

fn cards(number: usize, left: Left, capacity: Capacity) -> Buyers {
    let methods = vec![(card(), [Yes, No].as_slice()); number];
    Buyers { left, ..buyers(capacity, &methods) }
}

/// A change of the session by its merchant.
fn patch(is_active: bool) -> Patch {
    Patch { is_active, due_at: None, capacity: None, split_rules: None }
}

fn limit(is_active: bool, limit: u32) -> Patch {
    Patch { capacity: Some(Capacity::Many(limit)), ..patch(is_active) }
}

impl Buyers {
    fn with(mut self, change: impl Fn(&mut Orders)) -> Self {
        self.orders.iter_mut().for_each(change);
        self
    }

    fn notified(self) -> Self {
        self.with(|orders| orders.notifies = true)
    }

    fn notified_of_card(mut self) -> Self {
        self.orders[0].notifies = true;
        self
    }

    /// Captures and voids are refused, too.
    fn refused(self) -> Self {
        self.with(|orders| orders.operates = vec![Yes, No])
    }

    fn paid_less(self) -> Self {
        self.with(|orders| orders.sums = vec![Sum::Whole, Sum::Less])
    }

    /// What is taken by a card is reserved first.
    fn reserved(mut self) -> Self {
        self.orders[0].charge.capture = CaptureMode::Manual;
        self
    }

    fn canceled(mut self) -> Self {
        self.requests.cancels = 1;
        self
    }

    /// Its merchant makes one of these changes.
    fn changed(mut self, patches: &[Patch]) -> Self {
        self.requests.patches = 1;
        self.patches = patches.to_vec();
        self
    }

    fn due(mut self) -> Self {
        self.session.due_at = Some(DUE);
        self
    }

    fn at_two_nodes(self) -> Self {
        Self { at_charge: 2, ..self }
    }

    /// One card may be refused yet.
    fn before_last_card(mut self) -> Self {
        self.session.cards.refused = DECLINES_MAX - 1;
        self
    }

    fn expiring(self) -> Self {
        Self { expires: true, ..self }
    }

    #[track_caller]
    fn explore(self, name: &str, (states_min, depth_min): (usize, usize)) {
        explore(&format!("a session, {name}"), self, states_min, depth_min);
    }
}

#[test]
fn a_session_that_two_pix_pay_gives_one_of_them_back() {
    let twice = Left { payments: 2, ..NOTHING };
    two_pix(twice, Capacity::One).refused().at_two_nodes().explore("two Pix, refused voids", TWICE);
    if all() {
        let left = Left { losses: 1, ..twice };
        two_pix(left, Capacity::One).notified().explore("two Pix, a lost notification", TWICE_NOTIFIED);
    }
}

#[test]
fn a_session_is_paid_once_by_a_card_or_a_pix() {
    let left = Left { voids: 1, ..ONCE };
    card_and_pix(left).refused().at_two_nodes().explore("a card and a Pix, a refund", MIXED);
    let left = Left { silences: 1, ..ONCE };
    card_and_pix(left).explore("a card and a Pix, a call without an answer", MIXED_SILENT);
    let left = Left { crashes: 1, ..ONCE };
    card_and_pix(left).explore("a card and a Pix, a crash", MIXED_CRASH);
    if all() {
        let left = Left { silences: 1, crashes: 1, voids: 1, ..ONCE };
        card_and_pix(left).explore("a card and a Pix, all of these", MIXED_ALL);
    }
}

#[test]
fn a_session_follows_what_becomes_of_a_card() {
    let left = Left { captures: 1, voids: 1, ..ONCE };
    card_and_pix(left).reserved().refused().explore("a reservation and a Pix, a capture, a void", RESERVED);
    let left = Left { regrets: 1, ..ONCE };
    card_and_pix(left).notified_of_card().explore("a card and a Pix, an approval taken back", REVOKED);
    if all() {
        let left = Left { captures: 1, voids: 1, crashes: 1, ..ONCE };
        card_and_pix(left).reserved().explore("a reservation and a Pix, a crash", RESERVED_CRASH);
    }
}

#[test]
fn a_session_is_not_paid_by_less() {
    let left = Left { payments: 2, captures: 1, ..NOTHING };
    two_pix(left, Capacity::One).paid_less().explore("two Pix, whole or less, a capture", LESS);
    let left = Left { captures: 1, voids: 1, ..ONCE };
    one_pix(left).paid_less().canceled().explore("a Pix, whole or less, canceled", LESS_CANCELED);
    if all() {
        let orders = two_pix(ONCE, Capacity::One).paid_less().refused().canceled();
        orders.explore("two Pix, whole or less, canceled", LESS_CANCELED_TWICE);
    }
}

#[test]
fn a_canceled_session_keeps_nothing_that_is_paid_later() {
    card_and_pix(ONCE).refused().canceled().explore("a card and a Pix, canceled", CANCELED);
    let left = Left { losses: 1, repeats: 1, ..ONCE };
    let orders = one_pix(left).notified().expiring().canceled();
    orders.explore("a Pix, canceled, notifications lost and doubled", CANCELED_NOTIFIED);
    let left = Left { crashes: 1, ..ONCE };
    one_pix(left).expiring().canceled().explore("a Pix, canceled, a crash", CANCELED_CRASH);
    if all() {
        let left = Left { payments: 2, ..NOTHING };
        two_pix(left, Capacity::One).refused().canceled().explore("two Pix, canceled", CANCELED_TWICE);
    }
}

#[test]
fn a_session_ends_with_its_due_date() {
    let on = Patch { due_at: Some(None), ..patch(true) };
    let orders = card_and_pix(ONCE).due().changed(&[patch(true), on.clone()]);
    orders.explore("a card and a Pix, due, switched on", DUE_CHANGED);
    card_and_pix(ONCE).due().canceled().explore("a card and a Pix, due, canceled", DUE_CANCELED);
    if all() {
        let left = Left { voids: 1, ..ONCE };
        let orders = card_and_pix(left).due().changed(&[patch(true), on, patch(false)]);
        orders.explore("a card and a Pix, due, changed, a refund", DUE_GIVEN_BACK);
    }
}

#[test]
fn a_session_is_paid_as_often_as_its_limit_says() {
    let left = Left { voids: 1, ..NOTHING };
    let changes = [patch(false), limit(true, 2), limit(true, 1)];
    let orders = cards(2, left, Capacity::Many(1)).refused().changed(&changes);
    orders.explore("two cards, a limit that is raised, a refund", LIMIT_RAISED);
    let changes = [patch(false), limit(true, 1), limit(false, 1)];
    let orders = cards(2, left, Capacity::Many(2)).changed(&changes);
    orders.explore("two cards, a limit that is lowered, a refund", LIMIT_LOWERED);
    let twice = Left { payments: 2, ..NOTHING };
    let orders = two_pix(twice, Capacity::Many(1)).refused().changed(&[patch(true), patch(false)]);
    orders.explore("two Pix, a limit of one, switched on or off", LIMIT_PIX);
    if all() {
        let left = Left { crashes: 1, ..NOTHING };
        cards(3, left, Capacity::Many(2)).explore("three cards, a limit of two, a crash", THREE);
    }
}

#[test]
fn a_session_tries_no_more_cards_than_may_be_refused() {
    let orders = cards(2, NOTHING, Capacity::Unlimited).before_last_card().changed(&[patch(true)]);
    orders.explore("two cards, one may be refused, switched on", LAST_CARD);
    let left = Left { silences: 1, ..NOTHING };
    let orders = cards(2, left, Capacity::Unlimited).before_last_card();
    orders.explore("two cards, one may be refused, a call without an answer", LAST_CARD_SILENT);
    if all() {
        let left = Left { crashes: 1, ..NOTHING };
        let orders = cards(2, left, Capacity::Unlimited).before_last_card().changed(&[patch(true)]);
        orders.explore("two cards, one may be refused, switched on, a crash", LAST_CARD_CRASH);
    }
}
