//! What is shown of the log, as it is sent and as it is read back.

use std::collections::BTreeMap;

use regente_domain::charge::CaptureMode;
use regente_domain::currency::Currency;
use regente_domain::decline::Decline;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::outcome::{Approval, Finding, Pending};
use crate::request::OperationKind;
use crate::sandbox::{Answered, CardTrace, Deed, Entry, Holding, Record, Stored};

/// Most entries on one page.
pub const ENTRIES_LIMIT_MAX: usize = 1_000;
/// Most holdings on one page.
pub const HOLDINGS_LIMIT_MAX: usize = 10_000;

/// `GET /v1/entries`.
#[derive(Debug, Serialize, Deserialize)]
pub struct EntryPage {
    /// The entries.
    pub items: Vec<EntryView>,
    /// What to give as `after` for the next page; null on the last one.
    pub next: Option<u64>,
}

/// One entry of the log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    /// Its place in the log, from 1.
    pub sequence: u64,
    /// The key of the call.
    pub key: Uuid,
    /// When, by the caller's clock.
    pub at: Timestamp,
    /// `approved`, `declined`, `pending`, or `probed_before_arrival`.
    pub outcome: Outcome,
    /// The word of the operation; absent where none arrived, as all that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Of an authorization: taken at once, or reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureMode>,
    /// The authorization that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_key: Option<Uuid>,
    /// In minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// Of the amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// What is known of the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<CardView>,
    /// The identifiers of an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The reasons of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decline: Option<Decline>,
    /// What the payer was given to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Box<Pending>>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done.
    Approved,
    /// Refused.
    Declined,
    /// Taken up; it waits for the payer.
    Pending,
    /// Asked for before it came, so it never will be done.
    ProbedBeforeArrival,
}

/// Enough of a card to recognise it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardView {
    /// The last four digits.
    pub last_four: String,
    /// Keyed hash of the number, in hexadecimal.
    pub hash: String,
}

impl From<&Stored> for EntryView {
    fn from(Stored { sequence, entry }: &Stored) -> Self {
        let answered = entry.answered();
        let deed = answered.map(|answered| &answered.deed);
        let (outcome, approval, decline, pending) = match answered.map(|answered| answered.finding.clone()) {
            Some(Finding::Approved(approval)) => (Outcome::Approved, Some(approval), None, None),
            Some(Finding::Declined(decline)) => (Outcome::Declined, None, Some(decline), None),
            Some(Finding::Pending(pending)) => (Outcome::Pending, None, None, Some(pending)),
            None => (Outcome::ProbedBeforeArrival, None, None, None),
        };
        Self {
            sequence: *sequence,
            key: entry.key,
            at: entry.at,
            outcome,
            operation: deed.map(|deed| deed.kind().word().to_owned()),
            capture: deed.and_then(Deed::capture),
            authorization_key: entry.authorization_key(),
            amount: answered.map(|answered| answered.amount.minor_units()),
            currency: answered.map(|answered| answered.currency),
            card: deed
                .and_then(Deed::card)
                .map(|card| CardView { last_four: card.last_four.clone(), hash: hex::encode(&card.hash) }),
            approval,
            decline,
            pending,
        }
    }
}

impl EntryView {
    /// The entry as the log has it; nothing where it makes no sense.
    pub fn understand(self) -> Option<Stored> {
        let (sequence, key, at) = (self.sequence, self.key, self.at);
        let record = match self.outcome {
            Outcome::ProbedBeforeArrival => Record::ProbedBeforeArrival,
            Outcome::Approved | Outcome::Declined | Outcome::Pending => {
                Record::Answered(Box::new(self.answered()?))
            }
        };
        Some(Stored { sequence, entry: Entry { key, at, record } })
    }

