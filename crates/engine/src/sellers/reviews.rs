//! Reviews of registrations: opens them, takes [`answers`], passes these on to the provider, and blocks a seller that does not
//! answer in time (`docs/interface/registration-reviews.md`).

pub mod answers;

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, ProviderId, RegistrationReviewId, SellerId};
use regente_domain::problems::Problems;
use regente_domain::provider_type::ProviderType;
use regente_domain::seller::Seller;
use regente_domain::seller::data::SellerData;
use regente_domain::seller::review::fields::Field;
use regente_domain::seller::review::{Change, Demand, Review, ReviewStatus, Verdict};
use regente_domain::time::{Timestamp, later_of};
use regente_domain::webhook::EventName;
use regente_providers::seller::{ReviewAnswer, SellerAnswer, SellerAsks};
use regente_store::providers::{self, Provider};
use regente_store::registration_reviews::{self as rows, AnswerChange};
use regente_store::{Batch, Commit, sellers};
use serde_json::{Map, Value};

use super::registration::Offered;
use super::{Record, documents, registration};
use crate::announce::{self, Changed};
use crate::app::App;
use crate::caller::{Caller, RequestId};
use crate::error::Error;
use crate::events::registration_review::ReviewNewsView;
use crate::queue::sellers::About;
use crate::vault::{Binding, Purpose};
use crate::{audit, queue, races};

/// The author of what time and providers decide.
const REVIEW: Actor = Actor::Job("registration_review");
/// How long a review stays open unless the provider says otherwise.
pub const OPEN_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The shortest and the longest wait for a provider's judgement: as long again as it has taken so far.
const JUDGED_WITHIN: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60 * 60));

/// A review of a seller of an account.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn find(
    app: &App,
    client_id: ClientId,
    seller_id: SellerId,
    id: RegistrationReviewId,
) -> Result<Review, Error> {
    let found = rows::find(&app.store, client_id, id).await?.map(|(review, _)| review);
    found.filter(|review| review.seller_id == seller_id).ok_or(Error::NotFound)
}

/// Adds a review to the batch, with its event and its job.
fn open(
    app: &App,
    batch: &mut Batch,
    seller: &Seller,
    provider_id: ProviderId,
    demand: Demand,
) -> Result<Option<Review>, Error> {
    let Some(link) = seller.link(provider_id) else { return Ok(None) };
    let id = app.chance.id(app.clock.of(seller.client_id));
    let (of, provider) = ((seller.id, seller.merchant_id), (provider_id, link.provider_type));
    let change = Review::open((id, seller.client_id), of, provider, demand);
    rows::insert(batch, &change.0, app.vault.sealer().key_id())?;
    after(app, batch, &change, seller, &REVIEW)?;
    Ok(Some(change.0))
}

/// A review that a tester opens by hand, as a provider does, and the batch that writes it. `read` says which fields the seller
/// is asked for, and until when.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Impossible`] when the seller is not at the simulator; or what `read` says.
pub async fn plan_opening(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    seller_id: SellerId,
    read: impl FnOnce(&SellerData, Timestamp) -> Result<(Vec<Field>, Timestamp), Problems>,
) -> Result<(Batch, Review), Error> {
    let (client_id, now) = (caller.client_id, app.clock.of(caller.client_id));
    let Record { seller, private } = super::find(app, client_id, seller_id).await?;
    let (fields, deadline_at) = read(&private.data, now)?;
    let simulator = seller.links.iter().find(|link| link.provider_type == ProviderType::Sandbox);
    let Some(simulator) = simulator else {
        return Err(Error::impossible("the seller is not registered at the simulator"));
    };
    let key = app.chance.id::<()>(now).uuid();
    let demand = Demand { key, reason: Some("periodic_update".to_owned()), fields, deadline_at };
    let mut batch = Batch::new(client_id);
    let review = open(app, &mut batch, &seller, simulator.provider_id, demand)?;
    let review = review.ok_or_else(|| Error::internal("a link that is gone"))?;
    audit::record(app, &mut batch, caller, request_id, "registration_review.opened", review.id.uuid());
    Ok((batch, review))
}

/// Opens what a provider asks for, once for each of its demands. What the seller could never answer is not opened: it would
/// be blocked for it.
pub(super) async fn open_demanded(
    app: &App,
    (seller, data): (&Seller, &SellerData),
    provider_id: ProviderId,
    demand: Demand,
) -> Result<(), Error> {
    if rows::is_known(&app.store, seller.client_id, demand.key).await? {
        return Ok(());
    }
    let key = demand.key;
    let demand = match demand.for_seller(data) {
        Ok(demand) => demand,
        Err(fields) => {
            tracing::warn!(
                seller = %seller.id, provider = %provider_id, review = %key, ?fields,
                "a provider asks a seller for what it cannot answer: the review is not opened"
            );
            return Ok(());
        }
    };
    let mut batch = Batch::new(seller.client_id);
    open(app, &mut batch, seller, provider_id, demand)?;
    let _admission = app.store.admit_waiting().await?;
    match app.store.apply(batch).await? {
        // Refused, it was opened meanwhile; unknown, the next look opens it.
        Commit::Applied | Commit::Refused(_) | Commit::Unknown => Ok(()),
    }
}

