//! Reads the options of a SANDBOX provider. Every problem is reported, each with the path of its member.

use regente_domain::charge::{INSTALLMENTS_MAX, PaymentType};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode, Reason};
use regente_domain::money::Amount;
use regente_domain::problems::Problems;
use regente_domain::routing::Narrowed;
use serde_json::{Map, Number, Value};

use crate::request::OperationKind;
use crate::sandbox::draws::MILLION;
use crate::sandbox::rules::network_says;

use super::{FAULTS_MAX, Fault, Options, When};

const WHEN_MEMBERS: [&str; 5] = ["operation", "amount", "currency", "lastDigit", "installments"];
const FAULT_MEMBERS: [&str; 3] = ["when", "then", "probability"];

/// Types of options that are meant for other providers (contract 12 §4). A simulated provider that stands in for one of
/// those may carry them; they say nothing to the simulator.
const OTHER_TYPES: [&str; 3] = ["ANTIFRAUD", "NUPAY", "BARTE"];

pub(super) fn options(members: &Map<String, Value>, path: &str) -> Result<Options, Problems> {
    let mut reader = Reader::default();
    let at = Place(path.to_owned());
    match reader.member(members, &at, "type", options_type) {
        Some(OptionsType::Other) => return Ok(Options::default()),
        Some(OptionsType::Sandbox) | None => {}
    }
    let faults = reader.member(members, &at, "faults", faults);
    let supports = reader.member(members, &at, "supports", supports);
    reader.problems.into_result()?;
    Ok(Options { faults: faults.unwrap_or_default(), supports: supports.unwrap_or_default() })
}

enum OptionsType {
    Sandbox,
    Other,
}

fn options_type(_: &mut Reader, value: &Value, at: &Place) -> Result<OptionsType, Problems> {
    match value.as_str() {
        Some("SANDBOX") => Ok(OptionsType::Sandbox),
        Some(other) if OTHER_TYPES.contains(&other) => Ok(OptionsType::Other),
        Some(_) | None => Err(at.must("be SANDBOX")),
    }
}

fn faults(reader: &mut Reader, value: &Value, at: &Place) -> Result<Vec<Fault>, Problems> {
    let Value::Array(values) = value else {
        return Err(at.must("be an array"));
    };
    if values.len() > FAULTS_MAX {
        return Err(at.must(format_args!("contain no more than {FAULTS_MAX} elements")));
    }
    Ok(reader.each(values, at, fault))
}

fn fault(reader: &mut Reader, value: &Value, at: &Place) -> Result<Fault, Problems> {
    let members = object(value, at)?;
    reader.only(members, at, &FAULT_MEMBERS);
    let when = reader.member(members, at, "when", when);
    let probability_ppm = reader.member(members, at, "probability", probability);
    let then = then(reader, members.get("then").unwrap_or(&Value::Null), &at.of("then"))?;
    Ok(Fault { when: when.unwrap_or_default(), then, probability_ppm: probability_ppm.unwrap_or(MILLION) })
}

fn when(reader: &mut Reader, value: &Value, at: &Place) -> Result<When, Problems> {
    let members = object(value, at)?;
    reader.only(members, at, &WHEN_MEMBERS);
    Ok(When {
        operation: reader
            .member(members, at, "operation", |_, value, at| word(value, at, OperationKind::WORDS)),
        amount: reader.member(members, at, "amount", |_, value, at| {
            let amount = value.as_i64().and_then(Amount::new);
            amount.ok_or_else(|| at.must("be an integer number of minor units"))
        }),
        currency: reader.member(members, at, "currency", currency),
        last_digit: reader.member(members, at, "lastDigit", |_, value, at| integer(value, at, 0, 9)),
        installments: reader.member(members, at, "installments", installments),
    })
}

