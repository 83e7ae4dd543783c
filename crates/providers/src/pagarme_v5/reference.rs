//! How the provider's objects name calls of ours: the `code` of an order, and the marks that refunds leave in the
//! metadata of a charge.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

/// Metadata of a charge or an order.
pub type Metadata = Map<String, Value>;

/// Characters of 16 bytes in base64url.
const UUID_CHARS: usize = 22;
/// What the names of all marks begin with.
const MARK: &str = "regente_void_";

/// What identifies an authorization, and whatever follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// [`Call::object_id`](crate::request::Call::object_id).
    pub object_id: Uuid,
    /// [`Call::key`](crate::request::Call::key) of the authorization.
    pub key: Uuid,
}

impl Reference {
    /// The `code` of its order: 44 characters, of 52 that the provider takes.
    pub fn code(self) -> String {
        format!("{}{}", short(self.object_id), short(self.key))
    }

    /// The inverse of [`Self::code`]; `None` for the code of an order that is not ours.
    pub fn parse(code: &str) -> Option<Self> {
        let (object_id, key) = code.split_at_checked(UUID_CHARS)?;
        Some(Self { object_id: long(object_id)?, key: long(key)? })
    }
}

/// What was canceled of a charge before a void, and how much the void cancels: whoever finds the sum canceled knows that
/// the void is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Canceled before, in minor units.
    pub(super) before: Amount,
    /// The amount of the void.
    pub(super) amount: Amount,
    /// When it was sent first.
    pub(super) at: Timestamp,
}

impl Mark {
    /// The mark that the void with this key has left.
    pub(super) fn of(metadata: &Metadata, key: Uuid) -> Option<Self> {
        Self::parse(metadata.get(&name(key))?.as_str()?)
    }

    /// All marks, each with the key of its void.
    pub(super) fn all(metadata: &Metadata) -> impl Iterator<Item = (Uuid, Self)> {
        metadata.iter().filter_map(|(name, value)| {
            Some((long(name.strip_prefix(MARK)?)?, Self::parse(value.as_str()?)?))
        })
    }

    /// `metadata` with this mark of the void with this key.
    pub(super) fn beside(self, mut metadata: Metadata, key: Uuid) -> Metadata {
        let Self { before, amount, at } = self;
        let value = format!("{}+{}@{}", before.minor_units(), amount.minor_units(), at.as_millis());
        metadata.insert(name(key), Value::String(value));
        metadata
    }

    /// What is canceled when the void is done.
    pub(super) fn sum(self) -> Option<Amount> {
        self.before.plus(self.amount)
    }

    /// Whether so much being canceled shows that the void is done.
    pub(super) fn is_done(self, canceled: Amount) -> bool {
        self.sum().is_some_and(|sum| canceled >= sum)
    }

    fn parse(value: &str) -> Option<Self> {
        let (before, rest) = value.split_once('+')?;
        let (amount, at) = rest.split_once('@')?;
        let amount_of = |digits: &str| digits.parse().ok().and_then(Amount::new);
        let at = Timestamp::from_millis(at.parse().ok()?);
        Some(Self { before: amount_of(before)?, amount: amount_of(amount)?, at })
    }
}

fn name(key: Uuid) -> String {
    format!("{MARK}{}", short(key))
}

fn short(id: Uuid) -> String {
    URL_SAFE_NO_PAD.encode(id.as_bytes())
}

fn long(text: &str) -> Option<Uuid> {
    Uuid::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}
