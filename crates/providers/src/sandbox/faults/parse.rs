//! Parses fault plans and the options of a SANDBOX provider.

use std::collections::BTreeSet;
use std::time::Duration;

use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use regente_domain::money::Amount;
use regente_domain::payment_type::{INSTALLMENTS_MAX, PaymentType};
use regente_domain::problems::Problems;
use regente_domain::routing::Narrowed;
use serde_json::{Map, Number, Value};

use crate::request::OperationKind;
use crate::sandbox::draws::MILLION;
use crate::sandbox::rules::network_says;

use super::reader::{Reader, ValuePath, integer, object, word};
use super::{
    FAULT_DELAY_MS_MAX, FAULT_DENY_SECONDS_MAX, FAULTS_MAX, Fault, Options, Plan, Point,
    REVIEW_EVERY_DAYS_MAX, SEQUENCE_PLACE_MAX, SEQUENCE_PLACES_MAX, Sequence, Subject, Then, When,
};

const WHEN_MEMBERS: [&str; 5] = ["operation", "amount", "currency", "lastDigit", "installments"];
/// Conditions on a card or an amount; a probe and a notification have neither.
const WHEN_MEMBERS_OF_CALLS: [&str; 4] = ["amount", "currency", "lastDigit", "installments"];
const FAULT_MEMBERS: [&str; 4] = ["when", "then", "probability", "sequence"];
const THEN_MEMBERS: [&str; 11] = [
    "decline",
    "delay_ms",
    "timeout",
    "reset",
    "server_error",
    "duplicate",
    "slow_body_ms",
    "garbage",
    "deny_seconds",
    "forge",
    "lose",
];

const SUBJECTS: [(&str, Subject); 9] = [
    ("authorization", Subject::Call(OperationKind::Authorization)),
    ("zero_dollar", Subject::Call(OperationKind::ZeroDollar)),
    ("capture", Subject::Call(OperationKind::Capture)),
    ("void", Subject::Call(OperationKind::Void)),
    ("probe", Subject::Probe),
    ("anti_fraud", Subject::Analysis),
    ("notification", Subject::Notification),
    ("authentication", Subject::Authentication),
    ("seller", Subject::Seller),
];

const POINTS: [(&str, Point); 2] =
    [("before_effect", Point::BeforeEffect), ("after_effect", Point::AfterEffect)];

/// Options of other provider types (`docs/interface/provider-types.md#options`). A simulated provider that stands in
/// for one of them may carry its options; the simulator ignores them.
const OTHER_TYPES: [&str; 3] = ["ANTIFRAUD", "NUPAY", "BARTE"];

pub(super) fn options(members: &Map<String, Value>, path: &str) -> Result<Options, Problems> {
    let mut reader = Reader::default();
    let at = ValuePath(path.to_owned());
    match reader.member(members, &at, "type", options_type) {
        Some(OptionsType::Other) => return Ok(Options::default()),
        Some(OptionsType::Sandbox) | None => {}
    }
    let faults = reader.member(members, &at, "faults", faults);
    let supports = reader.member(members, &at, "supports", supports);
    let review_every_days = reader.member(members, &at, "sandboxReviewEveryDays", |_, value, at| {
        integer(value, at, 1, REVIEW_EVERY_DAYS_MAX)
    });
    reader.problems.into_result()?;
    Ok(Options {
        faults: faults.unwrap_or_default(),
        supports: supports.unwrap_or_default(),
        review_every_days,
    })
}

pub(super) fn plan(faults_value: &Value, path: &str) -> Result<Plan, Problems> {
    let mut reader = Reader::default();
    let plan = faults(&mut reader, faults_value, &ValuePath(path.to_owned()));
    let plan = reader.note(plan);
    reader.problems.into_result()?;
    Ok(plan.unwrap_or_default())
}

enum OptionsType {
    Sandbox,
    Other,
}

fn options_type(_: &mut Reader, value: &Value, at: &ValuePath) -> Result<OptionsType, Problems> {
    match value.as_str() {
        Some("SANDBOX") => Ok(OptionsType::Sandbox),
        Some(other) if OTHER_TYPES.contains(&other) => Ok(OptionsType::Other),
        Some(_) | None => Err(at.must("be SANDBOX")),
    }
}

