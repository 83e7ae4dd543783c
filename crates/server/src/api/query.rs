//! Parses query strings leniently, because shipped clients join `name=value` without percent-encoding
//! (`docs/interface/conventions.md#queries`): an invalid encoding stays as it is, `+` is a plus, unknown parameters are
//! ignored.
//!
//! Commas and repetition both mean OR. A parameter without a value is absent. A name with a dot is one literal name.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::problems::Problems;
use regente_domain::time::Timestamp;
use regente_domain::wire::{day, moment, uuid, within};

use super::fields::readers::not_one_of;
use super::fields::{INTEGER_MAX, ProblemList};
use super::page::{LIMIT_MAX, PAGE_MAX, PageRequest};

/// The most values of one parameter.
pub const VALUES_MAX: usize = 100;

const DAY: Duration = Duration::from_secs(86_400);
const SECOND: Duration = Duration::from_secs(1);
/// The precision of times.
const MILLISECOND: Duration = Duration::from_millis(1);

/// The parameters of a request, decoded.
#[derive(Clone, Debug, Default)]
pub struct Query {
    parameters: Vec<(String, String)>,
}

impl Query {
    /// Parses the text after `?`. This never fails; problems are found when a value is read.
    pub fn parse(query: &str) -> Self {
        let parameters = query.split('&').filter_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            Some((percent_decode(name), percent_decode(value)))
        });
        Self { parameters: parameters.collect() }
    }

    /// Parameters that were given by their names.
    pub const fn of(parameters: Vec<(String, String)>) -> Self {
        Self { parameters }
    }

    /// Reads the parameters with `reader`, whose readers return an empty value when they note a problem.
    ///
    /// # Errors
    /// Every problem that was found.
    pub fn read<T>(&self, reader: impl FnOnce(&Parameters<'_>) -> T) -> Result<T, Problems> {
        let found = ProblemList::default();
        let value = reader(&Parameters { parameters: &self.parameters, found: &found });
        found.into_problems().into_result().map(|()| value)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.uri.query().map(Self::parse).unwrap_or_default())
    }
}

/// The order of a list by creation; newest first by default (`docs/interface/conventions.md#lists`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortOrder {
    /// Oldest first.
    Ascending,
    /// Newest first.
    #[default]
    Descending,
}

impl SortOrder {
    /// Every word with its value.
    pub const WORDS: [(&str, Self); 2] = [("ASC", Self::Ascending), ("DESC", Self::Descending)];
    /// The same where lists have `order` instead of `sort`.
    pub const LOWER_CASE: [(&str, Self); 2] = [("asc", Self::Ascending), ("desc", Self::Descending)];
}

/// An interval of time; an absent end is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// The first moment of the interval.
    pub from: Option<Timestamp>,
    /// The first moment after the interval.
    pub before: Option<Timestamp>,
}

impl TimeRange {
    fn narrow_from(&mut self, from: Timestamp) {
        self.from = Some(self.from.map_or(from, |old| old.max(from)));
    }

    fn narrow_before(&mut self, before: Timestamp) {
        self.before = Some(self.before.map_or(before, |old| old.min(before)));
    }
}

/// The parameters with the problems found so far.
#[derive(Debug)]
pub struct Parameters<'a> {
    parameters: &'a [(String, String)],
    found: &'a ProblemList,
}

impl<'a> Parameters<'a> {
    /// `page` from 1 and `limit` from 1 to [`LIMIT_MAX`]; by default the first page of `limit_default` entries.
    pub fn page(&self, limit_default: u32) -> PageRequest {
        self.page_up_to(limit_default, LIMIT_MAX)
    }

    /// As [`Parameters::page`], for a list with its own highest limit.
    pub fn page_up_to(&self, limit_default: u32, limit_max: u32) -> PageRequest {
        PageRequest {
            page: self.count("page", PAGE_MAX).unwrap_or(1),
            limit: self.count("limit", limit_max).unwrap_or(limit_default),
        }
    }

