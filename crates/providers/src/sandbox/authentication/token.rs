//! The tokens of the simulated 3DS server: JSON Web Tokens signed with HMAC-SHA-256 (RFC 7519, RFC 7518 §3.2). Only the
//! simulator reads them. They hold no card data.

use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The header of every token, encoded.
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
/// `iss`.
const ISSUER: &str = "regente-sandbox";

/// A signed token.
pub(super) struct Token;

/// What a token says.
#[derive(Serialize, Deserialize)]
pub(super) struct Claims {
    jti: Uuid,
    iat: i64,
    iss: String,
    exp: i64,
    /// Of a setup.
    #[serde(default, rename = "ReferenceId", skip_serializing_if = "Option::is_none")]
    pub reference_id: Option<Uuid>,
    /// Of a challenge.
    #[serde(default, rename = "Payload", skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
    /// Of a challenge: where the browser goes afterwards.
    #[serde(default, rename = "ReturnUrl", skip_serializing_if = "Option::is_none")]
    pub return_url: Option<String>,
}

/// What a challenge is about.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Payload {
    #[serde(rename = "ACSUrl")]
    pub acs_url: String,
    pub payload: String,
    pub transaction_id: String,
}

impl Claims {
    /// Claims that are good from `at` on for `life`.
    pub(super) fn new(jti: Uuid, at: Timestamp, life: Duration) -> Self {
        let iat = at.as_millis() / 1000;
        Self {
            jti,
            iat,
            iss: ISSUER.to_owned(),
            exp: iat + i64::try_from(life.as_secs()).unwrap_or(i64::MAX),
            reference_id: None,
            payload: None,
            return_url: None,
        }
    }

    pub(super) fn of_setup(self, id: Uuid) -> Self {
        Self { reference_id: Some(id), ..self }
    }

    pub(super) fn of_challenge(self, payload: Payload, return_url: String) -> Self {
        Self { payload: Some(payload), return_url: Some(return_url), ..self }
    }
}

impl Token {
    /// The token with these claims.
    pub(super) fn sign(claims: &Claims, key: &hmac::Key) -> String {
        // Numbers and texts always serialize.
        let claims = serde_json::to_vec(claims).unwrap_or_default();
        let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(HEADER), URL_SAFE_NO_PAD.encode(claims));
        let tag = hmac::sign(key, signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
    }

    /// The claims of a token that was signed with `key` and is still good.
    pub(super) fn read(token: &str, key: &hmac::Key, now: Timestamp) -> Option<Claims> {
        let (signed, tag) = token.rsplit_once('.')?;
        hmac::verify(key, signed.as_bytes(), &URL_SAFE_NO_PAD.decode(tag).ok()?).ok()?;
        let (header, claims) = signed.split_once('.')?;
        if header != URL_SAFE_NO_PAD.encode(HEADER) {
            return None;
        }
        let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        (claims.exp > now.as_millis() / 1000).then_some(claims)
    }
}
