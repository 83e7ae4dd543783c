//! Captures and voids a charge (`docs/interface/charges.md#states`): the intent opens the operation, the provider is
//! called, the outcome settles or withdraws the operation. The reconcile job uses the same functions after it sends the
//! request again under the same key.

pub(crate) mod done_elsewhere;
pub(crate) mod orphaned;

use regente_domain::actor::Actor;
use regente_domain::charge::attempt::{Asks, RequestGroup, RequestType, TransactionRequest};
use regente_domain::charge::{self, Charge, Ended, FollowUpKind, FollowUpRefusal};
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::split::SellerReturn;
use regente_providers::request::{FollowUp, Held, Operation};
use regente_store::purchases::{self, PurchaseVersion};
use regente_store::transaction_requests::{self, StoredRequest};
use regente_store::{Batch, Commit, charges};

use crate::app::App;
use crate::charges::plan_step::{Step, ids, misstep};
use crate::charges::split;
use crate::charges::stored::{self, Created, Ran, charge_of, provider_of, reread};
use crate::charges::underpaid::{self, Accepted};
use crate::charges::write_outcome::{self, Written};
use crate::error::Error;
use crate::idempotency::{self, Claim, Claiming};
use crate::metrics;
use crate::queue::sessions;
use crate::races;
use crate::transaction_requests::call::{self, ProviderReport, SimulatorOverrides};

/// A requested capture or void.
pub struct NewFollowUp {
    /// The account.
    pub client_id: ClientId,
    /// The charge.
    pub charge_id: ChargeId,
    /// Capture or void.
    pub operation: FollowUpKind,
    /// Amount in minor units; the full amount when absent.
    pub amount: Option<Amount>,
    /// How many days a provider of NuPay may take to gather what a void gives back.
    pub delay_to_compose: Option<u16>,
    /// What sellers give back with a void; empty for what is theirs in proportion.
    pub returns: Vec<SellerReturn>,
    /// The purchase that the charge belongs to. If it has another version by now, the operation is refused.
    pub purchase: Option<PurchaseVersion>,
    /// The idempotency claim.
    pub claim: Option<Claim>,
    /// The author of the change.
    pub actor: Actor,
    /// `X-Sandbox-Seed`.
    pub seed: Option<String>,
}

/// Captures or voids. Runs to its end even when the caller hangs up: call it in a task of its own.
pub async fn create(app: App, new: NewFollowUp) -> Result<Created, Error> {
    let _admission = match new.actor {
        Actor::Job(_) => app.store.admit_waiting().await?,
        Actor::Key(_) | Actor::ClientToken(_) | Actor::SessionKey(_) | Actor::Member(_) | Actor::Operator => {
            app.store.admit(new.client_id)?
        }
    };
    for _ in races::tries() {
        let found = stored::find(&app, new.client_id, new.charge_id).await?;
        let Ran { charge: before, requests } = found.ok_or(Error::NotFound)?;
        let Some(authorization) = charge::approved_authorization(&requests) else {
            return Err(refused(&before, before.no_authorization(new.operation)));
        };
        let now = app.clock.of(new.client_id);
        if let FollowUpKind::Capture = new.operation
            && let Some(accepting) = before.accept_underpaid(new.amount, now)
        {
            let accepted = accepting.map_err(|refusal| refused(&before, refusal))?;
            match underpaid::accept(&app, &before, &accepted, new.claim.as_ref(), &new.actor).await? {
                Accepted::Written => {
                    return Ok(Created::Ran(Box::new(Ran { charge: accepted.charge, requests })));
                }
                Accepted::Answered(finished) => return Ok(Created::Answered(finished)),
                Accepted::LostRace => continue,
            }
        }
        let opening = before.open_giving_back(new.operation, new.amount, &new.returns, now);
        let (opened, open) = opening.map_err(|refusal| refused(&before, refusal))?;
        let asks = Asks::about(authorization, new.operation.request_type(), open.amount);
        let begun = opened.begin_request(app.chance.id(now), asks, now);
        let request = TransactionRequest { delay_to_compose: new.delay_to_compose, ..begun };
        let intent = || -> Result<Batch, Error> {
            let mut batch = Batch::new(new.client_id);
            if let Some(claim) = &new.claim {
                claim.answer_with(&app, &mut batch, &opened);
            }
            if let Some(purchase) = new.purchase {
                purchases::hold(&mut batch, purchase);
            }
            charges::update(&mut batch, &before, &opened, &new.actor)?;
            sessions::wake(&app, &mut batch, &before, &opened, None);
            write_outcome::begin(&app, &mut batch, &request, None, &new.actor, now);
            Ok(batch)
        };
        match idempotency::apply_claiming(&app, new.claim.as_ref(), intent).await? {
            Claiming::Overtaken(finished) => return Ok(Created::Answered(finished)),
            Claiming::Ended(Commit::Applied) => {
                let overrides = SimulatorOverrides::of(&app, &opened, new.seed);
                let sent = send(&app, opened, request, requests, &overrides, &new.actor).await?;
                return Ok(Created::Ran(Box::new(sent)));
            }
            // Another node moved the purchase: decide again.
            Claiming::Ended(Commit::Refused(refusal)) if refusal.is(&purchases::HOLD_PURCHASE) => {
                return Err(Error::busy());
            }
            // Another node moved the charge: check again what is allowed.
            Claiming::Ended(Commit::Refused(_)) => {}
            // The commit may have succeeded although its answer was lost: read the request.
            Claiming::Ended(Commit::Unknown) => {
                let written = requests_of(&app, &before).await?;
                if !written.iter().any(|stored| stored.id == request.id) {
                    return Err(Error::unavailable());
                }
                let overrides = SimulatorOverrides::of(&app, &opened, new.seed);
                let sent = send(&app, opened, request, requests, &overrides, &new.actor).await?;
                return Ok(Created::Ran(Box::new(sent)));
            }
        }
    }
    Err(Error::busy())
}

