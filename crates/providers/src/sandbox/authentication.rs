//! What the simulator finds out about cardholders. The test numbers decide (`docs/interface/sandbox.md#3-d-secure`); its
//! log is that of the simulator and holds nothing of the cardholder. [`SimulatedServer`] asks as a 3DS server; as a
//! payment provider the simulator asks for itself.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures_util::future::BoxFuture;
use regente_domain::card::CardNumber;
use regente_domain::charge::authentication::{
    Authenticated, Found, LiabilityShift, Purpose, not_authenticated,
};
use regente_domain::charge::instructions::Instructions;
use regente_domain::decline::{Decline, Reason};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use uuid::Uuid;

use super::delivery::{Delivery, Lost, received};
use super::draws::Draws;
use super::faults::{Occasion, Then};
use super::rules::{self, Verdict};
use super::transaction_log::{AuthenticatedAt, AuthenticationEntry, Decision, TestCard, TransactionLogError};
use super::{Plans, Sandbox, spoil};
use crate::authentication::Proof;
use crate::outcome::{Approval, Finding, Pending, UnknownReason};
use crate::request::{Authorization, Call, Operation, TestOverrides};

mod server;
mod token;

pub use self::server::{Challenge, NotAChallenge, SimulatedServer};

/// The version of the protocol that the simulator speaks.
const PROTOCOL_VERSION: &str = "2.2.0";
/// How long a cardholder may take for a challenge.
const CHALLENGE_LIFE: Duration = Duration::from_secs(15 * 60);
/// Bytes of a CAVV.
const CAVV_BYTES: usize = 20;
/// The path of the page of the challenge.
const STEP_UP_PATH: &str = "/3ds/step-up";

/// The test numbers with what their issuers do.
const TEST_CARDS: [(&str, TestCard); 8] = [
    ("4000000000002503", TestCard::ChallengePasses),
    ("4000000000002370", TestCard::ChallengeFails),
    ("4000000000001000", TestCard::Frictionless),
    ("5200000000001013", TestCard::Refused),
    ("4212345678910006", TestCard::ChallengePasses),
    ("5201281505129736", TestCard::Frictionless),
    ("4199350000000002", TestCard::NotEnrolled),
    ("5201282999005515", TestCard::Error),
];

/// A question to the simulator about a cardholder.
#[derive(Debug)]
pub struct CardholderQuestion {
    /// The key of the authentication.
    pub key: Uuid,
    /// When it is asked, by the caller's clock.
    pub at: Timestamp,
    /// Simulator overrides of this request.
    pub test_overrides: Option<TestOverrides>,
    /// What is asked.
    pub asks: CardholderAsks,
}

/// What the simulator is asked about a cardholder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum CardholderAsks {
    /// To authenticate them.
    Enroll {
        /// How their card behaves.
        card: TestCard,
        /// What is asked for.
        purpose: Purpose,
    },
    /// What became of the challenge.
    Validate,
    /// To note their answer to the challenge.
    Decide {
        /// Their answer.
        decision: Decision,
    },
}

/// The simulator's answer about a cardholder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardholderAnswer {
    /// What was found.
    Found(Authenticated),
    /// They were asked, and have not answered yet.
    Waiting,
    /// There is no such authentication.
    Unknown,
    /// There is no answer to the question.
    Unavailable,
}

impl Lost for CardholderAnswer {
    fn lost(_: UnknownReason) -> Self {
        Self::Unavailable
    }
}

/// Whoever keeps the log of authentications: the simulator in this process, or a client of one in another process.
pub trait CardholderBooks: Send + Sync {
    /// Answers a question.
    fn ask(&self, question: CardholderQuestion) -> BoxFuture<'_, CardholderAnswer>;

    /// How long a caller waits for an answer.
    fn answers_within(&self) -> Duration;
}

impl CardholderBooks for Sandbox {
    fn ask(&self, question: CardholderQuestion) -> BoxFuture<'_, CardholderAnswer> {
        Box::pin(async move { received(self.authenticate_cardholder(&question).await).await })
    }

    fn answers_within(&self) -> Duration {
        self.deadline
    }
}

impl TestCard {
    /// How a card behaves in an authentication; a number of no list is authenticated without a challenge.
    fn of(number: &CardNumber) -> Self {
        Self::listed(number).unwrap_or(Self::Frictionless)
    }

