//! The SANDBOX provider: a simulator that behaves like a provider over a network and has its own transaction log. It
//! does not use the product's database; its log contains no card numbers and no security codes.

mod anti_fraud;
mod authentication;
mod delivery;
mod divisions;
mod draws;
mod faults;
pub mod http;
mod instructions;
pub(crate) mod notification;
mod outbox;
mod overrides;
mod payer;
mod payment_page;
mod recipients;
mod reversals;
pub(crate) mod rules;
mod sellers;
mod settlement;
mod silence;
mod transaction_log;

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use aws_lc_rs::hmac;
use futures_util::future::BoxFuture;
use regente_domain::card::CardNumber;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::problems::Problems;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::Narrowed;
use regente_domain::time::Timestamp;
use serde_json::{Map, Value};
use tokio::time::sleep;
use uuid::Uuid;
use zeroize::Zeroizing;

pub use anti_fraud::{Assessed, Product, RiskAsks, RiskQuestion};
pub use authentication::{
    CardholderAnswer, CardholderAsks, CardholderBooks, CardholderQuestion, Challenge, NotAChallenge,
    SimulatedServer,
};
pub use delivery::Delivery;
pub use faults::{
    FAULT_DELAY_MS_MAX, FAULT_DENY_SECONDS_MAX, FAULTS_MAX, Options, Plan, SEQUENCE_PLACE_MAX,
    SEQUENCE_PLACES_MAX, validate,
};
pub use notification::{SIGNATURE_AGE_MAX, SIGNATURE_HEADER, SigningKey};
pub use outbox::{Notice, Outbox, Recipient};
pub use overrides::overrides;
pub use payment_page::{PAGES, PageLink};
pub use rules::{CvvRule, REFUSED_AMOUNT_MINOR_UNITS};
pub use sellers::{KnownSeller, SellerQuestion, SimulatedAnswer, SimulatedAsks, TestSeller};
pub use settlement::{SettlementLine, SettlementPage};
pub use transaction_log::{
    Analysed, AnalysisEntry, Answered, AuthenticatedAt, AuthenticationEntry, CardTrace, Decision, Deed,
    Entry, Filter, Holding, Holdings, Order, Record, SellerEntry, Stored, TestCard, TransactionLog,
    TransactionLogError,
};

use crate::notification::{
    Authentic, EventKind, EventSubject, Notification, NotificationRefusal, NotificationRequest, ProviderEvent,
};
use crate::outcome::{Answer, Finding, Probe};
use crate::provider::{Adapter, Provider};
use crate::request::{Call, CardDetails, Inquiry, Operation, OperationKind, TestOverrides};
use crate::seller::{SellerAnswer, SellerCall};
use crate::staged::{StageRefusal, StagedEvent};
use delivery::received;
use draws::{Draws, Seed};
use faults::{Counts, Occasion, Point, Source, Then};
use outbox::{Letterbox, Signature};
use recipients::{Notified, Recipients};
use rules::Verdict;
use transaction_log::Recorded;

/// How long a caller waits for the simulator (`docs/interface/sandbox.md#silence`).
pub const DEADLINE: Duration = Duration::from_secs(2);

/// The simulator's settings; they come from the server's configuration only.
pub struct SandboxOptions {
    /// Seed of all random decisions, combined with the key of each call.
    pub seed: u64,
    /// How long a caller waits before an answer counts as unknown.
    pub deadline: Duration,
    /// Whether the security code decides charges as well; it always decides verifications.
    pub cvv_on_charge: CvvRule,
    /// Key of the card hashes in the log: a secret of the deployment, 32 bytes or more.
    pub card_hash_key: Zeroizing<Vec<u8>>,
}

impl SandboxOptions {
    /// Default settings with this seed and this key.
    pub const fn new(seed: u64, card_hash_key: Zeroizing<Vec<u8>>) -> Self {
        Self { seed, deadline: DEADLINE, cvv_on_charge: CvvRule::Applied, card_hash_key }
    }
}

/// The simulator, in this process. Clones share it.
#[derive(Clone)]
pub struct Sandbox(Arc<Parts>);