/// Sends a capture or void that is opened and stored, and writes its outcome. `requests` are the earlier ones, oldest
/// first.
pub(crate) async fn send(
    app: &App,
    opened: Charge,
    request: TransactionRequest,
    mut requests: Vec<TransactionRequest>,
    overrides: &SimulatorOverrides,
    actor: &Actor,
) -> Result<Ran, Error> {
    let provider = provider_of(app, &request).await?;
    let operation = operation_of(app, &opened, &requests, &request).await?;
    let asked = call::ask(app, &provider, &request, overrides, operation).await?;
    let request = TransactionRequest { sent_at: asked.sent_at, ..request };
    if let Some(reason) = asked.still_open() {
        write_outcome::leave_open(app, &opened, &request, reason, actor).await;
        requests.push(request);
        return Ok(Ran { charge: opened, requests });
    }
    let mut ended = asked.end(&request, app.clock.of(request.client_id));
    requests.push(request);
    let mut ran = Ran { charge: opened, requests };
    for _ in races::tries() {
        let now = app.clock.of(ended.client_id);
        let step: Step = ran.charge.after_operation(&ended, now).map_err(misstep)?.into();
        ended = step.ends(ended);
        match write_outcome::write(app, &ran.charge, Some(&ended), &step, None, actor).await? {
            Written::ByUs => {
                let mut requests = ran.requests;
                if let Some(open) = requests.iter_mut().find(|stored| stored.id == ended.id) {
                    *open = ended;
                }
                return Ok(Ran { charge: step.charge, requests });
            }
            Written::Elsewhere => ran = reread(app, &ran.charge).await?,
            Written::NotYet => return Ok(ran),
        }
        // Otherwise another request of the charge came or ended meanwhile, such as the void of a further payment.
        if !ran.charge.has_open(&ended) {
            return Ok(ran);
        }
    }
    Ok(ran)
}

/// Ends an operation after its caller is gone: the reconcile job has found out its outcome, or the provider has notified
/// it.
pub async fn recover(app: &App, ended: TransactionRequest, actor: &Actor) -> Result<(), Error> {
    for _ in races::tries() {
        let Ran { charge, requests } = stored::whole_of(app, &ended).await?;
        let now = app.clock.of(ended.client_id);
        let step = match charge.end_operation(&requests, &ended, now).map_err(misstep)? {
            Ended::Known => return Ok(()),
            Ended::Contradicted(known) => {
                report_contradiction(&known);
                return Ok(());
            }
            Ended::Orphan(end) => return orphaned::end(app, &charge, *end, actor).await,
            Ended::Operation(step) => Step::from(*step),
        };
        let written = step.ends(ended.clone());
        match write_outcome::write(app, &charge, Some(&written), &step, None, actor).await? {
            Written::ByUs => return Ok(()),
            // What the other node has written may say that nothing was done: decide again.
            Written::Elsewhere => {}
            Written::NotYet => return Err(Error::unavailable()),
        }
    }
    Err(Error::busy())
}

/// A provider says that it has done what it had refused: the records and its books differ, and the operator must look.
fn report_contradiction(known: &TransactionRequest) {
    metrics::follow_up_contradicted();
    tracing::error!(
        alert = "follow_up_contradicted", charge = %known.object_id, transaction_request = %known.id,
        client = %known.client_id, provider = %known.provider_type.code(),
        "a provider has carried out a capture or void that is recorded as refused: the operator must look"
    );
}