fn faults(reader: &mut Reader, value: &Value, at: &ValuePath) -> Result<Plan, Problems> {
    let Value::Array(values) = value else {
        return Err(at.must("be an array"));
    };
    if values.len() > FAULTS_MAX {
        return Err(at.must(format_args!("contain no more than {FAULTS_MAX} elements")));
    }
    Ok(Plan(reader.each(values, at, fault)))
}

fn fault(reader: &mut Reader, value: &Value, at: &ValuePath) -> Result<Fault, Problems> {
    let members = object(value, at)?;
    reader.only(members, at, &FAULT_MEMBERS);
    let when = reader.member(members, at, "when", when).unwrap_or_default();
    let probability_ppm = reader.member(members, at, "probability", probability).unwrap_or(MILLION);
    let places = reader.member(members, at, "sequence", sequence);
    let sequence = places.map(|places| Sequence { places, text: value.to_string() });
    let place = at.of("then");
    let then = then(reader, members.get("then").unwrap_or(&Value::Null), &place)?;
    match (when.subject, can_happen(when.subject, &then)) {
        (_, true) => Ok(Fault { when, then, probability_ppm, sequence }),
        (Some(Subject::Probe), false) => Err(place.must("be something that can happen to a probe")),
        (Some(Subject::Notification), false) => {
            Err(place.must("be something that can happen to a notification"))
        }
        (
            Some(Subject::Call(_) | Subject::Analysis | Subject::Authentication | Subject::Seller) | None,
            false,
        ) => Err(place.must("be something that can happen to a call")),
    }
}

const fn can_happen(subject: Option<Subject>, then: &Then) -> bool {
    match (subject, then) {
        (Some(Subject::Notification), Then::Delay(_) | Then::Duplicate | Then::Forge | Then::Lose)
        | (Some(Subject::Probe), Then::Deny(_))
        | (Some(Subject::Call(_) | Subject::Analysis | Subject::Authentication) | None, Then::Decline(_)) => {
            true
        }
        (Some(Subject::Notification), _)
        | (_, Then::Deny(_) | Then::Decline(_) | Then::Forge | Then::Lose) => false,
        (
            Some(
                Subject::Call(_)
                | Subject::Probe
                | Subject::Analysis
                | Subject::Authentication
                | Subject::Seller,
            )
            | None,
            Then::Delay(_)
            | Then::Timeout(_)
            | Then::Reset(_)
            | Then::ServerError(_)
            | Then::Garbage(_)
            | Then::Duplicate
            | Then::SlowBody(_),
        ) => true,
    }
}

fn when(reader: &mut Reader, value: &Value, at: &ValuePath) -> Result<When, Problems> {
    let members = object(value, at)?;
    reader.only(members, at, &WHEN_MEMBERS);
    let subject = reader.member(members, at, "operation", |_, value, at| word(value, at, &SUBJECTS));
    let without = match subject {
        Some(Subject::Probe) => Some("should not exist: a probe has none"),
        Some(Subject::Notification) => Some("should not exist: a notification has none"),
        Some(Subject::Authentication) => Some("should not exist: an authentication has none"),
        Some(Subject::Seller) => Some("should not exist: a seller has none"),
        Some(Subject::Call(_) | Subject::Analysis) | None => None,
    };
    if let Some(rule) = without {
        for name in WHEN_MEMBERS_OF_CALLS.iter().filter(|name| members.contains_key(**name)) {
            reader.problems.add(&at.of(name).0, rule);
        }
    }
    Ok(When {
        subject,
        amount: reader.member(members, at, "amount", |_, value, at| {
            let amount = value.as_i64().and_then(Amount::new);
            amount.ok_or_else(|| at.must("be an integer number of minor units"))
        }),
        currency: reader.member(members, at, "currency", currency),
        last_digit: reader.member(members, at, "lastDigit", |_, value, at| integer(value, at, 0, 9)),
        installments: reader.member(members, at, "installments", installments),
    })
}

