//! Parses what callers set. What is empty counts as absent, in new settings and in changes.

use regente_documents::logo;
use regente_domain::settings::Color;
use regente_domain::text::chars_max;
use regente_engine::error::Error;
use regente_engine::link_settings::SettingsChanges;
use regente_providers::request::Mode;
use regente_store::settings::{Colors, LogoFile};
use url::{Host, Url};
use utoipa::ToSchema;

use super::form::Form;
use crate::api::charges::request::parsed_address;
use crate::api::documents::draw;
use crate::api::fields::Fields;
use crate::app::App;
use crate::http::error::ApiError;

/// The field with the file of the logo.
pub(super) const LOGO: &str = "logo";
const COMPANY_URL: &str = "companyUrl";
const REDIRECT_ORIGINS: &str = "redirectOrigins";
const COLOR_RULE: &str = "must be # with 3, 6 or 8 hexadecimal digits";

impl Form {
    /// Reads the fields and the logo, and tells the problems of both together.
    pub(super) async fn read(&self, app: &App) -> Result<SettingsChanges, ApiError> {
        let fields = self.body.read(|fields| Some(changes(fields, app.settings.mode)));
        let logo = match self.logo.clone() {
            Some(file) => Some(draw(move || logo::written_anew(&file)).await?),
            None => None,
        };
        match (fields, logo.transpose()) {
            (Ok(changes), Ok(logo)) => {
                let logo = logo.map(|logo| LogoFile { format: logo.format, bytes: logo.bytes });
                Ok(SettingsChanges { logo, ..changes })
            }
            (Err(problems), Ok(_)) => Err(problems.into()),
            (Ok(_), Err(rule)) => Err(Error::invalid(LOGO, rule).into()),
            (Err(mut problems), Err(rule)) => {
                problems.add(LOGO, rule);
                Err(problems.into())
            }
        }
    }
}

fn changes(fields: &Fields<'_>, mode: Mode) -> SettingsChanges {
    let color = |name| fields.optional(name).blank_text_is_absent().text_as(COLOR_RULE, Color::parse);
    // Examples of shipped clients spell the second colour with a capital letter.
    let capital = color("SecondaryColor");
    let colors = Colors {
        main_color: color("mainColor"),
        secondary_color: color("secondaryColor").or(capital),
        attention_color: color("attentionColor"),
        error_color: color("errorColor"),
        success_color: color("successColor"),
        background_color: color("backgroundColor"),
    };
    let text = |name| fields.optional(name).blank_text_is_absent().text(chars_max::LINE);
    let company_url = text(COMPANY_URL);
    if company_url.as_deref().is_some_and(|url| !is_company_url(url, mode)) {
        fields.problem(
            COMPANY_URL,
            match mode {
                Mode::Sandbox => "must be an http or https address, or the name of a host",
                Mode::Production => "must be an https address, or the name of a host",
            },
        );
    }
    let rule = match mode {
        Mode::Sandbox => "must be http or https origins such as https://shop.example, apart by commas",
        Mode::Production => "must be https origins such as https://shop.example, apart by commas",
    };
    let redirect_origins =
        fields.optional(REDIRECT_ORIGINS).blank_text_is_absent().text_as(rule, |text| origins(text, mode));
    let mastercard_click_to_pay_dpaid =
        fields.optional("mastercardClickToPayDpaid").blank_text_is_absent().verbatim().text(chars_max::LINE);
    SettingsChanges { colors, company_url, redirect_origins, mastercard_click_to_pay_dpaid, logo: None }
}

/// Origins that are apart by commas, as browsers write them (RFC 6454).
fn origins(text: &str, mode: Mode) -> Option<String> {
    let origin = |text: &str| {
        let url = Url::parse(&parsed_address(text, mode)?).ok()?;
        // With a path it would look as if that page alone were registered, and with `*` as if every host below were.
        let is_alone = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let names_one = is_alone && !text.contains('*');
        names_one.then(|| url.origin().ascii_serialization())
    };
    let origins: Option<Vec<String>> = text.split(',').map(origin).collect();
    origins.map(|origins| origins.join(",")).filter(|origins| origins.len() <= chars_max::FREE)
}

/// Whether a link may lead there: an address of the web, or the name of a host alone.
fn is_company_url(text: &str, mode: Mode) -> bool {
    // The parser would leave out some of them and take `\` for `/`.
    if text
        .contains(|character: char| character.is_whitespace() || character.is_control() || character == '\\')
    {
        return false;
    }
    let is_name = !text.contains("://");
    let address = if is_name { format!("https://{text}") } else { text.to_owned() };
    let Ok(url) = Url::parse(&address) else { return false };
    let is_of_the_web = match url.scheme() {
        "https" => true,
        "http" => mode == Mode::Sandbox,
        _ => false,
    };
    let is_host_alone =
        !text.contains(['/', '?', '#', '@', ':']) && matches!(url.host(), Some(Host::Domain(_)));
    is_of_the_web
        && url.host().is_some()
        && url.username().is_empty()
        && url.password().is_none()
        && (!is_name || is_host_alone)
}

/// What an account or a merchant sets for its payment links; empty texts are as good as absent ones.
#[derive(Debug, ToSchema)]
#[schema(as = SettingsChanges, rename_all = "camelCase", example = json!({
    "mainColor": "#344383", "secondaryColor": "#FFFFFF", "companyUrl": "https://www.example.com"
}))]
pub struct SettingsBody {
    /// The main colour: `#` and 3, 6 or 8 hexadecimal digits, as all colours.
    pub main_color: Option<String>,
    /// The second colour; also read as `SecondaryColor`.
    pub secondary_color: Option<String>,
    /// For warnings.
    pub attention_color: Option<String>,
    /// For errors.
    pub error_color: Option<String>,
    /// For what went well.
    pub success_color: Option<String>,
    /// Behind everything.
    pub background_color: Option<String>,
    /// Where the company is on the web: an https address (in the sandbox http, too), or the name of a host.
    #[schema(max_length = 255)]
    pub company_url: Option<String>,
    /// The origins of the pages to which buyers of pages with a public key may come back, apart by commas.
    #[schema(max_length = 2048, example = "https://shop.example,https://app.shop.example")]
    pub redirect_origins: Option<String>,
    /// The id of the company in the card scheme's Click to Pay.
    #[schema(max_length = 255)]
    pub mastercard_click_to_pay_dpaid: Option<String>,
}

/// The same as a form, with a logo.
#[derive(Debug, ToSchema)]
#[schema(as = SettingsForm)]
pub struct SettingsForm {
    /// A PNG or JPEG file of 1 000 000 bytes and 1000 × 1000 pixels at most.
    #[schema(value_type = Option<String>, format = Binary)]
    pub logo: Option<Vec<u8>>,
    /// The other fields.
    #[serde(flatten)]
    pub settings: SettingsBody,
}
