//! Lists customers by what they are filtered by.

use std::cmp::Reverse;

use regente_domain::id::CustomerId;
use regente_store::customers::{self, LookupKey, Order, Slice, StoredCustomer};

use super::Customer;
use crate::app::App;
use crate::caller::Caller;
use crate::error::Error;
use crate::vault::Lookup;

/// Which customers a list shows; what is empty selects all.
pub struct CustomerFilter {
    /// Ids; an alias selects its customer.
    pub ids: Vec<CustomerId>,
    /// Document types, in upper case.
    pub document_types: Vec<String>,
    /// Document numbers, in their normal form.
    pub numbers: Vec<String>,
}

/// A part of the customers that the filter selects, and how many it selects.
pub async fn list(
    app: &App,
    caller: &Caller,
    filter: &CustomerFilter,
    slice: Slice,
) -> Result<(Vec<Customer>, u64), Error> {
    let (stored, total) = if filter.ids.is_empty() && filter.numbers.is_empty() {
        of_all(app, caller, filter, slice).await?
    } else {
        of_chosen(app, caller, filter, slice).await?
    };
    let mut found = Vec::with_capacity(stored.len());
    for customer in stored {
        found.push(Customer::open(app, customer).await?);
    }
    Ok((found, total))
}

async fn of_all(
    app: &App,
    caller: &Caller,
    filter: &CustomerFilter,
    slice: Slice,
) -> Result<(Vec<StoredCustomer>, u64), Error> {
    let types = Some(filter.document_types.as_slice()).filter(|types| !types.is_empty());
    let total = customers::count(&app.store, caller.client_id, types).await?;
    Ok((customers::list(&app.store, caller.client_id, types, slice).await?, total))
}

/// The part of a list with ids or numbers: they select few customers, so all are read and the part is cut here.
async fn of_chosen(
    app: &App,
    caller: &Caller,
    filter: &CustomerFilter,
    slice: Slice,
) -> Result<(Vec<StoredCustomer>, u64), Error> {
    let CustomerFilter { ids, document_types, numbers } = filter;
    let client_id = caller.client_id;
    let keys = app.vault.client_keys(client_id).await?;
    let number_keys: Vec<LookupKey> =
        numbers.iter().map(|number| keys.lookup_key(Lookup::DocumentNumber, number)).collect();
    let mut chosen = if ids.is_empty() {
        customers::find_by_numbers(&app.store, client_id, &number_keys).await?
    } else {
        customers::find_many(&app.store, client_id, ids).await?
    };
    chosen.retain(|customer| {
        // Only a secret key may find a customer by an alias.
        let id_fits = !caller.is_public_key() || ids.is_empty() || ids.contains(&customer.id);
        let number_fits =
            number_keys.is_empty() || customer.keys.number.is_some_and(|key| number_keys.contains(&key));
        let type_fits = document_types.is_empty() || document_types.contains(&customer.document_type);
        id_fits && number_fits && type_fits
    });
    match slice.order {
        Order::OldestFirst => chosen.sort_by_key(|customer| customer.id),
        Order::NewestFirst => chosen.sort_by_key(|customer| Reverse(customer.id)),
    }
    let total = chosen.len() as u64;
    let offset = usize::try_from(slice.offset).unwrap_or(usize::MAX);
    let limit = usize::try_from(slice.limit).unwrap_or(usize::MAX);
    Ok((chosen.into_iter().skip(offset).take(limit).collect(), total))
}
