//! `threeDSecure2`: what a merchant sends about a cardholder and their browser, with the names of the interface
//! (`docs/interface/charges.md#3-d-secure`). It is personal: charges hold it sealed.

use std::fmt;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Schema, Type};

use super::page_address::{PageAddress, ShownAddress, address};
use crate::id::AuthenticationSetupId;
use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::tagged::peek;
use crate::wire::{CardData, EmailAddress, Integer, Text, Verbatim, read_with, refused};

const MPI: &str = "mpi";
const CAVV: &str = "cavv";

/// Pixels of a screen and bits of a color.
type Count = Integer<0, 1_000_000>;
type Long = Text<1, { chars_max::FREE }>;
type LongOrEmpty = Text<0, { chars_max::FREE }>;
type Line = Text<1, { chars_max::LINE }>;
type Identifier = Verbatim<0, { chars_max::LINE }>;

/// How the cardholder is authenticated. With `setupId`, a 3DS server is asked; without it, the payment provider
/// authenticates; with `mpi`, the merchant has done it.
#[skip_serializing_none]
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewThreeDSecure)]
#[expect(missing_docs, reason = "the types of some members say it")]
pub struct ThreeDSecure {
    /// Of `POST /v1/charges/3ds/setup`.
    #[deserr(default)]
    pub setup_id: Option<AuthenticationSetupId>,
    /// Share data with the scheme without authenticating.
    #[deserr(default)]
    pub data_only: Option<bool>,
    /// Go on only when the issuer is liable.
    #[deserr(default, from(Option<BooleanOrText>) = truth)]
    #[schema(schema_with = boolean_or_text)]
    pub requires_liability_shift: Option<bool>,
    /// Where the buyer returns. Required without `mpi`.
    #[serde(rename = "redirectURL")]
    #[deserr(rename = "redirectURL", default, from(Option<PageAddress>) = address)]
    #[schema(value_type = Option<ShownAddress>)]
    pub redirect_url: Option<String>,
    /// The merchant's site. Required without `mpi`.
    #[serde(rename = "requestorURL")]
    #[deserr(rename = "requestorURL", default, from(Option<PageAddress>) = address)]
    #[schema(value_type = Option<ShownAddress>)]
    pub requestor_url: Option<String>,
    /// Required without `mpi`.
    #[deserr(default)]
    pub browser: Option<Browser>,
    #[deserr(default)]
    pub billing_address: Option<AddressData>,
    #[deserr(default)]
    pub shipping_address: Option<AddressData>,
    #[deserr(default)]
    pub card_holder: Option<CardHolderData>,
    #[deserr(default)]
    pub mpi: Option<Mpi>,
}

/// Omits all personal data.
impl fmt::Debug for ThreeDSecure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreeDSecure").finish_non_exhaustive()
    }
}

/// Such data as sent, whose members go together.
pub(crate) struct SentThreeDSecure(pub(super) ThreeDSecure);

impl Deserr<Problems> for SentThreeDSecure {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        read_with(value, at, |members, problems| look(members, at, problems)).map(Self)
    }
}

/// With the result of a 3DS server of the merchant nothing else is needed, and some of it contradicts it.
fn look(members: &Map<String, Json>, at: ValuePointerRef<'_>, problems: &mut Problems) {
    let mut refuse = |name: &str, rule: &str| problems.extend(refused(at.push_key(name), rule));
    if !members.contains_key(MPI) {
        let needed = ["redirectURL", "requestorURL", "browser"].into_iter();
        needed
            .filter(|name| !members.contains_key(*name))
            .for_each(|name| refuse(name, "should not be empty"));
        return;
    }
    if members.contains_key("setupId") {
        refuse("setupId", "must not be sent together with mpi");
    }
    let data = Told(members);
    if data.shares_data_alone() {
        refuse("dataOnly", "must not be true together with mpi");
    }
    let Some(mpi) = data.mpi().filter(|_| data.must_shift()) else { return };
    if !mpi.says_authenticated() {
        refuse("requiresLiabilityShift", "must be false with this mpi.transStatus");
    } else if !mpi.is_proven() {
        let at = at.push_key(MPI);
        problems
            .extend(refused(at.push_key(CAVV), "should not be empty: it is what makes the issuer liable"));
    }
}

/// What data as sent say, also where something is wrong with others of them.
pub(super) struct Told<'a>(pub(super) &'a Map<String, Json>);

impl<'a> Told<'a> {
    pub(super) fn shares_data_alone(&self) -> bool {
        self.0.get("dataOnly") == Some(&Json::Bool(true))
    }

    pub(super) fn must_shift(&self) -> bool {
        truth(peek(self.0, "requiresLiabilityShift")) == Some(true)
    }

    pub(super) fn mpi(&self) -> Option<ToldMpi<'a>> {
        self.0.get(MPI)?.as_object().map(ToldMpi)
    }
}

/// The same of a result.
pub(super) struct ToldMpi<'a>(&'a Map<String, Json>);

impl ToldMpi<'_> {
    pub(super) fn says_authenticated(&self) -> bool {
        self.0.get("transStatus").and_then(Json::as_str).is_some_and(is_authenticated)
    }

    pub(super) fn is_proven(&self) -> bool {
        peek::<Identifier>(self.0, CAVV).is_some_and(|cavv| !cavv.is_empty())
    }
}

