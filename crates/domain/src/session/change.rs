//! What a merchant does with a session, its due date, and how a change is recorded and announced.

use deserr::Deserr;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::sent::DueDate;
use super::{Capacity, Cards, EntryStatus, Session, SessionAction, SessionStatus};
use crate::problems::Problems;
use crate::split::{self, NewSplitRule, SELLERS_MAX, SentSplitRules, SplitRule};
use crate::time::{Timestamp, later_of};
use crate::webhook::EventName;
use crate::wire::{self, List};

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

/// Why a session is not canceled: it is in this status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotCancelable(pub SessionStatus);

/// What a merchant changes of a session.
#[derive(Clone, Debug, PartialEq, Eq, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = SessionChanges, rename_all = "camelCase", example = json!({ "isActive": false }))]
#[expect(missing_docs, reason = "the name says it")]
pub struct Patch {
    pub is_active: bool,
    /// From today on, by the days of São Paulo; null removes it.
    #[deserr(rename = "dueDate", default, from(wire::Patch<DueDate>) = due_date)]
    #[schema(rename = "dueDate", value_type = Option<String>)]
    pub due_at: Option<Option<Timestamp>>,
    /// Of a session that can be paid several times.
    #[deserr(rename = "maxPayments", default)]
    #[schema(rename = "maxPayments", value_type = Option<i64>, minimum = -1, maximum = 99_999)]
    pub capacity: Option<Capacity>,
    /// How later charges are divided among sellers; null or an empty list for no division.
    #[deserr(default, from(wire::Patch<SentSplitRules>) = division)]
    #[schema(value_type = Option<SplitRules>)]
    pub split_rules: Option<Vec<SplitRule>>,
}

type SplitRules = List<NewSplitRule, 0, SELLERS_MAX>;

fn due_date(sent: wire::Patch<DueDate>) -> Option<Option<Timestamp>> {
    sent.map(Timestamp::from).into()
}

fn division(sent: wire::Patch<SentSplitRules>) -> Option<Vec<SplitRule>> {
    match sent {
        wire::Patch::Leave => None,
        wire::Patch::Remove => Some(Vec::new()),
        wire::Patch::Set(SentSplitRules(rules)) => Some(rules),
    }
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
    /// The card that it was for was given.
    CardGiven,
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
    pub fn patch(&self, patch: &Patch, now: Timestamp) -> Result<Option<Advance>, PatchRefusal> {
        if patch.is_active && self.is_consumed_by_pix_or_boleto() {
            return Err(PatchRefusal::Consumed);
        }
        if patch.is_active && self.card_wanted.is_some_and(|wanted| wanted.given.is_some()) {
            return Err(PatchRefusal::CardGiven);
        }
        if patch.capacity.is_some() && self.capacity == Capacity::One {
            return Err(PatchRefusal::NoLimit);
        }
        let after = Self {
            is_active: patch.is_active,
            due_at: patch.due_at.unwrap_or(self.due_at),
            capacity: patch.capacity.unwrap_or(self.capacity),
            cards: if patch.is_active { Cards { refused: 0, ..self.cards } } else { self.cards },
            ..self.clone()
        }
        .divided(patch.split_rules.as_deref());
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
        compare("refusedCards", json!(self.cards.refused), json!(after.cards.refused));
        let mut actions = Vec::new();
        if !changes.is_empty() {
            actions.push(SessionAction::IsActiveChanged);
        }
        let (from, to) = (&self.terms.split_rules, &after.terms.split_rules);
        if !split::are_alike(from, to) {
            let (from, to) = (split::told(from), split::told(to));
            changes.insert("splitRules".to_owned(), json!({ "from": from, "to": to }));
            actions.push(SessionAction::SplitRulesChanged);
        }
        if actions.is_empty() {
            return Ok(None);
        }
        let mut draft = Draft::of(self, now);
        let Self { is_active, due_at, capacity, cards, terms, .. } = after;
        draft.session = Self { is_active, due_at, capacity, cards, terms, ..draft.session };
        draft.note(&actions, json!({ "changes": changes }));
        Ok(Some(draft.done()))
    }

    /// With other rules, unless they say the same.
    fn divided(mut self, rules: Option<&[SplitRule]>) -> Self {
        if let Some(rules) = rules.filter(|rules| !split::are_alike(rules, &self.terms.split_rules)) {
            self.terms.split_rules = rules.to_vec();
        }
        self
    }

    fn is_consumed_by_pix_or_boleto(&self) -> bool {
        let is_consumed = match self.capacity {
            Capacity::One => self.status == SessionStatus::Paid && self.tally.paid == 1,
            Capacity::Many(1) => self.tally.paid == 1,
            Capacity::Many(_) | Capacity::Unlimited => false,
        };
        is_consumed && self.offers_pix_or_boleto()
    }
}

/// A change that is being made.
pub(super) struct Draft {
    pub(super) session: Session,
    pub(super) entries: Vec<NewEntry>,
    pub(super) announces: Vec<EventName>,
}

impl Draft {
    pub(super) fn of(before: &Session, now: Timestamp) -> Self {
        let session = Session {
            version: before.version + 1,
            updated_at: later_of(now, before.updated_at),
            ..before.clone()
        };
        Self { session, entries: Vec::new(), announces: Vec::new() }
    }

    pub(super) fn done(self) -> Advance {
        Advance { session: self.session, entries: self.entries, announces: self.announces }
    }

    /// Adds an entry with the status that the session has now.
    pub(super) fn note(&mut self, actions: &[SessionAction], diff: Value) {
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
    pub(super) fn move_to(&mut self, status: SessionStatus, event: EventName) {
        let diff = status_changed(Some(self.session.status), status);
        self.session.status = status;
        self.note(&[SessionAction::StatusChanged], diff);
        self.announces.push(event);
    }

    /// Switches it off by itself.
    pub(super) fn switch_off(&mut self, action: SessionAction, mut diff: Value) {
        self.session.is_active = false;
        diff["changes"] = json!({ "isActive": { "from": true, "to": false, "reason": action.word() } });
        self.note_as(EntryStatus::Disabled, &[action], diff);
        self.announces.push(EventName::SessionDisabled);
    }
}

fn status_changed(from: Option<SessionStatus>, to: SessionStatus) -> Value {
    json!({ "changes": { "status": { "from": from.map(SessionStatus::word), "to": to.word() } } })
}
