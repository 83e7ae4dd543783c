//! How many cards the buyers of a session may try (decision 35): a card that is being tried and one that was refused take a
//! place each, so that cards which are tried at once are as many as may still be refused.

use super::payment::PaymentState;
use super::{NotPayable, OpenPaymentKind, Session};
use crate::charge::Charge;
use crate::charge::attempt::TransactionRequest;
use crate::time::Timestamp;

/// How many more cards than payments may be refused before a session takes no card any more
/// (`docs/interface/sessions.md#limits`).
pub const DECLINES_MAX: i64 = 10;

/// The cards of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cards {
    /// Those that are being tried: a provider is asked for a payment, or to check the card.
    pub trying: i64,
    /// Those that were refused since its merchant has switched it on.
    pub refused: i64,
}

/// Whether a refusal tells something of the buyer's card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardRefused {
    /// It does.
    Yes,
    /// It does not, or there was none.
    No,
}

impl CardRefused {
    /// By this request.
    pub fn by(request: Option<&TransactionRequest>) -> Self {
        let decline = request.and_then(TransactionRequest::decline);
        match decline.is_some_and(|decline| decline.code.tells_of_the_card()) {
            true => Self::Yes,
            false => Self::No,
        }
    }
}

/// What a change of a charge means for the place of its card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Try {
    /// A provider is asked again, after the cardholder's challenge.
    Begins,
    /// A provider has refused the card, and the next one is asked.
    GoesOnRefused,
    /// The outcome is known, or it is the cardholder's turn.
    Ends(CardRefused),
}

impl Try {
    /// By a change of a charge with the outcome of this request.
    pub fn by(before: &Charge, after: &Charge, ended: Option<&TransactionRequest>) -> Option<Self> {
        use PaymentState as State;
        match OpenPaymentKind::of(after.method.payment_type()) {
            OpenPaymentKind::Cards => {}
            OpenPaymentKind::Instructions | OpenPaymentKind::Unbounded => return None,
        }
        match (State::of(before), State::of(after)) {
            (State::Authorizing, State::Authorizing) => match CardRefused::by(ended) {
                CardRefused::Yes => Some(Self::GoesOnRefused),
                CardRefused::No => None,
            },
            (_, State::Authorizing) => Some(Self::Begins),
            (State::Authorizing | State::Pending | State::Underpaid, State::Ended) => {
                Some(Self::Ends(CardRefused::by(ended)))
            }
            (State::Authorizing, _) => Some(Self::Ends(CardRefused::No)),
            (
                State::Pending
                | State::Paid
                | State::Underpaid
                | State::Ended
                | State::Returned
                | State::Surplus,
                _,
            ) => None,
        }
    }
}

impl Session {
    /// Whether it still takes cards. Each payment allows for one more refused card, so that a link that many buyers pay
    /// does not end by the cards that are refused in the course of time.
    pub const fn takes_cards(&self) -> bool {
        self.cards.refused < DECLINES_MAX + self.tally.paid
    }

    /// Whether a provider may be asked about a buyer's card.
    ///
    /// # Errors
    /// What [`NotPayable`] says.
    pub fn must_try_card(&self, now: Timestamp) -> Result<(), NotPayable> {
        match (self.takes_buyers(now), self.takes_cards(), self.has_place_for_card()) {
            (false, _, _) => Err(NotPayable::Disabled),
            (true, false, _) => Err(NotPayable::NoMoreCards),
            (true, true, false) => Err(NotPayable::CardsBeingTried),
            (true, true, true) => Ok(()),
        }
    }

    pub(super) const fn has_place_for_card(&self) -> bool {
        self.cards.trying + self.cards.refused < DECLINES_MAX + self.tally.paid
    }
}
