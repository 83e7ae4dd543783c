//! The steps of each operation.

use regente_domain::decline::{Decline, DeclinedCode, Retry};
use uuid::Uuid;

use super::tell::Failure;
use super::wire::{IntentStatus, List, PaymentIntent, Refund, RefundStatus, member};
use super::{Stripe, ask, currency, declines, tell};
use crate::http_client::NoResponse;
use crate::outcome::{Answer, UnknownReason};
use crate::request::{Authorization, Call, Credentials, FollowUp, Verification};

/// Why a step of an operation ends it.
pub(super) enum Stop {
    NoResponse(NoResponse),
    Failure(Failure),
}

impl From<NoResponse> for Stop {
    fn from(no_response: NoResponse) -> Self {
        Self::NoResponse(no_response)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// For captures and voids.
impl From<Stop> for Answer {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::NoResponse(no_response) => no_response.into(),
            Stop::Failure(failure) => failure.until_sent_again(),
        }
    }
}

impl Stripe {
    pub(super) async fn authorize(&self, call: &Call, authorization: &Authorization) -> Answer {
        let ask = match ask::authorization(call, authorization) {
            Ok(ask) => ask,
            Err(decline) => return Answer::Declined(decline),
        };
        let answer = match self.send(ask, &call.credentials).await {
            Ok(answer) => answer,
            Err(no_response) => return no_response.into(),
        };
        let told = tell::object(&answer);
        match told.as_ref().map(Shift::of) {
            Ok(Shift::Lacking(intent)) => match self.undo(call.key, intent, &call.credentials).await {
                Some(decline) => Answer::Declined(decline),
                None => Answer::Unknown(UnknownReason::ProviderFailed),
            },
            Ok(Shift::NotTold) => Answer::Unknown(UnknownReason::ProviderFailed),
            Ok(Shift::AsDemanded) | Err(_) => tell::authorized(told, authorization.capture),
        }
    }

    pub(super) async fn verify(&self, call: &Call, verification: &Verification) -> Answer {
        match self.send(ask::verification(call, verification), &call.credentials).await {
            Ok(answer) => tell::verification(&answer),
            Err(no_response) => no_response.into(),
        }
    }

    /// Takes a payment back for which the issuer is not liable; `None` while that is not certain.
    pub(super) async fn undo(
        &self,
        key: Uuid,
        intent: &PaymentIntent,
        credentials: &Credentials,
    ) -> Option<Decline> {
        let decline = Decline { transaction_id: Some(intent.id.clone()), ..declines::no_shift() };
        if intent.status == IntentStatus::RequiresCapture {
            let ask = ask::cancellation(ask::undoing_key(key), &intent.id);
            let answer = self.send(ask, credentials).await.ok()?;
            let canceled = tell::cancellation(tell::object(&answer));
            return matches!(canceled, Answer::Approved(_)).then_some(decline);
        }
        let answer = self.send(ask::undoing_refund(key, &intent.id), credentials).await.ok()?;
        match tell::object::<Refund>(&answer) {
            Ok(refund) => {
                let is_back = |refund: &Refund| refund.status == Some(RefundStatus::Succeeded);
                // The provider repeats the first answer to the key: only the refund says how it stands.
                let now = match is_back(&refund) {
                    true => refund,
                    false => self.read(ask::refund_by_id(&refund.id), credentials).await.ok()?,
                };
                is_back(&now).then_some(decline)
            }
            Err(failure) => failure.is_refunded().then_some(decline),
        }
    }

    pub(super) async fn capture(&self, call: &Call, follow_up: &FollowUp) -> Answer {
        let intent = match self.intent_of(follow_up, &call.credentials).await {
            Ok(Some(intent)) => intent,
            Ok(None) => return Answer::Unknown(UnknownReason::ProviderFailed),
            Err(stop) => return stop.into(),
        };
        let ask = match ask::capture(call, follow_up, &intent) {
            Ok(ask) => ask,
            Err(decline) => return Answer::Declined(decline),
        };
        let failure = match self.send(ask, &call.credentials).await {
            Ok(answer) => match tell::object::<PaymentIntent>(&answer) {
                Ok(captured) => match tell::captured(&captured, call.key) {
                    Some(finding) => return finding.into(),
                    None => Failure::Unknown(UnknownReason::ProviderFailed),
                },
                Err(failure) => failure,
            },
            Err(no_response) => return no_response.into(),
        };
        // The provider repeats a fault for as long as it knows the key, which it forgets after a day; then it refuses a
        // capture that was made. Only the payment tells what was done.
        if failure.may_hide_success() {
            let now = self.read::<PaymentIntent>(ask::intent(&intent), &call.credentials).await;
            let Ok(now) = now else { return Answer::Unknown(UnknownReason::ProviderFailed) };
            if let Some(finding) = tell::captured(&now, call.key) {
                return finding.into();
            }
            // Taken by somebody else, or in a state that is not known.
            if now.status != IntentStatus::RequiresCapture && tell::may_hold_money(&now) {
                return Answer::Unknown(UnknownReason::ProviderFailed);
            }
        }
        failure.until_sent_again()
    }

