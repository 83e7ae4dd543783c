//! A bounded world of a charge, and what its nodes do.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use regente_domain::charge::attempt::{Outcome, RequestGroup, TransactionRequest};
use regente_domain::charge::{
    AfterRevoking, Charge, FollowUpKind, Means, Misstep, PaymentSource, Says, SecurityCode, reconciliation,
};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::TransactionRequestId;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::bank::{Bank, Decision, Sum, Word, outcomes};
use super::batch::written;
use super::world::{Call, Job, Left, News, Node, Sends, Stored, World, bit, is_sent_again};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_774_278_758_379);
pub(crate) const EXPIRES: Timestamp = Timestamp::from_millis(1_774_278_758_379 + 900_000);
const LATE: Timestamp = Timestamp::from_millis(1_774_278_758_379 + 1_900_000);

/// Ids of charges beside each other are that far apart.
const PLACES: u128 = 1_000_000;

/// One bounded world.
#[derive(Clone)]
pub(crate) struct Orders {
    pub charge: Charge,
    /// Its place among the charges of a purchase or session.
    pub place: u128,
    pub left: Left,
    /// What providers decide about authorizations, and about captures and voids.
    pub authorizes: Vec<Decision>,
    pub operates: Vec<Decision>,
    /// What payers pay.
    pub sums: Vec<Sum>,
    /// Whether providers notify.
    pub notifies: bool,
    /// Whether the reconcile job may be faster than a node that has its answer and has not written it.
    pub stalls: bool,
    /// What each of two disputes is about.
    pub disputed: [i64; 2],
    /// Whether all that follows the opening of a dispute names the payment alone.
    pub names_payment: bool,
}

impl Orders {
    pub(crate) fn now(world: &World) -> Timestamp {
        if world.is_late { LATE } else { NOW }
    }

    /// Ids are unlike each other wherever they are made.
    pub(crate) fn ids(&self, world: &World, node: usize) -> impl Fn() -> TransactionRequestId + use<> {
        let base = self.place * PLACES
            + u128::try_from(world.stored.charge.version).unwrap() * 100
            + node as u128 * 10;
        let made = Cell::new(0);
        move || {
            made.set(made.get() + 1);
            TransactionRequestId::new(Uuid::from_u128(10_000 + base + made.get()))
        }
    }

    /// The charge begins: its first authorization is on its way from this node.
    pub(crate) fn begun(&self, node: usize) -> World {
        let charge = self.charge.clone();
        let hop = regente_domain::routing::first(&charge.explanation).unwrap();
        let id = TransactionRequestId::new(Uuid::from_u128(self.place * PLACES + 1));
        let first = charge.begin_request(id, charge.authorization_at(hop), NOW);
        let watched = bit(&first);
        let mut world = World {
            stored: Stored::new(charge, vec![first], watched),
            nodes: [Node::Idle, Node::Idle],
            calls: Vec::new(),
            news: Vec::new(),
            reports: Vec::new(),
            bank: Bank::default(),
            left: self.left,
            is_late: false,
            told: false,
            broken: None,
        };
        Self::send(&mut world, node, id, Sends::Drives);
        world
    }

    pub(crate) fn has_card(&self) -> bool {
        match self.charge.method.source() {
            PaymentSource::Card(_) => true,
            PaymentSource::Payer(_) | PaymentSource::Wallet => false,
        }
    }

    /// Gives a job to a node, from a notification perhaps; `None` when it changes nothing.
    pub(crate) fn give(
        &self,
        world: &World,
        node: usize,
        mut job: Job,
        stops: Option<u32>,
        heard: Option<News>,
    ) -> Option<World> {
        let mut after = world.clone();
        match self.decide(world, node, &mut job) {
            Ok(Some(plan)) => after.nodes[node] = Node::Writes { job, plan: Arc::new(plan), heard },
            Ok(None) => {
                let watched = world.stored.watched & !stops.unwrap_or(0);
                if watched == world.stored.watched {
                    return None;
                }
                let Stored { charge, requests, .. } = &*world.stored;
                after.stored = Stored::new(charge.clone(), requests.clone(), watched);
            }
            Err(misstep) => after.broken = Some(misstep),
        }
        Some(after)
    }

