//! Whom the simulator notifies of what happens to a call after its answer: a payer pays, a refund is carried out. It is in
//! memory, like the outbox: what is forgotten, a probe finds.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;
use zeroize::Zeroizing;

use super::notification::api_key;
use super::{Plans, Recipient, SigningKey};
use crate::request::{Call, NotificationAddress};

/// Most calls that are remembered; the oldest is forgotten first.
const CALLS_MAX: usize = 200_000;

/// Most registrations that calls have named; when there are more, all are derived anew.
const NAMED_MAX: usize = 1_000;

/// Whom to notify of one call.
#[derive(Clone)]
pub(super) struct Notified {
    pub recipient: Recipient,
    /// The fault plans that the call brought along.
    pub plans: Arc<Plans>,
}

impl Notified {
    pub(super) fn without_faults(recipient: Recipient) -> Self {
        Self { recipient, plans: Arc::default() }
    }

    pub(super) fn of(call: &Call, recipient: Recipient) -> Self {
        let plans = Plans::read(&call.options, call.test_overrides.as_ref()).unwrap_or_default();
        Self { recipient, plans: Arc::new(plans) }
    }
}

/// The recipients by the keys of their calls.
#[derive(Default)]
pub(super) struct Recipients(Mutex<RecipientTable>);

#[derive(Default)]
struct RecipientTable {
    by_key: HashMap<Uuid, Remembered>,
    oldest_first: VecDeque<Uuid>,
    /// By address: many calls, few registrations.
    registrations: HashMap<String, Arc<Registration>>,
    /// By provider: what calls have named.
    named: HashMap<Uuid, Named>,
}

/// A registration as calls name it, with what was derived from that.
struct Named {
    service: Arc<str>,
    api_key: Zeroizing<String>,
    registration: Registration,
}

/// One call, in few bytes: every authorization may be disputed later.
struct Remembered {
    registration: Arc<Registration>,
    object_id: Uuid,
    /// Absent when the call brought no faults along.
    plans: Option<Arc<Plans>>,
}

#[derive(Clone)]
struct Registration {
    url: String,
    signing_key: SigningKey,
}

impl Recipients {
    /// As [`Recipient::of`], which derives the address and the key anew for each call.
    pub(super) fn recipient_of(&self, call: &Call) -> Option<Recipient> {
        let (address, api_key) = (call.notify.as_ref()?, api_key(&call.credentials)?);
        let NotificationAddress { service, provider_id } = address;
        let mut known = self.known();
        let named = known.named.get(provider_id);
        let named = named.filter(|named| named.service == *service && *named.api_key == api_key);
        let registration = match named {
            Some(named) => named.registration.clone(),
            None => {
                let signing_key = SigningKey::derived_from(api_key);
                let registration = Registration { url: address.to_string(), signing_key };
                let named = Named {
                    service: Arc::clone(service),
                    api_key: Zeroizing::new(api_key.to_owned()),
                    registration: registration.clone(),
                };
                if known.named.len() >= NAMED_MAX {
                    known.named.clear();
                }
                known.named.insert(*provider_id, named);
                registration
            }
        };
        let Registration { url, signing_key } = registration;
        Some(Recipient { url, object_id: call.object_id, signing_key })
    }

    pub(super) fn remember(&self, key: Uuid, Notified { recipient, plans }: Notified) {
        let Recipient { url, object_id, signing_key } = recipient;
        let mut known = self.known();
        let registration = known.registrations.get(&url).filter(|known| known.signing_key == signing_key);
        let registration = match registration.cloned() {
            Some(registration) => registration,
            None => {
                let registration = Arc::new(Registration { url: url.clone(), signing_key });
                known.registrations.insert(url, Arc::clone(&registration));
                registration
            }
        };
        let plans = (!plans.is_empty()).then_some(plans);
        if known.by_key.insert(key, Remembered { registration, object_id, plans }).is_none() {
            known.oldest_first.push_back(key);
        }
        if known.oldest_first.len() > CALLS_MAX
            && let Some(oldest) = known.oldest_first.pop_front()
        {
            known.by_key.remove(&oldest);
        }
    }

    pub(super) fn of(&self, key: Uuid) -> Option<Notified> {
        let known = self.known();
        let Remembered { registration, object_id, plans } = known.by_key.get(&key)?;
        let Registration { url, signing_key } = registration.as_ref();
        let recipient =
            Recipient { url: url.clone(), object_id: *object_id, signing_key: signing_key.clone() };
        Some(Notified { recipient, plans: plans.clone().unwrap_or_default() })
    }

    fn known(&self) -> MutexGuard<'_, RecipientTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
