//! Which addresses may be called: by their text, and by the network addresses that they lead to. Nothing is asked here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use reqwest::Url;
use url::Host;

/// Characters of an address.
pub const URL_CHARS_MAX: usize = 2048;

/// Whether calls without encryption are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// `http://` may be called.
    Allowed,
    /// `https://` alone.
    Refused,
}

/// Which ports may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ports {
    /// All: a sandbox on one's own machine.
    Any,
    /// These.
    These(Vec<u16>),
}

/// What may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Without encryption?
    pub plain: Plain,
    /// Ports.
    pub ports: Ports,
    /// Networks that may be called although they are not public.
    pub networks: Vec<IpNet>,
}

/// Why an address may not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no address.
    #[error("must be a URL address")]
    NotAnAddress,
    /// It is too long.
    #[error("must be shorter than or equal to {URL_CHARS_MAX} characters")]
    TooLong,
    /// It has a scheme that is not spoken.
    #[error("must be an https address")]
    Scheme,
    /// It names a user or a password, which would be sent to whoever answers.
    #[error("must not contain a user name or a password")]
    UserInfo,
    /// Its port may not be called.
    #[error("must use a port that may be called")]
    Port,
    /// It leads to a network that may not be called.
    #[error("must lead to a public network address")]
    Network,
}

/// An address that may be called as far as its text tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// As it is kept and shown.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The name whose addresses are still to be looked up; none where the address is a network address itself.
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
    /// Reads an address. Every spelling of a network address (decimal, octal, hexadecimal, shortened) is read as that
    /// address.
    ///
    /// # Errors
    /// Why it may not be called.
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
        // Whoever lets a network be called lets its services be called.
        let is_listed = literal.is_some_and(|literal| self.is_listed(literal));
        match (&self.ports, url.port_or_known_default()) {
            (Ports::Any, _) => {}
            (Ports::These(_), _) if is_listed => {}
            (Ports::These(ports), Some(port)) if ports.contains(&port) => {}
            (Ports::These(_), _) => return Err(Refusal::Port),
        }
        Ok(Address(url))
    }

    /// Whether all of the addresses of a name may be called: one that may not makes the name suspicious.
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

/// Whether an address is one of the public internet.
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

/// The special-purpose registry of IPv4 (RFC 6890 and those that amend it).
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

/// What is routed in the world. Everything else of IPv6 is refused: loopback, mapped and translated IPv4, unique and
/// link-local addresses, multicast.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);

/// Special purposes inside of [`GLOBAL_V6`].
const NOT_PUBLIC_V6: [Ipv6Net; 4] = [
    v6(0x2001, 0, 23),      // protocol assignments, Teredo
    v6(0x2001, 0x0db8, 32), // documentation
    v6(0x2002, 0, 16),      // 6to4, which carries IPv4 addresses
    v6(0x3fff, 0, 20),      // documentation
];
