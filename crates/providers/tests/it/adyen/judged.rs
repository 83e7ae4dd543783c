//! Foreign judges: Prism holds requests and answers against the published description, and the provider's own package
//! signs notifications (`crates/providers/tests/judges/adyen`).

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use http::{HeaderMap, HeaderName, HeaderValue};
use regente_domain::charge::authentication::Purpose;
use regente_domain::charge::{Credit, PaymentMethod, Recurrence};
use regente_providers::authentication::{Mpi, Proof};
use regente_providers::outcome::{Answer, Finding, Probe, UnknownReason};
use regente_providers::request::{Authorization, Call, FollowUp, Operation};
use reqwest::Url;
use serde_json::Value;

use super::calls::{
    HMAC_KEY, boleto, by_boleto, by_card, call, capture, charge, credentials, follow_up, inquiry, payer, pix,
    reservation, reserved, taken, three_d_secure, vendor, verification, void,
};
use super::faults::providers;
use super::notifications::{authenticated, examples};
use super::upstream::{Play, Upstream};
use crate::support::{card_source, key};

const AUTHORISED: &str = include_str!("recorded/authorised.json");
const REFUSED: &str = include_str!("recorded/refused.json");
const REDIRECT: &str = include_str!("recorded/redirect.json");
const PIX: &str = include_str!("recorded/pix.json");
const BOLETO: &str = include_str!("recorded/boleto.json");
const RECEIVED: &str = include_str!("recorded/received.json");
const RETURNED: &str = include_str!("recorded/returned.json");
const INVALID: &str = include_str!("recorded/invalid.json");
const UNAUTHORIZED: &str = include_str!("recorded/unauthorized.json");

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn installed() -> PathBuf {
    let install = Command::new(folder("scripts/judges/adyen")).status().unwrap();
    assert!(install.success(), "the judges are not there, and cannot be installed");
    folder("target/judges/adyen")
}

/// Prism, between the adapter and a server that plays recorded answers.
struct Prism {
    process: Child,
    url: Url,
}