impl Deref for Sandbox {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// The parts of a [`Sandbox`].
pub struct Parts {
    seed: Seed,
    deadline: Duration,
    cvv_on_charge: CvvRule,
    card_hash_key: hmac::Key,
    log: TransactionLog,
    plan: RwLock<OwnPlan>,
    counts: Counts,
    letterbox: Letterbox,
    outbox: Mutex<Option<Outbox>>,
    recipients: Recipients,
}

/// The parts of a probe that the simulator uses.
#[derive(Debug)]
pub struct Lookup {
    /// The key of the call.
    pub key: Uuid,
    /// When the probe is made, by the caller's clock.
    pub at: Timestamp,
    /// `providers[].options`, as registered.
    pub options: Map<String, Value>,
    /// Simulator overrides of this request.
    pub test_overrides: Option<TestOverrides>,
}

impl From<Inquiry> for Lookup {
    fn from(inquiry: Inquiry) -> Self {
        let Inquiry { key, at, options, test_overrides, .. } = inquiry;
        Self { key, at, options, test_overrides }
    }
}

/// The simulator's own fault plan, as given and as parsed, with the number of plans before it.
#[derive(Clone)]
struct OwnPlan {
    given: Value,
    plan: Arc<Plan>,
    revision: u64,
}

impl Default for OwnPlan {
    fn default() -> Self {
        Self { given: Value::Array(Vec::new()), plan: Arc::default(), revision: 0 }
    }
}

impl Sandbox {
    /// Creates a simulator that writes to this log.
    pub fn new(options: SandboxOptions, log: TransactionLog) -> Self {
        let (letterbox, outbox) = outbox::outbox();
        Self(Arc::new(Parts {
            seed: Seed::new(options.seed),
            deadline: options.deadline,
            cvv_on_charge: options.cvv_on_charge,
            card_hash_key: hmac::Key::new(hmac::HMAC_SHA256, &options.card_hash_key),
            log,
            plan: RwLock::default(),
            counts: Counts::default(),
            letterbox,
            outbox: Mutex::new(Some(outbox)),
            recipients: Recipients::default(),
        }))
    }

    /// The notifications that wait to be sent, for the one who sends them; `None` when somebody has them.
    pub fn take_outbox(&self) -> Option<Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The simulator as the adapter of its provider type.
    pub fn into_adapter(self) -> Adapter {
        (ProviderType::Sandbox, Box::new(self))
    }

    /// The simulator as the adapter of the platform's own provider, which it stands in for.
    pub fn platform_adapter(&self) -> Adapter {
        (ProviderType::Platform, Box::new(self.clone()))
    }

    /// The simulator's transaction log.
    pub fn transaction_log(&self) -> &TransactionLog {
        &self.log
    }

    /// The simulator's own fault plan, as given.
    pub fn plan(&self) -> Value {
        self.plan.read().unwrap_or_else(PoisonError::into_inner).given.clone()
    }

    /// Replaces the simulator's own fault plan and resets the counts of its `sequence`s. `path` prefixes the path of
    /// each problem.
    pub fn set_plan(&self, given: Value, path: &str) -> Result<(), Problems> {
        let plan = Arc::new(Plan::parse(&given, path)?);
        let mut own = self.plan.write().unwrap_or_else(PoisonError::into_inner);
        *own = OwnPlan { given, plan, revision: own.revision + 1 };
        Ok(())
    }

    /// Carries the call out and returns how its answer is delivered. The recipient is notified of an outcome that does not
    /// reach the caller so, and of what happens later.
    pub async fn act(&self, call: &Call, recipient: impl FnOnce() -> Option<Recipient>) -> Delivery<Answer> {
        let delivery = self.carry_out(call).await;
        match &delivery {
            Delivery::Never | Delivery::Reset | Delivery::ServerError | Delivery::Garbage => {
                if let Some(notified) = recipient().map(|recipient| Notified::of(call, recipient)) {
                    self.recipients.remember(call.key, notified);
                    Box::pin(self.notify_of(call.key)).await;
                }
            }
            Delivery::Whole(answer) | Delivery::Slowly(answer, _) | Delivery::Twice(answer) => {
                let may_be_told_of_more = match (answer, &call.operation) {
                    (Answer::Pending(_) | Answer::Accepted(_), _)
                    // It may be disputed.
                    | (Answer::Approved(_), Operation::Authorize(_)) => true,
                    (
                        Answer::Approved(_) | Answer::Declined(_) | Answer::NotSent | Answer::Unknown(_),
                        _,
                    ) => false,
                };
                if may_be_told_of_more && let Some(recipient) = recipient() {
                    self.recipients.remember(call.key, Notified::of(call, recipient));
                }
            }
        }
        delivery
    }