    fn answered(self) -> Option<Answered> {
        let card = self.card.and_then(|card| {
            Some(CardTrace { hash: hex::decode(card.hash).ok()?, last_four: card.last_four })
        });
        let deed = match OperationKind::parse(self.operation.as_deref()?)? {
            OperationKind::Authorization => Deed::Authorization { capture: self.capture?, card: card? },
            OperationKind::ZeroDollar => Deed::Verification { card: card? },
            OperationKind::Capture => Deed::Capture { authorization_key: self.authorization_key? },
            OperationKind::Void => Deed::Void { authorization_key: self.authorization_key? },
        };
        let finding = match self.outcome {
            Outcome::Approved => Finding::Approved(self.approval?),
            Outcome::Declined => Finding::Declined(self.decline?),
            Outcome::Pending => Finding::Pending(self.pending?),
            Outcome::ProbedBeforeArrival => return None,
        };
        Some(Answered { deed, amount: Amount::new(self.amount?)?, currency: self.currency?, finding })
    }
}

/// `GET /v1/balances`.
#[derive(Debug, Serialize, Deserialize)]
pub struct HoldingPage {
    /// The money of each authorization, in the order of the keys.
    pub items: Vec<HoldingView>,
    /// Of all authorizations, not only of this page.
    pub totals: Vec<TotalView>,
    /// What to give as `after` for the next page; null on the last one.
    pub next: Option<Uuid>,
}

/// The money of one authorization, in minor units.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HoldingView {
    /// The key of the authorization.
    pub authorization_key: Uuid,
    /// In which currency.
    pub currency: Currency,
    /// For how much it was approved.
    pub authorized: i64,
    /// What is held and not yet taken.
    pub reserved: i64,
    /// What was taken.
    pub captured: i64,
    /// What was taken and given back.
    pub refunded: i64,
    /// What was held and let go.
    pub released: i64,
    /// Captured minus refunded.
    pub kept: i64,
}

/// The money of all authorizations in one currency, in minor units.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TotalView {
    /// Which currency.
    pub currency: Currency,
    /// How many authorizations were approved.
    pub authorizations: u64,
    /// As of one authorization.
    pub authorized: i64,
    /// As of one authorization.
    pub reserved: i64,
    /// As of one authorization.
    pub captured: i64,
    /// As of one authorization.
    pub refunded: i64,
    /// As of one authorization.
    pub released: i64,
    /// Captured minus refunded.
    pub kept: i64,
}

impl HoldingView {
    /// The holding of an authorization.
    pub fn of(authorization_key: Uuid, holding: &Holding) -> Self {
        Self {
            authorization_key,
            currency: holding.currency,
            authorized: holding.authorized.minor_units(),
            reserved: holding.reserved.minor_units(),
            captured: holding.captured.minor_units(),
            refunded: holding.refunded.minor_units(),
            released: holding.released.minor_units(),
            kept: holding.kept().minor_units(),
        }
    }

    /// The holding as the log has it; nothing where it makes no sense.
    pub fn understand(&self) -> Option<(Uuid, Holding)> {
        let holding = Holding {
            currency: self.currency,
            authorized: Amount::new(self.authorized)?,
            reserved: Amount::new(self.reserved)?,
            captured: Amount::new(self.captured)?,
            refunded: Amount::new(self.refunded)?,
            released: Amount::new(self.released)?,
        };
        Some((self.authorization_key, holding))
    }
}

impl TotalView {
    /// Adds up, in the order of the currencies' codes.
    pub fn of<'a>(holdings: impl IntoIterator<Item = &'a HoldingView>) -> Vec<Self> {
        let mut totals = BTreeMap::new();
        for holding in holdings {
            let total = totals.entry(holding.currency.code()).or_insert(Self {
                currency: holding.currency,
                authorizations: 0,
                authorized: 0,
                reserved: 0,
                captured: 0,
                refunded: 0,
                released: 0,
                kept: 0,
            });
            total.authorizations += 1;
            for (sum, amount) in [
                (&mut total.authorized, holding.authorized),
                (&mut total.reserved, holding.reserved),
                (&mut total.captured, holding.captured),
                (&mut total.refunded, holding.refunded),
                (&mut total.released, holding.released),
                (&mut total.kept, holding.kept),
            ] {
                *sum = sum.saturating_add(amount);
            }
        }
        totals.into_values().collect()
    }
}
