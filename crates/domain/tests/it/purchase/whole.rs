//! Whatever providers, the merchant and time do: amounts stay what they were, no card is captured before all are reserved,
//! and in the end every card is charged or none is.

use proptest::prelude::*;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::analysis::Standing;
use regente_domain::charge::{ChargeState, Held};
use regente_domain::purchase::{Advance, Change, Next, Noted, Phase, Purchase, Seen};
use regente_domain::time::Timestamp;

use super::{NOW, RESPONSIBLE, accepted, charge_id, open};

/// More than any purchase needs.
const STEPS_MAX: usize = 400;

/// What a provider says to a call.
#[derive(Clone, Copy, Debug)]
enum Says {
    Yes,
    No,
    /// Nothing yet; it is found out later that it was done.
    NothingButYes,
    /// Nothing yet; it is found out later that it was not done.
    NothingAndNo,
}

/// Purchases with providers that answer by a script, and a merchant with intentions.
struct World {
    purchase: Purchase,
    charges: Vec<Option<ChargeState>>,
    /// What becomes of what is open.
    open: Vec<Option<Says>>,
    says: Vec<Says>,
    asked: usize,
    refused: Vec<usize>,
    now: Timestamp,
    entries: i64,
    gave_up: bool,
}

impl World {
    fn new(amounts: &[i64], capture: CaptureMode, says: Vec<Says>) -> Self {
        let Advance { purchase, entries, .. } = accepted(amounts, capture);
        Self {
            charges: vec![None; amounts.len()],
            open: vec![None; amounts.len()],
            purchase,
            says,
            asked: 0,
            refused: Vec::new(),
            now: NOW,
            entries: i64::try_from(entries.len()).unwrap(),
            gave_up: false,
        }
    }

    fn says(&mut self) -> Says {
        self.asked += 1;
        self.says[self.asked % self.says.len()]
    }

    fn seen(&self) -> Vec<Seen> {
        let seen = |(index, state): (usize, &Option<ChargeState>)| Seen {
            state: state.clone(),
            declined_code: None,
            standing: Standing::Free,
            is_undoing_refused: self.refused.contains(&index),
            is_unanswered: false,
        };
        self.charges.iter().enumerate().map(seen).collect()
    }

    fn note(&mut self, change: Change) {
        let step = self.purchase.apply(change, self.now);
        self.take(step);
    }

    /// Takes the next version over, after it was looked at.
    fn take(&mut self, step: Advance) {
        let (before, after) = (&self.purchase, &step.purchase);
        assert_eq!(after.version, before.version + 1);
        assert!(after.updated_at > before.updated_at, "it always grows");
        assert_eq!(after.amount, before.amount);
        for (before, after) in before.slots.iter().zip(&after.slots) {
            assert_eq!((before.id, before.card_id, before.amount), (after.id, after.card_id, after.amount));
            assert!(
                before.charge_id.is_none() || before.charge_id == after.charge_id,
                "a card has one charge for ever"
            );
        }
        let ordinals: Vec<i64> = step.entries.iter().map(|entry| entry.ordinal).collect();
        let expected: Vec<i64> = (self.entries..).take(ordinals.len()).collect();
        assert_eq!(ordinals, expected, "the history has no gap");
        self.entries += i64::try_from(ordinals.len()).unwrap();
        assert_eq!(after.entries, self.entries);
        self.gave_up |= step.gave_up;
        self.purchase = step.purchase;
    }

    /// Does what is next; whether anything was done.
    fn goes_on(&mut self) -> bool {
        let responsible = RESPONSIBLE;
        match self.purchase.next(&self.seen(), self.now) {
            Next::Rest => return false,
            Next::Wait(until) => {
                assert!(until > self.now, "waiting for what is over");
                self.now = until;
                self.refused.clear();
                self.find_out();
                return !matches!(self.purchase.phase, Phase::PreAuthorized { .. });
            }
            Next::Note(change) => {
                let is_troubled = matches!(change, Change::UndoingFailed | Change::UndoingRefused);
                self.note(change);
                if is_troubled {
                    self.refused.clear();
                }
            }
            Next::Authorize(index) => {
                assert_eq!(self.purchase.slots[index].noted, Noted::Nothing);
                self.note(Change::SlotBegun(index, charge_id(index)));
                let says = self.says();
                self.charges[index] = Some(match says {
                    Says::Yes => ChargeState::PreAuthorized { responsible },
                    Says::No => ChargeState::Failed { responsible },
                    Says::NothingButYes | Says::NothingAndNo => ChargeState::Processing,
                });
                self.open[index] = Some(says);
            }
            Next::Capture(index) => {
                let is_held = |state: &Option<ChargeState>| {
                    matches!(state, Some(ChargeState::PreAuthorized { .. } | ChargeState::Authorized { .. }))
                };
                assert!(self.charges.iter().all(is_held), "captured before all are reserved");
                let says = self.says();
                self.charges[index] = Some(match says {
                    Says::Yes => ChargeState::Authorized { responsible },
                    Says::No => ChargeState::PreAuthorized { responsible },
                    Says::NothingButYes | Says::NothingAndNo => {
                        ChargeState::CapturePending { responsible, open: open(Held::Reserved) }
                    }
                });
                self.open[index] = Some(says);
                if let Says::No = says {
                    self.note(Change::CaptureFailed(index));
                }
            }
            Next::Undo(index) => {
                let before = match self.charges[index].clone() {
                    Some(ChargeState::PreAuthorized { .. }) => Held::Reserved,
                    Some(ChargeState::Authorized { .. }) => Held::Taken,
                    other => panic!("nothing to give back: {other:?}"),
                };
                let says = self.says();
                match says {
                    Says::Yes => self.charges[index] = Some(given_back(before)),
                    Says::No => self.refused.push(index),
                    Says::NothingButYes | Says::NothingAndNo => {
                        let open = open(before);
                        self.charges[index] = Some(ChargeState::RefundPending { responsible, open });
                    }
                }
                self.open[index] = Some(says);
            }
        }
        true
    }

