//! `POST /v1/tokens`: stores card data for two hours and one use (`docs/interface/tokens-and-cards.md#tokens`).

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use regente_domain::session::Session;
use regente_domain::token::NewToken;
use regente_engine::app::Answer;
use regente_engine::caller::Caller;
use regente_engine::card_data::{TokenContents, checked};
use regente_engine::error::Error;
use regente_engine::idempotency::Planned;
use regente_engine::tokens;
use regente_engine::vault::{half_of, sha256};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::Body;
use super::idempotency::commit_once_and_complete;
use crate::app::App;
use crate::http::card_testing::TriedCard;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use crate::http::headers::{IdempotencyKey, idempotency_key};
use crate::http::peer::PeerAddress;
use crate::http::rates::RateKey;
use crate::human_check::{Operation, must_pass};

/// A token.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Valid for two hours, for one use.
    token_id: Uuid,
}

/// Makes a token.
///
/// A token stands for a card, or for the security code of a stored card, for two hours and for one use: by
/// `POST /v1/cards` or by a charge.
#[utoipa::path(
    post,
    path = "/v1/tokens",
    operation_id = "createToken",
    tag = "Tokens",
    request_body(content = NewToken, content_type = "application/json"),
    responses(
        (status = 201, description = "The token.", body = Token,
            example = json!({ "tokenId": "cc0b1e41-2936-45c5-947f-93995ffcdc00" })),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<PeerAddress>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    make(&app, &caller, peer, &headers, &body, None).await
}

/// Makes a token, with the key of this session, if it is one of a session.
pub(super) async fn make(
    app: &App,
    caller: &Caller,
    peer: PeerAddress,
    headers: &HeaderMap,
    body: &Body,
    session: Option<&Session>,
) -> Result<Response, ApiError> {
    if caller.is_public_key() {
        app.limiters.tokens.check(&RateKey::Tokens(caller.credential_id.uuid(), peer.0.into()))?;
    }
    let attempt = app.limiters.card_testing.begin(caller, peer)?;
    let contents = match body.read_as()? {
        NewToken::Card(card) => {
            let card = checked(card, app.clock.of(caller.client_id))?;
            if attempt.is_counted() {
                let keys = app.vault.client_keys(caller.client_id).await?;
                let fingerprint = keys.card_fingerprint(&card.number, card.expiry);
                attempt.tries(TriedCard::new(fingerprint, card.number.first6()))?;
            }
            TokenContents::Card(card)
        }
        NewToken::Cvv(cvv) => TokenContents::Cvv(cvv),
    };
    let key = idempotency_key(headers)?;
    let mask = mask_of(key.as_ref().map(IdempotencyKey::as_str).unwrap_or_default(), body);
    // A token that was made before is answered again, also when the proof for it has grown old.
    let plan = || async {
        if let Some(session) = session {
            must_pass(&*app.human_check, app, (caller, headers), session, Operation::Token).await?;
        }
        let (batch, token_id) = tokens::plan_creation(app, caller, &contents)?;
        let kept = Kept { masked_id: Uuid::from_u128(token_id.uuid().as_u128() ^ mask) };
        Ok::<_, ApiError>(Planned::showing(batch, StatusCode::CREATED.as_u16(), &kept)?)
    };
    let complete = |answer| unmasked(answer, mask);
    commit_once_and_complete(app, caller, headers, "POST /v1/tokens", body, plan, complete).await
}

/// What hides the id of a token in the answer that is kept for an idempotency key: whoever holds the database and its
/// keys could otherwise open what is left of the token in an older copy. Only the request itself gives it.
fn mask_of(key: &str, body: &Body) -> u128 {
    half_of(&sha256(&[b"token answer", key.as_bytes(), &body.canonical_bytes()])).as_u128()
}

/// The kept answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    masked_id: Uuid,
}

fn unmasked(answer: Answer, mask: u128) -> Result<Answer, Error> {
    // Answers that earlier releases have kept show the id itself.
    let Ok(Kept { masked_id }) = serde_json::from_slice(&answer.bytes) else { return Ok(answer) };
    let token = Token { token_id: Uuid::from_u128(masked_id.as_u128() ^ mask) };
    Ok(Answer { bytes: serde_json::to_vec(&token).map_err(Error::internal)?, ..answer })
}