    async fn carry_out(&self, call: &Call) -> Delivery<Answer> {
        // The plans and the draws are dropped here and the write is boxed, to keep thousands of delayed calls small.
        let fault = Plans::read(&call.options, call.test_overrides.as_ref())
            .map(|plans| self.fault(&plans, &Occasion::call(call), &self.draws(call)));
        match fault {
            Ok(Some(Then::Decline(decline))) => Box::pin(self.write(call, Finding::Declined(decline))).await,
            Ok(fault) => spoil(fault, || Box::pin(self.judge_and_write(call))).await,
            Err(problems) => Box::pin(self.write(call, Finding::Declined(options_not_valid(problems)))).await,
        }
    }

    /// Notifies the outcome of the call with this key as it is now, if anybody is to be notified of it.
    async fn notify_of(&self, key: Uuid) {
        let Some(Notified { recipient, plans }) = self.recipients.of(key) else { return };
        let found = match self.log.find(key).await {
            Ok(Some(Entry { record: Record::Answered(answered), at, .. })) => {
                self.current(key, answered.finding).await.map(|finding| Some((finding, at)))
            }
            Ok(Some(Entry { record: Record::ProbedBeforeArrival, .. }) | None) => Ok(None),
            Err(error) => Err(error),
        };
        match found {
            Ok(Some((finding, at))) => {
                self.notify(&recipient, &plans, key, at, EventKind::Outcome(finding));
            }
            Ok(None) => {}
            Err(error) => tracing::error!(%error, "the simulator cannot read its transaction log"),
        }
    }

    /// Puts a notification about the call with this key into the outbox, as the faults say.
    fn notify(&self, to: &Recipient, plans: &Plans, key: Uuid, at: Timestamp, what: EventKind) {
        let fault = self.fault(plans, &Occasion::notification(key), &Draws::new(&self.seed, None, key));
        let about = EventSubject::Call { object_id: to.object_id, key };
        // A seller may come into the same status again.
        let id = match &what {
            EventKind::Seller(_) => format!("{key}.{}-{}", notification::word(&what), at.as_millis()),
            EventKind::Outcome(_)
            | EventKind::Revoked(_)
            | EventKind::CaptureFailed { .. }
            | EventKind::Reversal(_)
            | EventKind::DoneElsewhere(_) => {
                format!("{key}.{}", notification::word(&what))
            }
        };
        let event = ProviderEvent { id, occurred_at: at, about, what };
        let body = notification::body(&event, to.object_id, key);
        let (times, delay, signature) = match fault {
            Some(Then::Lose) => return,
            Some(Then::Delay(delay)) => (1, delay, Signature::Genuine),
            Some(Then::Duplicate) => (2, Duration::ZERO, Signature::Genuine),
            Some(Then::Forge) => (1, Duration::ZERO, Signature::Forged),
            None
            | Some(
                Then::Decline(_)
                | Then::Timeout(_)
                | Then::Reset(_)
                | Then::ServerError(_)
                | Then::Garbage(_)
                | Then::SlowBody(_)
                | Then::Deny(_),
            ) => (1, Duration::ZERO, Signature::Genuine),
        };
        for _ in 0..times {
            self.letterbox.post(Notice::new(to, body.clone(), delay, signature));
        }
    }

    /// Answers a probe and returns how the answer is delivered.
    pub async fn look(&self, lookup: &Lookup) -> Delivery<Probe> {
        // The call was declined for its invalid options; its probe is still answered.
        let plans = Plans::read(&lookup.options, lookup.test_overrides.as_ref()).unwrap_or_default();
        let draws = Draws::new(&self.seed, None, lookup.key);
        match self.fault(&plans, &Occasion::probe(lookup), &draws) {
            Some(Then::Deny(how_long)) => Delivery::Whole(self.deny(lookup, how_long).await),
            fault => spoil(fault, || async { Delivery::Whole(self.look_up(lookup).await) }).await,
        }
    }

    /// The first fault that matches and happens: those of the request first, then of the options, then of the
    /// simulator.
    fn fault(&self, plans: &Plans, occasion: &Occasion, draws: &Draws) -> Option<Then> {
        let (own, revision) = {
            let own = self.plan.read().unwrap_or_else(PoisonError::into_inner);
            (Arc::clone(&own.plan), own.revision)
        };
        let sources = [
            (Source::Request, &plans.of_request),
            (Source::Options, &plans.of_options),
            (Source::Simulator(revision), own.as_ref()),
        ];
        // Evaluate all plans, because each counts its matches.
        let happening = sources.map(|(source, plan)| plan.happening(source, occasion, draws, &self.counts));
        happening.into_iter().flatten().next().cloned()
    }

