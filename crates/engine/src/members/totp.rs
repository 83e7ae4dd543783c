//! Codes of a phone that change with time (RFC 6238): six digits, 30 seconds, SHA-1, as every authenticator has them.

use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac::{self, HMAC_SHA1_FOR_LEGACY_USE_ONLY};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Bytes of a secret, as RFC 4226 recommends them.
const SECRET_BYTES: usize = 20;
const STEP_SECONDS: u64 = 30;
const CODE_DIGITS: usize = 6;
/// How many steps the clock of a phone may be off, either way.
const STEPS_OFF_MAX: u64 = 1;

/// The secret that a phone and the vault share.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret(#[serde(with = "hex::serde")] [u8; SECRET_BYTES]);

impl Secret {
    /// A secret of these bytes.
    pub const fn new(bytes: [u8; SECRET_BYTES]) -> Self {
        Self(bytes)
    }

    /// Reads [`Self::text`].
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = Vec::with_capacity(SECRET_BYTES);
        let (mut bits, mut held) = (0_u32, 0_u32);
        for character in text.bytes() {
            let value = BASE32.iter().position(|known| *known == character)?;
            bits = (bits << 5) | u32::try_from(value).ok()?;
            held += 5;
            if held >= 8 {
                held -= 8;
                bytes.push(u8::try_from((bits >> held) & 0xff).ok()?);
                bits &= (1 << held) - 1;
            }
        }
        Some(Self(bytes.try_into().ok()?))
    }

    /// The secret as people type it: base 32 (RFC 4648) without padding, which 20 bytes do not need.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(32);
        for five in self.0.chunks(5) {
            let number = five.iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
            for at in (0..8).rev() {
                text.push(char::from(BASE32[usize::try_from((number >> (5 * at)) & 31).unwrap_or(0)]));
            }
        }
        text
    }

    /// The address that authenticators read from a QR code.
    pub fn address(&self, email: &str) -> String {
        let mut address = url::Url::parse("otpauth://totp/").expect("the beginning of the address is one");
        address.set_path(&format!("/Regente:{email}"));
        address.query_pairs_mut().append_pair("secret", &self.text()).append_pair("issuer", "Regente");
        address.to_string()
    }

    /// The code at a time.
    pub fn code_at(&self, at: Timestamp) -> String {
        self.code(step_at(at))
    }

    /// The step whose code this is, if it is near and later than the last one that was taken.
    pub(super) fn step_of(&self, code: &str, now: Timestamp, taken_step: u64) -> Option<u64> {
        let near = step_at(now);
        let steps = near.saturating_sub(STEPS_OFF_MAX)..=near + STEPS_OFF_MAX;
        let is_right =
            |step: &u64| verify_slices_are_equal(self.code(*step).as_bytes(), code.as_bytes()).is_ok();
        steps.filter(|step| *step > taken_step).find(is_right)
    }

    fn code(&self, step: u64) -> String {
        let key = hmac::Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let tag = hmac::sign(&key, &step.to_be_bytes());
        let tag = tag.as_ref();
        let offset = usize::from(tag.last().copied().unwrap_or(0) & 0xf);
        let four =
            tag[offset..offset + 4].iter().fold(0_u32, |number, byte| (number << 8) | u32::from(*byte));
        format!("{:0width$}", (four & 0x7fff_ffff) % 10_u32.pow(6), width = CODE_DIGITS)
    }
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn step_at(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(0) / 1000 / STEP_SECONDS
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
