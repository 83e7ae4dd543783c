//! What a row tells of.

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::card::record::CardFace;
use crate::charge::attempt::{PaidAs, TransactionRequest};
use crate::charge::{Charge, ChargeStatus};
use crate::customer::Address;
use crate::id::{CardId, CustomerId, ProviderId};
use crate::money::Amount;
use crate::provider_type::ProviderType;

/// The facts of one row. A buyer, a card or a merchant that is gone is absent: its cells are empty.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The charge: what never changes of it.
    pub charge: &'a Charge,
    /// Where it stood at the moment of the report.
    pub status: ChargeStatus,
    /// What its merchant kept then.
    pub amount: Amount,
    /// The provider that had handled it then.
    pub responsible: Option<(Option<ProviderId>, ProviderType)>,
    /// Whether its payer disputed it then.
    pub is_disputed: bool,
    /// The request of the row; of a charge as a whole, the one that tells of its authorization.
    pub request: Option<&'a TransactionRequest>,
    /// How the payer of a wallet has paid.
    pub paid_as: Option<&'a PaidAs>,
    /// The buyer.
    pub buyer: Option<&'a BuyerFacts>,
    /// The card.
    pub card: Option<&'a CardFacts>,
    /// The merchant's name.
    pub merchant_name: Option<&'a str>,
    /// The name of the provider of the request.
    pub provider_name: Option<&'a str>,
    /// `fraudAnalysis.customer`, as sent.
    pub analysed_customer: Option<&'a Map<String, Value>>,
}

/// A buyer as a report shows them.
#[derive(Clone, Debug)]
pub struct BuyerFacts {
    /// Their id.
    pub id: CustomerId,
    /// Name.
    pub name: String,
    /// E-mail address, or that for contact alone.
    pub email: Option<String>,
    /// Phone number.
    pub phone_number: String,
    /// The number of their document.
    pub document_number: String,
    /// Home address with its id.
    pub address: Option<(Uuid, Address)>,
}

/// A card as a report shows it.
#[derive(Clone, Debug)]
pub struct CardFacts {
    /// Its id.
    pub id: CardId,
    /// What can be shown of it.
    pub face: CardFace,
    /// The holder's name; absent once the card was deleted.
    pub holder_name: Option<String>,
}

impl CardFacts {
    /// The number with its first six and last four digits alone.
    pub fn masked_number(&self) -> String {
        format!("{}******{}", self.face.first6digits, self.face.last4digits)
    }
}
