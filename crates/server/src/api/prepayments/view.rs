//! Prepayments and receivables as the interface shows them.

use jiff::civil::Date;
use regente_domain::id::{PayoutOrderId, PrepaymentId};
use regente_domain::money::Amount;
use regente_domain::payout::arrangement::Arrangement;
use regente_domain::prepayment::{Item, PrepaymentStatus, Rates, Receivable, Selection, Totals};
use regente_domain::time::Timestamp;
use regente_store::prepayments::StoredPrepayment;
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// What can be paid early.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Receivables)]
pub struct ReceivablesView {
    /// All of it.
    summary: SummaryView,
    /// By the day on which they are settled.
    receivables: Vec<ReceivableView>,
}

/// The sum of receivables.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceivablesSummary)]
struct SummaryView {
    /// In cents.
    #[schema(example = 25000)]
    available_amount: i64,
    /// How many they are.
    #[schema(example = 3)]
    receivable_count: u64,
}

/// What is settled on a later day.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Receivable)]
struct ReceivableView {
    /// Id of the order.
    id: PayoutOrderId,
    /// When it is settled.
    settlement_date: Date,
    /// The code of the payment arrangement.
    #[schema(example = "vcc")]
    payment_arrangement: String,
    /// In cents, net of the fees of the plan.
    #[schema(example = 12000)]
    amount: Amount,
}

impl ReceivablesView {
    /// What a receiver could have paid early.
    pub fn of(receivables: &[Receivable]) -> Self {
        let available_amount = receivables.iter().map(|receivable| receivable.amount.minor_units()).sum();
        let view = |receivable: &Receivable| ReceivableView {
            id: receivable.id,
            settlement_date: receivable.settlement_date,
            payment_arrangement: code(receivable.arrangement),
            amount: receivable.amount,
        };
        Self {
            summary: SummaryView { available_amount, receivable_count: receivables.len() as u64 },
            receivables: receivables.iter().map(view).collect(),
        }
    }
}

/// A prepayment: an offer, and what has become of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Prepayment)]
pub struct PrepaymentView {
    /// Its id.
    id: PrepaymentId,
    /// Where it stands.
    status: PrepaymentStatus,
    /// The receivables, in cents.
    #[schema(example = 20000)]
    gross_amount: Amount,
    /// What is paid, in cents.
    #[schema(example = 19323)]
    net_amount: Amount,
    /// What the platform keeps, in cents.
    #[schema(example = 387)]
    markup_amount: Amount,
    /// What the provider keeps, in cents.
    #[schema(example = 290)]
    fee_amount: Amount,
    /// What it costs, as a part of the receivables.
    #[schema(value_type = f64, example = 0.03385)]
    effective_rate: Number,
    /// What the provider asks for 30 days.
    #[schema(value_type = f64, example = 0.015)]
    monthly_rate: Number,
    /// What the platform adds.
    #[schema(value_type = f64, example = 0.02)]
    markup: Number,
    /// Until then it can be committed.
    expires_at: Timestamp,
    /// As sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_date: Option<Date>,
    /// As sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    dates: Option<Vec<Date>>,
    /// When it is paid once it is committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_date: Option<Date>,
    /// The receivables.
    items: Vec<ItemView>,
}

/// A receivable of a prepayment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PrepaymentItem)]
struct ItemView {
    /// Id of the order.
    #[schema(example = "019d6afe-c505-70a9-8df0-d052b578b35a")]
    receivable_unit_external_id: String,
    /// The receivable, in cents.
    #[schema(example = 12000)]
    gross_amount: Amount,
    /// What is paid of it, in cents.
    #[schema(example = 11594)]
    net_amount: Amount,
    /// What the platform keeps, in cents.
    #[schema(example = 232)]
    markup_amount: Amount,
    /// What the provider keeps, in cents.
    #[schema(example = 174)]
    fee_amount: Amount,
    /// Calendar days from the payment to the settlement.
    #[schema(example = 30)]
    days_to_anticipate: u32,
    /// When it is settled without the prepayment.
    settlement_date: Date,
    /// The code of the payment arrangement.
    #[schema(example = "vcc")]
    payment_arrangement: String,
}

impl PrepaymentView {
    /// As it reads at this moment.
    pub fn of(prepayment: &StoredPrepayment, now: Timestamp) -> Self {
        let totals = Totals::of(&prepayment.items).unwrap_or_default();
        let (end_date, dates) = match &prepayment.selection {
            Selection::EndDate(end) => (Some(*end), None),
            Selection::Dates(dates) => (None, Some(dates.clone())),
        };
        Self {
            id: prepayment.id,
            status: prepayment.status.at(now, prepayment.expires_at),
            gross_amount: totals.gross,
            net_amount: totals.net,
            markup_amount: totals.markup,
            fee_amount: totals.fee,
            effective_rate: number(&totals.effective_rate().to_string()),
            monthly_rate: number(&Rates::fraction(prepayment.rates.monthly_rate)),
            markup: number(&Rates::fraction(prepayment.rates.markup)),
            expires_at: prepayment.expires_at,
            end_date,
            dates,
            payment_date: Some(prepayment.payment_date),
            items: prepayment.items.iter().map(ItemView::of).collect(),
        }
    }
}

impl ItemView {
    fn of(item: &Item) -> Self {
        Self {
            receivable_unit_external_id: item.id.to_string(),
            gross_amount: item.gross,
            net_amount: item.net,
            markup_amount: item.markup,
            fee_amount: item.fee,
            days_to_anticipate: item.days,
            settlement_date: item.settlement_date,
            payment_arrangement: code(item.arrangement),
        }
    }
}

/// The code of an arrangement as prepayments show it; payouts show it in upper case.
fn code(arrangement: Arrangement) -> String {
    arrangement.word().to_ascii_lowercase()
}

/// A decimal text as a number of JSON.
fn number(text: &str) -> Number {
    text.parse().unwrap_or_else(|_| Number::from(0))
}
