//! What a tester stages at a simulator in a process of its own, and the wait until the charge shows it.

use std::time::Duration;

use regente_providers::provider::Provider;
use regente_providers::sandbox::http::RemoteSandbox;
use regente_providers::staged::{StageRefusal, Staged, StagedEvent};
use serde_json::Value;

use super::super::Failure;
use super::super::charges::{Charge, path_of};
use super::super::remote::Remote;
use super::new_charge::account_time;
use crate::config::{Config, Simulator};

/// How often the charge is read until it shows what has happened.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How many times at most: a notification takes a second at most where nothing is lost.
const LOOKS_MAX: usize = 100;

/// The simulator.
pub(super) struct Staging(RemoteSandbox);

impl Staging {
    /// The simulator of the configuration.
    ///
    /// # Errors
    /// It runs inside of the service, where nobody can stage anything.
    pub(super) fn of(config: &Config) -> Result<Self, Failure> {
        match config.simulator()? {
            Simulator::Remote(options) => Ok(Self(RemoteSandbox::new(options)?)),
            Simulator::InProcess(_) => Err("this is staged at a simulator in a process of its own: run `regente \
                 sandbox-provider`, and name its address in `sandbox.url` (REGENTE_SANDBOX__URL) for the service and for \
                 this command"
                .into()),
        }
    }

    /// Has something happen to the payment of a charge; the charge that shows it.
    pub(super) async fn stage(
        &self,
        remote: &Remote,
        shown: &Value,
        charge: &Charge,
        what: Staged,
    ) -> Result<Value, Failure> {
        let payment = charge.transaction_requests.iter().find(|request| {
            matches!(&*request.request_type, "authorization" | "pre_authorization")
                && request.request_status == "success"
        });
        let key = payment.and_then(|request| request.idempotency_key);
        let key = key.ok_or_else(|| format!("charge {} is {}: nothing is paid", charge.id, charge.status))?;
        let at = account_time(remote).await?;
        self.0.stage(StagedEvent { key, at, what }).await.map_err(|refusal| match refusal {
            StageRefusal::NothingWaits => {
                format!(
                    "the simulator has nothing to which this could happen: charge {} is {}",
                    charge.id, charge.status
                )
            }
            StageRefusal::NoSimulator | StageRefusal::Unanswered => refusal.to_string(),
        })?;
        for _ in 0..LOOKS_MAX {
            let now = remote.get(&path_of(charge.id), &[]).await?;
            if now != *shown {
                return Ok(now);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Err("it has happened at the simulator, and the charge does not show it yet: see `regente charges show`".into())
    }
}
