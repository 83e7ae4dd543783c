//! Recognizes a person in records that hold no id of his.

use std::collections::HashSet;

use regente_domain::customer::{Document, normal_email, normal_number};
use regente_domain::id::{CardId, ClientId, CustomerId};
use regente_store::cards;
use regente_store::customers::Remains;
use serde_json::{Map, Value};
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
    /// His cards.
    pub(super) cards: Vec<CardId>,
    /// The ids of the customer, his aliases, his cards and those that his charges were paid with.
    ids: HashSet<Uuid>,
    /// His e-mail addresses and those sent with his aliases, normalized.
    emails: HashSet<String>,
    /// The numbers of his documents, normalized.
    numbers: HashSet<String>,
}

/// What a kept answer has to do with a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mention {
    /// It shows himself or a card of his.
    Shows,
    /// It shows something else that names him.
    Names,
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
        };
        if let Some(sealed) = &remains.private {
            let data = open_data(app, client_id, customer_id, sealed).await?;
            person.know(data.email.iter().chain(&data.contact_email), &data.document);
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

    /// A card that belonged to nobody and was erased with his charge.
    pub(super) fn had_card(&mut self, id: CardId) {
        self.ids.insert(id.uuid());
    }

    /// Whether a value anywhere in it is an e-mail address or a document number of the person.
    pub(super) fn is_in(&self, members: &Map<String, Value>) -> bool {
        members.values().any(|value| self.is_in_value(value))
    }

    fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                self.emails.contains(&normal_email(text)) || self.numbers.contains(&normal_number(text))
            }
            Value::Number(number) => self.numbers.contains(&number.to_string()),
            Value::Array(items) => items.iter().any(|item| self.is_in_value(item)),
            Value::Object(members) => self.is_in(members),
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
        if is_his("id") {
            Mention::Shows
        } else if is_his("customerId") || self.is_in_value(answer) {
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
