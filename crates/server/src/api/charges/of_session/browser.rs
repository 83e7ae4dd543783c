//! The browser of a buyer whose page says nothing about it: what its request tells by itself.

use axum::http::{HeaderMap, HeaderName, header};
use regente_domain::text::chars_max;
use regente_providers::authentication::Browser;

use crate::http::peer::PeerAddress;

/// What issuers are told where a header is missing.
const LANGUAGE: &str = "pt-BR";
const ANY_CONTENT: &str = "*/*";
const UNKNOWN: &str = "unknown";
/// The color depth of nearly every screen.
const COLOR_BITS: i64 = 24;

/// The browser that sends a request. Of what a script would have found out nothing is known, so it is said that none ran: EMV
/// 3-D Secure demands no more then.
pub(super) fn of_request(headers: &HeaderMap, PeerAddress(address): PeerAddress) -> Browser {
    let said = |name: HeaderName, otherwise: &str| -> String {
        let text = headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let text = text.filter(|text| !text.is_empty()).unwrap_or(otherwise);
        text.chars().take(chars_max::FREE).collect()
    };
    let languages = said(header::ACCEPT_LANGUAGE, LANGUAGE);
    Browser {
        accept_header: said(header::ACCEPT, ANY_CONTENT),
        color_depth: COLOR_BITS,
        java_enabled: false,
        java_script_enabled: Some(false),
        language: languages.split([',', ';']).next().unwrap_or(LANGUAGE).to_owned(),
        screen_height: 0,
        screen_width: 0,
        time_zone_offset: "0".to_owned(),
        user_agent: said(header::USER_AGENT, UNKNOWN),
        ip: address.to_string(),
        accept_browser_value: None,
        accept_content: None,
    }
}
