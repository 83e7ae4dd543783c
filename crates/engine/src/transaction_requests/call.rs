//! Calls a provider for a transaction request that is already stored. If no answer comes, it probes an authorization by
//! its key at once and sends a capture or void once more under the same key
//! (`docs/interface/charges.md#unknown-outcomes`).

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regente_domain::boleto;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::attempt::{
    Approval, OpenReason, Outcome, Reported, RequestGroup, ToldBy, TransactionRequest, unanswered,
};
use regente_domain::charge::authentication::Authenticated;
use regente_domain::charge::instructions::Instructions;
use regente_domain::charge::{Charge, FollowUpKind, TakenBack};
use regente_domain::decline::{Decline, Reason};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use regente_providers::outcome::{Answer, Finding, PayerPayment, Pending, Probe, Reversal, UnknownReason};
use regente_providers::request::{
    Call, Credentials, Inquiry, NotificationAddress, Operation, OperationKind, TestOverrides,
};
use regente_providers::sandbox;
use regente_store::StoreError;
use regente_store::providers::{self, Provider};
use regente_store::transaction_requests::{self, StoredRequest};
use serde_json::{Map, Value};

use crate::app::App;
use crate::transaction_requests::telemetry;
use crate::vault::{Binding, Purpose, VaultError};

/// The member of `paymentFlow.metadata` with the simulator's faults.
pub const SANDBOX_FAULTS: &str = "sandboxFaults";

/// Simulator overrides of one request; empty in production.
#[derive(Clone, Debug, Default)]
pub struct SimulatorOverrides(Option<TestOverrides>);

impl SimulatorOverrides {
    /// The overrides of a charge, with the seed of the request.
    pub fn of(app: &App, charge: &Charge, seed: Option<String>) -> Self {
        let metadata = charge.references.flow_metadata.as_ref();
        let faults = metadata.and_then(|metadata| metadata.get(SANDBOX_FAULTS)).cloned();
        Self(sandbox::overrides(app.settings.mode, seed, faults))
    }

    /// The overrides as a call carries them.
    pub(crate) fn of_call(&self) -> Option<TestOverrides> {
        self.0.clone()
    }

    /// The overrides of a request without a charge: only its seed.
    pub fn of_seed(app: &App, seed: Option<String>) -> Self {
        Self(sandbox::overrides(app.settings.mode, seed, None))
    }
}

/// How a call ended, and how long it took including the probe or repetition.
#[derive(Debug)]
pub struct CallResult {
    /// `Open` when it is unknown.
    pub outcome: Outcome,
    /// What a 3DS server has answered.
    pub authenticated: Option<Box<Authenticated>>,
    /// Why the answer told no outcome.
    pub open_reason: Option<OpenReason>,
    /// What told the outcome, if it was not the answer.
    pub told_by: Option<ToldBy>,
    /// The time from the call until its outcome was known.
    pub duration: Duration,
    /// When the request was last sent.
    pub sent_at: Timestamp,
}

impl CallResult {
    /// Why the outcome is open, if it is.
    pub fn still_open(&self) -> Option<OpenReason> {
        self.open_reason.filter(|_| self.outcome == Outcome::Open)
    }

    /// The request with its outcome.
    pub fn end(self, request: &TransactionRequest, now: Timestamp) -> TransactionRequest {
        let Self { outcome, authenticated, open_reason, told_by, duration, sent_at: _ } = self;
        let ended = request.end(outcome, Some(duration), now);
        TransactionRequest { authenticated, open_reason, told_by, ..ended }
    }
}

