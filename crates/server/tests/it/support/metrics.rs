//! Reads the page of metrics of a running server.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use regente_store::testing::ReservedPort;
use reqwest::StatusCode;
use tokio::time::timeout;

use crate::support::server::LOOK_EVERY;

/// Longer than anything that a test waits for.
pub const SOON: Duration = Duration::from_secs(20);

/// A page: the value of each line by its name with labels.
pub struct Page {
    pub text: String,
    pub values: BTreeMap<String, f64>,
}

impl Page {
    pub async fn read(address: SocketAddr) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let response = http.get(format!("http://{address}/metrics")).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/plain"));
        let text = response.text().await.unwrap();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let values = lines.map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        });
        let values = values.collect();
        Self { text, values }
    }

    #[track_caller]
    pub fn value(&self, name: &str) -> f64 {
        *self.values.get(name).unwrap_or_else(|| panic!("{name} is not in\n{}", self.text))
    }

    /// The values of a label.
    pub fn labels(&self, label: &str) -> BTreeSet<&str> {
        let begin = format!("{label}=\"");
        self.values.keys().filter_map(|name| name.split(&begin).nth(1)?.split('"').next()).collect()
    }
}

/// A port for metrics, and the setting that names it.
pub fn metrics_setting() -> (ReservedPort, String) {
    let port = ReservedPort::any();
    let setting = format!("metrics.listen={}", port.address());
    (port, setting)
}

/// Waits until a server has this many calls to providers in flight.
pub async fn until_calls_in_flight(address: SocketAddr, calls: u32) {
    until(address, |page| page.value("regente_provider_calls_in_flight") == f64::from(calls)).await;
}

/// The value of a metric without labels.
pub async fn metric(address: SocketAddr, name: &str) -> f64 {
    Page::read(address).await.value(name)
}

pub async fn until(address: SocketAddr, holds: impl Fn(&Page) -> bool) -> Page {
    let waiting = async {
        loop {
            let page = Page::read(address).await;
            if holds(&page) {
                return page;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    match timeout(SOON, waiting).await {
        Ok(page) => page,
        Err(_elapsed) => panic!("not within {SOON:?}: {}", Page::read(address).await.text),
    }
}
