//! What providers that move real money are sent, and what they repeat of it, rests nowhere: not in the database, in answers, or in
//! logs of any level.

use regente_engine::settings::Settings;
use regente_store::testing::TestDatabase;
use serde_json::{Value, json};

use crate::support::app::{Adapters, TestApp};
use crate::support::bodies::charge_body;
use crate::support::bodies::payers::jose;
use crate::support::canary::cards::{Canary, Fate};
use crate::support::canary::places::{Disk, Log};
use crate::support::canary::search::Search;
use crate::support::providers::elsewhere::{Elsewhere, Said};
use crate::support::providers::{adyen, knows_the_merchant, pagarme, stripe};
use crate::support::read::text;
use crate::support::three_d_secure::hosted_body;

#[tokio::test]
async fn nothing_that_a_provider_repeats_rests_on_sqlite() {
    nothing_that_a_provider_repeats_rests(TestDatabase::fresh_sqlite()).await;
}

#[tokio::test]
async fn nothing_that_a_provider_repeats_rests_on_postgres() {
    nothing_that_a_provider_repeats_rests(TestDatabase::fresh_postgres().await).await;
}

/// The statuses of answers that repeat what was sent.
const STATUSES: [u16; 6] = [200, 400, 401, 402, 422, 500];

/// What a provider repeats of a request in each of its texts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    Everything,
    /// Short enough for any text that is kept.
    TheNumber,
}

/// An answer with this wherever a provider has a text.
fn repeats(sent: &str, status: u16) -> Value {
    json!({
        "id": sent, "status": "failed", "code": sent, "message": sent, "resultCode": "Refused",
        "pspReference": "P", "refusalReason": sent, "refusalReasonCode": sent, "errorCode": sent,
        "additionalData": { "refusalReasonRaw": sent }, "errors": { "request.card": [sent] },
        "error": { "type": "card_error", "message": sent, "code": "card_declined", "decline_code": sent },
        "charges": [{ "id": "ch_1", "status": "failed", "amount": 150, "currency": "BRL", "last_transaction": {
            "status": "not_authorized", "acquirer_return_code": sent, "acquirer_message": sent,
            "gateway_response": { "code": status.to_string(), "errors": [{ "message": sent }] },
        } }],
    })
}

async fn nothing_that_a_provider_repeats_rests(database: TestDatabase) {
    let log = Log::listen();
    let disk = Disk::of(&database);
    let elsewhere = Elsewhere::start(knows_the_merchant).await;
    let app = TestApp::on(database, Settings::default()).await.reachable().await;
    let app = app.with_adapters(Adapters::Real(elsewhere.address)).await;
    let customer = app.post("/v1/customers", &jose()).await.expect(201);
    let (mut secrets, mut answers) = (Vec::new(), Vec::new());
    for provider in [stripe(1), adyen(1), pagarme(1)] {
        let merchant = app.merchant_with(json!([provider])).await;
        for status in STATUSES {
            for (what, with_authentication) in
                [(Repeats::Everything, false), (Repeats::Everything, true), (Repeats::TheNumber, false)]
            {
                let canary = Canary::new(Fate::Approved);
                let number = canary.number.clone();
                elsewhere.answers(move |said| match what {
                    Repeats::Everything => Some((status, repeats(&said.text(), status))),
                    Repeats::TheNumber => Some((status, repeats(&number, status))),
                });
                let card = (canary.number.as_str(), canary.cvv.as_str());
                let mut sent = match with_authentication {
                    true => hosted_body(&merchant, card),
                    false => charge_body(&merchant, card),
                };
                sent["customerId"] = customer["id"].clone();
                let asked = elsewhere.all().len();
                let reply = app.post("/v1/charges", &sent).await;
                let was_sent = |said: &Said| said.text().contains(&canary.number);
                let heard = elsewhere.all()[asked..].iter().any(was_sent);
                assert!(heard || with_authentication, "{}", String::from_utf8_lossy(&reply.bytes));
                let charge = reply.expect(201);
                let explained =
                    app.get(&format!("/v1/charges/{}/explanation", text(&charge["id"]))).await.expect(200);
                answers.extend(format!("{charge}{explained}").into_bytes());
                secrets.push(canary);
            }
        }
        elsewhere.answers(knows_the_merchant);
    }
    app.later(std::time::Duration::from_secs(3 * 60 * 60)).await;
    let search = Search::of(&secrets);
    assert_eq!(search.hits(&disk.values()), [""; 0], "in the values");
    for (path, bytes) in disk.files() {
        assert_eq!(search.hits(&bytes), [""; 0], "in {}", path.display());
    }
    assert_eq!(search.hits(&answers), [""; 0], "in what was answered");
    assert_eq!(search.hits(&log.raw.bytes()), [""; 0], "in the log, if nothing were scrubbed");
    let heard = log.raw.bytes();
    assert!(heard.windows(13).any(|window| window == b"provider_http"), "the calls are in the log");
}
