//! A session that takes no payment but another card for a subscription (`docs/interface/subscriptions.md#another-card`). It ends with the
//! card: it is switched off, and nobody switches it on again.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::change::Draft;
use super::{Advance, Session, SessionAction};
use crate::id::{CardId, CycleId, SubscriptionId};
use crate::time::Timestamp;

/// The card that a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardWanted {
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// Its card when the session was made. Once it has another one, the session is of no use.
    pub replaces: CardId,
    /// What was given.
    pub given: Option<CardGiven>,
}

/// The card that a buyer has given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardGiven {
    /// The card.
    pub card_id: CardId,
    /// The cycle of an unpaid subscription that is tried once more with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_id: Option<CycleId>,
}

impl Session {
    /// A buyer has given the card; `None` when it takes none, or none any more.
    pub fn take_card(&self, given: CardGiven, now: Timestamp) -> Option<Advance> {
        let wanted = self.card_wanted.filter(|_| self.takes_buyers(now))?;
        let mut draft = Draft::of(self, now);
        draft.session.card_wanted = Some(CardWanted { given: Some(given), ..wanted });
        let diff = json!({ "reason": "the card was given", "cardId": given.card_id });
        draft.switch_off(SessionAction::IsActiveChanged, diff);
        Some(draft.done())
    }
}
