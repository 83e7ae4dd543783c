//! Opens and seals the stored data of sellers.

use regente_domain::customer::normal_email;
use regente_domain::id::ClientId;
use regente_domain::seller::Seller;
use regente_domain::seller::data::{Marks, SellerData};
use regente_store::sealed::Sealed;
use regente_store::sellers::{SellerKeys, StoredSeller};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::app::App;
use crate::error::Error;
use crate::vault::{Binding, Lookup, Purpose};

/// The format that this release writes.
const FORMAT: u32 = 1;

/// What is sealed of a seller.
#[derive(Clone, Debug, PartialEq)]
pub struct Private {
    /// What the client has said of it.
    pub data: SellerData,
    /// The ids and times of its parts.
    pub marks: Marks,
}

#[derive(Serialize, Deserialize)]
struct Stored<D, M> {
    format: u32,
    data: D,
    marks: M,
}

impl Private {
    /// Opens the sealed data of a seller.
    pub async fn open(app: &App, seller: &Seller, sealed: &Sealed) -> Result<Self, Error> {
        let bytes = app.vault.open(binding(seller), sealed).await?;
        let stored: Stored<SellerData, Marks> = serde_json::from_slice(&bytes).map_err(Error::internal)?;
        if stored.format != FORMAT {
            return Err(Error::internal(format!("seller {}: format {}", seller.id, stored.format)));
        }
        Ok(Self { data: stored.data, marks: stored.marks })
    }

    /// The row of a seller with this data.
    pub(super) async fn stored(&self, app: &App, seller: Seller) -> Result<StoredSeller, Error> {
        let document = Stored { format: FORMAT, data: &self.data, marks: &self.marks };
        let bytes = serde_json::to_vec(&document).map(Zeroizing::new).map_err(Error::internal)?;
        let private = app.vault.seal(binding(&seller), &bytes);
        Ok(StoredSeller { keys: keys_of(app, seller.client_id, &self.data).await?, private, seller })
    }
}

fn binding(seller: &Seller) -> Binding {
    Binding::new(Purpose::SellerData, seller.client_id, seller.id.uuid())
}

async fn keys_of(app: &App, client_id: ClientId, data: &SellerData) -> Result<SellerKeys, Error> {
    let keys = app.vault.client_keys(client_id).await?;
    let email = |email: &str| keys.lookup_key(Lookup::Email, &normal_email(email));
    let document = data.document().key().unwrap_or_default();
    Ok(SellerKeys {
        document: keys.lookup_key(Lookup::Document, &document),
        owner_email: email(&data.owner.email),
        business_email: data.business.as_ref().map(|business| email(&business.email)),
        business_name: data.business.as_ref().map(|business| business.name.to_lowercase()),
    })
}
