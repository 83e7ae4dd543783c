//! Links to the documents of a charge: the picture of its code, its slip. Whoever has a link sees the document, so a link
//! cannot be guessed: it names the account and the charge and ends with a digest under a key of the account's. Nothing
//! is stored, and a link of the same charge is always the same.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_domain::charge::{Charge, PaymentSource};
use regente_domain::id::{ChargeId, ClientId, Id};
use uuid::Uuid;

use crate::app::App;
use crate::error::Error;
use crate::vault::{ClientKeys, VaultError};

/// Bytes of an id, and of the digest.
const PART_BYTES: usize = 16;
/// Bytes of account, charge and digest. Base64 needs no padding for them: 64 characters.
const LINK_BYTES: usize = 3 * PART_BYTES;

/// What a link names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedCharge {
    /// The account.
    pub client_id: ClientId,
    /// The charge.
    pub charge_id: ChargeId,
}

impl LinkedCharge {
    /// The link, in characters that stand in an address as they are. The keys are the account's.
    pub fn link(self, keys: &ClientKeys) -> String {
        let mut bytes = Vec::with_capacity(LINK_BYTES);
        for part in [self.client_id.uuid(), self.charge_id.uuid(), keys.document_digest(self.charge_id)] {
            bytes.extend_from_slice(part.as_bytes());
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

/// The addresses of a charge's documents, as answers and events show them.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// Of the picture of its code; `None` when the service does not know its own address.
    pub qr_code: Option<String>,
    /// Of its slip, likewise.
    pub slip: Option<String>,
}

impl Addresses {
    /// Those of a charge; none of one that is paid by card.
    pub async fn of(app: &App, charge: &Charge) -> Result<Self, Error> {
        let (Some(service), PaymentSource::Payer(_)) = (&app.settings.base_url, charge.method.source())
        else {
            return Ok(Self::default());
        };
        let keys = app.vault.client_keys(charge.client_id).await?;
        let link = LinkedCharge { client_id: charge.client_id, charge_id: charge.id }.link(&keys);
        Ok(Self {
            qr_code: Some(format!("{service}/qr/{link}.png")),
            slip: Some(format!("{service}/boleto/{link}.pdf")),
        })
    }
}

/// Reads a link; `None` when we did not make it.
pub async fn open(app: &App, link: &str) -> Result<Option<LinkedCharge>, Error> {
    let Some([client_id, charge_id, digest]) = parts(link) else { return Ok(None) };
    let named = LinkedCharge { client_id: ClientId::new(client_id), charge_id: Id::new(charge_id) };
    let keys = match app.vault.client_keys(named.client_id).await {
        Ok(keys) => keys,
        Err(VaultError::UnknownClient(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let expected = keys.document_digest(named.charge_id);
    Ok(verify_slices_are_equal(expected.as_bytes(), digest.as_bytes()).is_ok().then_some(named))
}

fn parts(link: &str) -> Option<[Uuid; 3]> {
    let bytes: [u8; LINK_BYTES] = URL_SAFE_NO_PAD.decode(link).ok()?.try_into().ok()?;
    let part = |place: usize| {
        let begin = place * PART_BYTES;
        Uuid::from_slice(&bytes[begin..begin + PART_BYTES]).ok()
    };
    Some([part(0)?, part(1)?, part(2)?])
}
