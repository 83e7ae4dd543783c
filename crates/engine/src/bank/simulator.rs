//! The bank of the sandbox. The last digit of the account number says what becomes of a transfer: 0 to 5 are paid, 6 is paid and
//! not answered, 7 is refused, 8 is answered a day later, 9 is paid and comes back a day later.
//!
//! Its transfers are in the database, in a table of its own, so that all nodes have one bank and a restart does not forget what was paid.
//! It stands for another system all the same: it writes in commits of its own, and what it cannot write or read it does not answer.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::time::Timestamp;
use regente_store::simulated_transfers::{self, SimulatedTransfer};
use regente_store::{Batch, Commit, Store, StoreError};

use super::{Answer, Bank, Found, Transfer};

/// How long what is late takes.
const LATE: Duration = Duration::from_secs(24 * 60 * 60);
const NO_SUCH_ACCOUNT: &str = "the account does not exist";
const CAME_BACK: &str = "the account is closed";

/// The simulator of a bank.
#[derive(Clone)]
pub struct SimulatedBank {
    store: Store,
}

impl SimulatedBank {
    /// The bank whose transfers are in this database.
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Every transfer that it has of an account, with how often it was sent.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn transfers(&self, client_id: ClientId) -> Result<Vec<SimulatedTransfer>, StoreError> {
        simulated_transfers::list(&self.store, client_id).await
    }

    /// Takes a transfer, once; what became of it by this time.
    async fn take(&self, transfer: &Transfer) -> Result<Answer, StoreError> {
        let Transfer { client_id, id, amount, currency, at, .. } = *transfer;
        let new = SimulatedTransfer { id, amount, currency, last_digit: last_digit(transfer), at, sent: 1 };
        match self.write(client_id, |batch| simulated_transfers::insert(batch, &new)).await? {
            Commit::Applied if new.last_digit == Some('6') => return Ok(Answer::Unknown),
            Commit::Applied => return Ok(became_of(&new, at)),
            Commit::Unknown => return Ok(Answer::Unknown),
            // It has one of this name.
            Commit::Refused(_) => {}
        }
        match self.write(client_id, |batch| simulated_transfers::send_again(batch, id)).await? {
            Commit::Applied => {}
            Commit::Refused(_) | Commit::Unknown => return Ok(Answer::Unknown),
        }
        let known = simulated_transfers::find(&self.store, client_id, id).await?;
        Ok(known.map_or(Answer::Unknown, |known| became_of(&known, at)))
    }

    async fn write(
        &self,
        client_id: ClientId,
        change: impl FnOnce(&mut Batch),
    ) -> Result<Commit, StoreError> {
        let mut batch = Batch::new(client_id);
        change(&mut batch);
        let _admission = self.store.admit_waiting().await?;
        self.store.apply(batch).await
    }
}

impl Bank for SimulatedBank {
    fn send<'a>(&'a self, transfer: &'a Transfer) -> BoxFuture<'a, Answer> {
        async move { self.take(transfer).await.unwrap_or_else(|error| not_answered(&error)) }.boxed()
    }

    fn find(&self, client_id: ClientId, id: PaymentBatchId, at: Timestamp) -> BoxFuture<'_, Found> {
        async move {
            match simulated_transfers::find(&self.store, client_id, id).await {
                Ok(Some(known)) => Found::Told(became_of(&known, at)),
                Ok(None) => Found::Absent,
                Err(error) => Found::Told(not_answered(&error)),
            }
        }
        .boxed()
    }
}

fn not_answered(error: &StoreError) -> Answer {
    tracing::warn!(%error, "the simulated bank does not answer");
    Answer::Unknown
}

fn last_digit(transfer: &Transfer) -> Option<char> {
    transfer.to.account_number.as_str().chars().rfind(char::is_ascii_digit)
}

fn became_of(transfer: &SimulatedTransfer, at: Timestamp) -> Answer {
    let is_late = at >= transfer.at + LATE;
    match (transfer.last_digit, is_late) {
        (Some('7'), _) => Answer::Refused { reason: NO_SUCH_ACCOUNT.to_owned() },
        (Some('8'), false) => Answer::Pending,
        (Some('9'), true) => Answer::Returned { reason: CAME_BACK.to_owned() },
        (Some(_) | None, _) => Answer::Paid,
    }
}
