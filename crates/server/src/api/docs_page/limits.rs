//! What a schema says of a value besides its type, in words.

use serde_json::Value;

use super::text::{Html, joined};

/// The longest closed list that is shown wherever it is named. Longer ones are linked.
pub(super) const WORDS_SHOWN_MAX: usize = 12;

/// The limits of a schema, each as a phrase.
pub(super) fn of(schema: &Value) -> Vec<Html> {
    let between = |least: &str, most: &str, unit: &str| {
        let bounds = (schema.get(least), schema.get(most));
        let said = match bounds {
            (Some(least), Some(most)) if least == most => format!("exactly {least}"),
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => return None,
        };
        Some(Html::text(&format!("{said}{unit}")))
    };
    let words = schema.get("enum").and_then(Value::as_array).map(|words| match words.as_slice() {
        [only] => Html::text("always ").and(value(only)),
        several => Html::text("one of ").and(joined(several.iter().map(value), " ")),
    });
    let others = match schema.get("additionalProperties") {
        Some(Value::Bool(true)) => Some(Html::text("any further fields")),
        Some(Value::Bool(false)) => Some(Html::text("no further fields")),
        Some(_) | None => None,
    };
    let said =
        |member: &str, phrase: &str| schema.get(member).map(|said| Html::text(phrase).and(value(said)));
    let example = schema.get("example").filter(|example| !example.is_object() && !example.is_array());
    [
        between("minLength", "maxLength", " characters"),
        between("minimum", "maximum", ""),
        between("minItems", "maxItems", " entries"),
        words,
        said("pattern", "matches "),
        said("default", "default "),
        example.map(|example| Html::text("such as ").and(value(example))),
        others,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A value as it is written; texts without quotation marks.
fn value(value: &Value) -> Html {
    match value.as_str() {
        Some("") => Html::code("\"\""),
        Some(text) => Html::code(text),
        None => Html::code(&value.to_string()),
    }
}
