//! Registers sellers at providers: one question at a time for each seller and provider, under one key, until the provider
//! has answered. Afterwards the provider is asked again and again how the seller stands, and told of its changes.

use std::time::Duration;

use futures_util::future::join_all;
use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, Id, MerchantId, ProviderId};
use regente_domain::provider_type::ProviderType;
use regente_domain::seller::document::{SellerDocument, Takes};
use regente_domain::seller::{Link, LinkStatus, Seller, Standing};
use regente_domain::time::{Timestamp, later_of};
use regente_providers::request::NotificationAddress;
use regente_providers::seller::{SellerAnswer, SellerAsks, SellerCall};
use regente_store::providers::{self, Provider};
use regente_store::sellers as rows;
use regente_store::{Batch, Commit};
use tokio::time::timeout;

use super::{REGISTERS_WITHIN, Record, announce, new_uuid, takes_sellers};
use super::{documents, reviews};
use crate::app::App;
use crate::error::Error;
use crate::queue;
use crate::queue::sellers::About;
use crate::races;
use crate::transaction_requests::call;

/// The shortest and the longest wait for a provider that still checks a seller: as long again as it has taken so far.
const CHECK_WAITS: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(6 * 60 * 60));
/// The shortest and the longest wait after a provider that did not answer: as long again as it has been silent.
const SILENCE_WAITS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60 * 60));
/// How often a provider that has decided is asked whether that still holds.
const LOOK_EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// Sellers that are linked to a new provider in one batch.
const LINKED_AT_ONCE: i64 = 100;
/// The author of what providers decide.
const REGISTRATION: &str = "register_seller";

/// When a registration is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextLook {
    /// Then.
    Until(Timestamp),
    /// Never: the seller or the provider is gone.
    Gone,
}

/// Asks each provider of a new seller, for a while; their jobs go on with what is left.
pub async fn now(app: &App, seller: &Seller) {
    let (client_id, seller_id) = (seller.client_id, seller.id);
    let looks: Vec<_> = seller
        .links
        .iter()
        .map(|link| {
            let (app, about) = (app.clone(), About { seller_id, provider_id: link.provider_id });
            let in_flight = app.in_flight.clone();
            in_flight.run(async move { look(&app, client_id, about).await })
        })
        .collect();
    // Whoever has not ended in time goes on in its own task; what failed is repeated by its job.
    let _ = timeout(REGISTERS_WITHIN, join_all(looks)).await;
}

/// Asks the provider what is to be asked next about the seller, and writes what it answers.
///
/// # Errors
/// As the store and the vault.
pub async fn look(app: &App, client_id: ClientId, about: About) -> Result<NextLook, Error> {
    let Some(stored) = rows::find(&app.store, client_id, about.seller_id).await? else {
        return Ok(NextLook::Gone);
    };
    let record = Record::open(app, stored).await?;
    let Some(link) = record.seller.link(about.provider_id) else { return Ok(NextLook::Gone) };
    let Some(provider) = providers::find_live(&app.store, client_id, about.provider_id).await? else {
        return Ok(NextLook::Gone);
    };
    let asked = ask(app, &record, link, &provider).await?;
    let Some(standing) = asked.standing else {
        return Ok(NextLook::Until(after_silence(&record.seller, app.clock.of(client_id))));
    };
    let admission = app.store.admit_waiting().await?;
    let Some(seller) = write(app, client_id, about, &standing, asked.told).await? else {
        return Ok(NextLook::Gone);
    };
    drop(admission);
    if let Some(until) = standing.withdrawn_at {
        reviews::withdraw(app, client_id, about, until).await?;
    }
    if let Some(demand) = standing.demand {
        reviews::open_demanded(app, (&seller, &record.private.data), about.provider_id, *demand).await?;
    }
    let is_offered = match seller.link(about.provider_id).filter(|link| link.external_id.is_some()) {
        Some(link) => {
            let files = documents::to_offer(app, &seller, provider.id).await?;
            offer_files(app, &seller, link, &provider, files).await?
        }
        None => Offered::All,
    };
    let now = app.clock.of(client_id);
    Ok(NextLook::Until(match is_offered {
        Offered::All => next_look(&seller, about.provider_id, now),
        Offered::Some => after_silence(&seller, now),
    }))
}

