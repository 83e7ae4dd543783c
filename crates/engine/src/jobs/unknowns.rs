//! Requests with unknown outcomes, as a source of work.

use regente_domain::id::ClientId;
use regente_store::due::Found;
use regente_store::transaction_requests::{self, StoredRequest};
use uuid::Uuid;

use super::pace::Pace;
use super::runner::{Did, Source};
use super::whose::Whose;
use crate::accounts;
use crate::app::App;
use crate::error::Error;
use crate::transaction_requests::reconcile::{self, Resolved};

/// Requests that are looked up concurrently.
const CONCURRENT_MAX: usize = 32;
/// What a request whose outcome became known is counted as.
const OUTCOME: &str = "outcome";

/// The due requests.
#[derive(Clone)]
pub(super) struct Unknowns {
    pub(super) app: App,
    pub(super) whose: Whose,
}

impl Source for Unknowns {
    type Piece = StoredRequest;

    fn app(&self) -> &App {
        &self.app
    }

    fn concurrent_max(&self) -> usize {
        CONCURRENT_MAX
    }

    fn pace(&self) -> Option<Pace> {
        None
    }

    async fn clients(&self, from: ClientId) -> Result<Found, Error> {
        self.app.vault.keep_current().await?;
        if let Some(found) = self.whose.account() {
            return Ok(found);
        }
        let (store, clock) = (&self.app.store, &self.app.clock);
        let found = transaction_requests::clients_with_due(store, clock.deployment(), from).await;
        let Found { clients, searched_to } = accounts::due_or_all(store, found, from).await?;
        Ok(Found { clients: clock.with_own_clocks(clients), searched_to })
    }

    async fn due(&self, client_id: ClientId, limit: usize) -> Result<Vec<StoredRequest>, Error> {
        if self.whose.leaves_out(&self.app.clock, client_id) {
            return Ok(Vec::new());
        }
        let (store, now) = (&self.app.store, self.app.clock.of(client_id));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(transaction_requests::due(store, client_id, now, limit).await?)
    }

    fn id(stored: &StoredRequest) -> Uuid {
        stored.request.id.uuid()
    }

    async fn run(self, stored: StoredRequest) -> Did {
        let did = match reconcile::look_after(&self.app, &stored).await {
            Resolved::Yes => Did::Something,
            Resolved::NotYet => Did::Nothing,
        };
        self.whose.count(OUTCOME, did);
        did
    }
}
