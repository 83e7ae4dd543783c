//! What a purchase does about cards that are not given back yet: how long it goes on, and what begins it anew.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::analysis::Standing;
use regente_domain::charge::{ChargeState, Held, OpenOperation, References};
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::purchase::{
    Change, Next, Noted, Phase, Purchase, Seen, Slot, UNDO_WAITS, UndoCause, Undoing,
};
use regente_domain::time::Timestamp;
use serde_json::Map;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_774_278_758_379);
const RESPONSIBLE: ProviderType = ProviderType::Sandbox;

fn id<T>(n: u128) -> Id<T> {
    Id::new(Uuid::from_u128((7 << 76) | (2 << 62) | n))
}

fn purchase(phase: Phase, noted: [Noted; 2]) -> Purchase {
    let amount = Amount::new(100).unwrap();
    let slot = |noted| Slot {
        id: id(1),
        card_id: id(2),
        amount,
        installments: 1,
        charge_id: Some(id(3)),
        noted,
        declined_code: None,
    };
    Purchase {
        id: id(4),
        client_id: id(5),
        merchant_id: id(6),
        customer_id: None,
        customer_alias: None,
        order_id: None,
        references: References::default(),
        amount,
        capture: CaptureMode::Manual,
        phase,
        slots: noted.map(slot).to_vec(),
        reserved: None,
        entries: 1,
        unknown_members: Map::new(),
        version: 1,
        updated_at: NOW,
    }
}

fn undoing(cause: UndoCause, failures: usize) -> Phase {
    Phase::Undoing(Undoing { cause, failures, looks: 0, next_at: NOW, is_troubled: true })
}

fn seen(state: ChargeState) -> Seen {
    Seen {
        state: Some(state),
        declined_code: None,
        standing: Standing::Free,
        is_undoing_refused: false,
        is_unanswered: false,
    }
}

fn reserved() -> Seen {
    seen(ChargeState::PreAuthorized { responsible: RESPONSIBLE })
}

fn taken() -> Seen {
    seen(ChargeState::Authorized { responsible: RESPONSIBLE })
}

fn voided() -> Seen {
    seen(ChargeState::Voided { responsible: RESPONSIBLE })
}

fn pending() -> Seen {
    seen(ChargeState::Processing)
}

fn refused() -> Seen {
    Seen { is_undoing_refused: true, ..reserved() }
}

fn unanswered() -> Seen {
    Seen { is_unanswered: true, ..pending() }
}

fn step(purchase: &Purchase, seen: &[Seen]) -> Purchase {
    match purchase.next(seen, NOW) {
        Next::Note(change) => purchase.apply(change, NOW).purchase,
        other @ (Next::Authorize(_) | Next::Capture(_) | Next::Undo(_) | Next::Wait(_) | Next::Rest) => {
            panic!("{other:?}")
        }
    }
}

#[test]
fn what_is_unknown_is_looked_for_as_long_as_somebody_asks() {
    let mut purchase = purchase(undoing(UndoCause::Failure, 0), [Noted::Released, Noted::Begun]);
    let mut now = NOW;
    for _ in 0..4 * UNDO_WAITS.len() {
        match purchase.next(&[voided(), pending()], now) {
            Next::Note(change @ Change::UndoingUnknown) => purchase = purchase.apply(change, now).purchase,
            other @ (Next::Authorize(_)
            | Next::Capture(_)
            | Next::Undo(_)
            | Next::Note(_)
            | Next::Wait(_)
            | Next::Rest) => panic!("{other:?}"),
        }
        let Phase::Undoing(Undoing { next_at, failures: 0, .. }) = purchase.phase else {
            panic!("{:?}", purchase.phase)
        };
        now = next_at;
    }
    let next = purchase.next(&[voided(), unanswered()], NOW);
    assert_eq!(next, Next::Note(Change::UndoingUnanswered), "nobody asks: at once");
    let step = purchase.apply(Change::UndoingUnanswered, NOW);
    assert!(step.gave_up);
    assert_eq!(step.purchase.phase, Phase::Failed);
}