/// When a provider is asked again that did not answer.
fn after_silence(seller: &Seller, now: Timestamp) -> Timestamp {
    let (shortest, longest) = SILENCE_WAITS;
    now + now.since(seller.updated_at).clamp(shortest, longest)
}

/// Whether a provider has answered about every file of a seller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// It has.
    All,
    /// It did not answer: some are left.
    Some,
}

/// Offers a provider files of a seller, one after the other.
pub(super) async fn offer_files(
    app: &App,
    seller: &Seller,
    link: &Link,
    provider: &Provider,
    files: Vec<SellerDocument>,
) -> Result<Offered, Error> {
    for document in files {
        let Some(file) = documents::open(app, &document).await? else { continue };
        let call = call(app, seller, link, provider, SellerAsks::File(file)).await?;
        let takes = match app.providers.ask_about_seller(call).await {
            SellerAnswer::Stands(_) => Takes::File,
            SellerAnswer::NotSupported => Takes::Nothing,
            SellerAnswer::Unknown | SellerAnswer::Unanswered | SellerAnswer::Reviewed(_) => {
                return Ok(Offered::Some);
            }
        };
        match documents::note_offer(app, &document, provider.id, takes).await? {
            Commit::Applied => {}
            // Another provider has answered meanwhile, or the seller is gone. It may be offered again: a provider knows it
            // by its id.
            Commit::Refused(_) | Commit::Unknown => return Ok(Offered::Some),
        }
    }
    Ok(Offered::All)
}

/// What a provider has said.
struct ProviderAnswer {
    standing: Option<Standing>,
    /// The version of the data that it was given.
    told: Option<i64>,
}

async fn ask(app: &App, record: &Record, link: &Link, provider: &Provider) -> Result<ProviderAnswer, Error> {
    let data = || Box::new(record.private.data.clone());
    let version = record.seller.data_version;
    let (asks, told) = match (&link.external_id, link.told == version) {
        (None, _) => (SellerAsks::Register(data()), Some(version)),
        (Some(_), false) => (SellerAsks::Update(data()), Some(version)),
        (Some(_), true) => (SellerAsks::Status, None),
    };
    let call = call(app, &record.seller, link, provider, asks).await?;
    Ok(match app.providers.ask_about_seller(call).await {
        SellerAnswer::Stands(standing) => ProviderAnswer { standing: Some(standing), told },
        SellerAnswer::NotSupported => {
            ProviderAnswer { standing: Some(not_supported(provider.provider_type)), told: Some(version) }
        }
        SellerAnswer::Unknown => ProviderAnswer { standing: Some(unknown()), told: None },
        SellerAnswer::Unanswered | SellerAnswer::Reviewed(_) => ProviderAnswer { standing: None, told: None },
    })
}

pub(super) async fn call(
    app: &App,
    seller: &Seller,
    link: &Link,
    provider: &Provider,
    asks: SellerAsks,
) -> Result<SellerCall, Error> {
    let service = app.settings.base_url.clone();
    Ok(SellerCall {
        key: link.key,
        seller_id: seller.id.uuid(),
        notify: service.map(|service| NotificationAddress { service, provider_id: provider.id.uuid() }),
        at: app.clock.of(seller.client_id),
        provider_type: provider.provider_type,
        credentials: call::credentials(app, provider).await?,
        options: provider.options.clone().unwrap_or_default(),
        mode: app.settings.mode,
        external_id: link.external_id.clone(),
        asks,
    })
}

fn not_supported(provider_type: ProviderType) -> Standing {
    Standing {
        external_id: None,
        external_status: "not_supported".to_owned(),
        external_status_reason: Some(format!(
            "this release registers no sellers at {}",
            provider_type.shown()
        )),
        status: LinkStatus::Inactive,
        demand: None,
        withdrawn_at: None,
    }
}