/// Records the result of `accepted`, a capture or void that the provider had accepted.
pub async fn report(
    app: &App,
    accepted: &TransactionRequest,
    found: ProviderReport,
    actor: &Actor,
) -> Result<(), Error> {
    let ProviderReport { outcome, occurred_at, told_by, .. } = found;
    for _ in races::tries() {
        let Ran { charge: before, requests } = stored::whole_of(app, accepted).await?;
        let now = app.clock.of(accepted.client_id);
        let ended = before.end_accepted(&requests, accepted, outcome.clone(), &ids(app, &before), now);
        let Some((told, ended)) = ended.map_err(misstep)? else { return Ok(()) };
        let step = match ended {
            Ended::Operation(step) => *step,
            Ended::Orphan(end) => {
                let (told, follows) = *end;
                let end = (TransactionRequest { told_by, ..told }, follows);
                return orphaned::report(app, &before, accepted, end, actor).await;
            }
            Ended::Known | Ended::Contradicted(_) => return Ok(()),
        };
        let step = Step::from(step);
        let told = TransactionRequest { occurred_at, told_by, ..step.ends(told) };
        match write_outcome::write(app, &before, Some(&told), &step, None, actor).await? {
            Written::ByUs => return Ok(()),
            Written::Elsewhere => {}
            Written::NotYet => return Err(Error::unavailable()),
        }
    }
    Err(Error::busy())
}

/// The operation that the reconcile job sends again.
pub async fn again(app: &App, stored: &StoredRequest) -> Result<(Charge, Operation), Error> {
    let charge = charge_of(app, &stored.request).await?;
    let requests = requests_of(app, &charge).await?;
    let operation = operation_of(app, &charge, &requests, &stored.request).await?;
    Ok((charge, operation))
}

/// The provider operation of a capture or void request.
async fn operation_of(
    app: &App,
    charge: &Charge,
    requests: &[TransactionRequest],
    request: &TransactionRequest,
) -> Result<Operation, Error> {
    let Some(authorization) = charge.followed(requests, request) else {
        return Err(Error::internal("a request that follows no authorization"));
    };
    let undone = request.undone_transaction_id.as_deref();
    let transaction_id = undone.or_else(|| authorization.transaction_id()).map(str::to_owned);
    let division = match &charge.split {
        Some(_) if charge.has_open(request) => {
            Box::pin(split::of_open(app, charge, request.provider_id)).await?
        }
        Some(_) | None => None,
    };
    let follow_up = FollowUp {
        authorization_key: authorization.provider_key(),
        transaction_id,
        payment_type: charge.method.payment_type(),
        amount: request.amount,
        currency: charge.currency,
        held: held(charge, request, authorization),
        delay_to_compose: request.delay_to_compose,
        division,
    };
    match request.request_type.group() {
        RequestGroup::FollowUp(FollowUpKind::Capture) => Ok(Operation::Capture(follow_up)),
        RequestGroup::FollowUp(FollowUpKind::Void) => Ok(Operation::Void(follow_up)),
        RequestGroup::Authorization(_)
        | RequestGroup::CardCheck
        | RequestGroup::Reversal(_)
        | RequestGroup::Authentication(_)
        | RequestGroup::Risk(_) => Err(Error::internal("a request that cannot be sent again")),
    }
}

/// What the provider holds of an authorization before `request`, by our records: of an orphaned one, all of it.
fn held(charge: &Charge, request: &TransactionRequest, authorization: &TransactionRequest) -> Held {
    let open = charge.state.open_operation().filter(|_| charge.has_open(request));
    match open.map(|open| open.before) {
        Some(charge::Held::Reserved | charge::Held::JustReserved) => Held::Reserved(charge.amount),
        Some(charge::Held::Taken) => Held::Taken(charge.amount),
        None if authorization.request_type == RequestType::PreAuthorization => {
            Held::Reserved(authorization.amount)
        }
        None => Held::Taken(authorization.amount),
    }
}

async fn requests_of(app: &App, charge: &Charge) -> Result<Vec<TransactionRequest>, Error> {
    let stored = transaction_requests::of_object(&app.store, charge.client_id, charge.id.uuid()).await?;
    Ok(stored.into_iter().map(|stored| stored.request).collect())
}

/// The error for a refused operation (`docs/interface/charges.md#refusals`).
fn refused(charge: &Charge, refusal: FollowUpRefusal) -> Error {
    match refusal {
        FollowUpRefusal::UnderWay(status) => Error::processing(status.word()),
        FollowUpRefusal::State(operation, status) => Error::impossible(format!(
            "charge cannot be {} in status {}",
            operation.participle(),
            status.word()
        )),
        FollowUpRefusal::AmountAbove { .. } if charge.method.payment_type() == PaymentType::Voucher => {
            Error::VoucherRefused { message: "Transaction failed".into() }
        }
        FollowUpRefusal::AmountAbove { rest } => {
            let message = format!("amount must not be greater than {}", rest.minor_units());
            Error::Impossible { message: message.clone().into(), details: vec![message] }
        }
        FollowUpRefusal::PartNotPossible(operation, provider_type) => Error::impossible(format!(
            "charge cannot be {} in part at {}",
            operation.participle(),
            provider_type.shown()
        )),
        FollowUpRefusal::NotPossible(operation, payment_type) => Error::impossible(format!(
            "charge with paymentType {} cannot be {}",
            payment_type.word(),
            operation.participle()
        )),
        FollowUpRefusal::Split(misfit) => split::misfit("amount", misfit),
        FollowUpRefusal::Return(refusal) => split::return_refused(refusal),
    }
}
