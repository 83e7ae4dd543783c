//! The books of money in double entry (`docs/ledger.md`). An entry moves an amount from one account to another, in one
//! currency, so it always balances. [`entries`] is the only function that posts what happens to a charge: it compares
//! what the charge holds before and after a change, so that the books always say what the charges say.

mod chart;
mod postings;

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::charge::{Charge, ChargeState, Held, Parts, StateName};
use crate::currency::Currency;
use crate::id::{ClientId, MerchantId, SellerId};
use crate::money::Amount;
use crate::provider_type::ProviderType;
use crate::time::Timestamp;
use crate::words::words;

pub use chart::{Account, Nature, OfSeller, Purpose};
pub use postings::{POSTINGS, Posting, Subject};

words! {
    /// What happened.
    #[schema(as = LedgerMovement)]
    Movement {
        /// A provider reserved money.
        AuthorizationHold = "authorization_hold",
        /// A reservation ended, by a capture or without one.
        HoldRelease = "hold_release",
        /// A provider took money: it captured a reservation, or was paid at once.
        Capture = "capture",
        /// A provider gave money back.
        Refund = "refund",
        /// A refund came back.
        RefundReverted = "refund_reverted",
        /// The payer's bank took money back.
        ChargeBack = "charge_back",
        /// A charge back was undone.
        ChargeBackReversal = "charge_back_reversal",
        /// What a charge holds that was never posted, because a release without books had moved it.
        Opening = "opening",
        /// A provider kept its fee.
        ProviderFee = "provider_fee",
        /// A provider paid out.
        Payout = "payout",
        /// A provider kept what it costs to be paid early.
        Anticipation = "anticipation",
        /// A provider settled less than the charges say.
        SettlementDifference = "settlement_difference",
    }
}

/// The change that an entry records. There is one entry at most for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The charge, or a line of a settlement file.
    pub id: Uuid,
    /// The version of the charge; 0 for what has none.
    pub version: i64,
    /// The place among the entries of the change; negative for what is posted late.
    pub ordinal: i64,
}

/// An amount that moves from one account to another. It is never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whose books.
    pub client_id: ClientId,
    /// What it records.
    pub source: Source,
    /// When that happened.
    pub at: Timestamp,
    /// What happened.
    pub movement: Movement,
    /// The merchant of both accounts.
    pub merchant_id: MerchantId,
    /// The provider type of both accounts.
    pub provider_type: ProviderType,
    /// The currency of both accounts.
    pub currency: Currency,
    /// The purpose of the account that is debited.
    pub debit: Purpose,
    /// The purpose of the account that is credited.
    pub credit: Purpose,
    /// The seller of the account that can be a seller's.
    pub seller_id: Option<SellerId>,
    /// In minor units, more than 0.
    pub amount: Amount,
}

impl Entry {
    /// The account that is debited.
    pub const fn debited(&self) -> Account {
        self.account(self.debit)
    }

    /// The account that is credited.
    pub const fn credited(&self) -> Account {
        self.account(self.credit)
    }

    const fn account(&self, purpose: Purpose) -> Account {
        let seller_id = match purpose.of_seller() {
            OfSeller::Always | OfSeller::Sometimes => self.seller_id,
            OfSeller::Never => None,
        };
        Account {
            merchant_id: self.merchant_id,
            provider_type: self.provider_type,
            currency: self.currency,
            purpose,
            seller_id,
        }
    }
}

/// Whose books an entry is in and which accounts it can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Books {
    /// The account of the product.
    pub client_id: ClientId,
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The type of the provider.
    pub provider_type: ProviderType,
    /// The currency.
    pub currency: Currency,
}

impl Books {
    /// Those of a charge; `None` before a provider has handled it.
    pub const fn of(charge: &Charge) -> Option<Self> {
        let Charge { client_id, merchant_id, currency, .. } = charge;
        match charge.state.responsible() {
            Some(provider_type) => Some(Self {
                client_id: *client_id,
                merchant_id: *merchant_id,
                provider_type,
                currency: *currency,
            }),
            None => None,
        }
    }

