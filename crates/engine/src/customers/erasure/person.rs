//! Recognizes a person in records that hold no id of theirs.

use std::collections::{HashMap, HashSet};

use regente_domain::charge::Charge;
use regente_domain::customer::{Document, normal_email, normal_number};
use regente_domain::id::{CardId, ClientId, CustomerId, SessionId};
use regente_domain::subscription::Item;
use regente_store::cards;
use regente_store::customers::Remains;
use serde_json::Value;
use uuid::Uuid;

use super::super::record::{open_alias, open_data};
use crate::app::App;
use crate::error::Error;

/// A person who is being erased.
pub(super) struct Person {
    /// The account.
    pub(super) client_id: ClientId,
    /// The customer.
    pub(super) customer_id: CustomerId,
    /// Their cards.
    pub(super) cards: Vec<CardId>,
    /// The ids of the customer, their aliases, their cards and those that their charges were paid with.
    ids: HashSet<Uuid>,
    /// Their e-mail addresses and those sent with their aliases, normalized.
    emails: HashSet<String>,
    /// The numbers of their documents, normalized.
    numbers: HashSet<String>,
    /// Their names, normalized. Others may have the same ones.
    names: HashSet<String>,
    /// Their charges.
    payments: HashSet<Uuid>,
    /// The sessions that they have paid or tried to pay, and whose texts name them.
    sessions: HashMap<SessionId, InSession>,
}

/// What a session has to do with a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InSession {
    /// It is their order: it can be paid once, and they have paid it or tried to.
    Order,
    /// They are one of several who may pay it.
    Payer,
    /// Its texts may name them.
    Stranger,
}

/// Characters of a document number that is looked for inside of other texts. Shorter ones are parts of too much.
const NUMBER_IN_TEXT_CHARS_MIN: usize = 8;

/// What a kept answer has to do with a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mention {
    /// It shows the person or a card of theirs.
    Shows,
    /// It shows something else that names them.
    Names,
    /// It shows a session, whose texts may tell of them.
    Session(InSession),
    /// It shows a subscription of theirs.
    Subscription,
    /// Nothing.
    Nothing,
}

/// Members of records and events that callers fill as they like.
const FREE_TEXT: [&str; 17] = [
    "description",
    "metadata",
    "flowMetadata",
    "appInfo",
    "items",
    "instructions",
    "additionalInfo",
    "orderUrl",
    "returnUrl",
    "cancelUrl",
    "successRedirectUrl",
    "cancelRedirectUrl",
    "browser",
    "recipients",
    "paymentData",
    "fraudAnalysisMetadata",
    "threeDSecure2",
];

impl Person {
    /// The person of a hidden customer. Of one whose data is erased, only the ids are known.
    pub(super) async fn of(app: &App, client_id: ClientId, remains: Remains) -> Result<Self, Error> {
        let customer_id = remains.id;
        let cards = cards::ids_of_customer(&app.store, client_id, customer_id).await?;
        let mut person = Self {
            client_id,
            customer_id,
            ids: [customer_id.uuid()].into_iter().chain(cards.iter().map(|id| id.uuid())).collect(),
            cards,
            emails: HashSet::new(),
            numbers: HashSet::new(),
            names: HashSet::new(),
            payments: HashSet::new(),
            sessions: HashMap::new(),
        };
        if let Some(sealed) = &remains.private {
            let data = open_data(app, client_id, customer_id, sealed).await?;
            person.know(data.email.iter().chain(&data.contact_email), &data.document);
            person.names.extend(normal_name(&data.name));
        }
        for (alias, sealed) in &remains.aliases {
            person.ids.insert(alias.uuid());
            // What was sent with an alias may be the data of somebody else: only the ids count.
            if let Some(sealed) = sealed {
                let sent = open_alias(app, client_id, *alias, sealed).await?;
                if person.numbers.contains(&normal_number(&sent.document.number)) {
                    person.know([&sent.email], &sent.document);
                }
            }
        }
        Ok(person)
    }