impl Prism {
    fn before(upstream: &Upstream) -> Self {
        let place = installed();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut process = Command::new("node")
            .current_dir(&place)
            .arg("node_modules/@stoplight/prism-cli/dist/index.js")
            .args(["proxy", "openapi.json", upstream.url().as_str().trim_end_matches('/')])
            .args(["--errors", "--port", &port.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let listens = lines.any(|line| line.is_ok_and(|line| line.contains("is listening")));
        assert!(listens, "Prism did not start");
        // Somebody has to read what it says, or it stops.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, url: format!("http://127.0.0.1:{port}").parse().unwrap() }
    }
}

impl Drop for Prism {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn played(status: u16, body: &str) -> Play {
    Play::Answer(status, body.to_owned())
}

fn to_do(purpose: Purpose) -> Authorization {
    let return_url = "https://pay.example/v1/charges/1/3ds-authorization".to_owned();
    let proof = Proof::ToDo { purpose, data: Box::new(three_d_secure()), return_url };
    Authorization { proof: Some(Box::new(proof)), ..by_card() }
}

fn outside() -> Authorization {
    let mpi = Mpi {
        trans_status: Some("Y".to_owned()),
        cavv: Some("AJkBB4OBmVFmgYFYFIGZAAAAAAA=".to_owned()),
        eci: Some("05".to_owned()),
        directory_server_transaction_id: Some("c4e59ceb-a382-4d6a-bc87-385d591fa09d".to_owned()),
        version: Some("2.2.0".to_owned()),
        challenged: Some(true),
        acs_transaction_id: None,
        three_ds_server_transaction_id: None,
        xid: None,
    };
    Authorization { proof: Some(Box::new(Proof::Outside(mpi))), ..by_card() }
}

fn with_everything() -> Authorization {
    let recurrence = Some(Recurrence::Unscheduled);
    Authorization {
        method: PaymentMethod::Credit(Credit { source: card_source(), installments: 12, recurrence }),
        network_transaction_id: Some("060720116005060".to_owned()),
        order_id: Some("order 7".to_owned()),
        provider_reference_key: Some("k-1".to_owned()),
        statement_descriptor: Some("LOJA".to_owned()),
        buyer: Some(Box::new(payer())),
        vendor: Some(Box::new(vendor())),
        ..by_card()
    }
}

/// Each call with a recorded answer, and what the adapter understands.
fn stories() -> Vec<(Call, u16, &'static str, &'static str)> {
    let unknown = FollowUp { transaction_id: None, ..follow_up(1500, reserved(1500)) };
    let cancelled = r#"{"merchantAccount":"M","paymentReference":"P","reference":"R","pspReference":"1","status":"received"}"#;
    vec![
        (charge(by_card()), 200, AUTHORISED, "approved"),
        (charge(with_everything()), 200, REFUSED, "declined"),
        (reservation(), 200, AUTHORISED, "approved"),
        (verification(), 200, AUTHORISED, "approved"),
        (charge(to_do(Purpose::Authenticate)), 200, REDIRECT, "pending"),
        (charge(to_do(Purpose::ShareData)), 200, AUTHORISED, "approved"),
        (charge(outside()), 200, AUTHORISED, "approved"),
        (pix(), 200, PIX, "pending"),
        (by_boleto(boleto()), 200, BOLETO, "pending"),
        (capture(1000), 201, RECEIVED, "accepted"),
        (void(1500, taken(1500)), 201, RECEIVED, "accepted"),
        (call(key(2), Operation::Void(unknown)), 201, cancelled, "accepted"),
        (charge(by_card()), 422, INVALID, "declined"),
        (charge(by_card()), 401, UNAUTHORIZED, "declined"),
        (void(500, taken(1500)), 422, INVALID, "declined"),
    ]
}

fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Approved(_) => "approved",
        Answer::Declined(_) => "declined",
        Answer::Accepted(_) => "accepted",
        Answer::Pending(_) => "pending",
        Answer::NotSent => "not sent",
        Answer::Unknown(_) => "unknown",
    }
}

/// Prism lets through what the description allows, and answers everything else by itself.
#[tokio::test]
async fn the_published_description_allows_what_is_sent_and_recorded() {
    let cancelled = r#"{"merchantAccount":"M","paymentPspReference":"P","reference":"R","pspReference":"1","status":"received"}"#;
    let wrong = RECEIVED.replace("\"received\"", "\"done\"");
    let plays = stories().into_iter().map(|(_, status, body, _)| played(status, body)).chain([
        played(201, cancelled),
        played(200, RETURNED),
        played(201, &wrong),
    ]);
    let upstream = Upstream::playing(plays);
    let prism = Prism::before(&upstream);
    let providers = providers(prism.url.clone());
    for (number, (call, _, _, expected)) in stories().into_iter().enumerate() {
        let answer = providers.call(call).await;
        assert_eq!(upstream.received().len(), 1, "story {number}: the judge refused the request: {answer:?}");
        assert_eq!(word(&answer), expected, "story {number}: {answer:?}");
    }
    assert_eq!(word(&providers.call(void(1500, reserved(1500))).await), "accepted");
    let found = providers.probe(inquiry(&[("redirectResult", "X6XtfGC3!Y")])).await;
    assert!(matches!(found, Probe::Found(Finding::Approved(_))), "{found:?}");
    assert_eq!(upstream.received().len(), 2);

    // It does judge: an answer and a request that the description does not allow.
    let unheard_of = providers.call(capture(1000)).await;
    assert_eq!(unheard_of, Answer::Unknown(UnknownReason::ProviderFailed));
    assert_eq!(upstream.received().len(), 1);
    let mut without_account = capture(1000);
    without_account.credentials = regente_providers::request::Credentials::new(serde_json::Map::new());
    let refused = providers.call(without_account).await;
    assert!(matches!(refused, Answer::Declined(_) | Answer::Unknown(_)), "{refused:?}");
    assert!(upstream.received().is_empty(), "a request without an API key");
}

/// Every example, signed by the provider's own package, is authentic, and nothing else is.
#[test]
fn what_the_providers_package_signs_is_authentic() {
    let place = installed();
    let mut signing = Command::new("node")
        .args([place.join("sign.mjs").as_os_str(), HMAC_KEY.as_ref()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    signing.stdin.take().unwrap().write_all(Value::from(examples()).to_string().as_bytes()).unwrap();
    let output = signing.wait_with_output().unwrap();
    assert!(output.status.success());
    let signed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(signed.len(), examples().len());
    for one in signed {
        let headers: HeaderMap = one["header"]
            .as_str()
            .map(|signature| {
                (HeaderName::from_static("hmacsignature"), HeaderValue::from_str(signature).unwrap())
            })
            .into_iter()
            .collect();
        let body = one["body"].as_str().unwrap();
        assert!(authenticated(&credentials(), &headers, body).is_ok(), "{body}");
        let changed = body
            .replace("\"value\":1000", "\"value\":1001")
            .replace("\"version\":\"1\"", "\"version\":\"2\"");
        if changed != body {
            assert!(authenticated(&credentials(), &headers, &changed).is_err(), "{changed}");
        }
    }
}
