//! What proxies say of callers: `Forwarded` and `X-Forwarded-For`. The first byte picks who connects, the rest are headers.
//! Nobody is believed but a trusted proxy, and what a caller has sent before what a proxy appended changes nothing.

#![no_main]

use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use http::HeaderValue;
use libfuzzer_sys::fuzz_target;
use regente::http::peer::{PeerAddress, Proxies};
use regente_fuzz::headers_of;

const SOCKETS: [&str; 4] = ["10.0.0.7", "::ffff:10.0.0.7", "203.0.113.5", "2001:db8::1"];
const CALLER: &str = "198.51.100.9";

static PROXIES: LazyLock<Proxies> = LazyLock::new(|| {
    let networks = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().expect("it is a network"));
    Proxies::new(networks.to_vec())
});

fuzz_target!(|data: &[u8]| {
    let Some((first, lines)) = data.split_first() else { return };
    let place = usize::from(*first) % SOCKETS.len();
    let socket: IpAddr = SOCKETS[place].parse().expect("it is an address");
    let mut request = Request::new(Body::empty());
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(socket, 1)));
    *request.headers_mut() = headers_of(lines);
    let PeerAddress(peer) = PROXIES.peer_of(&request);
    if place > 1 {
        assert_eq!(peer, socket, "it is no proxy");
    }
    let mut appended = Request::new(Body::empty());
    appended
        .extensions_mut()
        .insert(ConnectInfo(SocketAddr::new(SOCKETS[0].parse().expect("an address"), 1)));
    let sent = request.headers().get("x-forwarded-for").map_or(&b""[..], HeaderValue::as_bytes);
    let Ok(value) = HeaderValue::from_bytes(&[sent, b", ", CALLER.as_bytes()].concat()) else { return };
    appended.headers_mut().insert("x-forwarded-for", value);
    let PeerAddress(peer) = PROXIES.peer_of(&appended);
    assert!([CALLER, SOCKETS[0]].contains(&peer.to_string().as_str()), "{peer}");
});
