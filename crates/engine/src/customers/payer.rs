//! The payer of a charge that is paid without a card: a stored customer, an alias of one, or a buyer in the body, who is
//! found or created by the cases of `docs/interface/customers.md#matching` and never updated. A payment uses the data
//! that was sent with it, or with its alias.

use regente_domain::charge::{Charge, PaymentMethod};
use regente_domain::customer::{Address, Document};
use regente_domain::id::{ClientId, CustomerId, Id};
use regente_providers::request::PayerDetails;
use regente_store::customers::{self, INSERT_CUSTOMER};
use regente_store::sessions::customers::RESERVE_SESSION_CUSTOMER;
use regente_store::{Batch, Commit};
use serde::{Deserialize, Serialize};

use super::record::open_alias;
use super::{Customer, MatchedCustomer, NewCustomer, OnMatch, ResolvedCustomer, check_digits, plan};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::races;

/// The customer who pays, with what a provider is told of them.
pub struct PayingCustomer {
    /// The customer.
    pub customer: ResolvedCustomer,
    /// What a provider is told.
    pub details: PayerDetails,
}

/// What a document says of the payer, as it is sealed with the charge: what the provider was told, whatever the customer is
/// called later.
#[derive(Serialize, Deserialize)]
pub struct PrintedPayer {
    /// The name; empty when it is not known.
    pub name: String,
    /// The document, or the word that means none.
    pub document: Document,
    /// The address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

/// The member of the sealed data of a charge with a [`PrintedPayer`].
pub const PRINTED_PAYER: &str = "payer";

impl PrintedPayer {
    /// The payer, if the documents of this method name one.
    pub fn of(method: &PaymentMethod, payer: &PayerDetails) -> Option<Self> {
        method.boleto()?;
        let PayerDetails { name, email: _, phone_number: _, document, address } = payer.clone();
        Some(Self { name, document, address })
    }
}

/// The customer of the account with this id or alias.
pub async fn stored(app: &App, client_id: ClientId, id: CustomerId) -> Result<Option<PayingCustomer>, Error> {
    let Some(stored) = customers::find(&app.store, client_id, id).await? else { return Ok(None) };
    let customer = ResolvedCustomer { real_id: stored.id, shown_id: id, via_alias: stored.id != id };
    let details = if customer.via_alias {
        let alias = Id::new(id.uuid());
        let sealed = customers::find_alias(&app.store, client_id, alias).await?;
        // The customer was deleted meanwhile, and the data with them.
        let Some(sealed) = sealed else { return Ok(None) };
        of_new(open_alias(app, client_id, alias, &sealed).await?)
    } else {
        of_customer(Customer::open(app, stored).await?)
    };
    Ok(Some(PayingCustomer { customer, details }))
}

/// The customer of a charge, as a provider is told of them; `None` when they were deleted.
pub async fn of_charge(app: &App, charge: &Charge) -> Result<Option<PayerDetails>, Error> {
    let Some(id) = charge.customer_id else { return Ok(None) };
    let Some(stored) = customers::find(&app.store, charge.client_id, id).await? else { return Ok(None) };
    Ok(Some(of_customer(Customer::open(app, stored).await?)))
}

/// The customer who matches a buyer in the body; created when there is none and `is_allowed` agrees. `path` is where the
/// buyer is in the body, for example `paymentSource.customer`.
///
/// # Errors
/// What `is_allowed` says: then nothing was written.
pub async fn found_or_created(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    new: NewCustomer,
    path: &str,
    is_allowed: impl Fn(ResolvedCustomer) -> Result<(), Error>,
) -> Result<PayingCustomer, Error> {
    check_digits(app, caller.client_id, &new.document, &format!("{path}.document")).await?;
    for _ in races::tries() {
        let (customer, batch) = matched(app, caller, request_id, &new, &is_allowed).await?;
        let written = if batch.is_empty() { Commit::Applied } else { app.store.apply(batch).await? };
        match written {
            Commit::Applied => return Ok(PayingCustomer { customer, details: of_new(new) }),
            Commit::Refused(refusal)
                if refusal.is(&INSERT_CUSTOMER) || refusal.is(&RESERVE_SESSION_CUSTOMER) => {}
            Commit::Refused(refusal) => {
                return Err(Error::internal(format!("a buyer was refused by {}", refusal.statement)));
            }
            // The next look-up finds the customer, if the commit succeeded.
            Commit::Unknown => return Err(Error::unavailable()),
        }
    }
    Err(Error::busy())
}

/// Who the customer of [`found_or_created`] would be; nothing is written. One who would be created has an id that nobody keeps.
///
/// # Errors
/// As [`found_or_created`].
pub async fn foreseen(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    new: NewCustomer,
    path: &str,
    is_allowed: impl Fn(ResolvedCustomer) -> Result<(), Error>,
) -> Result<PayingCustomer, Error> {
    check_digits(app, caller.client_id, &new.document, &format!("{path}.document")).await?;
    let (customer, _) = matched(app, caller, request_id, &new, &is_allowed).await?;
    Ok(PayingCustomer { customer, details: of_new(new) })
}

/// The customer who matches a buyer in the body, and the batch that creates them; it is empty when they are there.
async fn matched(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    new: &NewCustomer,
    is_allowed: impl Fn(ResolvedCustomer) -> Result<(), Error>,
) -> Result<(ResolvedCustomer, Batch), Error> {
    let mut batch = Batch::new(caller.client_id);
    let found = plan(app, caller, request_id, &mut batch, new, OnMatch::Keep).await?;
    let customer = resolved(&found);
    is_allowed(customer)?;
    Ok((customer, batch))
}

fn resolved(found: &MatchedCustomer) -> ResolvedCustomer {
    ResolvedCustomer {
        real_id: found.customer.id(),
        shown_id: found.shown_id(),
        via_alias: found.alias.is_some(),
    }
}

fn of_new(new: NewCustomer) -> PayerDetails {
    let NewCustomer { name, email, phone_number, document, address, billing_address: _, delivery_address: _ } =
        new;
    PayerDetails { name, email: Some(email), phone_number, document, address }
}

fn of_customer(customer: Customer) -> PayerDetails {
    let data = customer.data;
    PayerDetails {
        name: data.name,
        email: data.email.or(data.contact_email),
        phone_number: data.phone_number,
        document: data.document,
        address: data.address.map(|stored| stored.address),
    }
}