/// The consequence: a refusal, by one of the 24 codes or one of the finer reasons.
fn then(reader: &mut Reader, value: &Value, at: &Place) -> Result<Decline, Problems> {
    match value {
        Value::String(_) => refusal(value, at),
        Value::Object(members) => {
            reader.only(members, at, &["decline"]);
            match members.get("decline") {
                Some(word) => refusal(word, &at.of("decline")),
                None => Err(at.of("decline").must("be a string")),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(at.must("be an object")),
    }
}

fn refusal(value: &Value, at: &Place) -> Result<Decline, Problems> {
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

/// A share of one, as parts of a million. The six decimals are taken as they are written, so that nothing that decides
/// is computed with floating point.
fn probability(_: &mut Reader, value: &Value, at: &Place) -> Result<u32, Problems> {
    let share = value.as_number().and_then(Number::as_f64).filter(|share| (0.0..=1.0).contains(share));
    let parts = share.and_then(|share| format!("{share:.6}").replace('.', "").parse().ok());
    parts.ok_or_else(|| at.must("be a number from 0 to 1"))
}

fn supports(reader: &mut Reader, value: &Value, at: &Place) -> Result<Narrowed, Problems> {
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

fn installments(_: &mut Reader, value: &Value, at: &Place) -> Result<u8, Problems> {
    integer(value, at, 1, INSTALLMENTS_MAX)
}

fn currency(_: &mut Reader, value: &Value, at: &Place) -> Result<Currency, Problems> {
    let currency = value.as_str().and_then(Currency::parse);
    currency.ok_or_else(|| at.must("be one of the listed currency codes"))
}

fn integer(value: &Value, at: &Place, min: u8, max: u8) -> Result<u8, Problems> {
    let number = value.as_u64().and_then(|number| u8::try_from(number).ok());
    let fitting = number.filter(|number| (min..=max).contains(number));
    fitting.ok_or_else(|| at.must(format_args!("be an integer from {min} to {max}")))
}

fn word<T: Copy>(value: &Value, at: &Place, words: &[(&str, T)]) -> Result<T, Problems> {
    let found = words.iter().find(|(known, _)| value.as_str() == Some(known)).map(|(_, meaning)| *meaning);
    found.ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
        at.must(format_args!("be one of the following values: {}", known.join(", ")))
    })
}

fn object<'a>(value: &'a Value, at: &Place) -> Result<&'a Map<String, Value>, Problems> {
    value.as_object().ok_or_else(|| at.must("be an object"))
}

/// Where a value stands in the request.
struct Place(String);

impl Place {
    fn of(&self, name: &str) -> Self {
        Self(if self.0.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0) })
    }

    fn must(&self, rule: impl std::fmt::Display) -> Problems {
        Problems::one(&self.0, format_args!("must {rule}"))
    }
}

/// Collects the problems, so that the first one does not hide the others.
#[derive(Default)]
struct Reader {
    problems: Problems,
}

impl Reader {
    /// Reads one member; absent, null and wrong ones are nothing, wrong ones also a problem.
    fn member<T>(
        &mut self,
        members: &Map<String, Value>,
        at: &Place,
        name: &str,
        read: impl FnOnce(&mut Self, &Value, &Place) -> Result<T, Problems>,
    ) -> Option<T> {
        let value = members.get(name).filter(|value| !value.is_null())?;
        let read = read(self, value, &at.of(name));
        self.note(read)
    }

    /// Reads the elements of an array; the wrong ones are left out and become problems.
    fn each<T>(
        &mut self,
        values: &[Value],
        at: &Place,
        read: impl Fn(&mut Self, &Value, &Place) -> Result<T, Problems>,
    ) -> Vec<T> {
        let elements = values.iter().enumerate();
        elements
            .filter_map(|(place, value)| {
                let read = read(self, value, &at.of(&place.to_string()));
                self.note(read)
            })
            .collect()
    }

    /// Notes every member that is not known.
    fn only(&mut self, members: &Map<String, Value>, at: &Place, known: &[&str]) {
        for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
            self.problems.add(&at.of(name).0, "should not exist");
        }
    }

    fn note<T>(&mut self, read: Result<T, Problems>) -> Option<T> {
        read.map_err(|problems| self.problems.extend(problems)).ok()
    }
}
