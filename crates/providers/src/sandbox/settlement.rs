//! The settlement file of the simulator: what each entry of its transaction log has moved, with the fees of an imagined
//! agreement. The log is all it knows; a line is the difference between what an authorization held before and after.

use regente_domain::charge::reversal::ReversalKind;
use regente_domain::money::Amount;
use regente_domain::settlement::Kind;
use regente_domain::split::fee_parts;
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::sellers::recipient_of;
use super::transaction_log::{
    Deed, Entry, Filter, Holding, Holdings, Order, Stored, TransactionLog, TransactionLogError,
};
use crate::division::{Division, SellerPart};

/// What the simulator keeps of a sale, in hundredths of a percent.
const FEE_BASIS_POINTS: i64 = 299;
/// What it keeps for a charge back, in minor units.
const CHARGE_BACK_FEE: i64 = 1_500;
/// Each so many sales one is paid out early.
const ANTICIPATED_EVERY: u128 = 8;
/// What that costs, in hundredths of a percent of the sale.
const ANTICIPATION_BASIS_POINTS: i64 = 120;

/// A line of the file. The columns have the names of the members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettlementLine {
    /// No other line has the same.
    pub line: String,
    /// What it is about.
    pub r#type: Kind,
    /// When it happened.
    pub at: Timestamp,
    /// Our key of the authorization; none of a line that is about several.
    pub payment: Option<Uuid>,
    /// ISO 4217.
    pub currency: String,
    /// In minor units.
    pub amount: i64,
    /// What the simulator has kept of it.
    pub fee: i64,
    /// What sellers have of the amount, as `recipient=amount` with spaces between; the rest is the merchant's.
    pub parts: String,
}

/// A part of a settlement file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettlementPage {
    /// The lines, in the order of the log.
    pub lines: Vec<SettlementLine>,
    /// Where the next part begins; `None` at the end.
    pub next: Option<u64>,
}

impl TransactionLog {
    /// The lines of the entries in this time, of at most `limit` entries after the position `after`.
    ///
    /// # Errors
    /// As [`TransactionLog::page`].
    pub async fn settlement(
        &self,
        from: Timestamp,
        to: Timestamp,
        after: Option<u64>,
        limit: usize,
    ) -> Result<SettlementPage, TransactionLogError> {
        let filter = Filter { since: Some(from), ..Filter::default() };
        let page = self.page(filter, Order::OldestFirst, after, limit).await?;
        let next = page.last().map(|stored| stored.sequence).filter(|_| page.len() == limit);
        let mut lines = Vec::new();
        for Stored { entry, .. } in page.iter().filter(|stored| stored.entry.at < to) {
            if entry.approved().is_none() {
                continue;
            }
            let payment = entry.authorization_key().unwrap_or(entry.key);
            let history = self.history(payment).await?;
            let place = history.iter().position(|known| known.key == entry.key).unwrap_or(history.len());
            let before = Holdings::of(history.iter().take(place)).holding(payment);
            let after = Holdings::of(history.iter().take(place + 1)).holding(payment);
            if let Some(after) = after {
                let division = division_of(entry, history.get(..place).unwrap_or_default());
                lines.extend(Change { entry, payment, before, after, division }.lines());
            }
        }
        Ok(SettlementPage { lines, next })
    }
}

/// How the simulator was told to divide what an entry has moved; `None` where it was not, and where another amount has moved
/// than it was told of. Nobody tells it how a refund that comes back is divided: it goes to those who had given it back.
fn division_of(entry: &Entry, before: &[Entry]) -> Option<Division> {
    let answered = entry.answered()?;
    if let Deed::Reversal { kind: ReversalKind::RefundReverted, .. } = answered.deed {
        let given = given_back(before)?;
        return Some(given.with(given.shares().in_proportion(answered.amount)));
    }
    told_division(entry, before)
}

fn told_division(entry: &Entry, before: &[Entry]) -> Option<Division> {
    let answered = entry.answered()?;
    let told = match answered.deed {
        Deed::Authorization { .. } | Deed::Capture { .. } | Deed::Void { .. } | Deed::VoidResult { .. } => {
            Some(answered)
        }
        // A payer pays: the call was earlier.
        Deed::Payment { .. } => before.iter().find_map(Entry::answered),
        Deed::Verification { .. }
        | Deed::Withdrawal { .. }
        | Deed::Reversal { .. }
        | Deed::ChargeBackReversed { .. }
        | Deed::TakenBack { .. } => None,
    };
    told?.division.as_deref().filter(|division| division.fits(answered.amount)).cloned()
}

/// What each has given back, and does not have again.
fn given_back(before: &[Entry]) -> Option<Division> {
    let mut given: Option<Division> = None;
    for (place, entry) in before.iter().enumerate().filter(|(_, entry)| entry.approved().is_some()) {
        let Some(answered) = entry.answered() else { continue };
        match answered.deed {
            Deed::Void { .. } | Deed::VoidResult { .. } => {
                let division = told_division(entry, before.get(..place)?)?;
                given = Some(match given {
                    Some(given) => together(&given, &division)?,
                    None => division,
                });
            }
            Deed::Reversal { kind: ReversalKind::RefundReverted, .. } => {
                let all = given?;
                let shares = all.shares();
                given = Some(all.with(shares.minus(&shares.in_proportion(answered.amount))));
            }
            // What was void before was only reserved.
            Deed::Capture { .. } => given = None,
            Deed::Authorization { .. }
            | Deed::Payment { .. }
            | Deed::Verification { .. }
            | Deed::Withdrawal { .. }
            | Deed::Reversal { .. }
            | Deed::ChargeBackReversed { .. }
            | Deed::TakenBack { .. } => {}
        }
    }
    given
}

