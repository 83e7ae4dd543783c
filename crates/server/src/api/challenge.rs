//! The pages of the simulated 3DS server, `/3ds/collect` and `/3ds/step-up`: only where payments are simulated, any other
//! deployment has no such pages (`docs/interface/sandbox.md#3-d-secure`). A browser brings a token, which the simulator
//! has signed, or the form of a payment provider.

mod html;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::get;
use regente_engine::error::Error;
use regente_providers::sandbox::{Decision, NotAChallenge, SimulatedServer};
use url::form_urlencoded;

use super::buyer_page::Language;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::limits::read_bytes;

/// The answers of a cardholder, as the buttons send them.
const DECISIONS: [(&str, Decision); 2] = [("approve", Decision::Approve), ("refuse", Decision::Refuse)];

/// The routes that browsers of buyers come to, without credentials. No program calls them, so that the document does not
/// describe them.
pub(super) fn for_browsers() -> Router<App> {
    Router::new()
        .route("/3ds/collect", get(collect).post(collect))
        .route("/3ds/step-up", get(step_up).post(step_up))
}

/// Collects nothing, and tells the page around it that it is done.
async fn collect(State(app): State<App>, request: Request) -> Result<Response, ApiError> {
    let server = server(&app)?.clone();
    let language = Language::of(request.headers());
    let form = Form::read(request).await?;
    let is_setup = form.get("JWT").is_some_and(|token| server.is_setup(token, app.clock.earliest()));
    Ok(if is_setup {
        html::collected(language).answer(StatusCode::OK)
    } else {
        html::not_good(language).answer(StatusCode::BAD_REQUEST)
    })
}

/// Shows the challenge; with the cardholder's decision, notes it and leads the browser back.
async fn step_up(State(app): State<App>, request: Request) -> Result<Response, ApiError> {
    let server = server(&app)?.clone();
    let language = Language::of(request.headers());
    let is_post = request.method() == Method::POST;
    let form = Form::read(request).await?;
    let now = app.clock.deployment();
    // A token does not tell its account, by whose time it is good.
    let earliest = app.clock.earliest();
    let challenge = match (form.get("JWT"), form.get("MD"), form.get("PaReq"), form.get("TermUrl")) {
        (Some(token), ..) => server.challenge(token, earliest),
        (None, Some(md), Some(pa_req), Some(term_url)) => server.hosted_challenge(md, pa_req, term_url),
        (None, ..) => Err(NotAChallenge),
    };
    let Ok(challenge) = challenge else {
        return Ok(html::not_good(language).answer(StatusCode::BAD_REQUEST));
    };
    let asked = form.get("decision");
    let decision = DECISIONS.iter().find(|(word, _)| Some(*word) == asked).map(|(_, decision)| *decision);
    let Some(decision) = decision.filter(|_| is_post) else {
        return Ok(html::asking(language, &challenge, &form.hidden()).answer(StatusCode::OK));
    };
    Ok(match server.decide(challenge.key, decision, now).await {
        true => html::decided(language, &challenge).answer(StatusCode::OK),
        false => html::not_good(language).answer(StatusCode::BAD_REQUEST),
    })
}

fn server(app: &App) -> Result<&SimulatedServer, Error> {
    app.challenges.as_ref().ok_or(Error::NotFound)
}

/// The fields of a form, from the query of a GET or the body of a POST.
struct Form(Vec<(String, String)>);

impl Form {
    async fn read(request: Request) -> Result<Self, ApiError> {
        let bytes = match *request.method() {
            Method::POST => read_bytes(request).await?,
            _ => request.uri().query().unwrap_or_default().to_owned().into_bytes().into(),
        };
        Ok(Self(form_urlencoded::parse(&bytes).into_owned().collect()))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The fields that the buttons send along.
    fn hidden(&self) -> Vec<(&str, &str)> {
        let names = ["JWT", "MD", "PaReq", "TermUrl"];
        names.iter().filter_map(|name| self.get(name).map(|value| (*name, value))).collect()
    }
}
