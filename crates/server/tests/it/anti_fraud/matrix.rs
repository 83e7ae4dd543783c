//! Every mode with every verdict, every set of options and both capture modes.

use std::time::Duration;

use serde_json::{Value, json};

use super::{FAILED_RISK, read};
use crate::support::agreement::{agree_on_all, all_charges, nothing_is_open};
use crate::support::anti_fraud::{APPROVED_RISK, PENDING, REPROVED, analysed, analysing, requests};
use crate::support::app::{TestApp, stories};
use crate::support::read::{announced, text};

stories! {
    the_options_decide_after_the_reservation,
    the_options_decide_before_the_charge,
    the_options_decide_when_the_verdict_comes_later,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    After,
    Before,
    Later,
}

#[derive(Clone, Copy)]
struct Options {
    capture_on_approved: bool,
    refund_on_reproved: bool,
    on_error: OnError,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OnError {
    Nothing,
    Capture,
    Refund,
}

/// A charge that was made, with what is expected of it in the end.
struct Row {
    id: String,
    name: String,
    expected: Expected,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Expected {
    status: &'static str,
    amount: i64,
    /// Newest first.
    requests: Vec<String>,
    events: Vec<&'static str>,
}

async fn the_options_decide_after_the_reservation(app: TestApp) {
    all(app, Mode::After).await;
}

async fn the_options_decide_before_the_charge(app: TestApp) {
    all(app, Mode::Before).await;
}

async fn the_options_decide_when_the_verdict_comes_later(app: TestApp) {
    all(app, Mode::Later).await;
}

async fn all(app: TestApp, mode: Mode) {
    let mut rows = Vec::new();
    for (place, options) in every_options().into_iter().enumerate() {
        let merchant = analysing(&app, &options.sent(mode, place)).await;
        for identity in [APPROVED_RISK, REPROVED, FAILED_RISK, PENDING] {
            for capture in [true, false] {
                let charge =
                    app.post("/v1/charges", &analysed(&merchant, identity, capture)).await.expect(201);
                if mode == Mode::Later {
                    assert_eq!(charge["status"], "pre_authorized", "the verdict comes later");
                    assert_eq!(
                        requests(&charge),
                        ["anti_fraud success pending", "pre_authorization success"]
                    );
                } else {
                    assert_eq!(read(&app, text(&charge["id"])).await, charge, "the answer is the charge");
                }
                rows.push(Row {
                    id: text(&charge["id"]).to_owned(),
                    name: format!("options {place}, identity {identity}, capture {capture}"),
                    expected: options.expected(mode, identity, capture, failure(&charge)),
                });
            }
        }
    }
    app.later(Duration::from_secs(60 * 60)).await;
    for Row { id, name, expected } in rows {
        let charge = read(&app, &id).await;
        let expected = match mode {
            Mode::Later => expected.with_failure(failure(&charge)),
            Mode::After | Mode::Before => expected,
        };
        let events = announced(&app, &id).await;
        let found = Expected {
            status: expected.status,
            amount: charge["amount"].as_i64().unwrap(),
            requests: requests(&charge),
            events: expected.events.clone(),
        };
        assert_eq!((charge["status"].as_str(), found), (Some(expected.status), expected.clone()), "{name}");
        assert_eq!(events, expected.events, "{name}");
    }
    nothing_is_open(&app).await;
    agree_on_all(&app.books, &all_charges(&app).await).await;
}

/// The status of the analysis that failed: by lot a time-out or an error.
fn failure(charge: &Value) -> &'static str {
    let requests = charge["transactionRequests"].as_array().unwrap();
    let timed_out =
        |request: &Value| request["requestType"] == "anti_fraud" && request["requestStatus"] == "timeout";
    if requests.iter().any(timed_out) { "timeout" } else { "failed" }
}

fn every_options() -> Vec<Options> {
    let mut every = Vec::new();
    for capture_on_approved in [true, false] {
        for refund_on_reproved in [true, false] {
            for on_error in [OnError::Nothing, OnError::Capture, OnError::Refund] {
                every.push(Options { capture_on_approved, refund_on_reproved, on_error });
            }
        }
    }
    every
}

impl Options {
    /// As they are sent; every second set with the spellings of the documentation's text.
    fn sent(self, mode: Mode, place: usize) -> Value {
        let mut sent = json!({
            "captureOnError": self.on_error == OnError::Capture,
            "refundOnError": self.on_error == OnError::Refund,
            "runBeforeCharge": mode == Mode::Before,
            "productType": if mode == Mode::Later { "ASYNC" } else { "SYNC" },
        });
        let names = match place % 2 {
            0 => ["captureOnApproved", "refundOnReproved"],
            _ => ["captureOnApprove", "refundOnReprove"],
        };
        sent[names[0]] = json!(self.capture_on_approved);
        sent[names[1]] = json!(self.refund_on_reproved);
        sent
    }

