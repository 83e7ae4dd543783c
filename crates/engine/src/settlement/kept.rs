//! What payouts of the own provider have posted, and the keys under which a provider knows payments.

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::id::{ClientId, Id};
use regente_domain::ledger::Movement;
use regente_domain::settlement::{Kept, Scope};
use regente_domain::time::Timestamp;
use regente_store::charges::Direction;
use regente_store::ledger::{AccountFilter, EntryFilter};
use regente_store::{StoreError, charges, ledger, transaction_requests};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Cursor, Part, accounts};
use crate::app::App;

/// Rows that one command reads.
const ROWS_PER_PAGE: i64 = 500;

/// Where a page of what payouts have posted begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCursor {
    /// The account.
    client_id: ClientId,
    /// Entries of it that were read.
    offset: i64,
}

/// A page of what payouts have posted in this time, account by account, oldest first. There is none of other providers.
pub async fn kept(
    app: &App,
    scope: &Scope,
    (from, to): (Timestamp, Timestamp),
    after: Option<KeptCursor>,
) -> Result<(Vec<Kept>, Option<KeptCursor>), StoreError> {
    if !scope.is_own() {
        return Ok((Vec::new(), None));
    }
    let accounts = accounts(app, scope).await?;
    let begins = |client_id| KeptCursor { client_id, offset: 0 };
    let Some(at) = after.or_else(|| accounts.first().copied().map(begins)) else {
        return Ok((Vec::new(), None));
    };
    let filter = EntryFilter {
        accounts: AccountFilter {
            merchants: scope.registered.map(|registered| vec![registered.merchant_id]),
            provider_types: Some(vec![scope.provider_type]),
            ..AccountFilter::default()
        },
        movements: Some(vec![Movement::ProviderFee, Movement::Payout, Movement::Anticipation]),
        from: Some(from),
        to: Some(to),
        ..EntryFilter::default()
    };
    let (client_id, direction) = (at.client_id, Direction::Ascending);
    let entries = ledger::page(&app.store, client_id, &filter, direction, ROWS_PER_PAGE, at.offset).await?;
    let next = match is_full(entries.len()) {
        true => Some(KeptCursor { offset: at.offset + ROWS_PER_PAGE, ..at }),
        false => account_after(&accounts, client_id).map(begins),
    };
    Ok((entries.iter().filter_map(Kept::of).collect(), next))
}

/// A page of the keys under which a provider knows the payments of all charges, whatever has become of them.
pub async fn keys(
    app: &App,
    scope: &Scope,
    after: Option<Cursor>,
) -> Result<(Vec<Uuid>, Option<Cursor>), StoreError> {
    let accounts = accounts(app, scope).await?;
    let begins = |client_id| Cursor { client_id, part: Part::Made, charge_id: Id::new(Uuid::nil()) };
    let Some(at) = after.or_else(|| accounts.first().copied().map(begins)) else {
        return Ok((Vec::new(), None));
    };
    let charges = charges::after(&app.store, at.client_id, at.charge_id, ROWS_PER_PAGE).await?;
    let ids: Vec<Uuid> = charges.iter().map(|stored| stored.charge.id.uuid()).collect();
    let requests = transaction_requests::of_objects(&app.store, at.client_id, &ids).await?;
    let is_of_file = |request: &TransactionRequest| {
        request.provider_type == scope.provider_type
            && scope.registered.is_none_or(|registered| registered.provider_id == request.provider_id)
    };
    let requests = requests.iter().map(|stored| &stored.request).filter(|request| is_of_file(request));
    let next = match charges.last().filter(|_| is_full(charges.len())) {
        Some(last) => Some(Cursor { charge_id: last.charge.id, ..at }),
        None => account_after(&accounts, at.client_id).map(begins),
    };
    Ok((requests.map(TransactionRequest::provider_key).collect(), next))
}

/// Whether a page of so many may be followed by another.
fn is_full(found: usize) -> bool {
    i64::try_from(found).is_ok_and(|found| found >= ROWS_PER_PAGE)
}

fn account_after(accounts: &[ClientId], client_id: ClientId) -> Option<ClientId> {
    let place = accounts.iter().position(|account| *account == client_id)?;
    accounts.get(place + 1).copied()
}
