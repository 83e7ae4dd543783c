//! What is sent of providers, as structs that read themselves. What their adapters demand of `options`, and whether simulators
//! are allowed, is not known here. Credentials are secrets: nothing of this is printed.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde_json::{Map, Value as Json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::money::Amount;
use crate::problems::Problems;
use crate::provider_type::{ProviderType, stored_spelling, validate_credentials};
use crate::text::chars_max;
use crate::wire::{
    Integer, List, Object, Patch, Path, Text, Verbatim, VerbatimObject, not_among, read_with, refused,
};

/// The most bytes of `credentials`: enough for a few certificates in Base64.
const CREDENTIALS_BYTES_MAX: usize = 256 * 1024;
/// The most bytes of `options` or `acquirer`.
const OPTIONS_BYTES_MAX: usize = 64 * 1024;
/// The most entries of `acquirer.bin`.
const ACQUIRER_BINS_MAX: usize = 100;

const MERCHANT_ID: &str = "merchantId";

type Name = Text<1, { chars_max::NAME }>;
type Priority = Integer<0, { Amount::MINOR_UNITS_MAX }>;
type Identifier = Verbatim<1, { chars_max::LINE }>;
type Line = Text<1, { chars_max::LINE }>;
type Options = Object<OPTIONS_BYTES_MAX>;
type Credentials = VerbatimObject<CREDENTIALS_BYTES_MAX>;
type Bins = List<AcquirerBin, 0, ACQUIRER_BINS_MAX>;

/// A provider to be created.
#[derive(Deserr, ToSchema)]
#[deserr(error = Problems)]
pub struct NewProvider {
    /// A free label.
    #[schema(value_type = String, min_length = 1, max_length = 256, example = "Main")]
    pub name: Name,
    /// 1 is asked first.
    #[schema(value_type = i64, minimum = 0, maximum = 9_007_199_254_740_991_i64, example = 1)]
    pub priority: Priority,
    /// How the merchant is known to the provider.
    pub credentials: NewCredentials,
    /// Options of the types that have any.
    #[deserr(default)]
    pub options: Option<Options>,
    /// Ids at the acquirer for authentication.
    #[deserr(default)]
    pub acquirer: Option<Acquirer>,
}

/// Changes of a provider; what is absent stays.
#[derive(Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(example = json!({
    "name": "PagSeguro main", "credentials": { "type": "PAGSEGURO", "token": "NEWTOKEN", "email": "pay@example.com" }
}))]
pub struct ProviderChanges {
    /// A free label.
    #[deserr(default)]
    pub name: Option<Name>,
    /// 1 is asked first.
    #[deserr(default)]
    pub priority: Option<Priority>,
    /// The members that change. `type`, when it is sent, is the type that the provider has. A value as an answer shows
    /// it (masked) changes nothing; null removes a member that is not required.
    #[deserr(default)]
    pub credentials: Option<Credentials>,
    /// New options as a whole; null removes them.
    #[deserr(default)]
    #[schema(value_type = Option<Options>)]
    pub options: Patch<Options>,
    /// New ids at the acquirer as a whole; null removes them.
    #[deserr(default)]
    #[schema(value_type = Option<Acquirer>)]
    pub acquirer: Patch<Acquirer>,
}

/// The credentials of a new provider, as they are stored.
pub struct NewCredentials {
    /// The type of the provider.
    pub provider_type: ProviderType,
    /// The members, the type among them.
    pub members: Map<String, Json>,
}

impl NewCredentials {
    /// The type that credentials name, as they were sent.
    pub fn type_in(sent: &Json) -> Option<ProviderType> {
        sent.get("type").and_then(Json::as_str).and_then(ProviderType::parse_shown)
    }
}

impl Deserr<Problems> for NewCredentials {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: Credentials = Deserr::deserialize_from_value(value, location)?;
        let sent = Json::Object(sent.into_members());
        let provider_type = Self::type_in(&sent).ok_or_else(|| {
            let codes = ProviderType::all().map(ProviderType::shown);
            refused(location.push_key("type"), not_among(codes))
        })?;
        let Json::Object(mut members) = sent else { return Err(refused(location, "must be an object")) };
        members.insert("type".to_owned(), provider_type.code().into());
        let members = stored_spelling(provider_type, members);
        validate_credentials(provider_type, &members, &Path(location).to_string())?;
        Ok(Self { provider_type, members })
    }
}

