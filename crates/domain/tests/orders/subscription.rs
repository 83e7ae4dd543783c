//! A subscription in all orders: its cycles fall due, two nodes decide and write under its version, nodes die, charges are
//! answered, not answered, approved late or refused afterwards, and its merchant pauses, resumes, cancels and gives another card. How a single
//! charge comes to its outcome is explored in [`super::charge`]; here a charge is what it tells.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use regente_domain::charge::Recurrence;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::{CardId, ChargeId, CycleId};
use regente_domain::subscription::{
    Advance, AttemptState, BegunAttempt, Behind, BillingRules, Cycle, CycleStatus, Made, NewCycle,
    NewSubscription, Next, Outcome, Phase, Refusal, Subscription, Update,
};
use regente_domain::time::Timestamp;
use stateright::{Model, Property};

use super::id;
use super::several::{digest_of, is_over};

/// What a charge has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Told {
    Nothing,
    Approved,
    /// It may be tried again.
    Declined,
    /// The card will never be approved.
    Blocked,
    /// Nobody asks the provider any more.
    Unanswered,
}

/// The charge of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Charge {
    id: ChargeId,
    cycle_id: CycleId,
    number: u32,
    is_initial: bool,
    told: Told,
    is_given_back: bool,
}

impl Charge {
    fn is_kept(&self) -> bool {
        self.told == Told::Approved && !self.is_given_back
    }
}

/// A change that a node has decided and not written yet.
#[derive(Clone, Debug)]
struct Decided {
    /// The version that it has read.
    base: i64,
    advance: Arc<Advance>,
    begins: Option<Charge>,
}

/// A subscription as it is stored, its charges, and what two nodes do with it.
#[derive(Clone, Debug)]
pub(crate) struct Billed {
    subscription: Arc<Subscription>,
    cycles: Vec<Cycle>,
    charges: Vec<Charge>,
    nodes: [Option<Decided>; 2],
    left: May,
    now: Timestamp,
}

/// How often something may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct May {
    pub pauses: u8,
    pub resumes: u8,
    pub cancels: u8,
    pub cards: u8,
    pub crashes: u8,
    /// Charges of which the provider is not asked any more.
    pub silences: u8,
    /// Charges that a provider approves after it has refused them.
    pub regrets: u8,
    /// Charges that a provider refuses after it has approved them.
    pub revocations: u8,
    /// How often a second node decides while the first one does.
    pub twins: u8,
}

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// A node decides what is next.
    Decide(usize),
    /// It writes that, unless another change came first.
    Write(usize),
    /// It dies before it writes.
    Crash(usize),
    /// The charge at this place tells something.
    Tell(usize, Outcomes),
    /// The next thing falls due.
    Wait,
    Merchant(Wish),
}

/// What a charge may tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcomes {
    Approved,
    Declined,
    Blocked,
    Unanswered,
}

/// What a merchant may want.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wish {
    Pause,
    Resume,
    Cancel,
    AnotherCard,
}

/// The orders in which a subscription is explored.
#[derive(Clone, Debug)]
pub(crate) struct Cycles {
    pub new: NewSubscription,
    pub rules: BillingRules,
    pub left: May,
    pub now: Timestamp,
}

/// Attempts of a cycle: by the policy, and one for each card and each resumption.
const ATTEMPTS_MAX: usize = 8;

/// The card that a merchant gives later.
fn another_card() -> CardId {
    id(31)
}

impl Cycles {
    fn outcome(told: Told) -> Option<Outcome> {
        let declined = |code| Some(Outcome::Declined(Box::new(Decline::of(code))));
        match told {
            Told::Nothing => None,
            Told::Approved => Some(Outcome::Approved),
            Told::Declined => declined(DeclinedCode::InsufficientFunds),
            Told::Blocked => declined(DeclinedCode::LostCard),
            Told::Unanswered => Some(Outcome::Unanswered),
        }
    }

