//! The accounts that a worker looks through. Usually one query finds those with something to do. While a part of a
//! distributed database cannot be reached, that query fails for all of them: then each account is asked by itself, and
//! only those fail whose rows are in that part.

use regente_domain::id::{ClientId, Id};
use regente_store::due::{self, Found};
use regente_store::{Store, StoreError, clients};
use uuid::Uuid;

/// The client of the deployment's own jobs; it sorts before all others.
pub const DEPLOYMENT: ClientId = Id::new(Uuid::nil());

/// Most accounts of one query of [`all`].
const PAGE: i64 = 1000;

/// The accounts that were found to have something to do; all of them from `from` on if a part of the database could not
/// be asked.
///
/// # Errors
/// [`StoreError::Unavailable`] when no part of it can be reached.
pub async fn found_or_all(
    store: &Store,
    found: Result<Vec<ClientId>, StoreError>,
    from: ClientId,
    limit: usize,
) -> Result<Vec<ClientId>, StoreError> {
    let Err(StoreError::Unavailable(error)) = found else { return found };
    tracing::warn!(
        error = &*error as &dyn std::error::Error,
        "accounts are asked one by one for what is due"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    if from == DEPLOYMENT {
        let mut accounts = vec![DEPLOYMENT];
        accounts.extend(page(store, DEPLOYMENT, limit.saturating_sub(1)).await?);
        return Ok(accounts);
    }
    page(store, Id::new(Uuid::from_u128(from.uuid().as_u128() - 1)), limit).await
}

/// What a look has found; a page of all accounts from `from` on if a part of the database could not be asked.
///
/// # Errors
/// As [`found_or_all`].
pub async fn due_or_all(
    store: &Store,
    found: Result<Found, StoreError>,
    from: ClientId,
) -> Result<Found, StoreError> {
    let error = match found {
        Err(error @ StoreError::Unavailable(_)) => error,
        found => return found,
    };
    let limit = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let clients = found_or_all(store, Err(error), from, limit).await?;
    let last = clients.last().filter(|_| clients.len() >= limit);
    let searched_to = Some(last.map_or(due::END, |last| due::after(*last)));
    Ok(Found { clients, searched_to })
}

/// All accounts, by id, without the deployment's own.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn all(store: &Store) -> Result<Vec<ClientId>, StoreError> {
    let (mut accounts, mut after) = (Vec::new(), DEPLOYMENT);
    loop {
        let found = page(store, after, PAGE).await?;
        let is_last = i64::try_from(found.len()).unwrap_or(i64::MAX) < PAGE;
        accounts.extend(found);
        match accounts.last() {
            Some(last) if !is_last => after = *last,
            Some(_) | None => return Ok(accounts),
        }
    }
}

async fn page(store: &Store, after: ClientId, limit: i64) -> Result<Vec<ClientId>, StoreError> {
    Ok(clients::list(store, Some(after), limit).await?.into_iter().map(|client| client.id).collect())
}