/// Calls the provider. If no answer comes, it probes or repeats once; if that does not answer either, the outcome stays
/// open.
pub async fn ask(
    app: &App,
    provider: &Provider,
    request: &TransactionRequest,
    overrides: &SimulatorOverrides,
    operation: Operation,
) -> Result<CallResult, VaultError> {
    let _running = app.in_flight.enter(request.id);
    let started = app.clock.machine();
    let again = repeatable(&operation);
    let mut sent_at = request.sent_at;
    // Boxed: the code before the call is larger than the call.
    let answering = Box::pin(call(app, provider, request, overrides, operation)).await?;
    let (outcome, open_reason, told_by) = match answering.await {
        Answer::Approved(approval) => (Outcome::Approved(approval), None, None),
        Answer::Declined(decline) => {
            if decline.is_for(Reason::InvalidCredentials) {
                tell_of_credentials(app, provider);
            }
            (Outcome::Declined(decline), None, None)
        }
        Answer::Pending(pending) => failed_if_open(pending_outcome(app, request, pending)),
        Answer::Accepted(approval) => failed_if_open(accepted_outcome(request, approval)),
        Answer::NotSent => (not_sent(request), None, Some(ToldBy::NotSent)),
        Answer::Unknown(reason) => {
            tracing::warn!(
                transaction_request = %request.id, provider = %request.provider_type.code(), %reason,
                "a provider did not answer; its outcome is looked up"
            );
            if again.is_some() {
                sent_at = app.clock.of(request.client_id);
            }
            let absent = unanswered(app.providers.unanswered_reason(request.provider_type));
            // Boxed: it is rare and would enlarge every call in flight.
            let look_up = LookUp::of(again);
            let finding_out = Box::pin(find_out(app, provider, request, overrides, look_up, absent));
            let ProviderReport { outcome, told_by, .. } = finding_out.await?;
            (outcome, Some(why_open(reason)), told_by)
        }
    };
    let duration = app.clock.machine().since(started);
    Ok(CallResult { outcome, authenticated: None, open_reason, told_by, duration, sent_at })
}

/// Tells the operator, once a minute, of a provider that refuses its merchant's credentials: no charge passes there until
/// they are mended.
fn tell_of_credentials(app: &App, provider: &Provider) {
    if let Some(refused) = app.refused_credentials.count(provider.id, app.clock.machine()) {
        tracing::warn!(
            provider_id = %provider.id, provider = %provider.provider_type.code(), merchant = %provider.merchant_id,
            refused, "a provider refuses the credentials of a merchant: `regente providers check` tries them"
        );
    }
}

/// What a provider says of a request.
pub struct ProviderReport {
    /// The outcome of the request: the first payment, if its payer has paid.
    pub outcome: Outcome,
    /// What the payer has paid, if they have.
    pub amount: Option<Amount>,
    /// Further payments of the same payer.
    pub paid_again: Vec<PayerPayment>,
    /// What has happened to the payment since, in order.
    pub reversals: Vec<Reversal>,
    /// The payments among them that were taken back.
    pub taken_back: Vec<TakenBack>,
    /// What a 3DS server has answered.
    pub authenticated: Option<Box<Authenticated>>,
    /// When it happened, by the provider's clock, if a notification told it.
    pub occurred_at: Option<Timestamp>,
    /// What has told it.
    pub told_by: Option<ToldBy>,
}

impl From<Outcome> for ProviderReport {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            amount: None,
            paid_again: Vec::new(),
            reversals: Vec::new(),
            taken_back: Vec::new(),
            authenticated: None,
            occurred_at: None,
            told_by: None,
        }
    }
}

impl ProviderReport {
    /// What a finding says of a request.
    pub fn of(app: &App, request: &TransactionRequest, finding: Finding) -> Self {
        match finding {
            Finding::Approved(approval) => Outcome::Approved(approval).into(),
            Finding::Declined(decline) => Outcome::Declined(decline).into(),
            Finding::Pending(pending) => pending_outcome(app, request, pending).into(),
            Finding::Accepted(approval) => accepted_outcome(request, approval).into(),
            Finding::Paid(mut payments) => {
                // A payment of 0 is none: the payer is still waited for.
                payments.retain(|payment| payment.amount > Amount::ZERO);
                if payments.is_empty() {
                    let is_pending = request.pending().is_some();
                    return if is_pending { request.outcome.clone() } else { Outcome::Open }.into();
                }
                let taken_back = payments.iter().filter_map(taken_back).collect();
                let PayerPayment { reference, amount, taken_back: _ } = payments.remove(0);
                let outcome = Outcome::Approved(reference);
                Self { amount: Some(amount), paid_again: payments, taken_back, ..outcome.into() }
            }
            Finding::Reversed { taken, reversals } => Self { reversals, ..Self::of(app, request, *taken) },
        }
    }

