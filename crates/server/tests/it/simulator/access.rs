//! Access to the simulator.

use regente::sandbox_provider::Access;
use regente_providers::outcome::{Answer, Probe, UnknownReason};
use regente_providers::sandbox::http::RemoteError;
use reqwest::StatusCode;
use zeroize::Zeroizing;

use super::{Listening, SEED, approved, charge, inquiry, key, providers, remote};

#[tokio::test]
async fn without_its_key_nobody_learns_anything() {
    let access = Access::Key(Zeroizing::new("correct-horse".to_owned()));
    let listening = Listening::with(SEED, access).await;
    let no_key = (StatusCode::UNAUTHORIZED, "no_key".to_owned());
    let paths = ["/", "/v1/entries", "/v1/balances", "/v1/faults", "/v1/nowhere"];
    for path in paths {
        let request = || listening.http.get(listening.url(path));
        assert_eq!(listening.refused(request()).await, no_key, "{path}");
        assert_eq!(listening.refused(request().bearer_auth("correct-hors")).await, no_key, "{path}");
        assert_eq!(listening.refused(request().basic_auth("correct-horse", Some(""))).await, no_key);
    }
    let shown = |request: reqwest::RequestBuilder| async { request.send().await.unwrap().status() };
    let request = || listening.http.get(listening.url("/v1/entries"));
    assert_eq!(shown(request().bearer_auth("correct-horse")).await, 200);
    assert_eq!(shown(request().basic_auth("anybody", Some("correct-horse"))).await, 200, "as browsers do");

    let knowing = remote(listening.address, Some("correct-horse"));
    assert_eq!(knowing.entry(key(1)).await.unwrap(), None);
    approved(providers(knowing).call(charge(1)).await);
    for key in [None, Some("wrong-horse")] {
        let remote = remote(listening.address, key);
        assert!(matches!(
            remote.holdings().await,
            Err(RemoteError::Refused { status: StatusCode::UNAUTHORIZED, .. })
        ));
        let providers = providers(remote);
        // The key may have changed since the first try, so only a probe can tell the outcome.
        assert_eq!(providers.call(charge(1)).await, Answer::Unknown(UnknownReason::ProviderFailed));
        assert_eq!(providers.probe(inquiry(1)).await, Probe::Unknown);
    }
}

#[tokio::test]
async fn a_page_in_a_browser_cannot_talk_to_a_simulator_without_a_key() {
    let listening = Listening::start().await;
    let named = |host: &str| listening.http.get(listening.url("/v1/faults")).header("host", host);
    for host in ["evil.example", "evil.example:8081", "127.0.0.1.evil.example", "10.0.0.1:80"] {
        let refused = listening.refused(named(host)).await;
        assert_eq!(refused, (StatusCode::FORBIDDEN, "other_host".to_owned()), "{host}");
    }
    for host in ["localhost:8081", "127.0.0.1", "[::1]:8081", "LOCALHOST"] {
        assert_eq!(named(host).send().await.unwrap().status(), 200, "{host}");
    }
    for request in [
        listening.http.post(listening.url("/v1/calls")).header("content-type", "text/plain").body("{}"),
        listening.http.put(listening.url("/v1/faults")).body("[]"),
    ] {
        let refused = listening.refused(request).await;
        assert_eq!(refused, (StatusCode::UNSUPPORTED_MEDIA_TYPE, "no_json".to_owned()));
    }
}