    fn expected(self, mode: Mode, identity: &str, capture: bool, failure: &str) -> Expected {
        match mode {
            Mode::Before => self.before(identity, capture, failure),
            Mode::After | Mode::Later => self.after(mode, identity, capture, failure),
        }
    }

    fn before(self, identity: &str, capture: bool, failure: &str) -> Expected {
        let as_wanted = if capture { "authorization success" } else { "pre_authorization success" };
        let status = if capture { "authorized" } else { "pre_authorized" };
        let (analysis, then, status) = match (identity, self.on_error) {
            (APPROVED_RISK, _) => ("success approved".to_owned(), Some(as_wanted), status),
            (REPROVED, _) => ("failed reproved".to_owned(), None, "failed"),
            (PENDING, _) => {
                ("success pending".to_owned(), Some("pre_authorization success"), "pre_authorized")
            }
            (_, OnError::Capture) => (format!("{failure} failed"), Some(as_wanted), status),
            (_, OnError::Refund) => (format!("{failure} failed"), None, "failed"),
            (_, OnError::Nothing) => {
                (format!("{failure} failed"), Some("pre_authorization success"), "pre_authorized")
            }
        };
        let analysis = format!("anti_fraud {analysis}");
        Expected {
            status,
            amount: 150,
            requests: then.map(str::to_owned).into_iter().chain([analysis]).collect(),
            events: vec!["pending", status],
        }
    }

    fn after(self, mode: Mode, identity: &str, capture: bool, failure: &str) -> Expected {
        let (verdict, wants) = match identity {
            APPROVED_RISK => ("success approved".to_owned(), (self.capture_on_approved, false)),
            REPROVED => ("success reproved".to_owned(), (false, self.refund_on_reproved)),
            PENDING => ("success pending".to_owned(), (false, false)),
            _ => {
                let wants = (self.on_error == OnError::Capture, self.on_error == OnError::Refund);
                (format!("{failure} failed"), wants)
            }
        };
        let (follow_up, status, amount) = match wants {
            (true, _) if capture => (Some("capture success"), "authorized", 150),
            (_, true) => (Some("void success"), "canceled", 0),
            (_, false) => (None, "pre_authorized", 150),
        };
        let verdict = format!("anti_fraud {verdict}");
        let pending = "anti_fraud success pending".to_owned();
        let analysis = match mode {
            Mode::Later if identity != PENDING => vec![verdict, pending],
            Mode::Later | Mode::After | Mode::Before => vec![verdict],
        };
        let reserved = "pre_authorization success".to_owned();
        let events = match (mode, status) {
            (Mode::Later, "pre_authorized") => vec!["pending", "pre_authorized"],
            (Mode::Later, _) => vec!["pending", "pre_authorized", status],
            (Mode::After | Mode::Before, _) => vec!["pending", status],
        };
        Expected {
            status,
            amount,
            requests: follow_up.map(str::to_owned).into_iter().chain(analysis).chain([reserved]).collect(),
            events,
        }
    }
}

impl Expected {
    /// With the failure that was drawn only when the verdict came.
    fn with_failure(mut self, failure: &str) -> Self {
        for request in &mut self.requests {
            *request = request.replace("anti_fraud failed failed", &format!("anti_fraud {failure} failed"));
        }
        self
    }
}
