//! The SANDBOX provider: a simulator that behaves like a provider over a network, with books of its own. It never sees
//! the product's database, and its books hold no card numbers and no security codes.

mod books;
mod draws;
mod faults;
mod rules;

use std::time::Duration;

use aws_lc_rs::hmac;
use regente_domain::card::CardNumber;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::problems::Problems;
use zeroize::Zeroizing;

pub use books::{Answered, Balance, Books, BooksError, CardTrace, Deed, Entry, Ledger, Record};
pub use faults::{FAULTS_MAX, Fault, Options};
pub use rules::{CvvRule, REFUSED_AMOUNT_MINOR_UNITS};

use crate::outcome::{Answer, Finding, Probe, UnknownReason};
use crate::provider::{BoxFuture, Provider};
use crate::request::{Call, Inquiry, Mode, Operation, OperationKind};
use books::Recorded;
use draws::Draws;
use rules::Verdict;

/// How long a caller waits for the simulator (contract 07 open point 2).
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
    /// The defaults of the contract, with the two values that have none.
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
        }
    }

    async fn answer(&self, call: Call) -> Answer {
        let answered = match self.judge(&call) {
            Verdict::Approve(approval) => Finding::Approved(approval),
            Verdict::Decline(decline) => Finding::Declined(decline),
            Verdict::Silence => return self.stay_silent(&call).await,
        };
        let operation = &call.operation;
        let record = Answered {
            deed: self.deed(operation),
            amount: operation.amount(),
            currency: operation.currency(),
            finding: answered,
        };
        match self.books.record(call.key, call.at, record).await {
            Ok(Recorded::Answered(finding)) => finding.into(),
            Ok(Recorded::ProbedBefore) => Answer::Declined(probed_before_it_arrived()),
            Err(error) => fail(&error),
        }
    }

    /// The fault plan first, then the rules.
    fn judge(&self, call: &Call) -> Verdict {
        let options = match Options::parse(&call.options, "options") {
            Ok(options) => options,
            Err(problems) => return Verdict::Decline(options_not_valid(problems)),
        };
        let request_seed = match call.mode {
            Mode::Sandbox => call.seed.as_deref(),
            Mode::Production => None,
        };
        let draws = Draws::new(self.seed, request_seed, call.key);
        match options.fault(&call.operation, &draws) {
            Some(decline) => Verdict::Decline(decline),
            None => rules::judge(&call.operation, self.cvv_on_charge, &draws),
        }
    }

    /// A time-out writes nothing down. A key that was answered before keeps its answer all the same.
    async fn stay_silent(&self, call: &Call) -> Answer {
        match self.books.find(call.key).await {
            Ok(Some(Entry { record: Record::Answered(answered), .. })) => answered.finding.into(),
            Ok(Some(Entry { record: Record::ProbedBeforeArrival, .. })) => {
                Answer::Declined(probed_before_it_arrived())
            }
            Ok(None) => std::future::pending().await,
            Err(error) => fail(&error),
        }
    }

    async fn look_up(&self, inquiry: Inquiry) -> Probe {
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
        Box::pin(self.answer(call))
    }

    fn probe(&self, inquiry: Inquiry) -> BoxFuture<'_, Probe> {
        Box::pin(self.look_up(inquiry))
    }

    fn deadline(&self, _: OperationKind) -> Duration {
        self.deadline
    }

    fn probe_deadline(&self) -> Duration {
        self.deadline
    }
}

/// Whether the entry was written is not known here: only a probe can tell.
fn fail(error: &BooksError) -> Answer {
    tracing::error!(%error, "the simulator cannot write its books");
    Answer::Unknown(UnknownReason::ProviderFailed)
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
