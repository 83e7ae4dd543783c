//! The SANDBOX provider: a simulator that behaves like a provider over a network, with books of its own. It never sees
//! the product's database, and its books hold no card numbers and no security codes.

mod asked;
mod books;
mod delivery;
mod draws;
mod faults;
pub mod http;
mod rules;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use aws_lc_rs::hmac;
use regente_domain::card::CardNumber;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::problems::Problems;
use serde_json::{Map, Value};
use tokio::time::sleep;
use zeroize::Zeroizing;

pub use asked::may_have_asked_for_silence;
pub use books::{
    Answered, Balance, Books, BooksError, CardTrace, Deed, Entry, Filter, Ledger, Order, Record, Stored,
};
pub use delivery::Delivery;
pub use faults::{
    FAULT_DELAY_MS_MAX, FAULTS_MAX, Options, Plan, SEQUENCE_PLACE_MAX, SEQUENCE_PLACES_MAX, validate,
};
pub use rules::{CvvRule, REFUSED_AMOUNT_MINOR_UNITS};

use crate::outcome::{Answer, Finding, Probe};
use crate::provider::{BoxFuture, Provider};
use crate::request::{Call, Inquiry, Mode, Operation, OperationKind};
use books::Recorded;
use delivery::received;
use draws::Draws;
use faults::{Counts, Occasion, Point, Source, Then};
use rules::Verdict;

/// How long a caller waits for the simulator (`docs/interface/sandbox.md#silence`).
pub const DEADLINE: Duration = Duration::from_secs(2);

/// How the simulator behaves; from the server's configuration only.
pub struct SandboxOptions {
    /// Fixes everything that is left to chance, together with the key of a call.
    pub seed: u64,
    /// How long a caller waits before an answer counts as unknown.
    pub deadline: Duration,
    /// Whether the security code decides charges too; it always decides verifications.
    pub cvv_on_charge: CvvRule,
    /// Key of the hashes that stand for card numbers in the books; a secret of the deployment, 32 bytes or more.
    pub card_hash_key: Zeroizing<Vec<u8>>,
}

impl SandboxOptions {
    /// The defaults, with the two values that have none.
    pub const fn new(seed: u64, card_hash_key: Zeroizing<Vec<u8>>) -> Self {
        Self { seed, deadline: DEADLINE, cvv_on_charge: CvvRule::Applied, card_hash_key }
    }
}

/// The simulator.
pub struct Sandbox {
    seed: u64,
    deadline: Duration,
    cvv_on_charge: CvvRule,
    card_hash_key: hmac::Key,
    books: Books,
    plan: RwLock<OwnPlan>,
    counts: Counts,
}