fn unknown() -> Standing {
    Standing {
        external_id: None,
        external_status: "unknown".to_owned(),
        external_status_reason: Some("the provider does not know the seller".to_owned()),
        status: LinkStatus::Inactive,
        demand: None,
        withdrawn_at: None,
    }
}

/// Writes how the seller stands, with the event of a status that this changes; `None` when the seller is gone.
async fn write(
    app: &App,
    client_id: ClientId,
    about: About,
    standing: &Standing,
    told: Option<i64>,
) -> Result<Option<Seller>, Error> {
    for _ in races::tries() {
        let Some(stored) = rows::find(&app.store, client_id, about.seller_id).await? else {
            return Ok(None);
        };
        let before = stored.seller;
        let now = later_of(app.clock.of(client_id), before.updated_at);
        let mut after = before.stands(about.provider_id, standing, told, now);
        if after == before {
            return Ok(Some(before));
        }
        after.version += 1;
        after.updated_at = now;
        let mut batch = Batch::new(client_id);
        rows::advance(&mut batch, &after)?;
        queue::payouts::resume(app, &mut batch, &before, &after);
        if after.status() != before.status() {
            announce(app, &mut batch, &after, after.link(about.provider_id), &Actor::Job(REGISTRATION))?;
        }
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(Some(after)),
            // Another change came first, or the commit is unknown: the stored seller tells.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    Err(Error::busy())
}

fn next_look(seller: &Seller, provider_id: ProviderId, now: Timestamp) -> Timestamp {
    let Some(link) = seller.link(provider_id) else { return now + LOOK_EVERY };
    match link.status {
        // It was changed while the provider was asked.
        LinkStatus::Pending | LinkStatus::Active | LinkStatus::Inactive | LinkStatus::Blocked
            if link.external_id.is_some() && link.told < seller.data_version =>
        {
            now
        }
        LinkStatus::Pending => {
            let (shortest, longest) = CHECK_WAITS;
            now + now.since(link.created_at).clamp(shortest, longest)
        }
        LinkStatus::Active | LinkStatus::Inactive | LinkStatus::Blocked => now + LOOK_EVERY,
    }
}

/// Links all sellers of a merchant to a provider that was added, and enqueues their registrations.
pub async fn link_all(
    app: &App,
    client_id: ClientId,
    merchant_id: MerchantId,
    provider_id: ProviderId,
) -> Result<(), Error> {
    let found = providers::find_live(&app.store, client_id, provider_id).await?;
    let Some(provider) = found.filter(|provider| takes_sellers(app, provider)) else { return Ok(()) };
    let mut after = Id::new(uuid::Uuid::nil());
    loop {
        let page = rows::of_merchant(&app.store, client_id, merchant_id, after, LINKED_AT_ONCE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.id;
        for seller in &page {
            link(app, seller, &provider).await?;
        }
    }
}

async fn link(app: &App, before: &Seller, provider: &Provider) -> Result<(), Error> {
    let now = app.clock.of(before.client_id);
    let changed_at = later_of(now, before.updated_at);
    let of = (provider.id, provider.provider_type);
    let mut after = before.linked(of, new_uuid(app, now), changed_at);
    if after == *before {
        return Ok(());
    }
    after.version += 1;
    after.updated_at = changed_at;
    let mut batch = Batch::new(before.client_id);
    rows::advance(&mut batch, &after)?;
    if after.status() != before.status() {
        announce(app, &mut batch, &after, after.link(provider.id), &Actor::Job(REGISTRATION))?;
    }
    let about = About { seller_id: after.id, provider_id: provider.id };
    queue::sellers::register(app, &mut batch, about, now);
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        // The job runs again, and finds the sellers that it has linked.
        Commit::Refused(_) | Commit::Unknown => Err(Error::unavailable()),
    }
}
