//! Reads a JSON body field by field. All problems are collected with their paths and reported at once, in the wording
//! of `docs/interface/conventions.md#problems`.
//!
//! ```ignore
//! fn new_customer(body: &Body) -> Result<NewCustomer, Problems> {
//!     body.read(|fields| {
//!         let name = fields.required("name").non_empty_text(chars_max::NAME);
//!         let document = fields.required("document").object(document);
//!         let cards = fields.optional("cards").array(0..=CARDS_MAX, |item| item.id());
//!         Some(NewCustomer { name: name?, document: document?, cards: cards.unwrap_or_default() })
//!     })
//! }
//! ```
//!
//! Read every field first, and use `?` only when the value is built: an earlier `?` would hide the problems of later
//! fields. A reader that returns `None` has noted a problem, unless the field is optional and absent.
//!
//! This module checks values; each resource decides which fields it needs.

mod body;
pub(super) mod readers;

use std::cell::RefCell;
use std::fmt;

use deserr::{Deserr, IntoValue};
use regente_domain::problems::Problems;
use regente_domain::wire::{CardData, Path};
use serde_json::{Map, Value};

pub use body::{BODY_DEPTH_MAX, Body};
pub use regente_domain::wire::INTEGER_MAX;

/// The most problems in one answer.
pub const PROBLEMS_MAX: usize = Problems::MAX;

/// The members of one object of a body. Null counts as absent (`docs/interface/conventions.md#requests`);
/// [`Fields::is_null`] tells them apart where a change must.
#[derive(Debug)]
pub struct Fields<'a> {
    members: &'a Map<String, Value>,
    path: Path<'a>,
    found: &'a ProblemList,
}

impl<'a> Fields<'a> {
    /// The field `name`, which must be there.
    pub fn required<'f>(&'f self, name: &'f str) -> Field<'f> {
        self.field(name, Need::Required)
    }

    /// The field `name`, which may be absent or null.
    pub fn optional<'f>(&'f self, name: &'f str) -> Field<'f> {
        self.field(name, Need::Optional)
    }

    /// Reads an object with `reader` from members that take the place of those of `name`.
    pub fn object_of<T>(
        &self,
        name: &str,
        members: &Map<String, Value>,
        reader: impl FnOnce(&Fields<'_>) -> Option<T>,
    ) -> Option<T> {
        let fields = Fields { members, path: self.path.member(name), found: self.found };
        fields.found.or_note(fields.path, || reader(&fields))
    }

    /// Reads the object as a type that reads itself ([`regente_domain::wire`]).
    pub fn read_as<T: Deserr<Problems>>(&self) -> Option<T> {
        let read = T::deserialize_from_value(Value::Object(self.members.clone()).into_value(), self.path.0);
        read.map_err(|problems| self.found.extend(problems)).ok()
    }

    /// Whether `name` is there with a value other than null.
    pub fn has(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(|value| !value.is_null())
    }

    /// Whether `name` is there as null: in a change that means "remove", while absence means "leave".
    pub fn is_null(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(Value::is_null)
    }

    /// All members as sent, to look at. [`Fields::taken`] gives those that are stored.
    pub fn members(&self) -> &'a Map<String, Value> {
        self.members
    }

    /// All members as sent, to be stored or passed on. Card data in them are problems.
    pub fn taken(&self) -> Map<String, Value> {
        self.found.card_data(|found| found.look_at_members(self.members, self.path.0));
        self.members.clone()
    }

    /// Notes a problem of the field `name` that no reader finds, such as a rule between two fields.
    pub fn problem(&self, name: &str, rule: impl fmt::Display) {
        self.found.add(self.path.member(name), rule);
    }

    /// Notes a problem of the object itself; at the top level its path is `body`.
    pub fn problem_here(&self, rule: impl fmt::Display) {
        self.found.add(self.path, rule);
    }

    /// Adds the problems of another parser with their paths unchanged.
    pub fn problems(&self, problems: Problems) {
        self.found.extend(problems);
    }

    fn field<'f>(&'f self, name: &'f str, need: Need) -> Field<'f> {
        Field::new(self.members.get(name), need, self.path.member(name), self.found)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

/// One value of a body. Each reader consumes it and returns `None` when it is absent or invalid.
#[derive(Debug)]
pub struct Field<'a> {
    value: Option<&'a Value>,
    need: Need,
    digits: Digits,
    path: Path<'a>,
    found: &'a ProblemList,
}

/// What digits in a value mean that look like a card number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digits {
    /// They are one: the value is a text.
    CardNumber,
    /// They look so by chance, or belong there.
    Anything,
}

impl<'a> Field<'a> {
    fn new(value: Option<&'a Value>, need: Need, path: Path<'a>, found: &'a ProblemList) -> Self {
        let value = value.filter(|value| !value.is_null());
        let field = Self { value, need, digits: Digits::CardNumber, path, found };
        if field.value.is_none() {
            field.note_absence();
        }
        field
    }

    fn note_absence(&self) {
        match self.need {
            Need::Required => self.found.add(self.path, "should not be empty"),
            Need::Optional => {}
        }
    }