/// Parses the effect: a decline by one of the 24 codes or one of the finer reasons, or a fault in the delivery.
fn then(reader: &mut Reader, value: &Value, at: &ValuePath) -> Result<Then, Problems> {
    let members = match value {
        Value::String(_) => return refusal(value, at).map(Then::Decline),
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(at.must("be an object"));
        }
    };
    reader.only(members, at, &THEN_MEMBERS);
    let mut known = members.iter().filter(|(name, _)| THEN_MEMBERS.contains(&name.as_str()));
    let (Some((name, value)), None) = (known.next(), known.next()) else {
        let names = THEN_MEMBERS.join(", ");
        return Err(at.must(format_args!("contain exactly one of the following members: {names}")));
    };
    let at = at.of(name);
    let point = || word(value, &at, &POINTS);
    match name.as_str() {
        "decline" => refusal(value, &at).map(Then::Decline),
        "delay_ms" => delay(value, &at).map(Then::Delay),
        "timeout" => point().map(Then::Timeout),
        "reset" => point().map(Then::Reset),
        "server_error" => point().map(Then::ServerError),
        "garbage" => point().map(Then::Garbage),
        "slow_body_ms" => delay(value, &at).map(Then::SlowBody),
        "deny_seconds" => {
            integer(value, &at, 1, FAULT_DENY_SECONDS_MAX).map(Duration::from_secs).map(Then::Deny)
        }
        _ if *value != Value::Bool(true) => Err(at.must("be true")),
        "forge" => Ok(Then::Forge),
        "lose" => Ok(Then::Lose),
        _ => Ok(Then::Duplicate),
    }
}

fn delay(value: &Value, at: &ValuePath) -> Result<Duration, Problems> {
    integer(value, at, 1, FAULT_DELAY_MS_MAX).map(Duration::from_millis)
}

fn sequence(reader: &mut Reader, value: &Value, at: &ValuePath) -> Result<BTreeSet<u64>, Problems> {
    let values = value.as_array().filter(|values| !values.is_empty() && values.len() <= SEQUENCE_PLACES_MAX);
    let values =
        values.ok_or_else(|| at.must(format_args!("be an array of 1 to {SEQUENCE_PLACES_MAX} elements")))?;
    let places = reader.each(values, at, |_, value, at| integer(value, at, 1, SEQUENCE_PLACE_MAX));
    Ok(places.into_iter().collect())
}

fn refusal(value: &Value, at: &ValuePath) -> Result<Decline, Problems> {
    let Value::String(word) = value else {
        return Err(at.must("be a string"));
    };
    let decline = match (DeclinedCode::parse(word), Reason::parse(word)) {
        (Some(code), _) => Decline::of(code),
        (None, Some(reason)) => Decline::from_reason(reason),
        (None, None) => return Err(at.must("be a declined code or one of its finer reasons")),
    };
    Ok(network_says(decline, format!("sandbox {}", word.replace('_', " "))))
}

/// Parses a probability between 0 and 1 into parts per million. It reads the six decimals as text, so that no decision
/// depends on floating point.
fn probability(_: &mut Reader, value: &Value, at: &ValuePath) -> Result<u32, Problems> {
    let share = value.as_number().and_then(Number::as_f64).filter(|share| (0.0..=1.0).contains(share));
    let parts = share.and_then(|share| format!("{share:.6}").replace('.', "").parse().ok());
    parts.ok_or_else(|| at.must("be a number from 0 to 1"))
}

fn supports(reader: &mut Reader, value: &Value, at: &ValuePath) -> Result<Narrowed, Problems> {
    let members = object(value, at)?;
    Ok(Narrowed {
        payment_types: reader.member(members, at, "paymentTypes", |reader, value, at| {
            let values = value.as_array().ok_or_else(|| at.must("be an array"))?;
            Ok(reader.each(values, at, |_, value, at| word(value, at, PaymentType::WORDS)))
        }),
        currencies: reader.member(members, at, "currencies", |reader, value, at| {
            let values = value.as_array().ok_or_else(|| at.must("be an array"))?;
            Ok(reader.each(values, at, currency))
        }),
        installments_max: reader.member(members, at, "installmentsMax", installments),
    })
}

fn installments(_: &mut Reader, value: &Value, at: &ValuePath) -> Result<u8, Problems> {
    integer(value, at, 1, INSTALLMENTS_MAX)
}

fn currency(_: &mut Reader, value: &Value, at: &ValuePath) -> Result<Currency, Problems> {
    let currency = value.as_str().and_then(Currency::parse);
    currency.ok_or_else(|| at.must("be one of the listed currency codes"))
}
