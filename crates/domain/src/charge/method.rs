//! How a charge is paid and with what. Each way of paying has its own facts and no other's, its source among them: what
//! does not belong together cannot be expressed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CaptureMode, PaymentType, Recurrence};
use crate::id::{CardId, CustomerId};

/// Most installments that the interface takes.
pub const INSTALLMENTS_MAX: u8 = 24;

/// How a charge is paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "paymentType", rename_all = "snake_case")]
pub enum PaymentMethod {
    /// By credit card.
    Credit(Credit),
    /// By meal or food voucher.
    Voucher(Voucher),
}

/// A payment by credit card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credit {
    /// The card.
    pub source: CardSource,
    /// Number of installments, 1 to [`INSTALLMENTS_MAX`].
    pub installments: u8,
    /// Stored-credential flag, passed on to providers that take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<Recurrence>,
}

/// A payment by meal or food voucher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Voucher {
    /// The card.
    pub source: CardSource,
    /// `items`, as sent. Boxed, since few have any and every charge in flight holds the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Value>>,
}

/// Where a card came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "sourceType")]
pub enum CardSource {
    /// A stored card, an inline card or a card token: all end as a stored card.
    #[serde(rename = "card", rename_all = "camelCase")]
    Card {
        /// The stored card. A token that it came from is not kept: its id would open what is left of the token.
        card_id: CardId,
    },
    /// The default card of a customer.
    #[serde(rename = "customer", rename_all = "camelCase")]
    Customer {
        /// The buyer.
        customer_id: CustomerId,
        /// The card that was his default when he was charged; not shown.
        card_id: CardId,
    },
}

impl CardSource {
    /// The card that is charged.
    pub const fn card_id(&self) -> CardId {
        match self {
            Self::Card { card_id } | Self::Customer { card_id, .. } => *card_id,
        }
    }
}

impl PaymentMethod {
    /// The word for it.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::Credit(_) => PaymentType::Credit,
            Self::Voucher(_) => PaymentType::Voucher,
        }
    }

    /// The card that is charged, where one is.
    pub const fn card(&self) -> Option<&CardSource> {
        match self {
            Self::Credit(Credit { source, .. }) | Self::Voucher(Voucher { source, .. }) => Some(source),
        }
    }

    /// The id of that card.
    pub const fn card_id(&self) -> Option<CardId> {
        match self.card() {
            Some(source) => Some(source.card_id()),
            None => None,
        }
    }

    /// Number of installments, 1 where there are none.
    pub const fn installments(&self) -> u8 {
        match self {
            Self::Credit(Credit { installments, .. }) => *installments,
            Self::Voucher(_) => 1,
        }
    }

    /// The stored-credential flag.
    pub const fn recurrence(&self) -> Option<Recurrence> {
        match self {
            Self::Credit(Credit { recurrence, .. }) => *recurrence,
            Self::Voucher(_) => None,
        }
    }

    /// Whether the merchant is told of the charge as soon as it is written down. A card charge is usually decided a
    /// moment later; of what the payer still has to do nothing can be told before a provider has issued it.
    pub const fn is_announced_when_accepted(&self) -> bool {
        match self {
            Self::Credit(_) | Self::Voucher(_) => true,
        }
    }
}

impl PaymentType {
    /// What `capture` means for it: only credit cards can be reserved.
    pub const fn capture(self, asked: CaptureMode) -> CaptureMode {
        match self {
            Self::Credit => asked,
            Self::Debit
            | Self::Voucher
            | Self::Pix
            | Self::Boleto
            | Self::Nupay
            | Self::Drip
            | Self::Picpay
            | Self::ApplePay
            | Self::ClickToPay => CaptureMode::Automatic,
        }
    }
}
