//! The authentication of the cardholder (3-D Secure): what a charge demands, what a 3DS server has found, and what
//! follows. Pure.

use serde::{Deserialize, Serialize};

use super::attempt::{
    Approval, Asks, AuthenticationStep, Outcome, RequestGroup, RequestType, TransactionRequest,
};
use super::next::expiry;
use super::{Charge, ChargeState, Finish, Means, Next, Recurrence};
use crate::decline::{Decline, Reason};
use crate::id::{AuthenticationSetupId, Id, TransactionRequestId};
use crate::provider_type::ProviderType;
use crate::routing::explanation::Stopped;
use crate::time::Timestamp;
use crate::words::words;

/// What a charge demands of the authentication of its cardholder, as chosen when it was created
/// (`docs/interface/charges.md#3-d-secure`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Authentication {
    /// Who authenticates.
    pub by: Authenticator,
    /// Whether the charge goes on only when the issuer is liable.
    pub liability_shift: LiabilityShift,
}

/// Who authenticates the cardholder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Authenticator {
    /// A 3DS server that Regente asks before the first authorization.
    Server {
        /// Its type.
        server: ProviderType,
        /// The setup that the charge has used up.
        setup_id: AuthenticationSetupId,
        /// What it is asked for.
        purpose: Purpose,
    },
    /// The payment provider, while it authorizes.
    PaymentProvider {
        /// What it is asked for.
        purpose: Purpose,
    },
    /// The merchant, who sends the result of a 3DS server of its own.
    Merchant,
    /// Nobody: the cardholder is away, and has agreed to such charges before.
    Nobody,
}

words! {
    /// What an authentication is for.
    Purpose {
        /// To authenticate the cardholder.
        Authenticate = "authenticate",
        /// To share data with the card scheme; nobody is authenticated.
        ShareData = "share_data",
    }
}

words! {
    /// Whether a charge goes on only when the issuer is liable for fraud.
    LiabilityShift {
        /// Without the shift the charge fails.
        Required = "required",
        /// Without the shift the charge goes on as if nobody had been asked.
        NotRequired = "not_required",
    }
}

words! {
    /// What a 3DS server has found.
    Found {
        /// The issuer has authenticated the cardholder.
        Authenticated = "authenticated",
        /// The issuer takes no part, and the scheme vouches for the attempt.
        Attempted = "attempted",
        /// The issuer wants to ask the cardholder.
        ChallengeWanted = "challenge_wanted",
        /// The card takes no part in 3-D Secure.
        NotEnrolled = "not_enrolled",
        /// The data was shared; nobody was authenticated.
        DataShared = "data_shared",
        /// The issuer refused, or the cardholder failed.
        Failed = "failed",
        /// The cardholder did not answer in time.
        NotCompleted = "not_completed",
        /// The issuer or the scheme reported an error.
        Error = "error",
        /// The 3DS server could not be asked.
        Unavailable = "unavailable",
    }
}

/// What a 3DS server has answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Authenticated {
    /// What it has found.
    pub found: Found,
    /// Whether the cardholder was asked.
    pub challenged: bool,
    /// Version of the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Electronic commerce indicator of the scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eci: Option<String>,
    /// The scheme's proof for the issuer. It is good for this charge alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cavv: Option<String>,
    /// Id of the authentication at the directory server of the scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_transaction_id: Option<String>,
}

impl Authenticated {
    /// An answer with nothing but what was found.
    pub const fn bare(found: Found) -> Self {
        Self { found, challenged: false, version: None, eci: None, cavv: None, network_transaction_id: None }
    }

    /// The same authentication, which the cardholder has not completed.
    #[must_use]
    pub fn not_completed(&self) -> Self {
        Self { found: Found::NotCompleted, ..self.clone() }
    }

    /// Whether the card takes part in 3-D Secure, as far as is known.
    pub const fn is_enrolled(&self) -> bool {
        match self.found {
            Found::Authenticated
            | Found::Attempted
            | Found::ChallengeWanted
            | Found::DataShared
            | Found::Failed
            | Found::NotCompleted => true,
            Found::NotEnrolled | Found::Error | Found::Unavailable => false,
        }
    }

    /// Whether the cardholder is authenticated.
    pub const fn is_authenticated(&self) -> bool {
        matches!(self.found, Found::Authenticated)
    }

    /// Whether the issuer is liable for fraud.
    pub const fn shifts_liability(&self) -> bool {
        matches!(self.found, Found::Authenticated | Found::Attempted)
    }

    /// Why the charge ends here; `None` when it goes on.
    fn refusal(&self, liability_shift: LiabilityShift) -> Option<Reason> {
        match (self.found, liability_shift) {
            (Found::Authenticated | Found::Attempted | Found::ChallengeWanted, _)
            | (Found::NotEnrolled | Found::DataShared, LiabilityShift::NotRequired) => None,
            (Found::NotEnrolled | Found::DataShared, LiabilityShift::Required) => {
                Some(Reason::UnableToPerformAuthentication)
            }
            (Found::Failed, _) => Some(Reason::FailedAuthentication),
            (Found::NotCompleted, _) => Some(Reason::CardholderNotCompleteAuthentication),
            (Found::Error, _) => Some(Reason::AuthenticationError),
            (Found::Unavailable, _) => Some(Reason::AuthenticationUnavailable),
        }
    }
}

