//! The simulator over HTTP: calls and probes, its transaction log, invalid answers. `access`, `faults` and `process`
//! test access, faults on the wire and the process.

mod access;
mod faults;
mod process;
mod sellers;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use regente::sandbox_provider::{Access, serve};
use regente_domain::capture_mode::CaptureMode;
use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::charge::authentication::LiabilityShift;
use regente_domain::charge::{CardSource, Credit, PaymentMethod};
use regente_domain::currency::Currency;
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_providers::outcome::{Answer, Approval, Finding, Probe, UnknownReason};
use regente_providers::provider::Providers;
use regente_providers::request::{
    Authorization, Call, CardDetails, Credentials, FollowUp, Held, Inquiry, Instrument, Mode, Operation,
    OperationKind,
};
use regente_providers::sandbox::http::{PROTOCOL, RemoteError, RemoteOptions, RemoteSandbox, address};
use regente_providers::sandbox::{Sandbox, SandboxOptions, TransactionLog};
use regente_store::testing::ReservedPort;
use reqwest::StatusCode;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use uuid::Uuid;
use zeroize::Zeroizing;

/// The deadline of callers: long enough for a busy machine, and reached only where nothing is answered.
const DEADLINE: Duration = Duration::from_millis(1_500);
const SEED: u64 = 7;

/// A listening simulator in the test's process. It ends with the test's runtime.
struct Listening {
    address: SocketAddr,
    books: TransactionLog,
    http: reqwest::Client,
}

impl Listening {
    async fn start() -> Self {
        Self::with(SEED, Access::ThisMachine).await
    }

