//! A person with a browser of their own, that keeps its cookies, and with a phone that shows codes.

use std::cell::RefCell;

use axum::body::Body;
use axum::http::{Method, Request};
use regente_engine::members::totp::Secret;

use crate::support::app::TestApp;
use crate::support::client::Reply;

pub const PASSWORD: &str = "correct horse battery";

pub struct Visitor<'a> {
    app: &'a TestApp,
    address: &'static str,
    cookie: RefCell<Option<String>>,
}

/// A person who has accepted an invitation.
pub struct Person {
    pub email: &'static str,
    pub phone: Secret,
    pub recovery: Vec<String>,
}

impl<'a> Visitor<'a> {
    /// A browser at an address that our proxy tells.
    pub fn at(app: &'a TestApp, address: &'static str) -> Self {
        Self { app, address, cookie: RefCell::new(None) }
    }

    pub fn new(app: &'a TestApp) -> Self {
        Self::at(app, "198.51.100.1")
    }

    pub fn with_cookie(self, cookie: &str) -> Self {
        *self.cookie.borrow_mut() = Some(cookie.to_owned());
        self
    }

    pub fn cookie(&self) -> Option<String> {
        self.cookie.borrow().clone()
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], Body::empty()).await
    }

    /// The text of a page that is there.
    pub async fn page(&self, path: &str) -> String {
        let reply = self.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {:?}", reply.headers);
        String::from_utf8(reply.bytes).unwrap()
    }

    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.post_with(path, &[("Sec-Fetch-Site", "same-origin")], fields).await
    }

    pub async fn post_with(&self, path: &str, headers: &[(&str, &str)], fields: &[(&str, &str)]) -> Reply {
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send(Method::POST, path, headers, Body::from(form)).await
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Body) -> Reply {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("Host", "regente.example")
            .header("X-Forwarded-For", self.address)
            .header("Accept-Language", "en")
            .header("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
            .header("Content-Type", "application/x-www-form-urlencoded");
        if let Some(cookie) = &*self.cookie.borrow() {
            request = request.header("Cookie", format!("other=1; regente_dashboard={cookie}"));
        }
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let reply = self.app.send(request.body(body).unwrap()).await;
        if let Some(line) = reply.header("set-cookie") {
            let value = line.strip_prefix("regente_dashboard=").expect(line).split(';').next().unwrap();
            *self.cookie.borrow_mut() = Some(value.to_owned()).filter(|value| !value.is_empty());
        }
        reply
    }

    /// Accepts an invitation: reads the secret on its page, as a phone does.
    pub async fn accept(&self, link: &str, email: &'static str) -> Person {
        let path = path_of(link);
        let page = self.page(path).await;
        let phone = Secret::parse(between(&page, "<code>", "</code>")).unwrap();
        let code = phone.code_at(self.app.clock.deployment());
        let reply = self.post(path, &[("name", "Ana"), ("password", PASSWORD), ("code", &code)]).await;
        let page = String::from_utf8(reply.bytes).unwrap();
        assert_eq!(reply.status, 200, "{page}");
        let recovery: Vec<String> = page
            .split("<li><code>")
            .skip(1)
            .map(|item| item.split("</code>").next().unwrap().to_owned())
            .collect();
        assert_eq!(recovery.len(), 8, "{page}");
        Person { email, phone, recovery }
    }

    /// Signs in with the code that the phone shows now.
    pub async fn sign_in(&self, person: &Person) -> Reply {
        let code = person.phone.code_at(self.app.clock.deployment());
        self.sign_in_with(person.email, PASSWORD, &code).await
    }

    pub async fn sign_in_with(&self, email: &str, password: &str, code: &str) -> Reply {
        let fields = [("email", email), ("password", password), ("code", code)];
        self.post("/dashboard/sign-in", &fields).await
    }

    /// What the forms of this browser send along.
    pub async fn csrf(&self) -> String {
        let page = self.page("/dashboard/sign-ins").await;
        between(&page, "name=\"csrf\" value=\"", "\"").to_owned()
    }
}

/// The path of a link.
pub fn path_of(link: &str) -> &str {
    &link[link.find("/dashboard/").unwrap()..]
}

pub fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split(after).next().unwrap()
}