    fn count(&self, name: &str, most: u32) -> Option<u32> {
        let number = self.integer(name, 1..=i64::from(most))?;
        u32::try_from(number).ok()
    }

    /// `sort`: `ASC` or `DESC` in any case.
    pub fn sort(&self) -> SortOrder {
        self.single("sort", |text| {
            let found = SortOrder::WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
            found.map(|(_, order)| *order).ok_or_else(|| not_one_of(&SortOrder::WORDS))
        })
        .unwrap_or_default()
    }

    /// Ids of `T`s; empty means no filter.
    pub fn ids<T>(&self, name: &str) -> Vec<Id<T>> {
        self.many(name, |text| uuid(text).map(Id::new).ok_or("must be a UUID"))
    }

    /// The id of one `T`.
    pub fn id<T>(&self, name: &str) -> Option<Id<T>> {
        self.single(name, |text| uuid(text).map(Id::new).ok_or("must be a UUID"))
    }

    /// One calendar day.
    pub fn day(&self, name: &str) -> Option<jiff::civil::Date> {
        self.single(name, |text| day(text).ok_or(NOT_A_DATE))
    }

    /// Words of `table`; empty means no filter.
    pub fn one_of<T: Clone>(&self, name: &str, table: &[(&str, T)]) -> Vec<T> {
        self.many(name, |text| {
            let found = table.iter().find(|(choice, _)| *choice == text);
            found.map(|(_, value)| value.clone()).ok_or_else(|| not_one_of(table))
        })
    }

    /// One word of `table`.
    pub fn choice<T: Clone>(&self, name: &str, table: &[(&str, T)]) -> Option<T> {
        self.single(name, |text| {
            let found = table.iter().find(|(choice, _)| *choice == text);
            found.map(|(_, value)| value.clone()).ok_or_else(|| not_one_of(table))
        })
    }

    /// Words of `table` in upper or lower case; empty means no filter.
    pub fn one_of_any_case<T: Clone>(&self, name: &str, table: &[(&str, T)]) -> Vec<T> {
        self.many(name, |text| {
            let found = table.iter().find(|(choice, _)| choice.eq_ignore_ascii_case(text));
            found.map(|(_, value)| value.clone()).ok_or_else(|| not_one_of(table))
        })
    }

    /// `true` and `false`; empty means no filter.
    pub fn booleans(&self, name: &str) -> Vec<bool> {
        self.many(name, |text| text.parse::<bool>().map_err(|_| "must be a boolean"))
    }

