//! Resolves names, and passes only checked addresses to connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::rules::Rules;

/// A pending look-up.
pub type Looked<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Resolves names.
pub trait Lookup: Send + Sync {
    /// The addresses of `name`.
    fn addresses<'a>(&'a self, name: &'a str) -> Looked<'a>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn addresses<'a>(&'a self, name: &'a str) -> Looked<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// The resolver of the connector: it looks up and checks in one step, so connections go to checked addresses only.
pub(super) struct CheckedNames {
    pub(super) rules: Arc<Rules>,
    pub(super) lookup: Arc<dyn Lookup>,
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let (rules, lookup) = (Arc::clone(&self.rules), Arc::clone(&self.lookup));
        Box::pin(async move {
            let addresses = lookup.addresses(name.as_str()).await?;
            rules.all_allowed(&addresses)?;
            if addresses.is_empty() {
                return Err(io::Error::from(io::ErrorKind::NotFound).into());
            }
            let addresses: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}