#[test]
fn the_last_refusal_waits_for_what_somebody_asks_about() {
    let last = undoing(UndoCause::Failure, UNDO_WAITS.len());
    let purchase = purchase(last, [Noted::Reserved, Noted::Begun]);
    assert_eq!(purchase.next(&[refused(), pending()], NOW), Next::Note(Change::UndoingUnknown));
    assert_eq!(purchase.next(&[refused(), unanswered()], NOW), Next::Note(Change::SlotGivenUp(0)));
    let purchase = step(&step(&purchase, &[refused(), unanswered()]), &[refused(), unanswered()]);
    assert_eq!(purchase.phase, Phase::Failed);
    assert_eq!(purchase.next(&[refused(), unanswered()], NOW), Next::Rest);
    assert_eq!(purchase.next(&[reserved(), pending()], NOW), Next::Rest, "what was refused is no news");
    for known in [reserved(), taken(), voided()] {
        assert_eq!(purchase.next(&[reserved(), known], NOW), Next::Note(Change::Resumed));
    }
}

#[test]
fn what_is_resumed_gives_back_everything_and_stays_failed() {
    let purchase = purchase(Phase::Failed, [Noted::GivenUp, Noted::Begun]);
    let purchase = step(&purchase, &[reserved(), reserved()]);
    assert_eq!(purchase.status().word(), "failed");
    assert_eq!(purchase.slots[0].noted, Noted::Reserved);
    assert_eq!(purchase.next(&[reserved(), reserved()], NOW), Next::Undo(0));
    let back = [voided(), voided()];
    let purchase = step(&step(&step(&purchase, &back), &back), &back);
    assert_eq!((purchase.phase, purchase.next(&back, NOW)), (Phase::Failed, Next::Rest));
}

#[test]
fn a_failed_purchase_without_news_rests() {
    for (noted, seen) in [
        (Noted::Released, voided()),
        (Noted::Refused, seen(ChargeState::Failed { responsible: RESPONSIBLE })),
        (Noted::GivenUp, taken()),
        (Noted::Begun, pending()),
        (
            Noted::Reserved,
            seen(ChargeState::CapturePending {
                responsible: RESPONSIBLE,
                open: OpenOperation { before: Held::Reserved, ordinal: 1, amount: Amount::new(1).unwrap() },
            }),
        ),
    ] {
        let purchase = purchase(Phase::Failed, [Noted::Released, noted]);
        assert_eq!(purchase.next(&[voided(), seen.clone()], NOW), Next::Rest, "{noted:?} {seen:?}");
    }
}

#[test]
fn a_refund_counts_only_what_it_gave_back() {
    let paid = purchase(Phase::Paid, [Noted::Reserved; 2]);
    let refused = Seen { is_undoing_refused: true, ..taken() };
    let before = [voided(), taken()];
    let asked = paid.request_void(&before, NOW).unwrap().purchase;
    assert_eq!(asked.next(&before, NOW), Next::Undo(1));
    assert_eq!(asked.next(&[voided(), refused.clone()], NOW), Next::Note(Change::UndoingRefused));
    let asked = paid.request_void(&[taken(), taken()], NOW).unwrap().purchase;
    let next = asked.next(&[voided(), refused], NOW);
    assert_eq!(next, Next::Note(Change::UndoingFailed), "this very refund gave one back");
}

#[test]
fn a_request_that_is_refused_changes_nothing_unless_something_was_given_back() {
    let void = purchase(undoing(UndoCause::VoidRequested, 0), [Noted::Released, Noted::Reserved]);
    assert_eq!(void.next(&[voided(), refused()], NOW), Next::Note(Change::UndoingFailed));
    let void = purchase(undoing(UndoCause::VoidRequested, 0), [Noted::Reserved; 2]);
    assert_eq!(void.next(&[refused(), reserved()], NOW), Next::Note(Change::UndoingRefused));
}
