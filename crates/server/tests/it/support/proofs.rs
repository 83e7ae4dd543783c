//! What the browser of a person makes of a challenge (`docs/checkout.md#human-check`).

use aws_lc_rs::digest::{SHA256, digest};

/// The token for a challenge.
pub fn solve(challenge: &str) -> String {
    let zeros: u32 = challenge.split('.').nth(1).unwrap().parse().unwrap();
    let is_right = |token: &String| {
        let hash = digest(&SHA256, token.as_bytes());
        u64::from_be_bytes(*hash.as_ref().first_chunk().unwrap()).leading_zeros() >= zeros
    };
    (0_u64..).map(|number| format!("{challenge}.{number:x}")).find(is_right).unwrap()
}