/// Credentials: the type of the provider, and the members that this type needs, all of them strings. Members that no
/// type needs are kept.
#[derive(ToSchema)]
#[schema(as = NewCredentials, rename_all = "camelCase", example = json!({ "type": "SANDBOX", "apiKey": "any" }))]
#[expect(dead_code, reason = "describes credentials of any type in the OpenAPI document")]
struct AnyCredentials {
    /// The code of the provider type.
    #[schema(rename = "type", example = "SANDBOX")]
    kind: String,
    /// What `SANDBOX` takes, and some others; the members differ by type.
    #[schema(example = "any")]
    api_key: Option<String>,
}

impl PartialSchema for NewCredentials {
    fn schema() -> RefOr<Schema> {
        AnyCredentials::schema()
    }
}

impl ToSchema for NewCredentials {
    fn name() -> Cow<'static, str> {
        AnyCredentials::name()
    }
}

/// The ids at the acquirer, as sent (`docs/interface/merchants-and-providers.md#acquirer`).
#[derive(Clone)]
pub struct Acquirer(pub Map<String, Json>);

/// Ids at the acquirer: `merchantId` for all brands, or one in each entry of `bin`, which wins.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = Acquirer, rename_all = "camelCase")]
#[expect(dead_code, reason = "what is sent is checked by it, and kept as it is")]
struct AcquirerIds {
    /// The id for all brands; required unless each entry of `bin` has one.
    #[deserr(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255, example = "2222222222")]
    merchant_id: Option<Identifier>,
    /// What is known for each brand.
    #[deserr(default)]
    bin: Option<Bins>,
}

/// What the acquirer knows of one brand.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "what is sent is checked by it, and kept as it is")]
struct AcquirerBin {
    /// The id for this brand; required unless there is one for all brands.
    #[deserr(default)]
    merchant_id: Option<Identifier>,
    /// The brand.
    #[deserr(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255, example = "Mastercard")]
    brand: Option<Line>,
    /// The acquirer's BIN.
    #[deserr(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255, example = "550259")]
    value: Option<Line>,
}

impl Deserr<Problems> for Acquirer {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: VerbatimObject<OPTIONS_BYTES_MAX> = Deserr::deserialize_from_value(value, location)?;
        let members = sent.into_members();
        let look = |members: &Map<String, Json>, problems: &mut Problems| {
            if !members.contains_key(MERCHANT_ID) {
                each_has_its_own(members.get("bin"), location, problems);
            }
        };
        let _: AcquirerIds = read_with(Json::Object(members.clone()).into_value(), location, look)?;
        Ok(Self(members))
    }
}

/// Without an id for all brands, each entry has one.
fn each_has_its_own(bin: Option<&Json>, location: ValuePointerRef<'_>, problems: &mut Problems) {
    let location = location.push_key("bin");
    let Some(bin) = bin else { return problems.extend(refused(location, "should not be empty")) };
    let entries = bin.as_array().map(Vec::as_slice).unwrap_or_default();
    if bin.is_array() && entries.is_empty() {
        problems.extend(refused(location, "must contain at least 1 elements"));
    }
    for (index, entry) in entries.iter().enumerate().take(ACQUIRER_BINS_MAX) {
        let entry_at = location.push_index(index);
        if entry.is_object() && entry.get(MERCHANT_ID).is_none_or(Json::is_null) {
            problems.extend(refused(entry_at.push_key(MERCHANT_ID), "should not be empty"));
        }
    }
}

impl PartialSchema for Acquirer {
    fn schema() -> RefOr<Schema> {
        AcquirerIds::schema()
    }
}

impl ToSchema for Acquirer {
    fn name() -> Cow<'static, str> {
        AcquirerIds::name()
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        AcquirerIds::schemas(found);
    }
}
