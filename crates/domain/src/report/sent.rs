//! What is asked for with a report.

use std::borrow::Cow;
use std::time::Duration;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_with::skip_serializing_none;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder};
use utoipa::openapi::{RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::{Column, PERIOD_DAYS_MAX, ReportType};
use crate::charge::ChargeStatus;
use crate::id::{ChargeId, MerchantId, ProviderId};
use crate::payment_type::PaymentType;
use crate::problems::Problems;
use crate::time::Timestamp;
use crate::wire::{AsSent, EmailAddress, List, not_among, read_with, refused};
use crate::words::words;

/// Where the columns are in a body.
const FIELDS: &str = "fields";
/// The word for every column.
const ALL: &str = "all";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

type Methods = List<PaymentType, 1, 10>;
type Statuses = List<FilteredStatus, 1, 20>;
type Keys = List<String, 1, KEYS_MAX>;
/// The most keys that are read; there are fewer columns.
const KEYS_MAX: usize = 200;

/// A report to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewReport {
    /// Who gets a mail with a link to the files.
    pub send_to: String,
    /// What its rows are.
    pub report_type: ReportType,
    /// Its columns, as they were asked for; none twice.
    pub columns: Vec<Column>,
    /// What it is about.
    pub filters: Filters,
}

/// A report as it is sent.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewReport, rename_all = "camelCase", example = json!({
    "sendTo": "user@example.com", "type": "transactions",
    "fields": ["transaction__id", "transaction__created_at", "transaction__status", "card_brand__brand"],
    "filters": {
        "transactionRequestPaymentMethod": ["pix"], "transactionStatus": ["authorized"],
        "transactionCreatedAt": { "gte": "2026-06-01T00:00:00Z", "lte": "2026-06-30T23:59:59Z" }
    }
}))]
pub(super) struct SentReport {
    /// Who gets a mail with a link to the files, where mail is set up.
    send_to: EmailAddress<255>,
    /// `transactions` by default.
    #[deserr(rename = "type", default)]
    #[schema(rename = "type")]
    report_type: Option<ReportType>,
    /// `all`, or keys of columns.
    fields: Fields,
    /// What the report is about.
    filters: Filters,
}

/// What a report is about; what is absent is not filtered by.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = ReportFilters)]
pub struct Filters {
    /// When charges were created, at most 366 days.
    #[schema(value_type = Period)]
    pub transaction_created_at: AsSent<Period>,
    /// How they are paid.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<PaymentType>>)]
    pub transaction_request_payment_method: Option<AsSent<Methods>>,
    /// The older name of `transactionRequestPaymentMethod`.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<PaymentType>>)]
    pub transaction_source_payment_method: Option<AsSent<Methods>>,
    /// Where they stand.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<FilteredStatus>>)]
    pub transaction_status: Option<AsSent<Statuses>>,
    /// Whose they are.
    #[deserr(default)]
    pub transaction_merchant_id: Option<MerchantId>,
    /// Which provider was asked.
    #[deserr(default)]
    pub transaction_provider_id: Option<ProviderId>,
    /// One charge.
    #[deserr(default)]
    pub transaction_id: Option<ChargeId>,
}

words! {
    /// A status that a report can be filtered by.
    #[schema(as = ReportedStatus)]
    FilteredStatus {
        /// Not decided yet.
        Pending = "pending",
        /// Reserved.
        PreAuthorized = "pre_authorized",
        /// Approved, and captured.
        Authorized = "authorized",
        /// Refused.
        Failed = "failed",
        /// Voided before capture.
        Canceled = "canceled",
        /// Refunded in full.
        Voided = "voided",
        /// The cardholder's bank reversed the payment.
        ChargedBack = "charged_back",
        /// A refund is under way.
        RefundPending = "refund_pending",
        /// A capture is under way.
        CapturePending = "capture_pending",
        /// No charge has it: a stored charge is pending.
        Created = "created",
    }
}

/// A time with both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = ReportPeriod)]
pub struct Period {
    /// From this moment on, in ISO 8601.
    #[schema(value_type = String, example = "2026-06-01T00:00:00Z")]
    pub gte: Timestamp,
    /// Until this moment, which belongs to it.
    #[schema(value_type = String, example = "2026-06-30T23:59:59Z")]
    pub lte: Timestamp,
}

