//! Checks the check digits of documents (`docs/interface/customers.md#check-digits`): one table of the types whose rule is
//! public, each with its function. Only the digits and the shape are checked, not whether dates or places in a number exist.

mod americas;
mod arithmetic;
mod asia_pacific;
mod europe;

use serde::{Deserialize, Serialize};

/// The rule of a type: whether a number in upper case without punctuation keeps it; `None` when it has another shape.
type Rule = fn(&str) -> Option<bool>;

/// The rules: country, type, and function.
type Rules = &'static [(&'static str, &'static str, Rule)];

const TABLES: [Rules; 3] = [americas::RULES, asia_pacific::RULES, europe::RULES];

/// Whether an account refuses documents whose check digits are wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckDigits {
    /// Lengths and characters are checked alone: test documents have any digits.
    #[default]
    Off,
    /// They are refused.
    On,
}

/// The country and the type of every document whose check digits can be checked.
pub fn checked_types() -> impl Iterator<Item = (&'static str, &'static str)> {
    rows().map(|(country, kind, _)| (country, kind))
}

/// The rule that the check digits of a number break, such as `is not a valid CPF`; `None` also for types without a public
/// rule. `country` is its code.
pub fn broken(country: &str, kind: &str, number: &str) -> Option<String> {
    let (_, name, rule) =
        rows().find(|(known, name, _)| *known == country && name.eq_ignore_ascii_case(kind))?;
    (rule(&compact(number)) != Some(true)).then(|| format!("is not a valid {name}"))
}

/// Whether these are the 14 characters of a CNPJ with right check digits.
pub(crate) fn is_cnpj(text: &str) -> bool {
    americas::cnpj(text) == Some(true)
}

fn rows() -> impl Iterator<Item = (&'static str, &'static str, Rule)> {
    TABLES.into_iter().flatten().copied()
}

/// Letters, digits and `&`, which Mexican numbers may hold, in upper case.
fn compact(number: &str) -> String {
    let kept = |character: &char| character.is_alphanumeric() || *character == '&';
    number.chars().filter(kept).flat_map(char::to_uppercase).collect()
}
