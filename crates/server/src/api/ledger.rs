//! `/v1/ledger`: the books of an account, to be read (`docs/interface/ledger.md`). An extension of the published
//! interface.

mod view;

use axum::Extension;
use axum::extract::State;
use regente_domain::currency::Currency;
use regente_domain::ledger::{Movement, Purpose};
use regente_domain::provider_type::{ProviderType, ShownProviderType};
use regente_engine::caller::Caller;
use regente_store::charges::Direction;
use regente_store::ledger::{self, AccountFilter, Balance, EntryFilter};
use uuid::Uuid;

use super::page::{LIMIT_DEFAULT, Page};
use super::query::{Parameters, Query, SortOrder, given};
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors};
pub use view::{AccountView, BalanceView, EntryView, shown};

/// Lists the accounts of the books.
///
/// An account is one purpose for a merchant, a provider type and a currency, and for a seller where it is one's. It is there
/// once it has an entry.
#[utoipa::path(
    get, path = "/v1/ledger/accounts", operation_id = "listLedgerAccounts", tag = "Ledger",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100, description = "Accounts on a page; 15 by default."),
        ("merchantId" = Option<String>, Query, description = "Ids of merchants."),
        ("sellerId" = Option<String>, Query, description = "Ids of sellers: their accounts alone."),
        ("providerType" = Option<Vec<ShownProviderType>>, Query, description = "Types of the provider; repeated, or separated by commas."),
        ("currency" = Option<Vec<Currency>>, Query, description = "Currencies; repeated, or separated by commas."),
        ("purpose" = Option<Vec<Purpose>>, Query, description = "What they are for; repeated, or separated by commas."),
    ),
    responses((status = 200, description = "A page of accounts.", body = Page<AccountView>), CommonErrors),
)]
pub async fn accounts(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<axum::Json<Page<AccountView>>, ApiError> {
    let page = page_of_balances(&app, &caller, &query).await?;
    Ok(axum::Json(page.map(|balance| AccountView::of(&balance.account))))
}

/// Lists the balances of accounts.
///
/// With `at`, as of that moment: what its entries up to then add up to. The balance is positive on the side on which the
/// account grows.
#[utoipa::path(
    get, path = "/v1/ledger/balances", operation_id = "listLedgerBalances", tag = "Ledger",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100, description = "Accounts on a page; 15 by default."),
        ("at" = Option<String>, Query, description = "As of this moment; as of now by default."),
        ("merchantId" = Option<String>, Query, description = "Ids of merchants."),
        ("sellerId" = Option<String>, Query, description = "Ids of sellers: their accounts alone."),
        ("providerType" = Option<Vec<ShownProviderType>>, Query, description = "Types of the provider; repeated, or separated by commas."),
        ("currency" = Option<Vec<Currency>>, Query, description = "Currencies; repeated, or separated by commas."),
        ("purpose" = Option<Vec<Purpose>>, Query, description = "What they are for; repeated, or separated by commas."),
    ),
    responses((status = 200, description = "A page of balances.", body = Page<BalanceView>), CommonErrors),
)]
pub async fn balances(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<axum::Json<Page<BalanceView>>, ApiError> {
    let page = page_of_balances(&app, &caller, &query).await?;
    Ok(axum::Json(page.map(|balance| BalanceView::of(&balance))))
}

async fn page_of_balances(app: &App, caller: &Caller, query: &Query) -> Result<Page<Balance>, ApiError> {
    let (request, filter, at) = query.read(|parameters| {
        (parameters.page(LIMIT_DEFAULT), accounts_of(parameters), parameters.moment("at"))
    })?;
    let (store, client_id) = (&app.store, caller.client_id);
    let total = ledger::count_accounts(store, client_id, &filter, at).await?.accounts;
    let limit = i64::from(request.limit);
    let found = ledger::balances(store, client_id, &filter, at, limit, request.offset()).await?;
    Ok(Page::new(request, found, total.unsigned_abs()))
}

/// Lists entries.
///
/// Newest first unless `sort=ASC`. An entry moves one amount from the account that is credited to the one that is debited,
/// and is never changed.
#[utoipa::path(
    get, path = "/v1/ledger/entries", operation_id = "listLedgerEntries", tag = "Ledger",
    params(
        ("page" = Option<i64>, Query, minimum = 1, maximum = 2_147_483_647, description = "From 1."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 100, description = "Entries on a page; 15 by default."),
        ("sort" = Option<words::SortOrder>, Query, description = "By time, in upper or lower case; newest first by default."),
        ("merchantId" = Option<String>, Query, description = "Ids of merchants."),
        ("sellerId" = Option<String>, Query, description = "Ids of sellers."),
        ("providerType" = Option<Vec<ShownProviderType>>, Query, description = "Types of the provider; repeated, or separated by commas."),
        ("currency" = Option<Vec<Currency>>, Query, description = "Currencies; repeated, or separated by commas."),
        ("purpose" = Option<Vec<Purpose>>, Query, description = "What the debited or the credited account is for; repeated, or separated by commas."),
        ("movement" = Option<Vec<Movement>>, Query, description = "What happened; repeated, or separated by commas."),
        ("sourceId" = Option<String>, Query, description = "Ids of charges, or of lines of settlement files."),
        ("at" = Option<String>, Query, description = "On this day (UTC), or in this second."),
        ("at.gt" = Option<String>, Query, description = "After."),
        ("at.lt" = Option<String>, Query, description = "Before."),
    ),
    responses((status = 200, description = "A page of entries.", body = Page<EntryView>), CommonErrors),
)]
pub async fn entries(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<axum::Json<Page<EntryView>>, ApiError> {
    let (request, filter, direction) = query
        .read(|parameters| (parameters.page(LIMIT_DEFAULT), entries_of(parameters), order(parameters)))?;
    let (store, client_id) = (&app.store, caller.client_id);
    let total = ledger::count(store, client_id, &filter).await?;
    let limit = i64::from(request.limit);
    let found = ledger::page(store, client_id, &filter, direction, limit, request.offset()).await?;
    Ok(axum::Json(Page::new(request, found, total.unsigned_abs()).map(|entry| EntryView::of(&entry))))
}

fn accounts_of(parameters: &Parameters<'_>) -> AccountFilter {
    let currencies: Vec<(&str, Currency)> =
        Currency::all().map(|currency| (currency.code(), currency)).collect();
    AccountFilter {
        merchants: given(parameters.ids("merchantId")),
        sellers: given(parameters.ids("sellerId")),
        provider_types: given(parameters.one_of("providerType", &ProviderType::all_shown())),
        currencies: given(parameters.one_of("currency", &currencies)),
        purposes: given(parameters.one_of("purpose", Purpose::WORDS)),
    }
}

fn entries_of(parameters: &Parameters<'_>) -> EntryFilter {
    let at = parameters.time_range("at");
    let sources: Vec<Uuid> =
        parameters.ids::<()>("sourceId").into_iter().map(regente_domain::id::Id::uuid).collect();
    EntryFilter {
        accounts: accounts_of(parameters),
        movements: given(parameters.one_of("movement", Movement::WORDS)),
        sources: given(sources),
        from: at.from,
        to: at.before,
    }
}

fn order(parameters: &Parameters<'_>) -> Direction {
    match parameters.sort() {
        SortOrder::Ascending => Direction::Ascending,
        SortOrder::Descending => Direction::Descending,
    }
}
