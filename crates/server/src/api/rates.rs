//! `/v1/rates`: how often providers approve (`docs/interface/rates.md`). An extension of the published interface.

use axum::Extension;
use axum::extract::State;
use regente_domain::card::{Brand, ShownBrand};
use regente_domain::currency::Currency;
use regente_domain::id::ClientId;
use regente_domain::payment_type::PaymentType;
use regente_domain::percentage::Percentage;
use regente_domain::provider_type::{ProviderType, ShownProviderType};
use regente_domain::rates::band_start;
use regente_domain::time::Timestamp;
use regente_engine::caller::Caller;
use regente_engine::error::Error;
use regente_engine::rates::{self, Rates};
use regente_store::rates::{Dimension, RateFilter};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;
use uuid::Uuid;

use super::query::{Parameters, Query, given};
use super::schema::words;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors};

/// Most hours of one question.
const HOURS_MAX: i64 = 31 * 24;
/// Hours of a question that names no time.
const HOURS_DEFAULT: i64 = 24;

/// The words of `groupBy`.
const DIMENSIONS: [(&str, Dimension); 8] = [
    ("hour", Dimension::Hour),
    ("merchantId", Dimension::Merchant),
    ("providerId", Dimension::Provider),
    ("providerType", Dimension::ProviderType),
    ("paymentType", Dimension::PaymentType),
    ("brand", Dimension::Brand),
    ("cardBin", Dimension::Bin),
    ("amountBand", Dimension::AmountBand),
];

/// Rates of a number of hours.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = RateList, example = json!({
    "from": "2026-11-28T00:00:00.000Z", "to": "2026-11-29T00:00:00.000Z",
    "items": [{
        "hour": null, "merchantId": null, "providerId": null, "providerType": "SANDBOX", "paymentType": null,
        "brand": null, "cardBin": null, "currency": null, "amountFrom": null, "amountBelow": null,
        "tried": 120, "approved": 100, "declined": 15, "failed": 3, "unpaid": 0, "waiting": 2, "unknown": 1,
        "approvalRate": 84.75, "approvalRateFrom": 77.18, "approvalRateTo": 90.13,
        "declines": [{ "declinedCode": "insufficient_funds", "times": 15 }], "latencyP50": 256, "latencyP95": 1024
    }]
}))]
pub struct RateListView {
    /// The beginning of the first hour.
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    /// The end of the last hour.
    #[schema(value_type = String, format = DateTime)]
    pub to: Timestamp,
    /// One entry for each group that has tries.
    pub items: Vec<RatesView>,
}

/// What became of tries that have something in common. What they are not grouped by is null.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Rates)]
pub struct RatesView {
    /// The beginning of the hour.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub hour: Option<Timestamp>,
    /// The merchant.
    #[schema(required = true)]
    pub merchant_id: Option<Uuid>,
    /// The configured provider.
    #[schema(required = true)]
    pub provider_id: Option<Uuid>,
    /// The type of the provider.
    #[schema(value_type = Option<ShownProviderType>, required = true)]
    pub provider_type: Option<String>,
    /// The payment type.
    #[schema(value_type = Option<PaymentType>, required = true)]
    pub payment_type: Option<String>,
    /// The brand of the card; empty without a card.
    #[schema(required = true)]
    pub brand: Option<String>,
    /// The first six digits of the card; empty without a card.
    #[schema(required = true)]
    pub card_bin: Option<String>,
    /// The currency of the band of amounts.
    #[schema(value_type = Option<Currency>, required = true)]
    pub currency: Option<String>,
    /// The smallest amount of the band, in minor units.
    #[schema(required = true)]
    pub amount_from: Option<i64>,
    /// Above the largest amount of the band, in minor units.
    #[schema(required = true)]
    pub amount_below: Option<i64>,
    /// Tries that were answered or whose outcome was found.
    pub tried: i64,
    /// Approved by the provider.
    pub approved: i64,
    /// Declined by the provider.
    pub declined: i64,
    /// The provider was not reached, or has done nothing.
    pub failed: i64,
    /// The payer did not follow the instructions.
    pub unpaid: i64,
    /// The payer may still follow the instructions.
    pub waiting: i64,
    /// How many of them were unknown for a while.
    pub unknown: i64,
    /// Percent of the tries that have ended, which were approved; null when none has.
    #[schema(value_type = Option<f64>, required = true)]
    pub approval_rate: Option<Number>,
    /// The lower end of its interval of 95 % (Wilson).
    #[schema(value_type = Option<f64>, required = true)]
    pub approval_rate_from: Option<Number>,
    /// The upper end of its interval of 95 %.
    #[schema(value_type = Option<f64>, required = true)]
    pub approval_rate_to: Option<Number>,
    /// Refusals by their code, in the order of the codes.
    pub declines: Vec<DeclinesView>,
    /// Half of the calls took less than this, in milliseconds; an estimate, at most twice as long.
    #[schema(required = true)]
    pub latency_p50: Option<i64>,
    /// 95 of 100 calls took less than this, in milliseconds; an estimate, at most twice as long.
    #[schema(required = true)]
    pub latency_p95: Option<i64>,
}

/// How often a refusal had a code.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RateDeclines)]
pub struct DeclinesView {
    /// The code.
    #[schema(value_type = words::DeclinedCode)]
    pub declined_code: String,
    /// How often.
    pub times: i64,
}

