//! The address at which a cardholder comes back after a challenge. Nobody who holds it has credentials: it is signed for
//! one charge, and good for an hour after the charge was created.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::time::Timestamp;

/// How long the address of a charge is good for (`docs/interface/charges.md#3-d-secure`).
pub const GOOD_FOR: Duration = Duration::from_secs(60 * 60);

/// Makes and checks such addresses.
pub struct ReturnAddresses {
    key: hmac::Key,
    base_url: Option<Arc<str>>,
}

impl ReturnAddresses {
    /// Addresses below `base_url`, signed with `key`, a secret of the deployment. None without a base.
    pub fn new(key: &[u8], base_url: Option<Arc<str>>) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key), base_url }
    }

    /// The address for the cardholder of a charge; `None` where the service does not know its own address.
    pub fn of(&self, client_id: ClientId, charge_id: ChargeId) -> Option<String> {
        let base_url = self.base_url.as_deref()?;
        let hash = URL_SAFE_NO_PAD.encode(hmac::sign(&self.key, &signed(client_id, charge_id)));
        Some(format!("{base_url}/v1/charges/{charge_id}/3ds-authorization?hash={hash}&clientId={client_id}"))
    }

    /// Whether `hash` is the one in the address of this charge, and still good. Takes the same time for any other hash.
    pub fn is_good(&self, client_id: ClientId, charge_id: ChargeId, hash: &str, now: Timestamp) -> bool {
        let Ok(tag) = URL_SAFE_NO_PAD.decode(hash) else { return false };
        hmac::verify(&self.key, &signed(client_id, charge_id), &tag).is_ok()
            && now < charge_id.created_at() + GOOD_FOR
    }
}

fn signed(client_id: ClientId, charge_id: ChargeId) -> [u8; 32] {
    let mut message = [0; 32];
    message[..16].copy_from_slice(charge_id.uuid().as_bytes());
    message[16..].copy_from_slice(client_id.uuid().as_bytes());
    message
}
