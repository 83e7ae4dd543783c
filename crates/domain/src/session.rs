//! A session: an order that a buyer pays by a link or in a shop. This module holds its facts and what its merchant does
//! with it; [`payment`] says what its charges make of it.

pub mod payment;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::charge::words::words;
use crate::charge::{PaymentType, later_of};
use crate::currency::Currency;
use crate::id::{ClientId, Id, MerchantId, SessionId, of};
use crate::money::Amount;
use crate::time::Timestamp;
use crate::webhook::EventName;

words! {
    /// `status` of a session (`docs/interface/sessions.md#states`).
    SessionStatus {
        /// It can be paid, or could be if it were active.
        Created = "created",
        /// It was paid.
        Paid = "paid",
        /// Its merchant has canceled it.
        Canceled = "canceled",
        /// What was paid was given back.
        Voided = "voided",
    }
}

words! {
    /// `status` of an entry of the history: that of the session, or that it was switched off by itself.
    EntryStatus {
        /// [`SessionStatus::Created`].
        Created = "created",
        /// [`SessionStatus::Paid`].
        Paid = "paid",
        /// [`SessionStatus::Canceled`].
        Canceled = "canceled",
        /// [`SessionStatus::Voided`].
        Voided = "voided",
        /// Switched off by its due date or its limit.
        Disabled = "disabled",
    }
}

words! {
    /// What happened at an entry of the history.
    SessionAction {
        /// The status changed.
        StatusChanged = "statusChanged",
        /// A buyer has paid.
        PaymentSucceeded = "paymentSucceeded",
        /// A buyer has instructions for a payment.
        PaymentPending = "paymentPending",
        /// A buyer did not pay in time.
        PaymentExpired = "paymentExpired",
        /// It was paid as often as it may be.
        ExpiredByMaxPayments = "sessionExpiredByMaxPayments",
        /// Its due date has passed.
        ExpiredByDueDate = "sessionExpiredByDueDate",
        /// Its merchant has switched it on or off, or changed its terms.
        IsActiveChanged = "isActiveChanged",
    }
}

words! {
    /// `multiplePayments.status`: whether a payment can start.
    Availability {
        /// It can.
        Active = "active",
        /// It cannot now.
        Disabled = "disabled",
        /// It never will.
        Canceled = "canceled",
    }
}

/// How often a session can be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Once.
    One,
    /// So many times.
    Many(u32),
    /// As often as buyers like.
    Unlimited,
}

impl Capacity {
    /// `maxPayments` of an unlimited session.
    pub const UNLIMITED: i64 = -1;
    /// The highest finite `maxPayments`.
    pub const PAYMENTS_MAX: u32 = 99_999;

    /// From `maxPayments`; `None` when it is out of range.
    pub fn of(max_payments: Option<i64>) -> Option<Self> {
        match max_payments {
            None => Some(Self::One),
            Some(Self::UNLIMITED) => Some(Self::Unlimited),
            Some(number) => match u32::try_from(number) {
                Ok(number @ 1..=Self::PAYMENTS_MAX) => Some(Self::Many(number)),
                Ok(_) | Err(_) => None,
            },
        }
    }

    /// `maxPayments`.
    pub fn max_payments(self) -> Option<i64> {
        match self {
            Self::One => None,
            Self::Many(number) => Some(i64::from(number)),
            Self::Unlimited => Some(Self::UNLIMITED),
        }
    }

    /// Whether it ends with the first payment: then instructions that nobody has paid yet keep no other buyer off.
    pub const fn is_single(self) -> bool {
        matches!(self, Self::One | Self::Many(1))
    }

    const fn limit(self) -> Option<i64> {
        match self {
            Self::One => Some(1),
            Self::Many(number) => Some(number as i64),
            Self::Unlimited => None,
        }
    }
}

/// The payments of a session by where they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// A provider is being asked.
    pub authorizing: i64,
    /// A buyer has instructions and has not paid.
    pub pending: i64,
    /// They were made, also those that were given back since.
    pub paid: i64,
    /// Those of them that were given back in full.
    pub returned: i64,
}

/// One item of the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its id, which never changes.
    pub id: Id<of::SessionItem>,
    /// What it is.
    pub name: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The price of one, in minor units.
    pub unit_price: Amount,
    /// How many.
    pub quantity: i64,
    /// Whether it can be touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tangible: Option<bool>,
    /// The merchant's own category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category_id: Option<String>,
}