/// The browser of the cardholder.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = AuthenticationBrowser)]
#[expect(missing_docs, reason = "the members of EMV 3-D Secure, under their own names")]
pub struct Browser {
    #[deserr(from(Long) = Text::into_string)]
    pub accept_header: String,
    #[deserr(from(Count) = Integer::get)]
    pub color_depth: i64,
    pub java_enabled: bool,
    #[deserr(default)]
    pub java_script_enabled: Option<bool>,
    #[deserr(from(Long) = Text::into_string)]
    pub language: String,
    #[deserr(from(Count) = Integer::get)]
    pub screen_height: i64,
    #[deserr(from(Count) = Integer::get)]
    pub screen_width: i64,
    /// Minutes, as a text.
    #[deserr(from(Long) = Text::into_string)]
    pub time_zone_offset: String,
    #[deserr(from(Long) = Text::into_string)]
    pub user_agent: String,
    #[deserr(from(Long) = Text::into_string)]
    pub ip: String,
    #[deserr(default, from(Option<LongOrEmpty>) = Text::given)]
    pub accept_browser_value: Option<String>,
    #[deserr(default, from(Option<LongOrEmpty>) = Text::given)]
    pub accept_content: Option<String>,
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = AuthenticationAddress)]
#[expect(missing_docs, reason = "the names say it")]
pub struct AddressData {
    #[deserr(from(Line) = Text::into_string)]
    pub city: String,
    #[deserr(from(Line) = Text::into_string)]
    pub country: String,
    #[deserr(from(TextOrNumber) = TextOrNumber::into_text)]
    #[schema(schema_with = text_or_number)]
    pub street_number: String,
    #[deserr(from(Line) = Text::into_string)]
    pub zip_code: String,
    #[deserr(from(Line) = Text::into_string)]
    pub state: String,
    #[deserr(from(Line) = Text::into_string)]
    pub street: String,
}

/// The cardholder.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = AuthenticationCardHolder)]
#[expect(missing_docs, reason = "the names say it")]
pub struct CardHolderData {
    #[deserr(from(EmailAddress) = EmailAddress::into_string)]
    #[schema(format = Email)]
    pub email: String,
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    pub mobile_phone: Option<String>,
}

/// The result of a 3DS server of the merchant.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[expect(missing_docs, reason = "the members of EMV 3-D Secure, under their own names")]
pub struct Mpi {
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    pub acs_transaction_id: Option<String>,
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    pub cavv: Option<String>,
    #[deserr(default)]
    pub challenged: Option<bool>,
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    pub directory_server_transaction_id: Option<String>,
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    pub eci: Option<String>,
    #[serde(rename = "threeDSServerTransactionId")]
    #[deserr(rename = "threeDSServerTransactionId", default, from(Option<Identifier>) = Verbatim::given)]
    pub three_ds_server_transaction_id: Option<String>,
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    pub trans_status: Option<String>,
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    pub version: Option<String>,
    #[deserr(default, from(Option<Identifier>) = Verbatim::given)]
    pub xid: Option<String>,
}

impl Mpi {
    /// Whether it says that the cardholder was authenticated, or that the attempt was (EMV 3-D Secure, `transStatus`).
    pub fn says_authenticated(&self) -> bool {
        self.trans_status.as_deref().is_some_and(is_authenticated)
    }

    /// What proves it to the issuer. Without it nothing of the result is sent to a provider.
    pub fn proof(&self) -> Option<&str> {
        self.cavv.as_deref().filter(|cavv| !cavv.is_empty())
    }
}

fn is_authenticated(trans_status: &str) -> bool {
    matches!(trans_status, "Y" | "A")
}

/// `true` or `false`, or either as text.
struct BooleanOrText(bool);

impl Deserr<Problems> for BooleanOrText {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: Json = Deserr::<Problems>::deserialize_from_value(value, at)?;
        let truth = match sent.as_str() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) | None => sent.as_bool(),
        };
        truth.map(Self).ok_or_else(|| refused(at, "must be a boolean"))
    }
}

fn boolean_or_text() -> Schema {
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::Boolean))
        .item(ObjectBuilder::new().schema_type(Type::String).pattern(Some("^(true|false)$")))
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("Go on only when the issuer is liable; a boolean, or its text."))
        .into()
}

/// A text, or a number, which becomes a text.
struct TextOrNumber(String);

impl TextOrNumber {
    fn into_text(self) -> String {
        self.0
    }
}

impl Deserr<Problems> for TextOrNumber {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: Json = Deserr::<Problems>::deserialize_from_value(value, at)?;
        let text = match &sent {
            Json::Number(number) => Some(number.to_string()),
            Json::String(text) if !text.is_empty() && text.chars().count() <= chars_max::LINE => {
                Some(text.clone())
            }
            Json::Null => return Err(refused(at, "should not be empty")),
            Json::String(_) | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
        };
        let text = text.ok_or_else(|| refused(at, "must be a text or a number"))?;
        let mut found = CardData::default();
        found.look_at(&sent, at);
        found.into_problems().into_result().map(|()| Self(text))
    }
}

fn text_or_number() -> Schema {
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)))
        .item(ObjectBuilder::new().schema_type(Type::Number))
        .description(Some("A text or a number; shown as a text."))
        .into()
}

fn truth(sent: Option<BooleanOrText>) -> Option<bool> {
    sent.map(|BooleanOrText(truth)| truth)
}

/// The data that may have been sent.
pub(crate) fn of_sent(sent: Option<SentThreeDSecure>) -> Option<Box<ThreeDSecure>> {
    sent.map(|SentThreeDSecure(data)| Box::new(data))
}