    /// Releases what is reserved, or gives back what was taken: the payment tells which of them it is.
    pub(super) async fn void(&self, call: &Call, follow_up: &FollowUp) -> Answer {
        let found = async {
            let Some(id) = self.intent_of(follow_up, &call.credentials).await? else { return Ok(None) };
            self.read::<PaymentIntent>(ask::intent(&id), &call.credentials).await.map(Some)
        };
        let intent = match found.await {
            Ok(Some(intent)) => intent,
            Ok(None) => return Answer::Unknown(UnknownReason::ProviderFailed),
            Err(stop) => return stop.into(),
        };
        match intent.status {
            IntentStatus::Canceled => Answer::Approved(tell::approval(&intent)),
            IntentStatus::Succeeded => self.refund(call, follow_up, &intent.id).await,
            IntentStatus::RequiresCapture if is_part(follow_up, &intent) => Answer::Declined(declines::own(
                DeclinedCode::TransactionNotAllowed,
                "reservation_cannot_be_lowered",
                Retry::No,
            )),
            IntentStatus::RequiresCapture
            | IntentStatus::RequiresPaymentMethod
            | IntentStatus::RequiresConfirmation
            | IntentStatus::RequiresAction => {
                let ask = ask::cancellation(call.key.to_string(), &intent.id);
                match self.send(ask, &call.credentials).await {
                    Ok(answer) => tell::cancellation(tell::object(&answer)),
                    Err(no_response) => no_response.into(),
                }
            }
            IntentStatus::Processing | IntentStatus::Other => Answer::Unknown(UnknownReason::ProviderFailed),
        }
    }

    /// Gives money back, once: a refund that an earlier call has made is found by its key, also when the provider has
    /// forgotten that as an idempotency key.
    async fn refund(&self, call: &Call, follow_up: &FollowUp, intent: &str) -> Answer {
        let made: List<Refund> = match self.read(ask::refunds_of(intent), &call.credentials).await {
            Ok(made) => made,
            Err(stop) => return stop.into(),
        };
        let is_ours = |refund: &&Refund| refund.metadata.uuid(member::KEY) == Some(call.key);
        if let Some(refund) = made.data.iter().find(is_ours) {
            return tell::refund_asked_for(refund);
        }
        if made.has_more {
            return Answer::Unknown(UnknownReason::ProviderFailed);
        }
        let ask = match ask::refund(call, follow_up, intent) {
            Ok(ask) => ask,
            Err(decline) => return Answer::Declined(decline),
        };
        match self.send(ask, &call.credentials).await {
            Ok(answer) => tell::refund(&answer),
            Err(no_response) => no_response.into(),
        }
    }

    /// The provider's id of the payment that a capture or void is about.
    async fn intent_of(
        &self,
        follow_up: &FollowUp,
        credentials: &Credentials,
    ) -> Result<Option<String>, Stop> {
        if let Some(id) = &follow_up.transaction_id {
            return Ok(Some(id.clone()));
        }
        let found: List<PaymentIntent> =
            self.read(ask::search(follow_up.authorization_key), credentials).await?;
        let of_key =
            |intent: &PaymentIntent| intent.metadata.uuid(member::KEY) == Some(follow_up.authorization_key);
        Ok(found.data.into_iter().find(of_key).map(|intent| intent.id))
    }
}

/// Whether the issuer is liable for what was taken or reserved, where the charge demands it.
pub(super) enum Shift<'a> {
    AsDemanded,
    Lacking(&'a PaymentIntent),
    NotTold,
}

impl<'a> Shift<'a> {
    pub(super) fn of(intent: &'a PaymentIntent) -> Self {
        let is_taken = matches!(intent.status, IntentStatus::Succeeded | IntentStatus::RequiresCapture);
        if !is_taken || !intent.metadata.requires_shift() {
            return Self::AsDemanded;
        }
        match tell::shifts_liability(intent) {
            Some(true) => Self::AsDemanded,
            Some(false) => Self::Lacking(intent),
            None => Self::NotTold,
        }
    }
}

/// Whether less is to be released than is reserved.
fn is_part(follow_up: &FollowUp, intent: &PaymentIntent) -> bool {
    let reserved = intent.amount_capturable.unwrap_or(intent.amount);
    currency::received(reserved, &intent.currency).is_some_and(|reserved| follow_up.amount < reserved)
}
