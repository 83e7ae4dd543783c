//! `/v1/sessions`: orders that buyers pay by a link or in a shop (`docs/interface/sessions.md`). [`buyers`] has what the
//! page of a buyer calls besides, [`link`] what it reads.

pub mod buyers;
pub mod link;
pub mod list;
pub mod methods;
pub mod request;
pub mod view;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use regente_domain::id::{ClientId, Id, MerchantId, SessionId, of};
use regente_domain::money::Amount;
use regente_domain::platform_fee::PlatformFee;
use regente_domain::provider_type::ProviderType;
use regente_domain::scope::{Scope, Scopes};
use regente_domain::session::{Cards, NotCancelable, PatchRefusal, Session, SessionStatus, Tally};
use regente_domain::split::SplitRule;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::charges::{UNREGISTERED, routing, split};
use regente_engine::error::Error;
use regente_engine::events::session::SessionView;
use regente_engine::idempotency::Planned;
use regente_engine::link_settings;
use regente_engine::queue;
use regente_engine::races;
use regente_engine::sessions::opened::Opened;
use regente_engine::{audit, sessions as flow, vendors};
use regente_store::credentials::{self, CredentialKind, NewCredential};
use regente_store::{Batch, Commit, sessions};
use serde_json::{Map, json};
use url::Url;
use utoipa::ToSchema;
use uuid::Uuid;

use super::charges;
use super::charges::view::ChargeView;
use super::fields::Body;
use super::idempotency::commit_once;
use super::path::{Path, path_id};
use super::split_rules::SPLIT_RULES;
use crate::access::digest;
use crate::app::App;
use crate::http::error::{ApiError, CommonErrors, ErrorEnvelope};
use request::NewSession;
use view::{EntryView, SessionSchema};

/// The most entries of a history in an answer; older ones are left out.
const HISTORY_MAX: i64 = 1000;