/// The refusal of a charge whose cardholder is not authenticated.
pub fn not_authenticated(reason: Reason) -> Decline {
    let decline = Decline::from_reason(reason);
    let message = decline.message.clone();
    Decline { network_denied_message: Some(message), ..decline }
}

impl Authenticator {
    /// Who authenticates the cardholder of a charge with this stored-credential flag.
    #[must_use]
    pub fn unless_away(self, recurrence: Option<Recurrence>) -> Self {
        match recurrence {
            Some(Recurrence::Subsequent | Recurrence::Unscheduled) => Self::Nobody,
            Some(Recurrence::Initial) | None => self,
        }
    }
}

impl Charge {
    /// The 3DS server that is asked before the first authorization, with the setup.
    pub(super) fn server(&self) -> Option<(ProviderType, AuthenticationSetupId)> {
        match &self.authentication {
            Some(authentication) => match authentication.by {
                Authenticator::Server { server, setup_id, .. } => Some((server, setup_id)),
                Authenticator::PaymentProvider { .. } | Authenticator::Merchant | Authenticator::Nobody => {
                    None
                }
            },
            None => None,
        }
    }

    /// The step before the first authorization: the authentication. `None` when the charge may go on. Its requests are
    /// no authorizations and do not advance the route.
    pub(super) fn next_to_authenticate(
        &self,
        requests: &[TransactionRequest],
        means: Means,
        now: Timestamp,
    ) -> Option<Next> {
        let (server, _) = self.server()?;
        let Some(last) = requests.iter().rfind(|request| request.request_type.tells_of_cardholder()) else {
            return Some(Next::Enroll);
        };
        let failed = |stopped| Some(Next::Finish(Finish::Failed { by: server, stopped }));
        match (&last.outcome, means) {
            // The answer of a 3DS server is neither accepted for later nor an analysis.
            (Outcome::Open | Outcome::Accepted(_) | Outcome::Analysed(_), _) => Some(Next::AwaitOutcome),
            (Outcome::Pending(_), _) => match (expiry(last), &self.state) {
                (until, ChargeState::AwaitingPayer { .. }) if now >= until => Some(Next::Expire),
                (until, _) => Some(Next::AwaitPayer { by: server, until }),
            },
            (Outcome::Approved(_), Means::Complete { .. }) => None,
            (Outcome::Approved(_), Means::Incomplete(stopped)) => failed(stopped),
            (Outcome::Declined(_) | Outcome::NoEffect(_), _) => failed(Stopped::NotAuthenticated),
        }
    }

    /// The requests that begin an authentication, and the charge with them: the setup, which is done, and the question
    /// to the 3DS server. `None` when no 3DS server is asked.
    pub fn begin_authentication(
        self,
        ids: [TransactionRequestId; 2],
        now: Timestamp,
    ) -> Option<(Self, [TransactionRequest; 2])> {
        let (server, setup_id) = self.server()?;
        let asks = |request_type| Asks {
            provider_id: Id::new(uuid::Uuid::nil()),
            provider_type: server,
            request_type,
            amount: self.amount,
            follows: None,
        };
        let [setup, enroll] = ids;
        let setup = self.begin_request(setup, asks(RequestType::AuthenticationSetup), now);
        let reference = Approval { transaction_id: Some(setup_id.to_string()), ..Approval::default() };
        let setup = TransactionRequest { outcome: Outcome::Approved(reference), ..setup };
        let asks = asks(RequestType::AuthenticationEnroll);
        let charge = self.with_one_more_request();
        let enroll = charge.begin_request(enroll, asks, now);
        Some((charge, [setup, enroll]))
    }

    /// What an answer of the 3DS server means for the charge.
    pub fn judge(&self, authenticated: &Authenticated) -> Outcome {
        let liability_shift = self
            .authentication
            .as_ref()
            .map_or(LiabilityShift::NotRequired, |authentication| authentication.liability_shift);
        let transaction_id = authenticated.network_transaction_id.clone();
        match authenticated.refusal(liability_shift) {
            Some(reason) => Outcome::Declined(Decline { transaction_id, ..not_authenticated(reason) }),
            None => Outcome::Approved(Approval { transaction_id, ..Approval::default() }),
        }
    }
}

/// The newest answer of a 3DS server among `requests`, which are oldest first.
pub fn newest_answer(requests: &[TransactionRequest]) -> Option<&Authenticated> {
    requests.iter().rev().find_map(|request| request.authenticated.as_deref())
}

impl RequestType {
    /// Whether a 3DS server says in it what it has found.
    const fn tells_of_cardholder(self) -> bool {
        match self.group() {
            RequestGroup::Authentication(AuthenticationStep::Enroll | AuthenticationStep::Validate) => true,
            RequestGroup::Authentication(AuthenticationStep::Setup)
            | RequestGroup::Authorization(_)
            | RequestGroup::CardCheck
            | RequestGroup::FollowUp(_)
            | RequestGroup::Reversal(_)
            | RequestGroup::Risk(_) => false,
        }
    }

    /// The type of the request that records what became of one with instructions.
    pub const fn told_as(self) -> Self {
        match self.group() {
            RequestGroup::Authentication(AuthenticationStep::Enroll) => Self::AuthenticationValidate,
            RequestGroup::Authentication(AuthenticationStep::Setup | AuthenticationStep::Validate)
            | RequestGroup::Authorization(_)
            | RequestGroup::CardCheck
            | RequestGroup::FollowUp(_)
            | RequestGroup::Reversal(_)
            | RequestGroup::Risk(_) => self,
        }
    }
}