impl From<Rates> for RatesView {
    fn from(rates: Rates) -> Self {
        let (p50, p95, approval) = (rates.latency(50), rates.latency(95), rates.approval());
        let Rates { group, tried, approved, declined, failed, unpaid, waiting, unknown, declines, .. } =
            rates;
        let shown = |code: String| ProviderType::parse(&code).map_or(code, |of| of.shown().to_owned());
        Self {
            hour: group.hour.map(Timestamp::of_hour),
            merchant_id: group.merchant_id.map(|id| id.uuid()),
            provider_id: group.provider_id.map(|id| id.uuid()),
            provider_type: group.provider_type.map(shown),
            payment_type: group.payment_type,
            brand: group.brand,
            card_bin: group.bin.map(|bin| if bin == 0 { String::new() } else { format!("{bin:06}") }),
            currency: group.currency,
            amount_from: group.band.map(|band| if band == 0 { 0 } else { band_start(band) }),
            amount_below: group.band.map(|band| band_start(band + 1)),
            tried,
            approved,
            declined,
            failed,
            unpaid,
            waiting,
            unknown,
            approval_rate: approval.and_then(|approval| number(approval.rate)),
            approval_rate_from: approval.and_then(|approval| number(approval.low)),
            approval_rate_to: approval.and_then(|approval| number(approval.high)),
            declines: declines
                .into_iter()
                .map(|(declined_code, times)| DeclinesView { declined_code, times })
                .collect(),
            latency_p50: p50,
            latency_p95: p95,
        }
    }
}

fn number(percentage: Percentage) -> Option<Number> {
    percentage.to_string().parse().ok()
}

/// Tells rates of approval.
///
/// Of the last 24 hours unless `from` or `to` says otherwise, by whole hours in UTC in which the tries were made.
#[utoipa::path(
    get, path = "/v1/rates", operation_id = "listRates", tag = "Rates",
    params(
        ("from" = Option<String>, Query, description = "The hour of this moment is the first."),
        ("to" = Option<String>, Query, description = "Hours that begin before this moment; at most 31 days after `from`."),
        ("groupBy" = Option<Vec<String>>, Query, description = "`hour`, `merchantId`, `providerId`, `providerType`, `paymentType`, `brand`, `cardBin`, `amountBand`; repeated, or separated by commas."),
        ("merchantId" = Option<String>, Query, description = "Ids of merchants."),
        ("providerId" = Option<String>, Query, description = "Ids of providers."),
        ("providerType" = Option<Vec<ShownProviderType>>, Query, description = "Types of the provider; repeated, or separated by commas."),
        ("paymentType" = Option<Vec<PaymentType>>, Query, description = "Payment types; repeated, or separated by commas."),
        ("brand" = Option<Vec<ShownBrand>>, Query, description = "Brands; repeated, or separated by commas."),
        ("cardBin" = Option<String>, Query, description = "The first six digits of the card."),
        ("currency" = Option<Currency>, Query, description = "The currency."),
        ("firstTry" = Option<bool>, Query, description = "Only tries at the first provider of the charge's route, or only those after them."),
    ),
    responses((status = 200, description = "The rates.", body = RateListView), CommonErrors),
)]
pub async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<axum::Json<RateListView>, ApiError> {
    Ok(axum::Json(tell(&app, caller.client_id, &query).await?))
}

/// The rates of a client.
///
/// # Errors
/// What is wrong with the parameters, and [`Error`].
pub async fn tell(app: &App, client_id: ClientId, query: &Query) -> Result<RateListView, Error> {
    let now = app.clock.of(client_id);
    let (filter, by) =
        query.read(|parameters| (filter(parameters, now), parameters.one_of("groupBy", &DIMENSIONS)))?;
    let found = rates::of(app, client_id, &filter, &by).await?;
    let items = match found {
        Some(found) => found.into_iter().map(RatesView::from).collect(),
        None => {
            query.read(|parameters| {
                parameters
                    .problem("groupBy", "makes more groups than one answer can have: ask for fewer hours");
            })?;
            Vec::new()
        }
    };
    let (from, to) = (Timestamp::of_hour(filter.hours.start), Timestamp::of_hour(filter.hours.end));
    Ok(RateListView { from, to, items })
}

fn filter(parameters: &Parameters<'_>, now: Timestamp) -> RateFilter {
    let (from, to) = (parameters.moment("from"), parameters.moment("to"));
    let to_hour = to.map(|to| Timestamp::from_millis(to.as_millis().saturating_sub(1)).hour() + 1);
    let end = match (from, to_hour) {
        (_, Some(to)) => to,
        (Some(from), None) => (now.hour() + 1).min(from.hour() + HOURS_MAX),
        (None, None) => now.hour() + 1,
    };
    let start = from.map_or(end - HOURS_DEFAULT, Timestamp::hour);
    if start > end {
        parameters.problem("to", "must not be before from");
    } else if end - start > HOURS_MAX {
        parameters.problem("to", "must be at most 31 days after from");
    }
    let currencies: Vec<(&str, Currency)> =
        Currency::all().map(|currency| (currency.code(), currency)).collect();
    let brands = Brand::ALL.map(|brand| (brand.name(), brand.name()));
    let types: Vec<ProviderType> = parameters.one_of("providerType", &ProviderType::all_shown());
    let methods: Vec<PaymentType> = parameters.one_of("paymentType", PaymentType::WORDS);
    let bin = parameters.text("cardBin", 6).and_then(|text| {
        let is_bin = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_bin {
            parameters.problem("cardBin", "must have 6 digits");
        }
        text.parse().ok().filter(|_| is_bin)
    });
    RateFilter {
        hours: start..end,
        merchants: given(parameters.ids("merchantId")),
        providers: given(parameters.ids("providerId")),
        provider_types: given(types.into_iter().map(ProviderType::code).collect()),
        payment_types: given(methods.into_iter().map(PaymentType::word).collect()),
        brands: given(parameters.one_of("brand", &brands)),
        bin,
        currency: parameters.choice("currency", &currencies).map(Currency::code),
        band: None,
        is_first: parameters.boolean("firstTry"),
    }
}
