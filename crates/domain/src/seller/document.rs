//! Files that show who a seller is (`docs/interface/seller-documents.md`): pictures and scans of identity documents.

use std::time::Duration;

use crate::id::{ClientId, ProviderId, SellerDocumentId, SellerId};
use crate::time::Timestamp;
use crate::words::words;

/// The most bytes of a file.
pub const FILE_BYTES_MAX: usize = 3 * 1024 * 1024;
/// The most pixels of a picture: cameras of phones have fewer in a file of this size.
pub const PIXELS_MAX: u64 = 64_000_000;
/// The longest side of a picture.
pub const SIDE_PIXELS_MAX: u64 = 16_384;
/// The most pages of a PDF file.
pub const PAGES_MAX: usize = 20;
/// How long a file waits for its seller.
pub const UPLOAD_KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long a file is kept after a provider has it.
pub const SENT_KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

words! {
    /// What a file shows of a seller.
    #[schema(as = SellerFileType)]
    DocumentKind {
        /// The person's face.
        Selfie = "SELFIE",
        /// A driving licence, both sides.
        CnhFull = "CNH_FULL",
        /// The front of a driving licence.
        CnhFront = "CNH_FRONT",
        /// The back of a driving licence.
        CnhBack = "CNH_BACK",
        /// The front of an identity card.
        RgFront = "RG_FRONT",
        /// The back of an identity card.
        RgBack = "RG_BACK",
    }
}

words! {
    /// `status` of a file.
    #[schema(as = SellerFileStatus)]
    DocumentStatus {
        /// It waits for its seller.
        Uploaded = "uploaded",
        /// It belongs to a seller, and no provider has it.
        Attached = "attached",
        /// A provider has it.
        Sent = "sent",
    }
}

words! {
    /// The format of a file, as its content shows.
    FileFormat {
        /// PNG.
        Png = "png",
        /// JPEG.
        Jpeg = "jpeg",
        /// Windows bitmap.
        Bmp = "bmp",
        /// WebP.
        Webp = "webp",
        /// HEIF, also with HEVC (HEIC).
        Heif = "heif",
        /// PDF.
        Pdf = "pdf",
    }
}

impl DocumentKind {
    /// Whether a file of this kind may have this format.
    pub const fn takes(self, format: FileFormat) -> bool {
        match format {
            FileFormat::Png | FileFormat::Jpeg | FileFormat::Bmp | FileFormat::Webp | FileFormat::Heif => {
                true
            }
            FileFormat::Pdf => self.takes_pdf(),
        }
    }

    /// Whether a file of this kind may be a PDF.
    pub const fn takes_pdf(self) -> bool {
        match self {
            Self::Selfie | Self::CnhFull => true,
            Self::CnhFront | Self::CnhBack | Self::RgFront | Self::RgBack => false,
        }
    }
}

/// Where a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentStage {
    /// It waits for its seller.
    Uploaded,
    /// It belongs to a seller.
    Attached(SellerId),
    /// It belongs to a seller, and a provider has it since then.
    Sent(SellerId, Timestamp),
}

/// A file without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerDocument {
    /// Its id; the time of the upload is the id's own.
    pub id: SellerDocumentId,
    /// The account.
    pub client_id: ClientId,
    /// What it shows.
    pub kind: DocumentKind,
    /// Its format.
    pub format: FileFormat,
    /// Where it stands.
    pub place: DocumentStage,
    /// The providers that were offered it and have answered, whether or not they take files.
    pub offered: Vec<ProviderId>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
}

impl SellerDocument {
    /// Its status.
    pub const fn status(&self) -> DocumentStatus {
        match self.place {
            DocumentStage::Uploaded => DocumentStatus::Uploaded,
            DocumentStage::Attached(_) => DocumentStatus::Attached,
            DocumentStage::Sent(..) => DocumentStatus::Sent,
        }
    }

    /// Until when it waits for its seller.
    pub fn expires_at(&self) -> Timestamp {
        self.id.created_at() + UPLOAD_KEPT_FOR
    }

    /// When it is deleted; `None` while its seller needs it.
    pub fn ends_at(&self) -> Option<Timestamp> {
        match self.place {
            DocumentStage::Uploaded => Some(self.expires_at()),
            DocumentStage::Attached(_) => None,
            DocumentStage::Sent(_, at) => Some(at + SENT_KEPT_FOR),
        }
    }

    /// Whether it is over by `now`, also when nobody has deleted it yet.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.ends_at().is_some_and(|end| end <= now)
    }

    /// The file with its seller; `None` when it does not wait for one any more.
    #[must_use]
    pub fn attached_to(&self, seller_id: SellerId, now: Timestamp) -> Option<Self> {
        match self.place {
            DocumentStage::Uploaded if !self.is_over(now) => Some(Self {
                place: DocumentStage::Attached(seller_id),
                version: self.version + 1,
                ..self.clone()
            }),
            DocumentStage::Uploaded | DocumentStage::Attached(_) | DocumentStage::Sent(..) => None,
        }
    }

    /// The file after a provider was offered it and has answered.
    #[must_use]
    pub fn offered_to(&self, provider_id: ProviderId, takes: Takes, now: Timestamp) -> Self {
        let mut after = Self { version: self.version + 1, ..self.clone() };
        after.offered.push(provider_id);
        after.place = match (self.place, takes) {
            (DocumentStage::Attached(seller_id), Takes::File) => DocumentStage::Sent(seller_id, now),
            (
                place @ (DocumentStage::Uploaded | DocumentStage::Attached(_) | DocumentStage::Sent(..)),
                Takes::File | Takes::Nothing,
            ) => place,
        };
        after
    }
}

/// Whether a provider has taken a file that it was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It has.
    File,
    /// It takes no files.
    Nothing,
}
