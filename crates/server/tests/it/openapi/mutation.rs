//! Makes valid bodies invalid: leaves out each required member, and gives each member values that its schema refuses.

use std::fmt;

use serde_json::{Value, json};

use crate::support::document::schema::Members;
use crate::support::document::{Document, schema};

/// A step from a value to one inside of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Step {
    Member(String),
    First,
}

/// The path of a member as problems name it: `providers[0].name`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(Vec<Step>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Member(name) if index == 0 => f.write_str(name)?,
                Step::Member(name) => write!(f, ".{name}")?,
                Step::First => f.write_str("[0]")?,
            }
        }
        Ok(())
    }
}

impl Place {
    fn then(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    fn member(&self, name: &str) -> Self {
        self.then(Step::Member(name.to_owned()))
    }

    fn pointer(&self) -> String {
        let step = |step: &Step| match step {
            Step::Member(name) => format!("/{name}"),
            Step::First => "/0".to_owned(),
        };
        self.0.iter().map(step).collect()
    }

    /// Whether a problem is about this path or one below it.
    pub fn is_named_by(&self, problem: &str) -> bool {
        let rest = problem.strip_prefix(&self.to_string());
        rest.is_some_and(|rest| rest.starts_with([' ', '.', '[']))
    }
}

/// A change that makes a body invalid.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    pub place: Place,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    LeaveOut,
    Set(Value),
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.change {
            Change::LeaveOut => write!(f, "without {}", self.place),
            Change::Set(value) => {
                let text = value.to_string();
                write!(f, "{} = {}", self.place, text.chars().take(40).collect::<String>())
            }
        }
    }
}

impl Mutation {
    pub fn leave_out(member: &str) -> Self {
        Self { place: Place::default().member(member), change: Change::LeaveOut }
    }

    /// The changed body; `None` when the body lacks the place.
    pub fn apply(&self, body: &Value) -> Option<Value> {
        let (last, parents) = self.place.0.split_last()?;
        let mut body = body.clone();
        let parent = body.pointer_mut(&Place(parents.to_vec()).pointer())?;
        match (last, &self.change) {
            (Step::Member(name), Change::LeaveOut) => {
                parent.as_object_mut()?.shift_remove(name)?;
            }
            (Step::Member(name), Change::Set(value)) => {
                parent.as_object_mut()?.insert(name.clone(), value.clone());
            }
            (Step::First, Change::Set(value)) => *parent.as_array_mut()?.first_mut()? = value.clone(),
            (Step::First, Change::LeaveOut) => return None,
        }
        Some(body)
    }
}

/// Every change that the schema of a body forbids.
pub fn mutations(document: &Document, schema: &Value) -> Vec<Mutation> {
    let mut found = Vec::new();
    inside(document, schema, &Place::default(), &mut found);
    found
}

fn inside(document: &Document, schema: &Value, place: &Place, found: &mut Vec<Mutation>) {
    let schema = plain(document, schema);
    if schema.get("discriminator").is_some() {
        let variants = schema["oneOf"].as_array().expect("variants");
        variants.iter().for_each(|variant| inside(document, variant, place, found));
        return;
    }
    let required = schema.get("required").and_then(Value::as_array);
    for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let place = place.member(name);
        if required.is_some_and(|names| names.contains(&name.as_str().into())) {
            found.push(Mutation { place: place.clone(), change: Change::LeaveOut });
        }
        wrong_values(document, member, &place, found);
        inside(document, member, &place, found);
    }
    if let Some(items) = schema.get("items") {
        let place = place.then(Step::First);
        wrong_values(document, items, &place, found);
        inside(document, items, &place, found);
    }
}

/// A schema without references and without the null of an optional member.
fn plain<'a>(document: &'a Document, schema: &'a Value) -> &'a Value {
    let schema = document.resolve(schema);
    let choices = schema.get("oneOf").and_then(Value::as_array).map(Vec::as_slice);
    match choices {
        Some([only, null]) if *null == json!({ "type": "null" }) => plain(document, only),
        Some(_) | None => schema,
    }
}

fn wrong_values(document: &Document, member: &Value, place: &Place, found: &mut Vec<Mutation>) {
    let mut candidates = vec![
        Value::Null,
        json!(true),
        json!("true"),
        json!("!"),
        json!(""),
        json!(42),
        json!(1.5),
        json!([]),
        json!([7]),
        json!({}),
        json!({ "unknown": 1 }),
    ];
    let bounds = plain(document, member);
    let bound = |name: &str| bounds.get(name).and_then(Value::as_i64);
    candidates.extend(bound("minimum").map(|least| json!(least - 1)));
    candidates.extend(bound("maximum").map(|most| json!(most + 1)));
    let chars_max =
        bounds.get("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    candidates.extend(chars_max.map(|most| json!("é".repeat(most + 1))));
    let refused = candidates
        .into_iter()
        .filter(|value| !schema::problems(document, member, value, Members::Any).is_empty());
    found.extend(refused.map(|value| Mutation { place: place.clone(), change: Change::Set(value) }));
}
