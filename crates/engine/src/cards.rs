//! Stored cards: stores them, with or without a check ([`card_checks`](crate::card_checks)), lists and deletes them
//! (`docs/interface/tokens-and-cards.md#cards`).

use regente_domain::card::record::{Card, CardLink, CardState, Unchecked};
use regente_domain::id::{CardId, ClientId, CustomerId, MerchantId, TokenId};
use regente_providers::request::CardDetails;
use regente_store::cards::{self as rows, StoredCard};
use regente_store::{Batch, Commit, tokens as token_rows};

use crate::app::App;
use crate::audit::Openings;
use crate::caller::{Authority, Caller, RequestId};
use crate::card_checks::{self, NewCheck};
use crate::card_data::{new_card, open_holder, seal_card};
use crate::charges::{self, CardTriedObserver};
use crate::error::Error;
use crate::events::card::CardView;
use crate::idempotency::{Claim, Finished, Plan, unless_overtaken};
use crate::vault::token_digest;
use crate::{audit, tokens};

/// A card that is not checked, and the batch that writes it and uses its token up.
///
/// # Errors
/// [`Error::token_not_found`].
pub async fn plan_creation(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    (token_id, why): (TokenId, Unchecked),
    openings: &Openings,
) -> Result<(Batch, CardView), Error> {
    let client_id = caller.client_id;
    let (card, details) = from_token(app, client_id, token_id, CardState::Pending(why), openings).await?;
    let sealed = seal_card(app, client_id, card.id, &details);
    let mut batch = Batch::new(client_id);
    openings.record(&mut batch);
    token_rows::consume(&mut batch, token_digest(token_id), app.clock.of(client_id));
    rows::insert(&mut batch, &card, sealed.number, sealed.holder)?;
    audit::record(app, &mut batch, caller, request_id, "card.created", card.id.uuid());
    Ok((batch, CardView::created(&card, Some(details.holder_name), &[])))
}

/// A card to store and to have checked.
pub struct NewCheckedCard {
    /// The token of the card.
    pub token_id: TokenId,
    /// The merchant whose provider checks it.
    pub merchant_id: MerchantId,
    /// The idempotency claim.
    pub claim: Option<Claim>,
    /// `X-Sandbox-Seed`.
    pub seed: Option<String>,
}

/// How a card was stored.
pub enum Stored {
    /// The provider answered: the card is active or failed.
    Checked(Box<CardView>),
    /// Another request with the same key came first; this is its answer.
    Answered(Finished),
}

/// How a card was stored, or that its merchant has no provider which can check it: then nothing is written yet.
pub enum Tried {
    /// It was.
    Stored(Stored),
    /// It was not.
    Uncheckable(Box<UncheckedCard>),
}

/// A card that is stored without a check, by whoever writes the batch.
pub struct UncheckedCard {
    card: Card,
    details: CardDetails,
    token_id: TokenId,
    openings: Openings,
}

impl UncheckedCard {
    /// Adds the card to the batch, as this customer's, and uses its token up.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub fn write(&self, app: &App, batch: &mut Batch, customer_id: CustomerId) -> Result<(), Error> {
        let client_id = batch.client_id();
        let now = app.clock.of(client_id);
        let sealed = seal_card(app, client_id, self.card.id, &self.details);
        self.openings.record(batch);
        token_rows::consume(batch, token_digest(self.token_id), now);
        let card = Card { link: Some(CardLink { customer_id, linked_at: now }), ..self.card.clone() };
        Ok(rows::insert(batch, &card, sealed.number, sealed.holder)?)
    }

    /// The batch was committed.
    pub fn written(&self) {
        self.openings.written();
    }

    /// The card.
    pub const fn card(&self) -> &Card {
        &self.card
    }

    /// The card as answers show it.
    pub fn view(&self) -> CardView {
        CardView::created(&self.card, Some(self.details.holder_name.clone()), &[])
    }
}

/// Stores a card and has a provider check it, to the end also when the caller hangs up. `lets_try` is asked once nothing else
/// can be refused, before anything is written.
///
/// # Errors
/// [`Error::ReferenceNotFound`] names the merchant; [`Error::token_not_found`]; [`Error::ProviderNeeded`] when the card could not
/// be checked: then there is none. Or what `lets_try` says.
pub async fn store_checked<E: From<Error>>(
    app: &App,
    by: (&Caller, &RequestId),
    new: NewCheckedCard,
    lets_try: impl FnOnce(&Card) -> Result<Option<CardTriedObserver>, E>,
) -> Result<Stored, E> {
    match try_to_check(app, by, new, lets_try).await? {
        Tried::Stored(stored) => Ok(stored),
        Tried::Uncheckable(_) => Err(card_checks::no_provider().into()),
    }
}

