//! Customers: finds or creates them by the cases of `docs/interface/customers.md#matching`, and resolves ids and
//! aliases. `POST /v1/customers` and charges with a buyer use the same functions. [`changes`] changes and deletes them,
//! [`list`] lists them, [`cards`] links their cards.
//!
//! The domain decides the cases; this module reads their inputs and writes the result. When two callers look up the
//! same customer at once, a unique index refuses the second batch, and that caller looks up again.

pub mod cards;
mod changes;
mod document;
pub mod erasure;
mod list;
pub mod payer;
mod record;

use regente_domain::customer::{Address, Case, Document, HasDocument, NewCustomer, decide};
use regente_domain::id::{ClientId, CustomerId, Id, of};
use regente_domain::time::{Timestamp, later_of};
use regente_store::Batch;
use regente_store::customers::{self, CustomerKeys, StoredCustomer};
use regente_store::sessions::customers as session_customers;

pub use changes::{change, delete};
pub use document::check_digits;
pub use list::{CustomerFilter, list};
pub use record::{Customer, CustomerData, StoredAddress};

use crate::app::App;
use crate::caller::{Authority, Caller, RequestId};
use crate::error::Error;
use crate::{audit, sessions};
use record::{keys_of, seal_alias};

/// What happens when the customer exists already. For public keys this is always [`Self::Keep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMatch {
    /// Answer 409: a creation without `force`.
    Refuse,
    /// Update the existing customer with the data sent: a creation with `force`.
    Update,
    /// Use the existing customer unchanged.
    Keep,
}

/// The customer found or created, as it is after the batch is applied.
#[derive(Clone, Debug)]
pub struct MatchedCustomer {
    /// The buyer.
    pub customer: Customer,
    /// The id that a public key gets instead of the customer's own.
    pub alias: Option<Id<of::CustomerAlias>>,
}

impl MatchedCustomer {
    /// The id to show to the caller.
    pub fn shown_id(&self) -> CustomerId {
        self.alias.map_or(self.customer.id(), |alias| CustomerId::new(alias.uuid()))
    }
}

/// The customer that a request makes, finds or updates, and the batch that writes it.
///
/// # Errors
/// As [`plan`].
pub async fn plan_creation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    new: &NewCustomer,
    on_match: OnMatch,
) -> Result<(Batch, MatchedCustomer), Error> {
    let mut batch = Batch::new(caller.client_id);
    let found = plan(app, caller, request_id, &mut batch, new, on_match).await?;
    Ok((batch, found))
}

/// Looks up the customer and adds the resulting changes to `batch`, which may contain other changes of the caller. If
/// the batch is refused, the data has changed: plan again.
///
/// # Errors
/// [`Error::Conflict`] when the customer exists and `on_match` is [`OnMatch::Refuse`]; [`Error::BusinessRule`] when they do
/// not, and the caller is a buyer of a session that takes no more customers.
pub async fn plan(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    batch: &mut Batch,
    new: &NewCustomer,
    on_match: OnMatch,
) -> Result<MatchedCustomer, Error> {
    let plan = Plan { app, caller, request_id, new, now: app.clock.of(caller.client_id) };
    let on_match = if caller.is_public_key() { OnMatch::Keep } else { on_match };
    let keys = keys_of(app, caller.client_id, Some(&new.email), &new.document).await?;
    let holders = Holders::find(app, caller.client_id, &keys).await?;
    let customer = match (holders.case(&new.document), on_match) {
        (Case::Free, OnMatch::Refuse | OnMatch::Update | OnMatch::Keep) => {
            plan.create(batch, keys, Email::Own).await?
        }
        (Case::DocumentBelongsTo(_) | Case::EmailBelongsTo(_) | Case::EmailTaken, OnMatch::Refuse) => {
            return Err(Error::conflict(holders.clashes()));
        }
        (Case::EmailTaken, OnMatch::Update | OnMatch::Keep) => {
            plan.create(batch, CustomerKeys { email: None, ..keys }, Email::ForContactOnly).await?
        }
        (Case::DocumentBelongsTo(_), OnMatch::Update) => {
            let email = if holders.by_email.is_none() { FillEmail::Yes } else { FillEmail::No };
            plan.update(batch, holders.by_document, keys, email).await?
        }
        (Case::EmailBelongsTo(_), OnMatch::Update) => {
            plan.update(batch, holders.by_email, keys, FillEmail::No).await?
        }
        (Case::DocumentBelongsTo(_), OnMatch::Keep) => plan.keep(holders.by_document).await?,
        (Case::EmailBelongsTo(_), OnMatch::Keep) => plan.keep(holders.by_email).await?,
    };
    let alias = if caller.is_public_key() { Some(plan.alias(batch, customer.id())?) } else { None };
    Ok(MatchedCustomer { customer, alias })
}