    /// A switch such as `force=true`.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        self.single(name, |text| text.parse::<bool>().map_err(|_| "must be a boolean"))
    }

    /// Amounts in minor units; empty means no filter.
    pub fn amounts(&self, name: &str) -> Vec<Amount> {
        self.many(name, |text| {
            let number = text.parse().map_err(|_| NOT_AN_INTEGER)?;
            Amount::new(number).ok_or(if number < 0 { "must not be less than 0" } else { NOT_AN_INTEGER })
        })
    }

    /// An integer within `range`.
    pub fn integer(&self, name: &str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        self.single(name, |text| match text.parse() {
            Ok(number) => within(number, range),
            Err(_) if is_digits(text) => {
                within(INTEGER_MAX, range.clone()).and_then(|_| within(i64::MAX, range))
            }
            Err(_) => Err(NOT_AN_INTEGER.into()),
        })
    }

    /// Texts of at most `chars_max` characters each, always separated at commas; empty means no filter.
    pub fn texts(&self, name: &str, chars_max: usize) -> Vec<String> {
        self.many(name, |text| bounded(text, chars_max))
    }

    /// One text of at most `chars_max` characters, which may contain commas.
    pub fn text(&self, name: &str, chars_max: usize) -> Option<String> {
        self.single(name, |text| bounded(text, chars_max))
    }

    /// The intersection of `name`, `name.gt` and `name.lt`. `name` with a date is that day in UTC, with a time that
    /// second (`docs/interface/conventions.md#queries`); `gt` and `lt` exclude the moment itself.
    pub fn time_range(&self, name: &str) -> TimeRange {
        let mut range = TimeRange::default();
        if let Some((from, before)) = self.single(name, |text| exactly(text).ok_or(NOT_A_DATE)) {
            range.narrow_from(from);
            range.narrow_before(before);
        }
        if let Some(after) = self.moment(&format!("{name}.gt")) {
            range.narrow_from(after + MILLISECOND);
        }
        if let Some(before) = self.moment(&format!("{name}.lt")) {
            range.narrow_before(before);
        }
        range
    }

    /// One moment.
    pub fn moment(&self, name: &str) -> Option<Timestamp> {
        self.single(name, |text| moment(text).ok_or(NOT_A_DATE))
    }

    /// The end of a period, which belongs to it: the first moment after. A calendar day belongs to it as a whole.
    pub fn end(&self, name: &str) -> Option<Timestamp> {
        self.single(name, |text| {
            let end = moment(text).ok_or(NOT_A_DATE)?;
            Ok::<_, &str>(end + if day(text).is_some() { DAY } else { MILLISECOND })
        })
    }

    /// Notes a problem of the parameter `name` that no reader finds.
    pub fn problem(&self, name: &str, rule: impl std::fmt::Display) {
        self.found.add(name, rule);
    }

    /// All values of a parameter as sent: commas unsplit, empty values left out.
    fn values(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let named = self.parameters.iter().filter(move |(parameter, _)| parameter == name);
        named.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    fn many<T, R: std::fmt::Display>(&self, name: &str, read: impl Fn(&'a str) -> Result<T, R>) -> Vec<T> {
        let values: Vec<&str> = self
            .values(name)
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|value| !value.is_empty())
            .take(VALUES_MAX + 1)
            .collect();
        if values.len() > VALUES_MAX {
            self.problem(name, format_args!("must contain no more than {VALUES_MAX} elements"));
            return Vec::new();
        }
        let mut taken = Vec::with_capacity(values.len());
        for value in values {
            match read(value) {
                Ok(value) => taken.push(value),
                Err(rule) => {
                    // One problem covers all values of the parameter.
                    self.problem(name, rule);
                    return Vec::new();
                }
            }
        }
        taken
    }

    fn single<T, R: std::fmt::Display>(
        &self,
        name: &str,
        read: impl FnOnce(&'a str) -> Result<T, R>,
    ) -> Option<T> {
        let mut values = self.values(name);
        let value = values.next()?;
        if values.any(|other| other != value) {
            self.problem(name, "must be given once");
            return None;
        }
        read(value).map_err(|rule| self.problem(name, rule)).ok()
    }
}

const NOT_AN_INTEGER: &str = "must be an integer number";
const NOT_A_DATE: &str = "must be a valid ISO 8601 date string";

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn bounded(text: &str, chars_max: usize) -> Result<String, String> {
    if text.contains('\0') {
        Err("must not contain the character U+0000".to_owned())
    } else if text.chars().count() > chars_max {
        Err(format!("must be shorter than or equal to {chars_max} characters"))
    } else {
        Ok(text.to_owned())
    }
}

/// The interval that an exact date or time stands for.
fn exactly(text: &str) -> Option<(Timestamp, Timestamp)> {
    let moment = moment(text)?;
    if day(text).is_some() {
        return Some((moment, moment + DAY));
    }
    let second = Timestamp::from_millis(moment.as_millis().div_euclid(1000) * 1000);
    Some((second, second + SECOND))
}

/// Decodes `%41`; an invalid sequence, or one that is not UTF-8, stays as sent.
fn percent_decode(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                decoded.push(hex_value(*high) << 4 | hex_value(*low));
                rest = after;
            }
            _ => {
                decoded.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.wrapping_sub(b'A').wrapping_add(10),
    }
}

/// The values of a filter; an empty list of them means no filter.
pub fn given<T>(values: Vec<T>) -> Option<Vec<T>> {
    (!values.is_empty()).then_some(values)
}
