//! The settings of an account for its subscriptions.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::subscriptions::SETTINGS;

stories! {
    settings_are_made_by_their_first_change,
    every_wrong_setting_is_named,
}

fn rules(days: &[u8]) -> Value {
    days.iter().map(|days| json!({ "daysAfterLastAttempt": days })).collect()
}

async fn settings_are_made_by_their_first_change(app: TestApp) {
    assert_eq!(app.get(SETTINGS).await.status, 404);
    let made = app.patch(SETTINGS, &json!({ "statementDescriptor": "MY COMPANY" })).await.expect(200);
    let expected = json!({ "clientId": app.client.id, "retryPolicy": rules(&[1, 4, 9, 16]),
        "statementDescriptor": "MY COMPANY", "cancelAfterAllRetries": false, "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"] });
    assert_eq!(made, expected);
    assert_eq!(app.get(SETTINGS).await.expect(200), made);

    let changes = json!({ "retryPolicy": rules(&[3, 3]), "cancelAfterAllRetries": true });
    let after = app.patch(SETTINGS, &changes).await.expect(200);
    assert_eq!((&after["retryPolicy"], &after["cancelAfterAllRetries"]), (&rules(&[3, 3]), &json!(true)));
    assert_eq!(
        (&after["statementDescriptor"], &after["createdAt"]),
        (&json!("MY COMPANY"), &made["createdAt"])
    );
    assert_ne!(after["updatedAt"], made["updatedAt"]);
    // The same again changes nothing.
    assert_eq!(app.patch(SETTINGS, &changes).await.expect(200), after);

    // The older name of the rules; the newer one wins. Null removes the text.
    let older = json!({ "retryRules": rules(&[2]), "statementDescriptor": null });
    let shown = app.patch(SETTINGS, &older).await.expect(200);
    assert_eq!((&shown["retryPolicy"], shown.get("statementDescriptor")), (&rules(&[2]), None));
    let both = json!({ "retryRules": rules(&[2]), "retryPolicy": rules(&[1]) });
    assert_eq!(app.patch(SETTINGS, &both).await.expect(200)["retryPolicy"], rules(&[1]));

    let other = app.another_client().await;
    assert_eq!(app.call(&other, Method::GET, SETTINGS, &[], None).await.status, 404);
}

async fn every_wrong_setting_is_named(app: TestApp) {
    let window = "retryPolicy must not have its last attempt more than 30 days after the first";
    let cases = [
        (json!({ "retryPolicy": [] }), "retryPolicy must contain at least 1 elements"),
        (json!({ "retryPolicy": null }), "retryPolicy should not be empty"),
        (
            json!({ "retryPolicy": rules(&[1, 2, 3, 4, 5, 6, 7]) }),
            "retryPolicy must contain no more than 6 elements",
        ),
        (
            json!({ "retryPolicy": [{ "daysAfterLastAttempt": 0 }, {}] }),
            "retryPolicy[0].daysAfterLastAttempt must not be less than 1; \
             retryPolicy[1].daysAfterLastAttempt should not be empty",
        ),
        (
            json!({ "retryRules": rules(&[31]) }),
            "retryPolicy[0].daysAfterLastAttempt must not be greater than 30",
        ),
        // Days that do not rise are gaps: 16 and 15 days are 31 together.
        (json!({ "retryPolicy": rules(&[16, 15]) }), window),
        (
            json!({ "statementDescriptor": "A".repeat(26), "cancelAfterAllRetries": 1 }),
            "statementDescriptor must be shorter than or equal to 25 characters; \
             cancelAfterAllRetries must be a boolean",
        ),
    ];
    for (body, said) in cases {
        assert_eq!(app.patch(SETTINGS, &body).await.details(400).join("; "), said, "{body}");
    }
    assert_eq!(app.get(SETTINGS).await.status, 404);
}