    fn draws(&self, call: &Call) -> Draws {
        Draws::new(&self.seed, overrides::seed(call.test_overrides.as_ref()), call.key)
    }

    async fn judge_and_write(&self, call: &Call) -> Delivery<Answer> {
        match self.division_refused(&call.operation, call.at).await {
            Ok(None) => {}
            Ok(Some(decline)) => return self.write(call, Finding::Declined(decline)).await,
            Err(error) => return fail(&error),
        }
        let verdict = match self.hosted(call) {
            Some(judging) => judging.await,
            None => Ok(rules::judge(call, || self.payment_page(call), self.cvv_on_charge, &self.draws(call))),
        };
        let verdict = match verdict {
            Ok(verdict) => verdict,
            Err(error) => return fail(&error),
        };
        let finding = match verdict {
            Verdict::Approve(approval) => Finding::Approved(approval),
            Verdict::Decline(decline) => Finding::Declined(decline),
            Verdict::Wait(pending) => Finding::Pending(pending),
            Verdict::Accept(approval) => Finding::Accepted(approval),
            Verdict::Silence => return self.stay_silent(call).await,
        };
        self.write(call, finding).await
    }

    async fn write(&self, call: &Call, finding: Finding) -> Delivery<Answer> {
        let operation = &call.operation;
        let (amount, currency) = (operation.amount(), operation.currency());
        let division = operation.division().cloned().map(Box::new);
        let answered = Answered { deed: self.deed(operation), amount, currency, finding, division };
        match self.log.record(call.key, call.at, answered).await {
            Ok(Recorded::Answered(finding)) => Delivery::Whole(finding.into()),
            Ok(Recorded::ProbedBefore) => Delivery::Whole(Answer::Declined(probed_before_it_arrived())),
            Err(error) => fail(&error),
        }
    }

    /// Writes nothing to the log and does not answer. A key that was answered before still gets its answer.
    async fn stay_silent(&self, call: &Call) -> Delivery<Answer> {
        match self.log.find(call.key).await {
            Ok(Some(Entry { record: Record::Answered(answered), .. })) => {
                Delivery::Whole(answered.finding.into())
            }
            Ok(Some(Entry { record: Record::ProbedBeforeArrival, .. })) => {
                Delivery::Whole(Answer::Declined(probed_before_it_arrived()))
            }
            Ok(None) => Delivery::Never,
            Err(error) => fail(&error),
        }
    }

    /// Denies the call until it is this old. A denial closes no key: a call that comes later is carried out.
    async fn deny(&self, lookup: &Lookup, how_long: Duration) -> Probe {
        match self.log.find(lookup.key).await {
            Ok(Some(entry)) if lookup.at.since(entry.at) >= how_long => self.look_up(lookup).await,
            Ok(Some(_) | None) => Probe::Absent,
            Err(error) => {
                tracing::error!(%error, "the simulator cannot read its transaction log");
                Probe::Unknown
            }
        }
    }

    async fn look_up(&self, lookup: &Lookup) -> Probe {
        let found = match self.log.probe(lookup.key, lookup.at).await {
            Ok(Some(finding)) => self.current(lookup.key, finding).await.map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match found {
            Ok(Some(finding)) => Probe::Found(finding),
            Ok(None) => Probe::Absent,
            Err(error) => {
                tracing::error!(%error, "the simulator cannot read its transaction log");
                Probe::Unknown
            }
        }
    }

    fn deed(&self, operation: &Operation) -> Deed {
        match operation {
            Operation::Authorize(authorization) => Deed::Authorization {
                capture: authorization.capture,
                card: authorization.instrument.card().map(|card| self.trace(&card.number)),
            },
            Operation::VerifyCard(verification) => {
                Deed::Verification { card: self.trace(&verification.card.number) }
            }
            Operation::Capture(follow_up) => Deed::Capture { authorization_key: follow_up.authorization_key },
            Operation::Void(follow_up) => Deed::Void { authorization_key: follow_up.authorization_key },
        }
    }

    fn trace(&self, number: &CardNumber) -> CardTrace {
        let tag = hmac::sign(&self.card_hash_key, number.expose_digits().as_bytes());
        CardTrace { hash: tag.as_ref().to_vec(), last_four: number.last4().to_string() }
    }
}

impl Provider for Sandbox {
    fn call(&self, call: Call) -> BoxFuture<'_, Answer> {
        Box::pin(async move { received(self.act(&call, || self.recipients.recipient_of(&call)).await).await })
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        let lookup = Lookup::from(inquiry);
        Box::pin(async move { received(self.look(&lookup).await).await })
    }

