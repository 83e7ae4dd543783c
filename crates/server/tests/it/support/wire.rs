//! The connection between a deployment and its provider: what is held back, forgotten, contradicted or slow.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use regente_engine::clock::Clock;
use regente_providers::request::{Call, Operation, OperationKind};
use regente_providers::sandbox::{Notice, Outbox};
use tokio::sync::watch;

use crate::support::providers::payers::Payers;

/// The id that a provider which [contradicts](Wire::contradict) itself gives its refusals.
pub const REFUSED: &str = "refused-1";

/// The connection between a deployment and its provider.
#[derive(Clone, Debug, Default)]
pub struct Wire(pub(super) Arc<WireState>);

/// Whether the answer to a probe is held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookUp {
    #[default]
    Free,
    /// The next one is to be.
    Expected,
    Held,
}

#[derive(Debug, Default)]
pub struct WireState {
    pub(super) is_holding: watch::Sender<bool>,
    pub(super) holds_a_void: AtomicBool,
    pub(super) look_up: watch::Sender<LookUp>,
    pub(super) is_forgetful: AtomicBool,
    pub(super) is_contradictory: AtomicBool,
    pub(super) is_server_down: AtomicBool,
    pub(super) questions_of_3ds: AtomicU32,
    pub(super) slowness: Mutex<Option<(Clock, Duration)>>,
    pub(super) payers: Payers,
    /// For each void: how many days the provider may take to gather the money.
    pub(super) delays: Mutex<Vec<Option<u16>>>,
    /// Notifications that the simulator has not sent.
    pub(super) outboxes: Mutex<Vec<Outbox>>,
}

impl Wire {
    /// Takes the notifications that the simulator has to send, oldest first.
    pub fn notices(&self) -> Vec<Notice> {
        self.0.outboxes.lock().unwrap().iter_mut().flat_map(Outbox::take).collect()
    }

    /// Holds authorizations and checks of cards back until [`Self::let_go`].
    pub fn hold(&self) {
        self.0.is_holding.send_replace(true);
    }

    /// Holds the next void back until [`Self::let_go`], and authorizations.
    pub fn hold_a_void(&self) {
        self.0.holds_a_void.store(true, Ordering::SeqCst);
        self.hold();
    }

    /// Whether the void that is to be held back has not come yet.
    pub fn expects_a_void(&self) -> bool {
        self.0.holds_a_void.load(Ordering::SeqCst)
    }

    /// Holds the answer to the next probe back until [`Self::let_go`].
    pub fn hold_a_look_up(&self) {
        self.0.look_up.send_replace(LookUp::Expected);
    }

    /// Waits until the answer to a probe is held back.
    pub async fn look_up_is_held(&self) {
        self.0.look_up.subscribe().wait_for(|look_up| *look_up == LookUp::Held).await.unwrap();
    }

    /// Delivers what was held back.
    pub fn let_go(&self) {
        self.0.look_up.send_replace(LookUp::Free);
        self.0.is_holding.send_replace(false);
    }

    /// Makes the provider answer every probe with "absent" without recording that, so that it still carries out a call
    /// that arrives later. The simulator itself keeps its word.
    pub fn forget(&self) {
        self.0.is_forgetful.store(true, Ordering::SeqCst);
    }

    /// Makes the provider answer that it has refused an authorization that it has carried out.
    pub fn contradict(&self) {
        self.0.is_contradictory.store(true, Ordering::SeqCst);
    }

    /// Makes the 3DS server answer nothing.
    pub fn take_down_3ds(&self) {
        self.0.is_server_down.store(true, Ordering::SeqCst);
    }

    /// How often the 3DS server was asked.
    pub fn questions_of_3ds(&self) -> u32 {
        self.0.questions_of_3ds.load(Ordering::SeqCst)
    }

    /// Makes every call take this long by `clock`.
    pub fn slow_down(&self, clock: &Clock, by: Duration) {
        *self.0.slowness.lock().unwrap() = Some((clock.clone(), by));
    }

    /// The payers of providers that cannot decide by themselves.
    pub fn payers(&self) -> &Payers {
        &self.0.payers
    }

    /// For each void that was sent: how many days the provider may take to gather the money.
    pub fn delays(&self) -> Vec<Option<u16>> {
        self.0.delays.lock().unwrap().clone()
    }

    pub(super) async fn carry_back_an_answer(&self) {
        let holds = self.0.look_up.send_if_modified(|look_up| {
            let is_expected = *look_up == LookUp::Expected;
            if is_expected {
                *look_up = LookUp::Held;
            }
            is_expected
        });
        if holds {
            let _ = self.0.look_up.subscribe().wait_for(|look_up| *look_up == LookUp::Free).await;
        }
    }

    pub(super) async fn carry(&self, call: &Call) {
        if let Operation::Void(void) = &call.operation {
            self.0.delays.lock().unwrap().push(void.delay_to_compose);
        }
        if let Some((clock, by)) = &*self.0.slowness.lock().unwrap() {
            clock.advance(*by);
        }
        let is_held = match call.operation.kind() {
            OperationKind::Authorization | OperationKind::ZeroDollar => true,
            OperationKind::Void => self.0.holds_a_void.swap(false, Ordering::SeqCst),
            OperationKind::Capture => false,
        };
        if is_held {
            let _ = self.0.is_holding.subscribe().wait_for(|is_holding| !is_holding).await;
        }
    }
}
