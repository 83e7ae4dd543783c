//! The way of a charge: which providers could be asked and why, and what each was asked, from its explanation.

use serde_json::Value;

use super::super::visit::{Visit, amount_of, filled};
use super::super::words::About;

/// The type of what gives back or releases.
const VOID: &str = "void";

/// A call to a provider.
pub(super) struct Step {
    pub(super) class: &'static str,
    pub(super) name: String,
    pub(super) provider: String,
    pub(super) amount: String,
    pub(super) when: String,
    pub(super) outcome: String,
    /// What more is known, with its names.
    pub(super) notes: Vec<(String, String)>,
}

/// The providers in their order, and what chose it.
pub(super) struct Route {
    pub(super) chosen_by: String,
    pub(super) candidates: Vec<Candidate>,
    /// Why nobody else was asked.
    pub(super) stopped: Option<String>,
}

/// A provider of the route.
pub(super) struct Candidate {
    pub(super) class: &'static str,
    pub(super) name: String,
    pub(super) priority: Option<String>,
    pub(super) became: String,
    pub(super) why: Option<String>,
}

/// The calls, oldest first.
pub(super) fn steps(visit: &Visit, charge: &Value, explanation: &Value) -> Vec<Step> {
    let steps = explanation["steps"].as_array().into_iter().flatten();
    steps.map(|step| Step::of(visit, charge, step)).collect()
}

/// Those of them that give back.
pub(super) fn refunds(visit: &Visit, charge: &Value, explanation: &Value) -> Vec<Step> {
    let steps = explanation["steps"].as_array().into_iter().flatten();
    steps.filter(|step| step["requestType"] == VOID).map(|step| Step::of(visit, charge, step)).collect()
}

impl Step {
    fn of(visit: &Visit, charge: &Value, step: &Value) -> Self {
        let words = visit.words;
        let outcome = step["outcome"].as_str().unwrap_or_default();
        Self {
            class: class_of(outcome),
            name: words.name(About::Request, step["requestType"].as_str().unwrap_or_default()).to_owned(),
            provider: provider_name(&step["provider"]),
            amount: amount_of(visit, charge, &step["amount"]),
            when: visit.moment(&step["beganAt"]),
            outcome: words.name(About::Outcome, outcome).to_owned(),
            notes: notes(visit, step, request_of(charge, step)),
        }
    }
}

/// The transaction request of a step.
fn request_of<'a>(charge: &'a Value, step: &Value) -> &'a Value {
    let requests = charge["transactionRequests"].as_array().into_iter().flatten();
    let mut own = requests.filter(|request| request["id"] == step["transactionRequestId"]);
    own.next().unwrap_or(&Value::Null)
}

fn notes(visit: &Visit, step: &Value, request: &Value) -> Vec<(String, String)> {
    let t = &visit.words.t;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let error = &request["providerError"];
    let duration = step["durationMs"].as_u64();
    let probes = step["probes"].as_u64().filter(|probes| *probes > 0);
    let told_by = step["toldBy"].as_str().map(|by| visit.words.name(About::Teller, by).to_owned());
    let moment = |value: &Value| value.is_string().then(|| visit.moment(value));
    let gap =
        |text: &str, name: &str, value: Option<String>| value.map(|value| filled(text, &[(name, &value)]));
    let mut notes: Vec<(String, String)> = [
        (&t.decline, text(&error["message"])),
        (&t.decline_code, text(&step["declinedCode"])),
        (&t.network, text(&error["networkDeniedMessage"]).or_else(|| text(&error["networkDeniedReason"]))),
        (&t.told_by, told_by),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.clone(), value?)))
    .collect();
    let sentences = [
        gap(&t.duration, "millis", duration.map(|millis| millis.to_string())),
        gap(&t.probes, "count", probes.map(|count| count.to_string())),
        gap(&t.next_probe, "time", moment(&step["nextProbeAt"])),
        gap(&t.given_up, "time", moment(&step["givenUpAt"])),
        (step["setByHand"] == true).then(|| t.set_by_hand.clone()),
    ];
    notes.extend(sentences.into_iter().flatten().map(|sentence| (String::new(), sentence)));
    notes
}

impl Route {
    pub(super) fn of(visit: &Visit, explanation: &Value) -> Self {
        let (words, t) = (visit.words, &visit.words.t);
        let chosen_by = match explanation["flow"].as_object() {
            Some(flow) => {
                let name = flow.get("name").and_then(Value::as_str);
                let name = name.or_else(|| flow.get("id").and_then(Value::as_str)).unwrap_or_default();
                filled(&t.route_flow, &[("name", name)])
            }
            None => t.route_by_priority.clone(),
        };
        let candidates = explanation["providers"].as_array().into_iter().flatten();
        Self {
            chosen_by,
            candidates: candidates.map(|candidate| Candidate::of(visit, explanation, candidate)).collect(),
            stopped: explanation["stopped"].as_str().map(|why| words.name(About::Stopped, why).to_owned()),
        }
    }
}

impl Candidate {
    fn of(visit: &Visit, explanation: &Value, candidate: &Value) -> Self {
        let (words, t) = (visit.words, &visit.words.t);
        let provider = &candidate["provider"];
        let steps = explanation["steps"].as_array().into_iter().flatten();
        let mut asked = steps.filter(|step| step["provider"]["providerId"] == provider["providerId"]);
        let outcome = asked.next().and_then(|step| step["outcome"].as_str());
        let skipped = candidate["skipped"].as_str();
        let (class, became) = match (outcome, skipped) {
            (Some(outcome), _) => {
                let became = format!("{}: {}", t.route_asked, words.name(About::Outcome, outcome));
                (class_of(outcome), became)
            }
            (None, Some(_)) => ("", t.route_skipped.clone()),
            (None, None) => ("", t.route_not_reached.clone()),
        };
        let circuit = candidate["circuit"].as_str().map(|note| words.name(About::Circuit, note));
        let why = skipped.map(|why| words.name(About::Skipped, why)).or(circuit);
        Self {
            class,
            name: provider_name(provider),
            priority: provider["priority"]
                .as_i64()
                .map(|number| filled(&t.priority, &[("number", &number.to_string())])),
            became,
            why: why.map(str::to_owned),
        }
    }
}

/// The merchant's name for a provider, with its type.
fn provider_name(provider: &Value) -> String {
    let kind = provider["providerType"].as_str().unwrap_or_default();
    match provider["name"].as_str() {
        Some(name) => format!("{name} ({kind})"),
        None => kind.to_owned(),
    }
}

/// The class of an outcome, by which it has a colour beside its name.
fn class_of(outcome: &str) -> &'static str {
    match outcome {
        "approved" => "good",
        "declined" | "no_effect" => "bad",
        _ => "wait",
    }
}
