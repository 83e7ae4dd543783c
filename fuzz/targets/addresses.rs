//! Addresses that users register, and what names them. An address that is taken is not in a private network, whatever its
//! spelling, and is taken again as it is stored.

#![no_main]

use std::net::IpAddr;

use libfuzzer_sys::fuzz_target;
use regente_engine::outbound::{Plain, Ports, Rules, is_public};
use regente_providers::request::NotificationAddress;
use url::{Host, Url};

fuzz_target!(|text: &str| {
    let listed = "10.1.0.0/16".parse().expect("it is a network");
    let strict = Rules { plain: Plain::Refused, ports: Ports::These(vec![443]), networks: Vec::new() };
    let open = Rules { plain: Plain::Allowed, ports: Ports::Any, networks: vec![listed] };
    if let Ok(address) = strict.address(text) {
        assert_eq!(strict.address(address.as_str()), Ok(address.clone()));
        let url = Url::parse(address.as_str()).expect("it is an address");
        assert_eq!((url.scheme(), url.port_or_known_default()), ("https", Some(443)));
        assert!(url.username().is_empty() && url.password().is_none());
        assert!(literal(&url).is_none_or(is_public), "{url}");
        assert!(open.address(text).is_ok());
    }
    if let Ok(address) = open.address(text) {
        assert_eq!(open.address(address.as_str()), Ok(address.clone()));
        let url = Url::parse(address.as_str()).expect("it is an address");
        assert!(literal(&url).is_none_or(|address| is_public(address) || listed.contains(&address)), "{url}");
    }
    if let Some(address) = NotificationAddress::parse(text) {
        assert_eq!(NotificationAddress::parse(&address.to_string()), Some(address));
    }
});

/// The network address, also one that a resolver reads where the address has a name.
fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(name) => name.trim_end_matches('.').parse().ok(),
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    }
}