/// A payment method that a session offers, with its terms as a charge takes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferedMethod {
    /// The method.
    pub payment_type: PaymentType,
    /// Its terms.
    #[serde(flatten)]
    pub terms: Map<String, Value>,
}

impl OfferedMethod {
    /// The methods that sessions offer.
    pub const TYPES: [PaymentType; 6] = [
        PaymentType::Credit,
        PaymentType::Pix,
        PaymentType::Boleto,
        PaymentType::Drip,
        PaymentType::Nupay,
        PaymentType::ClickToPay,
    ];
}

/// What is sold, and on which terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// The name of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Text on the buyer's statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_descriptor: Option<String>,
    /// Reference handed to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_reference_key: Option<String>,
    /// Whether the amount is captured at once.
    pub capture: bool,
    /// Whether the hosted page asks for a CAPTCHA.
    pub captcha_enabled: bool,
    /// Whether it has a payment link.
    pub create_link: bool,
    /// What is sold.
    pub items: Vec<Item>,
    /// How it can be paid; one entry for each method.
    pub methods: Vec<OfferedMethod>,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id; the time of creation is the id's own.
    pub id: SessionId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The merchant whose providers process its charges.
    pub merchant_id: MerchantId,
    /// Its status.
    pub status: SessionStatus,
    /// Whether it is switched on.
    pub is_active: bool,
    /// What a buyer pays.
    pub amount: Amount,
    /// The currency of the amount.
    pub currency: Currency,
    /// The merchant's own reference; not unique.
    pub order_id: Option<String>,
    /// When it can be paid no longer.
    pub due_at: Option<Timestamp>,
    /// How often it can be paid.
    pub capacity: Capacity,
    /// Its payments.
    pub tally: Tally,
    /// How many cards of its buyers were refused.
    pub declines: i64,
    /// What is sold, and on which terms.
    pub terms: Terms,
    /// Number of entries of its history.
    pub entries: i64,
    /// Top-level members of the stored document that this release does not know; kept unchanged.
    pub unknown_members: Map<String, Value>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed; always grows.
    pub updated_at: Timestamp,
}

/// How many refused cards a session takes before it takes no card any more (`docs/interface/sessions.md#limits`).
pub const DECLINES_MAX: i64 = 10;

/// An entry to add to the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// Its index in the history.
    pub ordinal: i64,
    /// What the session was after it.
    pub status: EntryStatus,
    /// What happened; the first is the main one.
    pub actions: Vec<SessionAction>,
    /// The differences.
    pub diff: Value,
}

/// A session after a change, with what is recorded and announced with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The session after the change.
    pub session: Session,
    /// The new entries of its history.
    pub entries: Vec<NewEntry>,
    /// The events to announce.
    pub announces: Vec<EventName>,
}

/// Why a payment cannot start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPayable {
    /// It is paid, canceled, switched off or past its due date, or another buyer is paying.
    Disabled,
    /// It was paid as often as it may be, or buyers have instructions for the rest.
    LimitReached,
    /// Too many cards were refused.
    NoMoreCards,
}

/// Why a session is not canceled: it is in this status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotCancelable(pub SessionStatus);

/// A change of a session by its merchant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Whether it is switched on.
    pub is_active: bool,
    /// The new due date, or none.
    pub due_at: Option<Option<Timestamp>>,
    /// The new limit of a session that can be paid several times.
    pub capacity: Option<Capacity>,
}

/// Why a change is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchRefusal {
    /// A session that is paid once has no limit to change.
    NoLimit,
    /// Pix and boleto do not go with a limit above one.
    PixOrBoletoWithLimit,
    /// It was paid by Pix or boleto, once, and is not switched on again.
    Consumed,
    /// It is in this status.
    Status(SessionStatus),
    /// Its due date has passed.
    PastDue,
    /// It was paid as often as it may be.
    LimitReached,
}

impl Session {
    /// The change that adds a session.
    pub fn create(self) -> Advance {
        let announces = vec![EventName::SessionCreated];
        let mut draft = Draft { session: self, entries: Vec::new(), announces };
        draft.note(&[SessionAction::StatusChanged], status_changed(None, SessionStatus::Created));
        draft.done()
    }

    /// Whether a payment can start.
    pub fn availability(&self, now: Timestamp) -> Availability {
        match self.status {
            SessionStatus::Canceled | SessionStatus::Voided => Availability::Canceled,
            SessionStatus::Created if self.is_open(now) && !self.is_full() => Availability::Active,
            SessionStatus::Created | SessionStatus::Paid => Availability::Disabled,
        }
    }

