//! What may happen next in the [`World`] of a charge, and the world after it.

use regente_domain::charge::FollowUpKind;
use regente_domain::charge::reversal::{ReversalKind, ReversalVerdict};
use stateright::{Model, Property};
use uuid::Uuid;

use super::bank::{Decision, Money, Sum, Word, outcomes};
use super::charge::{EXPIRES, Orders, kind};
use super::world::{Call, Job, Node, Report, Sends, World, is_being_written, is_sent_again};

/// What may happen next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Move {
    /// The call arrives, and its node has the answer.
    Answer(usize, Decision),
    /// The call arrives, and its node learns nothing.
    Silence(usize, Decision),
    /// The call stays on its way, and its node learns nothing.
    Delay(usize),
    /// The call stays on its way, and the provider says that it has no such call.
    Deny(usize),
    /// The call is not sent.
    NotSent(usize),
    /// A node dies; its calls stay on their way.
    Crash(usize),
    /// A call arrives that nobody waits for.
    Arrive(usize, Decision),
    /// A call that nobody waits for is lost.
    Vanish(usize),
    /// A node writes its batch, or decides again.
    Write(usize),
    /// The reconcile job of a node asks for a request, by its place.
    Look(usize, usize),
    /// The reconcile job of a node sends a capture or void again.
    Again(usize, usize, Decision),
    /// A node takes a notification.
    Deliver(usize, usize),
    /// A node takes a notification that comes once more.
    Repeat(usize, usize),
    /// A notification is lost.
    Lose(usize),
    /// A payer pays.
    Pay(usize, Sum),
    /// A provider takes back its approval of an authorization.
    Regret(usize),
    /// A provider takes back that it has captured.
    RegretCapture(usize),
    /// A provider ends what it had accepted.
    Settle(usize, Decision),
    /// The instructions of payers expire.
    Expire,
    /// The merchant captures or voids.
    Begin(usize, FollowUpKind),
    /// The merchant stops waiting for the payer.
    Withdraw(usize),
    /// Something happens in a case about the first payment of an authorization.
    Dispute(usize, usize, ReversalKind),
    /// A node takes what is told of a case.
    Hear(usize, usize),
    /// The same, and it is told once more.
    HearTwice(usize, usize),
}

impl Model for Orders {
    type State = World;
    type Action = Move;

    fn init_states(&self) -> Vec<World> {
        vec![self.begun(0)]
    }