    fn know<'a>(&mut self, emails: impl IntoIterator<Item = &'a String>, document: &Document) {
        self.emails.extend(emails.into_iter().map(|email| normal_email(email)));
        if !document.is_absent() {
            self.numbers.insert(normal_number(&document.number));
        }
    }

    /// A card that belonged to nobody and was erased with their charge.
    pub(super) fn had_card(&mut self, id: CardId) {
        self.ids.insert(id.uuid());
    }

    /// A charge is theirs, and so is a try to pay its session.
    pub(super) fn had_charge(&mut self, charge: &Charge) {
        self.payments.insert(charge.id.uuid());
        if let Some(id) = charge.session_id {
            self.sessions.entry(id).or_insert(InSession::Payer);
        }
    }

    /// Whether a charge or a card is theirs.
    pub(super) fn has(&self, object_id: Uuid) -> bool {
        self.payments.contains(&object_id) || self.ids.contains(&object_id)
    }

    /// What a session has to do with them, as far as it is known.
    pub(super) fn in_session(&self, id: SessionId) -> InSession {
        self.sessions.get(&id).copied().unwrap_or(InSession::Stranger)
    }

    /// A session that can be paid once is their order.
    pub(super) fn had_order(&mut self, id: SessionId) {
        self.sessions.insert(id, InSession::Order);
    }

    /// Whether a text of a session tells of them. Their name alone tells of them only where they have paid: others have it too.
    pub(super) fn is_told_by(&self, text: &str, session: InSession) -> bool {
        match session {
            InSession::Order => true,
            InSession::Payer => self.is_named_in(text) || self.is_called_in(text),
            InSession::Stranger => self.is_named_in(text),
        }
    }

    /// Whether an e-mail address or a document number of theirs stands in a text.
    fn is_named_in(&self, text: &str) -> bool {
        let (lower, number) = (text.to_lowercase(), normal_number(text));
        self.emails.iter().any(|email| lower.contains(email.as_str()))
            || self.numbers.iter().any(|his| {
                number == *his || (his.len() >= NUMBER_IN_TEXT_CHARS_MIN && number.contains(his.as_str()))
            })
    }

    fn is_called_in(&self, text: &str) -> bool {
        let text = normal_name(text).unwrap_or_default();
        self.names.iter().any(|name| text.contains(name.as_str()))
    }

    /// Takes them out of what was sent with somebody else's payment: of lists the entries that name them, and elsewhere the texts
    /// beside their e-mail address or document number. Answers whether they were there.
    pub(super) fn taken_out_of(&self, value: &mut Value) -> bool {
        match value {
            Value::Object(members) => {
                let is_his = members.values().any(|member| self.is_his(member));
                if is_his {
                    let is_number = |member: &Value| member.is_number() && self.is_his(member);
                    members.retain(|_, member| !is_number(member));
                    members.values_mut().for_each(empty);
                }
                members.values_mut().fold(is_his, |found, member| self.taken_out_of(member) || found)
            }
            Value::Array(items) => {
                let before = items.len();
                items.retain(|item| !self.is_his_entry(item));
                let found = items.len() < before;
                items.iter_mut().fold(found, |found, item| self.taken_out_of(item) || found)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }

    fn is_his_entry(&self, item: &Value) -> bool {
        self.is_his(item)
            || item.as_object().is_some_and(|members| members.values().any(|member| self.is_his(member)))
    }

    fn is_his(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_named_in(text),
            Value::Number(number) => self.numbers.contains(&number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        }
    }

    /// Whether a value anywhere in it is an e-mail address or a document number of the person.
    pub(super) fn is_in(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                self.emails.contains(&normal_email(text)) || self.numbers.contains(&normal_number(text))
            }
            Value::Number(number) => self.numbers.contains(&number.to_string()),
            Value::Array(items) => items.iter().any(|item| self.is_in(item)),
            Value::Object(members) => members.values().any(|value| self.is_in(value)),
            Value::Null | Value::Bool(_) => false,
        }
    }

    /// What an answer has to do with the person.
    pub(super) fn mentioned_in(&self, answer: &Value) -> Mention {
        let is_his = |name: &str| {
            let id: Option<Uuid> =
                answer.get(name).and_then(Value::as_str).and_then(|text| text.parse().ok());
            id.is_some_and(|id| self.ids.contains(&id))
        };
        let id = |name: &str| answer.get(name).and_then(Value::as_str);
        if is_his("id") {
            Mention::Shows
        } else if answer.get("paymentMethods").is_some_and(Value::is_array) {
            let session_id = id("id").and_then(|id| id.parse().ok());
            Mention::Session(session_id.map_or(InSession::Stranger, |id| self.in_session(id)))
        } else if is_his("customerId") && answer.get("recurrence").is_some() {
            Mention::Subscription
        } else if is_his("customerId") || self.is_in(answer) {
            Mention::Names
        } else {
            Mention::Nothing
        }
    }
}

