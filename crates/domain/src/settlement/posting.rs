//! What the ledger gets of a line.

use uuid::Uuid;

use super::{Kind, Line};
use crate::charge::Charge;
use crate::id::{ProviderId, SellerId};
use crate::ledger::{Books, Entry, Movement, Source, Subject};

/// Namespace of the sources of entries that lines of settlement files have made.
const LINES: Uuid = Uuid::from_u128(0x3a0c_58de_92b1_4f6e_8d17_52c9_0e4b_7af3);

/// Who bears how much; nobody named is the merchant.
pub type Borne = Vec<(Option<SellerId>, i64)>;

/// A line with what was found about it.
#[derive(Clone, Copy, Debug)]
pub struct Settled<'a> {
    /// The line.
    pub line: &'a Line,
    /// The registered provider that has settled it.
    pub provider_id: ProviderId,
    /// Who bears how much of it, or of how much less it is than the records say.
    pub borne: &'a [(Option<SellerId>, i64)],
}

/// The source of the entries of a line: the same whenever the line is read again.
pub fn source_of(provider_id: ProviderId, line: &Line) -> Uuid {
    let named =
        [provider_id.uuid().as_bytes(), line.kind.word().as_bytes(), b":", line.id.as_bytes()].concat();
    Uuid::new_v5(&LINES, &named)
}

/// The entries of a line: what the provider kept, paid out, or settled otherwise than the records say. The sellers of a
/// charge bear its fees as their shares say, unless the file does. A line that says what the records say makes none.
pub fn entries(books: Books, settled: Settled<'_>, charge: Option<&Charge>) -> Vec<Entry> {
    let Settled { line, provider_id, borne } = settled;
    let id = source_of(provider_id, line);
    let fee = |fee: i64| match (line.seller_id, charge) {
        (None, Some(charge)) => charge.fee_borne(fee),
        (seller_id, _) => vec![(seller_id, fee)],
    };
    let own = match line.kind {
        Kind::Fee if line.parts.is_empty() => (Movement::ProviderFee, fee(line.amount)),
        Kind::Fee => (Movement::ProviderFee, borne.to_vec()),
        Kind::Payout => (Movement::Payout, borne.to_vec()),
        Kind::Anticipation => (Movement::Anticipation, borne.to_vec()),
        Kind::Sale | Kind::Refund | Kind::RefundReverted | Kind::ChargeBack | Kind::ChargeBackReversal => {
            (Movement::SettlementDifference, borne.to_vec())
        }
    };
    let parts = [own, (Movement::ProviderFee, fee(line.fee))].into_iter().flat_map(|(movement, borne)| {
        borne.into_iter().map(move |(seller_id, amount)| (movement, seller_id, amount))
    });
    (0..)
        .zip(parts)
        .filter_map(|(ordinal, (movement, seller_id, amount))| {
            let source = Source { id, version: 0, ordinal };
            books.entry(source, line.at, movement, Subject::Provider, seller_id, amount)
        })
        .collect()
}