/// Creates a session.
///
/// An order that a buyer pays at its `paymentLink`, or in a page of the shop with its `publicKey`.
#[utoipa::path(
    post, path = "/v1/sessions", operation_id = "createSession", tag = "Sessions",
    request_body(content = request::NewSessionBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The session.", body = SessionSchema),
        (status = 404, description = "`merchantId` is not one of the account.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        (status = 422, description = "The payment methods do not go with `maxPayments`, or a platform fee would leave nothing.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let new = body.read(|fields| request::read(fields, app.settings.mode))?;
    let plan = || plan_creation(&app, &caller, &request_id, &new);
    commit_once(&app, &caller, &headers, "POST /v1/sessions", &body, plan).await
}

/// Whether a page, which has a client token, leads payers only to pages that its merchant has registered.
///
/// # Errors
/// [`Error::Invalid`] names the first field with another address.
async fn must_be_registered(app: &App, caller: &Caller, new: &NewSession) -> Result<(), Error> {
    if !caller.is_public_key() {
        return Ok(());
    }
    for (index, method) in new.terms.methods.iter().enumerate() {
        for (name, address) in request::addresses(method) {
            let page = Url::parse(address).map_err(Error::internal)?;
            if !link_settings::has_registered(app, caller.client_id, new.merchant_id, &page).await? {
                let field = format!("paymentMethods[{index}].{name}");
                return Err(Error::invalid(field, UNREGISTERED));
            }
        }
    }
    Ok(())
}

async fn plan_creation(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    new: &NewSession,
) -> Result<Planned, Error> {
    let (client_id, now) = (caller.client_id, app.clock.of(caller.client_id));
    new.check(now)?;
    if new.terms.offer_pix_or_boleto() && new.capacity.max_payments().is_some_and(|number| number > 1) {
        return Err(pix_or_boleto_with_limit());
    }
    let merchant = routing::merchant(app, client_id, new.merchant_id).await?;
    let merchant = merchant.ok_or(Error::ReferenceNotFound("merchantId"))?;
    must_be_registered(app, caller, new).await?;
    let can_charge = |provider: &ProviderType| {
        new.terms.methods.iter().any(|method| provider.capabilities().can_charge(method.payment_type))
    };
    let asked = merchant.providers.iter().map(|provider| provider.provider_type).filter(can_charge);
    vendors::checked(app, client_id, new.terms.vendor.as_deref(), asked).await?;
    let id: SessionId = app.chance.id(now);
    let mut terms = new.terms.clone();
    for item in &mut terms.items {
        item.id = app.chance.id(now);
    }
    let fees = terms.platform_fees(&merchant.merchant.details.platform_fee, now);
    let amount = new.amount;
    terms.split_rules = divided(app, client_id, new.merchant_id, amount, fees, &terms.split_rules).await?;
    let session = Session {
        id,
        client_id,
        merchant_id: new.merchant_id,
        status: SessionStatus::Created,
        is_active: new.is_active,
        amount: new.amount,
        currency: new.currency,
        order_id: new.order_id.clone(),
        due_at: new.due_at,
        capacity: new.capacity,
        tally: Tally::default(),
        cards: Cards::default(),
        customers: 0,
        terms,
        entries: 0,
        unknown_members: Map::new(),
        version: 1,
        updated_at: id.created_at(),
    };
    let created = session.create();
    let (mut batch, actor) = (Batch::new(client_id), caller.actor());
    let private = new.private.seal(app, client_id, id)?;
    sessions::insert(&mut batch, &created, private, &actor, || app.chance.id(now))?;
    let session = &created.session;
    add_key(app, caller, &mut batch, session).await?;
    flow::announce(app, &mut batch, &created, &actor)?;
    queue::sessions::expire_when_due(app, &mut batch, session);
    audit::record(app, &mut batch, caller, request_id, "session.created", id.uuid());
    if session.terms.create_link && app.settings.base_url.is_none() {
        tracing::warn!(
            session = %session.id,
            "a session was to have a payment link and has none: `server.base_url` is not set"
        );
    }
    let opened = Opened { session: created.session, private: new.private.clone() };
    let body = serde_json::to_value(view_for(app, caller, &opened).await?).map_err(Error::internal)?;
    Ok(Planned { batch, status: StatusCode::OK.as_u16(), body })
}

/// The rules of a session with their ids; refused where a charge, with any of these fees, could not be divided so.
async fn divided(
    app: &App,
    client_id: ClientId,
    merchant_id: MerchantId,
    amount: Amount,
    fees: Vec<PlatformFee>,
    rules: &[SplitRule],
) -> Result<Vec<SplitRule>, Error> {
    let sellers = split::Named::find(app, client_id, merchant_id, rules).await?.all()?;
    let rules = split::rules_with(app, rules, &sellers, app.clock.of(client_id));
    for fee in fees.into_iter().map(Some).chain([None]) {
        if let Some(divided) = split::of_rules(rules.clone(), fee) {
            divided.fit(amount).map_err(|misfit| split::misfit(SPLIT_RULES, misfit))?;
        }
    }
    Ok(rules)
}

/// Adds the key of a session. Only its digest is stored: the key itself is derived again where it is shown (decision
/// 22).
async fn add_key(app: &App, caller: &Caller, batch: &mut Batch, session: &Session) -> Result<(), Error> {
    let public_key = public_key(app, session).await?;
    let id: Id<of::Credential> = app.chance.id(app.clock.of(caller.client_id));
    credentials::insert(
        batch,
        &NewCredential {
            digest: digest(&public_key.to_string()),
            id,
            kind: CredentialKind::SessionKey,
            label: String::new(),
            scopes: Scopes::of([Scope::Sessions]),
            session_id: Some(session.id),
            expires_at: None,
            actor: caller.actor(),
        },
    );
    Ok(())
}

/// The key of a session.
pub async fn public_key(app: &App, session: &Session) -> Result<Uuid, Error> {
    Ok(app.vault.client_keys(session.client_id).await?.session_key(session.id))
}

/// A session as `caller` may see it, with its key: a public key is not shown what it says of persons.
pub async fn view_for(app: &App, caller: &Caller, opened: &Opened) -> Result<SessionView, Error> {
    if caller.is_public_key() {
        return view_of(app, &opened.session).await;
    }
    let view = with_access(app, &opened.session).await?;
    Ok(match &opened.private.nupay_recipients {
        Some(recipients) => view.with_nupay_recipients(recipients.clone()),
        None => view,
    })
}

/// A session as its page is shown it, with its key.
pub async fn view_of(app: &App, session: &Session) -> Result<SessionView, Error> {
    Ok(with_access(app, session).await?.for_others())
}

async fn with_access(app: &App, session: &Session) -> Result<SessionView, Error> {
    let link = match (session.terms.create_link, &app.settings.base_url) {
        (true, Some(base_url)) => Some(format!("{base_url}/pay/{}", session.id)),
        (true, None) | (false, _) => None,
    };
    let view = SessionView::of(session, app.clock.of(session.client_id));
    Ok(view.with_access(public_key(app, session).await?, link))
}

/// A session that the caller may see, with what it says of persons.
async fn find_opened(app: &App, caller: &Caller, id: &str) -> Result<Opened, Error> {
    let id: SessionId = path_id(id)?;
    match caller.sees(id) {
        true => Opened::find(app, caller.client_id, id).await,
        false => Err(Error::NotFound),
    }
}

/// A session that the caller may see.
pub async fn find(app: &App, caller: &Caller, id: &str) -> Result<Session, Error> {
    let id: SessionId = path_id(id)?;
    match caller.sees(id) {
        true => flow::find(app, caller.client_id, id).await,
        false => Err(Error::NotFound),
    }
}

/// Reads a session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}", operation_id = "getSession", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    responses(
        (status = 200, description = "The session.", body = SessionSchema),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn read_one(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let opened = find_opened(&app, &caller, &id).await?;
    Ok(axum::Json(view_for(&app, &caller, &opened).await?).into_response())
}

/// What is left of a session after a change.
#[derive(ToSchema)]
#[schema(as = ChangedSession, rename_all = "camelCase",
    example = json!({ "id": "c1db83fa-723c-4e1f-9722-bc19d1be6791", "isActive": false }))]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document")]