    fn actions(&self, world: &World, moves: &mut Vec<Move>) {
        // From then on the operator decides.
        if world.broken.is_some() || world.told {
            return;
        }
        let left = world.left;
        let decisions = |call: &Call| match call.authorization {
            None => &self.authorizes,
            Some(_) => &self.operates,
        };
        for (node, state) in world.nodes.iter().enumerate() {
            match state {
                Node::Idle => {}
                Node::Asks { id, sends, .. } => {
                    let call = world.calls.iter().find(|call| call.request.id == *id);
                    for decision in call.into_iter().flat_map(decisions) {
                        moves.push(Move::Answer(node, *decision));
                        if left.silences > 0 {
                            moves.push(Move::Silence(node, *decision));
                        }
                    }
                    if left.silences > 0 && call.is_some() {
                        moves.extend([Move::Delay(node), Move::NotSent(node)]);
                        if *sends == Sends::Drives {
                            moves.push(Move::Deny(node));
                        }
                    }
                    if left.crashes > 0 {
                        moves.push(Move::Crash(node));
                    }
                }
                Node::Writes { .. } => {
                    moves.push(Move::Write(node));
                    if left.crashes > 0 {
                        moves.push(Move::Crash(node));
                    }
                }
            }
        }
        for (place, call) in world.calls.iter().enumerate() {
            if !world.nodes.iter().any(|node| matches!(node, Node::Asks { id, .. } if *id == call.request.id))
            {
                moves.extend(decisions(call).iter().map(|decision| Move::Arrive(place, *decision)));
                moves.push(Move::Vanish(place));
            }
        }
        if let Some(node) = world.nodes.iter().position(|node| matches!(node, Node::Idle)) {
            for (at, request) in world.stored.requests.iter().enumerate() {
                if !self.stalls && is_being_written(world, request) {
                    continue;
                }
                if !is_sent_again(world, at) {
                    moves.push(Move::Look(node, at));
                } else if world.bank.word(request.provider_key()) == Word::Absent {
                    moves.extend(self.operates.iter().map(|decision| Move::Again(node, at, *decision)));
                } else {
                    moves.push(Move::Again(node, at, Decision::Yes));
                }
            }
            for place in 0..world.news.len() {
                moves.push(Move::Deliver(node, place));
                if left.repeats > 0 {
                    moves.push(Move::Repeat(node, place));
                }
            }
            for (place, report) in world.reports.iter().enumerate() {
                if !matches!(self.reverse(world, report), None | Some(ReversalVerdict::TooEarly(_))) {
                    moves.push(Move::Hear(node, place));
                    if left.repeats > 0 {
                        moves.push(Move::HearTwice(node, place));
                    }
                }
            }
            if left.captures > 0 {
                moves.push(Move::Begin(node, FollowUpKind::Capture));
            }
            if left.voids > 0 {
                moves.push(Move::Begin(node, FollowUpKind::Void));
            }
            if left.withdrawals > 0 {
                moves.push(Move::Withdraw(node));
            }
        }
        if left.losses > 0 {
            moves.extend((0..world.news.len()).map(Move::Lose));
        }
        for (place, authorization) in world.bank.authorizations.iter().enumerate() {
            if left.payments > 0 && authorization.answer == Decision::Later {
                moves.extend(self.sums.iter().map(|sum| Move::Pay(place, *sum)));
            }
            if left.regrets > 0 && world.bank.may_regret(authorization) {
                moves.push(Move::Regret(place));
            }
        }
        if left.disputes > 0
            && let Some(place) =
                world.bank.authorizations.iter().position(|known| known.payments == [Money::Taken])
        {
            for case in 0..2 {
                let next = world.bank.next_of(case).iter();
                moves.extend(next.map(|what| Move::Dispute(place, case, *what)));
            }
        }
        for (place, operation) in world.bank.operations.iter().enumerate() {
            if left.regrets > 0 && world.bank.may_regret_capture(operation) {
                moves.push(Move::RegretCapture(place));
            }
            if operation.answer == Decision::Later {
                moves.extend([Move::Settle(place, Decision::Yes), Move::Settle(place, Decision::No)]);
            }
        }
        if !world.is_late && self.authorizes.contains(&Decision::Later) {
            moves.push(Move::Expire);
        }
    }