    /// What a provider says of a request reaches a node.
    pub(crate) fn tell(
        &self,
        world: &World,
        node: usize,
        at: usize,
        word: Word,
        heard: Option<News>,
    ) -> Option<World> {
        let request = &world.stored.requests[at];
        let now = Self::now(world);
        let mut outcomes = outcomes_of(word, request);
        // The provider denies what it has issued instructions for, or has accepted: it is asked again.
        let is_denied = matches!(request.outcome, Outcome::NoEffect(_));
        if word == Word::Absent && request.outcome != Outcome::Open && !is_denied {
            return None;
        }
        let first = outcomes.remove(0);
        if self.takes_back(world, at, word) {
            return self.give(world, node, Job::Revoke(request.id), None, heard);
        }
        let is_over = heard.is_none() && reconciliation::is_over(request, &first, false, now);
        let stops = is_over.then(|| bit(request));
        match Says::of(request, &first) {
            Says::NothingNew | Says::Verdict => None,
            Says::Authorization => {
                let all = std::iter::once(first).chain(outcomes);
                let ended = |(place, outcome)| TransactionRequest {
                    amount: word.paid(place, request.amount),
                    ..request.end(outcome, None, now)
                };
                let found = all.enumerate().map(ended).collect();
                self.give(world, node, Job::Take { found, is_over }, stops, heard)
            }
            Says::EndOfOperation => {
                self.give(world, node, Job::End(request.end(first, None, now)), stops, heard)
            }
            Says::ResultOfAccepted => {
                self.give(world, node, Job::EndAccepted(request.clone(), word), stops, heard)
            }
        }
    }

    /// Whether this word takes back what the provider had approved. What is told contradicts it only if the provider, which
    /// is asked then, says the same.
    fn takes_back(&self, world: &World, at: usize, word: Word) -> bool {
        let Stored { charge, requests, .. } = &*world.stored;
        let request = &requests[at];
        let refuses = |word| matches!(outcomes_of(word, request).as_slice(), [Outcome::Declined(_)]);
        refuses(word)
            && refuses(world.bank.word(request.provider_key()))
            && charge.contradicted(requests, request.id).is_some()
    }

    /// Whether this word takes back what an operation rests on that is under way: it is heard again.
    pub(crate) fn is_refused_too_early(&self, world: &World, at: usize, word: Word) -> bool {
        let Stored { charge, requests, .. } = &*world.stored;
        let refused = Decline::of(DeclinedCode::StolenCard);
        let revoke =
            || charge.revoke(self.ids(world, 0)(), requests, requests[at].id, &refused, Self::now(world));
        self.takes_back(world, at, word) && revoke() == AfterRevoking::TooEarly
    }

    /// A node has the outcome of the request that it has sent.
    pub(crate) fn answered(&self, world: &World, node: usize, outcome: Option<Outcome>) -> World {
        let mut after = world.clone();
        let Node::Asks { read, id, sends } = &world.nodes[node] else { unreachable!() };
        after.nodes[node] = Node::Idle;
        let Some(outcome) = outcome else { return after };
        let now = Self::now(world);
        let request = read.requests.iter().find(|request| request.id == *id).unwrap();
        let ended = request.end(outcome, None, now);
        match sends {
            Sends::Drives => {
                let requests: Vec<TransactionRequest> = read
                    .requests
                    .iter()
                    .map(|known| if known.id == *id { ended.clone() } else { known.clone() })
                    .collect();
                let next = read.charge.next(&requests, at_once(), now);
                let code = match read.charge.next_hop() {
                    Some(_) if self.has_card() => SecurityCode::Needed,
                    Some(_) | None => SecurityCode::NotNeeded,
                };
                match read.charge.step(&requests, next, code, &self.ids(world, node), now) {
                    Ok(Some(step)) => {
                        let plan = written(read, Some(ended.clone()), step);
                        let (job, plan) = (Job::Conclude(ended), Arc::new(plan));
                        after.nodes[node] = Node::Writes { job, plan, heard: None };
                    }
                    Ok(None) => after.broken = Some(Misstep::NoSuchRequest),
                    Err(misstep) => after.broken = Some(misstep),
                }
            }
            Sends::Operates => {
                if let Some(given) = self.give(&after, node, Job::EndSent(ended), None, None) {
                    return given;
                }
            }
        }
        after
    }

    pub(crate) fn arrive(&self, world: &mut World, call: usize, decision: Decision) {
        let Call { request, authorization } = world.calls.remove(call);
        let bank: &mut Bank = &mut world.bank;
        let before = bank.word(request.provider_key());
        match authorization {
            None => bank.authorize(&request, self.charge.capture_in_effect(), decision),
            Some(authorization) => bank.operate(&request, &authorization, kind(&request), decision),
        }
        if bank.word(request.provider_key()) != before {
            self.news(world, request.provider_key());
        }
    }

    pub(crate) fn news(&self, world: &mut World, key: Uuid) {
        if self.notifies {
            Self::notify(world, (key, world.bank.word(key)));
        }
    }

    /// The job of a notification is stored: when it has not ended it runs again.
    pub(crate) fn hear_again(world: &mut World, job: &Job, heard: Option<News>) {
        if let Some(news) = heard {
            Self::notify(world, news);
        }
        if let Job::Reverse(report) = job {
            world.reports.push(*report);
            world.reports.sort();
        }
    }

