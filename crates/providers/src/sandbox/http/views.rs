//! JSON forms of the transaction log, for both the server and the client.

use std::collections::BTreeMap;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::currency::Currency;
use regente_domain::decline::Decline;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::division::Division;
use crate::outcome::{Approval, Finding, Pending};
use crate::sandbox::{Answered, CardTrace, Deed, Entry, Holding, Record, Stored};

/// Most entries in one page.
pub const ENTRIES_LIMIT_MAX: usize = 1_000;
/// Most holdings in one page.
pub const HOLDINGS_LIMIT_MAX: usize = 10_000;

/// Response to `GET /v1/entries`.
#[derive(Debug, Serialize, Deserialize)]
pub struct EntryPage {
    /// Entries in the requested order.
    pub items: Vec<EntryView>,
    /// The value of `after` for the next page; null on the last one.
    pub next: Option<u64>,
}

/// One entry of the log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    /// Its position in the log, from 1.
    pub sequence: u64,
    /// The key of the call.
    pub key: Uuid,
    /// When the call or probe was made, by the caller's clock.
    pub at: Timestamp,
    /// `approved`, `declined`, `pending`, `accepted`, or `probed_before_arrival`.
    pub outcome: EntryOutcome,
    /// The operation's name. Absent, like all members below, when no call arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// For an authorization: whether it captures at once or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureMode>,
    /// The key of the authorization that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_key: Option<Uuid>,
    /// Amount in minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// ISO 4217 currency of the amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// The masked card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<CardView>,
    /// The identifiers of an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The codes and texts of a decline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decline: Option<Decline>,
    /// The instructions that the payer got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Box<Pending>>,
    /// How the amount is divided among sellers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub division: Option<Box<Division>>,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryOutcome {
    /// The simulator carried the operation out.
    Approved,
    /// The simulator declined the operation.
    Declined,
    /// The simulator waits for the payer.
    Pending,
    /// The simulator has accepted the operation; another entry has the result.
    Accepted,
    /// A probe came before the call: a call that comes later is refused.
    ProbedBeforeArrival,
}

/// Identifies a card without its number.
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
            Some(Finding::Approved(approval)) => (EntryOutcome::Approved, Some(approval), None, None),
            Some(Finding::Declined(decline)) => (EntryOutcome::Declined, None, Some(decline), None),
            Some(Finding::Pending(pending)) => (EntryOutcome::Pending, None, None, Some(pending)),
            Some(Finding::Accepted(approval)) => (EntryOutcome::Accepted, Some(approval), None, None),
            // What happened to it has entries of its own, which are approved.
            Some(Finding::Paid(_) | Finding::Reversed { .. }) | None => {
                (EntryOutcome::ProbedBeforeArrival, None, None, None)
            }
        };
        Self {
            sequence: *sequence,
            key: entry.key,
            at: entry.at,
            outcome,
            operation: deed.map(|deed| deed.word().to_owned()),
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
            division: answered.and_then(|answered| answered.division.clone()),
        }
    }
}

impl EntryView {
    /// Converts to an entry of the log; `None` for an invalid combination of members.
    pub fn understand(self) -> Option<Stored> {
        let (sequence, key, at) = (self.sequence, self.key, self.at);
        let record = match self.outcome {
            EntryOutcome::ProbedBeforeArrival => Record::ProbedBeforeArrival,
            EntryOutcome::Approved
            | EntryOutcome::Declined
            | EntryOutcome::Pending
            | EntryOutcome::Accepted => Record::Answered(Box::new(self.answered()?)),
        };
        Some(Stored { sequence, entry: Entry { key, at, record } })
    }

