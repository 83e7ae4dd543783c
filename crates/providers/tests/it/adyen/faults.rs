//! What the adapter makes of silence: over real connections, to a server that cuts, delays and fails.

use std::net::TcpListener;
use std::time::Duration;

use regente_domain::decline::DeclinedCode;
use regente_domain::provider_type::ProviderType;
use regente_providers::adyen;
use regente_providers::http_client::{ANSWER_BYTES_MAX, HttpClient, HttpOptions};
use regente_providers::outcome::{Answer, Probe, UnknownReason};
use regente_providers::provider::{CredentialsCheck, CredentialsRefusal, NotRefused, Providers};
use regente_providers::request::{Call, Credentials, Mode};
use reqwest::Url;
use serde_json::{Map, json};

use super::answers::TOO_MANY;
use super::calls::{by_card, capture, charge, inquiry, reserved, taken, verification, void};
use super::upstream::{Play, Upstream};
use crate::support::object;

const AUTHORISED: &str = include_str!("recorded/authorised.json");
const RECEIVED: &str = include_str!("recorded/received.json");
const RETURNED: &str = include_str!("recorded/returned.json");
const IN_PROGRESS: &str = include_str!("recorded/in_progress.json");

pub(super) fn providers(base: Url) -> Providers {
    let http = HttpClient::new(HttpOptions::default());
    Providers::with([adyen::adapter(http, Some(base))])
}

/// One call of each operation.
fn operations() -> [Call; 5] {
    [charge(by_card()), verification(), capture(1500), void(1500, reserved(1500)), void(500, taken(1500))]
}

fn played(status: u16, body: &str) -> Play {
    Play::Answer(status, body.to_owned())
}

/// The answer to each operation when this becomes of its request.
async fn each(play: impl Fn() -> Play) -> Vec<Answer> {
    let mut answers = Vec::new();
    for call in operations() {
        let upstream = Upstream::playing([play()]);
        answers.push(providers(upstream.url()).call(call).await);
        assert_eq!(upstream.received().len(), 1, "it is sent once");
    }
    answers
}

#[tokio::test]
async fn a_refused_connection_has_sent_nothing() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let providers = providers(format!("http://{nobody}").parse().unwrap());
    for call in operations() {
        assert_eq!(providers.call(call).await, Answer::NotSent);
    }
    assert_eq!(providers.probe(inquiry(&[("redirectResult", "x")])).await, Probe::Unknown);
}

/// A proxy reads what is sent by plain HTTP.
#[tokio::test]
async fn a_call_to_this_machine_never_goes_through_the_proxy() {
    let proxy = Upstream::playing([]);
    for host in ["127.0.0.1", "localhost"] {
        let upstream = Upstream::playing([played(200, AUTHORISED)]);
        let mut url = upstream.url();
        url.set_host(Some(host)).unwrap();
        let http = HttpClient::new(HttpOptions { proxy: Some(proxy.url()) });
        let providers = Providers::with([adyen::adapter(http, Some(url))]);
        let answer = providers.call(charge(by_card())).await;
        assert!(matches!(answer, Answer::Approved(_)), "{host}: {answer:?}");
    }
    assert_eq!(proxy.received().len(), 0);
}

#[tokio::test]
async fn a_call_to_another_machine_goes_through_the_proxy() {
    let proxy = Upstream::playing([played(200, AUTHORISED)]);
    let http = HttpClient::new(HttpOptions { proxy: Some(proxy.url()) });
    let elsewhere = "http://provider.example".parse().unwrap();
    let providers = Providers::with([adyen::adapter(http, Some(elsewhere))]);
    let answer = providers.call(charge(by_card())).await;
    assert!(matches!(answer, Answer::Approved(_)), "{answer:?}");
    assert_eq!(proxy.received().len(), 1);
}

