//! What a public key must pass before it has a card charged or checked.

use axum::http::HeaderMap;
use regente_domain::card::record::Card;
use regente_domain::session::Session;
use regente_engine::caller::Caller;
use regente_engine::charges::{CardTriedObserver, Guard};

use crate::app::App;
use crate::http::card_testing::Attempt;
use crate::http::error::ApiError;
use crate::human_check::{Operation, must_pass};

/// What public keys must pass: their buyers prove that they are persons, and they try few cards.
pub struct AtTheDoor {
    /// The application.
    pub app: App,
    /// Who asks.
    pub caller: Caller,
    /// The headers of the request, in which the proof is.
    pub headers: HeaderMap,
    /// The request among those that try cards.
    pub attempt: Attempt,
    /// What the buyer proves it for.
    pub operation: Operation,
}

impl Guard for AtTheDoor {
    type Error = ApiError;

    async fn lets_pay(&self, session: &Session) -> Result<(), ApiError> {
        let by = (&self.caller, &self.headers);
        must_pass(&*self.app.human_check, &self.app, by, session, self.operation).await
    }

    fn lets_try(&self, card: &Card) -> Result<Option<CardTriedObserver>, ApiError> {
        self.attempt.lets_try(card)
    }
}