/// Both together, part by part; `None` where they are of other sellers.
fn together(one: &Division, other: &Division) -> Option<Division> {
    let registration = |part: &SellerPart| part.registration;
    let is_alike = one.sellers.iter().map(registration).eq(other.sellers.iter().map(registration));
    is_alike.then(|| one.with(one.shares().plus(&other.shares())))
}

/// What an entry has changed.
struct Change<'a> {
    entry: &'a Entry,
    payment: Uuid,
    before: Option<Holding>,
    after: Holding,
    division: Option<Division>,
}

impl Change<'_> {
    fn lines(&self) -> Vec<SettlementLine> {
        let (captured, refunded) =
            (self.rise(|holding| holding.captured), self.rise(|holding| holding.refunded));
        let charged_back = self.rise(|holding| holding.charged_back);
        let mut lines = Vec::new();
        let mut owed = 0;
        let mut owed_to_sellers = Vec::new();
        if captured > 0 {
            let fee = part_of(captured, FEE_BASIS_POINTS);
            let parts = self.parts(captured);
            lines.push(SettlementLine { fee, ..self.line(Kind::Sale, captured, &parts) });
            owed += captured - fee;
            owed_to_sellers = self.less_fee(parts, captured, fee);
            if self.payment.as_u128().is_multiple_of(ANTICIPATED_EVERY) {
                let cost = part_of(captured, ANTICIPATION_BASIS_POINTS);
                if cost > 0 {
                    lines.push(self.line(Kind::Anticipation, cost, &[]));
                    owed -= cost;
                }
            }
        }
        if refunded > 0 {
            let parts = self.parts(refunded);
            lines.push(self.line(Kind::Refund, refunded, &parts));
            owed_to_sellers = parts.into_iter().map(|(recipient, part)| (recipient, -part)).collect();
        }
        if refunded < 0 {
            let parts = self.parts(-refunded);
            lines.push(self.line(Kind::RefundReverted, -refunded, &parts));
            owed_to_sellers = parts;
        }
        owed -= refunded;
        if charged_back > 0 {
            lines.push(self.line(Kind::ChargeBack, charged_back, &[]));
            lines.push(self.line(Kind::Fee, CHARGE_BACK_FEE, &[]));
            owed -= charged_back + CHARGE_BACK_FEE;
        }
        if charged_back < 0 {
            lines.push(self.line(Kind::ChargeBackReversal, -charged_back, &[]));
            owed -= charged_back;
        }
        if owed != 0 {
            lines.push(self.line(Kind::Payout, owed, &owed_to_sellers));
        }
        lines
    }

    fn rise(&self, part: fn(&Holding) -> Amount) -> i64 {
        part(&self.after).minor_units() - self.before.as_ref().map_or(0, |before| part(before).minor_units())
    }

    /// What each seller has of what has moved.
    fn parts(&self, moved: i64) -> Vec<(String, i64)> {
        let is_whole = |division: &&Division| Amount::new(moved).is_some_and(|moved| division.fits(moved));
        let sellers = self.division.as_ref().filter(is_whole).map(|division| division.sellers.iter());
        let part = |part: &SellerPart| (recipient_of(part.registration), part.amount.minor_units());
        sellers.into_iter().flatten().map(part).collect()
    }

    /// What each seller is paid of a sale.
    fn less_fee(&self, parts: Vec<(String, i64)>, captured: i64, fee: i64) -> Vec<(String, i64)> {
        let (Some(division), Some(captured)) = (&self.division, Amount::new(captured)) else { return parts };
        let sellers: Vec<_> = division.sellers.iter().map(|part| (part.bears, part.amount)).collect();
        let fees = fee_parts(&sellers, captured, fee);
        parts.into_iter().zip(fees).map(|((recipient, part), fee)| (recipient, part - fee)).collect()
    }

    fn line(&self, kind: Kind, amount: i64, parts: &[(String, i64)]) -> SettlementLine {
        let parts = parts.iter().filter(|(_, part)| *part != 0);
        let parts: Vec<String> = parts.map(|(recipient, part)| format!("{recipient}={part}")).collect();
        SettlementLine {
            line: format!("{}.{}", self.entry.key, kind.word()),
            r#type: kind,
            at: self.entry.at,
            payment: Some(self.payment),
            currency: self.after.currency.code().to_owned(),
            amount,
            fee: 0,
            parts: parts.join(" "),
        }
    }
}

/// Rounded half up.
const fn part_of(amount: i64, basis_points: i64) -> i64 {
    // 2^53 times 299 fits.
    (amount * basis_points + 5_000) / 10_000
}
