//! Names the accounts of whose charges nothing is kept, although no operator has said so.

use regente_store::clients::Client;
use regente_store::{Store, StoreError, plans};

use super::{Check, Subject, Verdict, check, failure};
use crate::admin::clients;

const NAME: &str = "default plans";
/// Accounts that are named; further ones are only counted.
const NAMED_MAX: usize = 10;
/// The version of a plan that nobody has changed.
const AS_MADE: i64 = 1;

/// Looks at the default plan of each account.
pub(super) async fn default_plans(subject: &Subject<'_>) -> Check {
    let untouched = match untouched(subject.store).await {
        Ok(untouched) => untouched,
        Err(error) => return failure(NAME, &error),
    };
    if untouched.is_empty() {
        return check(NAME, Verdict::Ok, "operators have said what is kept");
    }
    let named = untouched.iter().take(NAMED_MAX).map(|client| format!("{} ({})", client.id, client.name));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match untouched.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let found = format!(
        "nothing is kept of charges at the own provider by accounts {named}{more}: their default plan is as it was made; \
         `regente plans change` sets fees"
    );
    // Without the operator's own processor there is no such charge, or the simulator stands in for it.
    let verdict = match subject.config.own_provider.url {
        Some(_) => Verdict::Warning,
        None => Verdict::Ok,
    };
    check(NAME, verdict, found)
}

/// The accounts whose default plan keeps nothing and was never changed.
async fn untouched(store: &Store) -> Result<Vec<Client>, StoreError> {
    let mut found = Vec::new();
    for client in clients::all(store).await? {
        let default = plans::default_of(store, client.id).await?;
        if default.is_none_or(|plan| plan.version == AS_MADE && plan.terms.fees.is_empty()) {
            found.push(client);
        }
    }
    Ok(found)
}
