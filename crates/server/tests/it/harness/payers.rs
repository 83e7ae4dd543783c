//! Payers of a provider that cannot decide an authorization by itself: it gives them an address to go to, and the test says
//! what they do there. Behind it is the simulator, so that its log has what was taken.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use regente_domain::charge::attempt::{Approval, Outcome};
use regente_domain::charge::instructions::{Instructions, Pending};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_providers::outcome::{Answer, Finding};
use regente_providers::provider::Provider;
use regente_providers::request::{Call, Operation};
use regente_providers::sandbox::{Sandbox, SandboxOptions, TransactionLog};
use serde_json::{Value, json};
use uuid::Uuid;

/// How long a payer has.
pub const EXPIRES_IN: Duration = Duration::from_secs(20 * 60);
/// Where the payer is sent.
pub const ADDRESS: &str = "https://bank.example/authenticate";
/// Providers with this key ask their payers.
const ASKS_PAYERS: &str = "asks-payers-1234";

/// What a payer does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Pays.
    Pays,
    /// Turns back: the provider declines, and another one may be asked.
    TurnsBack,
}

/// The payers of a deployment. Clones share them.
#[derive(Clone, Default)]
pub struct Payers(Arc<Mutex<State>>);

impl std::fmt::Debug for Payers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Payers").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    waiting: Vec<Waiting>,
    /// Whether a security code came with each authorization that no payer is asked about.
    codes: Vec<bool>,
}

/// An authorization that a payer is asked about.
struct Waiting {
    key: Uuid,
    call: Option<Call>,
    finding: Finding,
}

/// A provider that asks its payers.
pub fn asking_payers(name: &str, priority: i64) -> Value {
    json!({ "name": name, "priority": priority, "credentials": { "type": "SANDBOX", "apiKey": ASKS_PAYERS } })
}

impl Payers {
    /// The answer to a call whose payer is asked; otherwise the call.
    pub fn take_up(&self, call: Call) -> Result<Answer, Call> {
        let Operation::Authorize(authorization) = &call.operation else { return Err(call) };
        let mut state = self.0.lock().unwrap();
        if call.credentials.expose("apiKey") != Some(ASKS_PAYERS) {
            state.codes.push(authorization.card.cvv.is_some());
            return Err(call);
        }
        let reference = format!("pending-{}", call.key);
        let pending = Box::new(Pending {
            reference: Approval { transaction_id: Some(reference), ..Approval::default() },
            instructions: Instructions::Redirect { url: ADDRESS.to_owned() },
            expires_at: Some(call.at + EXPIRES_IN),
        });
        let finding = Finding::Pending(pending.clone());
        state.waiting.push(Waiting { key: call.key, call: Some(call), finding });
        Ok(Answer::Pending(pending))
    }

    /// What is known under a key.
    pub fn finding(&self, key: Uuid) -> Option<Finding> {
        let state = self.0.lock().unwrap();
        state.waiting.iter().find(|waiting| waiting.key == key).map(|waiting| waiting.finding.clone())
    }

    /// Every payer who is asked does this now. Their providers know it then; they tell when they are asked.
    pub async fn act(&self, act: Act, log: &TransactionLog) {
        let calls: Vec<Call> = {
            let mut state = self.0.lock().unwrap();
            state.waiting.iter_mut().filter_map(|waiting| waiting.call.take()).collect()
        };
        for call in calls {
            let key = call.key;
            let finding = match act {
                Act::TurnsBack => Finding::Declined(Decline::of(DeclinedCode::TryAgain)),
                Act::Pays => {
                    let options = SandboxOptions::new(7, zeroize::Zeroizing::new(vec![5; 32]));
                    match Sandbox::new(options, log.clone()).call(call).await {
                        Answer::Approved(approval) => Finding::Approved(approval),
                        other => panic!("the simulator did not take it: {other:?}"),
                    }
                }
            };
            let mut state = self.0.lock().unwrap();
            let waiting = state.waiting.iter_mut().find(|waiting| waiting.key == key).unwrap();
            waiting.finding = finding;
        }
    }

    /// Whether a security code came with each authorization that no payer was asked about.
    pub fn codes(&self) -> Vec<bool> {
        self.0.lock().unwrap().codes.clone()
    }
}

/// A finding as a request's outcome.
pub fn outcome(finding: Finding) -> Outcome {
    match finding {
        Finding::Approved(approval) => Outcome::Approved(approval),
        Finding::Declined(decline) => Outcome::Declined(decline),
        Finding::Pending(pending) => Outcome::Pending(pending),
    }
}
