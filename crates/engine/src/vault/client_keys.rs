//! Keyed hashes of one client: fingerprints, lookup keys and digests. Their keys are derived from a secret of the
//! client, which is sealed in its row and never rotated: with a new secret, equal cards would get different
//! fingerprints.
//!
//! Hashes cannot be opened; data that must be read again is sealed instead.

use std::fmt;

use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use aws_lc_rs::hmac::{self, Context, HMAC_SHA256};
use regente_domain::card::{CardNumber, Expiry};
use regente_domain::id::{ChargeId, ReceiptId, RegistrationReviewId, ReportId, SessionId};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::half_of;

/// Kinds of data that can be looked up without storing it in the clear. Texts must be in their normal form
/// (`regente_domain::customer::normal_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// An e-mail address.
    Email,
    /// Country, type and number of a document.
    Document,
    /// Only the number of a document.
    DocumentNumber,
}

/// The keyed hashes of one client. Two clients have different hashes for the same data.
pub struct ClientKeys {
    card: hmac::Key,
    request: hmac::Key,
    email: hmac::Key,
    document: hmac::Key,
    document_number: hmac::Key,
    idempotency: hmac::Key,
    document_link: hmac::Key,
    session: hmac::Key,
    human_check: hmac::Key,
    review_link: hmac::Key,
    report_link: hmac::Key,
    receipt_link: hmac::Key,
}

impl ClientKeys {
    /// Derives the keys (HKDF, RFC 5869). Changing a label changes all hashes of that kind for ever.
    pub(super) fn derive(secret: &[u8]) -> Self {
        let secret = Salt::new(HKDF_SHA256, b"regente client keys").extract(secret);
        Self {
            card: key(&secret, b"card fingerprint"),
            request: key(&secret, b"request fingerprint"),
            email: key(&secret, b"email lookup"),
            document: key(&secret, b"document lookup"),
            document_number: key(&secret, b"document number lookup"),
            idempotency: key(&secret, b"idempotency digest"),
            document_link: key(&secret, b"document link"),
            session: key(&secret, b"session key"),
            human_check: key(&secret, b"human check"),
            review_link: key(&secret, b"registration review link"),
            report_link: key(&secret, b"report link"),
            receipt_link: key(&secret, b"receipt link"),
        }
    }

    /// The fingerprint of a card: the same for the same number and expiry
    /// (`docs/interface/tokens-and-cards.md#fingerprint`), in the form of a version 5 UUID.
    pub fn card_fingerprint(&self, number: &CardNumber, expiry: Expiry) -> Uuid {
        let expiry = expiry.to_string();
        let hash = hash_of(&self.card, &[number.expose_digits().as_bytes(), expiry.as_bytes()]);
        uuid::Builder::from_sha1_bytes(half_of(&hash).into_bytes()).into_uuid()
    }

    /// The fingerprint of a request's canonical body; it does not reveal card numbers.
    pub fn request_fingerprint(&self, canonical: &[u8]) -> [u8; 32] {
        hash_of(&self.request, &[canonical])
    }

    /// The lookup key of `normal`.
    pub fn lookup_key(&self, lookup: Lookup, normal: &str) -> [u8; 32] {
        let key = match lookup {
            Lookup::Email => &self.email,
            Lookup::Document => &self.document,
            Lookup::DocumentNumber => &self.document_number,
        };
        hash_of(key, &[normal.as_bytes()])
    }

    /// The stored digest of an idempotency key, half of a hash. `parts` are the scope of the credential
    /// ([`Caller::idempotency_scope`](crate::caller::Caller::idempotency_scope)), the method and route with its path
    /// ids, and the caller's key.
    pub fn idempotency_digest(&self, parts: &[&str]) -> Uuid {
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        half_of(&hash_of(&self.idempotency, &parts))
    }

    /// What a link to the documents of a charge proves itself by, half of a hash.
    pub fn document_digest(&self, charge_id: ChargeId) -> Uuid {
        half_of(&hash_of(&self.document_link, &[charge_id.uuid().as_bytes()]))
    }

    /// What a link to the page of a review proves itself by, half of a hash: of one attempt to answer it.
    pub fn review_digest(&self, review_id: RegistrationReviewId, attempt: u32) -> Uuid {
        half_of(&hash_of(&self.review_link, &[review_id.uuid().as_bytes(), &attempt.to_be_bytes()]))
    }

    /// What a link to a file of a report proves itself by, half of a hash.
    pub fn report_digest(&self, report_id: ReportId, number: u32) -> Uuid {
        half_of(&hash_of(&self.report_link, &[report_id.uuid().as_bytes(), &number.to_be_bytes()]))
    }

    /// What the address of a receipt's file proves itself by, half of a hash: until this time.
    pub fn receipt_digest(&self, receipt_id: ReceiptId, until: Timestamp) -> Uuid {
        let until = until.as_millis().to_be_bytes();
        half_of(&hash_of(&self.receipt_link, &[receipt_id.uuid().as_bytes(), &until]))
    }

    /// The key of a session (decision 22), in the form of a random UUID.
    pub fn session_key(&self, session_id: SessionId) -> Uuid {
        let hash = hash_of(&self.session, &[session_id.uuid().as_bytes()]);
        uuid::Builder::from_random_bytes(half_of(&hash).into_bytes()).into_uuid()
    }

    /// What the challenge of a human check proves itself by, half of a hash.
    pub fn human_check_digest(&self, parts: &[&str]) -> Uuid {
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        half_of(&hash_of(&self.human_check, &parts))
    }
}

impl fmt::Debug for ClientKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKeys(…)")
    }
}

fn key(secret: &Prk, label: &[u8]) -> hmac::Key {
    secret.expand(&[label], HMAC_SHA256).expect("32 bytes are within what HKDF expands to").into()
}

/// Each part has a length prefix: `["ab", "c"]` and `["a", "bc"]` give different hashes.
fn hash_of(key: &hmac::Key, parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::with_key(key);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let mut hash = [0; 32];
    hash.copy_from_slice(context.sign().as_ref());
    hash
}