impl Period {
    fn problem(self) -> Option<String> {
        if self.lte < self.gte {
            return Some("must not end before it begins".to_owned());
        }
        let is_long = self.lte.since(self.gte) > DAY * u32::try_from(PERIOD_DAYS_MAX).unwrap_or(u32::MAX);
        is_long.then(|| format!("must not be longer than {PERIOD_DAYS_MAX} days"))
    }
}

impl Filters {
    /// The time; `None` for what no release has stored.
    pub fn period(&self) -> Option<Period> {
        let at = |name: &str| self.transaction_created_at.get(name)?.as_str().and_then(Timestamp::parse);
        Some(Period { gte: at("gte")?, lte: at("lte")? })
    }

    /// The ways to pay, if charges are filtered by them.
    pub fn payment_types(&self) -> Option<Vec<PaymentType>> {
        let sent = self.transaction_request_payment_method.as_ref();
        let sent = sent.or(self.transaction_source_payment_method.as_ref())?;
        Some(words_in(sent).filter_map(PaymentType::parse).collect())
    }

    /// Whether charges in this status are in the report.
    pub fn takes(&self, status: ChargeStatus) -> bool {
        let sent = self.transaction_status.as_ref();
        sent.is_none_or(|sent| words_in(sent).any(|word| word == status.word()))
    }
}

/// The words of a list, or the only one.
fn words_in(sent: &Json) -> impl Iterator<Item = &str> {
    let (one, several) = (sent.as_str(), sent.as_array());
    one.into_iter().chain(several.into_iter().flatten().filter_map(Json::as_str))
}

impl Deserr<Problems> for NewReport {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let mut columns = Vec::new();
        let sent: SentReport = read_with(value, location, |members, problems| {
            let word = members.get("type").and_then(Json::as_str);
            let report_type = word.and_then(ReportType::parse).unwrap_or(ReportType::Transactions);
            match members.get(FIELDS).map(|sent| Column::chosen(sent, report_type)) {
                Some(Some(chosen)) => columns = chosen,
                Some(None) => {
                    let rule = not_among(Column::of(report_type).map(Column::key));
                    problems.extend(refused(location.push_key(FIELDS), rule));
                }
                None => {}
            }
            let created_at = members.get("filters").and_then(|filters| filters.get("transactionCreatedAt"));
            if let Some(Json::Object(period)) = created_at
                && let Ok(period) = crate::wire::read::<Period>(period.clone())
                && let Some(rule) = period.problem()
            {
                let filters = location.push_key("filters");
                problems.extend(refused(filters.push_key("transactionCreatedAt"), rule));
            }
        })?;
        let Fields = sent.fields;
        Ok(Self {
            send_to: sent.send_to.into_string(),
            report_type: sent.report_type.unwrap_or(ReportType::Transactions),
            columns,
            filters: sent.filters,
        })
    }
}

impl PartialSchema for NewReport {
    fn schema() -> RefOr<Schema> {
        SentReport::schema()
    }
}

impl ToSchema for NewReport {
    fn name() -> Cow<'static, str> {
        SentReport::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        SentReport::schemas(found);
    }
}

impl Column {
    /// The columns that were asked for; `None` where one is not of the type.
    fn chosen(sent: &Json, report_type: ReportType) -> Option<Vec<Self>> {
        let mut chosen = Vec::new();
        for word in words_in(sent) {
            if word == ALL {
                return Some(Self::of(report_type).collect());
            }
            let column = Self::parse(word).filter(|column| column.fits(report_type))?;
            if !chosen.contains(&column) {
                chosen.push(column);
            }
        }
        Some(chosen)
    }
}

/// The keys of the columns, read as texts: which of them there are, the type of the report says.
struct Fields;

impl Deserr<Problems> for Fields {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        match value {
            Value::String(_) => Ok(Self),
            other @ (Value::Null
            | Value::Boolean(_)
            | Value::Integer(_)
            | Value::NegativeInteger(_)
            | Value::Float(_)
            | Value::Sequence(_)
            | Value::Map(_)) => Keys::deserialize_from_value(other, location).map(|_| Self),
        }
    }
}

impl PartialSchema for Fields {
    fn schema() -> RefOr<Schema> {
        let key = || ObjectBuilder::new().schema_type(Type::String);
        let several = ArrayBuilder::new().items(key()).min_items(Some(1)).max_items(Some(KEYS_MAX));
        OneOfBuilder::new().item(key()).item(several).into()
    }
}

impl ToSchema for Fields {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ReportFields")
    }
}
