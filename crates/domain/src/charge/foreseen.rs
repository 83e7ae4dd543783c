//! The requests that a charge may lead to, before any is made.

use super::Charge;
use super::analysis::{Progress, Timing};
use super::attempt::{Asks, RequestType};
use crate::id::{Id, ProviderId};
use crate::provider_type::ProviderType;
use crate::routing;
use crate::words::words;

/// A request that may be sent to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreseen {
    /// The provider; `None` for a 3DS server, which is not one of the merchant's providers.
    pub provider_id: Option<ProviderId>,
    /// Its type.
    pub provider_type: ProviderType,
    /// The operation.
    pub request_type: RequestType,
    /// When it is sent.
    pub when: When,
}

words! {
    /// When a request is sent that a charge may lead to.
    #[schema(as = DryRunWhen)]
    When {
        /// First of all.
        First = "first",
        /// Once the request before it has succeeded.
        AfterSuccess = "after_success",
        /// Once the provider before it has refused in a way that lets another one try.
        AfterRefusal = "after_refusal",
    }
}

impl Charge {
    /// The requests that this new charge may lead to until it is authorized or refused, in their order.
    pub fn foreseen(&self) -> Vec<Foreseen> {
        let mut foreseen: Vec<Foreseen> = Vec::new();
        let mut then = |asks: Asks, when| {
            let when = if foreseen.is_empty() { When::First } else { when };
            let (provider_type, request_type) = (asks.provider_type, asks.request_type);
            let provider_id = (asks.provider_id != nobody()).then_some(asks.provider_id);
            foreseen.push(Foreseen { provider_id, provider_type, request_type, when });
        };
        if let Some((server, _)) = self.server() {
            let enroll = Asks {
                provider_id: nobody(),
                provider_type: server,
                request_type: RequestType::AuthenticationEnroll,
                amount: self.amount,
                follows: None,
            };
            then(enroll, When::AfterSuccess);
        }
        let before = self.analysed(Timing::BeforeCharge).and_then(|_| self.analysis());
        let mut allowed = self.clone();
        if let (Some(asks), Some(screening)) = (before, &mut allowed.screening) {
            then(asks, When::AfterSuccess);
            screening.progress = Progress::Cleared;
        }
        let (mut hop, mut when) = (routing::first(&self.explanation), When::AfterSuccess);
        while let Some(at) = hop {
            then(allowed.authorization_at(at), when);
            when = When::AfterRefusal;
            hop = routing::after(&self.explanation, at.position);
        }
        if let Some(asks) = self.analysed(Timing::AfterReservation).and_then(|_| self.analysis()) {
            then(asks, When::AfterSuccess);
        }
        foreseen
    }
}

fn nobody() -> ProviderId {
    Id::new(uuid::Uuid::nil())
}
