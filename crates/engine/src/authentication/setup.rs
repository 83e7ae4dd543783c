//! Prepares the authentication of a cardholder, before there is a charge.

use std::time::Duration;

use regente_domain::card::record::CardState;
use regente_domain::id::{AuthenticationSetupId, CardId, ClientId, TokenId};
use regente_domain::provider_type::ProviderType;
use regente_providers::authentication::{DeviceCollection, Setup};
use regente_store::authentication_setups::{self as rows, AuthenticationSetup};
use regente_store::{Batch, cards};
use uuid::Uuid;

use crate::app::App;
use crate::audit::Openings;
use crate::caller::Caller;
use crate::error::Error;
use crate::tokens;

/// How long a setup is good for.
const LIFE: Duration = Duration::from_secs(60 * 60);

/// The card whose holder is authenticated.
#[derive(Clone, Copy, Debug)]
pub enum SetupSource {
    /// A stored card.
    Card(CardId),
    /// A token, which is not used up.
    Token(TokenId),
}

/// What the 3DS server has answered.
pub struct Prepared {
    /// For one charge.
    pub id: AuthenticationSetupId,
    /// The 3DS server.
    pub server: ProviderType,
    /// What collects the data of the device; `None` when the server does not answer.
    pub collection: Option<DeviceCollection>,
}

/// Prepares an authentication, with the batch that writes it, which is empty when the 3DS server does not answer.
///
/// # Errors
/// [`Error::ReferenceNotFound`] names the card; [`Error::token_not_found`]; [`Error::Impossible`] when the card cannot be used or
/// there is no 3DS server.
pub async fn plan(
    app: &App,
    caller: &Caller,
    source: SetupSource,
    openings: &Openings,
) -> Result<(Batch, Prepared), Error> {
    let client_id = caller.client_id;
    let fingerprint = match source {
        SetupSource::Card(card_id) => fingerprint_of_card(app, client_id, card_id).await?,
        SetupSource::Token(token_id) => {
            let card = tokens::open_card(app, client_id, (token_id, "tokenId"), openings).await?;
            app.vault.client_keys(client_id).await?.card_fingerprint(&card.number, card.expiry)
        }
    };
    let Some(server) = app.authentication.preferred() else {
        return Err(Error::impossible("no 3DS server available"));
    };
    let now = app.clock.of(client_id);
    let id: AuthenticationSetupId = app.chance.secret_id();
    let mut batch = Batch::new(client_id);
    let collection = app.authentication.set_up(server, Setup { id, at: now, life: LIFE }).await;
    if collection.is_some() {
        let setup = AuthenticationSetup { server, fingerprint };
        rows::insert(&mut batch, id, setup, now + LIFE, &caller.actor());
    }
    Ok((batch, Prepared { id, server, collection }))
}

async fn fingerprint_of_card(app: &App, client_id: ClientId, card_id: CardId) -> Result<Uuid, Error> {
    const PATH: &str = "cardId";
    let found = cards::find(&app.store, client_id, card_id).await?;
    let card = found.ok_or(Error::ReferenceNotFound(PATH))?.card;
    if let CardState::Failed { .. } = card.state {
        let message = "card cannot be used in status failed";
        return Err(Error::Impossible {
            message: message.into(),
            details: vec![format!("{PATH}: {message}")],
        });
    }
    Ok(card.fingerprint)
}
