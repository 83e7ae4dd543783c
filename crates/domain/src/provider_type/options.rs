//! Validates the options of a provider by its type (`docs/interface/provider-types.md#options`). Of the simulator's
//! options only the JSON types are checked here.

use serde_json::{Map, Value};

use crate::problems::Problems;
use crate::text::chars_max;

use super::ProviderType;

/// The members of a provider type's `options`.
enum Form {
    /// What a charge does after a risk verdict.
    AntiFraud,
    /// How the merchant is shown to the buyer.
    Nupay,
    /// Who pays for installments.
    Barte,
    /// Faults and capability limits of the simulator.
    Sandbox,
    /// No options are published.
    Nothing,
}

/// The switches for verdicts; the default is false.
const SWITCHES: [&str; 6] = [
    "captureOnError",
    "captureOnApproved",
    "refundOnError",
    "refundOnReproved",
    "runBeforeCharge",
    "sendAllCharges",
];
/// Spellings of the documentation's text, and those of payloads: both are accepted, the latter are stored.
const SPELLINGS: [(&str, &str); 2] =
    [("captureOnApprove", "captureOnApproved"), ("refundOnReprove", "refundOnReproved")];
const BARTE_PAYMENT_METHODS: [&str; 2] = ["CREDIT_CARD_EARLY_SELLER", "CREDIT_CARD_EARLY_BUYER"];
/// The verdict is in the answer.
const SYNC: &str = "SYNC";
/// The verdict comes later.
const ASYNC: &str = "ASYNC";

/// Validates the options sent for a provider and returns the form to store. `path` is that of the object, for example
/// `providers.0.options`. Unlisted members are kept; `null` counts as absent.
pub fn validate_options(
    provider_type: ProviderType,
    options: &Map<String, Value>,
    path: &str,
) -> Result<Map<String, Value>, Problems> {
    let form = Form::of(provider_type);
    let options = with_one_spelling(options);
    let mut reader = Reader { options: &options, path, problems: Problems::new() };
    match form {
        Form::AntiFraud => reader.check_anti_fraud(provider_type),
        Form::Nupay => {
            reader.check_type("NUPAY");
            reader.check_text("merchantName");
            reader.check_text("storeName");
        }
        Form::Barte => {
            reader.check_type("BARTE");
            if reader.one_of("paymentMethod", &BARTE_PAYMENT_METHODS).is_none()
                && !reader.has("paymentMethod")
            {
                reader.add("paymentMethod", "should not be empty");
            }
        }
        Form::Sandbox => reader.check_type("SANDBOX"),
        Form::Nothing if options.is_empty() => {}
        Form::Nothing => reader.problems.add(path, format_args!("are not supported by {provider_type}")),
    }
    reader.problems.into_result().map(|()| options)
}

impl Form {
    fn of(provider_type: ProviderType) -> Self {
        if provider_type.capabilities().anti_fraud.is_some() {
            Self::AntiFraud
        } else if provider_type == ProviderType::Sandbox {
            Self::Sandbox
        } else if provider_type == ProviderType::Nupay {
            Self::Nupay
        } else if provider_type == ProviderType::Barte {
            Self::Barte
        } else {
            Self::Nothing
        }
    }
}

fn with_one_spelling(options: &Map<String, Value>) -> Map<String, Value> {
    let mut stored: Map<String, Value> = options
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (prose, payload) in SPELLINGS {
        if let Some(value) = stored.shift_remove(prose) {
            stored.entry(payload).or_insert(value);
        }
    }
    stored
}

struct Reader<'a> {
    options: &'a Map<String, Value>,
    path: &'a str,
    problems: Problems,
}

impl Reader<'_> {
    fn check_anti_fraud(&mut self, provider_type: ProviderType) {
        self.check_type("ANTIFRAUD");
        for name in SWITCHES {
            if !matches!(self.options.get(name), None | Some(Value::Bool(_))) {
                self.add(name, "must be a boolean value");
            }
        }
        let products = products(provider_type);
        let product = self.one_of("productType", products).or(products.first().copied());
        if self.is_on("captureOnError") && self.is_on("refundOnError") {
            self.add("captureOnError", "must not be true together with refundOnError");
        }
        if self.is_on("runBeforeCharge") && product == Some(ASYNC) {
            self.add("runBeforeCharge", "must not be true with productType ASYNC");
        }
    }

    fn check_type(&mut self, expected: &'static str) {
        if self.one_of("type", &[expected]).is_none() && !self.has("type") {
            self.add("type", format_args!("must be one of the following values: {expected}"));
        }
    }

    fn check_text(&mut self, name: &str) {
        match self.options.get(name) {
            None => {}
            Some(Value::String(text)) if text.chars().count() <= chars_max::LINE => {}
            Some(Value::String(_)) => {
                self.add(
                    name,
                    format_args!("must be shorter than or equal to {} characters", chars_max::LINE),
                );
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                self.add(name, "must be a string");
            }
        }
    }

    /// The listed word of the member; an unlisted one is an error.
    fn one_of(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let value = self.options.get(name)?;
        let word = words.iter().copied().find(|word| value.as_str() == Some(word));
        if word.is_none() {
            self.add(name, format_args!("must be one of the following values: {}", words.join(", ")));
        }
        word
    }

    fn has(&self, name: &str) -> bool {
        self.options.contains_key(name)
    }

    fn is_on(&self, name: &str) -> bool {
        self.options.get(name).is_some_and(|value| value.as_bool() == Some(true))
    }

    fn add(&mut self, name: &str, rule: impl std::fmt::Display) {
        self.problems.add(format_args!("{}.{name}", self.path), rule);
    }
}

/// The products that a type of risk analysis offers, its default first.
fn products(provider_type: ProviderType) -> &'static [&'static str] {
    let Some(offered) = provider_type.capabilities().anti_fraud else {
        return &[];
    };
    match (offered.real_time.is_yes(), offered.asynchronous.is_yes()) {
        (true, true) => &[SYNC, ASYNC],
        (true, false) => &[SYNC],
        (false, true) => &[ASYNC],
        (false, false) => &[],
    }
}
