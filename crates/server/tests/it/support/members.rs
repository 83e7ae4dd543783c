//! Members who have signed in, and the pages that their browsers open.

use axum::body::Body;
use axum::http::{Method, Request};
use regente_domain::member::role::Role;
use regente_engine::audit::Author;
use regente_engine::caller::RequestId;
use regente_engine::members::invitations::{self, Acceptance, Accepted};

use crate::support::app::TestApp;
use crate::support::client::Reply;

/// The browser of a member who has signed in.
pub struct Browser<'a> {
    app: &'a TestApp,
    cookie: String,
    language: &'static str,
}

/// A member of the account with this role, signed in; reads English.
pub async fn signed_in(app: &TestApp, role: Role) -> Browser<'_> {
    let engine = &app.app.engine;
    let author = Author::operator(app.client_id());
    let email = format!("{}@example.com", role.word());
    let invited = invitations::invite(engine, author, &email, role).await.unwrap();
    let open = invitations::find(engine, &invited.token).await.unwrap().unwrap();
    let sent = Acceptance {
        name: "Rita <Lima>".to_owned(),
        password: "a long password".to_owned(),
        code: open.totp.code_at(app.clock.deployment()),
    };
    let accepted =
        invitations::accept(engine, &RequestId::new("test"), &invited.token, &sent, "Firefox").await.unwrap();
    let Accepted::Yes { cookie, .. } = accepted else { panic!("the invitation is taken") };
    Browser { app, cookie: format!("regente_dashboard={}", cookie.text()), language: "en" }
}

impl Browser<'_> {
    /// The same in another language.
    pub fn in_language(mut self, language: &'static str) -> Self {
        self.language = language;
        self
    }

    fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("Cookie", &self.cookie)
            .header("Accept", "text/html")
            .header("Accept-Language", self.language)
    }

    /// Opens a page.
    pub async fn open(&self, path: &str) -> Reply {
        self.app.send(self.request(Method::GET, path).body(Body::empty()).unwrap()).await
    }

    /// The text of a page, which must have this status.
    pub async fn page(&self, path: &str, status: u16) -> String {
        let reply = self.open(path).await;
        let text = String::from_utf8(reply.bytes).unwrap();
        assert_eq!(reply.status.as_u16(), status, "{path}: {text}");
        text
    }

    /// Sends a form, and does not wait for its answer.
    pub fn begin_to_send(&self, path: &str, fields: &[(&str, &str)]) -> tokio::task::JoinHandle<Reply> {
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self
            .request(Method::POST, path)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Sec-Fetch-Site", "same-origin");
        self.app.begin(request.body(Body::from(form)).unwrap())
    }

    /// Sends a form.
    pub async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.begin_to_send(path, fields).await.unwrap()
    }

    /// Sends the only form of a page that posts to `path`.
    pub async fn confirm(&self, page: &str, path: &str) -> Reply {
        self.send(path, &hidden(page, path)).await
    }
}

/// The hidden fields of the form of a page that posts to `path`.
pub fn hidden<'a>(page: &'a str, path: &str) -> Vec<(&'a str, &'a str)> {
    let (_, form) = page.split_once(&format!("method=\"post\" action=\"{path}\"")).expect(page);
    let (form, _) = form.split_once("</form>").unwrap();
    let fields = form.split("<input type=\"hidden\" name=\"").skip(1);
    fields
        .map(|field| {
            let (name, rest) = field.split_once("\" value=\"").unwrap();
            (name, rest.split_once('"').unwrap().0)
        })
        .collect()
}
