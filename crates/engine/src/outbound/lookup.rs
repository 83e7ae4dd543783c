//! Where names lead. Whoever connects gets checked addresses alone.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::rules::Rules;

/// The addresses of a name, once they are known.
pub type Looked<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Finds the addresses of names.
pub trait Lookup: Send + Sync {
    /// The addresses of `name`.
    fn addresses<'a>(&'a self, name: &'a str) -> Looked<'a>;
}

/// The machine's own way to find them.
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

/// What the connector asks: the answer is looked up and checked in one step, and the connection goes to what was
/// checked.
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