    /// The cycles that a node reads: those to which something may happen by itself, the failed one, and that of a charge
    /// whose outcome wakes it.
    fn known(state: &Billed, also: Option<CycleId>) -> Vec<Cycle> {
        let unpaid = state.subscription.unpaid_cycle();
        let is_read = |cycle: &&Cycle| cycle.is_open() || [unpaid, also].contains(&Some(cycle.id));
        state.cycles.iter().filter(is_read).cloned().collect()
    }

    /// A charge that tells what its attempt does not say yet.
    fn news(state: &Billed) -> Option<Charge> {
        state.charges.iter().copied().find(|charge| {
            let cycle = state.cycles.iter().find(|cycle| cycle.id == charge.cycle_id);
            let attempt = cycle.and_then(|cycle| cycle.attempts.iter().find(|of| of.number == charge.number));
            match attempt.map(|attempt| attempt.state) {
                None | Some(AttemptState::GivenBack | AttemptState::Impossible { .. }) => false,
                Some(AttemptState::Approved) => charge.told != Told::Approved,
                Some(AttemptState::UnderWay) => charge.told != Told::Nothing,
                Some(AttemptState::Unanswered) => !matches!(charge.told, Told::Nothing | Told::Unanswered),
                Some(AttemptState::Declined { .. }) => charge.told == Told::Approved,
            }
        })
    }

    /// What a node does now, as it reads it.
    fn decide(&self, state: &Billed) -> Option<Decided> {
        let news = Self::news(state);
        let cycles = Self::known(state, news.map(|charge| charge.cycle_id));
        let (subscription, now) = (&state.subscription, state.now);
        let base = subscription.version;
        let decided = |advance, begins| Decided { base, advance: Arc::new(advance), begins };
        let step = || {
            let number = u128::from(subscription.next_number);
            let new = NewCycle { id: id(100 + number), is_emulated: false };
            subscription.step(&cycles, new, now).map(|advance| decided(advance, None))
        };
        if let Some(charge) = news {
            let outcome = Self::outcome(charge.told)?;
            let attempt = (charge.cycle_id, charge.number);
            match subscription.end_attempt(&cycles, attempt, &outcome, &self.rules, now) {
                Err(Behind) => return step(),
                Ok(Some(advance)) => return Some(decided(advance, None)),
                Ok(None) => {}
            }
        }
        match subscription.next(&cycles, now) {
            Next::Rest | Next::Wait(_) => None,
            Next::Step => step(),
            Next::Charge(cycle_id) => {
                let cycle = cycles.iter().find(|cycle| cycle.id == cycle_id)?;
                let order = subscription.order(cycle);
                let place = u128::from(cycle.number) * 20 + u128::from(order.attempt);
                let charge = Charge {
                    id: id(1000 + place),
                    cycle_id,
                    number: order.attempt,
                    is_initial: order.recurrence == Recurrence::Initial,
                    told: Told::Nothing,
                    is_given_back: false,
                };
                let begun = BegunAttempt { id: id(2000 + place), made: Made::Charge(charge.id) };
                let advance = subscription.begin(&cycles, cycle_id, begun, &self.rules, now).ok()??;
                Some(decided(advance, Some(charge)))
            }
        }
    }

    fn write(state: &mut Billed, advance: &Advance) {
        for changed in &advance.cycles {
            match state.cycles.iter_mut().find(|cycle| cycle.id == changed.id) {
                Some(cycle) => *cycle = changed.clone(),
                None => state.cycles.push(changed.clone()),
            }
        }
        if let Some(charge_id) = advance.gives_back {
            for charge in state.charges.iter_mut().filter(|charge| charge.id == charge_id) {
                charge.is_given_back = true;
            }
        }
        state.subscription = Arc::new(advance.subscription.clone());
    }

    /// A merchant's wish is decided and written at once; where a step comes first, a node takes it before.
    fn wish(state: &Billed, wish: Wish) -> Option<Billed> {
        let (subscription, now, mut after) = (&state.subscription, state.now, state.clone());
        let cycles = Self::known(state, None);
        let decided: Result<Option<Advance>, Refusal> = match wish {
            Wish::Pause => subscription.pause(&cycles, now).map(Some),
            Wish::Resume => subscription.resume(&cycles, now).map(Some),
            Wish::Cancel => subscription.cancel(&cycles, now).map(Some),
            Wish::AnotherCard => {
                let update = Update { card_id: Some(another_card()), ..Update::default() };
                subscription.update(&cycles, &update, now)
            }
        };
        let left = match wish {
            Wish::Pause => &mut after.left.pauses,
            Wish::Resume => &mut after.left.resumes,
            Wish::Cancel => &mut after.left.cancels,
            Wish::AnotherCard => &mut after.left.cards,
        };
        *left = left.checked_sub(1)?;
        Self::write(&mut after, &decided.ok()??);
        Some(after)
    }

