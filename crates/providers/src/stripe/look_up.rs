//! Finds out what became of a call.

use std::time::Duration;

use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::ask::Listed;
use super::operations::Shift;
use super::wire::{List, PaymentIntent, SetupIntent, member};
use super::{Stripe, ask, tell};
use crate::outcome::{Finding, Probe};
use crate::request::{Inquiry, OperationKind};

/// From when on a payment that is not found does not exist: the search lags behind by an hour at most, and a request is
/// not under way for longer than that.
pub const ABSENCE_PROVES_AFTER: Duration = Duration::from_secs(2 * 60 * 60);
/// Most pages of a list that a probe reads.
const PAGES_MAX: usize = 5;

impl Stripe {
    pub(super) async fn look_up(&self, inquiry: &Inquiry) -> Probe {
        let credentials = &inquiry.credentials;
        let reference = inquiry.reference.as_deref();
        match (inquiry.operation, reference) {
            (OperationKind::Authorization, Some(id)) => {
                match self.read::<PaymentIntent>(ask::intent(id), credentials).await {
                    Ok(intent) => self.authorization_found(inquiry, &intent).await,
                    Err(_) => Probe::Unknown,
                }
            }
            (OperationKind::Authorization, None) => self.authorization_by_key(inquiry).await,
            (OperationKind::ZeroDollar, Some(id)) => {
                match self.send(ask::setup_intent(id), credentials).await {
                    Ok(answer) => tell::check_found(&answer),
                    Err(no_response) => no_response.into(),
                }
            }
            (OperationKind::ZeroDollar, None) => self.check_by_key(inquiry).await,
            (OperationKind::Capture, Some(id)) => {
                let intent = self.read::<PaymentIntent>(ask::intent(id), credentials).await;
                tell::probed(intent.ok().and_then(|intent| tell::captured(&intent, inquiry.key)))
            }
            (OperationKind::Void, Some(id)) => match self.send(ask::refund_by_id(id), credentials).await {
                Ok(answer) => tell::refund_found(&answer),
                Err(no_response) => no_response.into(),
            },
            // They are sent again instead.
            (OperationKind::Capture | OperationKind::Void, None) => Probe::Unknown,
        }
    }

    async fn authorization_found(&self, inquiry: &Inquiry, intent: &PaymentIntent) -> Probe {
        match Shift::of(intent) {
            Shift::AsDemanded => tell::probed(tell::finding(intent, inquiry.capture)),
            Shift::Lacking(intent) => {
                let undone = self.undo(inquiry.key, intent, &inquiry.credentials).await;
                tell::probed(undone.map(Finding::Declined))
            }
            Shift::NotTold => Probe::Unknown,
        }
    }

    /// The list shows a payment at once, but not for ever on its first pages; the search finds every one, but later.
    async fn authorization_by_key(&self, inquiry: &Inquiry) -> Probe {
        let key_of = |intent: &PaymentIntent| intent.metadata.uuid(member::KEY);
        let listed =
            self.listed::<PaymentIntent>(inquiry, Listed::PaymentIntents, key_of, |intent| &intent.id).await;
        if let Looked::Found(intent) = &listed {
            return self.authorization_found(inquiry, intent).await;
        }
        let found = self.read::<List<PaymentIntent>>(ask::search(inquiry.key), &inquiry.credentials).await;
        let found = match found {
            Ok(found) => Looked::among(found, |intent| key_of(intent) == Some(inquiry.key)),
            Err(_) => Looked::NotEverywhere,
        };
        match (found, listed) {
            // The search may show an earlier state.
            (Looked::Found(found), _) => {
                match self.read(ask::intent(&found.id), &inquiry.credentials).await {
                    Ok(intent) => self.authorization_found(inquiry, &intent).await,
                    Err(_) => Probe::Unknown,
                }
            }
            (Looked::Nowhere, _) | (_, Looked::Nowhere) => absent(inquiry),
            (Looked::NotEverywhere, Looked::Found(_) | Looked::NotEverywhere) => Probe::Unknown,
        }
    }

    async fn check_by_key(&self, inquiry: &Inquiry) -> Probe {
        let key_of = |setup: &SetupIntent| setup.metadata.uuid(member::KEY);
        match self.listed::<SetupIntent>(inquiry, Listed::SetupIntents, key_of, |setup| &setup.id).await {
            Looked::Found(setup) => tell::probed(tell::checked(&setup)),
            Looked::Nowhere => absent(inquiry),
            Looked::NotEverywhere => Probe::Unknown,
        }
    }

    async fn listed<T: DeserializeOwned>(
        &self,
        inquiry: &Inquiry,
        of: Listed,
        key_of: impl Fn(&T) -> Option<Uuid>,
        id_of: impl Fn(&T) -> &str,
    ) -> Looked<T> {
        let mut after: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let ask = ask::made_about(inquiry, of, after.as_deref());
            let Ok(page) = self.read::<List<T>>(ask, &inquiry.credentials).await else { break };
            after = page.data.last().map(|last| id_of(last).to_owned());
            match Looked::among(page, |object| key_of(object) == Some(inquiry.key)) {
                Looked::NotEverywhere => {}
                looked @ (Looked::Found(_) | Looked::Nowhere) => return looked,
            }
        }
        Looked::NotEverywhere
    }
}

/// What a list shows of a key.
enum Looked<T> {
    Found(T),
    /// The whole list was read.
    Nowhere,
    /// The list is too long, or cannot be read.
    NotEverywhere,
}

impl<T> Looked<T> {
    fn among(list: List<T>, is_ours: impl Fn(&T) -> bool) -> Self {
        match list.data.into_iter().find(is_ours) {
            Some(found) => Self::Found(found),
            None if list.has_more => Self::NotEverywhere,
            None => Self::Nowhere,
        }
    }
}

fn absent(inquiry: &Inquiry) -> Probe {
    if inquiry.at.since(inquiry.sent_at) < ABSENCE_PROVES_AFTER { Probe::Unknown } else { Probe::Absent }
}