    /// Whether its key may still make tokens, cards and customers: a payment can start, or one is under way.
    pub fn takes_buyers(&self, now: Timestamp) -> bool {
        self.status == SessionStatus::Created && self.is_open(now)
    }

    /// Whether a payment by this method may start.
    ///
    /// # Errors
    /// What [`NotPayable`] says.
    pub fn must_take(&self, payment_type: PaymentType, now: Timestamp) -> Result<(), NotPayable> {
        if !self.takes_buyers(now) {
            return Err(match self.is_over_limit() {
                true => NotPayable::LimitReached,
                false => NotPayable::Disabled,
            });
        }
        let is_card = match payment_type {
            PaymentType::Credit | PaymentType::Debit | PaymentType::Voucher => true,
            PaymentType::Pix
            | PaymentType::Boleto
            | PaymentType::Nupay
            | PaymentType::Drip
            | PaymentType::Picpay
            | PaymentType::ApplePay
            | PaymentType::ClickToPay => false,
        };
        if is_card && self.declines >= DECLINES_MAX {
            return Err(NotPayable::NoMoreCards);
        }
        let taken = self.tally.paid + self.tally.authorizing;
        match self.capacity {
            Capacity::One if taken > 0 => Err(NotPayable::Disabled),
            Capacity::Many(1) if taken > 0 => Err(NotPayable::LimitReached),
            Capacity::Many(limit) if limit > 1 && taken + self.tally.pending >= i64::from(limit) => {
                Err(NotPayable::LimitReached)
            }
            Capacity::One | Capacity::Many(_) | Capacity::Unlimited => Ok(()),
        }
    }

    /// The offer of a method.
    pub fn offer(&self, payment_type: PaymentType) -> Option<&OfferedMethod> {
        self.terms.methods.iter().find(|method| method.payment_type == payment_type)
    }

    /// The merchant cancels it; `None` when that was done before.
    ///
    /// # Errors
    /// [`NotCancelable`] when it is paid.
    pub fn cancel(&self, now: Timestamp) -> Result<Option<Advance>, NotCancelable> {
        match self.status {
            SessionStatus::Canceled => return Ok(None),
            SessionStatus::Paid | SessionStatus::Voided => return Err(NotCancelable(self.status)),
            SessionStatus::Created => {}
        }
        let mut draft = Draft::of(self, now);
        draft.session.is_active = false;
        draft.move_to(SessionStatus::Canceled, EventName::SessionCanceled);
        Ok(Some(draft.done()))
    }

    /// It is switched off when its due date has passed.
    pub fn expire(&self, now: Timestamp) -> Option<Advance> {
        let due_at = self.due_at.filter(|due_at| *due_at <= now)?;
        if self.status != SessionStatus::Created || !self.is_active {
            return None;
        }
        let mut draft = Draft::of(self, now);
        draft.switch_off(
            SessionAction::ExpiredByDueDate,
            json!({ "reason": "expired by due date", "expiredAt": due_at }),
        );
        Some(draft.done())
    }

    /// The merchant changes it; `None` when nothing changes.
    ///
    /// # Errors
    /// What [`PatchRefusal`] says.
    pub fn patch(&self, patch: Patch, now: Timestamp) -> Result<Option<Advance>, PatchRefusal> {
        if patch.capacity.is_some() && self.capacity == Capacity::One {
            return Err(PatchRefusal::NoLimit);
        }
        let after = Self {
            is_active: patch.is_active,
            due_at: patch.due_at.unwrap_or(self.due_at),
            capacity: patch.capacity.unwrap_or(self.capacity),
            ..self.clone()
        };
        if patch.is_active && self.is_consumed_by_pix_or_boleto() {
            return Err(PatchRefusal::Consumed);
        }
        if after.capacity.limit().is_some_and(|limit| limit > 1) && self.offers_pix_or_boleto() {
            return Err(PatchRefusal::PixOrBoletoWithLimit);
        }
        if patch.is_active {
            match self.status {
                SessionStatus::Created => {}
                SessionStatus::Paid | SessionStatus::Canceled | SessionStatus::Voided => {
                    return Err(PatchRefusal::Status(self.status));
                }
            }
            if after.due_at.is_some_and(|due_at| due_at <= now) {
                return Err(PatchRefusal::PastDue);
            }
            if after.is_over_limit() {
                return Err(PatchRefusal::LimitReached);
            }
        }
        let mut changes = Map::new();
        let mut compare = |name: &str, from: Value, to: Value| {
            if from != to {
                changes.insert(name.to_owned(), json!({ "from": from, "to": to }));
            }
        };
        compare("isActive", json!(self.is_active), json!(after.is_active));
        compare("dueDate", json!(self.due_at), json!(after.due_at));
        compare("maxPayments", json!(self.capacity.max_payments()), json!(after.capacity.max_payments()));
        if changes.is_empty() {
            return Ok(None);
        }
        let mut draft = Draft::of(self, now);
        let Self { is_active, due_at, capacity, .. } = after;
        draft.session = Self { is_active, due_at, capacity, ..draft.session };
        draft.note(&[SessionAction::IsActiveChanged], json!({ "changes": changes }));
        Ok(Some(draft.done()))
    }

