//! The page that asks a person to wait. It is written and compressed once in each language: it is shown when there is no time
//! for that.

use std::mem::take;
use std::sync::LazyLock;

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;

use crate::api::buyer_page::{Content, FramedBy, KeptPage, Language, Page};
use crate::http::error::General;
use crate::http::files::takes_gzip;

/// Somebody who looks with a browser.
#[derive(Clone, Copy, Debug)]
pub(super) struct Person {
    language: Language,
    takes_gzip: bool,
}

impl Person {
    /// `None` when a program asks.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let headers = request.headers();
        accepts_html(headers).then(|| Self {
            language: Language::asked(headers, request.uri().query()),
            takes_gzip: takes_gzip(headers),
        })
    }

    /// The answer as a person is shown it: a page where they are to come back later.
    pub(super) fn shown(self, mut answer: Response) -> Response {
        let status = answer.status();
        if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            return answer;
        }
        let mut page = kept(self.language).answer(status, self.takes_gzip);
        let wait = answer.headers_mut().remove(header::RETRY_AFTER);
        page.headers_mut().extend(wait.map(|wait| (header::RETRY_AFTER, wait)));
        // The log has the cause from there. The envelope stays behind: it would be written over the page.
        *page.extensions_mut() = take(answer.extensions_mut());
        page.extensions_mut().remove::<General>();
        page
    }
}

/// Whether `Accept` names HTML. Programs say that they take anything, or JSON.
pub(in crate::api) fn accepts_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accepted.is_some_and(|accept| accept.contains("text/html"))
}

/// The texts of one language.
struct Texts {
    title: &'static str,
    text: &'static str,
    again: &'static str,
}

static PORTUGUESE: LazyLock<KeptPage> = LazyLock::new(|| {
    page(
        Language::Portuguese,
        &Texts {
            title: "Um momento, por favor",
            text: "Há pedidos demais agora. Espere um pouco e tente de novo.",
            again: "Tentar de novo",
        },
    )
});

static ENGLISH: LazyLock<KeptPage> = LazyLock::new(|| {
    page(
        Language::English,
        &Texts {
            title: "One moment, please",
            text: "There are too many requests at the moment. Wait a little and try again.",
            again: "Try again",
        },
    )
});

static SPANISH: LazyLock<KeptPage> = LazyLock::new(|| {
    page(
        Language::Spanish,
        &Texts {
            title: "Un momento, por favor",
            text: "Hay demasiadas solicitudes ahora. Espere un poco e intente de nuevo.",
            again: "Intentar de nuevo",
        },
    )
});

fn kept(language: Language) -> &'static KeptPage {
    match language {
        Language::Portuguese => &PORTUGUESE,
        Language::English => &ENGLISH,
        Language::Spanish => &SPANISH,
    }
}

fn page(language: Language, texts: &Texts) -> KeptPage {
    let Texts { title, text, again } = texts;
    // The empty address is that of the page which was asked for.
    let body = format!("<h1>{title}</h1><p>{text}</p><p><a href=\"\">{again}</a></p>");
    let content = Content {
        language,
        title,
        head: "",
        body: &body,
        logo: None,
        script: None,
        framed_by: FramedBy::Anybody,
    };
    KeptPage::of(Page::of(&content))
}
