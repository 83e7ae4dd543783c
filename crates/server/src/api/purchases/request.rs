//! `POST /v1/purchases`: reads the body, with checks in the order of `docs/interface/purchases.md#checks`.

use regente_domain::problems::Problems;
use regente_engine::purchases::{NewPurchase, check};
use regente_engine::settings::Settings;
use regente_providers::request::Mode;
use serde_json::{Map, Value, json};

use super::error::PurchaseError;
use super::pan;
use crate::api::charges::request::wrong_faults;
use crate::api::fields::Body;
use crate::http::business_code::BodyCode;

/// The most members of `metadata`.
const METADATA_KEYS_MAX: usize = 50;

/// Members that purchases do not support; each is refused by name.
const NOT_ON_PURCHASES: [&str; 4] = ["splitRules", "threeDSecure2", "recurrence", "vendor"];

/// Reads the body.
pub fn read(body: &Body, settings: &Settings) -> Result<NewPurchase, PurchaseError> {
    let shaped = body.read_as_with(|members, problems| look(members, settings.mode, problems));
    let pans = pan::places(body.members().get("payments"));
    let sent = match shaped {
        Ok(sent) if pans.is_empty() => sent,
        Ok(_) => return Err(pan_not_allowed(&pans)),
        Err(problems) => {
            // A card number hides all other problems at its path.
            let mut details = problems.into_details();
            details.retain(|detail| !pans.iter().any(|place| is_about(detail, place)));
            return Err(match details.is_empty() {
                true => pan_not_allowed(&pans),
                false => PurchaseError::refused(BodyCode::InvalidRequest, details),
            });
        }
    };
    Ok(check(sent, settings.purchase_payment_min)?)
}

fn pan_not_allowed(places: &[String]) -> PurchaseError {
    let details = places.iter().map(|place| format!("{place} must not hold card data")).collect();
    PurchaseError::refused(BodyCode::PanNotAllowed, details)
}

/// Whether a problem is at this path, above it or below it.
fn is_about(detail: &str, place: &str) -> bool {
    let path = detail.split(' ').next().unwrap_or(detail);
    let is_inside = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    is_inside(path, place) || is_inside(place, path)
}

/// Looks at the members as sent for what depends on the deployment, and for those that are not for purchases.
fn look(members: &Map<String, Value>, mode: Mode, problems: &mut Problems) {
    if members.get("metadata").and_then(Value::as_object).is_some_and(|data| data.len() > METADATA_KEYS_MAX) {
        problems.add("metadata", format_args!("must not have more than {METADATA_KEYS_MAX} members"));
    }
    let metadata = members.get("paymentFlow").and_then(|flow| flow.get("metadata")?.as_object());
    problems.extend(metadata.and_then(|metadata| wrong_faults(metadata, mode)).unwrap_or_default());
    for name in NOT_ON_PURCHASES {
        if members.get(name).is_some_and(|value| !value.is_null() && *value != json!([])) {
            problems.add(name, "is not available on purchases");
        }
    }
}
