//! Lists sellers with every filter of `docs/interface/sellers.md#listing`.

use regente_domain::id::{ClientId, MerchantId, SellerId};
use regente_domain::seller::SellerStatus;

use super::{LookupKey, StoredSeller, columns, from_row};
use crate::customers::{Order, Slice};
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

// PostgreSQL cannot guess the type of an argument that is only compared with NULL, hence the casts.
macro_rules! filtered {
    () => {
        " FROM sellers WHERE client_id = :client_id AND deleted_at IS NULL \
           AND (CAST(:ids AS JSONB) IS NULL OR id IN EACH_UUID(:ids)) \
           AND (CAST(:merchants AS JSONB) IS NULL OR merchant_id IN EACH_UUID(:merchants)) \
           AND (CAST(:statuses AS JSONB) IS NULL OR status IN EACH_TEXT(:statuses)) \
           AND (CAST(:business_name AS TEXT) IS NULL OR business_name LIKE :business_name ESCAPE '\\') \
           AND (CAST(:email_key AS BYTEA) IS NULL OR owner_email_key = :email_key \
             OR business_email_key = :email_key)"
    };
}

sql! {
    /// A page of sellers, newest first.
    LIST_SELLERS_DESC =
        concat!("SELECT ", columns!(), filtered!(), " ORDER BY id DESC LIMIT :limit OFFSET :offset");
    /// A page of sellers, oldest first.
    LIST_SELLERS_ASC =
        concat!("SELECT ", columns!(), filtered!(), " ORDER BY id ASC LIMIT :limit OFFSET :offset");
    /// Counts them.
    COUNT_SELLERS = concat!("SELECT COUNT(*) AS n", filtered!());
}

/// The filter of a list. An absent member means all.
#[derive(Clone, Debug, Default)]
pub struct SellerFilter {
    /// Ids.
    pub ids: Option<Vec<SellerId>>,
    /// Merchants.
    pub merchants: Option<Vec<MerchantId>>,
    /// Statuses.
    pub statuses: Option<Vec<SellerStatus>>,
    /// A part of the name of the company, in lower case.
    pub business_name: Option<String>,
    /// Digest of the e-mail address of the owner or of the company.
    pub email: Option<LookupKey>,
}

impl SellerFilter {
    fn args(&self, client_id: ClientId) -> Args {
        args! {
            client_id,
            ids: Json::list(self.ids.as_deref(), ToString::to_string),
            merchants: Json::list(self.merchants.as_deref(), ToString::to_string),
            statuses: Json::list(self.statuses.as_deref(), |status| status.word().to_owned()),
            business_name: self.business_name.as_deref().map(containing),
            email_key: self.email,
        }
    }
}

/// The pattern of what contains this text.
fn containing(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

/// A page of the live sellers of a client.
///
/// # Errors
/// As [`Store::rows`]; [`StoreError::Corrupt`] when one cannot be read.
pub async fn page(
    store: &Store,
    client_id: ClientId,
    filter: &SellerFilter,
    slice: Slice,
) -> Result<Vec<StoredSeller>, StoreError> {
    let args = filter.args(client_id).with("limit", slice.limit).with("offset", slice.offset);
    let list = match slice.order {
        Order::NewestFirst => &LIST_SELLERS_DESC,
        Order::OldestFirst => &LIST_SELLERS_ASC,
    };
    store.rows(list, args).await?.iter().map(from_row).collect()
}

/// How many live sellers of a client match.
///
/// # Errors
/// As [`Store::rows`].
pub async fn count(store: &Store, client_id: ClientId, filter: &SellerFilter) -> Result<u64, StoreError> {
    let found = store.row(&COUNT_SELLERS, filter.args(client_id)).await?;
    found.map_or(Ok(0), |row| row.get("n"))
}
