//! Rules for addresses that may be called: by their text and by their network addresses. This module makes no look-ups.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use reqwest::Url;
use url::Host;

/// Longest address, in characters.
pub const URL_CHARS_MAX: usize = 2048;

/// Whether unencrypted calls are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// `http://` is allowed.
    Allowed,
    /// Only `https://` is allowed.
    Refused,
}

/// Which ports may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ports {
    /// All ports: for a sandbox on a developer's machine.
    Any,
    /// Only these ports.
    These(Vec<u16>),
}

/// The rules of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether unencrypted calls are allowed.
    pub plain: Plain,
    /// The allowed ports.
    pub ports: Ports,
    /// Networks that are allowed although they are not public.
    pub networks: Vec<IpNet>,
}

/// Why an address may not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The text is not a URL.
    #[error("must be a URL address")]
    NotAnAddress,
    /// It is too long.
    #[error("must be shorter than or equal to {URL_CHARS_MAX} characters")]
    TooLong,
    /// The scheme is not supported.
    #[error("must be an https address")]
    Scheme,
    /// The URL contains a user name or password, which would be sent to the server.
    #[error("must not contain a user name or a password")]
    UserInfo,
    /// The port is forbidden.
    #[error("must use a port that may be called")]
    Port,
    /// The address is in a forbidden network.
    #[error("must lead to a public network address")]
    Network,
}

/// An address whose text is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// The address as stored and shown.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The name to look up; `None` for a network address.
    pub(super) fn name(&self) -> Option<&str> {
        match self.0.host() {
            Some(Host::Domain(name)) => Some(name),
            Some(Host::Ipv4(_) | Host::Ipv6(_)) | None => None,
        }
    }

    pub(super) fn into_url(self) -> Url {
        self.0
    }
}

impl Rules {
    /// Parses an address. Every notation of a network address (decimal, octal, hexadecimal, shortened) is recognized.
    ///
    /// # Errors
    /// Why the address is forbidden.
    pub fn address(&self, text: &str) -> Result<Address, Refusal> {
        if text.len() > URL_CHARS_MAX {
            return Err(Refusal::TooLong);
        }
        let url = Url::parse(text).map_err(|_| Refusal::NotAnAddress)?;
        match (url.scheme(), self.plain) {
            ("https", _) | ("http", Plain::Allowed) => {}
            (_, Plain::Allowed | Plain::Refused) => return Err(Refusal::Scheme),
        }
        if url.as_str().len() > URL_CHARS_MAX {
            return Err(Refusal::TooLong);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::UserInfo);
        }
        let literal = match url.host().ok_or(Refusal::NotAnAddress)? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
        };
        if let Some(literal) = literal {
            self.allowed(literal)?;
        }
        // An operator who allows a network allows its services too.
        let is_listed = literal.is_some_and(|literal| self.is_listed(literal));
        match (&self.ports, url.port_or_known_default()) {
            (Ports::Any, _) => {}
            (Ports::These(_), _) if is_listed => {}
            (Ports::These(ports), Some(port)) if ports.contains(&port) => {}
            (Ports::These(_), _) => return Err(Refusal::Port),
        }
        Ok(Address(url))
    }

    /// Checks that all addresses of a name are allowed: a single forbidden one makes the name suspicious.
    ///
    /// # Errors
    /// [`Refusal::Network`].
    pub fn all_allowed(&self, addresses: &[IpAddr]) -> Result<(), Refusal> {
        addresses.iter().try_for_each(|address| self.allowed(*address))
    }

    fn allowed(&self, address: IpAddr) -> Result<(), Refusal> {
        if is_public(address) || self.is_listed(address) { Ok(()) } else { Err(Refusal::Network) }
    }

    fn is_listed(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&address))
    }
}

/// Whether an address belongs to the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NOT_PUBLIC_V4.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_V6.contains(&address) && !NOT_PUBLIC_V6.iter().any(|network| network.contains(&address))
        }
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(a: u16, b: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix)
}

/// The IPv4 special-purpose registry (RFC 6890 and its amendments).
const NOT_PUBLIC_V4: [Ipv4Net; 15] = [
    v4(0, 0, 0, 0, 8),       // this network, unspecified
    v4(10, 0, 0, 0, 8),      // private
    v4(100, 64, 0, 0, 10),   // shared by carriers
    v4(127, 0, 0, 0, 8),     // loopback
    v4(169, 254, 0, 0, 16),  // link-local, metadata services
    v4(172, 16, 0, 0, 12),   // private
    v4(192, 0, 0, 0, 24),    // protocol assignments
    v4(192, 0, 2, 0, 24),    // documentation
    v4(192, 88, 99, 0, 24),  // relays to IPv6
    v4(192, 168, 0, 0, 16),  // private
    v4(198, 18, 0, 0, 15),   // benchmarks
    v4(198, 51, 100, 0, 24), // documentation
    v4(203, 0, 113, 0, 24),  // documentation
    v4(224, 0, 0, 0, 4),     // multicast
    v4(240, 0, 0, 0, 4),     // reserved, broadcast
];

/// Globally routed IPv6. All other IPv6 is refused: loopback, mapped and translated IPv4, unique and link-local
/// addresses, multicast.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);

/// Special-purpose networks inside [`GLOBAL_V6`].
const NOT_PUBLIC_V6: [Ipv6Net; 4] = [
    v6(0x2001, 0, 23),      // protocol assignments, Teredo
    v6(0x2001, 0x0db8, 32), // documentation
    v6(0x2002, 0, 16),      // 6to4, which carries IPv4 addresses
    v6(0x3fff, 0, 20),      // documentation
];