    /// The reconcile job finds out what became of everything that is open.
    fn find_out(&mut self) {
        let responsible = RESPONSIBLE;
        for (state, says) in self.charges.iter_mut().zip(&self.open) {
            let was_done = matches!(says, Some(Says::NothingButYes));
            let known = match state {
                Some(ChargeState::Processing) if was_done => ChargeState::PreAuthorized { responsible },
                Some(ChargeState::Processing) => ChargeState::Failed { responsible },
                Some(ChargeState::CapturePending { .. }) if was_done => {
                    ChargeState::Authorized { responsible }
                }
                Some(ChargeState::CapturePending { .. }) => ChargeState::PreAuthorized { responsible },
                Some(ChargeState::RefundPending { open, .. }) if was_done => given_back(open.before),
                Some(ChargeState::RefundPending { open, .. }) => match open.before {
                    Held::Reserved | Held::JustReserved => ChargeState::PreAuthorized { responsible },
                    Held::Taken => ChargeState::Authorized { responsible },
                },
                Some(
                    ChargeState::AwaitingPayer { .. }
                    | ChargeState::RefundAccepted { .. }
                    | ChargeState::PreAuthorized { .. }
                    | ChargeState::Authorized { .. }
                    | ChargeState::Failed { .. }
                    | ChargeState::Canceled { .. }
                    | ChargeState::Voided { .. }
                    | ChargeState::ChargedBack { .. },
                )
                | None => continue,
            };
            *state = Some(known);
        }
    }

    fn until_it_rests(&mut self) {
        for _ in 0..STEPS_MAX {
            if !self.goes_on() {
                return;
            }
        }
        panic!("it does not end: {:?} {:?}", self.purchase, self.charges);
    }

    /// Every card is charged, or every card is reserved, or nothing is held of any.
    fn is_whole(&self) {
        let every = |is_so: fn(&Option<ChargeState>) -> bool| self.charges.iter().all(is_so);
        let is_whole = match self.purchase.phase {
            Phase::Paid => every(|state| matches!(state, Some(ChargeState::Authorized { .. }))),
            Phase::PreAuthorized { .. } => {
                every(|state| matches!(state, Some(ChargeState::PreAuthorized { .. })))
            }
            Phase::Failed | Phase::Cancelled => every(|state| {
                matches!(
                    state,
                    None | Some(
                        ChargeState::Failed { .. }
                            | ChargeState::Canceled { .. }
                            | ChargeState::Voided { .. }
                    )
                )
            }),
            Phase::Authorizing { .. } | Phase::Capturing { .. } | Phase::Undoing(_) => false,
        };
        // What a provider never gives back is what an operator was told of.
        assert!(is_whole || self.gave_up, "{:?} {:?}", self.purchase.phase, self.charges);
    }
}

const fn given_back(before: Held) -> ChargeState {
    match before {
        Held::Reserved | Held::JustReserved => ChargeState::Canceled { responsible: RESPONSIBLE },
        Held::Taken => ChargeState::Voided { responsible: RESPONSIBLE },
    }
}

/// What the merchant asks for when nothing is under way.
#[derive(Clone, Copy, Debug)]
enum Intention {
    Capture,
    Void,
    /// To be left alone for a week.
    Nothing,
}

fn amounts() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(100_i64..1_000_000, 2..=3)
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        4 => Just(Says::Yes),
        1 => Just(Says::No),
        1 => Just(Says::NothingButYes),
        1 => Just(Says::NothingAndNo),
    ]
}

fn intention() -> impl Strategy<Value = Intention> {
    prop_oneof![Just(Intention::Capture), Just(Intention::Void), Just(Intention::Nothing)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_card_is_charged_or_none_is(
        amounts in amounts(),
        is_automatic in any::<bool>(),
        says in prop::collection::vec(says(), 1..24),
        intentions in prop::collection::vec(intention(), 0..5),
    ) {
        let capture = if is_automatic { CaptureMode::Automatic } else { CaptureMode::Manual };
        let mut world = World::new(&amounts, capture, says);
        world.until_it_rests();
        world.is_whole();
        for intention in intentions {
            let step = match intention {
                Intention::Capture => world.purchase.request_capture(world.now),
                Intention::Void => world.purchase.request_void(&world.seen(), world.now),
                Intention::Nothing => {
                    world.now = world.now + regente_domain::purchase::RESERVED_FOR;
                    world.until_it_rests();
                    continue;
                }
            };
            if let Ok(step) = step {
                world.take(step);
            }
            world.until_it_rests();
            world.is_whole();
        }
        let sum: i64 = world.purchase.slots.iter().map(|slot| slot.amount.minor_units()).sum();
        prop_assert_eq!(sum, world.purchase.amount.minor_units());
        prop_assert_eq!(world.purchase.slots.iter().map(|slot| slot.amount.minor_units()).collect::<Vec<_>>(), amounts);
    }
}
