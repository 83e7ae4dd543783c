//! Reads and deletes what is counted of tries: [`regente_domain::rates`] says what, and the writer of a commit sums it
//! (`store/src/group.rs`). A question costs the rows of its hours.

use std::ops::Range;

use regente_domain::flow::{CountedHour, Group as Comparable};
use regente_domain::id::{ClientId, MerchantId, ProviderId};

use crate::accounts::{Accounts, listed};
use crate::batch::Batch;
use crate::row::Row;
use crate::value::Json;
use crate::{Store, StoreError, args, sql};

sql! {
    /// What is counted in hours, by what it is grouped by; a column that is not grouped by is null.
    RATES = "
        SELECT CASE WHEN CAST(:by_hour AS BIGINT) = 1 THEN hour END AS hour,
            CASE WHEN CAST(:by_merchant AS BIGINT) = 1 THEN merchant_id END AS merchant_id,
            CASE WHEN CAST(:by_provider AS BIGINT) = 1 THEN provider_id END AS provider_id,
            CASE WHEN CAST(:by_provider_type AS BIGINT) = 1 THEN provider_type END AS provider_type,
            CASE WHEN CAST(:by_payment_type AS BIGINT) = 1 THEN payment_type END AS payment_type,
            CASE WHEN CAST(:by_brand AS BIGINT) = 1 THEN brand END AS brand,
            CASE WHEN CAST(:by_bin AS BIGINT) = 1 THEN bin END AS bin,
            CASE WHEN CAST(:by_band AS BIGINT) = 1 THEN currency END AS currency,
            CASE WHEN CAST(:by_band AS BIGINT) = 1 THEN band END AS band,
            counted, code, latency, known, CAST(SUM(n) AS BIGINT) AS n
        FROM rates
        WHERE client_id = :client_id AND hour >= :from_hour AND hour < :to_hour
          AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants))
          AND (CAST(:providers AS JSONB) IS NULL OR provider_id IN EACH_UUID(:providers))
          AND (CAST(:provider_types AS JSONB) IS NULL OR provider_type IN EACH_TEXT(:provider_types))
          AND (CAST(:payment_types AS JSONB) IS NULL OR payment_type IN EACH_TEXT(:payment_types))
          AND (CAST(:brands AS JSONB) IS NULL OR brand IN EACH_TEXT(:brands))
          AND (CAST(:bin AS BIGINT) IS NULL OR bin = CAST(:bin AS BIGINT))
          AND (CAST(:currency AS TEXT) IS NULL OR currency = CAST(:currency AS TEXT))
          AND (CAST(:band AS BIGINT) IS NULL OR band = CAST(:band AS BIGINT))
          AND (CAST(:first_try AS BIGINT) IS NULL OR first_try = CAST(:first_try AS BIGINT))
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
        ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 LIMIT :limit";
    /// First tries by one payment type at some providers that have ended, by hour, brand and band: the latest hours first.
    RATES_TO_LEARN = "
        SELECT hour, provider_id, brand, currency, band,
            CAST(SUM(CASE WHEN counted IN ('approved', 'paid') THEN n ELSE 0 END) AS BIGINT) AS approved,
            CAST(SUM(CASE WHEN counted = 'instructed' THEN 0 ELSE n END) AS BIGINT) AS ended
        FROM rates
        WHERE client_id = :client_id AND hour >= :from_hour AND hour < :to_hour
          AND provider_id IN EACH_UUID(:providers) AND payment_type = :payment_type AND first_try = 1
        GROUP BY hour, provider_id, brand, currency, band
        ORDER BY hour DESC, provider_id, brand, currency, band LIMIT :limit";
    /// Clients with rates of hours before one, except some: a look into the key for each client. A distributed database takes no
    /// subquery that depends on a client.
    CLIENTS_WITH_OLD_RATES = "
        SELECT c.id AS client_id FROM clients c JOIN rates r ON r.client_id = c.id AND r.hour < :hour
        WHERE REACHABLE(r.client_id) AND c.id NOT IN EACH_UUID(:apart)
        GROUP BY c.id ORDER BY c.id LIMIT :limit";
    /// The same of one client.
    CLIENT_WITH_OLD_RATES = "
        SELECT client_id FROM rates WHERE client_id = :client_id AND hour < :hour LIMIT 1";
    /// Deletes the first rates of hours before one.
    PURGE_RATES = "
        DELETE FROM rates
        WHERE client_id = :client_id AND hour < :hour
          AND (hour, provider_id, payment_type, brand, bin, currency, band, counted, code, latency, known, first_try,
            stripe) IN (
            SELECT hour, provider_id, payment_type, brand, bin, currency, band, counted, code, latency, known, first_try,
                stripe
            FROM rates WHERE client_id = :client_id AND hour < :hour
            ORDER BY hour, provider_id, payment_type, brand, bin, currency, band, counted, code, latency, known,
                first_try, stripe
            LIMIT :limit)";
}

/// Which tries are asked for. An absent filter means all.
#[derive(Clone, Debug, Default)]
pub struct RateFilter {
    /// Hours since the epoch.
    pub hours: Range<i64>,
    /// Merchants.
    pub merchants: Option<Vec<MerchantId>>,
    /// Configured providers.
    pub providers: Option<Vec<ProviderId>>,
    /// Codes of provider types.
    pub provider_types: Option<Vec<&'static str>>,
    /// Payment types.
    pub payment_types: Option<Vec<&'static str>>,
    /// Names of brands.
    pub brands: Option<Vec<&'static str>>,
    /// The first six digits.
    pub bin: Option<i64>,
    /// The currency.
    pub currency: Option<&'static str>,
    /// The band of amounts.
    pub band: Option<i64>,
    /// Whether the provider is the first of the charge's route.
    pub is_first: Option<bool>,
}

