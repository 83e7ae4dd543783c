//! Whether what is sent somewhere stays on this machine, where nobody else can read it.

use std::net::IpAddr;

use url::Url;

/// Whether a host, by its name or its address, is this machine.
pub(super) fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether what is sent to this address crosses a network without TLS.
pub(super) fn is_in_the_clear(url: &Url) -> bool {
    url.scheme() != "https" && !url.host_str().is_some_and(is_this_machine)
}
