//! Reproducible random decisions: each draw is a keyed hash of its purpose, so the same input gives the same result.

use std::sync::Arc;

use aws_lc_rs::hmac;
use uuid::Uuid;

use crate::outcome::Approval;

/// Parts per million of a certain event.
pub(super) const MILLION: u32 = 1_000_000;

/// Codes have seven digits and no leading zero.
const CODE_MIN: u32 = 1_000_000;
const CODES: u32 = 9_000_000;

/// The simulator's seed, as the key of its draws: derived once.
pub(super) struct Seed(Arc<hmac::Key>);

impl Seed {
    pub(super) fn new(seed: u64) -> Self {
        Self(Arc::new(key(&[b"own:".as_slice(), &seed.to_be_bytes()].concat())))
    }
}

fn key(seed: &[u8]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, seed)
}

/// The random decisions of one call.
pub(super) struct Draws {
    hmac_key: Arc<hmac::Key>,
    scope: Scope,
    call_key: Uuid,
}

/// What a decision depends on besides the seed.
enum Scope {
    /// The simulator's seed: the decision also depends on the key of the call.
    Call,
    /// A seed from the request: the caller cannot choose the key of the call, so the result depends on the seed alone
    /// (`docs/interface/sandbox.md#seeds`).
    Request,
}

impl Draws {
    pub(super) fn new(own: &Seed, request_seed: Option<&str>, call_key: Uuid) -> Self {
        let (scope, hmac_key) = match request_seed {
            Some(seed) => (Scope::Request, Arc::new(key(&[b"request:", seed.as_bytes()].concat()))),
            None => (Scope::Call, Arc::clone(&own.0)),
        };
        Self { hmac_key, scope, call_key }
    }

    /// The key of the call.
    pub(super) const fn call_key(&self) -> Uuid {
        self.call_key
    }

    /// Whether an event with this probability, in parts per million, happens.
    pub(super) fn happens(&self, what: &str, chance_ppm: u32) -> bool {
        let tag = match self.scope {
            Scope::Call => self.tag(what, self.call_key.as_bytes()),
            Scope::Request => self.tag(what, &[]),
        };
        words(&tag)[0] % MILLION < chance_ppm
    }

    /// The identifiers of an approval. They always depend on the key of the call, so no two calls share them.
    pub(super) fn approval(&self) -> Approval {
        let transaction_id = self.tag("transaction id", self.call_key.as_bytes());
        let mut id = [0_u8; 16];
        id.copy_from_slice(&transaction_id.as_ref()[..16]);
        let [authorization, nsu, network_authorization, network_response, ..] =
            words(&self.tag("codes", self.call_key.as_bytes())).map(|word| Some(code(word)));
        Approval {
            transaction_id: Some(uuid::Builder::from_random_bytes(id).into_uuid().to_string()),
            authorization_code: authorization,
            authorization_nsu: nsu,
            network_authorization_code: network_authorization,
            network_response_code: network_response,
            response_code: None,
            network_transaction_id: None,
            paid_as: None,
        }
    }

    /// The card network's id of a payment; it depends on the key of the call.
    pub(super) fn network_transaction_id(&self) -> String {
        words(&self.tag("network transaction id", self.call_key.as_bytes())).map(code)[..2].concat()
    }

    /// Letters and digits for an id of an instrument of payment; they depend on the key of the call.
    pub(super) fn letters_and_digits(&self, what: &str) -> String {
        hex::encode(self.tag(what, self.call_key.as_bytes()))
    }

    /// The same with digits alone.
    pub(super) fn digits<const N: usize>(&self, what: &str) -> String {
        let tag = self.tag(what, self.call_key.as_bytes());
        tag.as_ref().iter().take(N).map(|byte| char::from(b'0' + byte % 10)).collect()
    }

    fn tag(&self, what: &str, about: &[u8]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.hmac_key);
        context.update(what.as_bytes());
        context.update(&[0]);
        context.update(about);
        context.sign()
    }
}

fn words(tag: &hmac::Tag) -> [u32; 8] {
    let mut words = [0_u32; 8];
    for (word, bytes) in words.iter_mut().zip(tag.as_ref().chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    words
}

fn code(word: u32) -> String {
    (CODE_MIN + word % CODES).to_string()
}