    /// The request with its outcome, once for each payment.
    pub fn ended(self, request: &TransactionRequest, now: Timestamp) -> Vec<TransactionRequest> {
        let Self { outcome, amount, paid_again, authenticated, occurred_at, told_by, .. } = self;
        let authenticated = authenticated.or_else(|| request.authenticated.clone());
        let with = |outcome, amount| {
            let authenticated = authenticated.clone();
            let ended = request.end(outcome, None, now);
            TransactionRequest { amount, authenticated, occurred_at, told_by, ..ended }
        };
        let first = with(outcome, amount.unwrap_or(request.amount));
        let again = paid_again.into_iter();
        let again = again.map(|payment| with(Outcome::Approved(payment.reference), payment.amount));
        [first].into_iter().chain(again).collect()
    }
}

fn taken_back(payment: &PayerPayment) -> Option<TakenBack> {
    let reference = payment.taken_back.clone()?;
    Some(TakenBack { transaction_id: payment.reference.transaction_id.clone(), reference })
}

/// How the outcome of a request is found out.
pub enum LookUp {
    /// It is sent again under its own key.
    SendAgain(Box<Operation>),
    /// Its provider is asked about it.
    Probe {
        /// What the browser of the payer has brought back.
        returned: BTreeMap<String, String>,
    },
}

impl LookUp {
    /// Its provider is asked about it, and no browser has come back.
    pub const PROBE: Self = Self::Probe { returned: BTreeMap::new() };

    /// Sends the operation again, if there is one, otherwise asks.
    pub fn of(again: Option<Operation>) -> Self {
        again.map_or(Self::PROBE, |operation| Self::SendAgain(Box::new(operation)))
    }
}

/// Finds out the outcome of a request, once. `absent` is the outcome when the provider has no record of the key. In a
/// release without the provider's adapter the outcome stays open: another release may have sent the request.
pub async fn find_out(
    app: &App,
    provider: &Provider,
    request: &TransactionRequest,
    overrides: &SimulatorOverrides,
    look_up: LookUp,
    absent: Decline,
) -> Result<ProviderReport, VaultError> {
    if !app.providers.has_adapter(request.provider_type) {
        tracing::error!(
            alert = "provider_adapter_missing", transaction_request = %request.id,
            provider = %request.provider_type.code(),
            "this release has no adapter for the provider of a request whose outcome is looked up: the outcome stays \
             as it is until a release with the adapter runs"
        );
        return Ok(Outcome::Open.into());
    }
    let operation = match look_up {
        LookUp::SendAgain(operation) => *operation,
        LookUp::Probe { returned } => {
            return probed(app, provider, request, overrides, returned, absent).await;
        }
    };
    let outcome = match call(app, provider, request, overrides, operation).await?.await {
        Answer::Approved(approval) => Outcome::Approved(approval),
        Answer::Declined(decline) => Outcome::Declined(decline),
        Answer::Pending(pending) => pending_outcome(app, request, pending),
        Answer::Accepted(approval) => accepted_outcome(request, approval),
        // An earlier repetition may have had an effect.
        Answer::NotSent | Answer::Unknown(_) => Outcome::Open,
    };
    Ok(ProviderReport { told_by: Some(ToldBy::Repetition), ..outcome.into() })
}

async fn probed(
    app: &App,
    provider: &Provider,
    request: &TransactionRequest,
    overrides: &SimulatorOverrides,
    returned: BTreeMap<String, String>,
    absent: Decline,
) -> Result<ProviderReport, VaultError> {
    let found = match probe(app, provider, request, overrides, returned).await? {
        Probe::Found(finding) => ProviderReport::of(app, request, finding),
        Probe::Absent if request.outcome != Outcome::Open && !is_denied(request) => {
            tracing::error!(
                transaction_request = %request.id, provider = %request.provider_type.code(),
                "the provider denies a request that it has issued instructions for or accepted; it is asked again"
            );
            Outcome::Open.into()
        }
        Probe::Absent => Outcome::NoEffect(absent).into(),
        Probe::Unknown => Outcome::Open.into(),
    };
    Ok(ProviderReport { told_by: Some(ToldBy::Probe), ..found })
}