/// As [`store_checked`], where a merchant may have no provider that can check the card.
///
/// # Errors
/// As [`store_checked`], but for the missing provider.
pub async fn try_to_check<E: From<Error>>(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    NewCheckedCard { token_id, merchant_id, claim, seed }: NewCheckedCard,
    lets_try: impl FnOnce(&Card) -> Result<Option<CardTriedObserver>, E>,
) -> Result<Tried, E> {
    let client_id = caller.client_id;
    let openings = Openings::of(app, caller, request_id);
    let merchant = charges::find_merchant(app, client_id, merchant_id).await?;
    let found = from_token(app, client_id, token_id, CardState::Verifying, &openings).await;
    let (mut card, details) = match unless_overtaken(app, claim.as_ref(), found).await? {
        Plan::Own(found) => found,
        Plan::Overtaken(finished) => return Ok(Tried::Stored(Stored::Answered(finished))),
    };
    let heard = lets_try(&card)?;
    if card_checks::checking_provider(&merchant, &card, app.settings.simulators).is_none() {
        card.state = CardState::Pending(Unchecked::NotAskedFor);
        return Ok(Tried::Uncheckable(Box::new(UncheckedCard { card, details, token_id, openings })));
    }
    card.claim = claim.as_ref().map(Claim::to_hex);
    let holder_name = details.holder_name.clone();
    let new = NewCheck {
        sealed: seal_card(app, client_id, card.id, &details),
        token: token_digest(token_id),
        actor: caller.actor(),
        card,
        details,
        openings,
        merchant,
        session_id: match caller.authority {
            Authority::SessionKey { session_id } => Some(session_id),
            Authority::SecretKey | Authority::ClientToken { .. } | Authority::Member { .. } => None,
        },
        claim,
        seed,
    };
    let checking = checked(app.clone(), new, heard);
    Ok(Tried::Stored(match app.in_flight.run(checking).await? {
        card_checks::Checked::Answered(finished) => Stored::Answered(finished),
        card_checks::Checked::Card(card, request) => {
            let requests = std::slice::from_ref(&*request);
            Stored::Checked(Box::new(CardView::created(&card, Some(holder_name), requests)))
        }
    }))
}

async fn checked(
    app: App,
    new: NewCheck,
    heard: Option<CardTriedObserver>,
) -> Result<card_checks::Checked, Error> {
    let checked = card_checks::create(app, new).await;
    if let (Ok(card_checks::Checked::Card(_, request)), Some(heard)) = (&checked, heard) {
        heard(std::slice::from_ref(&**request));
    }
    checked
}

async fn from_token(
    app: &App,
    client_id: ClientId,
    token_id: TokenId,
    state: CardState,
    openings: &Openings,
) -> Result<(Card, CardDetails), Error> {
    let details = tokens::open_card(app, client_id, (token_id, "tokenId"), openings).await?;
    let card = new_card(app, client_id, &details, state).await?;
    Ok((card, details))
}

/// A page of the cards of an account, newest first, and how many there are.
pub async fn list(
    app: &App,
    client_id: ClientId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<CardView>, i64), Error> {
    let stored = rows::page(&app.store, client_id, limit, offset).await?;
    let total = rows::count(&app.store, client_id).await?;
    let mut found = Vec::with_capacity(stored.len());
    for card in &stored {
        found.push(listed(app, card).await?);
    }
    Ok((found, total))
}

/// A card as lists show it.
pub async fn listed(app: &App, stored: &StoredCard) -> Result<CardView, Error> {
    Ok(CardView::listed(&stored.card, holder_name(app, stored).await?))
}

/// The name on a card.
pub async fn holder_name(app: &App, stored: &StoredCard) -> Result<Option<String>, Error> {
    match &stored.holder {
        Some(holder) => Ok(Some(open_holder(app, stored.card.client_id, stored.card.id, holder).await?)),
        None => Ok(None),
    }
}

/// A card that answers show.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn visible(app: &App, caller: &Caller, id: CardId) -> Result<StoredCard, Error> {
    let found = rows::find(&app.store, caller.client_id, id).await?;
    found.filter(|stored| stored.card.is_shown()).ok_or(Error::NotFound)
}

/// Deletes a card: the number and the name are erased.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn delete(app: &App, (caller, request_id): (&Caller, &RequestId), id: CardId) -> Result<(), Error> {
    let card_id = visible(app, caller, id).await?.card.id;
    let mut batch = Batch::new(caller.client_id);
    rows::delete(&mut batch, card_id, app.clock.of(caller.client_id));
    audit::record(app, &mut batch, caller, request_id, "card.deleted", card_id.uuid());
    let _admission = app.store.admit(caller.client_id)?;
    match app.store.apply(batch).await? {
        Commit::Applied => Ok(()),
        Commit::Refused(_) => Err(Error::NotFound),
        Commit::Unknown => Err(Error::unavailable()),
    }
}