/// Empties the members, at any depth, that callers fill as they like; answers whether one held something.
pub(super) fn empty_free_text(value: &mut Value) -> bool {
    match value {
        Value::Object(members) => {
            let mut held_something = false;
            for (name, member) in members {
                if FREE_TEXT.contains(&name.as_str()) {
                    held_something |= !member.is_null();
                    *member = Value::Null;
                } else {
                    held_something |= empty_free_text(member);
                }
            }
            held_something
        }
        Value::Array(items) => items.iter_mut().fold(false, |held, item| empty_free_text(item) | held),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Takes the texts that tell of a person out of a session as it is stored, shown or told to webhooks: its name and description,
/// its items, and what callers fill as they like in its methods. Answers whether one did.
pub(super) fn empty_session_texts(session: &mut Value, tells: &impl Fn(&str) -> bool) -> bool {
    let mut found = false;
    for name in ["name", "description"] {
        found |= empty_if(session.get_mut(name), Value::Null, tells);
    }
    for item in session.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
        found |= empty_if(item.get_mut("name"), Value::String(String::new()), tells);
        for name in ["description", "categoryId"] {
            found |= empty_if(item.get_mut(name), Value::Null, tells);
        }
    }
    for methods in ["methods", "paymentMethods"] {
        let methods = session.get_mut(methods).and_then(Value::as_array_mut).into_iter().flatten();
        for terms in methods.filter_map(Value::as_object_mut) {
            let before = terms.len();
            terms.retain(|name, value| !FREE_TEXT.contains(&name.as_str()) || !has_text(value, tells));
            found |= terms.len() < before;
        }
    }
    found
}

/// Takes the texts of its merchant out of a subscription as answers show it, or as its events tell of it; answers whether there was one.
pub(super) fn empty_subscription_texts(shown: &mut Value) -> Result<bool, Error> {
    let is_told = shown.get("subscription").is_some();
    let subscription = if is_told { &mut shown["subscription"] } else { shown };
    let Some(members) = subscription.as_object_mut() else { return Ok(false) };
    let before = members.clone();
    if let Some(name) = members.get_mut("name") {
        empty(name);
    }
    if let Some(reason) = members.get_mut("scheduledCancellationReason") {
        *reason = Value::Null;
    }
    if let Some(items) = members.get_mut("items") {
        let sold: Vec<Item> = serde_json::from_value(items.take()).map_err(Error::internal)?;
        let without: Vec<Item> = sold.iter().map(Item::without_free_text).collect();
        *items = serde_json::to_value(without).map_err(Error::internal)?;
    }
    Ok(*members != before)
}

fn empty_if(member: Option<&mut Value>, emptied: Value, tells: &impl Fn(&str) -> bool) -> bool {
    match member {
        Some(member) if *member != emptied && has_text(member, tells) => {
            *member = emptied;
            true
        }
        Some(_) | None => false,
    }
}

fn has_text(value: &Value, tells: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => tells(text),
        Value::Array(items) => items.iter().any(|item| has_text(item, tells)),
        Value::Object(members) => members.values().any(|member| has_text(member, tells)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Empties a text. Amounts stay.
fn empty(value: &mut Value) {
    match value {
        Value::String(text) => text.clear(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {}
    }
}

/// A name for comparison: in lower case, with one blank between its words. `None` where there is none.
fn normal_name(name: &str) -> Option<String> {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