/// What rates are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Dimension {
    Hour,
    Merchant,
    Provider,
    ProviderType,
    PaymentType,
    Brand,
    Bin,
    AmountBand,
}

/// What a group has in common; what it is not grouped by is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Group {
    pub hour: Option<i64>,
    pub merchant_id: Option<MerchantId>,
    pub provider_id: Option<ProviderId>,
    pub provider_type: Option<String>,
    pub payment_type: Option<String>,
    pub brand: Option<String>,
    pub bin: Option<i64>,
    pub currency: Option<String>,
    pub band: Option<i64>,
}

/// A number of tries that ended alike.
#[derive(Clone, Debug)]
pub struct Tries {
    /// What they have in common.
    pub group: Group,
    /// The word of what is counted.
    pub counted: String,
    /// The code of their refusal, or empty.
    pub code: String,
    /// The bucket of how long their calls took, or -1.
    pub latency: i64,
    /// 1 when their outcome was unknown for a while.
    pub known: i64,
    /// How many.
    pub n: i64,
}

/// What is counted of a client, by groups in order, at most `limit` rows.
///
/// # Errors
/// [`StoreError`].
pub async fn read(
    store: &Store,
    client_id: ClientId,
    filter: &RateFilter,
    by: &[Dimension],
    limit: i64,
) -> Result<Vec<Tries>, StoreError> {
    let is_by = |dimension| i64::from(by.contains(&dimension));
    let words = |words: &Option<Vec<&'static str>>| Json::list(words.as_deref(), |word| (*word).to_owned());
    let args = args! {
        client_id,
        from_hour: filter.hours.start,
        to_hour: filter.hours.end,
        by_hour: is_by(Dimension::Hour),
        by_merchant: is_by(Dimension::Merchant),
        by_provider: is_by(Dimension::Provider),
        by_provider_type: is_by(Dimension::ProviderType),
        by_payment_type: is_by(Dimension::PaymentType),
        by_brand: is_by(Dimension::Brand),
        by_bin: is_by(Dimension::Bin),
        by_band: is_by(Dimension::AmountBand),
        merchants: Json::list(filter.merchants.as_deref(), ToString::to_string),
        providers: Json::list(filter.providers.as_deref(), ToString::to_string),
        provider_types: words(&filter.provider_types),
        payment_types: words(&filter.payment_types),
        brands: words(&filter.brands),
        bin: filter.bin,
        currency: filter.currency,
        band: filter.band,
        first_try: filter.is_first.map(i64::from),
        limit,
    };
    store.rows(&RATES, args).await?.iter().map(tries).collect()
}

fn tries(row: &Row) -> Result<Tries, StoreError> {
    Ok(Tries {
        group: Group {
            hour: row.get("hour")?,
            merchant_id: row.get("merchant_id")?,
            provider_id: row.get("provider_id")?,
            provider_type: row.get("provider_type")?,
            payment_type: row.get("payment_type")?,
            brand: row.get("brand")?,
            bin: row.get("bin")?,
            currency: row.get("currency")?,
            band: row.get("band")?,
        },
        counted: row.get("counted")?,
        code: row.get("code")?,
        latency: row.get("latency")?,
        known: row.get("known")?,
        n: row.get("n")?,
    })
}

/// At most `limit` of these accounts that have rates of hours before `hour`.
///
/// # Errors
/// [`StoreError`].
pub async fn clients_with_old(
    store: &Store,
    accounts: &Accounts,
    hour: i64,
    limit: i64,
) -> Result<Vec<ClientId>, StoreError> {
    let rows = match accounts {
        Accounts::AllBut(apart) => {
            store.rows(&CLIENTS_WITH_OLD_RATES, args! { apart: listed(apart), hour, limit }).await?
        }
        Accounts::One(client_id) => {
            store.rows(&CLIENT_WITH_OLD_RATES, args! { client_id: *client_id, hour }).await?
        }
    };
    rows.iter().map(|row| row.get("client_id")).collect()
}

/// Deletes at most `limit` rows of the batch's client of hours before `hour`.
pub fn purge(batch: &mut Batch, hour: i64, limit: i64) {
    let client_id = batch.client_id();
    batch.push_any(&PURGE_RATES, args! { client_id, hour, limit });
}

/// First tries of a client's charges by a payment type at these providers that have ended, in these hours: the latest `limit`
/// groups.
///
/// # Errors
/// [`StoreError`].
pub async fn to_learn(
    store: &Store,
    client_id: ClientId,
    providers: &[ProviderId],
    payment_type: &'static str,
    hours: Range<i64>,
    limit: i64,
) -> Result<Vec<CountedHour>, StoreError> {
    let args = args! {
        client_id,
        from_hour: hours.start,
        to_hour: hours.end,
        providers: Json::list(Some(providers), ToString::to_string),
        payment_type,
        limit,
    };
    let number = |row: &Row, column| -> Result<u32, StoreError> {
        Ok(u32::try_from(row.get::<i64>(column)?).unwrap_or(u32::MAX))
    };
    let counted = |row: &Row| {
        Ok(CountedHour {
            provider_id: row.get("provider_id")?,
            hour: row.get("hour")?,
            group: Comparable {
                brand: row.get("brand")?,
                currency: row.get("currency")?,
                band: row.get("band")?,
            },
            approved: number(row, "approved")?,
            ended: number(row, "ended")?,
        })
    };
    store.rows(&RATES_TO_LEARN, args).await?.iter().map(counted).collect()
}
