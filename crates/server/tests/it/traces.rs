//! Traces: what a collector gets, which variables control it, and what is never sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::support::server::{Server, regente, run};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";
const CARD: &str = "4916745120294124";
/// A card that the simulator does not answer.
const UNANSWERED: &str = "4485401945979546";
/// The time by which a process with an unresponsive collector still ends.
const SOON: Duration = Duration::from_secs(20);

/// A collector that keeps the received spans.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Bytes>>>);

impl Collector {
    /// Starts a collector; returns its address.
    async fn start() -> (Self, String) {
        let collector = Self::default();
        let keep = async |State(collector): State<Collector>, body: Bytes| {
            collector.0.lock().unwrap().push(body);
        };
        let router = Router::new().route("/v1/traces", post(keep)).with_state(collector.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (collector, address)
    }

    fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        let bodies = self.0.lock().unwrap();
        bodies.iter().map(|body| ExportTraceServiceRequest::decode(body.clone()).unwrap()).collect()
    }

    fn spans(&self) -> Vec<Span> {
        let resources = self.requests().into_iter().flat_map(|request| request.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    fn resource(&self) -> Vec<KeyValue> {
        self.requests()[0].resource_spans[0].resource.clone().unwrap().attributes
    }

    fn holds(&self, text: &str) -> bool {
        let bodies = self.0.lock().unwrap();
        bodies.iter().any(|body| body.windows(text.len()).any(|window| window == text.as_bytes()))
    }
}

fn attribute(attributes: &[KeyValue], name: &str) -> String {
    let attribute = attributes.iter().find(|attribute| attribute.key == name);
    let value = attribute.unwrap_or_else(|| panic!("{name} is not in {attributes:?}")).value.clone();
    let value = value.unwrap().value.unwrap();
    if let Any::IntValue(number) = value {
        return number.to_string();
    }
    let Any::StringValue(text) = value else { panic!("{value:?}") };
    text
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

/// Makes a charge within a trace; returns it.
async fn charge(server: &Server, merchant: &str, card: &str, flags: &str) -> Value {
    let request = server
        .post("/v1/charges", &server.charge(merchant, card))
        .header("traceparent", format!("00-{TRACE}-{CALLER}-{flags}"))
        .header("tracestate", format!("loja={CARD}"))
        .header("baggage", format!("cartao={CARD}"))
        .header("x-request-id", CARD);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 201);
    answer.json().await.unwrap()
}

#[tokio::test]
async fn a_request_and_its_calls_are_part_of_the_callers_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (collector, endpoint) = Collector::start().await;
    let environment = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_SERVICE_NAME", "loja"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=teste"),
        // Only the end of the process makes it send.
        ("OTEL_BSP_SCHEDULE_DELAY", "600000"),
        // Without TLS no root certificates are needed.
        ("SSL_CERT_FILE", "/nowhere"),
        ("SSL_CERT_DIR", "/nowhere"),
        // An unreachable proxy, which must not be used.
        ("HTTP_PROXY", "http://127.0.0.1:1"),
        ("http_proxy", "http://127.0.0.1:1"),
    ];
    let arguments = ["log.format=json", "log.level=debug", "sandbox.deadline_ms=300"];
    let arguments: Vec<&str> = arguments.into_iter().flat_map(|setting| ["--set", setting]).collect();
    let server = Server::start_in(folder.path(), &arguments, &environment).await;
    let charged = charge(&server, "REGENTE_FALLBACK_MERCHANT_ID", CARD, "01").await;
    charge(&server, "REGENTE_MERCHANT_ID", UNANSWERED, "01").await;
    let path = format!("/v1/charges/{}/void", charged["id"].as_str().unwrap());
    assert_eq!(server.post(&path, &json!({})).send().await.unwrap().status().as_u16(), 201);
    server.get(&format!("/nowhere/{CARD}")).send().await.unwrap();
    assert!(collector.requests().is_empty(), "nothing is sent before the end");

    let log = server.stop().await;

    assert_eq!(attribute(&collector.resource(), "service.name"), "loja");
    assert_eq!(attribute(&collector.resource(), "deployment.environment.name"), "teste");
    let spans = collector.spans();
    let mut requests = named(&spans, "POST /v1/charges");
    requests.sort_by_key(|request| request.start_time_unix_nano);
    let [request, unanswered] = requests.as_slice() else { panic!("{spans:?}") };
    assert_eq!(hex::encode(&request.trace_id), TRACE);
    assert_eq!(hex::encode(&request.parent_span_id), CALLER);
    assert_eq!(request.kind, SpanKind::Server as i32);
    for (name, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/v1/charges"),
        ("http.response.status_code", "201"),
        ("regente.request_id", "[card 491674…4124]"),
    ] {
        assert_eq!(attribute(&request.attributes, name), value);
    }
    let (voids, calls) = (named(&spans, "POST /v1/charges/{id}/void"), named(&spans, "void SANDBOX"));
    assert_eq!((voids.len(), calls.len()), (1, 1), "{spans:?}");
    assert_eq!(calls[0].parent_span_id, voids[0].span_id);
    assert_ne!(hex::encode(&voids[0].trace_id), TRACE, "who brings no trace gets one");
    let probes = named(&spans, "probe SANDBOX");
    assert!(!probes.is_empty() && probes.iter().all(|probe| probe.parent_span_id == unanswered.span_id));
    let mut calls: Vec<_> = named(&spans, "authorization SANDBOX")
        .into_iter()
        .filter(|span| span.parent_span_id == request.span_id)
        .collect();
    calls.sort_by_key(|call| call.start_time_unix_nano);
    let outcomes: Vec<String> =
        calls.iter().map(|call| attribute(&call.attributes, "regente.outcome")).collect();
    assert_eq!(outcomes, ["declined", "approved"]);
    for call in calls {
        assert_eq!(call.kind, SpanKind::Client as i32);
    }
    let commits: Vec<_> = named(&spans, "store.commit")
        .into_iter()
        .filter(|span| span.parent_span_id == request.span_id)
        .collect();
    assert_eq!(commits.len(), 3, "two intents and two outcomes, of which two are one");
    let unmatched = named(&spans, "GET");
    assert_eq!(attribute(&unmatched[0].attributes, "http.response.status_code"), "404");

    for secret in [CARD, UNANSWERED, "JOSE DAS NEVES"] {
        assert!(!collector.holds(secret), "{secret} was sent");
    }
    assert!(spans.iter().all(|span| span.events.is_empty()), "no line of the log is sent");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answered = lines.iter().find(|line| line["span"]["route"] == "/v1/charges").unwrap();
    assert_eq!(answered["span"]["trace_id"], TRACE);
    // A charge runs in a task of its own, and its lines still belong to the request.
    let unanswered = lines.iter().find(|line| line["transaction_request"].is_string()).unwrap();
    assert_eq!(unanswered["span"]["trace_id"], TRACE);
    assert_eq!(unanswered["span"]["request_id"], "[card 491674…4124]");
    assert!(lines.iter().all(|line| line["span"]["name"] != "store.commit"), "the log shows requests alone");
    assert!(!log.contains(CARD));
}

