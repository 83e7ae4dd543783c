//! The browser looks for a number, which takes it less than a second and a program as long for each card that it tries.
//! Nobody else takes part, and nothing of the buyer is looked at.
//!
//! The challenge is signed for one operation with one idempotency key, so nothing is stored: the key makes one charge, card or
//! token at most, and stays claimed for as long as the challenge is good.

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regente_engine::app::App;
use regente_engine::error::Error;

use super::{HumanCheck, Step, Verdict};

/// How long a challenge is good, unless idempotency keys are kept for less.
const LIFE: Duration = Duration::from_secs(10 * 60);
/// The bits of a hash that must be zero: 2^17 hashes on average, most of a second on a cheap phone.
const ZERO_BITS: u32 = 17;

/// The check by a proof of work. A token is `{challenge}.{number}`, and the SHA-256 of its text begins with [`ZERO_BITS`]
/// zero bits; a challenge is `{end in seconds since 1970}.{ZERO_BITS}.{signature}`.
#[derive(Clone, Copy, Debug)]
pub struct ProofOfWork;

impl HumanCheck for ProofOfWork {
    fn challenge<'a>(&'a self, app: &'a App, step: Step<'a>) -> BoxFuture<'a, Result<String, Error>> {
        let life = LIFE.min(app.settings.idempotency_retention);
        let end = app.clock.of(step.session.client_id) + life;
        sign(app, step, end.as_millis() / 1000).boxed()
    }

    fn verify<'a>(
        &'a self,
        app: &'a App,
        step: Step<'a>,
        token: &'a str,
    ) -> BoxFuture<'a, Result<Verdict, Error>> {
        async move {
            let Some((challenge, end)) = parts(token) else { return Ok(Verdict::Refused) };
            let ours = sign(app, step, end).await?;
            let now = app.clock.of(step.session.client_id).as_millis() / 1000;
            let is_ours = verify_slices_are_equal(ours.as_bytes(), challenge.as_bytes()).is_ok();
            match is_ours && now < end && zero_bits(token) >= ZERO_BITS {
                true => Ok(Verdict::Passed),
                false => Ok(Verdict::Refused),
            }
        }
        .boxed()
    }
}

async fn sign(app: &App, step: Step<'_>, end: i64) -> Result<String, Error> {
    let Step { session, caller, operation, key } = step;
    let keys = app.vault.client_keys(session.client_id).await?;
    let (id, scope, terms) =
        (session.id.to_string(), caller.idempotency_scope(), format!("{end}.{ZERO_BITS}"));
    let signature = keys.human_check_digest(&[&id, &scope, operation.word(), key, &terms]);
    Ok(format!("{terms}.{}", signature.simple()))
}

/// The challenge of a token, and its end.
fn parts(token: &str) -> Option<(&str, i64)> {
    let (challenge, _number) = token.rsplit_once('.')?;
    let (end, _) = challenge.split_once('.')?;
    Some((challenge, end.parse().ok()?))
}

fn zero_bits(token: &str) -> u32 {
    let hash = digest(&SHA256, token.as_bytes());
    let first = hash.as_ref().first_chunk().copied().unwrap_or([u8::MAX; 8]);
    u64::from_be_bytes(first).leading_zeros()
}
