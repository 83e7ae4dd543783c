//! What is sent: the interval of tests, and what is meant by the three members of an end.

use regente_domain::subscription::data::{read_changes, read_new};
use regente_domain::subscription::{CancellationChange, Update};
use serde_json::{Map, Value, json};

use super::day;

fn members(body: &Value) -> Map<String, Value> {
    body.as_object().unwrap().clone()
}

#[test]
fn production_takes_no_daily_interval() {
    let id = "225d39bc-1fbb-480a-90bd-f0caad05d2d0";
    let body = |interval: &str| {
        members(&json!({
            "name": "Premium", "merchantId": id, "customerId": id,
            "items": [{ "name": "Plan", "amount": 1, "quantity": 1 }], "recurrence": { "interval": interval },
            "paymentMethod": { "type": "credit", "card": { "cardId": id } },
        }))
    };
    let said = "recurrence.interval must be one of the following values: \
                weekly, monthly, quarterly, yearly, biennial, triennial";
    let refused = read_new(&body("daily"), true).unwrap_err();
    assert_eq!(refused.details(), [said]);
    let change = members(&json!({ "recurrence": { "interval": "daily" } }));
    assert_eq!(read_changes(&change, true).unwrap_err().details(), [said]);
    for (interval, is_live) in [("weekly", true), ("daily", false)] {
        read_new(&body(interval), is_live).unwrap();
    }
}

#[test]
fn three_members_say_what_becomes_of_an_end() {
    let on = "2030-12-31";
    let set = |on: Option<&str>, reason: Option<&str>| {
        Some(CancellationChange::Set { on: on.map(day), reason: reason.map(str::to_owned) })
    };
    let cases = [
        (json!({}), None),
        (json!({ "cancelAtPeriodEnd": null, "scheduledCancellationAt": null }), None),
        (json!({ "cancelAtPeriodEnd": true }), set(None, None)),
        (json!({ "cancelAtPeriodEnd": true, "scheduledCancellationAt": on }), set(Some(on), None)),
        (
            json!({ "scheduledCancellationAt": on, "scheduledCancellationReason": "Moved" }),
            set(Some(on), Some("Moved")),
        ),
        (json!({ "cancelAtPeriodEnd": false }), Some(CancellationChange::Undo)),
        (
            json!({ "cancelAtPeriodEnd": false, "scheduledCancellationAt": on }),
            Some(CancellationChange::Undo),
        ),
    ];
    for (body, cancellation) in cases {
        let update = Update::from(&read_changes(&members(&body), false).unwrap());
        assert_eq!(update, Update { cancellation, ..Update::default() }, "{body}");
    }
}