    fn stage(&self, event: StagedEvent) -> BoxFuture<'_, Result<(), StageRefusal>> {
        Box::pin(Self::stage(self, event))
    }

    fn ask_about_seller(&self, call: SellerCall) -> BoxFuture<'_, SellerAnswer> {
        Box::pin(async move { self.seller_received(&SellerQuestion::from(call)).await })
    }

    fn test_card(&self) -> Option<CardDetails> {
        rules::test_card()
    }

    fn notifies_of_answers(&self) -> bool {
        false
    }

    fn deadline(&self, _: OperationKind) -> Duration {
        self.deadline
    }

    fn probe_deadline(&self) -> Duration {
        self.deadline
    }

    fn authenticate(&self, request: &NotificationRequest<'_>) -> Result<Authentic, NotificationRefusal> {
        notification::authenticate(request)
    }

    fn events(&self, notification: &Notification<'_>) -> Result<Vec<ProviderEvent>, NotificationRefusal> {
        notification::events(notification)
    }

    fn validate_options(&self, options: &Map<String, Value>, path: &str) -> Result<Narrowed, Problems> {
        Options::parse(options, path).map(|options| options.supports)
    }

    fn silence_counts(&self, call: &Call) -> bool {
        !silence::may_have_been_asked_for(call)
    }

    fn unanswered_reason(&self) -> &'static str {
        silence::UNANSWERED
    }
}

/// The fault plans that a call brings along.
#[derive(Default)]
struct Plans {
    of_request: Plan,
    of_options: Plan,
}

impl Plans {
    fn read(options: &Map<String, Value>, test_overrides: Option<&TestOverrides>) -> Result<Self, Problems> {
        let faults = overrides::faults(test_overrides);
        let of_request = faults.map(|faults| Plan::parse(faults, "sandboxFaults")).transpose()?;
        let of_request = of_request.unwrap_or_default();
        Ok(Self { of_request, of_options: Options::parse(options, "options")?.faults })
    }

    fn is_empty(&self) -> bool {
        self.of_request.is_empty() && self.of_options.is_empty()
    }
}

/// Applies the fault and returns how the answer is delivered. A delivery fault also hides the answer of a repetition:
/// only a probe reports what the log says about the key.
async fn spoil<T, F>(fault: Option<Then>, doing: impl Fn() -> F) -> Delivery<T>
where
    F: Future<Output = Delivery<T>>,
{
    let (point, spoiled) = match fault {
        // The caller has handled declines and denials already; forged and lost are notifications alone.
        None | Some(Then::Decline(_) | Then::Deny(_) | Then::Forge | Then::Lose) => return doing().await,
        Some(Then::Delay(duration)) => {
            sleep(duration).await;
            return doing().await;
        }
        Some(Then::SlowBody(duration)) => {
            return doing().await.map_whole(|answer| Delivery::Slowly(answer, duration));
        }
        Some(Then::Duplicate) => {
            doing().await;
            return doing().await.map_whole(Delivery::Twice);
        }
        Some(Then::Timeout(point)) => (point, Delivery::Never),
        Some(Then::Reset(point)) => (point, Delivery::Reset),
        Some(Then::ServerError(point)) => (point, Delivery::ServerError),
        Some(Then::Garbage(point)) => (point, Delivery::Garbage),
    };
    match point {
        Point::BeforeEffect => {}
        Point::AfterEffect => drop(doing().await),
    }
    spoiled
}

/// The log may or may not have the entry: only a probe can tell.
fn fail(error: &TransactionLogError) -> Delivery<Answer> {
    tracing::error!(%error, "the simulator cannot write its transaction log");
    Delivery::ServerError
}

fn probed_before_it_arrived() -> Decline {
    rules::network_says(Decline::of(DeclinedCode::TryAgain), "probed before it arrived")
}

/// Options are checked when a provider is registered. This answers calls with options that were stored before a rule
/// was added.
fn options_not_valid(problems: Problems) -> Decline {
    Decline {
        retryable: true,
        network_denied_reason: Some("sandbox options not valid".to_owned()),
        network_denied_message: Some(problems.into_details().join("; ")),
        ..Decline::of(DeclinedCode::InvalidMerchant)
    }
}