/// The provider was not reached, so the next one can be asked at once, and there is nothing to look up later.
fn not_sent(request: &TransactionRequest) -> Outcome {
    tracing::warn!(
        transaction_request = %request.id, provider = %request.provider_type.code(),
        "a provider cannot be reached; nothing was sent"
    );
    Outcome::Declined(Decline::from_reason(Reason::RequestNotSent))
}

const fn is_denied(request: &TransactionRequest) -> bool {
    matches!(request.outcome, Outcome::NoEffect(_))
}

/// Only an authorization waits for its payer; any other pending answer stays open and is looked up later.
fn pending_outcome(app: &App, request: &TransactionRequest, mut pending: Box<Pending>) -> Outcome {
    if !request.request_type.is_authorization() {
        return Outcome::Open;
    }
    // Where the provider does not say until when, the calendar of the banks does.
    if let (Instructions::Boleto(issued), None) = (&pending.instructions, pending.expires_at) {
        pending.expires_at = Some(boleto::awaited_until(&app.settings.calendar, issued.due));
    }
    Outcome::Pending(pending)
}

/// Only a capture or void is accepted first and carried out later.
fn accepted_outcome(request: &TransactionRequest, approval: Approval) -> Outcome {
    if request.request_type.is_authorization() { Outcome::Open } else { Outcome::Accepted(approval) }
}

/// An answer that does not fit its request tells nothing.
fn failed_if_open(outcome: Outcome) -> (Outcome, Option<OpenReason>, Option<ToldBy>) {
    let open_reason = (outcome == Outcome::Open).then_some(OpenReason::ProviderFailed);
    (outcome, open_reason, None)
}

/// Begins a call. The returned future holds only what it needs to wait for the answer.
async fn call<'a>(
    app: &'a App,
    provider: &Provider,
    request: &'a TransactionRequest,
    overrides: &SimulatorOverrides,
    operation: Operation,
) -> Result<BoxFuture<'a, Answer>, VaultError> {
    let call = Call {
        key: request.provider_key(),
        object_id: request.object_id,
        notify: app
            .settings
            .base_url
            .clone()
            .map(|service| NotificationAddress { service, provider_id: provider.id.uuid() }),
        at: app.clock.of(request.client_id),
        begun_at: request.id.created_at(),
        provider_type: request.provider_type,
        credentials: credentials(app, provider).await?,
        options: provider.options.clone().unwrap_or_default(),
        mode: app.settings.mode,
        test_overrides: overrides.0.clone(),
        operation,
    };
    let watch = app.circuits.watch(provider.id, &call, &app.providers);
    let answering = telemetry::call(app, request, app.providers.call(call));
    Ok(answering.inspect(move |answer| watch.ended(answer)).boxed())
}

async fn probe(
    app: &App,
    provider: &Provider,
    request: &TransactionRequest,
    overrides: &SimulatorOverrides,
    returned: BTreeMap<String, String>,
) -> Result<Probe, VaultError> {
    let credentials = credentials(app, provider).await?;
    let Some(inquiry) = inquiry(app, provider, request, credentials) else { return Ok(Probe::Unknown) };
    let inquiry = Inquiry { returned, test_overrides: overrides.0.clone(), ..inquiry };
    Ok(telemetry::probe(app, request, app.providers.probe(inquiry)).await)
}

fn inquiry(
    app: &App,
    provider: &Provider,
    request: &TransactionRequest,
    credentials: Credentials,
) -> Option<Inquiry> {
    Some(Inquiry {
        key: request.provider_key(),
        object_id: request.object_id,
        operation: operation_kind(request)?,
        capture: capture_mode(request),
        reference: request.transaction_id().map(str::to_owned),
        returned: BTreeMap::new(),
        sent_at: request.sent_at,
        at: app.clock.of(request.client_id),
        provider_type: request.provider_type,
        credentials,
        options: provider.options.clone().unwrap_or_default(),
        mode: app.settings.mode,
        test_overrides: None,
    })
}

