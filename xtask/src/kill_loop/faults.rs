//! Draws fault plans for the simulator, and the providers of merchants.

use serde_json::{Value, json};

use super::dice::Dice;

/// Most faults of one plan.
const FAULTS_MAX: u64 = 6;

/// A fault plan of the simulator.
pub(super) fn plan(dice: &mut Dice) -> Value {
    let mut faults: Vec<Value> = (0..dice.within(1..FAULTS_MAX)).map(|_| fault(dice)).collect();
    faults.push(
        json!({ "when": { "operation": "notification" }, "then": { "lose": true }, "probability": 0.5 }),
    );
    Value::Array(faults)
}

/// The providers of a merchant; the first ones often fail.
pub(super) fn providers(count: u64, dice: &mut Dice) -> Value {
    let one = |priority: u64, dice: &mut Dice| {
        let mut provider = json!({
            "name": format!("Number {priority}"), "priority": priority,
            "credentials": { "type": "SANDBOX", "apiKey": "any" },
        });
        if priority < count {
            provider["options"] = json!({ "type": "SANDBOX", "faults": [
                { "when": { "operation": "authorization" }, "then": { "decline": "try_again" }, "probability": 0.4 },
                fault(dice),
            ] });
        }
        provider
    };
    Value::Array((1..=count).map(|priority| one(priority, dice)).collect())
}

/// An anti-fraud provider whose verdict is followed.
pub(super) fn risk(is_before: bool) -> Value {
    json!({
        "name": "Risk", "priority": 9, "credentials": { "type": "SANDBOX_ANTIFRAUD", "apiKey": "any" },
        "options": {
            "type": "ANTIFRAUD", "captureOnApproved": true, "refundOnReproved": true, "refundOnError": true,
            "runBeforeCharge": is_before, "sendAllCharges": true,
        },
    })
}

fn fault(dice: &mut Dice) -> Value {
    let point = *dice.pick(&["before_effect", "after_effect"]);
    let operation = *dice.pick(&["authorization", "capture", "void", "probe", "anti_fraud"]);
    let then = match dice.within(0..8) {
        0 if operation != "probe" => json!({ "decline": "try_again" }),
        0 | 1 => json!({ "timeout": point }),
        2 => json!({ "delay_ms": dice.within(1..400) }),
        3 => json!({ "reset": point }),
        4 => json!({ "server_error": point }),
        5 => json!({ "garbage": point }),
        6 => json!({ "slow_body_ms": dice.within(1..400) }),
        _ => json!({ "duplicate": true }),
    };
    let probability = *dice.pick(&[0.05, 0.1, 0.2, 0.4]);
    json!({ "when": { "operation": operation }, "then": then, "probability": probability })
}
