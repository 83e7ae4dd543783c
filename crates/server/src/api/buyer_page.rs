//! What the pages of the simulator for buyers, that of reviews and the one that asks to wait have in common: plain HTML that works
//! without scripts and loads nothing, in the language of the browser. They are light or dark, as the device is.

pub(in crate::api) mod logo;
pub mod money;

use axum::body::{Body as HttpBody, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use jiff::civil::Date;

use self::logo::Logo;
use crate::http::files::gzip;
use crate::http::html::{escape, policy_source};

/// A page with its security policy.
pub(super) struct Page {
    html: String,
    policy: String,
}

/// The languages of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// As in Brazil.
    Portuguese,
    /// As in the United States.
    English,
    /// As in Argentina and Spain.
    Spanish,
}

/// A page that is always the same, as it is and compressed.
pub(super) struct KeptPage {
    html: Bytes,
    compressed: Bytes,
    policy: String,
}

/// What is on a page.
pub(super) struct Content<'a> {
    pub(super) language: Language,
    /// In the language.
    pub(super) title: &'a str,
    /// Elements of the head besides title and style.
    pub(super) head: &'a str,
    /// Elements of the body.
    pub(super) body: &'a str,
    /// A picture in the body, which the policy allows.
    pub(super) logo: Option<&'a Logo>,
    /// A script, which the policy allows.
    pub(super) script: Option<&'a str>,
    /// Who may show it in a frame.
    pub(super) framed_by: FramedBy,
}

/// Who may show a page in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FramedBy {
    /// Pages of merchants.
    Anybody,
    /// None: the page is a window of its own.
    Nobody,
}

const STYLE: &str = ":root{color-scheme:light dark;--text:#111;--page:#fff;--edge:#767676;--bad:#b00020;--link:#0550b0}\
@media(prefers-color-scheme:dark){:root{--text:#eee;--page:#141414;--edge:#8e8e8e;--bad:#ff8a95;--link:#8ab8ff}}\
body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:2rem auto;padding:0 1rem;color:var(--text);\
background:var(--page)}a{color:var(--link)}dt{font-weight:600}dd{margin:0 0 .75rem}\
button{font:inherit;padding:.6rem 1.2rem;margin:0 .75rem .75rem 0;\
border:2px solid var(--text);border-radius:.4rem;background:var(--page);color:var(--text)}\
button.go{background:var(--text);color:var(--page)}\
input:not([type=checkbox]),select{font:inherit;width:100%;box-sizing:border-box;padding:.6rem;border:1px solid var(--edge);\
border-radius:.4rem;background:var(--page);color:var(--text)}[aria-invalid]{border-color:var(--bad)}\
.fault{color:var(--bad)}[role=alert]{border-left:4px solid var(--bad);padding-left:1rem}\
:is(button,a,input,select):focus-visible{outline:3px solid var(--link);outline-offset:2px}";

/// The names of the months, from January.
const PORTUGUESE_MONTHS: [&str; 12] = [
    "janeiro",
    "fevereiro",
    "março",
    "abril",
    "maio",
    "junho",
    "julho",
    "agosto",
    "setembro",
    "outubro",
    "novembro",
    "dezembro",
];
const SPANISH_MONTHS: [&str; 12] = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
];

impl Language {
    /// The first language of the browser that the pages have; Portuguese otherwise.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let known = |tag: &str| match tag.trim().get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("pt") => Some(Self::Portuguese),
            Some("en") => Some(Self::English),
            Some("es") => Some(Self::Spanish),
            Some(_) | None => None,
        };
        accepted.unwrap_or_default().split(',').find_map(known).unwrap_or(Self::Portuguese)
    }

    /// The language that the query asks for by `lang`, otherwise that of the browser.
    pub(super) fn asked(headers: &HeaderMap, query: Option<&str>) -> Self {
        let asked = query.unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("lang="));
        let known = [Self::Portuguese, Self::English, Self::Spanish];
        let known = known.into_iter().find(|language| Some(language.tag()) == asked);
        known.unwrap_or_else(|| Self::of(headers))
    }

    /// As in the attribute `lang`.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::Portuguese => "pt-BR",
            Self::English => "en",
            Self::Spanish => "es",
        }
    }

    /// A day in words: numbers alone mean one day to some readers and another day to others.
    pub(crate) fn day(self, day: Date) -> String {
        let in_words = |months: [&str; 12]| {
            format!("de {} de {}", months[usize::from(day.month().unsigned_abs()) - 1], day.year())
        };
        match self {
            Self::Portuguese if day.day() == 1 => format!("1º {}", in_words(PORTUGUESE_MONTHS)),
            Self::Portuguese => format!("{} {}", day.day(), in_words(PORTUGUESE_MONTHS)),
            Self::Spanish => format!("{} {}", day.day(), in_words(SPANISH_MONTHS)),
            Self::English => day.strftime("%B %-d, %Y").to_string(),
        }
    }
}

/// What leads a browser to an address at once: an element of the head, and a link for whoever stays. The browser is not
/// redirected: a policy for forms would hold it back.
pub(super) struct LeadingTo {
    pub(super) head: String,
    pub(super) link: String,
}

impl LeadingTo {
    /// To `url`; `go_on` is the text of the link.
    pub(super) fn new(url: &str, go_on: &str) -> Self {
        let url = escape(url);
        Self {
            head: format!("<meta http-equiv=\"refresh\" content=\"0; url={url}\">"),
            link: format!("<p><a href=\"{url}\">{go_on}</a></p>"),
        }
    }
}

impl Page {
    pub(super) fn of(content: &Content<'_>) -> Self {
        let Content { language, title, head, body, logo, script, framed_by } = *content;
        let scripts = script.map_or_else(|| "'none'".to_owned(), policy_source);
        let script = script.map_or_else(String::new, |script| format!("<script>{script}</script>"));
        let (mut style, mut pictures) = (STYLE.to_owned(), String::new());
        if let Some(logo) = logo {
            style.push_str(&logo.style());
            pictures = format!("img-src{}; ", logo.source());
        }
        let html = format!(
            "<!doctype html><html lang=\"{tag}\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">{head}\
             <title>{title}</title><style>{style}</style></head><body><main>{body}</main>{script}</body></html>",
            tag = language.tag(),
        );
        let frames = match framed_by {
            FramedBy::Anybody => "*",
            FramedBy::Nobody => "'none'",
        };
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {scripts}; {pictures}form-action 'self'; base-uri 'none'; \
             frame-ancestors {frames}",
            policy_source(&style)
        );
        Self { html, policy }
    }

    /// The answer with this page.
    pub(super) fn answer(self, status: StatusCode) -> Response {
        answer(status, HttpBody::from(self.html), &self.policy)
    }
}

impl KeptPage {
    pub(super) fn of(page: Page) -> Self {
        Self { compressed: gzip(page.html.as_bytes()), html: page.html.into(), policy: page.policy }
    }

    /// The answer with this page, compressed where the browser takes that.
    pub(super) fn answer(&self, status: StatusCode, takes_gzip: bool) -> Response {
        let bytes = if takes_gzip { &self.compressed } else { &self.html };
        let mut response = answer(status, HttpBody::from(bytes.clone()), &self.policy);
        let headers = response.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("Accept, Accept-Language, Accept-Encoding"));
        if takes_gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

fn answer(status: StatusCode, body: HttpBody, policy: &str) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers: &mut HeaderMap = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
