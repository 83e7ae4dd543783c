//! Creates sessions, each with a key of its own (`docs/interface/sessions.md#creating`).

use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, Id, MerchantId, SessionId, of};
use regente_domain::local_day::day_of;
use regente_domain::money::Amount;
use regente_domain::platform_fee::PlatformFee;
use regente_domain::provider_type::ProviderType;
use regente_domain::scope::{Scope, Scopes};
use regente_domain::session::{
    Capacity, CardWanted, Cards, OfferedMethod, Session, SessionStatus, Tally, Terms,
};
use regente_domain::split::SplitRule;
use regente_domain::time::{Timestamp, parse_date};
use regente_store::Batch;
use regente_store::credentials::{self, CredentialKind, NewCredential};
use regente_store::sessions as rows;
use serde_json::Map;

use super::access::public_key;
use super::change::pix_or_boleto_with_limit;
use super::opened::{Opened, Private};
use super::{DUE_DATE, announce};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::charges::{routing, split};
use crate::credentials::digest;
use crate::error::Error;
use crate::link_settings::{self, UNREGISTERED};
use crate::{audit, queue, vendors};

/// A session to be created. The ids of its items are not drawn yet.
pub struct NewSession {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// What a buyer pays.
    pub amount: Amount,
    /// The currency of the amount.
    pub currency: Currency,
    /// The merchant's own reference.
    pub order_id: Option<String>,
    /// Whether it is switched on.
    pub is_active: bool,
    /// When it can be paid no longer.
    pub due_at: Option<Timestamp>,
    /// How often it can be paid.
    pub capacity: Capacity,
    /// What is sold, and on which terms.
    pub terms: Terms,
    /// What it says of persons.
    pub private: Private,
}

impl NewSession {
    /// Checks what depends on the day: a repeated key is answered also when the day has passed.
    fn check(&self, now: Timestamp) -> Result<(), Error> {
        must_be_due_later(self.due_at, now)?;
        let today = day_of(now);
        let due = |method: &OfferedMethod| parse_date(method.terms.get("expiresDate")?.as_str()?);
        match self.terms.methods.iter().position(|method| due(method).is_some_and(|due| due < today)) {
            Some(index) => {
                Err(Error::invalid(format!("paymentMethods[{index}].expiresDate"), "must not be in the past"))
            }
            None => Ok(()),
        }
    }
}

