//! Links to the documents of a charge: the picture of its code, its slip ([`crate::links`]).

use regente_domain::charge::{Charge, PaymentSource};
use regente_domain::id::{ChargeId, ClientId, Id};

use crate::app::App;
use crate::error::Error;
use crate::links::Link;
use crate::vault::ClientKeys;

/// What a link names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedCharge {
    /// The account.
    pub client_id: ClientId,
    /// The charge.
    pub charge_id: ChargeId,
}

impl LinkedCharge {
    /// The link. The keys are the account's.
    pub fn link(self, keys: &ClientKeys) -> String {
        let digest = keys.document_digest(self.charge_id);
        Link::new(self.client_id, self.charge_id.uuid(), digest).text()
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
pub async fn open(app: &App, text: &str) -> Result<Option<LinkedCharge>, Error> {
    let Some((link, keys)) = Link::read(app, text).await? else { return Ok(None) };
    let charge_id = Id::new(link.id);
    let named = LinkedCharge { client_id: link.client_id, charge_id };
    Ok(link.is_ours(keys.document_digest(charge_id)).then_some(named))
}