/// The stored customer who matches the buyer of a charge. A card charge does not create customers: a new one would have
/// no card to charge.
pub async fn find_matching(
    app: &App,
    client_id: ClientId,
    email: &str,
    document: &Document,
) -> Result<Option<CustomerId>, Error> {
    let keys = keys_of(app, client_id, Some(email), document).await?;
    Ok(match Holders::find(app, client_id, &keys).await?.case(document) {
        Case::DocumentBelongsTo(id) | Case::EmailBelongsTo(id) => Some(id),
        Case::EmailTaken | Case::Free => None,
    })
}

/// A customer that an id of the API refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedCustomer {
    /// The customer's own id, used by records and shown to secret keys and in events.
    pub real_id: CustomerId,
    /// The id that was given, which the caller is shown.
    pub shown_id: CustomerId,
    /// Whether the given id is an alias.
    pub via_alias: bool,
}

/// The live customer of the account with this id or alias.
pub async fn resolve_customer(
    app: &App,
    client_id: ClientId,
    id: CustomerId,
) -> Result<Option<ResolvedCustomer>, Error> {
    let stored = customers::find(&app.store, client_id, id).await?;
    Ok(stored.map(|stored| ResolvedCustomer { real_id: stored.id, shown_id: id, via_alias: stored.id != id }))
}

/// The customer that the caller may read or change under `id`. A secret key may use an alias; a public key must use the
/// customer's own id, which it gets from the merchant (`docs/interface/customers.md#aliases`).
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(app: &App, caller: &Caller, id: CustomerId) -> Result<Customer, Error> {
    let stored = customers::find(&app.store, caller.client_id, id).await?.ok_or(Error::NotFound)?;
    if caller.is_public_key() && stored.id != id {
        return Err(Error::NotFound);
    }
    Customer::open(app, stored).await
}

/// The customers that have the e-mail address and the document sent.
struct Holders {
    by_document: Option<StoredCustomer>,
    by_email: Option<StoredCustomer>,
}

impl Holders {
    async fn find(app: &App, client_id: ClientId, keys: &CustomerKeys) -> Result<Self, Error> {
        let found = customers::find_by_keys(&app.store, client_id, keys).await?;
        let holder =
            |holds: &dyn Fn(&StoredCustomer) -> bool| found.iter().find(|stored| holds(stored)).cloned();
        Ok(Self {
            by_document: holder(&|stored| keys.document.is_some() && stored.keys.document == keys.document),
            by_email: holder(&|stored| keys.email.is_some() && stored.keys.email == keys.email),
        })
    }

    fn case(&self, document: &Document) -> Case {
        let by_email = self.by_email.as_ref().map(|stored| {
            let has_document =
                if stored.keys.document.is_some() { HasDocument::Yes } else { HasDocument::No };
            (stored.id, has_document)
        });
        decide(self.by_document.as_ref().map(|stored| stored.id), by_email, document.sent())
    }

    fn clashes(&self) -> Vec<String> {
        [("email", &self.by_email), ("document", &self.by_document)]
            .into_iter()
            .filter(|(_, holder)| holder.is_some())
            .map(|(name, _)| format!("customer with this {name} already exists"))
            .collect()
    }
}

/// How the e-mail address of a new customer is stored.
enum Email {
    /// As the customer's own: lookups find it.
    Own,
    /// For contact only, because it belongs to another customer (case 3).
    ForContactOnly,
}

/// Whether a customer without an e-mail address gets the one that was sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FillEmail {
    Yes,
    No,
}

/// The caller and the time of a plan.
struct Plan<'a> {
    app: &'a App,
    caller: &'a Caller,
    request_id: &'a RequestId,
    new: &'a NewCustomer,
    now: Timestamp,
}

