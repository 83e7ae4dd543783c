//! Simulates payers of a provider that cannot decide an authorization by itself: it returns an address for the payer,
//! and the test decides what the payer does. The simulator behind it keeps the transaction log.

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

/// How long a payer may take.
pub const EXPIRES_IN: Duration = Duration::from_secs(20 * 60);
/// The address for the payer.
pub const ADDRESS: &str = "https://bank.example/authenticate";
/// The API key of providers that ask their payers.
const ASKS_PAYERS: &str = "asks-payers-1234";

/// A payer's decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Pays.
    Pays,
    /// Refuses: the provider declines, and another one may be tried.
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
    /// For each authorization without a payer's decision: whether a security code came with it.
    codes: Vec<bool>,
}

/// An authorization that awaits its payer.
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
    /// The instructions, when the provider asks its payers; otherwise the call.
    pub fn take_up(&self, call: Box<Call>) -> Result<Answer, Box<Call>> {
        let Operation::Authorize(authorization) = &call.operation else { return Err(call) };
        let mut state = self.0.lock().unwrap();
        if call.credentials.expose("apiKey") != Some(ASKS_PAYERS) {
            state.codes.push(authorization.instrument.card().is_some_and(|card| card.cvv.is_some()));
            return Err(call);
        }
        let reference = format!("pending-{}", call.key);
        let pending = Box::new(Pending {
            reference: Approval { transaction_id: Some(reference), ..Approval::default() },
            instructions: Instructions::Redirect { url: ADDRESS.to_owned() },
            expires_at: Some(call.at + EXPIRES_IN),
        });
        let finding = Finding::Pending(pending.clone());
        state.waiting.push(Waiting { key: call.key, call: Some(*call), finding });
        Ok(Answer::Pending(pending))
    }

    /// The state of a key.
    pub fn finding(&self, key: Uuid) -> Option<Finding> {
        let state = self.0.lock().unwrap();
        state.waiting.iter().find(|waiting| waiting.key == key).map(|waiting| waiting.finding.clone())
    }

    /// All waiting payers decide this way. Their providers report it when they are probed.
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
                        other @ (Answer::Declined(_)
                        | Answer::Pending(_)
                        | Answer::Accepted(_)
                        | Answer::NotSent
                        | Answer::Unknown(_)) => {
                            panic!("the simulator did not take it: {other:?}")
                        }
                    }
                }
            };
            let mut state = self.0.lock().unwrap();
            let waiting = state.waiting.iter_mut().find(|waiting| waiting.key == key).unwrap();
            waiting.finding = finding;
        }
    }

    /// For each authorization without a payer's decision: whether a security code came with it.
    pub fn codes(&self) -> Vec<bool> {
        self.0.lock().unwrap().codes.clone()
    }
}

/// The outcome that a finding stands for.
pub fn outcome(finding: Finding) -> Outcome {
    match finding {
        Finding::Approved(approval) => Outcome::Approved(approval),
        Finding::Declined(decline) => Outcome::Declined(decline),
        Finding::Pending(pending) => Outcome::Pending(pending),
        other @ (Finding::Accepted(_) | Finding::Paid(_) | Finding::Reversed { .. }) => panic!("{other:?}"),
    }
}