    /// Whether Pix or boleto are among its methods.
    pub fn offers_pix_or_boleto(&self) -> bool {
        self.terms.offer_pix_or_boleto()
    }

    fn is_consumed_by_pix_or_boleto(&self) -> bool {
        let is_consumed = match self.capacity {
            Capacity::One => self.status == SessionStatus::Paid && self.tally.paid == 1,
            Capacity::Many(1) => self.tally.paid == 1,
            Capacity::Many(_) | Capacity::Unlimited => false,
        };
        is_consumed && self.offers_pix_or_boleto()
    }

    fn is_open(&self, now: Timestamp) -> bool {
        self.is_active && self.due_at.is_none_or(|due_at| due_at > now)
    }

    /// Whether it was paid as often as a session that can be paid several times may be.
    fn is_over_limit(&self) -> bool {
        self.capacity != Capacity::One && self.capacity.limit().is_some_and(|limit| self.tally.paid >= limit)
    }

    /// Whether payments and instructions fill it.
    fn is_full(&self) -> bool {
        let pending = if self.capacity.is_single() { 0 } else { self.tally.pending };
        self.capacity.limit().is_some_and(|limit| self.tally.paid + pending >= limit)
    }
}

impl Terms {
    /// Whether Pix or boleto are among the methods.
    pub fn offer_pix_or_boleto(&self) -> bool {
        self.methods
            .iter()
            .any(|method| matches!(method.payment_type, PaymentType::Pix | PaymentType::Boleto))
    }
}

/// A change that is being made.
struct Draft {
    session: Session,
    entries: Vec<NewEntry>,
    announces: Vec<EventName>,
}

impl Draft {
    fn of(before: &Session, now: Timestamp) -> Self {
        let session = Session {
            version: before.version + 1,
            updated_at: later_of(now, before.updated_at),
            ..before.clone()
        };
        Self { session, entries: Vec::new(), announces: Vec::new() }
    }

    fn done(self) -> Advance {
        Advance { session: self.session, entries: self.entries, announces: self.announces }
    }

    /// Adds an entry with the status that the session has now.
    fn note(&mut self, actions: &[SessionAction], diff: Value) {
        let status = match self.session.status {
            SessionStatus::Created => EntryStatus::Created,
            SessionStatus::Paid => EntryStatus::Paid,
            SessionStatus::Canceled => EntryStatus::Canceled,
            SessionStatus::Voided => EntryStatus::Voided,
        };
        self.note_as(status, actions, diff);
    }

    fn note_as(&mut self, status: EntryStatus, actions: &[SessionAction], diff: Value) {
        let ordinal = self.session.entries;
        self.session.entries += 1;
        self.entries.push(NewEntry { ordinal, status, actions: actions.to_vec(), diff });
    }

    /// Changes the status, says so in the history and announces it.
    fn move_to(&mut self, status: SessionStatus, event: EventName) {
        let diff = status_changed(Some(self.session.status), status);
        self.session.status = status;
        self.note(&[SessionAction::StatusChanged], diff);
        self.announces.push(event);
    }

    /// Switches it off by itself.
    fn switch_off(&mut self, action: SessionAction, mut diff: Value) {
        self.session.is_active = false;
        diff["changes"] = json!({ "isActive": { "from": true, "to": false, "reason": action.word() } });
        self.note_as(EntryStatus::Disabled, &[action], diff);
        self.announces.push(EventName::SessionDisabled);
    }
}

fn status_changed(from: Option<SessionStatus>, to: SessionStatus) -> Value {
    json!({ "changes": { "status": { "from": from.map(SessionStatus::word), "to": to.word() } } })
}
