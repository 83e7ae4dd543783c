//! Registers sellers at providers that split payments: what a provider is asked about a seller, and what it answers.

use std::fmt;

use regente_domain::provider_type::ProviderType;
use regente_domain::seller::Standing;
use regente_domain::seller::data::SellerData;
use regente_domain::seller::document::{DocumentKind, FileFormat};
use regente_domain::seller::review::Verdict;
use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::request::{Credentials, Mode, NotificationAddress};

/// A question to one configured provider about one seller.
#[derive(Debug)]
pub struct SellerCall {
    /// Our key of the registration, the same on every repetition: the provider registers one seller.
    pub key: Uuid,
    /// The seller, whom notifications repeat together with the key.
    pub seller_id: Uuid,
    /// Where the provider sends notifications about the seller, if this service can be reached.
    pub notify: Option<NotificationAddress>,
    /// When the question is asked, by the caller's clock.
    pub at: Timestamp,
    /// Which adapter serves it.
    pub provider_type: ProviderType,
    /// The merchant's credentials at the provider.
    pub credentials: Credentials,
    /// `providers[].options`, as registered.
    pub options: Map<String, Value>,
    /// The provider's environment that is asked.
    pub mode: Mode,
    /// The seller's id at the provider, once it is known.
    pub external_id: Option<String>,
    /// What is asked.
    pub asks: SellerAsks,
}

/// What a provider is asked about a seller.
#[derive(Debug)]
pub enum SellerAsks {
    /// To register it.
    Register(Box<SellerData>),
    /// To take over its data, which have changed.
    Update(Box<SellerData>),
    /// To take over a file that shows who it is. Offered again, a file has the same id.
    File(SellerFile),
    /// To judge what it has answered to a review.
    Review(Box<ReviewAnswer>),
    /// How it stands.
    Status,
}

/// What a seller has answered to a review.
pub struct ReviewAnswer {
    /// The provider's key of the review.
    pub key: Uuid,
    /// Which answer of the review it is, from 1.
    pub attempt: u32,
    /// The names of the fields that were asked for, in their order.
    pub asked: Vec<String>,
    /// When it was given.
    pub submitted_at: Timestamp,
    /// The values, by the names of the fields.
    pub values: Map<String, Value>,
}

/// Omits the values.
impl fmt::Debug for ReviewAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReviewAnswer({}, {} values)", self.key, self.values.len())
    }
}

/// A file that shows who a seller is.
pub struct SellerFile {
    /// Its id.
    pub id: Uuid,
    /// What it shows.
    pub kind: DocumentKind,
    /// Its format.
    pub format: FileFormat,
    /// Its content.
    pub bytes: Zeroizing<Vec<u8>>,
}

/// Omits the content.
impl fmt::Debug for SellerFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SellerFile({}, {} bytes)", self.id, self.bytes.len())
    }
}

/// What a provider answers about a seller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SellerAnswer {
    /// How it stands there.
    Stands(Standing),
    /// What it says about an answer.
    Reviewed(Verdict),
    /// The provider does not know it.
    Unknown,
    /// There is no answer; the question may have had an effect.
    Unanswered,
    /// This release registers no sellers at providers of this type.
    NotSupported,
}
