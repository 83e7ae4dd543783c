//! What pays an ordered charge (`docs/interface/charges.md#payment-sources`): a card, or a payer.

use regente_domain::card::InlineCard;
use regente_domain::customer::{Document, NewCustomer};
use regente_domain::id::{CardId, CustomerId, TokenId};

use crate::card_data::CvvSource;

/// The card that an order names.
pub enum OrderedCard {
    /// A stored card.
    Stored {
        /// Which.
        card_id: CardId,
        /// Its security code, sent when the buyer is present.
        cvv: CvvSource,
    },
    /// A card that was sent.
    Inline(InlineCard),
    /// A card token.
    Token(TokenId),
    /// The default card of a customer.
    Default {
        /// Whose.
        owner: CardOwner,
        /// The card's security code, sent when the buyer is present.
        cvv: CvvSource,
    },
}

impl OrderedCard {
    /// The card token, if it is one.
    pub const fn token_id(&self) -> Option<TokenId> {
        match self {
            Self::Token(token_id) => Some(*token_id),
            Self::Stored { .. } | Self::Inline(_) | Self::Default { .. } => None,
        }
    }
}

/// The customer whose default card is charged.
pub enum CardOwner {
    /// A stored customer.
    Stored(CustomerId),
    /// A stored customer who matches the buyer that was sent.
    Described {
        /// E-mail address.
        email: String,
        /// Document.
        document: Document,
    },
}

/// Who pays without a card.
pub enum OrderedPayer {
    /// A stored customer, or an alias of one.
    Stored(CustomerId),
    /// A buyer that was sent: found among the customers, or created.
    Described(Box<NewCustomer>),
}
