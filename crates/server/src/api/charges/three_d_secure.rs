//! `threeDSecure2` of a charge, as answers show it (`docs/interface/charges.md#3-d-secure`): what was sent, and what was
//! found.

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::authentication::{Authenticated, Authenticator, Found, newest_answer};
use regente_domain::charge::instructions::Instructions;
use regente_domain::charge::sent::{AddressData, Browser, CardHolderData, Mpi};
use regente_domain::charge::{Charge, StateName};
use regente_domain::provider_type::ShownProviderType;
use regente_engine::authentication::THREE_D_SECURE;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Schema, Type};
use uuid::Uuid;

use super::view::Private;

/// The authentication of the cardholder. The members from `authenticated` on are there when a 3DS server was asked.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ThreeDSecure)]
pub(super) struct ThreeDSecureView {
    #[serde(flatten)]
    #[schema(value_type = SentSchema)]
    sent: Map<String, Value>,
    #[schema(required = true)]
    version: Option<String>,
    #[schema(value_type = Option<String>, required = true)]
    card_token_id: (),
    #[schema(required = true)]
    network_transaction_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authenticated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    liability_shift: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    card_enrolled: Option<bool>,
    /// `Unknown`, `Challenge` or `Frictionless`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    offered_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    challenged: Option<bool>,
    /// What the browser is to do; only while the charge waits for the cardholder.
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_data: Option<AuthData>,
}

/// What the browser is to do.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AuthData {
    #[schema(schema_with = redirect)]
    action: &'static str,
    provider_type: ShownProviderType,
    /// `AUTHENTICATION` where a 3DS server was asked, `AUTHORIZATION` where the payment provider authenticates.
    #[schema(value_type = String)]
    response_type: &'static str,
    response: AuthDataResponse,
    #[schema(required = true)]
    network_transaction_id: Option<String>,
}

/// Of a 3DS server: `token` is posted as `JWT` to `stepUrl`. Of a payment provider: `md`, `paReq` and `termUrl` are
/// posted as `MD`, `PaReq` and `TermUrl` to `url`.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AuthDataResponse {
    #[serde(skip_serializing_if = "Option::is_none")]
    step_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pareq: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    md: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pa_req: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    term_url: Option<String>,
}

impl ThreeDSecureView {
    /// The member as `requests`, oldest first, leave it; `None` when nothing was sent.
    pub(super) fn of(charge: &Charge, private: &Private, requests: &[TransactionRequest]) -> Option<Self> {
        let sent = private.get(THREE_D_SECURE)?.as_object()?.clone();
        let by = charge.authentication.as_deref().map(|authentication| &authentication.by);
        let asked = matches!(by, Some(Authenticator::Server { .. })).then(|| newest_answer(requests));
        let answer = asked.flatten();
        let is = |property: fn(&Authenticated) -> bool| asked.map(|answer| answer.is_some_and(property));
        let awaits_payer = charge.state.name() == StateName::AwaitingPayer;
        Some(Self {
            sent,
            version: answer.and_then(|answer| answer.version.clone()),
            card_token_id: (),
            network_transaction_id: answer
                .filter(|answer| answer.found != Found::ChallengeWanted)
                .and_then(|answer| answer.network_transaction_id.clone()),
            authenticated: is(Authenticated::is_authenticated),
            offered: is(Authenticated::is_enrolled),
            liability_shift: is(Authenticated::shifts_liability),
            card_enrolled: is(Authenticated::is_enrolled),
            offered_type: asked.map(|answer| match answer {
                Some(answer) if answer.found == Found::ChallengeWanted => "Unknown",
                Some(answer) if answer.challenged => "Challenge",
                Some(answer) if answer.is_enrolled() => "Frictionless",
                Some(_) | None => "Unknown",
            }),
            challenged: is(|answer| answer.challenged),
            auth_data: awaits_payer.then(|| requests.iter().rev().find_map(AuthData::of)).flatten(),
        })
    }
}

impl AuthData {
    /// What the browser is to do, if this request says so.
    fn of(request: &TransactionRequest) -> Option<Self> {
        let pending = request.pending()?;
        let text = |text: &String| Some(text.clone());
        let nothing = AuthDataResponse::default();
        let (response_type, response) = match &pending.instructions {
            Instructions::Challenge { step_up_url, token, pareq } => {
                let (step_url, token, pareq) = (text(step_up_url), text(token), text(pareq));
                ("AUTHENTICATION", AuthDataResponse { step_url, token, pareq, ..nothing })
            }
            Instructions::HostedChallenge { url, md, pa_req, term_url } => {
                let (url, md, pa_req, term_url) = (text(url), text(md), text(pa_req), text(term_url));
                ("AUTHORIZATION", AuthDataResponse { url, md, pa_req, term_url, ..nothing })
            }
            Instructions::Redirect { .. } | Instructions::QrCode { .. } | Instructions::Boleto(_) => {
                return None;
            }
        };
        Some(Self {
            action: REDIRECT,
            provider_type: ShownProviderType(request.provider_type),
            response_type,
            response,
            network_transaction_id: pending.reference.transaction_id.clone(),
        })
    }
}

/// The only action there is.
const REDIRECT: &str = "REDIRECT";

fn redirect() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some([REDIRECT])).into()
}

/// What was sent of it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
struct SentSchema {
    setup_id: Option<Uuid>,
    data_only: Option<bool>,
    requires_liability_shift: Option<bool>,
    #[schema(rename = "redirectURL")]
    redirect_url: Option<String>,
    #[schema(rename = "requestorURL")]
    requestor_url: Option<String>,
    browser: Option<Browser>,
    billing_address: Option<AddressData>,
    shipping_address: Option<AddressData>,
    card_holder: Option<CardHolderData>,
    mpi: Option<Mpi>,
}