    fn tell(state: &Billed, place: usize, outcome: Outcomes) -> Option<Billed> {
        let mut after = state.clone();
        let charge = after.charges.get_mut(place)?;
        charge.told = match (charge.told, outcome) {
            (Told::Nothing | Told::Unanswered, Outcomes::Approved) => Told::Approved,
            (Told::Nothing | Told::Unanswered, Outcomes::Declined) => Told::Declined,
            (Told::Nothing, Outcomes::Blocked) => Told::Blocked,
            (Told::Nothing, Outcomes::Unanswered) => {
                after.left.silences = after.left.silences.checked_sub(1)?;
                Told::Unanswered
            }
            (Told::Declined | Told::Blocked, Outcomes::Approved) => {
                after.left.regrets = after.left.regrets.checked_sub(1)?;
                Told::Approved
            }
            (Told::Approved, Outcomes::Declined) if !charge.is_given_back => {
                after.left.revocations = after.left.revocations.checked_sub(1)?;
                Told::Declined
            }
            (
                Told::Approved | Told::Declined | Told::Blocked | Told::Unanswered,
                Outcomes::Declined | Outcomes::Blocked | Outcomes::Unanswered,
            )
            | (Told::Approved, Outcomes::Approved) => return None,
        };
        Some(after)
    }

    fn waits_until(state: &Billed) -> Option<Timestamp> {
        match state.subscription.next(&Self::known(state, None), state.now) {
            Next::Wait(at) => Some(at),
            Next::Rest | Next::Step | Next::Charge(_) => None,
        }
    }

    /// Nothing happens any more, unless its merchant wants something or a provider says what nobody has asked for.
    fn rests(state: &Billed) -> bool {
        state.nodes.iter().all(Option::is_none)
            && Self::news(state).is_none()
            && state.subscription.next(&Self::known(state, None), state.now) == Next::Rest
            && state.charges.iter().all(|charge| charge.told != Told::Nothing)
    }

    /// Each paid cycle has one charge that is kept, and no other cycle has one.
    fn agrees(state: &Billed) -> bool {
        state.cycles.iter().all(|cycle| {
            let kept = state.charges.iter().filter(|of| of.cycle_id == cycle.id && of.is_kept()).count();
            kept == usize::from(cycle.status == CycleStatus::Authorized)
        })
    }
}

/// All that differs between two of these subscriptions.
fn digest<H: Hasher>(subscription: &Subscription, cycles: &[Cycle], hasher: &mut H) {
    let Subscription { next_number, is_activated, agreement, payment, version, updated_at, .. } =
        subscription;
    let first = agreement.map(|first| first.charge_id);
    (subscription.status(), subscription.unpaid_cycle(), next_number, is_activated, first).hash(hasher);
    (payment.card_id, version, updated_at).hash(hasher);
    for cycle in cycles {
        (cycle.id, cycle.status, cycle.next_attempt_at).hash(hasher);
        for attempt in &cycle.attempts {
            let is_open = attempt.state == AttemptState::UnderWay;
            (attempt.number, attempt.card_id, attempt.begun_at, attempt.state.status(), is_open).hash(hasher);
        }
    }
}

impl Hash for Billed {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        digest(&self.subscription, &self.cycles, hasher);
        for node in &self.nodes {
            let Some(Decided { base, advance, begins }) = node else {
                false.hash(hasher);
                continue;
            };
            (base, begins, advance.gives_back).hash(hasher);
            digest(&advance.subscription, &advance.cycles, hasher);
        }
        (&self.charges, self.left, self.now).hash(hasher);
    }
}