#[tokio::test]
async fn a_connection_that_breaks_tells_nothing() {
    let lost = vec![Answer::Unknown(UnknownReason::ConnectionLost); 5];
    assert_eq!(each(|| Play::Cut).await, lost);
    assert_eq!(each(|| Play::Half(AUTHORISED.to_owned())).await, lost);
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_is_not_waited_for() {
    for call in operations() {
        let upstream = Upstream::playing([Play::Silence]);
        let providers = providers(upstream.url());
        let answering = tokio::spawn(async move { providers.call(call).await });
        let upstream = tokio::task::spawn_blocking(move || {
            upstream.wait();
            upstream
        })
        .await
        .unwrap();
        // Nothing else is to be done than to wait, so the clock of the runtime goes on at once.
        tokio::time::pause();
        assert_eq!(answering.await.unwrap(), Answer::Unknown(UnknownReason::TimedOut));
        tokio::time::resume();
        drop(upstream);
    }
}

#[tokio::test]
async fn a_fault_of_the_provider_is_no_refusal() {
    let failed = vec![Answer::Unknown(UnknownReason::ProviderFailed); 5];
    for status in [500, 502, 503, 504, 409] {
        assert_eq!(each(|| played(status, "{}")).await, failed, "{status}");
    }
    assert_eq!(each(|| played(422, IN_PROGRESS)).await, failed);
    let unreadable = vec![Answer::Unknown(UnknownReason::Unreadable); 5];
    assert_eq!(each(|| played(200, "not JSON")).await, unreadable);
    assert_eq!(each(|| played(200, &"x".repeat(ANSWER_BYTES_MAX + 1))).await, unreadable);
}

#[tokio::test]
async fn too_many_requests_end_a_payment_and_leave_what_follows_it_open() {
    let answers = each(|| played(429, TOO_MANY)).await;
    for payment in &answers[..2] {
        let Answer::Declined(decline) = payment else { panic!("{payment:?}") };
        assert_eq!((decline.code, decline.retryable), (DeclinedCode::TryAgain, true));
    }
    for follow_up in &answers[2..] {
        assert_eq!(*follow_up, Answer::Unknown(UnknownReason::ProviderFailed));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Upstream::playing([played(200, AUTHORISED)]);
    let to = elsewhere.url().to_string();
    let answers = each(|| Play::Redirect(to.clone())).await;
    assert_eq!(answers, vec![Answer::Unknown(UnknownReason::ProviderFailed); 5]);
    assert!(elsewhere.received().is_empty(), "the API key went to another host");
}

#[tokio::test]
async fn a_refund_that_is_sent_again_is_the_same_request() {
    let upstream = Upstream::playing([Play::Cut, played(503, ""), played(201, RECEIVED)]);
    let providers = providers(upstream.url());
    for _ in 0..2 {
        let answer = providers.call(void(500, taken(1500))).await;
        assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
    }
    let answer = providers.call(void(500, taken(1500))).await;
    let Answer::Accepted(approval) = answer else { panic!("{answer:?}") };
    assert_eq!(approval.transaction_id.as_deref(), Some("993617894906488A"));
    let received = upstream.received();
    assert_eq!(received.len(), 3);
    for request in &received {
        assert_eq!(request.path, "/payments/993617895204576J/refunds");
        assert_eq!(request.header("idempotency-key"), Some("01980000-0000-7000-8000-000000000002"));
        assert_eq!(request.header("x-api-key"), Some("adyen-secret"));
        assert_eq!(request.body, received[0].body);
    }
}

#[tokio::test]
async fn an_authorization_is_never_asked_after_but_by_its_cardholder() {
    let upstream = Upstream::playing([played(200, RETURNED)]);
    let providers = providers(upstream.url());
    assert_eq!(providers.probe(inquiry(&[])).await, Probe::Unknown);
    assert!(upstream.received().is_empty(), "there is nothing to ask");
    let found = providers.probe(inquiry(&[("redirectResult", "X6XtfGC3!Y")])).await;
    assert!(matches!(found, Probe::Found(_)), "{found:?}");
    assert_eq!(upstream.received()[0].path, "/payments/details");
}

#[tokio::test]
async fn credentials_are_checked_by_a_question_without_an_effect() {
    let check = |members, mode| CredentialsCheck {
        credentials: Credentials::new(members),
        options: Map::new(),
        mode,
    };
    let members = |name: &str, value: &str| {
        let mut members = object(json!({
            "apiKey": "adyen-secret", "merchantAccount": "TestMerchant", "liveUrlPrefix": "1797a841fbb37ca7-Shop",
        }));
        members.insert(name.to_owned(), json!(value));
        members
    };
    let wrong = |said: Result<NotRefused, CredentialsRefusal>| said.map_err(|refusal| refusal.member);
    let upstream =
        Upstream::playing([played(200, "{}"), played(401, ""), Play::Cut, played(503, ""), played(429, "")]);
    let providers = providers(upstream.url());
    for expected in [
        Ok(NotRefused::Accepted),
        Err("apiKey"),
        Ok(NotRefused::NotReached),
        Ok(NotRefused::NotTold),
        Ok(NotRefused::NotTold),
    ] {
        let check = check(members("apiKey", "adyen-secret"), Mode::Sandbox);
        assert_eq!(wrong(providers.check_credentials(ProviderType::Adyen, check).await), expected);
    }
    let received = upstream.received();
    assert!(received.iter().all(|request| request.path == "/paymentMethods"), "{received:?}");
    assert_eq!(received[0].body, json!({ "merchantAccount": "TestMerchant" }));

    let short = check(members("webhookHmacKey", "44782D"), Mode::Sandbox);
    assert_eq!(wrong(providers.check_credentials(ProviderType::Adyen, short).await), Err("webhookHmacKey"));
    for prefix in
        ["", "https://1797a841fbb37ca7-Shop", "evil.example/", "a@evil.example#", "-a", &"a".repeat(60)]
    {
        let check = check(members("liveUrlPrefix", prefix), Mode::Production);
        assert_eq!(
            wrong(providers.check_credentials(ProviderType::Adyen, check).await),
            Err("liveUrlPrefix"),
            "{prefix}"
        );
    }
    assert!(upstream.received().is_empty());
}

#[test]
fn a_test_card_is_known() {
    let providers = providers("http://127.0.0.1:9".parse().unwrap());
    let card = providers.test_card(ProviderType::Adyen).unwrap();
    assert!(card.cvv.is_some() && !card.expiry.is_past(crate::support::at()));
}

#[tokio::test]
async fn live_payments_go_to_no_other_address() {
    let upstream = Upstream::playing([played(200, AUTHORISED)]);
    let members = object(json!({ "apiKey": "k", "merchantAccount": "M", "liveUrlPrefix": "evil.example/" }));
    let call = Call { mode: Mode::Production, credentials: Credentials::new(members), ..charge(by_card()) };
    let answer = providers(upstream.url()).call(call).await;
    let Answer::Declined(decline) = answer else { panic!("{answer:?}") };
    assert_eq!((decline.code, decline.retryable), (DeclinedCode::InvalidMerchant, true));
    // An earlier repetition may have been sent with another prefix.
    for follow_up in [capture(500), void(500, taken(1500))] {
        let members =
            object(json!({ "apiKey": "k", "merchantAccount": "M", "liveUrlPrefix": "evil.example/" }));
        let call = Call { mode: Mode::Production, credentials: Credentials::new(members), ..follow_up };
        assert_eq!(providers(upstream.url()).call(call).await, Answer::NotSent);
    }
    assert!(upstream.received().is_empty());
}

#[tokio::test]
async fn what_is_a_week_old_is_not_sent_again() {
    const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
    let upstream = Upstream::playing([played(201, RECEIVED), played(201, RECEIVED)]);
    let providers = providers(upstream.url());
    let after = |call: Call, wait| Call { at: call.begun_at + wait, ..call };
    for asked in [|| capture(500), || void(500, taken(1500))] {
        let forgotten = providers.call(after(asked(), WEEK)).await;
        assert_eq!(forgotten, Answer::Unknown(UnknownReason::ProviderFailed));
        assert!(upstream.received().is_empty());
        let known = providers.call(after(asked(), WEEK - Duration::from_secs(60))).await;
        assert!(matches!(known, Answer::Accepted(_)), "{known:?}");
        assert_eq!(upstream.received().len(), 1);
    }
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_refused_without_a_request() {
    let upstream = Upstream::playing([played(201, RECEIVED)]);
    let part = void(500, reserved(1500));
    let answer = providers(upstream.url()).call(part).await;
    assert!(matches!(answer, Answer::Declined(_)), "{answer:?}");
    assert!(upstream.received().is_empty());
}
