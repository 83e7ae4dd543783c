//! The address of a caller behind proxies: `Forwarded` (RFC 7239) and `X-Forwarded-For`.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use regente::http::peer::Proxies;

/// The address that a request with these headers comes from, through a socket of `socket`. The proxies 10.0.0.0/8 and
/// 2001:db8:1::/48 are trusted.
fn peer(socket: &str, headers: &[(&str, &str)]) -> String {
    let trusted = ["10.0.0.0/8", "2001:db8:1::/48"].map(|network| network.parse().unwrap());
    let mut request = Request::new(Body::empty());
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(socket.parse().unwrap(), 50_000)));
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().unwrap();
        request.headers_mut().append(name, value.parse().unwrap());
    }
    Proxies::new(trusted.to_vec()).peer_of(&request).0.to_string()
}

const FORWARDED: &str = "forwarded";
const X_FORWARDED_FOR: &str = "x-forwarded-for";

#[test]
fn without_a_trusted_proxy_the_socket_counts() {
    assert_eq!(peer("192.0.2.9", &[]), "192.0.2.9");
    assert_eq!(peer("192.0.2.9", &[(X_FORWARDED_FOR, "198.51.100.1")]), "192.0.2.9");
    assert_eq!(peer("192.0.2.9", &[(FORWARDED, "for=198.51.100.1")]), "192.0.2.9");
    assert_eq!(peer("10.0.0.1", &[]), "10.0.0.1");
    assert_eq!(peer("::ffff:10.0.0.1", &[(X_FORWARDED_FOR, "198.51.100.1")]), "198.51.100.1");
}

#[test]
fn what_trusted_proxies_wrote_is_believed_and_what_stands_before_it_is_not() {
    for (header, expected) in [
        ("198.51.100.1", "198.51.100.1"),
        ("6.6.6.6, 198.51.100.1", "198.51.100.1"),
        ("6.6.6.6, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("198.51.100.1:443", "198.51.100.1"),
        ("2001:db8::7", "2001:db8::7"),
        ("[2001:db8::7]:443, 2001:db8:1::1", "2001:db8::7"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        // What names no address ends the walk at the proxy that wrote it.
        ("198.51.100.1, unknown", "10.0.0.1"),
        ("198.51.100.1, unknown, 10.0.0.2", "10.0.0.2"),
        ("", "10.0.0.1"),
        ("198.51.100.1, ", "198.51.100.1"),
    ] {
        assert_eq!(peer("10.0.0.1", &[(X_FORWARDED_FOR, header)]), expected, "{header}");
    }
    // Several lines are one list.
    let lines = [(X_FORWARDED_FOR, "6.6.6.6"), (X_FORWARDED_FOR, "198.51.100.1, 10.0.0.2")];
    assert_eq!(peer("10.0.0.1", &lines), "198.51.100.1");
}

#[test]
fn the_standard_header_is_read_in_all_its_forms() {
    for (header, expected) in [
        ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
        ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
        ("for=6.6.6.6, proto=https ; FOR = 198.51.100.17", "198.51.100.17"),
        ("for=192.0.2.43, for=\"10.0.0.2:80\";by=_hidden", "192.0.2.43"),
        ("for=\"192.0.2.43:47011\"", "192.0.2.43"),
        ("for=192.0.2.43, for=_secret", "10.0.0.1"),
        ("for=192.0.2.43, for=unknown", "10.0.0.1"),
        ("proto=https", "10.0.0.1"),
        ("for=6.6.6.6;for=198.51.100.17", "10.0.0.1"),
    ] {
        assert_eq!(peer("10.0.0.1", &[(FORWARDED, header)]), expected, "{header}");
    }
}

#[test]
fn a_caller_cannot_hide_what_a_proxy_appends() {
    // The caller opened a quote, and the proxy appended its element behind it.
    for header in ["for=6.6.6.6;x=\", for=198.51.100.1", "for=6.6.6.6;x=\", for=\"[2001:db8::1]\""] {
        assert_eq!(peer("10.0.0.1", &[(FORWARDED, header)]), "10.0.0.1", "{header}");
    }
    // The proxy writes one header, and passes the caller's other one on.
    let both = [(FORWARDED, "for=6.6.6.6"), (X_FORWARDED_FOR, "198.51.100.1")];
    assert_eq!(peer("10.0.0.1", &both), "10.0.0.1");
    let agreed = [(FORWARDED, "for=198.51.100.1"), (X_FORWARDED_FOR, "198.51.100.1")];
    assert_eq!(peer("10.0.0.1", &agreed), "198.51.100.1");
}
