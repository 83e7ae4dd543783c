//! When a refused cycle is charged again, and the settings of an account for its subscriptions.

use serde::{Deserialize, Serialize};

use crate::decline::{CardVerdict, Decline};
use crate::id::ClientId;
use crate::time::Timestamp;

/// Most rules of a policy.
pub const RULES_MAX: usize = 6;
/// The last attempt is at most this many days after the first.
pub const WINDOW_DAYS_MAX: u8 = 30;

/// The days on which a refused cycle is charged again. A strictly rising list counts them from the first attempt, any
/// other list from the attempt before (decision 37).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct RetryPolicy(Vec<u8>);

/// Why a list is no policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyRefusal {
    /// It has none, or more than [`RULES_MAX`] rules.
    Count,
    /// The rule at this index is not 1 to [`WINDOW_DAYS_MAX`] days.
    Days(usize),
    /// The last attempt is more than [`WINDOW_DAYS_MAX`] days after the first.
    Window,
}

impl RetryPolicy {
    /// From `daysAfterLastAttempt` of each rule.
    ///
    /// # Errors
    /// What [`PolicyRefusal`] says.
    pub fn new(rules: Vec<u8>) -> Result<Self, PolicyRefusal> {
        if rules.is_empty() || rules.len() > RULES_MAX {
            return Err(PolicyRefusal::Count);
        }
        if let Some(wrong) = rules.iter().position(|days| !(1..=WINDOW_DAYS_MAX).contains(days)) {
            return Err(PolicyRefusal::Days(wrong));
        }
        let policy = Self(rules);
        let window: u32 = policy.gaps().map(u32::from).sum();
        if window > u32::from(WINDOW_DAYS_MAX) { Err(PolicyRefusal::Window) } else { Ok(policy) }
    }

    /// The rules as they were given.
    pub fn rules(&self) -> &[u8] {
        &self.0
    }

    /// The days from each attempt to the next. An attempt that is late, after an outage or a pause, keeps the time to
    /// the next one, so that attempts that were missed do not come all at once.
    pub fn gaps(&self) -> impl Iterator<Item = u8> {
        let is_from_the_first = self.0.is_sorted_by(|earlier, later| earlier < later);
        let mut before = 0;
        self.0.iter().map(move |days| {
            let gap = days - before;
            before = if is_from_the_first { *days } else { 0 };
            gap
        })
    }

    /// The days of all attempts, counted from the first, which is day 0.
    pub fn days(&self) -> Vec<u8> {
        let later = self.gaps().scan(0, |day, gap| {
            *day += gap;
            Some(*day)
        });
        std::iter::once(0).chain(later).collect()
    }

    /// The days until the next attempt after `attempts` of them; `None` when they are used up.
    pub fn gap_after(&self, attempts: usize) -> Option<u8> {
        self.gaps().nth(attempts.checked_sub(1)?)
    }
}

/// Attempts on the days 0, 1, 4, 9 and 16.
impl Default for RetryPolicy {
    fn default() -> Self {
        Self(vec![1, 4, 9, 16])
    }
}

impl TryFrom<Vec<u8>> for RetryPolicy {
    type Error = &'static str;

    fn try_from(rules: Vec<u8>) -> Result<Self, Self::Error> {
        Self::new(rules).map_err(|_| "a policy has 1 to 6 rules within 30 days")
    }
}

impl From<RetryPolicy> for Vec<u8> {
    fn from(policy: RetryPolicy) -> Self {
        policy.0
    }
}

/// Whether the same card may be charged again by itself after this refusal. Not when the provider or the table of
/// declines says no, and not when the card will never be approved, such as a lost or expired one (decision 37).
pub const fn is_tried_again(decline: &Decline) -> bool {
    match decline.code.card_verdict() {
        CardVerdict::Final => false,
        CardVerdict::Open => decline.retryable,
    }
}

/// `cancelAfterAllRetries`: what becomes of a subscription when the last attempt of a cycle has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterRetries {
    /// It is unpaid until there is another card.
    #[default]
    Unpaid,
    /// It is canceled.
    Canceled,
}

/// How an account charges its subscriptions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BillingRules {
    /// When a refused cycle is charged again.
    pub retry_policy: RetryPolicy,
    /// What becomes of a subscription after the last attempt.
    pub after_retries: AfterRetries,
    /// Text on the buyer's statement, at most [`STATEMENT_DESCRIPTOR_CHARS_MAX`] characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_descriptor: Option<String>,
}

/// Most characters of the text on the statement.
pub const STATEMENT_DESCRIPTOR_CHARS_MAX: usize = 25;

/// The rules that an account has set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionSettings {
    /// The account.
    pub client_id: ClientId,
    /// The rules.
    pub rules: BillingRules,
    /// When they were first set.
    pub created_at: Timestamp,
    /// When they last changed; always grows.
    pub updated_at: Timestamp,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
}
