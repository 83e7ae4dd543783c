//! Finds the address that a request comes from, also behind proxies.
//!
//! A header is believed as far as trusted proxies wrote it: from its end on, address by address, while the address that
//! wrote it is one of them. What stands before the first other address was sent by the caller and may be invented.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address that a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub IpAddr);

impl PeerAddress {
    /// That of a request that came over no socket.
    pub const NO_SOCKET: Self = Self(IpAddr::V4(Ipv4Addr::LOCALHOST));
}

/// The networks of the proxies that are trusted; by default none.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    networks: Vec<IpNet>,
    /// Whether a header of a proxy that is not trusted was reported: one line in the log is enough.
    has_warned: AtomicBool,
}

impl Proxies {
    /// Trusts these networks.
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(Arc::new(Inner { networks, has_warned: AtomicBool::new(false) }))
    }

    /// The address of the caller, by the socket and by what trusted proxies say in `Forwarded` (RFC 7239) or
    /// `X-Forwarded-For`.
    pub fn peer_of(&self, request: &Request) -> PeerAddress {
        let socket = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let PeerAddress(socket) =
            socket.map_or(PeerAddress::NO_SOCKET, |ConnectInfo(address)| PeerAddress(address.ip()));
        PeerAddress(self.peer_behind(socket.to_canonical(), request.headers()))
    }

    /// A proxy mostly writes one of the two headers and passes the other one on as the caller sent it. So where both are
    /// there and disagree, neither is believed.
    fn peer_behind(&self, socket: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trust(socket) {
            self.warn_of(socket, headers);
            return socket;
        }
        let behind = |name: &HeaderName, read: fn(&str) -> Option<IpAddr>| {
            headers.contains_key(name).then(|| self.walk(socket, headers, name, read))
        };
        match (behind(&header::FORWARDED, read_forwarded), behind(&X_FORWARDED_FOR, read_address)) {
            (Some(one), Some(other)) if one != other => socket,
            (Some(address), _) | (None, Some(address)) => address,
            (None, None) => socket,
        }
    }

    /// The first address from the right that is no trusted proxy. An entry that names no address ends the walk at the
    /// proxy that wrote it.
    fn walk(
        &self,
        socket: IpAddr,
        headers: &HeaderMap,
        name: &HeaderName,
        read: fn(&str) -> Option<IpAddr>,
    ) -> IpAddr {
        let mut last = socket;
        for value in headers.get_all(name).iter().rev() {
            let Some(entries) = value.to_str().ok().and_then(|value| split_unquoted(value, ',')) else {
                return last;
            };
            for entry in entries.into_iter().rev().filter(|entry| !entry.is_empty()) {
                let Some(address) = read(entry) else { return last };
                last = address.to_canonical();
                if !self.trust(last) {
                    return last;
                }
            }
        }
        last
    }

    fn trust(&self, address: IpAddr) -> bool {
        self.0.networks.iter().any(|network| network.contains(&address))
    }

    fn warn_of(&self, socket: IpAddr, headers: &HeaderMap) {
        let is_forwarded = headers.contains_key(header::FORWARDED) || headers.contains_key(X_FORWARDED_FOR);
        if is_forwarded && !self.0.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                address = %socket,
                "a request was forwarded by an address that is not trusted: if that is a proxy, all callers behind it \
                 count as one until `server.trusted_proxies` names it"
            );
        }
    }
}

/// The address in the `for` of one element of `Forwarded`.
fn read_forwarded(element: &str) -> Option<IpAddr> {
    let pairs = split_unquoted(element, ';')?.into_iter().filter_map(|pair| pair.split_once('='));
    let mut named = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    let (_, node) = named.next()?;
    if named.next().is_some() {
        return None;
    }
    let node = node.trim();
    read_address(node.strip_prefix('"').and_then(|node| node.strip_suffix('"')).unwrap_or(node))
}

/// An address, perhaps with a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
fn read_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0.parse().ok().map(IpAddr::V6),
        None => text.split_once(':')?.0.parse().ok().map(IpAddr::V4),
    }
}

/// The parts between separators outside of quotes, trimmed; `None` where a quote is not closed. A caller could otherwise
/// open one that hides what a proxy appended.
fn split_unquoted(text: &str, separator: char) -> Option<Vec<&str>> {
    let mut is_quoted = false;
    let parts = text.split(|c| {
        is_quoted ^= c == '"';
        c == separator && !is_quoted
    });
    let parts = parts.map(str::trim).collect();
    (!is_quoted).then_some(parts)
}