    fn notify(world: &mut World, news: News) {
        if !world.news.contains(&news) {
            world.news.push(news);
            world.news.sort();
        }
    }

    pub(crate) fn send(world: &mut World, node: usize, id: TransactionRequestId, sends: Sends) {
        let stored = Arc::clone(&world.stored);
        let request = stored.requests.iter().find(|request| request.id == id).unwrap().clone();
        let authorization = match sends {
            Sends::Drives => None,
            Sends::Operates => stored.charge.followed(&stored.requests, &request).cloned(),
        };
        world.calls.push(Call { request, authorization });
        world.nodes[node] = Node::Asks { read: stored, id, sends };
    }

    pub(crate) fn write(&self, world: &World, node: usize) -> Option<World> {
        let mut after = world.clone();
        let Node::Writes { job, plan, heard } = &world.nodes[node] else { return None };
        let heard = *heard;
        after.nodes[node] = Node::Idle;
        if plan.base == world.stored.charge.version {
            after.told |= plan.tells;
            // What is looked after no more since the batch was decided stays so.
            after.stored = Arc::clone(&plan.after);
            if let Some((id, sends)) = plan.sends {
                Self::send(&mut after, node, id, sends);
                return Some(after);
            }
            // Further payments of the same payer.
            if let Job::Take { found, is_over } = job {
                let rest = found.iter().skip(1).cloned().collect();
                let stops = is_over.then(|| bit(&found[0]));
                let job = Job::Take { found: rest, is_over: *is_over };
                return Some(self.give(&after, node, job, stops, heard).unwrap_or(after));
            }
            return Some(after);
        }
        // Another node was faster: decide again.
        let (job, stops) = match job.clone() {
            Job::Conclude(ended) => (Job::Take { found: vec![ended], is_over: false }, None),
            Job::Take { found, is_over } => {
                let stops = is_over.then(|| bit(&found[0]));
                (Job::Take { found, is_over }, stops)
            }
            job @ (Job::EndSent(_)
            | Job::End(_)
            | Job::EndAccepted(..)
            | Job::Begin(_)
            | Job::Withdraw
            | Job::Revoke(_)) => (job, None),
            // What is too early by now is heard again.
            job @ Job::Reverse(_) => {
                Self::hear_again(&mut after, &job, heard);
                return Some(after);
            }
        };
        let about = match &job {
            Job::Take { found, .. } => found.first().map(|found| found.id),
            Job::End(ended) | Job::EndAccepted(ended, _) => Some(ended.id),
            Job::Revoke(about) => Some(*about),
            Job::EndSent(_) | Job::Begin(_) | Job::Withdraw => None,
            Job::Conclude(_) | Job::Reverse(_) => unreachable!("it is another job by now"),
        };
        let given = self.give(&after, node, job, stops, heard);
        Some(given.or_else(|| self.ask_again(&after, node, about?, heard)).unwrap_or(after))
    }

    /// A refusal changes nothing any more, and contradicts what another node has recorded: it is heard once more, or its
    /// provider asked.
    fn ask_again(
        &self,
        world: &World,
        node: usize,
        about: TransactionRequestId,
        heard: Option<News>,
    ) -> Option<World> {
        let Stored { charge, requests, .. } = &*world.stored;
        let at = requests.iter().position(|request| request.id == about)?;
        let refused = Decline::of(DeclinedCode::StolenCard);
        let revoked = charge.revoke(about, requests, about, &refused, Self::now(world));
        if !self.takes_back(world, at, world.bank.word(requests[at].provider_key()))
            || revoked == AfterRevoking::Nothing
        {
            return None;
        }
        let mut after = world.clone();
        match heard {
            Some(news) => Self::notify(&mut after, news),
            None => return self.give(world, node, Job::Revoke(about), None, None),
        }
        Some(after)
    }

    pub(crate) fn look(&self, world: &World, node: usize, at: usize) -> Option<World> {
        let request = &world.stored.requests[at];
        let is_asked = |node: &Node| matches!(node, Node::Asks { id, .. } if *id == request.id);
        if !world.stored.watches(request) || world.nodes.iter().any(is_asked) || is_sent_again(world, at) {
            return None;
        }
        self.tell(world, node, at, world.bank.word(request.provider_key()), None)
    }
}

pub(crate) const fn at_once() -> Means {
    Means::Complete { elapsed: Duration::ZERO, budget: Duration::from_secs(60) }
}

pub(crate) fn kind(request: &TransactionRequest) -> FollowUpKind {
    match request.request_type.group() {
        RequestGroup::FollowUp(kind) => kind,
        _ => unreachable!("only captures and voids follow"),
    }
}

fn outcomes_of(word: Word, request: &TransactionRequest) -> Vec<Outcome> {
    outcomes(word, request.provider_key(), EXPIRES)
}