    async fn with(seed: u64, access: Access) -> Self {
        let books = TransactionLog::memory();
        let options = SandboxOptions::new(seed, Zeroizing::new(vec![3; 32]));
        let sandbox = Arc::new(Sandbox::new(options, books.clone()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, sandbox, access, std::future::pending()));
        Self { address, books, http: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    fn remote(&self) -> RemoteSandbox {
        remote(self.address, None)
    }

    fn providers(&self) -> Providers {
        providers(self.remote())
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.http.get(self.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    async fn refused(&self, request: reqwest::RequestBuilder) -> (StatusCode, String) {
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let body: Value = answer.json().await.unwrap();
        assert!(body["message"].is_string(), "{body}");
        (status, body["code"].as_str().unwrap().to_owned())
    }
}

fn remote(address: SocketAddr, key: Option<&str>) -> RemoteSandbox {
    let key = key.map(|key| Zeroizing::new(key.to_owned()));
    RemoteSandbox::new(RemoteOptions { url: format!("http://{address}"), key, deadline: DEADLINE }).unwrap()
}

fn providers(remote: RemoteSandbox) -> Providers {
    Providers::with([remote.into_adapter()])
}

/// A key that is the same in every run.
fn key(number: u128) -> Uuid {
    Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 + number)
}

fn call(number: u128, operation: Operation) -> Call {
    Call {
        key: key(number),
        object_id: Uuid::nil(),
        notify: None,
        at: at(number),
        begun_at: at(number),
        provider_type: ProviderType::Sandbox,
        credentials: Credentials::new(Map::new()),
        options: Map::new(),
        mode: Mode::Sandbox,
        test_overrides: None,
        operation,
    }
}

/// The time of a call, a second after the previous one.
fn at(number: u128) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + i64::try_from(number).unwrap() * 1_000)
}

fn authorization(number: u128, capture: CaptureMode) -> Call {
    let card = CardDetails {
        number: CardNumber::parse("4916745120294124").unwrap(),
        holder_name: "JOAO DA SILVA".to_owned(),
        expiry: Expiry::parse("03/2027").unwrap(),
        cvv: Some(Cvv::parse("560").unwrap()),
    };
    let authorization = Authorization {
        amount: Amount::new(1500).unwrap(),
        currency: Currency::BRL,
        capture,
        method: PaymentMethod::Credit(Credit {
            source: CardSource::Card { card_id: Id::new(Uuid::nil()) },
            installments: 3,
            recurrence: None,
        }),
        instrument: Instrument::Card(card),
        buyer: None,
        statement_descriptor: Some("LOJA".to_owned()),
        order_id: None,
        description: None,
        provider_reference_key: None,
        merchant_mcc: None,
        vendor: None,
        proof: None,
        liability_shift: LiabilityShift::NotRequired,
        division: None,
        network_transaction_id: None,
    };
    call(number, Operation::Authorize(authorization))
}

fn charge(number: u128) -> Call {
    authorization(number, CaptureMode::Automatic)
}

fn follow_up(authorization: u128, amount: i64) -> FollowUp {
    let amount = Amount::new(amount).unwrap();
    FollowUp {
        authorization_key: key(authorization),
        transaction_id: None,
        payment_type: PaymentType::Credit,
        amount,
        currency: Currency::BRL,
        held: Held::Taken(amount),
        delay_to_compose: None,
        division: None,
    }
}

fn inquiry(number: u128) -> Inquiry {
    Inquiry {
        key: key(number),
        object_id: Uuid::nil(),
        operation: OperationKind::Authorization,
        capture: Some(CaptureMode::Automatic),
        reference: None,
        returned: BTreeMap::new(),
        sent_at: at(number),
        at: at(number),
        provider_type: ProviderType::Sandbox,
        credentials: Credentials::new(Map::new()),
        options: Map::new(),
        mode: Mode::Sandbox,
        test_overrides: None,
    }
}

#[track_caller]
fn approved(answer: Answer) -> Approval {
    let Answer::Approved(approval) = answer else { panic!("not approved: {answer:?}") };
    approval
}

#[track_caller]
fn found(probe: Probe) -> Approval {
    let Probe::Found(Finding::Approved(approval)) = probe else { panic!("{probe:?}") };
    approval
}

/// One call of every kind: a reservation with a partial capture and a partial refund of it, a charge, a decline, a
/// probe before its call, and a card check.
async fn some_of_everything(providers: &Providers) {
    approved(providers.call(authorization(1, CaptureMode::Manual)).await);
    approved(providers.call(call(2, Operation::Capture(follow_up(1, 1200)))).await);
    approved(providers.call(call(3, Operation::Void(follow_up(1, 200)))).await);
    approved(providers.call(charge(4)).await);
    let refused = providers.call(call(5, Operation::Void(follow_up(4, 1501)))).await;
    assert!(matches!(refused, Answer::Declined(_)), "{refused:?}");
    assert_eq!(providers.probe(inquiry(6)).await, Probe::Absent);
}

#[tokio::test]
async fn a_simulator_in_another_process_answers_like_one_in_this() {
    let listening = Listening::start().await;
    let remote = listening.providers();
    let books = TransactionLog::memory();
    let options = SandboxOptions::new(SEED, Zeroizing::new(vec![3; 32]));
    let own = Providers::with([Sandbox::new(options, books.clone()).into_adapter()]);
    some_of_everything(&remote).await;
    some_of_everything(&own).await;
    assert_eq!(listening.books.entries().await.unwrap(), books.entries().await.unwrap());
    for number in 1..7 {
        assert_eq!(remote.probe(inquiry(number)).await, own.probe(inquiry(number)).await);
    }

    // A repeated call, a seed and the provider's options reach the simulator.
    assert_eq!(remote.call(charge(4)).await, own.call(charge(4)).await);
    let Value::Object(options) =
        json!({ "faults": [{ "when": { "installments": 3 }, "then": "lost_card" }] })
    else {
        unreachable!()
    };
    let refused = remote.call(Call { options, ..charge(7) }).await;
    let Answer::Declined(decline) = refused else { panic!("{refused:?}") };
    assert_eq!(decline.code.code(), "lost_card");
}

#[tokio::test]
async fn a_client_reads_entries_and_balances_back_as_they_are() {
    let listening = Listening::start().await;
    some_of_everything(&listening.providers()).await;
    let remote = listening.remote();
    for number in 1..8 {
        assert_eq!(
            remote.entry(key(number)).await.unwrap(),
            listening.books.find(key(number)).await.unwrap()
        );
    }
    let balances = remote.holdings().await.unwrap();
    assert_eq!(balances.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [key(1), key(4)]);
    for (key, balance) in balances {
        assert_eq!(listening.books.holding(key).await.unwrap(), Some(balance));
    }
}

#[tokio::test]
async fn entries_are_paged_and_filtered() {
    let listening = Listening::start().await;
    some_of_everything(&listening.providers()).await;
    let sequences = async |query: &str| {
        let page = listening.get(&format!("/v1/entries{query}")).await;
        let items = page["items"].as_array().unwrap();
        let sequences: Vec<u64> = items.iter().map(|item| item["sequence"].as_u64().unwrap()).collect();
        (sequences, page["next"].clone())
    };
    assert_eq!(sequences("").await, (vec![1, 2, 3, 4, 5, 6], Value::Null));
    assert_eq!(sequences("?limit=4").await, (vec![1, 2, 3, 4], json!(4)));
    assert_eq!(sequences("?limit=2&after=4").await, (vec![5, 6], Value::Null));
    assert_eq!(sequences("?limit=2&order=DESC").await, (vec![6, 5], json!(5)));
    assert_eq!(sequences("?limit=2&order=DESC&after=2").await, (vec![1], Value::Null));
    assert_eq!(sequences(&format!("?key={}", key(5))).await.0, [5]);
    assert_eq!(sequences(&format!("?authorizationKey={}", key(1))).await.0, [1, 2, 3]);
    assert_eq!(sequences(&format!("?since={}", at(5))).await.0, [5, 6]);
    assert_eq!(
        sequences(&format!("?since={}&authorizationKey={}&order=DESC", at(2), key(1))).await.0,
        [3, 2]
    );

    let entry = listening.get(&format!("/v1/entries/{}", key(1))).await;
    assert_eq!((&entry["operation"], &entry["capture"]), (&json!("authorization"), &json!("manual")));
    assert_eq!(entry["card"]["lastFour"], "4124");
    assert!(!entry.to_string().contains("49167451"), "{entry}");
    let entry = listening.get(&format!("/v1/entries/{}", key(5))).await;
    assert_eq!(
        (&entry["outcome"], &entry["decline"]["code"]),
        (&json!("declined"), &json!("invalid_amount"))
    );
    assert_eq!(listening.get(&format!("/v1/entries/{}", key(6))).await["outcome"], "probed_before_arrival");

    let refused = async |path: &str| listening.refused(listening.http.get(listening.url(path))).await;
    assert_eq!(
        refused(&format!("/v1/entries/{}", key(9))).await,
        (StatusCode::NOT_FOUND, "no_entry".to_owned())
    );
    for path in
        ["/v1/entries/nine", "/v1/entries?limit=0", "/v1/entries?limit=1001", "/v1/entries?color=blue"]
    {
        assert_eq!(refused(path).await, (StatusCode::BAD_REQUEST, "bad_request".to_owned()), "{path}");
    }
    assert_eq!(refused("/v1/nowhere").await, (StatusCode::NOT_FOUND, "no_route".to_owned()));
}

#[tokio::test]
async fn balances_are_paged_and_their_totals_are_those_of_all() {
    let listening = Listening::start().await;
    some_of_everything(&listening.providers()).await;
    let first = listening.get("/v1/balances?limit=1").await;
    let totals = json!([{ "currency": "BRL", "authorizations": 2, "authorized": 3000, "reserved": 0,
        "captured": 2700, "refunded": 200, "released": 300, "kept": 2500 }]);
    assert_eq!(first["totals"], totals);
    assert_eq!(
        first["items"],
        json!([{ "authorizationKey": key(1), "currency": "BRL", "authorized": 1500, "reserved": 0,
            "captured": 1200, "refunded": 200, "released": 300, "kept": 1000 }])
    );
    let second = listening.get(&format!("/v1/balances?after={}", first["next"].as_str().unwrap())).await;
    assert_eq!((&second["next"], &second["totals"]), (&Value::Null, &totals));
    assert_eq!(second["items"][0]["authorizationKey"], json!(key(4)));
    let one = listening.get(&format!("/v1/balances?authorizationKey={}", key(4))).await;
    assert_eq!(one["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_message_that_cannot_be_taken_says_why_and_does_nothing() {
    let listening = Listening::start().await;
    let post = |body: Value| listening.http.post(listening.url("/v1/calls")).json(&body);
    let card = json!({ "number": "4916745120294124", "expiry": "03/2027" });
    let authorization = json!({ "type": "authorization", "amount": 5, "currency": "BRL", "capture": "manual",
        "method": { "paymentType": "credit", "source": { "sourceType": "card", "cardId": key(2) }, "installments": 1 },
        "instrument": { "card": card } });
    let with = |pointer: &str, value: Value| {
        let mut message =
            json!({ "protocol": PROTOCOL, "key": key(1), "at": at(1), "operation": authorization });
        *message.pointer_mut(pointer).unwrap() = value;
        message
    };
    let of = |code: &str| (StatusCode::BAD_REQUEST, code.to_owned());
    assert_eq!(listening.refused(post(with("/protocol", json!(1)))).await, of("other_protocol"));
    for (pointer, value) in [
        ("/key", json!("one")),
        ("/operation/amount", json!(-1)),
        ("/operation/currency", json!("XXX")),
        ("/operation/instrument/card/number", json!("4916745120294125")),
        ("/operation/instrument/card/number", json!(4)),
        ("/operation/type", json!("refund")),
        ("", json!([])),
    ] {
        assert_eq!(listening.refused(post(with(pointer, value))).await, of("bad_request"), "{pointer}");
    }
    let large = json!({ "protocol": PROTOCOL, "options": { "x": "x".repeat(300 * 1024) } });
    assert_eq!(listening.refused(post(large)).await, (StatusCode::PAYLOAD_TOO_LARGE, "no_body".to_owned()));
    assert!(listening.books.entries().await.unwrap().is_empty());
    let taken = post(with("/protocol", json!(PROTOCOL))).send().await.unwrap();
    assert_eq!(taken.status(), 200);
}

#[tokio::test]
async fn the_page_shows_the_money_the_entries_and_the_plan_and_runs_nothing() {
    let listening = Listening::start().await;
    some_of_everything(&listening.providers()).await;
    let plan = json!([{ "then": "try_again", "probability": 0 }]);
    listening.http.put(listening.url("/v1/faults")).json(&plan).send().await.unwrap();
    let answer = listening.http.get(listening.url("/")).send().await.unwrap();
    let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    let html = answer.text().await.unwrap();
    for shown in ["25.00", "…4124", "declined: invalid_amount", "&quot;try_again&quot;", &key(5).to_string()]
    {
        assert!(html.contains(shown), "{shown}");
    }
    assert!(!html.contains("http") && !html.contains("<script") && !html.contains("src="), "{html}");
}

#[tokio::test]
async fn a_simulator_that_cannot_be_reached_leaves_everything_unknown() {
    let nobody = ReservedPort::any();
    let providers = providers(remote(nobody.address(), None));
    assert_eq!(providers.call(charge(1)).await, Answer::Unknown(UnknownReason::ConnectionLost));
    assert_eq!(providers.probe(inquiry(1)).await, Probe::Unknown);
}

#[tokio::test]
async fn an_answer_about_another_call_is_no_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let providers = providers(remote(listener.local_addr().unwrap(), None));
    let answers = tokio::spawn(async move {
        let approved = json!({ "approved": {} });
        for body in [
            json!({ "key": key(2), "answer": approved }),
            json!({ "key": key(1), "answer": approved }),
            json!({ "key": key(2), "found": null }),
            // The call's own answer and an answer without `found` answer no probe; `null` reports the key absent.
            json!({ "key": key(1), "answer": approved }),
            json!({ "key": key(1) }),
            json!({ "key": key(1), "found": null }),
        ] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let body = body.to_string();
            let head =
                format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            assert_ne!(stream.read(&mut [0; 4096]).await.unwrap(), 0);
            stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        }
    });
    assert_eq!(providers.call(charge(1)).await, Answer::Unknown(UnknownReason::Unreadable));
    approved(providers.call(charge(1)).await);
    for _ in 0..3 {
        assert_eq!(providers.probe(inquiry(1)).await, Probe::Unknown);
    }
    assert_eq!(providers.probe(inquiry(1)).await, Probe::Absent);
    answers.await.unwrap();
}

#[test]
fn only_the_address_of_a_host_is_one_of_a_simulator() {
    assert!(address("http://127.0.0.1:8081").is_ok() && address("http://simulator:8081/").is_ok());
    for wrong in [
        "",
        "simulator:8081",
        "https://simulator",
        "http://simulator/v1",
        "http://u:p@simulator",
        "http://s?x=1",
    ] {
        assert!(matches!(address(wrong), Err(RemoteError::Address)), "{wrong}");
    }
}
