//! `threeDSecure2`, as it is sent (`docs/interface/charges.md#3-d-secure`).

use regente_domain::text::chars_max;
use regente_providers::authentication::{AddressData, Browser, CardHolderData, Mpi, ThreeDSecure};
use regente_providers::request::Mode;
use serde_json::Value;
use url::Url;

use crate::api::fields::{Field, Fields};

/// Pixels of a screen and bits of a color.
const NUMBER_MAX: i64 = 1_000_000;

/// Who says whether the liability must shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::api::charges) enum ShiftRule {
    /// Whoever sends the data.
    AsSent,
    /// The session that is paid: it must.
    Required,
    /// The session that is paid: it need not.
    NotRequired,
}

impl ShiftRule {
    /// Whether it must; `None` where nobody says so.
    fn read(self, field: Field<'_>) -> Option<bool> {
        match self {
            Self::AsSent => field.lenient_boolean(),
            Self::Required => Some(true),
            Self::NotRequired => Some(false),
        }
    }
}

/// Reads the data of an authentication. With the result of a 3DS server of the merchant nothing else is needed.
pub(super) fn read(fields: &Fields<'_>, mode: Mode, shift: ShiftRule) -> Option<ThreeDSecure> {
    let mpi = fields.optional("mpi").object(read_mpi);
    let is_outside = fields.has("mpi");
    let needed = |name| if is_outside { fields.optional(name) } else { fields.required(name) };
    let setup_id = fields.optional("setupId").id();
    let data_only = fields.optional("dataOnly").boolean();
    let requires_liability_shift = shift.read(fields.optional("requiresLiabilityShift"));
    let redirect_url = read_address(needed("redirectURL"), mode);
    let requestor_url = read_address(needed("requestorURL"), mode);
    let browser = needed("browser").object(read_browser);
    let billing_address = fields.optional("billingAddress").object(read_place);
    let shipping_address = fields.optional("shippingAddress").object(read_place);
    let card_holder = fields.optional("cardHolder").object(read_card_holder);
    if is_outside {
        if fields.has("setupId") {
            fields.problem("setupId", "must not be sent together with mpi");
        }
        if data_only == Some(true) {
            fields.problem("dataOnly", "must not be true together with mpi");
        }
        let says_authenticated = mpi.as_ref().is_none_or(Mpi::says_authenticated);
        let is_proven = mpi.as_ref().is_none_or(|mpi| mpi.proof().is_some());
        match (requires_liability_shift == Some(true), says_authenticated, is_proven) {
            (true, false, _) => {
                fields.problem("requiresLiabilityShift", "must be false with this mpi.transStatus");
            }
            (true, true, false) => {
                fields.problem("mpi.cavv", "should not be empty: it is what makes the issuer liable");
            }
            (true, true, true) | (false, ..) => {}
        }
    }
    Some(ThreeDSecure {
        setup_id,
        data_only,
        requires_liability_shift,
        redirect_url,
        requestor_url,
        browser,
        billing_address,
        shipping_address,
        card_holder,
        mpi,
    })
}

/// An address that a browser is sent to: `https`, in the sandbox also `http`, without a user.
pub(super) fn read_address(field: Field<'_>, mode: Mode) -> Option<String> {
    let rule = match mode {
        Mode::Sandbox => "must be an http:// or https:// address",
        Mode::Production => "must be an https:// address",
    };
    field.text_as(rule, |text| parsed_address(text, mode))
}

/// Such an address as the parser writes it. The parser leaves out ends of lines and blanks and takes `\` for `/`: what was sent
/// may be another address for whoever reads it next.
pub fn parsed_address(text: &str, mode: Mode) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_scheme = url.scheme() == "https" || (url.scheme() == "http" && mode == Mode::Sandbox);
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    let is_good = is_scheme && url.has_host() && is_anonymous && url.as_str().len() <= chars_max::FREE;
    is_good.then(|| url.into())
}

fn read_browser(fields: &Fields<'_>) -> Option<Browser> {
    let text = |name| fields.required(name).non_empty_text(chars_max::FREE);
    let number = |name| fields.required(name).integer(0..=NUMBER_MAX);
    let accept_header = text("acceptHeader");
    let color_depth = number("colorDepth");
    let java_enabled = fields.required("javaEnabled").boolean();
    let java_script_enabled = fields.optional("javaScriptEnabled").boolean();
    let language = text("language");
    let (screen_height, screen_width) = (number("screenHeight"), number("screenWidth"));
    let time_zone_offset = text("timeZoneOffset");
    let user_agent = text("userAgent");
    let ip = text("ip");
    let accept_browser_value = fields.optional("acceptBrowserValue").text(chars_max::FREE);
    let accept_content = fields.optional("acceptContent").text(chars_max::FREE);
    Some(Browser {
        accept_header: accept_header?,
        color_depth: color_depth?,
        java_enabled: java_enabled?,
        java_script_enabled,
        language: language?,
        screen_height: screen_height?,
        screen_width: screen_width?,
        time_zone_offset: time_zone_offset?,
        user_agent: user_agent?,
        ip: ip?,
        accept_browser_value,
        accept_content,
    })
}

fn read_place(fields: &Fields<'_>) -> Option<AddressData> {
    let text = |name| fields.required(name).non_empty_text(chars_max::LINE);
    let city = text("city");
    let country = text("country");
    let street_number = fields.required("streetNumber").read(text_or_number);
    let zip_code = text("zipCode");
    let state = text("state");
    let street = text("street");
    Some(AddressData {
        city: city?,
        country: country?,
        street_number: street_number?,
        zip_code: zip_code?,
        state: state?,
        street: street?,
    })
}

fn text_or_number(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) if !text.is_empty() && text.chars().count() <= chars_max::LINE => {
            Ok(text.clone())
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err("must be a text or a number")
        }
    }
}

fn read_card_holder(fields: &Fields<'_>) -> Option<CardHolderData> {
    let email = fields.required("email").email();
    let mobile_phone = fields.optional("mobilePhone").verbatim().text(chars_max::LINE);
    Some(CardHolderData { email: email?, mobile_phone })
}

fn read_mpi(fields: &Fields<'_>) -> Option<Mpi> {
    let text = |name| fields.optional(name).verbatim().text(chars_max::LINE);
    Some(Mpi {
        acs_transaction_id: text("acsTransactionId"),
        cavv: text("cavv"),
        challenged: fields.optional("challenged").boolean(),
        directory_server_transaction_id: text("directoryServerTransactionId"),
        eci: text("eci"),
        three_ds_server_transaction_id: text("threeDSServerTransactionId"),
        trans_status: text("transStatus"),
        version: text("version"),
        xid: text("xid"),
    })
}
