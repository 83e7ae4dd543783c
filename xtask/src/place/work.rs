//! The worker of a service in this process, what its database is asked for beside it, and what providers notify.

use regente_engine::jobs::Worker;
use regente_engine::queue::Queue;
use regente_providers::request::Credentials;
use regente_providers::sandbox::{SIGNATURE_HEADER, SigningKey};
use regente_store::{DatabaseKind, deliveries, jobs, testing, transaction_requests};
use serde_json::json;

use super::{Account, Inside};
use crate::Outcome;

impl Inside {
    /// A worker whose recurring jobs are there.
    pub(crate) async fn worker(&self) -> Outcome<Worker> {
        let worker = Worker::new(self.app.engine.clone());
        worker.prepare().await.map_err(|error| format!("{error:?}"))?;
        Ok(worker)
    }

    /// Which database it has.
    pub(crate) fn database_kind(&self) -> DatabaseKind {
        self.app.store.database_kind()
    }

    /// Writes rows by statements that are no part of the product.
    pub(crate) async fn run_script(&self, script: &str) -> Outcome {
        Ok(testing::run_script(&self.app.store, script).await?)
    }

    /// Counts what metrics show of the work that is due.
    pub(crate) async fn read_gauges(&self) -> Outcome {
        let (store, now) = (&self.app.store, self.app.clock.deployment());
        jobs::backlog(store, &Queue::ALL.map(Queue::word), now).await?;
        transaction_requests::unknown(store, now).await?;
        deliveries::backlog(store, now).await?;
        Ok(())
    }

    /// The simulator of a charge notifies that the payment was charged back.
    pub(crate) async fn charged_back(&self, account: &Account, charge_id: &str, api_key: &str) -> Outcome {
        let (client_id, charge_id) = (account.client_id.parse()?, charge_id.parse()?);
        let stored = transaction_requests::of_object(&self.app.store, client_id, charge_id).await?;
        let request = stored.into_iter().next().ok_or("a charge without a request")?.request;
        let now = self.app.clock.deployment();
        let body = json!({
            "id": charge_id, "kind": "payment.charged_back", "occurredAt": now, "objectId": request.object_id,
            "key": request.provider_key(), "data": { "id": charge_id },
        });
        let credentials = json!({ "type": "SANDBOX", "apiKey": api_key });
        let members = credentials.as_object().cloned().unwrap_or_default();
        let key = SigningKey::of(&Credentials::new(members)).ok_or("no key for signatures")?;
        let signature = key.sign(now, body.to_string().as_bytes());
        let path = format!("/providers/{}/notifications", request.provider_id);
        match self.notify(&path, (SIGNATURE_HEADER.as_str(), &signature), &body).await? {
            200 => Ok(()),
            status => Err(format!("a notification is answered {status}").into()),
        }
    }
}
