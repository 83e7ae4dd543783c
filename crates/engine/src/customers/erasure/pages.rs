//! Walks the records of an account, page by page, for those of a person. Erasing is rare, so no index of the tables that
//! charges are written to serves it.

use regente_domain::id::{ChargeId, ClientId, CustomerId, Id, PurchaseId};
use regente_domain::purchase::PurchaseStatus;
use regente_store::charges::erasure::{self, ChargeOf};
use regente_store::events::Snapshot;
use regente_store::purchases::StoredPurchase;
use regente_store::sealed::Sealed;
use regente_store::{Batch, Commit, cards, charges, deliveries, events, idempotency, purchases};
use serde_json::Value;
use uuid::Uuid;

use super::person::{Mention, Person, empty_free_text, empty_session_texts, empty_subscription_texts};
use super::{UnderWay, apply};
use crate::app::App;
use crate::error::Error;
use crate::idempotency::body_binding;
use crate::races;
use crate::vault::{Binding, Purpose};

/// Rows that one query reads.
pub(super) const ROWS_MAX: i64 = 500;

/// The payments of a customer that are under way.
pub(super) async fn under_way(
    app: &App,
    client_id: ClientId,
    customer_id: CustomerId,
) -> Result<UnderWay, Error> {
    let mut found = UnderWay::default();
    let mut after: ChargeId = Id::new(Uuid::nil());
    loop {
        let page = erasure::buyers(&app.store, client_id, after, ROWS_MAX).await?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        for (id, _) in page.iter().filter(|(_, buyer)| *buyer == Some(customer_id)) {
            let stored = charges::find(&app.store, client_id, *id).await?;
            if stored.is_some_and(|stored| !stored.charge.state.is_settled()) {
                found.charges.push(*id);
            }
        }
    }
    let mut after: PurchaseId = Id::new(Uuid::nil());
    loop {
        let page = purchases::page(&app.store, client_id, after, ROWS_MAX).await?;
        let Some(last) = page.last() else { return Ok(found) };
        after = last.purchase.id;
        let his =
            page.iter().map(|stored| &stored.purchase).filter(|one| one.customer_id == Some(customer_id));
        found.purchases.extend(his.filter(|one| one.status() == PurchaseStatus::Pending).map(|one| one.id));
    }
}

/// Erases what charges say of the person; answers how many did.
pub(super) async fn charges(app: &App, person: &mut Person, left: &mut UnderWay) -> Result<usize, Error> {
    let (mut erased, mut after) = (0, Id::new(Uuid::nil()));
    loop {
        let page = erasure::with_data(&app.store, person.client_id, after, ROWS_MAX).await?;
        let Some(last) = page.last() else { return Ok(erased) };
        after = last.id;
        for row in page {
            erased += usize::from(match whose(app, person, &row).await? {
                Whose::His => erase_charge(app, person, row.id, left).await?,
                Whose::OfOthersWhoNameHim => take_out_of_charge(app, person, row.id, left).await?,
                Whose::OfOthers => false,
            });
        }
    }
}

/// Whose a charge is.
enum Whose {
    /// The person's: by its buyer, or without one, by the data that was sent with it.
    His,
    /// Another buyer's, and the data that was sent with it names them.
    OfOthersWhoNameHim,
    /// Another buyer's or nobody's.
    OfOthers,
}

async fn whose(app: &App, person: &Person, row: &ChargeOf) -> Result<Whose, Error> {
    if row.customer_id == Some(person.customer_id) {
        return Ok(Whose::His);
    }
    let Some(sealed) = &row.private else { return Ok(Whose::OfOthers) };
    let mut sent = opened(app, Purpose::ChargeData, person.client_id, row.id.uuid(), sealed).await?;
    Ok(match row.customer_id {
        None if person.is_in(&sent) => Whose::His,
        Some(_) | None if person.taken_out_of(&mut sent) => Whose::OfOthersWhoNameHim,
        Some(_) | None => Whose::OfOthers,
    })
}

async fn opened(
    app: &App,
    purpose: Purpose,
    client_id: ClientId,
    id: Uuid,
    sealed: &Sealed,
) -> Result<Value, Error> {
    let plain = app.vault.open(Binding::new(purpose, client_id, id), sealed).await?;
    serde_json::from_slice(&plain).map_err(Error::internal)
}