/// Cancels what a provider has asked a seller until then, and asks no more.
pub(super) async fn withdraw(
    app: &App,
    client_id: ClientId,
    about: About,
    until: Timestamp,
) -> Result<(), Error> {
    for review in rows::live_of(&app.store, client_id, about.seller_id).await? {
        if review.provider_id != about.provider_id || review.opened_at > until {
            continue;
        }
        let Some(stored) = sellers::find(&app.store, client_id, about.seller_id).await? else {
            return Ok(());
        };
        let record = Record::open(app, stored).await?;
        let now = later_of(app.clock.of(client_id), review.updated_at);
        let Some(change) = review.canceled(now) else { continue };
        match apply(app, &record, &change, &Map::new(), now).await? {
            Commit::Applied => {}
            // Another change came first, or the commit is unknown: the job of the registration looks again.
            Commit::Refused(_) | Commit::Unknown => return Err(Error::unavailable()),
        }
    }
    Ok(())
}

/// What follows each change of a review, in its batch: its event, and the job of what is due next.
fn after(app: &App, batch: &mut Batch, change: &Change, seller: &Seller, actor: &Actor) -> Result<(), Error> {
    let (review, name) = change;
    announce(app, batch, review, *name, seller, actor)?;
    let now = app.clock.of(review.client_id);
    let due = match review.status {
        ReviewStatus::Submitted => Some(now),
        ReviewStatus::Open
        | ReviewStatus::Approved
        | ReviewStatus::Rejected
        | ReviewStatus::Expired
        | ReviewStatus::Canceled => review.due_at(),
    };
    if let Some(due) = due {
        queue::sellers::review(app, batch, review.id, due);
    }
    Ok(())
}

fn announce(
    app: &App,
    batch: &mut Batch,
    review: &Review,
    name: EventName,
    seller: &Seller,
    actor: &Actor,
) -> Result<(), Error> {
    let changed = Changed { id: review.id.uuid(), version: review.version };
    announce::announce(app, batch, &changed, (0, name), &ReviewNewsView::of(review, seller), actor)
}

/// Does what is due of a review; answers when to look again, if ever.
pub async fn look(
    app: &App,
    client_id: ClientId,
    id: RegistrationReviewId,
) -> Result<Option<Timestamp>, Error> {
    for _ in races::tries() {
        let Some((review, sealed)) = rows::find(&app.store, client_id, id).await? else { return Ok(None) };
        let now = later_of(app.clock.of(client_id), review.updated_at);
        let Some(stored) = sellers::find(&app.store, client_id, review.seller_id).await? else {
            return Ok(None);
        };
        let record = Record::open(app, stored).await?;
        let provider = providers::find_live(&app.store, client_id, review.provider_id).await?;
        let (change, values) = match &provider {
            // Nobody asks any more.
            None => (review.canceled(now), Map::new()),
            Some(provider) if review.status == ReviewStatus::Submitted => {
                let Some(sealed) = sealed else {
                    return Err(Error::internal("a submitted review without an answer"));
                };
                let bytes = app.vault.open(binding(&review), &sealed).await?;
                let values: Map<String, Value> = serde_json::from_slice(&bytes).map_err(Error::internal)?;
                let verdict = ask(app, &record, &review, provider, &values).await?;
                let verdict = verdict.map(|verdict| verdict.on(&values));
                (verdict.and_then(|verdict| review.judged(&verdict, now)), values)
            }
            Some(_) => (review.passed(now), Map::new()),
        };
        let Some(change) = change else {
            return Ok(match (review.status, review.answered) {
                (ReviewStatus::Submitted, Some(answered)) => {
                    let (shortest, longest) = JUDGED_WITHIN;
                    Some(now + now.since(answered.at).clamp(shortest, longest))
                }
                (
                    ReviewStatus::Open
                    | ReviewStatus::Submitted
                    | ReviewStatus::Approved
                    | ReviewStatus::Rejected
                    | ReviewStatus::Expired
                    | ReviewStatus::Canceled,
                    _,
                ) => review.due_at(),
            });
        };
        if apply(app, &record, &change, &values, now).await? == Commit::Applied {
            let due = change.0.due_at();
            return Ok(due.map(|due| due.max(now)));
        }
    }
    Err(Error::busy())
}