pub struct ChangedSchema {
    id: Uuid,
    is_active: bool,
}

/// Switches a session on or off, and changes its due date, its limit and how it is divided among sellers.
///
/// A paid, canceled or voided session stays as it is, and one that is past its due date needs another one.
#[utoipa::path(
    patch, path = "/v1/sessions/{id}", operation_id = "updateSession", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    request_body(content = request::SessionChangesBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The session was changed.", body = ChangedSchema),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        (status = 422, description = "A session that Pix or boleto has paid, its limit or its split cannot be changed so.",
            body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn update(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, ApiError> {
    let mut before = find(&app, &caller, &id).await?;
    let mut changes = body.read(request::read_changes)?;
    if let Some(rules) = &mut changes.split_rules {
        let (client_id, merchant_id) = (caller.client_id, before.merchant_id);
        let merchant = routing::merchant(&app, client_id, merchant_id).await?;
        let now = app.clock.of(client_id);
        let fees = merchant
            .map(|merchant| before.terms.platform_fees(&merchant.merchant.details.platform_fee, now))
            .unwrap_or_default();
        *rules = divided(&app, client_id, merchant_id, before.amount, fees, rules).await?;
    }
    for _ in races::tries() {
        let now = app.clock.of(caller.client_id);
        request::check_due_today(&changes, now)?;
        let advance = before.patch(&changes, now).map_err(refused)?;
        let shown = json!({ "id": before.id, "isActive": changes.is_active });
        let Some(advance) = advance else { return Ok(axum::Json(shown).into_response()) };
        let mut batch = Batch::new(caller.client_id);
        flow::write(&app, &mut batch, &before, &advance, &caller.actor())?;
        queue::sessions::expire_when_due(&app, &mut batch, &advance.session);
        audit::record(&app, &mut batch, &caller, &request_id, "session.updated", before.id.uuid());
        let _admission = app.store.admit(caller.client_id)?;
        match app.store.apply(batch).await? {
            Commit::Applied => return Ok(axum::Json(shown).into_response()),
            // Another change came first, or the commit's outcome is unknown: the stored session tells which.
            Commit::Refused(_) | Commit::Unknown => before = find(&app, &caller, &id).await?,
        }
    }
    Err(Error::busy().into())
}

fn refused(refusal: PatchRefusal) -> Error {
    match refusal {
        PatchRefusal::NoLimit => Error::invalid("maxPayments", "must be absent: the session is paid once"),
        PatchRefusal::PixOrBoletoWithLimit => pix_or_boleto_with_limit(),
        PatchRefusal::Consumed => Error::BusinessRule {
            business_code: flow::CONSUMED,
            message: "Consumed one-to-one PIX or boleto sessions cannot be reactivated.".into(),
        },
        PatchRefusal::Status(status) => {
            Error::impossible(format!("session cannot be activated in status {}", status.word()))
        }
        PatchRefusal::PastDue => Error::impossible("session cannot be activated: its due date has passed"),
        PatchRefusal::LimitReached => Error::BusinessRule {
            business_code: flow::LIMIT_REACHED,
            message: "multiple payments limit reached".into(),
        },
    }
}

fn pix_or_boleto_with_limit() -> Error {
    Error::BusinessRule {
        business_code: flow::PIX_OR_BOLETO_WITH_LIMIT,
        message: "PIX and boleto payment methods do not support maxPayments greater than 1.".into(),
    }
}

/// What is left of a session that was canceled.
#[derive(ToSchema)]
#[schema(as = CanceledSession,
    example = json!({ "id": "c1db83fa-723c-4e1f-9722-bc19d1be6791", "status": "canceled" }))]