    /// Takes digits that look like a card number: the value is an identifier, a document, a number, a secret, or the number of
    /// the card itself. Without this a value is a text, which must not hold card data.
    pub fn verbatim(self) -> Self {
        Self { digits: Digits::Anything, ..self }
    }

    /// Treats text that is white space alone as absent, as forms send what was left empty.
    pub fn blank_text_is_absent(mut self) -> Self {
        if self.value.and_then(Value::as_str).is_some_and(|text| text.trim().is_empty()) {
            self.value = None;
            self.note_absence();
        }
        self
    }

    /// The value as sent, to look at; it may hold card data.
    pub fn value(self) -> Option<&'a Value> {
        self.value
    }

    /// Notes a problem of this field.
    pub fn problem(&self, rule: impl fmt::Display) {
        self.found.add(self.path, rule);
    }

    /// Reads the value with `reader`, whose error is the broken rule (`must be …`). What is not [`Field::verbatim`] must not
    /// hold card data.
    pub fn read<T, R: fmt::Display>(self, reader: impl FnOnce(&'a Value) -> Result<T, R>) -> Option<T> {
        let value = self.value?;
        match reader(value) {
            Ok(read) => {
                let is_taken = match self.digits {
                    Digits::Anything => true,
                    Digits::CardNumber => self.found.card_data(|found| found.look_at(value, self.path.0)),
                };
                is_taken.then_some(read)
            }
            Err(rule) => {
                self.found.add(self.path, rule);
                None
            }
        }
    }

    /// Reads the value as a type that reads itself ([`regente_domain::wire`]).
    pub fn read_as<T: Deserr<Problems>>(self) -> Option<T> {
        let read = T::deserialize_from_value(self.value?.clone().into_value(), self.path.0);
        read.map_err(|problems| self.found.extend(problems)).ok()
    }

    /// Reads an object with `reader`.
    pub fn object<T>(self, reader: impl FnOnce(&Fields<'_>) -> Option<T>) -> Option<T> {
        let Value::Object(members) = self.value? else {
            self.found.add(self.path, "must be an object");
            return None;
        };
        let fields = Fields { members, path: self.path, found: self.found };
        fields.found.or_note(fields.path, || reader(&fields))
    }

    /// Reads an array with a length within `count`, each element with `element`. One invalid element makes it `None`.
    pub fn array<T>(
        self,
        count: std::ops::RangeInclusive<usize>,
        element: impl FnMut(Field<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Value::Array(values) = self.value? else {
            self.found.add(self.path, "must be an array");
            return None;
        };
        self.elements(values, count, element)
    }

    /// As [`Field::array`]; a single value counts as an array of one.
    pub fn one_or_many<T>(
        self,
        count: std::ops::RangeInclusive<usize>,
        mut element: impl FnMut(Field<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        match self.value? {
            Value::Array(values) => self.elements(values, count, element),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                element(self).map(|value| vec![value])
            }
        }
    }

    fn elements<T>(
        &self,
        values: &[Value],
        count: std::ops::RangeInclusive<usize>,
        mut element: impl FnMut(Field<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        if values.len() < *count.start() {
            self.problem(format_args!("must contain at least {} elements", count.start()));
            return None;
        }
        if values.len() > *count.end() {
            self.problem(format_args!("must contain no more than {} elements", count.end()));
            return None;
        }
        // Not `collect` over `Option`: it would stop at the first invalid element and hide the problems of the others.
        let mut read = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let path = self.path.element(index);
            read.push(
                self.found
                    .or_note(path, || element(Field::new(Some(value), Need::Required, path, self.found))),
            );
        }
        read.into_iter().collect()
    }
}

/// The problems found so far, shared by all readers of one request.
#[derive(Debug, Default)]
pub(super) struct ProblemList(RefCell<Problems>);

impl ProblemList {
    pub(super) fn add(&self, path: impl fmt::Display, rule: impl fmt::Display) {
        let mut problems = self.0.borrow_mut();
        if problems.details().len() < PROBLEMS_MAX {
            problems.add(path, rule);
        }
    }

    /// Notes the card data that `look` finds; whether there is none. Members that are kept as sent are looked at again as
    /// a whole, so what is known is not noted again.
    fn card_data(&self, look: impl FnOnce(&mut CardData)) -> bool {
        let mut found = CardData::default();
        look(&mut found);
        let sentences = found.into_problems().into_details();
        let is_free = sentences.is_empty();
        let mut problems = self.0.borrow_mut();
        sentences.into_iter().for_each(|sentence| problems.add_once(sentence));
        is_free
    }

    pub(super) fn into_problems(self) -> Problems {
        self.0.into_inner()
    }

    fn extend(&self, problems: Problems) {
        self.0.borrow_mut().extend(problems);
    }

    fn count(&self) -> usize {
        self.0.borrow().details().len()
    }

    /// Notes a problem when a reader returns `None` without noting one, so that `None` always means refused.
    fn or_note<T>(&self, path: Path<'_>, reader: impl FnOnce() -> Option<T>) -> Option<T> {
        let before = self.count();
        let value = reader();
        if value.is_none() && self.count() == before {
            self.add(path, "is not valid");
        }
        value
    }
}
