//! An attempt to charge a cycle: its order, and what its charge tells.

use std::sync::{Mutex, PoisonError};

use regente_domain::capture_mode::CaptureMode;
use regente_domain::card::record::{Card, CardState};
use regente_domain::charge::analysis::{AnalysisStatus, Standing};
use regente_domain::charge::attempt::{Outcome as RequestOutcome, RequestType, TransactionRequest};
use regente_domain::charge::{Charge, ChargeState, References};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::{ChargeId, ClientId, CycleId};
use regente_domain::session::Session;
use regente_domain::subscription::{BegunAttempt, BillingRules, CURRENCY, Made, Order, Outcome, Repair};
use regente_store::{cards, charges, subscriptions as rows};
use serde_json::Map;

use super::begin::AttemptOrder;
use super::known::Known;
use super::settings;
use crate::app::App;
use crate::card_data::CvvSource;
use crate::charges::create::Created;
use crate::charges::{
    self as making, Buyer, CardMethod, CardTriedObserver, ChargeOrder, Guard, OrderedCard, Origin, PaidBy,
    PlacedBy,
};
use crate::error::Error;
use crate::queue::Kind;

/// The guard of a card that has passed one before its subscription was written; whoever wants to hear what becomes of it is told.
pub(super) struct Passed(Mutex<Option<CardTriedObserver>>);

impl Passed {
    pub(super) fn with(hears: Option<CardTriedObserver>) -> Self {
        Self(Mutex::new(hears))
    }
}

impl Guard for Passed {
    type Error = Error;

    async fn lets_pay(&self, _session: &Session) -> Result<(), Error> {
        Ok(())
    }

    fn lets_try(&self, _card: &Card) -> Result<Option<CardTriedObserver>, Error> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).take())
    }
}

/// Charges a cycle, with a security code where one came with the creation. If another node came first, or a change of the merchant,
/// the next step is decided anew.
pub(super) async fn charge(
    app: &App,
    known: Known,
    cycle_id: CycleId,
    code: CvvSource,
    guard: impl Guard<Error = Error>,
) -> Result<(), Error> {
    let client_id = known.subscription.client_id;
    let rules = settings::rules(app, client_id).await?;
    let cycle = known.cycles.iter().find(|cycle| cycle.id == cycle_id);
    let cycle = cycle.ok_or_else(|| Error::internal("a cycle that is due and not known"))?;
    let ordered = known.subscription.order(cycle);
    let attempt = AttemptOrder { known: known.clone(), cycle_id, rules: rules.clone() };
    let order = order(ordered, &rules, attempt, code);
    let by = PlacedBy::Job { client_id, kind: Kind::Subscription.word() };
    let admission = app.store.admit_waiting().await?;
    match making::place(app.clone(), order, by, admission, guard).await {
        // The next step reads the outcome.
        Ok(Created::Ran(_)) => Ok(()),
        Ok(Created::Answered(_)) => Err(Error::internal("an answer to a request without a key")),
        Err(error) if error.is_final() => impossible(app, &known, cycle_id, &rules, &error).await,
        Err(error) => {
            let stored = rows::find(&app.store, client_id, known.subscription.id).await?;
            let is_changed = stored.is_none_or(|stored| stored.version != known.subscription.version);
            if is_changed { Ok(()) } else { Err(error) }
        }
    }
}

fn order(ordered: Order, rules: &BillingRules, attempt: AttemptOrder, cvv: CvvSource) -> ChargeOrder {
    let Order { cycle_id: _, attempt: _, key: _, terms, card_id, recurrence, follows: _ } = ordered;
    let method = CardMethod::Credit { installments: terms.installments, recurrence: Some(recurrence) };
    ChargeOrder {
        origin: Origin::Subscription(Box::new(attempt)),
        merchant_id: terms.merchant_id,
        amount: terms.amount,
        currency: CURRENCY,
        capture: CaptureMode::Automatic,
        order_id: None,
        buyer: Some(Buyer::Named(terms.customer_id)),
        paid_by: PaidBy::Card(method, OrderedCard::Stored { card_id, cvv }),
        authentication: None,
        split_rules: terms.split_rules,
        references: References {
            statement_descriptor: rules.statement_descriptor.clone(),
            ..References::default()
        },
        vendor: None,
        private: Map::new(),
    }
}

