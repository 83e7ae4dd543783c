//! Independent receivers verify deliveries: programs in other languages with third-party packages (`tests/receivers`),
//! and the examples of `docs/webhooks.md` as they are.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use regente_domain::time::Timestamp;
use regente_engine::deliveries::keys::rotate;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::deliveries::deliveries;
use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::any_charge;
use crate::support::receiver::{Got, Receiver};
use crate::support::records::put;
use crate::support::time::MINUTE;
use crate::support::webhooks::webhook;

stories! {
    live_deliveries_are_genuine_to_receivers_of_others,
    what_was_changed_or_is_old_is_refused,
    a_retry_is_fresh_though_the_event_is_old,
    both_keys_are_good_in_the_overlap_and_the_new_one_afterwards,
}

/// A language's receiver, and the path for one kind of signature.
const WAYS: [(Language, &str); 4] = [
    (Language::JavaScript, "/standard"),
    (Language::JavaScript, "/contract"),
    (Language::JavaScript, "/documented"),
    (Language::Python, "/documented"),
];
const HEADERS: [&str; 6] = [
    "content-type",
    "x-plug-date",
    "x-plug-signature",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
];
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    JavaScript,
    Python,
}

/// Which of the two signatures is verified.
fn is_dated((language, path): (Language, &str)) -> bool {
    match language {
        Language::JavaScript => path != "/standard",
        Language::Python => false,
    }
}

struct Others {
    javascript: Program,
    python: Program,
    http: reqwest::Client,
    _examples: tempfile::TempDir,
}

struct Program {
    _child: Child,
    url: String,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The documentation's example in a language.
fn example(language: &str) -> String {
    let page = std::fs::read_to_string(folder("docs/webhooks.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```\n").unwrap().0.to_owned()
}

impl Others {
    async fn start() -> Self {
        let install = Command::new(folder("scripts/install-receivers")).status().await.unwrap();
        assert!(install.success(), "the receivers are not there, and cannot be installed");
        let examples = tempfile::tempdir().unwrap();
        std::fs::write(examples.path().join("documented.mjs"), example("js")).unwrap();
        std::fs::write(examples.path().join("documented.py"), example("python")).unwrap();
        let installed = folder("target/receivers");
        let mut javascript = Command::new("node");
        javascript.arg(installed.join("receiver.mjs")).arg(examples.path().join("documented.mjs"));
        let mut python = Command::new(installed.join("python/bin/python"));
        python.arg("-B").arg(installed.join("receiver.py")).arg(examples.path());
        Self {
            javascript: Program::start(javascript).await,
            python: Program::start(python).await,
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            _examples: examples,
        }
    }

    fn url(&self, (language, path): (Language, &str)) -> String {
        let program = match language {
            Language::JavaScript => &self.javascript,
            Language::Python => &self.python,
        };
        format!("{}{path}", program.url)
    }

    /// Sets the trusted keys and the time.
    async fn trust(&self, keys: &[&Value], now: Timestamp) {
        let trust = json!({ "keys": keys, "now": now.as_millis() });
        for program in [&self.javascript, &self.python] {
            let answer = self.http.put(format!("{}/trust", program.url)).json(&trust).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), 200);
        }
    }

    /// The ways that accept a delivery, forwarded unchanged.
    async fn genuine(&self, got: &Got) -> Vec<(Language, &'static str)> {
        let mut ways = Vec::new();
        for way in WAYS {
            let mut request = self.http.post(self.url(way)).body(got.body.clone());
            for name in HEADERS {
                request = request.header(name, got.header(name).unwrap());
            }
            let answer = request.send().await.unwrap();
            let (status, why) = (answer.status().as_u16(), answer.text().await.unwrap());
            match status {
                200 => ways.push(way),
                401 => {}
                _ => panic!("{way:?}: {status} {why}"),
            }
        }
        ways
    }
}

impl Program {
    /// Starts a receiver, whose first output line is its port.
    async fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = tokio::time::timeout(Duration::from_secs(30), lines.next_line()).await.unwrap().unwrap();
        Self { _child: child, url: format!("http://127.0.0.1:{}", port.expect("it starts")) }
    }
}

async fn key(app: &TestApp, id: &str, member: &str) -> Value {
    app.get(&format!("/v1/webhooks/{id}")).await.expect(200)[member].clone()
}

/// A delivery as our own receiver got it.
async fn captured(app: &TestApp, receiver: &Receiver) -> Got {
    any_charge(app).await;
    app.run_jobs().await;
    receiver.received().pop().unwrap()
}

async fn live_deliveries_are_genuine_to_receivers_of_others(app: TestApp) {
    let others = Others::start().await;
    let mut webhooks = Vec::new();
    for way in WAYS {
        let body = json!({ "event": "transaction.authorized", "endpoint": others.url(way) });
        let made = app.post("/v1/webhooks", &body).await.expect(201);
        webhooks.push((way, made));
    }
    let keys: Vec<&Value> = webhooks.iter().map(|(_, made)| &made["publicKey"]).collect();
    others.trust(&keys, app.clock.deployment()).await;
    let body = put(charge_body(&app.merchant().await, APPROVED), "description", "Pão de queijo ✓");
    app.post("/v1/charges", &body).await.expect(201);
    app.run_jobs().await;
    for (way, made) in &webhooks {
        let delivery = deliveries(&app, made["id"].as_str().unwrap()).await.remove(0);
        assert_eq!(delivery["status"], "delivered", "{way:?}: {delivery}");
    }
    // Without their keys nothing is.
    others.trust(&[], app.clock.deployment()).await;
    any_charge(&app).await;
    app.run_jobs().await;
    for (way, made) in &webhooks {
        let delivery = deliveries(&app, made["id"].as_str().unwrap()).await.remove(0);
        assert_eq!(delivery["attempts"][0]["httpStatus"], 401, "{way:?}");
    }
}