    fn listed(number: &CardNumber) -> Option<Self> {
        let digits = number.expose_digits();
        TEST_CARDS.iter().find(|(listed, _)| *listed == digits).map(|(_, card)| *card)
    }
}

/// Whether the number is one of the test numbers of 3-D Secure.
pub(super) fn is_test_number(number: &CardNumber) -> bool {
    TestCard::listed(number).is_some()
}

impl AuthenticationEntry {
    /// What there is to say about it; `None` while the cardholder has to answer.
    fn found(&self) -> Option<Authenticated> {
        let found = match (self.purpose, self.card, self.decision) {
            (_, TestCard::NotEnrolled, _) => Found::NotEnrolled,
            (_, TestCard::Error, _) => Found::Error,
            (Purpose::ShareData, _, _) => Found::DataShared,
            (Purpose::Authenticate, TestCard::Frictionless, _) => Found::Authenticated,
            (Purpose::Authenticate, TestCard::Refused, _) => Found::Failed,
            (Purpose::Authenticate, TestCard::ChallengePasses | TestCard::ChallengeFails, None) => {
                return None;
            }
            (Purpose::Authenticate, TestCard::ChallengePasses, Some(Decision::Approve)) => {
                Found::Authenticated
            }
            (
                Purpose::Authenticate,
                TestCard::ChallengePasses | TestCard::ChallengeFails,
                Some(Decision::Approve | Decision::Refuse),
            ) => Found::Failed,
        };
        Some(self.with(found))
    }

    /// The answer with its proof.
    fn with(&self, found: Found) -> Authenticated {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, self.key.as_bytes());
        let bare = Authenticated::bare(found);
        match found {
            Found::Authenticated | Found::Attempted => Authenticated {
                challenged: self.decision.is_some(),
                version: Some(PROTOCOL_VERSION.to_owned()),
                eci: Some("05".to_owned()),
                cavv: Some(STANDARD.encode(&digest.as_ref()[..CAVV_BYTES])),
                network_transaction_id: Some(self.network_transaction_id()),
                ..bare
            },
            Found::ChallengeWanted | Found::DataShared | Found::Failed | Found::NotCompleted => {
                Authenticated {
                    challenged: self.decision.is_some() || found == Found::ChallengeWanted,
                    version: Some(PROTOCOL_VERSION.to_owned()),
                    network_transaction_id: Some(self.network_transaction_id()),
                    ..bare
                }
            }
            Found::NotEnrolled | Found::Error | Found::Unavailable => bare,
        }
    }

    fn network_transaction_id(&self) -> String {
        Uuid::new_v5(&Uuid::NAMESPACE_OID, self.key.as_bytes()).to_string()
    }
}

impl Sandbox {
    /// Answers a question about a cardholder and returns how the answer is delivered.
    pub async fn authenticate_cardholder(&self, question: &CardholderQuestion) -> Delivery<CardholderAnswer> {
        // The charge was checked for faults that cannot be read.
        let plans = Plans::read(&Map::new(), question.test_overrides.as_ref()).unwrap_or_default();
        let draws = Draws::new(&self.seed, None, question.key);
        match self.fault(&plans, &Occasion::cardholder(question), &draws) {
            Some(Then::Decline(_)) => Delivery::Whole(CardholderAnswer::Unavailable),
            fault => spoil(fault, || Box::pin(self.look_at_cardholder(question, &draws))).await,
        }
    }

    async fn look_at_cardholder(
        &self,
        question: &CardholderQuestion,
        draws: &Draws,
    ) -> Delivery<CardholderAnswer> {
        let CardholderQuestion { key, at, ref asks, .. } = *question;
        let entry = match asks {
            CardholderAsks::Enroll { card, purpose } => {
                let (card, purpose, place) = (*card, *purpose, AuthenticatedAt::Server);
                let entry = AuthenticationEntry { key, at, place, card, purpose, decision: None };
                self.log.authenticate(entry).await.map(Some)
            }
            CardholderAsks::Validate => self.log.authentication(key).await,
            CardholderAsks::Decide { decision } => self.decide(key, *decision, draws).await,
        };
        match entry {
            Ok(Some(entry)) => {
                Delivery::Whole(entry.found().map_or(CardholderAnswer::Waiting, CardholderAnswer::Found))
            }
            Ok(None) => Delivery::Whole(CardholderAnswer::Unknown),
            Err(error) => {
                tracing::error!(%error, "the simulator cannot use its log of authentications");
                Delivery::ServerError
            }
        }
    }

