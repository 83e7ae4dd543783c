//! What is asked for with a prepayment.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::id::SellerId;
use crate::problems::Problems;
use crate::wire::List;

/// Most days of one prepayment.
pub const DATES_MAX: usize = 366;
/// The rule of `endDate` and `dates`.
const ONE_OF_BOTH: &str = "should be sent, or dates, and not both";

/// Which receivables are wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Selection {
    /// All that are settled by this day, which belongs to them.
    EndDate(Date),
    /// Those that are settled on these days.
    Dates(Vec<Date>),
}

impl Selection {
    /// Whether a receivable of this day is wanted.
    pub fn takes(&self, settlement_date: Date) -> bool {
        match self {
            Self::EndDate(end) => settlement_date <= *end,
            Self::Dates(dates) => dates.contains(&settlement_date),
        }
    }
}

/// A prepayment to be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPrepayment {
    /// Whose receivables; those of the account itself without one.
    pub seller_id: Option<SellerId>,
    /// Which of them.
    pub selection: Selection,
}

/// A prepayment as it is sent: with exactly one of `endDate` and `dates`.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewPrepayment, rename_all = "camelCase", example = json!({ "endDate": "2026-06-20" }))]
pub(super) struct SentPrepayment {
    /// Whose receivables; those of the account itself without one.
    #[deserr(default)]
    seller_id: Option<SellerId>,
    /// All receivables that are settled by this day, which belongs to them.
    #[deserr(default)]
    #[schema(value_type = Option<String>, format = Date, example = "2026-06-20")]
    end_date: Option<Date>,
    /// The receivables that are settled on these days.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<Date>>, min_items = 1, max_items = 366, example = json!(["2026-06-15", "2026-06-20"]))]
    dates: Option<List<Date, 1, DATES_MAX>>,
}

impl Deserr<Problems> for NewPrepayment {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent = SentPrepayment::deserialize_from_value(value, location)?;
        let selection = match (sent.end_date, sent.dates) {
            (Some(end), None) => Selection::EndDate(end),
            (None, Some(dates)) => Selection::Dates(dates.to_vec()),
            (Some(_), Some(_)) | (None, None) => return Err(Problems::one("endDate", ONE_OF_BOTH)),
        };
        Ok(Self { seller_id: sent.seller_id, selection })
    }
}

impl PartialSchema for NewPrepayment {
    fn schema() -> RefOr<Schema> {
        SentPrepayment::schema()
    }
}

impl ToSchema for NewPrepayment {
    fn name() -> std::borrow::Cow<'static, str> {
        SentPrepayment::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        SentPrepayment::schemas(schemas);
    }
}
