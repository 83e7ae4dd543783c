//! The origin of the card fields, where they have one of their own (the setting `server.fields_base_url`), and the pages that
//! they serve (`fields.legacy_pages`).

use axum::extract::Request;
use axum::http::{HeaderMap, header};

/// An origin that serves the document of the card fields and nothing that an operator or a merchant works with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldsOrigin {
    /// Scheme, host and port, as browsers write it.
    pub origin: String,
    /// The address of the API, which the fields call.
    pub api: String,
    /// Its origin.
    pub api_origin: String,
}

impl FieldsOrigin {
    /// Whether a request was sent to this origin's host.
    pub fn is_asked(&self, request: &Request) -> bool {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let asked = request.uri().authority().map(|authority| authority.as_str()).or(host);
        let own = self.origin.split_once("://").map(|(_, host)| host);
        own.zip(asked).is_some_and(|(own, asked)| own.eq_ignore_ascii_case(asked))
    }

    /// Whether a page of this origin sent a request.
    pub fn sent(&self, headers: &HeaderMap) -> bool {
        headers.get_all(header::ORIGIN).iter().any(|origin| origin.as_bytes() == self.origin.as_bytes())
    }
}

/// What becomes of pages that keep the card themselves: the published library has the card fields tell it the values
/// (`docs/browser-library.md#the-published-library`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyPages {
    /// The fields tell them what is typed.
    Served,
    /// The fields tell them nothing, and take no card.
    Refused,
}