/// Records an attempt of which no charge can be made: the customer, the merchant or the card is gone.
async fn impossible(
    app: &App,
    known: &Known,
    cycle_id: CycleId,
    rules: &BillingRules,
    error: &Error,
) -> Result<(), Error> {
    let client_id = known.subscription.client_id;
    tracing::warn!(
        subscription = %known.subscription.id, cycle = %cycle_id, error = ?error,
        "a cycle of a subscription cannot be charged"
    );
    let now = app.clock.of(client_id);
    let card = cards::find(&app.store, client_id, known.subscription.payment.card_id).await?;
    let is_failed = card.is_some_and(|stored| matches!(stored.card.state, CardState::Failed { .. }));
    let repair = if is_failed { Repair::ByAnotherCard } else { Repair::Possible };
    let made = Made::Nothing { error_code: error_code(error), repair };
    let begun = BegunAttempt { id: app.chance.id(now), made };
    let Ok(begun) = known.subscription.begin(&known.cycles, cycle_id, begun, rules, now) else {
        return known.take_step(app).await;
    };
    let Some(after) = begun else { return Ok(()) };
    known.move_on(app, &after).await.map(drop)
}

/// `errorCode` of `subscription.cycle_failed`: the HTTP status with which the same charge would be refused.
const fn error_code(error: &Error) -> u16 {
    match error {
        Error::NotFound | Error::ReferenceNotFound(_) | Error::SellersNotFound { .. } => 404,
        Error::Conflict { .. } => 409,
        Error::BusinessRule { .. }
        | Error::FlowRefused { .. }
        | Error::PrepaymentRefused(_)
        | Error::VoucherRefused { .. }
        | Error::SellersUnable { .. } => 422,
        Error::ProviderNeeded { .. } => 424,
        Error::Gone(_) => 410,
        Error::Invalid(_)
        | Error::RuleBroken(_)
        | Error::Impossible { .. }
        | Error::CardDeclined { .. }
        | Error::IdempotencyMismatch
        | Error::Processing { .. }
        | Error::IdempotencyRunning { .. }
        | Error::TooManyAtOnce { .. }
        | Error::Unavailable { .. }
        | Error::Internal(_) => 400,
    }
}

/// What the charge of an attempt tells, and the version that does; `None` while its outcome is awaited.
pub(super) async fn outcome_of(
    app: &App,
    client_id: ClientId,
    charge_id: ChargeId,
) -> Result<Option<(Outcome, i64)>, Error> {
    let found = charges::find_with_requests(&app.store, client_id, charge_id).await?;
    let (stored, requests) = found.ok_or_else(|| Error::internal("an attempt without its charge"))?;
    let is_given_up = requests.iter().any(|stored| stored.given_up_at.is_some());
    let requests: Vec<TransactionRequest> = requests.into_iter().map(|stored| stored.request).collect();
    let version = stored.charge.version;
    Ok(told(&stored.charge, &requests, is_given_up).map(|outcome| (outcome, version)))
}

fn told(charge: &Charge, requests: &[TransactionRequest], is_given_up: bool) -> Option<Outcome> {
    if let Standing::Held(AnalysisStatus::Reproved) = charge.standing(requests)
        && matches!(
            charge.state,
            ChargeState::Failed { .. } | ChargeState::Voided { .. } | ChargeState::Canceled { .. }
        )
    {
        return Some(Outcome::Declined(Box::new(Decline::of(DeclinedCode::FraudSuspect))));
    }
    match charge.state {
        ChargeState::Processing | ChargeState::CapturePending { .. } if is_given_up => {
            Some(Outcome::Unanswered)
        }
        // An analysis of the risk may still hold a reservation.
        ChargeState::Processing
        | ChargeState::AwaitingPayer { .. }
        | ChargeState::PreAuthorized { .. }
        | ChargeState::CapturePending { .. } => None,
        ChargeState::Authorized { .. }
        | ChargeState::RefundPending { .. }
        | ChargeState::RefundAccepted { .. }
        | ChargeState::Voided { .. }
        | ChargeState::ChargedBack { .. } => Some(Outcome::Approved),
        ChargeState::Canceled { .. } if is_voided(requests) => Some(Outcome::Canceled),
        ChargeState::Failed { .. } | ChargeState::Canceled { .. } => {
            let authorizations = requests.iter().filter(|request| request.request_type.is_authorization());
            let declined = authorizations.rev().find_map(|request| match &request.outcome {
                RequestOutcome::Declined(decline) | RequestOutcome::NoEffect(decline) => {
                    Some(decline.clone())
                }
                RequestOutcome::Open
                | RequestOutcome::Pending(_)
                | RequestOutcome::Accepted(_)
                | RequestOutcome::Approved(_)
                | RequestOutcome::Analysed(_) => None,
            });
            let declined = declined.unwrap_or_else(|| Decline::of(DeclinedCode::Generic));
            Some(Outcome::Declined(Box::new(declined)))
        }
    }
}

/// Whether the reservation was let go since somebody here has asked for it, and not by the provider.
fn is_voided(requests: &[TransactionRequest]) -> bool {
    requests.iter().any(|request| {
        request.request_type == RequestType::Void && matches!(request.outcome, RequestOutcome::Approved(_))
    })
}