    /// The entry of a movement by [`POSTINGS`]: a negative amount is posted the other way round. `None` for no amount,
    /// for more than an entry can hold, for a subject that the movement does not have, and where a seller is missing.
    pub fn entry(
        self,
        source: Source,
        at: Timestamp,
        movement: Movement,
        subject: Subject,
        seller_id: Option<SellerId>,
        minor_units: i64,
    ) -> Option<Entry> {
        let posting = Posting::of(movement, subject)?;
        let amount = Amount::new(minor_units.checked_abs()?).filter(|amount| *amount > Amount::ZERO)?;
        let (debit, credit) = match minor_units > 0 {
            true => (posting.debit, posting.credit),
            false => (posting.credit, posting.debit),
        };
        let seller_id = match [debit.of_seller(), credit.of_seller()] {
            [OfSeller::Never, OfSeller::Never] => None,
            [OfSeller::Always, _] | [_, OfSeller::Always] => Some(seller_id?),
            [OfSeller::Sometimes, _] | [_, OfSeller::Sometimes] => seller_id,
        };
        let Self { client_id, merchant_id, provider_type, currency } = self;
        Some(Entry {
            client_id,
            source,
            at,
            movement,
            merchant_id,
            provider_type,
            currency,
            debit,
            credit,
            seller_id,
            amount,
        })
    }
}

/// What a charge holds for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// In whose books.
    pub books: Books,
    /// For whom.
    pub subject: Subject,
    /// The seller, if it is for one.
    pub seller_id: Option<SellerId>,
}

/// What a charge holds, in minor units; a part is negative for who has lost more than it had.
pub type Position = BTreeMap<Part, i64>;

/// What a provider has of a charge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Has {
    Nothing,
    Reserved,
    Taken,
    TakenBack,
}

impl Has {
    const fn of(state: &ChargeState) -> Self {
        match state {
            ChargeState::Processing
            | ChargeState::AwaitingPayer { .. }
            | ChargeState::Failed { .. }
            | ChargeState::Canceled { .. }
            | ChargeState::Voided { .. } => Self::Nothing,
            ChargeState::PreAuthorized { .. } | ChargeState::CapturePending { .. } => Self::Reserved,
            ChargeState::RefundPending { open, .. } | ChargeState::RefundAccepted { open, .. } => {
                match open.before {
                    Held::Reserved | Held::JustReserved => Self::Reserved,
                    Held::Taken => Self::Taken,
                }
            }
            ChargeState::Authorized { .. } => Self::Taken,
            ChargeState::ChargedBack { .. } => Self::TakenBack,
        }
    }
}

/// What a charge holds. After a charge back it is what was not taken back, and what sellers keep, who are not liable, and the
/// merchant has borne.
pub fn position(charge: &Charge) -> Position {
    let Some(books) = Books::of(charge) else { return Position::new() };
    let mut position = Position::new();
    let mut add = |subject, seller_id, amount: Amount, sign: i64| {
        *position.entry(Part { books, subject, seller_id }).or_default() += sign * amount.minor_units();
    };
    let mut add_all = |parts: &Parts, sign| {
        add(Subject::Merchant, None, parts.merchant, sign);
        add(Subject::PlatformFee, None, parts.fee, sign);
        for (seller_id, part) in &parts.sellers {
            add(Subject::Seller, Some(*seller_id), *part, sign);
        }
    };
    match Has::of(&charge.state) {
        Has::Nothing => {}
        Has::Reserved => add(Subject::Hold, None, charge.amount, 1),
        Has::Taken => add_all(&charge.parts(), 1),
        Has::TakenBack => {
            add_all(&charge.parts(), 1);
            add_all(&charge.parts_on_charge_back(), -1);
        }
    }
    position.retain(|_, held| *held != 0);
    position
}

