//! What a PATCH of the settings of an account takes.

use deserr::{Deserr, IntoValue, Value as Sent, ValuePointerRef};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::problems::Problems;
use crate::subscription::{
    AfterRetries, BillingRules, PolicyRefusal, RULES_MAX, RetryPolicy, STATEMENT_DESCRIPTOR_CHARS_MAX,
    WINDOW_DAYS_MAX,
};
use crate::wire::{Integer, List, Patch, Text, read, refused};

const RETRY_POLICY: &str = "retryPolicy";
/// How older pages spell it.
const RETRY_RULES: &str = "retryRules";

type Days = Integer<1, { WINDOW_DAYS_MAX as i64 }>;
/// The rules of a policy.
pub type Retries = List<RetryRule, 1, RULES_MAX>;
type Descriptor = Text<0, STATEMENT_DESCRIPTOR_CHARS_MAX>;

/// Changes of the settings; what is absent stays.
#[derive(Clone, Debug, Default, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase", example = json!({
    "retryPolicy": [{ "daysAfterLastAttempt": 1 }, { "daysAfterLastAttempt": 4 }, { "daysAfterLastAttempt": 9 },
        { "daysAfterLastAttempt": 16 }],
    "statementDescriptor": "MY COMPANY", "cancelAfterAllRetries": false
}))]
pub struct SubscriptionSettingsChanges {
    /// When a refused cycle is charged again, in place of the former rules. Also read as `retryRules`.
    #[deserr(default, from(SentPolicy) = some_policy)]
    #[schema(value_type = Option<Retries>)]
    pub retry_policy: Option<RetryPolicy>,
    /// Text on the buyer's statement; null removes it.
    #[deserr(default, from(Patch<Descriptor>) = descriptor)]
    #[schema(value_type = Option<Descriptor>)]
    pub statement_descriptor: Patch<String>,
    /// Whether a subscription is canceled when the last attempt of a cycle has failed; otherwise it is unpaid.
    #[deserr(default, from(bool) = Some)]
    pub cancel_after_all_retries: Option<bool>,
}

/// When a refused cycle is charged again.
#[derive(Clone, Copy, Debug, Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = SubscriptionRetryRule, rename_all = "camelCase")]
pub struct RetryRule {
    /// Where the days of the list rise strictly: days after the first attempt. Otherwise: days after the attempt before.
    pub days_after_last_attempt: Days,
}

struct SentPolicy(RetryPolicy);

impl Deserr<Problems> for SentPolicy {
    fn deserialize_from_value<V: IntoValue>(
        value: Sent<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: Retries = Deserr::deserialize_from_value(value, location)?;
        let days = sent.iter().map(|rule| u8::try_from(rule.days_after_last_attempt.get()));
        let days: Result<Vec<u8>, _> = days.collect();
        let days = days.map_err(|_| refused(location, "is not valid"))?;
        RetryPolicy::new(days).map(Self).map_err(|refusal| match refusal {
            PolicyRefusal::Count | PolicyRefusal::Days(_) => refused(location, "is not valid"),
            PolicyRefusal::Window => {
                let rule = format_args!(
                    "must not have its last attempt more than {WINDOW_DAYS_MAX} days after the first"
                );
                refused(location, rule)
            }
        })
    }
}

/// Reads changes of the settings.
///
/// # Errors
/// Every problem that was found.
pub fn read_settings(sent: &Map<String, Value>) -> Result<SubscriptionSettingsChanges, Problems> {
    let mut members = sent.clone();
    let older = members.shift_remove(RETRY_RULES);
    if members.get(RETRY_POLICY).is_none_or(Value::is_null)
        && let Some(rules) = older
    {
        members.insert(RETRY_POLICY.to_owned(), rules);
    }
    read(members)
}

impl SubscriptionSettingsChanges {
    /// The rules after the change.
    pub fn applied_to(&self, before: &BillingRules) -> BillingRules {
        let mut rules = before.clone();
        if let Some(policy) = &self.retry_policy {
            rules.retry_policy.clone_from(policy);
        }
        self.statement_descriptor.apply(&mut rules.statement_descriptor);
        match self.cancel_after_all_retries {
            None => {}
            Some(true) => rules.after_retries = AfterRetries::Canceled,
            Some(false) => rules.after_retries = AfterRetries::Unpaid,
        }
        rules
    }
}

fn some_policy(SentPolicy(policy): SentPolicy) -> Option<RetryPolicy> {
    Some(policy)
}

fn descriptor(sent: Patch<Descriptor>) -> Patch<String> {
    sent.map(Text::into_string)
}
