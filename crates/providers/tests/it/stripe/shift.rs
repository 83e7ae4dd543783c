//! A charge that goes on only when the issuer is liable, authenticated by the provider.

use regente_domain::charge::authentication::{LiabilityShift, Purpose};
use regente_domain::money::Amount;
use regente_providers::authentication::{Proof, ThreeDSecure};
use regente_providers::outcome::Answer;
use regente_providers::request::{Authorization, Call, Operation};
use serde_json::{Value, json};

use super::faults::{CANCEL, CREATE, PROVIDER_FAILED, REFUND, answered, canceled, fault, intent};
use super::loopback::Reply;
use super::{APPROVED, AUTHORIZATION, call, recorded, with};
use crate::support::{approved, authorization, declined};

/// A charge that goes on only when the issuer is liable.
fn demanding() -> Call {
    let return_url = "https://regente.example/back".to_owned();
    let data = Box::<ThreeDSecure>::default();
    let proof = Proof::ToDo { purpose: Purpose::Authenticate, data, return_url };
    call(
        AUTHORIZATION,
        Operation::Authorize(Authorization {
            amount: Amount::new(1_500).unwrap(),
            proof: Some(Box::new(proof)),
            liability_shift: LiabilityShift::Required,
            ..authorization(APPROVED, Some("123"))
        }),
    )
}

/// The payment for it, with this result of 3-D Secure.
fn demanded(status: &str, result: Value) -> Reply {
    intent(json!({
        "status": status,
        "metadata": { "regente_liability_shift": "required" },
        "latest_charge": { "payment_method_details": { "card": { "three_d_secure": result } } },
    }))
}

#[tokio::test]
async fn what_was_taken_without_the_shift_is_given_back() {
    for result in ["authenticated", "attempt_acknowledged"] {
        let (answer, lines) =
            answered(demanding(), [demanded("succeeded", json!({ "result": result }))]).await;
        approved(answer);
        assert_eq!(lines, [CREATE]);
    }
    for result in [json!({ "result": "exempted" }), json!({ "result": "not_supported" }), Value::Null] {
        let refund = Reply::Json(200, recorded("refund"));
        let (answer, lines) = answered(demanding(), [demanded("succeeded", result.clone()), refund]).await;
        let decline = declined(answer);
        assert_eq!(decline.network_denied_reason.as_deref(), Some("unable_to_perform_authentication"));
        assert_eq!(lines, [CREATE, REFUND]);
        let (answer, lines) = answered(demanding(), [demanded("requires_capture", result), canceled()]).await;
        declined(answer);
        assert_eq!(lines, [CREATE, CANCEL]);
    }
    // A refund can fail: it counts once it has succeeded, which the first answer to its key never says again.
    let refund = |status: &str| Reply::Json(200, with(recorded("refund"), json!({ "status": status })));
    for (now, is_refused) in [("succeeded", true), ("pending", false), ("failed", false)] {
        let replies = [demanded("succeeded", Value::Null), refund("pending"), refund(now)];
        let (answer, lines) = answered(demanding(), replies).await;
        assert_eq!(lines, [CREATE, REFUND, "GET /v1/refunds/re_3SQ"]);
        assert_eq!(matches!(answer, Answer::Declined(_)), is_refused, "{now}: {answer:?}");
        assert!(is_refused || answer == PROVIDER_FAILED, "{now}: {answer:?}");
    }
    // The answer does not tell.
    let bare = intent(json!({
        "metadata": { "regente_liability_shift": "required" }, "latest_charge": "ch_3SQ",
    }));
    assert_eq!(answered(demanding(), [bare]).await, (PROVIDER_FAILED, vec![CREATE.to_owned()]));
    // While it is not certain that it was given back, nothing is.
    for reply in [Reply::Cut, fault()] {
        let (answer, _) = answered(demanding(), [demanded("succeeded", Value::Null), reply]).await;
        assert_eq!(answer, PROVIDER_FAILED);
    }
}
