//! Tokens: card data for a while and one use (`docs/interface/tokens-and-cards.md#tokens`). Whoever uses one up names it in the
//! batch of the use.

use regente_domain::actor::Actor;
use regente_domain::card::Cvv;
use regente_domain::id::{ClientId, TokenId};
use regente_providers::request::CardDetails;
use regente_store::Batch;
use regente_store::tokens::{self as rows, StoredToken, TokenKind};

use crate::app::App;
use crate::audit::Openings;
use crate::caller::Caller;
use crate::card_data::{TokenContents, open_token, seal_token};
use crate::error::Error;
use crate::vault::token_digest;

/// A new token, and the batch that writes it.
///
/// # Errors
/// [`Error::Internal`] when the contents cannot be sealed.
pub fn plan_creation(
    app: &App,
    caller: &Caller,
    contents: &TokenContents,
) -> Result<(Batch, TokenId), Error> {
    let mut batch = Batch::new(caller.client_id);
    let token_id = add(app, &mut batch, contents, &caller.actor())?;
    Ok((batch, token_id))
}

/// Adds a token to the batch.
pub(crate) fn add(
    app: &App,
    batch: &mut Batch,
    contents: &TokenContents,
    actor: &Actor,
) -> Result<TokenId, Error> {
    let client_id = batch.client_id();
    let token_id: TokenId = app.chance.secret_id();
    let kind = match contents {
        TokenContents::Card(_) => TokenKind::Card,
        TokenContents::Cvv(_) => TokenKind::Cvv,
    };
    let token = StoredToken { kind, sealed: seal_token(app, client_id, token_id, contents)? };
    let expires_at = app.clock.of(client_id) + app.settings.token_life;
    rows::insert(batch, token_digest(token_id), token, expires_at, actor);
    Ok(token_id)
}

/// The card of a token; `path` is the member that names the token.
///
/// # Errors
/// [`Error::token_not_found`].
pub(crate) async fn open_card(
    app: &App,
    client_id: ClientId,
    (token_id, path): (TokenId, &'static str),
    openings: &Openings,
) -> Result<CardDetails, Error> {
    let token = find(app, client_id, (token_id, path), TokenKind::Card).await?;
    openings.note(token_digest(token_id));
    match open_token(app, client_id, token_id, &token.sealed).await? {
        TokenContents::Card(card) => Ok(card),
        TokenContents::Cvv(_) => Err(Error::token_not_found(path)),
    }
}

/// The security code of a token, as [`open_card`].
pub(crate) async fn open_cvv(
    app: &App,
    client_id: ClientId,
    (token_id, path): (TokenId, &'static str),
) -> Result<Cvv, Error> {
    let token = find(app, client_id, (token_id, path), TokenKind::Cvv).await?;
    match open_token(app, client_id, token_id, &token.sealed).await? {
        TokenContents::Cvv(cvv) => Ok(cvv),
        TokenContents::Card(_) => Err(Error::token_not_found(path)),
    }
}

async fn find(
    app: &App,
    client_id: ClientId,
    (token_id, path): (TokenId, &'static str),
    kind: TokenKind,
) -> Result<StoredToken, Error> {
    let now = app.clock.of(client_id);
    let found = rows::find(&app.store, client_id, token_digest(token_id), now).await?;
    found.filter(|token| token.kind == kind).ok_or_else(|| Error::token_not_found(path))
}