#[tokio::test]
async fn a_caller_that_does_not_sample_is_followed_and_the_log_has_its_trace_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (collector, endpoint) = Collector::start().await;
    let json = ["--set", "log.format=json"];
    for environment in [
        // The caller's flag decides.
        vec![("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("{endpoint}/v1/traces"))],
        // The exporter is disabled.
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.clone()), ("OTEL_SDK_DISABLED", "true".to_owned())],
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.clone()), ("OTEL_TRACES_EXPORTER", "none".to_owned())],
        vec![],
    ] {
        let environment: Vec<(&str, &str)> =
            environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let server = Server::start_in(folder.path(), &json, &environment).await;
        charge(&server, "REGENTE_MERCHANT_ID", CARD, "00").await;
        let log = server.stop().await;
        assert!(log.contains(&format!("\"trace_id\":\"{TRACE}\"")), "{environment:?}: {log}");
    }
    assert!(collector.spans().is_empty(), "{:?}", collector.spans());

    let always = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_TRACES_SAMPLER", "always_on")];
    let server = Server::start_in(folder.path(), &json, &always).await;
    charge(&server, "REGENTE_MERCHANT_ID", CARD, "00").await;
    server.stop().await;
    let spans = collector.spans();
    assert_eq!(named(&spans, "POST /v1/charges").len(), 1);
    assert!(named(&spans, "store.commit").is_empty(), "commits are for those who look closer");
    assert_eq!(attribute(&collector.resource(), "service.name"), "regente");
}

#[tokio::test]
async fn a_collector_that_is_not_there_holds_nothing_up() {
    let folder = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let server =
        Server::start_in(folder.path(), &[], &[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())]).await;
    charge(&server, "REGENTE_MERCHANT_ID", CARD, "01").await;
    let log = timeout(SOON, server.stop()).await.unwrap();
    assert!(log.contains("the last traces were not sent"), "{log}");
}

#[tokio::test]
async fn a_protocol_that_is_not_spoken_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value) in [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_TRACES_EXPORTER", "console")] {
        let mut command = regente(&["dev", "--listen", "127.0.0.1:0"]);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1").env(name, value);
        let refused = run(command.arg("--data-dir").arg(folder.path())).await;
        let expected = format!("regente: {name} is `{value}`; this release exports traces by");
        assert!(refused.complaint().starts_with(&expected), "{}", refused.stderr);
    }
}
