//! What all pages of the dashboard share: the frame with the navigation, the files, and the security policy.

use std::sync::LazyLock;

use askama::Template;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regente_domain::member::role::Role;
use regente_engine::error::Error;
use regente_engine::members::SignedIn;

use super::words::{About, LANGUAGES, Words};
use crate::api::buyer_page::Language;
use crate::http::error::ApiError;
use crate::http::files::{Asset, AssetKind};

pub(super) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../assets/dashboard/dashboard.js");
    Asset::under_its_hash("/dashboard/assets/dashboard", AssetKind::Script, text)
});

pub(super) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let text = include_str!("../../assets/dashboard/dashboard.css");
    Asset::under_its_hash("/dashboard/assets/dashboard", AssetKind::Style, text)
});

/// The headers of every page.
const HEADERS: [(HeaderName, HeaderValue); 9] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'none'; \
             base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        ),
    ),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    // Forms are told from those of other sites by `Origin`, which `no-referrer` would make `null`.
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
];

/// The frame of a page: the member `layout` of each template that extends `dashboard/layout.html`.
pub(crate) struct Layout<'a> {
    pub(crate) words: &'static Words,
    /// Absent before somebody has signed in.
    pub(crate) who: Option<&'a SignedIn>,
    pub(crate) title: &'a str,
    /// The path of the page with its query, without `lang`.
    pub(crate) here: &'a str,
}

impl Layout<'_> {
    /// The places of the navigation with their names.
    pub(crate) fn places(&self) -> Vec<(&'static str, &'static str)> {
        let t = &self.words.t;
        let mut places = vec![
            ("/dashboard", t.home.as_str()),
            ("/dashboard/charges", &t.charges),
            ("/dashboard/sign-ins", &t.sign_ins),
        ];
        if self.who.is_some_and(|who| who.role == Role::Owner) {
            places.insert(2, ("/dashboard/members", &t.members));
        }
        places
    }

    /// Whether the page is at this place or below it.
    pub(crate) fn is_at(&self, place: &str) -> bool {
        let path = self.here.split('?').next().unwrap_or_default();
        match path.strip_prefix(place) {
            Some("") => true,
            Some(rest) => place != "/dashboard" && rest.starts_with('/'),
            None => false,
        }
    }

    pub(crate) fn role(&self, who: &SignedIn) -> &'static str {
        self.words.name(About::Role, who.role.word())
    }

    pub(crate) fn languages(&self) -> [(Language, &'static str); 3] {
        LANGUAGES
    }

    /// The address that changes the language and comes back here.
    pub(crate) fn in_language(&self, language: &Language) -> String {
        let back = url::form_urlencoded::byte_serialize(self.here.as_bytes()).collect::<String>();
        format!("/dashboard/language?to={}&back={back}", language.tag())
    }

    pub(crate) fn style(&self) -> &'static Asset {
        &STYLE
    }

    pub(crate) fn script(&self) -> &'static Asset {
        &SCRIPT
    }
}

/// The answer with a page.
pub(crate) fn page(template: &impl Template) -> Response {
    page_with(StatusCode::OK, template)
}

/// The answer with a page and a status.
pub(crate) fn page_with(status: StatusCode, template: &impl Template) -> Response {
    let html = match template.render() {
        Ok(html) => html,
        Err(error) => return ApiError::from(Error::internal(error)).into_response(),
    };
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    response.headers_mut().extend(HEADERS);
    response
}
