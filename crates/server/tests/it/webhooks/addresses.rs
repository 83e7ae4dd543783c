//! Addresses given by users: every spelling of a forbidden address, names that resolve to one, and names that resolve
//! to one a moment later.

use std::net::IpAddr;
use std::time::Duration;

use axum::http::HeaderMap;
use regente_engine::outbound::{NoAnswer, Outbound, Plain, Ports, Refusal, Rules, is_public};
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::names::Names;
use crate::support::receiver::Receiver;
use crate::support::server::{LOOK_EVERY, Server};

fn production() -> Rules {
    Rules { plain: Plain::Refused, ports: Ports::These(vec![443, 8443]), networks: Vec::new() }
}

#[test]
fn networks_that_are_not_public_are_known() {
    let refused = [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.254",
        "127.0.0.1",
        "127.255.0.1",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:0:abcd::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "3fff::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
    ];
    for address in refused {
        assert!(!is_public(address.parse().unwrap()), "{address}");
    }
    let public = [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.1",
        "100.63.255.255",
        "100.128.0.1",
        "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255",
        "169.255.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "192.167.255.255",
        "192.169.0.1",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.255",
        "2001:4860:4860::8888",
        "2606:4700::1111",
        "2a00:1450::1",
    ];
    for address in public {
        assert!(is_public(address.parse().unwrap()), "{address}");
    }
}

#[test]
fn every_spelling_of_a_refused_address_is_refused() {
    let rules = production();
    for address in [
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0177.0.0.1/",
        "https://0x7f.1/",
        "https://127.1/",
        "https://127.0.1/",
        "https://0/",
        "https://0.0.0.0/",
        "https://169.254.169.254/latest/meta-data",
        "https://0xa9fea9fe/",
        "https://2852039166/",
        "https://[::1]/",
        "https://[0:0:0:0:0:0:0:1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:7f00:1]/",
        "https://[64:ff9b::169.254.169.254]/",
        "https://[2002:a9fe:a9fe::]/",
        "https://[fd00:ec2::254]/",
        "https://[fe80::1]/",
        "https://10.1/",
        "https://１２７.０.０.１/",
        "https://①②⑦.0.0.1/",
        "https://127.0.0.1./",
        "https://%31%32%37.0.0.1/",
    ] {
        assert_eq!(rules.address(address), Err(Refusal::Network), "{address}");
    }
    for (address, refusal) in [
        ("", Refusal::NotAnAddress),
        ("shop.example", Refusal::NotAnAddress),
        ("https://", Refusal::NotAnAddress),
        ("https://[::1%25eth0]/", Refusal::NotAnAddress),
        ("https://256.0.0.1/", Refusal::NotAnAddress),
        ("http://shop.example/", Refusal::Scheme),
        ("ftp://shop.example/", Refusal::Scheme),
        ("file:///etc/passwd", Refusal::Scheme),
        ("gopher://shop.example/", Refusal::Scheme),
        ("javascript:alert(1)", Refusal::Scheme),
        ("https://shop.example@127.0.0.1/", Refusal::UserInfo),
        ("https://user:pass@shop.example/", Refusal::UserInfo),
        ("https://:pass@shop.example/", Refusal::UserInfo),
        ("https://shop.example:22/", Refusal::Port),
        ("https://shop.example:80/", Refusal::Port),
        ("https://8.8.8.8:6379/", Refusal::Port),
    ] {
        assert_eq!(rules.address(address), Err(refusal), "{address}");
    }
    assert_eq!(rules.address(&format!("https://shop.example/{}", "x".repeat(3000))), Err(Refusal::TooLong));
    for address in [
        "https://shop.example/hooks?a=b",
        "https://shop.example:8443/",
        "https://8.8.8.8/",
        "https://[2606:4700::1111]/",
    ] {
        rules.address(address).unwrap();
    }
}