    fn next_state(&self, world: &World, step: Move) -> Option<World> {
        let mut after = world.clone();
        let asked = |node: usize| match &world.nodes[node] {
            Node::Asks { id, .. } => *id,
            Node::Idle | Node::Writes { .. } => unreachable!(),
        };
        let call_of =
            |node: usize| world.calls.iter().position(|call| call.request.id == asked(node)).unwrap();
        match step {
            Move::Answer(node, decision) => {
                let call = call_of(node);
                let key = world.calls[call].request.provider_key();
                self.arrive(&mut after, call, decision);
                let outcome = outcomes(after.bank.word(key), key, EXPIRES).remove(0);
                return Some(self.answered(&after, node, Some(outcome)));
            }
            Move::Silence(node, decision) => {
                after.left.silences -= 1;
                self.arrive(&mut after, call_of(node), decision);
                return Some(self.answered(&after, node, None));
            }
            Move::Delay(node) => {
                after.left.silences -= 1;
                return Some(self.answered(&after, node, None));
            }
            Move::Deny(node) => {
                after.left.silences -= 1;
                let outcome = outcomes(Word::Absent, Uuid::nil(), EXPIRES).remove(0);
                return Some(self.answered(&after, node, Some(outcome)));
            }
            Move::NotSent(node) => {
                after.left.silences -= 1;
                after.calls.remove(call_of(node));
                let outcome = outcomes(Word::Refused, Uuid::nil(), EXPIRES).remove(0);
                return Some(self.answered(&after, node, Some(outcome)));
            }
            Move::Crash(node) => {
                after.left.crashes -= 1;
                // The job of a notification is stored: it runs again.
                if let Node::Writes { job, heard, .. } = &world.nodes[node] {
                    Self::hear_again(&mut after, job, *heard);
                }
                after.nodes[node] = Node::Idle;
            }
            Move::Arrive(call, decision) => self.arrive(&mut after, call, decision),
            Move::Vanish(call) => {
                after.calls.remove(call);
            }
            Move::Write(node) => return self.write(world, node),
            Move::Look(node, at) => return self.look(world, node, at),
            Move::Again(node, at, decision) => {
                let request = world.stored.requests[at].clone();
                let authorization = world.stored.charge.followed(&world.stored.requests, &request)?.clone();
                let key = request.provider_key();
                let is_new = after.bank.word(key) == Word::Absent;
                after.bank.operate(&request, &authorization, kind(&request), decision);
                if is_new {
                    self.news(&mut after, key);
                }
                let word = after.bank.word(key);
                return Some(self.tell(&after, node, at, word, None).unwrap_or(after));
            }
            Move::Deliver(node, place) | Move::Repeat(node, place) => {
                let (key, word) = world.news[place];
                match step {
                    Move::Repeat(..) => after.left.repeats -= 1,
                    _ => {
                        after.news.remove(place);
                    }
                }
                let at = world
                    .stored
                    .requests
                    .iter()
                    .position(|request| request.provider_key() == key && request.awaited().is_none())?;
                if self.is_refused_too_early(world, at, word) {
                    return None;
                }
                return Some(self.tell(&after, node, at, word, Some((key, word))).unwrap_or(after));
            }
            Move::Lose(place) => {
                after.left.losses -= 1;
                after.news.remove(place);
            }
            Move::Pay(place, sum) => {
                after.left.payments -= 1;
                after.bank.authorizations[place].pay(sum);
                let key = after.bank.authorizations[place].key;
                self.news(&mut after, key);
            }
            Move::Regret(place) => {
                after.left.regrets -= 1;
                let key = after.bank.regret(place);
                self.news(&mut after, key);
            }
            Move::RegretCapture(place) => {
                after.left.regrets -= 1;
                let key = after.bank.regret_capture(place);
                self.news(&mut after, key);
            }
            Move::Settle(place, decision) => {
                after.bank.settle(place, decision);
                let key = after.bank.operations[place].key;
                self.news(&mut after, key);
            }
            Move::Dispute(place, case, what) => {
                after.left.disputes -= 1;
                after.bank.cases[case] = Some(what);
                let key = after.bank.authorizations[place].key;
                after.reports.push(Report { key, case, what, at: after.bank.moments });
                after.reports.sort();
                after.bank.moments += 1;
            }
            Move::Hear(node, place) | Move::HearTwice(node, place) => {
                let report = world.reports[place];
                match step {
                    Move::HearTwice(..) => after.left.repeats -= 1,
                    _ => {
                        after.reports.remove(place);
                    }
                }
                let given = self.give(&after, node, Job::Reverse(report), None, None);
                return Some(given.unwrap_or(after));
            }
            Move::Expire => after.is_late = true,
            Move::Begin(node, kind) => {
                match kind {
                    FollowUpKind::Capture => after.left.captures -= 1,
                    FollowUpKind::Void => after.left.voids -= 1,
                }
                return self.give(&after, node, Job::Begin(kind), None, None);
            }
            Move::Withdraw(node) => {
                after.left.withdrawals -= 1;
                return self.give(&after, node, Job::Withdraw, None, None);
            }
        }
        Some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        Self::invariants()
    }
}