fn must_be_due_later(due_at: Option<Timestamp>, now: Timestamp) -> Result<(), Error> {
    match day_of(now).tomorrow() {
        Ok(tomorrow) if due_at.is_some_and(|due_at| day_of(due_at) < tomorrow) => {
            Err(Error::invalid(DUE_DATE, format!("must not be before {tomorrow}")))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A new session, and the batch that writes it, with its key.
///
/// # Errors
/// [`Error::Invalid`] names a date that has passed, or an address that is not registered, where a page asks;
/// [`Error::BusinessRule`] when its methods do not go with its limit; [`Error::ReferenceNotFound`] names the merchant or the vendor;
/// or why its charges could not be divided.
pub async fn plan_creation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    new: &NewSession,
) -> Result<(Batch, Opened), Error> {
    let (client_id, now) = (caller.client_id, app.clock.of(caller.client_id));
    new.check(now)?;
    if new.terms.offer_pix_or_boleto() && new.capacity.max_payments().is_some_and(|number| number > 1) {
        return Err(pix_or_boleto_with_limit());
    }
    let merchant = routing::merchant(app, client_id, new.merchant_id).await?;
    let merchant = merchant.ok_or(Error::ReferenceNotFound("merchantId"))?;
    must_be_registered(app, caller, new).await?;
    let can_charge = |provider: &ProviderType| {
        new.terms.methods.iter().any(|method| provider.capabilities().can_charge(method.payment_type))
    };
    let asked = merchant.providers.iter().map(|provider| provider.provider_type).filter(can_charge);
    vendors::checked(app, client_id, new.terms.vendor.as_deref(), asked).await?;
    let id: SessionId = app.chance.id(now);
    let mut terms = new.terms.clone();
    for item in &mut terms.items {
        item.id = app.chance.id(now);
    }
    let fees = terms.platform_fees(&merchant.merchant.details.platform_fee, now);
    let of = (client_id, new.merchant_id);
    terms.split_rules = divided(app, of, new.amount, fees, &terms.split_rules).await?;
    let session = session(new, client_id, id, terms);
    added(app, (caller, request_id), session, new.private.clone()).await
}

/// A new session that takes a card for a subscription and no payment, and the batch that writes it, with its key. The ids of its items are
/// not drawn yet.
///
/// # Errors
/// [`Error::Invalid`] names a due date that has passed.
pub async fn plan_for_card(
    app: &App,
    by: (&Caller, &RequestId),
    new: &NewSession,
    wanted: CardWanted,
) -> Result<(Batch, Opened), Error> {
    let (client_id, now) = (by.0.client_id, app.clock.of(by.0.client_id));
    must_be_due_later(new.due_at, now)?;
    let mut terms = new.terms.clone();
    for item in &mut terms.items {
        item.id = app.chance.id(now);
    }
    let session = session(new, client_id, app.chance.id(now), terms);
    added(app, by, Session { card_wanted: Some(wanted), ..session }, new.private.clone()).await
}

async fn added(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    session: Session,
    private: Private,
) -> Result<(Batch, Opened), Error> {
    let (client_id, id, now) = (caller.client_id, session.id, app.clock.of(caller.client_id));
    let created = session.create();
    let (mut batch, actor) = (Batch::new(client_id), caller.actor());
    let sealed = private.seal(app, client_id, id)?;
    rows::insert(&mut batch, &created, sealed, &actor, || app.chance.id(now))?;
    let session = &created.session;
    add_key(app, caller, &mut batch, session).await?;
    announce(app, &mut batch, &created, &actor)?;
    queue::sessions::expire_when_due(app, &mut batch, session);
    audit::record(app, &mut batch, caller, request_id, "session.created", id.uuid());
    if session.terms.create_link && app.settings.base_url.is_none() {
        tracing::warn!(
            session = %session.id,
            "a session was to have a payment link and has none: `server.base_url` is not set"
        );
    }
    Ok((batch, Opened { session: created.session, private }))
}

/// Whether a page, which has a client token, leads payers only to pages that its merchant has registered.
async fn must_be_registered(app: &App, caller: &Caller, new: &NewSession) -> Result<(), Error> {
    if !caller.is_public_key() {
        return Ok(());
    }
    let mut addresses = Vec::new();
    for (index, method) in new.terms.methods.iter().enumerate() {
        let named = method.addresses();
        addresses.extend(named.map(|(name, address)| (format!("paymentMethods[{index}].{name}"), address)));
    }
    let of = (caller.client_id, new.merchant_id);
    link_settings::must_be_registered(app, of, &addresses, UNREGISTERED).await
}

fn session(new: &NewSession, client_id: ClientId, id: SessionId, terms: Terms) -> Session {
    Session {
        id,
        client_id,
        merchant_id: new.merchant_id,
        status: SessionStatus::Created,
        is_active: new.is_active,
        amount: new.amount,
        currency: new.currency,
        order_id: new.order_id.clone(),
        due_at: new.due_at,
        capacity: new.capacity,
        tally: Tally::default(),
        cards: Cards::default(),
        customers: 0,
        terms,
        card_wanted: None,
        entries: 0,
        unknown_members: Map::new(),
        version: 1,
        updated_at: id.created_at(),
    }
}

/// The rules of a session with their ids; refused where a charge, with any of these fees, could not be divided so.
pub(super) async fn divided(
    app: &App,
    (client_id, merchant_id): (ClientId, MerchantId),
    amount: Amount,
    fees: Vec<PlatformFee>,
    rules: &[SplitRule],
) -> Result<Vec<SplitRule>, Error> {
    let sellers = split::Named::find(app, client_id, merchant_id, rules).await?.all()?;
    let rules = split::rules_with(app, rules, &sellers, app.clock.of(client_id));
    for fee in fees.into_iter().map(Some).chain([None]) {
        if let Some(divided) = split::of_rules(rules.clone(), fee) {
            divided.fit(amount).map_err(|misfit| split::misfit(split::SPLIT_RULES, misfit))?;
        }
    }
    Ok(rules)
}

/// Adds the key of a session. Only its digest is stored: the key itself is derived again where it is shown (decision
/// 22).
async fn add_key(app: &App, caller: &Caller, batch: &mut Batch, session: &Session) -> Result<(), Error> {
    let public_key = public_key(app, session).await?;
    let id: Id<of::Credential> = app.chance.id(app.clock.of(caller.client_id));
    credentials::insert(
        batch,
        &NewCredential {
            digest: digest(&public_key.to_string()),
            id,
            kind: CredentialKind::SessionKey,
            label: String::new(),
            scopes: Scopes::of([Scope::Sessions]),
            session_id: Some(session.id),
            expires_at: None,
            actor: caller.actor(),
        },
    );
    Ok(())
}
