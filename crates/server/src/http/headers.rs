//! Reads request headers that may occur once at most.
//!
//! The credentials in a header are checked in `access`.

use std::fmt;

use axum::http::HeaderMap;
use regente_domain::problems::Problems;

/// The header with the account (`docs/interface/conventions.md#headers`).
pub const CLIENT_ID: &str = "x-client-id";
/// The header with the secret or public key (`docs/interface/conventions.md#headers`).
pub const API_KEY: &str = "x-api-key";
/// The header with the merchant whose settings are meant (`docs/interface/settings.md#whose-settings`).
pub const MERCHANT_ID: &str = "x-merchant-id";
/// The header with the time zone of the dates in a report (`docs/interface/reports.md#asking`).
pub const USER_TIMEZONE: &str = "x-user-timezone";
/// The header with the caller's idempotency key (`docs/interface/conventions.md#idempotency`).
pub const IDEMPOTENCY_KEY: &str = "x-idempotency-key";
/// The standard's name of that header; its value may be a quoted structured-field string.
pub const IDEMPOTENCY_KEY_ALIAS: &str = "idempotency-key";
/// The header with the proof that a person pays (`docs/checkout.md#human-check`).
pub const CAPTCHA_TOKEN: &str = "x-captcha-token";
/// The header of a refusal with what that proof starts with (`docs/checkout.md#human-check`).
pub const CAPTCHA_CHALLENGE: &str = "x-captcha-challenge";
/// The header that marks a replayed answer (`docs/interface/conventions.md#idempotency`).
pub const IDEMPOTENT_REPLAYED: &str = "idempotent-replayed";
/// The header with the id of a request in the log (`docs/interface/conventions.md#request-ids`).
pub const REQUEST_ID: &str = "x-request-id";

/// The most characters of an idempotency key (`docs/interface/conventions.md#idempotency`).
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;

/// Why a header is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    /// It occurs more than once: a proxy before us may have read the other value.
    Twice,
    /// It holds other characters than printable ASCII.
    NotPrintable,
}

impl HeaderFault {
    /// The rule that the header breaks, after its name.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Twice => "must be given once",
            Self::NotPrintable => "must contain only printable ASCII characters",
        }
    }
}

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule())
    }
}

/// The value of a header that may occur once. An empty value counts as a value.
///
/// # Errors
/// The header occurs twice, even with equal values, or holds other characters than printable ASCII.
pub fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, HeaderFault> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(HeaderFault::Twice);
    }
    match value.to_str() {
        Ok(text) if text.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) => Ok(Some(text)),
        Ok(_) | Err(_) => Err(HeaderFault::NotPrintable),
    }
}

/// A caller's idempotency key: 1 to [`IDEMPOTENCY_KEY_CHARS_MAX`] printable ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The key without the quotes of the standard's header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The idempotency key of a request, from either of its two headers; both may occur with the same key.
///
/// # Errors
/// A header occurs twice, is empty, too long or not printable ASCII, or the two differ. The problems name the header.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Problems> {
    let own = key_in(headers, IDEMPOTENCY_KEY, "X-Idempotency-Key", |text| Some(text.to_owned()));
    let alias = key_in(headers, IDEMPOTENCY_KEY_ALIAS, "Idempotency-Key", unquoted);
    match (own, alias) {
        (Ok(Some(own)), Ok(Some(alias))) if own != alias => {
            Err(Problems::one("X-Idempotency-Key", "must be the same as Idempotency-Key when both are given"))
        }
        (Ok(own), Ok(alias)) => Ok(own.or(alias)),
        (Err(mut problems), Err(more)) => {
            problems.extend(more);
            Err(problems)
        }
        (Err(problems), Ok(_)) | (Ok(_), Err(problems)) => Err(problems),
    }
}

fn key_in(
    headers: &HeaderMap,
    name: &str,
    shown_name: &str,
    decode: impl FnOnce(&str) -> Option<String>,
) -> Result<Option<IdempotencyKey>, Problems> {
    let Some(text) = single(headers, name).map_err(|fault| Problems::one(shown_name, fault))? else {
        return Ok(None);
    };
    let Some(key) = decode(text.trim()) else {
        return Err(Problems::one(shown_name, "must be a quoted string or a bare value"));
    };
    if key.trim().is_empty() {
        return Err(Problems::one(shown_name, "should not be empty"));
    }
    if key.len() > IDEMPOTENCY_KEY_CHARS_MAX {
        let rule = format!("must be shorter than or equal to {IDEMPOTENCY_KEY_CHARS_MAX} characters");
        return Err(Problems::one(shown_name, rule));
    }
    Ok(Some(IdempotencyKey(key)))
}

/// A structured-field string without its quotes (RFC 9651 §4.2.5); a value without an opening quote is taken as it is.
fn unquoted(text: &str) -> Option<String> {
    let Some(quoted) = text.strip_prefix('"') else {
        return Some(text.to_owned());
    };
    let mut key = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    loop {
        match chars.next()? {
            '"' => break,
            '\\' => key.push(chars.next().filter(|escaped| matches!(escaped, '"' | '\\'))?),
            plain => key.push(plain),
        }
    }
    if chars.as_str().is_empty() { Some(key) } else { None }
}

/// The header of a request that is only tried (`docs/interface/charges.md#dry-run`).
pub const DRY_RUN: &str = "x-dry-run";

/// Whether a request is only to be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRun {
    /// It is to say what it would do.
    Yes,
    /// It is to be carried out.
    No,
}

/// What the header of a dry run says.
///
/// # Errors
/// It says neither `true` nor `false`: whoever sends it must not find that a charge was made.
pub fn dry_run(headers: &HeaderMap) -> Result<DryRun, Problems> {
    match single(headers, DRY_RUN).map_err(|fault| Problems::one("X-Dry-Run", fault))? {
        None | Some("false") => Ok(DryRun::No),
        Some("true") => Ok(DryRun::Yes),
        Some(_) => Err(Problems::one("X-Dry-Run", "must be true or false")),
    }
}

/// The header with the seed of the simulator's random decisions (`docs/interface/sandbox.md#seeds`).
pub const SANDBOX_SEED: &str = "x-sandbox-seed";
/// The most characters of a seed.
pub const SANDBOX_SEED_CHARS_MAX: usize = 255;

/// The caller's seed for the simulator, if the header is there.
pub fn sandbox_seed(headers: &HeaderMap) -> Result<Option<String>, Problems> {
    let seed = single(headers, SANDBOX_SEED).map_err(|fault| Problems::one("X-Sandbox-Seed", fault))?;
    match seed {
        Some(seed) if seed.chars().count() > SANDBOX_SEED_CHARS_MAX => Err(Problems::one(
            "X-Sandbox-Seed",
            format_args!("must be shorter than or equal to {SANDBOX_SEED_CHARS_MAX} characters"),
        )),
        seed => Ok(seed.map(str::to_owned)),
    }
}