#[expect(dead_code, reason = "describes an answer for the OpenAPI document")]
pub struct CanceledSchema {
    id: Uuid,
    /// Always `canceled`.
    #[schema(value_type = super::schema::words::SessionStatus)]
    status: (),
}

/// Cancels a session.
///
/// Nobody can pay it any more; what a buyer was asked to pay ends as `failed`, and what he pays nevertheless is given
/// back. To cancel again what is canceled changes nothing.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/cancel", operation_id = "cancelSession", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    responses(
        (status = 201, description = "The session is canceled.", body = CanceledSchema),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn cancel(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let session_id: SessionId = path_id(&id)?;
    let route = format!("POST /v1/sessions/{session_id}/cancel");
    let plan = || plan_cancel(&app, &caller, &request_id, &id);
    commit_once(&app, &caller, &headers, &route, &body, plan).await
}

async fn plan_cancel(app: &App, caller: &Caller, request_id: &RequestId, id: &str) -> Result<Planned, Error> {
    let before = find(app, caller, id).await?;
    let canceled = before.cancel(app.clock.of(caller.client_id)).map_err(|NotCancelable(status)| {
        Error::impossible(format!("session cannot be canceled in status {}", status.word()))
    })?;
    let mut batch = Batch::new(caller.client_id);
    if let Some(advance) = canceled {
        flow::write(app, &mut batch, &before, &advance, &caller.actor())?;
        queue::sessions::close(app, &mut batch, &advance.session);
        audit::record(app, &mut batch, caller, request_id, "session.canceled", before.id.uuid());
    }
    let body = json!({ "id": before.id, "status": SessionStatus::Canceled.word() });
    Ok(Planned { batch, status: StatusCode::CREATED.as_u16(), body })
}

/// Pays a session.
///
/// The buyer says with what; merchant, amount and terms are the session's. The answer is that of `POST /v1/charges`. Of
/// two buyers who pay a session at once that is paid once, one is refused with `session_disabled`.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/charge", operation_id = "chargeSession", tag = "Sessions",
    params(
        ("id" = Uuid, Path, description = "The session."),
        ("X-Captcha-Token" = Option<String>, Header,
            description = "Proves that a person pays, where the session has `captchaEnabled` and the key is public"),
        ("X-Sandbox-Seed" = Option<String>, Header, max_length = 255,
            description = "Sandbox only: fixes what the simulator draws by lot"),
    ),
    request_body(content = request::PaymentBody, content_type = "application/json"),
    responses(
        (status = 201, description = "The charge, also when it was refused.", body = ChargeView),
        (status = 404, description = "There is no such session, card or customer.", body = ErrorEnvelope),
        (status = 409, description = "The idempotency key is in use, or was used with another body.",
            body = ErrorEnvelope),
        (status = 422, description = "The session cannot be paid, takes no cards any more, or asks for `X-Captcha-Token`.",
            body = ErrorEnvelope, headers(("X-Captcha-Challenge" = Option<String>,
                description = "What that token starts with, where the request has an idempotency key"))),
        CommonErrors,
    ),
)]
pub async fn charge(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let opened = Box::new(find_opened(&app, &caller, &id).await?);
    charges::make(app, caller, request, Some(opened)).await
}

/// Reads the history of a session, newest first.
///
/// A plain array of at most 1000 entries.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/history", operation_id = "getSessionHistory", tag = "Sessions",
    params(("id" = Uuid, Path, description = "The session.")),
    responses(
        (status = 200, description = "The history.", body = Vec<EntryView>),
        (status = 404, description = "There is no such session.", body = ErrorEnvelope),
        CommonErrors,
    ),
)]
pub async fn history(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let session = find(&app, &caller, &id).await?;
    let entries = sessions::history(&app.store, caller.client_id, session.id, HISTORY_MAX).await?;
    let views: Vec<EntryView> = entries.into_iter().map(|entry| EntryView::of(&session, entry)).collect();
    Ok(axum::Json(views).into_response())
}