impl PartialEq for Billed {
    fn eq(&self, other: &Self) -> bool {
        digest_of(self) == digest_of(other)
    }
}

impl Model for Cycles {
    type State = Billed;
    type Action = Step;

    fn init_states(&self) -> Vec<Billed> {
        let created = Subscription::create(self.new.clone(), self.now).unwrap();
        vec![Billed {
            subscription: Arc::new(created.subscription),
            cycles: created.cycles,
            charges: Vec::new(),
            nodes: [None, None],
            left: self.left,
            now: self.now,
        }]
    }

    fn actions(&self, state: &Billed, steps: &mut Vec<Step>) {
        let is_decided = state.nodes.iter().any(Option::is_some);
        for (node, decided) in state.nodes.iter().enumerate() {
            match decided {
                Some(_) => {
                    steps.push(Step::Write(node));
                    if state.left.crashes > 0 {
                        steps.push(Step::Crash(node));
                    }
                }
                None if is_decided && state.left.twins == 0 => {}
                // Which of two idle nodes begins makes no difference.
                None if !is_decided && node > 0 => {}
                None => steps.push(Step::Decide(node)),
            }
        }
        for place in 0..state.charges.len() {
            let outcomes = [Outcomes::Approved, Outcomes::Declined, Outcomes::Blocked, Outcomes::Unanswered];
            steps.extend(outcomes.map(|outcome| Step::Tell(place, outcome)));
        }
        let wishes = [Wish::Pause, Wish::Resume, Wish::Cancel, Wish::AnotherCard];
        steps.extend(wishes.map(Step::Merchant));
        steps.push(Step::Wait);
    }

    fn next_state(&self, state: &Billed, step: Step) -> Option<Billed> {
        let mut after = state.clone();
        match step {
            Step::Decide(node) => {
                after.nodes[node] = Some(self.decide(state)?);
                after.left.twins -= u8::from(state.nodes.iter().any(Option::is_some));
            }
            Step::Write(node) => {
                let decided = after.nodes[node].take()?;
                if decided.base == state.subscription.version {
                    Self::write(&mut after, &decided.advance);
                    after.charges.extend(decided.begins);
                }
            }
            Step::Crash(node) => {
                after.nodes[node].take()?;
                after.left.crashes -= 1;
            }
            Step::Tell(place, outcome) => return Self::tell(state, place, outcome),
            Step::Wait => after.now = Self::waits_until(state)?,
            Step::Merchant(wish) => return Self::wish(state, wish),
        }
        Some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one charge at once is on its way", |_, state: &Billed| {
                state.charges.iter().filter(|charge| charge.told == Told::Nothing).count() <= 1
            }),
            Property::always("an attempt has one charge", |_, state: &Billed| {
                let of = |charge: &Charge| (charge.cycle_id, charge.number);
                let mut attempts: Vec<_> = state.charges.iter().map(of).collect();
                attempts.sort_unstable();
                attempts.windows(2).all(|two| two[0] != two[1])
            }),
            Property::always("no cycle is charged for ever", |_, state: &Billed| {
                state.cycles.iter().all(|cycle| cycle.attempts.len() <= ATTEMPTS_MAX)
            }),
            Property::always("one kept charge begins the series of a card", |_, state: &Billed| {
                let is_told = Self::news(state).is_none();
                let begin = |charge: &&Charge| charge.is_initial && charge.is_kept();
                !is_told || state.charges.iter().filter(begin).count() <= 1
            }),
            Property::always("nothing is charged after the end", |_, state: &Billed| {
                let has_ended = matches!(state.subscription.phase, Phase::Canceled | Phase::Expired);
                !has_ended
                    || state
                        .nodes
                        .iter()
                        .flatten()
                        .all(|decided| decided.begins.is_none() || decided.base != state.subscription.version)
            }),
            Property::always(
                "each paid cycle has one charge, once nothing is under way",
                |_, state: &Billed| !Self::rests(state) || Self::agrees(state),
            ),
            Property::always("every run ends at rest", |model: &Self, state: &Billed| {
                Self::rests(state) || !is_over(model, state)
            }),
        ]
    }
}