/// Takes the person out of what was sent with the charge of another buyer, also while that is under way: what moves a charge on
/// does not write it again.
async fn take_out_of_charge(
    app: &App,
    person: &Person,
    id: ChargeId,
    left: &mut UnderWay,
) -> Result<bool, Error> {
    for _ in races::tries() {
        let found = charges::find(&app.store, person.client_id, id).await?;
        let Some(stored) = found else { return Ok(false) };
        let Some(before) = stored.private.clone() else { return Ok(false) };
        let (purpose, client_id) = (Purpose::ChargeData, person.client_id);
        let mut sent = opened(app, purpose, client_id, id.uuid(), &before).await?;
        if !person.taken_out_of(&mut sent) {
            return Ok(false);
        }
        let plain = serde_json::to_vec(&sent).map_err(Error::internal)?;
        let after = app.vault.seal(Binding::new(purpose, client_id, id.uuid()), &plain);
        let mut batch = Batch::new(client_id);
        erasure::replace_private(&mut batch, &stored, before, after);
        match apply(app, batch).await? {
            Commit::Applied => return Ok(true),
            // The charge has moved on, or was sealed anew.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    left.charges.push(id);
    Ok(false)
}

/// Erases what a charge, its events and the answers of webhooks say of the person, and its card if that is nobody's.
async fn erase_charge(
    app: &App,
    person: &mut Person,
    id: ChargeId,
    left: &mut UnderWay,
) -> Result<bool, Error> {
    for _ in races::tries() {
        let Some(stored) = charges::find(&app.store, person.client_id, id).await? else { return Ok(false) };
        person.had_charge(&stored.charge);
        if !stored.charge.state.is_settled() {
            left.charges.push(id);
            return Ok(false);
        }
        let former = erasure::former_docs(&app.store, &stored.charge).await?;
        let mut batch = Batch::new(person.client_id);
        let mut found = erasure::erase(&mut batch, &stored, former)?;
        found |= erase_events(app, person.client_id, id.uuid(), &mut batch).await?;
        let card_id = stored.charge.method.card_id();
        if let Some(card_id) = card_id {
            cards::erase_unlinked(&mut batch, card_id, app.clock.of(person.client_id));
        }
        match apply(app, batch).await? {
            Commit::Applied => {
                if let Some(card_id) = card_id
                    && cards::find(&app.store, person.client_id, card_id).await?.is_none()
                {
                    person.had_card(card_id);
                }
                return Ok(found);
            }
            // The charge has moved on, or may have been erased.
            Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    left.charges.push(id);
    Ok(false)
}

/// Erases what purchases say of the person; answers how many did.
pub(super) async fn purchases(app: &App, person: &Person, left: &mut UnderWay) -> Result<usize, Error> {
    let (mut erased, mut after) = (0, Id::new(Uuid::nil()));
    loop {
        let page = purchases::page(&app.store, person.client_id, after, ROWS_MAX).await?;
        let Some(last) = page.last() else { return Ok(erased) };
        after = last.purchase.id;
        for stored in page {
            erased += usize::from(match stored.purchase.customer_id == Some(person.customer_id) {
                true => erase_purchase(app, stored, left).await?,
                false => take_out_of_purchase(app, person, stored, left).await?,
            });
        }
    }
}

/// Takes the person out of what was sent with the purchase of another buyer.
async fn take_out_of_purchase(
    app: &App,
    person: &Person,
    stored: StoredPurchase,
    left: &mut UnderWay,
) -> Result<bool, Error> {
    let (purpose, client_id, id) = (Purpose::PurchaseData, stored.purchase.client_id, stored.purchase.id);
    let mut next = Some(stored);
    for _ in races::tries() {
        let Some(stored) = next.take() else { return Ok(false) };
        let Some(sealed) = &stored.private else { return Ok(false) };
        let mut sent = opened(app, purpose, client_id, id.uuid(), sealed).await?;
        if !person.taken_out_of(&mut sent) {
            return Ok(false);
        }
        // Its job writes what was sent again, without the security code that it has used.
        if stored.purchase.status() == PurchaseStatus::Pending {
            break;
        }
        let plain = serde_json::to_vec(&sent).map_err(Error::internal)?;
        let sealed = app.vault.seal(Binding::new(purpose, client_id, id.uuid()), &plain);
        let mut batch = Batch::new(client_id);
        purchases::replace_private(&mut batch, &stored.purchase, sealed);
        match apply(app, batch).await? {
            Commit::Applied => return Ok(true),
            Commit::Refused(_) | Commit::Unknown => {
                next = purchases::find(&app.store, client_id, id).await?;
            }
        }
    }
    left.purchases.push(id);
    Ok(false)
}

async fn erase_purchase(app: &App, stored: StoredPurchase, left: &mut UnderWay) -> Result<bool, Error> {
    let (client_id, id) = (stored.purchase.client_id, stored.purchase.id);
    let mut next = Some(stored);
    for _ in races::tries() {
        let Some(stored) = next.take() else { return Ok(false) };
        if stored.purchase.status() == PurchaseStatus::Pending {
            break;
        }
        let mut batch = Batch::new(client_id);
        let mut found = purchases::erase(&mut batch, &stored)?;
        found |= erase_events(app, client_id, id.uuid(), &mut batch).await?;
        match apply(app, batch).await? {
            Commit::Applied => return Ok(found),
            // The purchase has moved on, or may have been erased.
            Commit::Refused(_) | Commit::Unknown => {
                next = purchases::find(&app.store, client_id, id).await?;
            }
        }
    }
    left.purchases.push(id);
    Ok(false)
}

/// Erases what the stored events of an object and the answers of webhooks to them say; answers whether an event did.
async fn erase_events(
    app: &App,
    client_id: ClientId,
    object_id: Uuid,
    batch: &mut Batch,
) -> Result<bool, Error> {
    let mut found = false;
    for snapshot in events::snapshots_of(&app.store, client_id, object_id).await? {
        let mut data: Value = serde_json::from_str(&snapshot.data).map_err(Error::internal)?;
        if empty_free_text(&mut data) {
            events::replace_snapshot(batch, Snapshot { data: data.to_string(), ..snapshot });
            found = true;
        }
    }
    deliveries::erase_answers(batch, object_id);
    Ok(found)
}

/// Replaces the kept answers that show the person with those of a record that is gone, and takes free texts out of those that
/// name them. The keys stay claimed: a repetition takes no effect again. Answers how many there were.
pub(super) async fn answers(app: &App, person: &Person) -> Result<usize, Error> {
    let (client_id, mut after, mut erased) = (person.client_id, Uuid::nil(), 0);
    let gone = (app.answer_to)(Error::NotFound);
    loop {
        let page = idempotency::answers(&app.store, client_id, after, ROWS_MAX).await?;
        let Some((last, _)) = page.last() else { return Ok(erased) };
        after = *last;
        let mut batch = Batch::new(client_id);
        for (digest, sealed) in page {
            let binding = body_binding(client_id, digest);
            let plain = app.vault.open(binding, &sealed).await?;
            let mut answer: Value = serde_json::from_slice(&plain).map_err(Error::internal)?;
            let (status, bytes) = match person.mentioned_in(&answer) {
                Mention::Nothing => continue,
                Mention::Shows => (Some(gone.status), gone.bytes.clone()),
                Mention::Session(session) => {
                    let tells = |text: &str| person.is_told_by(text, session);
                    if !empty_session_texts(&mut answer, &tells) {
                        continue;
                    }
                    (None, serde_json::to_vec(&answer).map_err(Error::internal)?)
                }
                Mention::Subscription if empty_subscription_texts(&mut answer)? => {
                    (None, serde_json::to_vec(&answer).map_err(Error::internal)?)
                }
                Mention::Names if empty_free_text(&mut answer) => {
                    (None, serde_json::to_vec(&answer).map_err(Error::internal)?)
                }
                Mention::Subscription | Mention::Names => continue,
            };
            idempotency::replace_answer(&mut batch, digest, status, app.vault.seal(binding, &bytes));
            erased += 1;
        }
        if !batch.is_empty() {
            match apply(app, batch).await? {
                // Nothing in it can be refused; the job looks for what an unknown commit has left.
                Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
            }
        }
    }
}
