//! Keys that are derived from the key-encryption key and stored nowhere.

use aws_lc_rs::hmac;
use regente_engine::vault::Kek;
use regente_providers::request::Mode;
use regente_store::{Store, clients, credentials};
use zeroize::Zeroizing;

use super::StartError;
use crate::access;
use crate::config::{Config, TooWeak};

/// The name of the account that `regente dev` makes.
pub const DEV_CLIENT_NAME: &str = "Regente dev";
/// The oldest clients among which the account of `regente dev` is looked for: it is the first one of its database.
pub(super) const DEV_CLIENTS_LOOKED_AT: i64 = 100;
/// Bytes of the development key. It only guards a sandbox on one machine.
const DEV_KEY_BYTES: usize = 16;

/// The key of the hashes that stand for card numbers in the simulator's transaction log.
pub(super) fn card_hash_key(kek: &Kek) -> Zeroizing<Vec<u8>> {
    derive(kek, b"regente sandbox card hashes")
}

/// The key of the addresses at which cardholders come back after a challenge.
pub(super) fn return_address_key(kek: &Kek) -> Zeroizing<Vec<u8>> {
    derive(kek, b"regente return addresses")
}

/// The key of the tokens of the simulated 3DS server.
pub(super) fn challenge_key(kek: &Kek) -> Zeroizing<Vec<u8>> {
    derive(kek, b"regente sandbox challenges")
}

/// The secret key of the account of `regente dev`. It is the same at every start, though only its digest is stored.
pub(super) fn dev_api_key(kek: &Kek) -> Zeroizing<String> {
    let bytes = derive(kek, b"regente dev api key");
    Zeroizing::new(format!("sk_test_{}", hex::encode(&bytes[..DEV_KEY_BYTES])))
}

/// Refuses a production database in which the key of `regente dev` is still valid.
pub(super) async fn refuse_dev_key_in_production(
    config: &Config,
    store: &Store,
    kek: &Kek,
) -> Result<(), StartError> {
    match config.mode {
        Mode::Sandbox => return Ok(()),
        Mode::Production => {}
    }
    let digest = access::digest(&dev_api_key(kek));
    for client in clients::list(store, None, DEV_CLIENTS_LOOKED_AT).await? {
        if client.name != DEV_CLIENT_NAME {
            continue;
        }
        let found = credentials::look_up(store, client.id, &digest).await?.and_then(|found| found.credential);
        if found.is_some_and(|credential| credential.revoked_at.is_none()) {
            return Err(TooWeak::because(format!(
                "the sample key of `regente dev` works for client {}: this is a database for tests",
                client.id
            ))
            .into());
        }
    }
    Ok(())
}

fn derive(kek: &Kek, label: &[u8]) -> Zeroizing<Vec<u8>> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, kek.expose_text().as_bytes());
    Zeroizing::new(hmac::sign(&key, label).as_ref().to_vec())
}