    /// Notes the cardholder's answer. An authorization that waits for it ends with it.
    async fn decide(
        &self,
        key: Uuid,
        decision: Decision,
        draws: &Draws,
    ) -> Result<Option<AuthenticationEntry>, TransactionLogError> {
        let Some(entry) = self.log.authentication(key).await? else { return Ok(None) };
        let decided = AuthenticationEntry { decision: Some(decision), ..entry };
        let concluded = match decided.found().map(|authenticated| authenticated.found) {
            Some(Found::Authenticated) => Finding::Approved(draws.approval()),
            Some(_) | None => Finding::Declined(refused(Reason::FailedAuthentication)),
        };
        self.log.decide(key, decision, concluded).await
    }

    /// The verdict on an authorization whose cardholder the simulator is to authenticate; `None` for any other call.
    pub(super) fn hosted<'a>(
        &'a self,
        call: &'a Call,
    ) -> Option<BoxFuture<'a, Result<Verdict, TransactionLogError>>> {
        let Operation::Authorize(authorization) = &call.operation else { return None };
        let Some(Proof::ToDo { purpose, return_url, .. }) = authorization.proof.as_deref() else {
            return None;
        };
        let card = TestCard::of(&authorization.instrument.card()?.number);
        let entry = AuthenticationEntry {
            key: call.key,
            at: call.at,
            place: AuthenticatedAt::PaymentProvider,
            card,
            purpose: *purpose,
            decision: None,
        };
        Some(Box::pin(async move {
            let by_card =
                rules::judge(call, || self.payment_page(call), self.cvv_on_charge, &self.draws(call));
            let (entry, approval) = match by_card {
                // A card that is declined anyway is not authenticated.
                Verdict::Decline(_) | Verdict::Silence | Verdict::Wait(_) | Verdict::Accept(_) => {
                    return Ok(by_card);
                }
                Verdict::Approve(approval) => (self.log.authenticate(entry).await?, approval),
            };
            Ok(match entry.found() {
                None => Verdict::Wait(Box::new(hosted_challenge(call, authorization, approval, return_url))),
                Some(authenticated) => match judge(&authenticated, authorization.liability_shift) {
                    Some(reason) => Verdict::Decline(refused(reason)),
                    None => Verdict::Approve(approval),
                },
            })
        }))
    }
}

/// Why the simulator, as a payment provider, does not go on; `None` when it does.
const fn judge(authenticated: &Authenticated, liability_shift: LiabilityShift) -> Option<Reason> {
    match (authenticated.found, liability_shift) {
        (Found::Authenticated | Found::Attempted, _)
        | (Found::NotEnrolled | Found::DataShared, LiabilityShift::NotRequired) => None,
        (Found::NotEnrolled | Found::DataShared, LiabilityShift::Required) => {
            Some(Reason::UnableToPerformAuthentication)
        }
        (Found::Error, _) => Some(Reason::AuthenticationError),
        (Found::Failed | Found::ChallengeWanted | Found::NotCompleted | Found::Unavailable, _) => {
            Some(Reason::FailedAuthentication)
        }
    }
}

fn refused(reason: Reason) -> Decline {
    Decline { retryable: false, ..not_authenticated(reason) }
}

/// What the browser posts to the page of a payment provider. The page learns the amount from `paReq`. `approval` is that
/// of a cardholder who is authenticated.
fn hosted_challenge(
    call: &Call,
    authorization: &Authorization,
    approval: Approval,
    return_url: &str,
) -> Pending {
    let shown = json!({
        "amount": authorization.amount.minor_units(), "currency": authorization.currency.code(),
    });
    // The service and its simulator share the address: a return address is a page of the service.
    let base = return_url.split("/v1/").next().unwrap_or_default();
    let Approval { transaction_id, network_transaction_id, .. } = approval;
    Pending {
        reference: Approval { transaction_id, network_transaction_id, ..Approval::default() },
        instructions: Instructions::HostedChallenge {
            url: format!("{base}{STEP_UP_PATH}"),
            md: call.key.to_string(),
            pa_req: URL_SAFE_NO_PAD.encode(shown.to_string()),
            term_url: return_url.to_owned(),
        },
        expires_at: Some(call.at + CHALLENGE_LIFE),
    }
}
