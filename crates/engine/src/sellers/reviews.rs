//! Reviews of registrations: opens them, takes answers, passes these on to the provider, and blocks a seller that does not
//! answer in time (`docs/interface/registration-reviews.md`).

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, ProviderId, RegistrationReviewId, SellerId};
use regente_domain::seller::Seller;
use regente_domain::seller::data::SellerData;
use regente_domain::seller::document::{DocumentStage, SellerDocument};
use regente_domain::seller::review::fields::{KnownField, applied};
use regente_domain::seller::review::{Change, Demand, Review, ReviewStatus, Verdict};
use regente_domain::time::{Timestamp, later_of};
use regente_domain::webhook::EventName;
use regente_providers::seller::{ReviewAnswer, SellerAnswer, SellerAsks};
use regente_store::providers::{self, Provider};
use regente_store::registration_reviews::{self as rows, AnswerChange};
use regente_store::{Batch, Commit, events, sellers};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::registration::Offered;
use super::{Private, Record, documents, registration};
use crate::app::App;
use crate::audit;
use crate::caller::RequestId;
use crate::customers::check_digits;
use crate::error::Error;
use crate::events::registration_review::news;
use crate::queue;
use crate::queue::sellers::About;
use crate::races;
use crate::vault::{Binding, Purpose};

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
///
/// # Errors
/// [`Error::Internal`] when it cannot be written.
pub fn plan_opening(
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
    plan_opening(app, &mut batch, seller, provider_id, demand)?;
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
    let snapshot = serde_json::to_string(&news(review, seller)).map_err(Error::internal)?;
    let event = events::NewEvent {
        id: app.chance.id(app.clock.of(review.client_id)),
        object_id: review.id.uuid(),
        version: review.version,
        ordinal: 0,
        name,
        snapshot: &snapshot,
        actor,
    };
    events::announce(batch, event);
    Ok(())
}

/// What a seller answers.
#[derive(Clone, Debug)]
pub struct Given {
    /// The values, by the names of the fields; they have been checked.
    pub data: Map<String, Value>,
    /// When they were collected.
    pub collected_at: Timestamp,
    /// Of the files that it names, those that the batch brings.
    pub brought: Vec<SellerDocument>,
}

/// Adds an answer to the batch, with its entry in the audit trail. The files that it names become the seller's.
///
/// # Errors
/// [`Error::Conflict`] when the review takes none or another seller has the document, [`Error::Impossible`] names a file that
/// cannot be used or a value that does not fit the seller, [`Error::Invalid`] a document with wrong check digits.
pub async fn plan_answer(
    app: &App,
    batch: &mut Batch,
    review: &Review,
    given: &Given,
    (actor, request_id): (&Actor, &RequestId),
) -> Result<Review, Error> {
    let client_id = review.client_id;
    let now = later_of(app.clock.of(client_id), review.updated_at);
    let change = review.submitted(given.collected_at, now).ok_or_else(wrong_state)?;
    let record = super::find(app, client_id, review.seller_id).await?;
    let Some(data) = applied(&record.private.data, &given.data) else {
        return Err(refused("data does not fit the seller".to_owned()));
    };
    check_documents(app, &record, &data).await?;
    let files = files_of(app, &record.seller, given).await?;
    documents::attach(app, batch, &record.seller, &files);
    let bytes = serde_json::to_vec(&given.data).map(Zeroizing::new).map_err(Error::internal)?;
    let sealed = app.vault.seal(binding(review), &bytes);
    rows::advance(batch, &change.0, AnswerChange::Given(sealed))?;
    after(app, batch, &change, &record.seller, actor)?;
    audit::record_of(app, batch, (actor, request_id), "registration_review.answered", review.id.uuid());
    Ok(change.0)
}

/// Checks documents that an answer changes, as a change of the seller does.
async fn check_documents(app: &App, record: &Record, after: &SellerData) -> Result<(), Error> {
    let (client_id, before) = (record.seller.client_id, &record.private.data);
    if after.owner.document != before.owner.document {
        check_digits(app, client_id, &after.owner.document, "data.owner.document").await?;
    }
    if let (Some(before), Some(after)) = (&before.business, &after.business)
        && after.document != before.document
    {
        check_digits(app, client_id, &after.document, "data.business.document").await?;
    }
    if after.document() == before.document() {
        return Ok(());
    }
    let private = Private { data: after.clone(), marks: record.private.marks.clone() };
    super::must_be_only(app, &private.stored(app, record.seller.clone()).await?).await
}

/// Refuses a review that takes no answer, as it stands.
///
/// # Errors
/// [`Error::Conflict`].
pub fn must_take_an_answer(review: &Review) -> Result<(), Error> {
    if review.takes_an_answer() { Ok(()) } else { Err(wrong_state()) }
}

fn wrong_state() -> Error {
    Error::conflict(vec!["registration_review_invalid_state".to_owned()])
}

fn refused(detail: String) -> Error {
    Error::Impossible { message: "the answer does not fit".into(), details: vec![detail] }
}

/// The uploaded files that an answer names, of the kinds that are asked for.
async fn files_of(app: &App, seller: &Seller, given: &Given) -> Result<Vec<SellerDocument>, Error> {
    let mut files = Vec::new();
    for (name, value) in &given.data {
        let Some(kind) = KnownField::parse(name).and_then(KnownField::document_kind) else { continue };
        let Some(id) = value.as_str().and_then(|id| id.parse().ok()) else { continue };
        if given.brought.iter().any(|file| file.id == id) {
            continue;
        }
        let found = documents::find(app, seller.client_id, id).await;
        match found {
            Ok(document) if document.kind == kind && document.place == DocumentStage::Uploaded => {
                files.push(document)
            }
            Ok(_) | Err(Error::NotFound) => return Err(refused(format!("data.{name} was not found"))),
            Err(error) => return Err(error),
        }
    }
    let more = files.len() + given.brought.len();
    if more > 0 {
        documents::must_have_room(app, seller, more, "data").await?;
    }
    Ok(files)
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
        ReviewStatus::Approved => take_answer(app, review, &mut record, values, now).await?,
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

/// Gives a seller what it has answered.
async fn take_answer(
    app: &App,
    review: &Review,
    record: &mut Record,
    values: &Map<String, Value>,
    now: Timestamp,
) -> Result<(), Error> {
    let is_possible = match applied(&record.private.data, values) {
        Some(data) => match check_documents(app, record, &data).await {
            Ok(()) => {
                record.take(data, now, || super::new_uuid(app, now));
                true
            }
            Err(Error::Conflict { .. } | Error::Invalid(_)) => false,
            Err(error) => return Err(error),
        },
        None => false,
    };
    if !is_possible {
        // It fitted when it was given.
        tracing::warn!(review = %review.id, "the seller has changed: the answer does not fit any more");
    }
    Ok(())
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