/// Whether these credentials may replace those of a provider: nothing is open there, or the provider shows what is open to
/// them, so that they are of the same account. Otherwise what is open would be asked about at an account that has never seen
/// it.
///
/// # Errors
/// As the store.
pub async fn may_replace_credentials(
    app: &App,
    provider: &Provider,
    credentials: Credentials,
) -> Result<bool, StoreError> {
    let reserved_since = app.clock.of(provider.client_id) - app.settings.reservation_life;
    let open =
        transaction_requests::open_at_provider(&app.store, provider.client_id, provider.id, reserved_since);
    let Some(StoredRequest { request, .. }) = open.await? else { return Ok(true) };
    if request.transaction_id().is_none() {
        return Ok(false);
    }
    let Some(inquiry) = inquiry(app, provider, &request, credentials) else { return Ok(false) };
    Ok(matches!(app.providers.probe(inquiry).await, Probe::Found(_)))
}

/// How long the answer to a request is waited for.
pub(crate) fn deadline(app: &App, request: &TransactionRequest) -> Duration {
    match operation_kind(request) {
        Some(operation) => app.providers.deadline(request.provider_type, operation),
        None if request.request_type.is_about_risk() => app.anti_fraud.deadline(request.provider_type),
        None => app.authentication.deadline(request.provider_type),
    }
}

/// The payment provider's operation of a request; `None` for one to a 3DS server or a provider of risk.
const fn operation_kind(request: &TransactionRequest) -> Option<OperationKind> {
    match request.request_type.group() {
        RequestGroup::Authorization(_) => Some(OperationKind::Authorization),
        RequestGroup::CardCheck => Some(OperationKind::ZeroDollar),
        RequestGroup::FollowUp(FollowUpKind::Capture) => Some(OperationKind::Capture),
        RequestGroup::FollowUp(FollowUpKind::Void) | RequestGroup::Reversal(Reported::ChargeBack) => {
            Some(OperationKind::Void)
        }
        RequestGroup::Reversal(Reported::Dispute | Reported::DisputeClosed | Reported::RevertVoid)
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(_) => None,
    }
}

/// Who was to take the money; `None` of what is no authorization.
const fn capture_mode(request: &TransactionRequest) -> Option<CaptureMode> {
    match request.request_type.group() {
        RequestGroup::Authorization(capture) => Some(capture),
        RequestGroup::CardCheck
        | RequestGroup::FollowUp(_)
        | RequestGroup::Reversal(_)
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(_) => None,
    }
}

/// The operation, if it may be sent again under its key. An authorization may not: its security code is not stored
/// (`docs/interface/charges.md#unknown-outcomes`).
fn repeatable(operation: &Operation) -> Option<Operation> {
    match operation {
        Operation::Authorize(_) | Operation::VerifyCard(_) => None,
        Operation::Capture(follow_up) => Some(Operation::Capture(follow_up.clone())),
        Operation::Void(follow_up) => Some(Operation::Void(follow_up.clone())),
    }
}

const fn why_open(reason: UnknownReason) -> OpenReason {
    match reason {
        UnknownReason::TimedOut => OpenReason::TimedOut,
        UnknownReason::ConnectionLost => OpenReason::ConnectionLost,
        UnknownReason::ProviderFailed => OpenReason::ProviderFailed,
        UnknownReason::Unreadable => OpenReason::Unreadable,
    }
}

/// The merchant's credentials at a provider.
pub(crate) async fn credentials(app: &App, provider: &Provider) -> Result<Credentials, VaultError> {
    let binding = Binding::new(Purpose::ProviderCredentials, provider.client_id, provider.id.uuid());
    let plain = match app.vault.open(binding, &provider.credentials).await {
        // The credentials were resealed under another data key after the provider was read, and the former key was
        // destroyed.
        Err(VaultError::UnknownKey(_)) => {
            let sealed_again = providers::find(&app.store, provider.client_id, provider.id).await?;
            let sealed_again = sealed_again.ok_or(VaultError::DoesNotOpen)?;
            app.vault.open(binding, &sealed_again.credentials).await?
        }
        opened => opened?,
    };
    let members: Map<String, Value> = serde_json::from_slice(&plain).map_err(|_| VaultError::DoesNotOpen)?;
    Ok(Credentials::new(members))
}