#[test]
fn networks_of_the_allow_list_are_called_and_no_others() {
    let networks = vec!["10.1.0.0/16".parse().unwrap(), "fd00::/8".parse().unwrap()];
    let rules = Rules { networks, ..production() };
    for address in ["https://10.1.2.3/", "https://10.1.2.3:9000/", "https://[fd00::1]:9000/"] {
        rules.address(address).unwrap();
    }
    for address in
        ["https://10.2.0.1/", "https://[fe80::1]/", "https://[::ffff:10.1.2.3]/", "https://127.0.0.1/"]
    {
        assert_eq!(rules.address(address), Err(Refusal::Network), "{address}");
    }
    assert_eq!(rules.address("https://8.8.8.8:9000/"), Err(Refusal::Port), "elsewhere ports stay limited");
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_when_it_is_given() {
    let names = Names::default();
    names.lead("public.example", &[&["93.184.215.14", "2606:4700::1111"]]);
    names.lead("inside.example", &[&["10.0.0.7"]]);
    names.lead("mixed.example", &[&["93.184.215.14", "169.254.169.254"]]);
    let outbound = Outbound::new(production(), names);
    assert!(outbound.accept("https://public.example/").await.is_ok());
    assert!(outbound.accept("https://nowhere.example/").await.is_ok(), "every call looks again");
    for name in ["inside", "mixed"] {
        let refused = outbound.accept(&format!("https://{name}.example/")).await;
        assert_eq!(refused, Err(Refusal::Network), "{name}");
    }
}

/// The receiver is on this machine and must not be reached: the name resolves to a public address at registration, and
/// to this machine later, at once or between two lookups of the same call.
#[tokio::test]
async fn a_name_that_leads_elsewhere_a_moment_later_reaches_nobody() {
    let receiver = Receiver::start().await;
    let names = Names::default();
    let rules = Rules { plain: Plain::Allowed, ports: Ports::Any, networks: Vec::new() };
    let outbound = Outbound::new(rules, names.clone());
    let post = async |url: &str| {
        outbound
            .post(url, HeaderMap::new(), "{}".into(), Duration::from_secs(5))
            .await
            .map(|answer| answer.status)
    };
    let url = format!("http://rebinds.example:{}/", receiver.port());
    names.lead("rebinds.example", &[&["93.184.215.14"], &["127.0.0.1"]]);
    assert!(outbound.accept(&url).await.is_ok());
    assert_eq!(post(&url).await, Err(NoAnswer::Refused));
    names.lead("rebinds.example", &[&["93.184.215.14", "127.0.0.1"]]);
    assert_eq!(post(&url).await, Err(NoAnswer::Refused), "among others");
    assert_eq!(post(&receiver.url("/")).await, Err(NoAnswer::Refused), "in numbers");
    assert_eq!(post("http://nowhere.example/").await, Err(NoAnswer::Broken));
    assert_eq!(receiver.received().len(), 0);

    // The same address, allowed: only the check kept the events above from arriving.
    let networks = vec!["127.0.0.0/8".parse().unwrap()];
    let rules = Rules { plain: Plain::Allowed, ports: Ports::Any, networks };
    let outbound = Outbound::new(rules, names.clone());
    names.lead("rebinds.example", &[&["127.0.0.1"]]);
    let answer = outbound.post(&url, HeaderMap::new(), "{}".into(), Duration::from_secs(5)).await.unwrap();
    assert_eq!((answer.status, receiver.received().len()), (200, 1));
}

/// One lookup for each call: the checked address is the one connected to, without a second lookup in between.
#[tokio::test]
async fn a_call_looks_once() {
    let receiver = Receiver::start().await;
    let names = Names::default();
    let networks = vec!["127.0.0.1/32".parse().unwrap()];
    let outbound = Outbound::new(Rules { plain: Plain::Allowed, ports: Ports::Any, networks }, names.clone());
    let decoy: IpAddr = "127.0.0.9".parse().unwrap();
    names.lead("twice.example", &[&["127.0.0.1"], &[&decoy.to_string()]]);
    let url = format!("http://twice.example:{}/", receiver.port());
    let answer = outbound.post(&url, HeaderMap::new(), "{}".into(), Duration::from_secs(5)).await;
    assert_eq!(answer.unwrap().status, 200);
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn proxies_of_the_environment_are_not_asked() {
    let (folder, receiver, proxy) =
        (tempfile::tempdir().unwrap(), Receiver::start().await, Receiver::start().await);
    let address = proxy.url("");
    let environment = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
        .map(|name| (name, address.as_str()));
    let server = Server::start_in(folder.path(), &[], &environment).await;
    let webhook = json!({ "event": "*", "endpoint": receiver.url("/") });
    let webhook: Value = server.post("/v1/webhooks", &webhook).send().await.unwrap().json().await.unwrap();
    let ping = format!("/v1/webhooks/{}/ping", webhook["id"].as_str().unwrap());
    assert_eq!(server.post(&ping, &json!({})).send().await.unwrap().status().as_u16(), 202);
    tokio::time::timeout(Duration::from_secs(20), async {
        while receiver.received().is_empty() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    })
    .await
    .expect("it arrives without a proxy");
    assert!(proxy.received().is_empty());
    server.stop().await;
}

#[tokio::test]
async fn a_webhook_that_leads_inside_by_then_is_recorded_as_refused() {
    let app = TestApp::sqlite().await;
    app.names.lead("shop.example", &[&["93.184.215.14"], &["10.0.0.7"]]);
    let body = json!({ "event": "*", "endpoint": "https://shop.example/" });
    let id = app.post("/v1/webhooks", &body).await.expect(201)["id"].as_str().unwrap().to_owned();
    app.post(&format!("/v1/webhooks/{id}/ping"), &json!({})).await.expect(202);
    app.run_jobs().await;
    let list = app.get(&format!("/v1/webhooks/{id}/deliveries")).await.expect(200);
    assert_eq!(list["items"][0]["attempts"][0]["failure"], "address_refused", "{list}");
    assert_eq!(list["items"][0]["attempts"][0]["httpStatus"], json!(null));
}
