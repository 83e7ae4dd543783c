//! Finds the card of a charge: one that was sent, one behind a token, a stored one, or the default card of a customer.

use regente_domain::card::Cvv;
use regente_domain::card::record::{CardState, Unchecked};
use regente_domain::charge::CardSource;
use regente_domain::id::{CardId, ClientId, TokenId};
use regente_providers::request::CardDetails;
use regente_store::cards;

use super::{Funded, same_customer};
use crate::app::App;
use crate::audit::Openings;
use crate::card_data::{self, CvvSource, FundingSource, NewCard, new_card, seal_card};
use crate::charges::create::{CVV_TOKEN_PATH, TOKEN_PATH};
use crate::charges::method::CardMethod;
use crate::charges::order::PlacedBy;
use crate::charges::source::{CardOwner, OrderedCard};
use crate::customers::{ResolvedCustomer, find_matching, resolve_customer};
use crate::error::Error;
use crate::tokens;
use crate::vault::token_digest;

/// `buyer` is the one that the order names beside the card.
pub(super) async fn fund(
    app: &App,
    by: &PlacedBy,
    buyer: Option<ResolvedCustomer>,
    method: CardMethod,
    named: OrderedCard,
    openings: &Openings,
) -> Result<Funded, Error> {
    let found = resolve(app, by, named, openings).await?;
    Ok(Funded {
        method: method.paid_with(found.card),
        source: found.source,
        tokens: found.tokens,
        customer: same_customer(buyer, found.owner)?,
    })
}

/// A card that was found.
struct FoundCard {
    card: CardSource,
    source: FundingSource,
    tokens: Vec<[u8; 32]>,
    /// The customer who was named for it.
    owner: Option<ResolvedCustomer>,
}

async fn resolve(
    app: &App,
    by: &PlacedBy,
    named: OrderedCard,
    openings: &Openings,
) -> Result<FoundCard, Error> {
    let client_id = by.client_id();
    match named {
        OrderedCard::Inline(card) => {
            let details = card_data::checked(card, app.clock.of(client_id))?;
            store_first(app, client_id, details, None).await
        }
        OrderedCard::Token(token_id) => {
            let details = tokens::open_card(app, client_id, (token_id, TOKEN_PATH), openings).await?;
            store_first(app, client_id, details, Some(token_id)).await
        }
        OrderedCard::Stored { card_id, cvv } => {
            let card = CardSource::Card { card_id };
            stored(app, client_id, card_id, "paymentSource.cardId", cvv, card).await
        }
        OrderedCard::Default { owner, cvv } => default_card(app, by, owner, cvv).await,
    }
}

/// A new card, stored with this charge.
async fn store_first(
    app: &App,
    client_id: ClientId,
    details: CardDetails,
    token_id: Option<TokenId>,
) -> Result<FoundCard, Error> {
    let card = new_card(app, client_id, &details, CardState::Pending(Unchecked::NotAskedFor)).await?;
    let sealed = seal_card(app, client_id, card.id, &details);
    Ok(FoundCard {
        card: CardSource::Card { card_id: card.id },
        source: FundingSource::NewCard(Box::new(NewCard { card, sealed, details })),
        tokens: token_id.map(token_digest).into_iter().collect(),
        owner: None,
    })
}

fn cannot_be_used(path: &str, message: &'static str) -> Error {
    Error::Impossible { message: message.into(), details: vec![format!("{path}: {message}")] }
}

async fn stored(
    app: &App,
    client_id: ClientId,
    card_id: CardId,
    path: &'static str,
    cvv: CvvSource,
    card: CardSource,
) -> Result<FoundCard, Error> {
    let found = cards::find_with_number(&app.store, client_id, card_id)
        .await?
        .ok_or(Error::ReferenceNotFound(path))?;
    if let CardState::Failed { .. } = found.stored.card.state {
        return Err(cannot_be_used(path, "card cannot be used in status failed"));
    }
    let (cvv, tokens) = resolve_cvv(app, client_id, cvv).await?;
    let source = FundingSource::StoredCard { found: Box::new(found), cvv };
    Ok(FoundCard { card, source, tokens, owner: None })
}

async fn resolve_cvv(
    app: &App,
    client_id: ClientId,
    cvv: CvvSource,
) -> Result<(Option<Cvv>, Vec<[u8; 32]>), Error> {
    match cvv {
        CvvSource::None => Ok((None, Vec::new())),
        CvvSource::Inline(cvv) => Ok((Some(cvv), Vec::new())),
        CvvSource::Token(token_id) => {
            let cvv = tokens::open_cvv(app, client_id, (token_id, CVV_TOKEN_PATH)).await?;
            Ok((Some(cvv), vec![token_digest(token_id)]))
        }
    }
}

/// The usable card that was linked last (`docs/interface/tokens-and-cards.md#default-card`).
async fn default_card(
    app: &App,
    by: &PlacedBy,
    owner: CardOwner,
    cvv: CvvSource,
) -> Result<FoundCard, Error> {
    const NO_CARD: &str = "customer has no card that can be charged";
    let client_id = by.client_id();
    let (path, id) = match owner {
        CardOwner::Stored(id) => ("paymentSource.customerId", Some(id)),
        // A caller with a public key could send anybody's document.
        CardOwner::Described { .. } if by.is_public() => {
            return Err(Error::invalid(
                "paymentSource.customer",
                "must be given as customerId with a public key, when his card is charged",
            ));
        }
        CardOwner::Described { email, document } => {
            ("paymentSource.customer", find_matching(app, client_id, &email, &document).await?)
        }
    };
    let Some(id) = id else { return Err(cannot_be_used(path, NO_CARD)) };
    let owner = resolve_customer(app, client_id, id).await?.ok_or(Error::ReferenceNotFound(path))?;
    if owner.via_alias && by.is_public() {
        return Err(Error::invalid(path, "must be a customer whose cards may be used"));
    }
    let of_owner = cards::of_customer(&app.store, client_id, owner.real_id).await?;
    let usable = |stored: &&cards::StoredCard| match stored.card.state {
        CardState::Active | CardState::Pending(_) => true,
        CardState::Failed { .. } | CardState::Verifying => false,
    };
    let Some(card_id) = of_owner.iter().find(usable).map(|stored| stored.card.id) else {
        return Err(cannot_be_used(path, NO_CARD));
    };
    let card = CardSource::Customer { customer_id: owner.real_id, card_id };
    let found = stored(app, client_id, card_id, path, cvv, card).await?;
    Ok(FoundCard { owner: Some(owner), ..found })
}
