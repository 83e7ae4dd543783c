//! The buyer of a charge: found or created from the data in its body, or taken from a stored customer or an alias.

use regente_domain::customer::{Address, Document};
use regente_domain::id::{CustomerId, Id};
use regente_store::{Batch, Commit, customers};

use super::record::{Customer, open_alias};
use super::{Found, NewCustomer, OnMatch, ResolvedCustomer, check_digits, plan};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;

/// How often a buyer is looked up again after another request came first, before the caller is asked to retry.
const TRIES_MAX: usize = 4;

/// The buyer of a charge, with the data that the payment uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buyer {
    /// The customer.
    pub customer: ResolvedCustomer,
    /// Name.
    pub name: String,
    /// E-mail address: the customer's own, or else where to write to him.
    pub email: Option<String>,
    /// Phone number; may be blank.
    pub phone_number: String,
    /// The document, or the word that means none.
    pub document: Document,
    /// Home address.
    pub address: Option<Address>,
}

impl Buyer {
    /// The buyer of a payment that brings his data along: it uses these, whatever is stored.
    pub fn described(customer: ResolvedCustomer, sent: NewCustomer) -> Self {
        let NewCustomer { name, email, phone_number, document, address, .. } = sent;
        Self { customer, name, email: Some(email), phone_number, document, address }
    }

    fn stored(customer: ResolvedCustomer, record: Customer) -> Self {
        let data = record.data;
        Self {
            customer,
            name: data.name,
            email: data.email.or(data.contact_email),
            phone_number: data.phone_number,
            document: data.document,
            address: data.address.map(|stored| stored.address),
        }
    }
}

/// Finds the customer whom these data describe, or creates one; `path` is that of the data in the body, such as
/// `paymentSource.customer`. An existing one is not changed. Two callers at once get the
/// same customer: a unique index refuses the second creation, and that caller looks up again. A public key gets an alias.
///
/// The customer is written in a batch of its own, so call it before the caller takes its own place in the store's admission,
/// and before an idempotency key is presumed to be new.
///
/// # Errors
/// [`Error::Store`]; a passing one when other requests came first each time.
pub async fn find_or_create(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    new: &NewCustomer,
    path: &str,
) -> Result<Found, Error> {
    check_digits(app, caller.client_id, &new.document, &format!("{path}.document")).await?;
    for _ in 0..TRIES_MAX {
        let mut batch = Batch::new(caller.client_id);
        let found = plan(app, caller, request_id, &mut batch, new, OnMatch::Keep).await?;
        if batch.is_empty() {
            return Ok(found);
        }
        let _admission = app.store.admit(caller.client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(found),
            // Another request created him first, or this commit did although its answer was lost: look up again.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
}

/// The buyer with this id or alias. The data of a payment through an alias are those sent with the alias.
///
/// # Errors
/// [`Error::Store`]; [`Error::Internal`] when the stored data does not open.
pub async fn buyer(app: &App, caller: &Caller, id: CustomerId) -> Result<Option<Buyer>, Error> {
    let Some(stored) = customers::find(&app.store, caller.client_id, id).await? else { return Ok(None) };
    let customer = ResolvedCustomer { real_id: stored.id, shown_id: id, via_alias: stored.id != id };
    if !customer.via_alias {
        return Ok(Some(Buyer::stored(customer, Customer::open(app, stored).await?)));
    }
    let alias = Id::new(id.uuid());
    // The customer was deleted in between.
    let Some(sealed) = customers::alias_data(&app.store, caller.client_id, alias).await? else {
        return Ok(None);
    };
    let sent = open_alias(app, caller.client_id, alias, &sealed).await?;
    Ok(Some(Buyer::described(customer, sent)))
}