async fn what_was_changed_or_is_old_is_refused(app: TestApp) {
    let (others, receiver) = (Others::start().await, Receiver::start().await);
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let stranger = webhook(&app, &receiver, "transaction.failed", "/stranger").await;
    let (trusted, foreign) = (key(&app, &id, "publicKey").await, key(&app, &stranger, "publicKey").await);
    let got = captured(&app, &receiver).await;
    let now = app.clock.deployment();
    others.trust(&[&trusted], now).await;
    assert_eq!(others.genuine(&got).await, WAYS);

    let mut other_body = got.clone();
    let amount = other_body.body.windows(3).position(|window| window == b"150").unwrap();
    other_body.body[amount] = b'9';
    assert_eq!(others.genuine(&other_body).await, [], "another amount");
    let with = |changes: &[(&'static str, &str)]| {
        let mut changed = got.clone();
        for (name, value) in changes {
            changed.headers.insert(*name, value.parse().unwrap());
        }
        changed
    };
    let later = |name: &str| (got.header(name).unwrap().parse::<i64>().unwrap() + 1).to_string();
    let other_date =
        with(&[("x-plug-date", &later("x-plug-date")), ("webhook-timestamp", &later("webhook-timestamp"))]);
    assert_eq!(others.genuine(&other_date).await, [], "another date");
    let other_id = with(&[("webhook-id", "5616b19e-4d99-4bd3-b415-4990e5cab4f4")]);
    let dated = WAYS.into_iter().filter(|way| is_dated(*way)).collect::<Vec<_>>();
    assert_eq!(others.genuine(&other_id).await, dated, "the dated signature is not of that header");
    let shared_secret = got.header("webhook-signature").unwrap().replace("v1a,", "v1,");
    let nonsense = with(&[("x-plug-signature", "00"), ("webhook-signature", &shared_secret)]);
    assert_eq!(others.genuine(&nonsense).await, [], "no signature, and one of another kind");

    others.trust(&[&foreign], now).await;
    assert_eq!(others.genuine(&got).await, [], "another webhook's key");
    for (shift, ways) in [(4 * MINUTE, WAYS.to_vec()), (6 * MINUTE, Vec::new())] {
        for now in [now + shift, now - shift] {
            others.trust(&[&foreign, &trusted], now).await;
            assert_eq!(others.genuine(&got).await, ways, "{shift:?}");
        }
    }
}

async fn a_retry_is_fresh_though_the_event_is_old(app: TestApp) {
    let others = Others::start().await;
    let mut webhooks = Vec::new();
    for way in WAYS {
        let body = json!({ "event": "transaction.authorized", "endpoint": others.url(way) });
        webhooks.push(app.post("/v1/webhooks", &body).await.expect(201));
    }
    let keys: Vec<&Value> = webhooks.iter().map(|made| &made["publicKey"]).collect();
    // Receivers whose clocks are ahead take the first attempt for an old one.
    others.trust(&keys, app.clock.deployment() + 6 * MINUTE).await;
    any_charge(&app).await;
    app.run_jobs().await;
    app.later(6 * MINUTE).await;
    for made in &webhooks {
        let delivery = deliveries(&app, made["id"].as_str().unwrap()).await.remove(0);
        let answers: Vec<&Value> =
            delivery["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["httpStatus"]).collect();
        assert_eq!(answers, [401, 200], "{delivery}");
    }
}

async fn both_keys_are_good_in_the_overlap_and_the_new_one_afterwards(app: TestApp) {
    let (others, receiver) = (Others::start().await, Receiver::start().await);
    let id = webhook(&app, &receiver, "transaction.authorized", "/").await;
    let former = key(&app, &id, "publicKey").await;
    rotate(&app.app, id.parse().unwrap(), DAY).await.unwrap();
    let new = key(&app, &id, "nextPublicKey").await;
    let standard = WAYS.into_iter().filter(|way| !is_dated(*way)).collect::<Vec<_>>();

    let got = captured(&app, &receiver).await;
    for (keys, ways) in [
        (&[&former][..], WAYS.to_vec()),
        (&[&new], standard),
        (&[&new, &former], WAYS.to_vec()),
        (&[], Vec::new()),
    ] {
        others.trust(keys, app.clock.deployment()).await;
        assert_eq!(others.genuine(&got).await, ways, "in the overlap, with {} keys", keys.len());
    }

    app.later(DAY).await;
    let got = captured(&app, &receiver).await;
    for (keys, ways) in
        [(&[&new][..], WAYS.to_vec()), (&[&former], Vec::new()), (&[&former, &new], WAYS.to_vec())]
    {
        others.trust(keys, app.clock.deployment()).await;
        assert_eq!(others.genuine(&got).await, ways, "afterwards, with {} keys", keys.len());
    }
}
