//! What a settlement file is compared with, and what is posted of it (`docs/settlement.md`): a page of what the records have,
//! the requests of named payments, and the ledger. Whoever reads the file compares.

mod kept;
mod posting;
mod records;

use std::collections::BTreeMap;

use regente_domain::id::{ChargeId, ClientId, ProviderId};
use regente_domain::ledger::Purpose;
use regente_domain::provider_type::ProviderType;
use regente_domain::settlement::{Registered, Scope};
use regente_domain::time::Timestamp;
use regente_store::ledger::AccountFilter;
use regente_store::{StoreError, ledger, providers};
use serde::{Deserialize, Serialize};

use crate::accounts;
use crate::app::App;

pub use kept::{KeptCursor, kept, keys};
pub use posting::{Otherwise, PostError, Posted, post};
pub use records::{find, page};

/// Balances that one query reads.
const BALANCES_PER_PAGE: i64 = 500;

/// Where a page of what moved begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The account.
    client_id: ClientId,
    /// Which of its charges.
    part: Part,
    /// The last charge of the page before.
    charge_id: ChargeId,
}

/// Which charges of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    /// Those that were made earlier, and have moved: the last one of the page before at this time.
    Earlier { moved_at: Timestamp },
    /// Those that were made in the time.
    Made,
}

/// Whose file it is by the name of its provider: a type, or the id of a registered one. `None` when there is no such provider.
pub async fn scope(app: &App, provider: &str) -> Result<Option<Scope>, StoreError> {
    if let Some(provider_type) = ProviderType::parse(provider) {
        return Ok(Some(Scope { provider_type, registered: None }));
    }
    let Ok(provider_id) = provider.parse::<ProviderId>() else { return Ok(None) };
    let Some(client_id) = providers::client_of(&app.store, provider_id).await? else { return Ok(None) };
    let Some(found) = providers::find(&app.store, client_id, provider_id).await? else { return Ok(None) };
    let registered = Registered { client_id, merchant_id: found.merchant_id, provider_id };
    Ok(Some(Scope { provider_type: found.provider_type, registered: Some(registered) }))
}

/// What a provider owes by the ledger: minor units by currency, negative for what it has settled too much.
pub async fn owed(app: &App, scope: &Scope) -> Result<BTreeMap<String, i64>, StoreError> {
    let filter = AccountFilter {
        merchants: scope.registered.map(|registered| vec![registered.merchant_id]),
        provider_types: Some(vec![scope.provider_type]),
        purposes: Some(vec![Purpose::ProviderReceivable]),
        ..AccountFilter::default()
    };
    let mut owed: BTreeMap<String, i64> = BTreeMap::new();
    for client_id in accounts(app, scope).await? {
        for page in 0.. {
            let offset = page * BALANCES_PER_PAGE;
            let balances =
                ledger::balances(&app.store, client_id, &filter, None, BALANCES_PER_PAGE, offset).await?;
            for balance in &balances {
                let sum = owed.entry(balance.account.currency.code().to_owned()).or_default();
                *sum = sum.saturating_add(i64::try_from(balance.amount()).unwrap_or(i64::MAX));
            }
            if i64::try_from(balances.len()).is_ok_and(|found| found < BALANCES_PER_PAGE) {
                break;
            }
        }
    }
    Ok(owed)
}

async fn accounts(app: &App, scope: &Scope) -> Result<Vec<ClientId>, StoreError> {
    Ok(match scope.registered {
        Some(Registered { client_id, .. }) => vec![client_id],
        None => accounts::all(&app.store).await?,
    })
}