/// What is posted when a charge changes.
pub fn entries(before: Option<&Charge>, after: &Charge) -> Vec<Entry> {
    let changes = changes(before.map(position).unwrap_or_default(), &position(after));
    let taken: i64 = changes.iter().filter(|(part, _)| part.subject != Subject::Hold).map(|(_, n)| n).sum();
    let moved = |part: &Part, change: i64| match part.subject {
        Subject::Hold if change > 0 => (Movement::AuthorizationHold, change),
        Subject::Hold => (Movement::HoldRelease, -change),
        Subject::Merchant | Subject::Seller | Subject::PlatformFee | Subject::Provider => {
            let movement = of_taken(before, after, taken);
            (movement, change * movement.sign())
        }
    };
    let numbered = (0..).zip(changes.iter().filter(|(_, change)| **change != 0));
    let posted = numbered.filter_map(|(ordinal, (part, change))| {
        let source = Source { id: after.id.uuid(), version: after.version, ordinal };
        let (movement, minor_units) = moved(part, *change);
        part.books.entry(source, after.updated_at, movement, part.subject, part.seller_id, minor_units)
    });
    posted.collect()
}

/// What brings the books to what a charge holds, where it was posted otherwise or not at all. `posted` is the sum of the
/// entries of the charge.
pub fn opening(charge: &Charge, posted: Position) -> Vec<Entry> {
    let changes = changes(posted, &position(charge));
    let late = (1..).zip(changes.iter().filter(|(_, change)| **change != 0));
    let entries = late.filter_map(|(place, (part, change)): (i64, _)| {
        let source = Source { id: charge.id.uuid(), version: charge.version, ordinal: -place };
        let at = charge.updated_at;
        part.books.entry(source, at, Movement::Opening, part.subject, part.seller_id, *change)
    });
    entries.collect()
}

/// The sum of entries of one charge, as [`position`] has it. Settlements are not part of it.
pub fn posted<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Position {
    let mut sums = Position::new();
    for entry in entries {
        let Entry { client_id, merchant_id, provider_type, currency, seller_id, .. } = *entry;
        let books = Books { client_id, merchant_id, provider_type, currency };
        for (purpose, minor_units) in
            [(entry.credit, entry.amount.minor_units()), (entry.debit, -entry.amount.minor_units())]
        {
            if let Some(subject) = Subject::held_in(purpose) {
                *sums.entry(Part { books, subject, seller_id }).or_default() += minor_units;
            }
        }
    }
    sums.retain(|_, held| *held != 0);
    sums
}

fn changes(before: Position, after: &Position) -> Position {
    let mut changes = after.clone();
    for (part, held) in before {
        *changes.entry(part).or_default() -= held;
    }
    changes
}

/// What a change of what was taken is called. A cent that rounding moves between two parts belongs to the movement of the
/// whole.
fn of_taken(before: Option<&Charge>, after: &Charge, taken: i64) -> Movement {
    let before = before.map(|charge| charge.state.name());
    match (before, after.state.name()) {
        // Of several cases one may be decided for the merchant, and the charge stays charged back.
        (Some(StateName::ChargedBack), StateName::ChargedBack) if taken > 0 => Movement::ChargeBackReversal,
        (_, StateName::ChargedBack) => Movement::ChargeBack,
        (Some(StateName::ChargedBack), _) => Movement::ChargeBackReversal,
        (
            Some(
                StateName::Authorized
                | StateName::RefundPending
                | StateName::RefundAccepted
                | StateName::Voided,
            ),
            _,
        ) if taken > 0 => Movement::RefundReverted,
        (
            Some(
                StateName::Authorized
                | StateName::RefundPending
                | StateName::RefundAccepted
                | StateName::Voided,
            ),
            _,
        ) => Movement::Refund,
        (
            None
            | Some(
                StateName::Processing
                | StateName::AwaitingPayer
                | StateName::PreAuthorized
                | StateName::CapturePending
                | StateName::Failed
                | StateName::Canceled,
            ),
            _,
        ) => Movement::Capture,
    }
}

impl Movement {
    /// Whether a positive amount of it is what somebody gains, or what somebody loses.
    const fn sign(self) -> i64 {
        match self {
            Self::AuthorizationHold
            | Self::Capture
            | Self::RefundReverted
            | Self::ChargeBackReversal
            | Self::Opening => 1,
            Self::HoldRelease
            | Self::Refund
            | Self::ChargeBack
            | Self::ProviderFee
            | Self::Payout
            | Self::Anticipation
            | Self::SettlementDifference => -1,
        }
    }
}