async fn ask(
    app: &App,
    record: &Record,
    review: &Review,
    provider: &Provider,
    values: &Map<String, Value>,
) -> Result<Option<Verdict>, Error> {
    let seller = &record.seller;
    let Some(link) = seller.link(review.provider_id) else { return Ok(None) };
    // Whoever judges an answer has the files that it names.
    let mut files = documents::to_offer(app, seller, provider.id).await?;
    files.retain(|file| values.values().any(|value| *value == file.id.to_string()));
    if registration::offer_files(app, seller, link, provider, files).await? == Offered::Some {
        return Ok(None);
    }
    let submitted_at = review.answered.map_or(review.opened_at, |answered| answered.at);
    let answer = ReviewAnswer {
        key: review.demand.key,
        attempt: review.attempt,
        asked: review.demand.fields.iter().map(|field| field.name.clone()).collect(),
        submitted_at,
        values: values.clone(),
    };
    let call = registration::call(app, seller, link, provider, SellerAsks::Review(Box::new(answer))).await?;
    Ok(match app.providers.ask_about_seller(call).await {
        SellerAnswer::Reviewed(verdict) => Some(verdict),
        // Whoever asks for reviews judges answers.
        SellerAnswer::Stands(_)
        | SellerAnswer::Unknown
        | SellerAnswer::Unanswered
        | SellerAnswer::NotSupported => None,
    })
}

/// Writes a change of a review, with what it changes of its seller.
async fn apply(
    app: &App,
    before: &Record,
    change: &Change,
    values: &Map<String, Value>,
    now: Timestamp,
) -> Result<Commit, Error> {
    let (review, _) = change;
    let mut batch = Batch::new(review.client_id);
    let answer = match review.status {
        ReviewStatus::Submitted => AnswerChange::Stays,
        ReviewStatus::Open
        | ReviewStatus::Approved
        | ReviewStatus::Rejected
        | ReviewStatus::Expired
        | ReviewStatus::Canceled => AnswerChange::Erased,
    };
    rows::advance(&mut batch, review, answer)?;
    let mut record = before.clone();
    match review.status {
        ReviewStatus::Expired => record.seller = record.seller.held(review.provider_id, now),
        ReviewStatus::Approved | ReviewStatus::Canceled => {
            if !is_held_otherwise(app, review).await? {
                record.seller = record.seller.released(review.provider_id, now);
            }
        }
        ReviewStatus::Open | ReviewStatus::Submitted | ReviewStatus::Rejected => {}
    }
    match review.status {
        ReviewStatus::Approved => answers::take(app, review, &mut record, values, now).await?,
        ReviewStatus::Open
        | ReviewStatus::Submitted
        | ReviewStatus::Rejected
        | ReviewStatus::Expired
        | ReviewStatus::Canceled => {}
    }
    // A review that expires changes the seller also where another one blocks it already: that one, if it ends at the same
    // moment, reads the seller anew and does not release it.
    if record != *before || review.status == ReviewStatus::Expired {
        record.seller.version += 1;
        record.seller.updated_at = later_of(now, before.seller.updated_at);
        let stored = record.private.stored(app, record.seller.clone()).await?;
        sellers::update(&mut batch, &stored)?;
        queue::payouts::resume(app, &mut batch, &before.seller, &record.seller);
        if record.seller.data_version != before.seller.data_version {
            super::enqueue(app, &mut batch, &record.seller, now);
        }
        if record.seller.status() != before.seller.status() {
            let link = record.seller.link(review.provider_id);
            super::announce(app, &mut batch, &record.seller, link, &REVIEW)?;
        }
    }
    after(app, &mut batch, change, &record.seller, &REVIEW)?;
    let _admission = app.store.admit_waiting().await?;
    Ok(app.store.apply(batch).await?)
}

/// Whether another review holds the seller blocked at the provider.
async fn is_held_otherwise(app: &App, review: &Review) -> Result<bool, Error> {
    let live = rows::live_of(&app.store, review.client_id, review.seller_id).await?;
    Ok(live
        .iter()
        .any(|other| other.id != review.id && other.provider_id == review.provider_id && other.blocks))
}

/// Cancels the reviews of a seller that is deleted, in the batch of its deletion.
pub(super) async fn cancel_all(
    app: &App,
    batch: &mut Batch,
    seller: &Seller,
    actor: &Actor,
) -> Result<(), Error> {
    let now = app.clock.of(seller.client_id);
    for review in rows::live_of(&app.store, seller.client_id, seller.id).await? {
        if let Some(mut change) = review.canceled(later_of(now, review.updated_at)) {
            // A provider's own words may repeat what was answered.
            change.0.rejections.clear();
            rows::advance(batch, &change.0, AnswerChange::Erased)?;
            after(app, batch, &change, seller, actor)?;
        }
    }
    Ok(())
}

fn binding(review: &Review) -> Binding {
    Binding::new(Purpose::RegistrationAnswer, review.client_id, review.id.uuid())
}
