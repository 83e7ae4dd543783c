//! Controls access to the simulator: callers need its key, or without a key must be on this machine.

use std::net::IpAddr;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::Simulator;
use super::error::Refusal;

/// What a caller must show.
pub enum Access {
    /// This key, as `Authorization: Bearer KEY` or as the password of any user, for browsers.
    Key(Zeroizing<String>),
    /// No key, but the `Host` must be `localhost` or a loopback address: a page that a browser loaded under another
    /// name is refused.
    ThisMachine,
}

/// Refuses requests without access.
pub(super) async fn guard(State(simulator): State<Simulator>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let refusal = match simulator.access.as_ref() {
        Access::Key(key) if !shows(headers, key) => Some(no_key()),
        Access::ThisMachine if !names_this_machine(headers) => Some(other_host()),
        Access::Key(_) | Access::ThisMachine if is_foreign(request.method(), headers) => Some(no_json()),
        Access::Key(_) | Access::ThisMachine => None,
    };
    match refusal {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

fn shows(headers: &HeaderMap, key: &str) -> bool {
    let Some((scheme, shown)) = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
    else {
        return false;
    };
    let shown = if scheme.eq_ignore_ascii_case("bearer") {
        Zeroizing::new(shown.as_bytes().to_vec())
    } else if scheme.eq_ignore_ascii_case("basic") {
        let pair = Zeroizing::new(STANDARD.decode(shown).unwrap_or_default());
        let password = pair.iter().position(|byte| *byte == b':').map(|colon| pair[colon + 1..].to_vec());
        Zeroizing::new(password.unwrap_or_default())
    } else {
        return false;
    };
    verify_slices_are_equal(&shown, key.as_bytes()).is_ok()
}

fn names_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a page of another site may have sent the request: it can post a form, but JSON only after a preflight
/// request.
fn is_foreign(method: &Method, headers: &HeaderMap) -> bool {
    let is_json = || {
        let kind =
            headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    };
    [Method::POST, Method::PUT].contains(method) && !is_json()
}

fn no_key() -> Response {
    let refusal = Refusal::new(
        StatusCode::UNAUTHORIZED,
        "no_key",
        "send `Authorization: Bearer KEY` with the key of this simulator",
    );
    let mut response = refusal.into_response();
    let asked = HeaderValue::from_static("Basic realm=\"regente sandbox-provider\", charset=\"UTF-8\"");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, asked);
    response
}

fn other_host() -> Response {
    let message = "without a key the simulator is reached as 127.0.0.1, [::1] or localhost alone";
    Refusal::new(StatusCode::FORBIDDEN, "other_host", message).into_response()
}

fn no_json() -> Response {
    let message = "send `Content-Type: application/json`";
    Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "no_json", message).into_response()
}