impl Plan<'_> {
    async fn create(&self, batch: &mut Batch, keys: CustomerKeys, email: Email) -> Result<Customer, Error> {
        match self.caller.authority {
            Authority::SessionKey { session_id } => {
                sessions::must_take_customer(self.app, self.caller.client_id, session_id).await?;
                session_customers::begin(batch, session_id);
            }
            Authority::SecretKey | Authority::ClientToken { .. } | Authority::Member { .. } => {}
        }
        let id: CustomerId = self.app.chance.id(self.now);
        let sent_email = Some(self.new.email.clone());
        let (email, contact_email) = match email {
            Email::Own => (sent_email, None),
            Email::ForContactOnly => (None, sent_email),
        };
        let data = CustomerData {
            name: self.new.name.clone(),
            email,
            contact_email,
            phone_number: self.new.phone_number.clone(),
            document: self.new.document.clone(),
            address: self.new.address.clone().map(|address| self.new_address(address)),
            billing_address: self.new.billing_address.clone(),
            delivery_address: self.new.delivery_address.clone(),
            unknown: serde_json::Map::new(),
        };
        let customer = Customer::new(self.app, self.caller.client_id, id, keys, data)?;
        customers::insert(batch, &customer.stored);
        self.record(batch, "customer.created", id);
        Ok(customer)
    }

    async fn keep(&self, holder: Option<StoredCustomer>) -> Result<Customer, Error> {
        let stored = holder.ok_or_else(|| Error::internal("a case without its customer"))?;
        Customer::open(self.app, stored).await
    }

    /// Replaces the stored data with the data sent, except an existing e-mail address or document; those are only added
    /// when missing. Writes nothing when nothing changes.
    async fn update(
        &self,
        batch: &mut Batch,
        holder: Option<StoredCustomer>,
        sent: CustomerKeys,
        fill_email: FillEmail,
    ) -> Result<Customer, Error> {
        let before = self.keep(holder).await?;
        let mut keys = before.stored.keys;
        let mut data = before.data.clone();
        self.replace_what_was_sent(&mut data);
        if data.email.is_none() && fill_email == FillEmail::Yes {
            data.email = Some(self.new.email.clone());
            data.contact_email = None;
            keys.email = sent.email;
        }
        if data.document.is_absent() && !self.new.document.is_absent() {
            data.document = self.new.document.clone();
            (keys.document, keys.number) = (sent.document, sent.number);
        }
        if data == before.data {
            return Ok(before);
        }
        let after = before.changed(self.app, keys, data, self.now)?;
        customers::update(batch, &after.stored);
        self.record(batch, "customer.updated", after.id());
        Ok(after)
    }

    fn replace_what_was_sent(&self, data: &mut CustomerData) {
        if !self.new.name.trim().is_empty() {
            data.name.clone_from(&self.new.name);
        }
        if !self.new.phone_number.trim().is_empty() {
            data.phone_number.clone_from(&self.new.phone_number);
        }
        if let Some(address) = &self.new.address {
            data.address = Some(match data.address.take() {
                Some(before) => before.changed(address.clone(), self.now),
                None => self.new_address(address.clone()),
            });
        }
        if self.new.billing_address.is_some() {
            data.billing_address.clone_from(&self.new.billing_address);
        }
        if self.new.delivery_address.is_some() {
            data.delivery_address.clone_from(&self.new.delivery_address);
        }
    }

    fn record(&self, batch: &mut Batch, action: &'static str, id: CustomerId) {
        audit::record(self.app, batch, self.caller, self.request_id, action, id.uuid());
    }

    fn new_address(&self, address: Address) -> StoredAddress {
        StoredAddress::new(self.app.chance.id::<()>(self.now).uuid(), address, self.now)
    }

    /// The alias stores the data sent: a payment through it takes the payer's data from there.
    fn alias(&self, batch: &mut Batch, customer_id: CustomerId) -> Result<Id<of::CustomerAlias>, Error> {
        let id: Id<of::CustomerAlias> = self.app.chance.secret_id();
        let private = seal_alias(self.app, self.caller.client_id, id, self.new)?;
        customers::insert_alias(batch, id, customer_id, &private);
        self.record(batch, "customer.alias_created", customer_id);
        Ok(id)
    }
}

impl StoredAddress {
    /// The same address record with other contents; `updated_at` changes only if they differ.
    pub fn changed(self, address: Address, now: Timestamp) -> Self {
        if self.address == address {
            return self;
        }
        Self { updated_at: later_of(now, self.updated_at), address, ..self }
    }
}