/// The simulator's own plan as it was given and as it was read, and how many there were before it.
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
    /// A simulator that keeps these books.
    pub fn new(options: SandboxOptions, books: Books) -> Self {
        Self {
            seed: options.seed,
            deadline: options.deadline,
            cvv_on_charge: options.cvv_on_charge,
            card_hash_key: hmac::Key::new(hmac::HMAC_SHA256, &options.card_hash_key),
            books,
            plan: RwLock::default(),
            counts: Counts::default(),
        }
    }

    /// The books that it keeps.
    pub const fn books(&self) -> &Books {
        &self.books
    }

    /// The simulator's own plan, as it was given.
    pub fn plan(&self) -> Value {
        self.plan.read().unwrap_or_else(PoisonError::into_inner).given.clone()
    }

    /// Puts another plan in the place of the simulator's own; every `sequence` in it begins to count anew. `path`
    /// begins every problem.
    pub fn set_plan(&self, given: Value, path: &str) -> Result<(), Problems> {
        let plan = Arc::new(Plan::parse(&given, path)?);
        let mut own = self.plan.write().unwrap_or_else(PoisonError::into_inner);
        *own = OwnPlan { given, plan, revision: own.revision + 1 };
        Ok(())
    }

    /// Does what is asked, and says how the answer travels.
    pub async fn act(&self, call: &Call) -> Delivery<Answer> {
        // The plans and the draws end here, and what writes is boxed: thousands may wait for a delay to pass.
        let fault = Plans::read(&call.options, call.mode, call.faults.as_ref())
            .map(|plans| self.fault(&plans, &Occasion::call(call), &self.draws(call)));
        match fault {
            Ok(Some(Then::Decline(decline))) => Box::pin(self.write(call, Finding::Declined(decline))).await,
            Ok(fault) => spoil(fault, || Box::pin(self.judge_and_write(call))).await,
            Err(problems) => Box::pin(self.write(call, Finding::Declined(options_not_valid(problems)))).await,
        }
    }

    /// Looks an earlier call up, and says how the answer travels.
    pub async fn look(&self, inquiry: &Inquiry) -> Delivery<Probe> {
        // Options that are not valid were an answer to the call; its probe is answered all the same.
        let plans = Plans::read(&inquiry.options, inquiry.mode, inquiry.faults.as_ref()).unwrap_or_default();
        let draws = Draws::new(self.seed, None, inquiry.key);
        let fault = self.fault(&plans, &Occasion::probe(inquiry), &draws);
        spoil(fault, || async { Delivery::Whole(self.look_up(inquiry).await) }).await
    }

    /// The first fault that fits and happens: of the request, of the options, of the simulator.
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
        // All of them are asked, since all of them count.
        let happening = sources.map(|(source, plan)| plan.happening(source, occasion, draws, &self.counts));
        happening.into_iter().flatten().next().cloned()
    }

    fn draws(&self, call: &Call) -> Draws {
        let request_seed = match call.mode {
            Mode::Sandbox => call.seed.as_deref(),
            Mode::Production => None,
        };
        Draws::new(self.seed, request_seed, call.key)
    }

    async fn judge_and_write(&self, call: &Call) -> Delivery<Answer> {
        let finding = match rules::judge(&call.operation, self.cvv_on_charge, &self.draws(call)) {
            Verdict::Approve(approval) => Finding::Approved(approval),
            Verdict::Decline(decline) => Finding::Declined(decline),
            Verdict::Silence => return self.stay_silent(call).await,
        };
        self.write(call, finding).await
    }

    async fn write(&self, call: &Call, finding: Finding) -> Delivery<Answer> {
        let operation = &call.operation;
        let (amount, currency) = (operation.amount(), operation.currency());
        let answered = Answered { deed: self.deed(operation), amount, currency, finding };
        match self.books.record(call.key, call.at, answered).await {
            Ok(Recorded::Answered(finding)) => Delivery::Whole(finding.into()),
            Ok(Recorded::ProbedBefore) => Delivery::Whole(Answer::Declined(probed_before_it_arrived())),
            Err(error) => fail(&error),
        }
    }

    /// A time-out writes nothing down. A key that was answered before keeps its answer all the same.
    async fn stay_silent(&self, call: &Call) -> Delivery<Answer> {
        match self.books.find(call.key).await {
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

    async fn look_up(&self, inquiry: &Inquiry) -> Probe {
        match self.books.probe(inquiry.key, inquiry.at).await {
            Ok(Some(finding)) => Probe::Found(finding),
            Ok(None) => Probe::Absent,
            Err(error) => {
                tracing::error!(%error, "the simulator cannot read its books");
                Probe::Unknown
            }
        }
    }

    fn deed(&self, operation: &Operation) -> Deed {
        match operation {
            Operation::Authorize(authorization) => Deed::Authorization {
                capture: authorization.capture,
                card: self.trace(&authorization.card.number),
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
        Box::pin(async move { received(self.act(&call).await).await })
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(async move { received(self.look(&inquiry).await).await })
    }

    fn deadline(&self, _: OperationKind) -> Duration {
        self.deadline
    }

    fn probe_deadline(&self) -> Duration {
        self.deadline
    }

    fn books(&self) -> Option<Books> {
        Some(self.books.clone())
    }
}

/// The plans that come with a call.
#[derive(Default)]
struct Plans {
    of_request: Plan,
    of_options: Plan,
}

impl Plans {
    fn read(options: &Map<String, Value>, mode: Mode, faults: Option<&Value>) -> Result<Self, Problems> {
        let of_request = match (mode, faults) {
            (Mode::Sandbox, Some(faults)) => Plan::parse(faults, "sandboxFaults")?,
            (Mode::Sandbox, None) | (Mode::Production, _) => Plan::default(),
        };
        Ok(Self { of_request, of_options: Options::parse(options, "options")?.faults })
    }
}

/// Does it, or does not, as the fault wants, and says how the answer travels. A fault that spoils the way of the answer
/// does so every time: what the books say about the key is for a probe to find out.
async fn spoil<T, F>(fault: Option<Then>, doing: impl Fn() -> F) -> Delivery<T>
where
    F: Future<Output = Delivery<T>>,
{
    let (point, spoiled) = match fault {
        // A refusal is an answer, and was given before this.
        None | Some(Then::Decline(_)) => return doing().await,
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

/// Whether the entry was written is not known here: only a probe can tell.
fn fail(error: &BooksError) -> Delivery<Answer> {
    tracing::error!(%error, "the simulator cannot write its books");
    Delivery::ServerError
}

fn probed_before_it_arrived() -> Decline {
    rules::network_says(Decline::of(DeclinedCode::TryAgain), "probed before it arrived")
}

/// Options are checked when they are registered; this answers for those that were stored before a rule was added.
fn options_not_valid(problems: Problems) -> Decline {
    Decline {
        retryable: true,
        network_denied_reason: Some("sandbox options not valid".to_owned()),
        network_denied_message: Some(problems.into_details().join("; ")),
        ..Decline::of(DeclinedCode::InvalidMerchant)
    }
}
