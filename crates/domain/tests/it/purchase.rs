//! The state machine of purchases: what may be asked for in each phase, what is done next about each state of a card, what
//! each change tells, and that amounts and all-or-nothing hold whatever happens.

mod changes;
mod late;
mod next;
mod operations;
mod whole;

use std::time::Duration;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::analysis::Standing;
use regente_domain::charge::{ChargeState, Held, OpenOperation, References, SecurityCode};
use regente_domain::decline::DeclinedCode;
use regente_domain::id::{ChargeId, Id};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::purchase::{
    Action, Advance, Milestone, Noted, Phase, Purchase, RESERVED_FOR, RESULT_WITHIN, Reserved, Seen, Slot,
    UndoCause, Undoing,
};
use regente_domain::time::Timestamp;
use serde_json::Map;
use uuid::Uuid;

/// When everything begins.
const NOW: Timestamp = Timestamp::from_millis(1_774_278_758_379);
const SECOND: Duration = Duration::from_secs(1);
const RESPONSIBLE: ProviderType = ProviderType::Sandbox;

const CAUSES: [UndoCause; 4] =
    [UndoCause::Failure, UndoCause::VoidRequested, UndoCause::Expired, UndoCause::RefundRequested];

fn charge_id(index: usize) -> ChargeId {
    Id::new(Uuid::from_u128(100 + index as u128))
}

/// A purchase that has just been accepted, with these amounts.
fn accepted(amounts: &[i64], capture: CaptureMode) -> Advance {
    let slot = |(index, amount): (usize, &i64)| Slot {
        id: Id::new(Uuid::from_u128(10 + index as u128)),
        card_id: Id::new(Uuid::from_u128(20 + index as u128)),
        amount: Amount::new(*amount).unwrap(),
        installments: 1,
        charge_id: None,
        noted: Noted::Nothing,
        declined_code: None,
    };
    Advance::created(Purchase {
        id: Id::new(Uuid::from_u128(1)),
        client_id: Id::new(Uuid::from_u128(2)),
        merchant_id: Id::new(Uuid::from_u128(3)),
        customer_id: None,
        customer_alias: None,
        order_id: None,
        references: References::default(),
        amount: Amount::new(amounts.iter().sum()).unwrap(),
        capture,
        phase: Phase::Authorizing { until: NOW + RESULT_WITHIN },
        slots: amounts.iter().enumerate().map(slot).collect(),
        reserved: None,
        entries: 0,
        unknown_members: Map::new(),
        version: 1,
        updated_at: NOW,
    })
}

/// A purchase of two cards in this phase, both of which stand like this.
fn purchase(phase: Phase, noted: Noted, capture: CaptureMode) -> Purchase {
    let mut purchase = accepted(&[1_000, 2_000], capture).purchase;
    for (index, slot) in purchase.slots.iter_mut().enumerate() {
        slot.noted = noted;
        slot.charge_id = (noted != Noted::Nothing).then(|| charge_id(index));
    }
    let reserved = Reserved { ordinal: 3, actions: vec![Action::StatusChanged], until: NOW + RESERVED_FOR };
    purchase.reserved = (noted == Noted::Reserved).then_some(reserved);
    Purchase { phase, entries: 4, ..purchase }
}

fn undoing(cause: UndoCause) -> Undoing {
    Undoing { cause, failures: 0, looks: 0, next_at: NOW, is_troubled: false }
}

fn troubled(cause: UndoCause) -> Phase {
    Phase::Undoing(Undoing { is_troubled: true, failures: 1, ..undoing(cause) })
}

fn open(before: Held) -> OpenOperation {
    OpenOperation { ordinal: 1, amount: Amount::new(1_000).unwrap(), before }
}

/// Every state of a charge.
fn charge_states() -> [ChargeState; 10] {
    let responsible = RESPONSIBLE;
    [
        ChargeState::Processing,
        ChargeState::AwaitingPayer { responsible, security_code: SecurityCode::NotNeeded },
        ChargeState::PreAuthorized { responsible },
        ChargeState::CapturePending { responsible, open: open(Held::Reserved) },
        ChargeState::Authorized { responsible },
        ChargeState::RefundPending { responsible, open: open(Held::Taken) },
        ChargeState::Failed { responsible },
        ChargeState::Canceled { responsible },
        ChargeState::Voided { responsible },
        ChargeState::ChargedBack { responsible, lost: None },
    ]
}

fn seen(state: ChargeState) -> Seen {
    let declined_code = Some(DeclinedCode::Generic);
    Seen {
        state: Some(state),
        declined_code,
        standing: Standing::Free,
        is_undoing_refused: false,
        is_unanswered: false,
    }
}

/// A card that has no charge yet.
const fn unseen() -> Seen {
    Seen {
        state: None,
        declined_code: None,
        standing: Standing::Free,
        is_undoing_refused: false,
        is_unanswered: false,
    }
}

/// Two cards that are charged.
fn both_taken() -> [Seen; 2] {
    [0, 1].map(|_| seen(ChargeState::Authorized { responsible: RESPONSIBLE }))
}

/// What a step adds to the history: milestones with their actions.
fn told(step: &Advance) -> Vec<(Milestone, Vec<Action>)> {
    step.entries.iter().map(|entry| (entry.milestone, entry.actions.clone())).collect()
}