    fn answered(self) -> Option<Answered> {
        let card = self.card.and_then(|card| {
            Some(CardTrace { hash: hex::decode(card.hash).ok()?, last_four: card.last_four })
        });
        let deed = Deed::of(self.operation.as_deref()?, self.capture, card, self.authorization_key)?;
        let finding = match self.outcome {
            EntryOutcome::Approved => Finding::Approved(self.approval?),
            EntryOutcome::Declined => Finding::Declined(self.decline?),
            EntryOutcome::Pending => Finding::Pending(self.pending?),
            EntryOutcome::Accepted => Finding::Accepted(self.approval?),
            EntryOutcome::ProbedBeforeArrival => return None,
        };
        let (amount, currency) = (Amount::new(self.amount?)?, self.currency?);
        Some(Answered { deed, amount, currency, finding, division: self.division })
    }
}

/// Response to `GET /v1/balances`.
#[derive(Debug, Serialize, Deserialize)]
pub struct HoldingPage {
    /// The holdings of the page, ordered by authorization key.
    pub items: Vec<HoldingView>,
    /// Totals over all authorizations, not only those of this page.
    pub totals: Vec<TotalView>,
    /// The value of `after` for the next page; null on the last one.
    pub next: Option<Uuid>,
}

/// The amounts of one authorization, in minor units.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HoldingView {
    /// The key of the authorization.
    pub authorization_key: Uuid,
    /// ISO 4217 currency of the amounts.
    pub currency: Currency,
    /// The approved amount.
    pub authorized: i64,
    /// Reserved and not captured or released.
    pub reserved: i64,
    /// Captured, including what was refunded later.
    pub captured: i64,
    /// Captured and then refunded.
    pub refunded: i64,
    /// Reserved and then released without capture.
    pub released: i64,
    /// Captured and then taken back by the payer's bank.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub charged_back: i64,
    /// Captured minus refunded minus charged back.
    pub kept: i64,
}

/// Totals of all authorizations in one currency, in minor units.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TotalView {
    /// ISO 4217 currency of the amounts.
    pub currency: Currency,
    /// Number of approved authorizations.
    pub authorizations: u64,
    /// Sum of [`HoldingView::authorized`].
    pub authorized: i64,
    /// Sum of [`HoldingView::reserved`].
    pub reserved: i64,
    /// Sum of [`HoldingView::captured`].
    pub captured: i64,
    /// Sum of [`HoldingView::refunded`].
    pub refunded: i64,
    /// Sum of [`HoldingView::released`].
    pub released: i64,
    /// Sum of [`HoldingView::charged_back`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub charged_back: i64,
    /// Captured minus refunded minus charged back.
    pub kept: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(amount: &i64) -> bool {
    *amount == 0
}

impl HoldingView {
    /// Converts a holding of the log.
    pub fn of(authorization_key: Uuid, holding: &Holding) -> Self {
        Self {
            authorization_key,
            currency: holding.currency,
            authorized: holding.authorized.minor_units(),
            reserved: holding.reserved.minor_units(),
            captured: holding.captured.minor_units(),
            refunded: holding.refunded.minor_units(),
            released: holding.released.minor_units(),
            charged_back: holding.charged_back.minor_units(),
            kept: holding.kept().minor_units(),
        }
    }

    /// Converts to a holding of the log; `None` for an invalid combination of amounts.
    pub fn understand(&self) -> Option<(Uuid, Holding)> {
        let holding = Holding {
            currency: self.currency,
            authorized: Amount::new(self.authorized)?,
            reserved: Amount::new(self.reserved)?,
            captured: Amount::new(self.captured)?,
            refunded: Amount::new(self.refunded)?,
            released: Amount::new(self.released)?,
            charged_back: Amount::new(self.charged_back)?,
        };
        Some((self.authorization_key, holding))
    }
}

impl TotalView {
    /// Sums the holdings by currency, ordered by currency code.
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
                charged_back: 0,
                kept: 0,
            });
            total.authorizations += 1;
            for (sum, amount) in [
                (&mut total.authorized, holding.authorized),
                (&mut total.reserved, holding.reserved),
                (&mut total.captured, holding.captured),
                (&mut total.refunded, holding.refunded),
                (&mut total.released, holding.released),
                (&mut total.charged_back, holding.charged_back),
                (&mut total.kept, holding.kept),
            ] {
                *sum = sum.saturating_add(amount);
            }
        }
        totals.into_values().collect()
    }
}
