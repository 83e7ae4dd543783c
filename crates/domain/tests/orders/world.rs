//! A charge in the world: what is stored of it, two nodes that read and write it, calls and notifications on their way, and
//! the books of the providers. The checker chooses what happens next; what a node then does is decided by the product.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use regente_domain::charge::attempt::{Outcome, RequestGroup, TransactionRequest};
use regente_domain::charge::reversal::ReversalKind;
use regente_domain::charge::{Charge, FollowUpKind, Misstep};
use regente_domain::id::TransactionRequestId;
use uuid::Uuid;

use super::bank::{Bank, Word};

/// What is stored of a charge.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub charge: Charge,
    pub requests: Vec<TransactionRequest>,
    /// The requests that the reconcile job looks after, by their ordinals.
    pub watched: u32,
    digest: u64,
}

impl Stored {
    pub(crate) fn new(charge: Charge, requests: Vec<TransactionRequest>, watched: u32) -> Arc<Self> {
        let mut hasher = DefaultHasher::new();
        let Charge { state, amount, paid_otherwise, position, version, requests: count, explanation, .. } =
            &charge;
        (
            format!("{state:?} {:?} {paid_otherwise:?}", explanation.stopped),
            amount.minor_units(),
            position,
            version,
            count,
            watched,
        )
            .hash(&mut hasher);
        for request in &requests {
            request_digest(request).hash(&mut hasher);
        }
        Arc::new(Self { charge, requests, watched, digest: hasher.finish() })
    }

    pub(crate) fn watches(&self, request: &TransactionRequest) -> bool {
        self.watched & bit(request) != 0
    }
}

pub(crate) fn bit(request: &TransactionRequest) -> u32 {
    1 << request.ordinal
}

pub(crate) fn request_digest(request: &TransactionRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    let TransactionRequest { id, ordinal, request_type, follows, amount, outcome, .. } = request;
    let outcome =
        (std::mem::discriminant(outcome), request.transaction_id(), request.decline().map(|it| it.retryable));
    (id.uuid(), ordinal, request_type, follows.map(|id| id.uuid()), amount.minor_units(), outcome)
        .hash(&mut hasher);
    hasher.finish()
}

/// What a node is about to do, and does again when another node was faster.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Job {
    /// Writes what an answer makes of the charge that this node drives.
    Conclude(TransactionRequest),
    /// Takes the outcomes that were found, one after the other; then the first is looked after no more, perhaps.
    Take { found: Vec<TransactionRequest>, is_over: bool },
    /// Writes the answer to the open capture or void.
    EndSent(TransactionRequest),
    /// Writes the end of a capture or void that was found.
    End(TransactionRequest),
    /// Writes the result of an accepted capture or void.
    EndAccepted(TransactionRequest, Word),
    /// Begins a capture or void for the merchant.
    Begin(FollowUpKind),
    /// Ends the wait for the payer.
    Withdraw,
    /// Writes that the provider refuses this request, which it had approved.
    Revoke(TransactionRequestId),
    /// Writes what happened to a payment after it was taken.
    Reverse(Report),
}

/// What a provider tells of a request.
pub(crate) type News = (Uuid, Word);

/// What a provider tells of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Report {
    pub key: Uuid,
    pub case: usize,
    pub what: ReversalKind,
    /// When it happened, by the provider's clock.
    pub at: u8,
}

/// A batch that is decided and not written yet.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub base: i64,
    pub after: Arc<Stored>,
    /// The request that this node sends once the batch is written, and whether the charge goes on with its answer.
    pub sends: Option<(TransactionRequestId, Sends)>,
    /// The operator is told with it.
    pub tells: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sends {
    /// An authorization: this node asks the next provider too.
    Drives,
    /// A capture or void.
    Operates,
}

/// What a node does.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Idle,
    /// It waits for the answer to this request, with what it has read of the charge.
    Asks {
        read: Arc<Stored>,
        id: TransactionRequestId,
        sends: Sends,
    },
    Writes {
        job: Job,
        plan: Arc<Plan>,
        /// The notification that it comes from.
        heard: Option<News>,
    },
}

/// A call on its way to a provider.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub request: TransactionRequest,
    pub authorization: Option<TransactionRequest>,
}

/// How often what may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Left {
    /// Nodes that die.
    pub crashes: u8,
    /// Calls that are not answered, or answered by a denial while they are on their way.
    pub silences: u8,
    /// Notifications that come twice.
    pub repeats: u8,
    /// Notifications that are lost.
    pub losses: u8,
    /// Payments of a payer.
    pub payments: u8,
    /// Approvals that a provider takes back.
    pub regrets: u8,
    /// Captures and voids of the merchant.
    pub captures: u8,
    pub voids: u8,
    /// Ends of the wait for the payer by the merchant.
    pub withdrawals: u8,
    /// Openings and ends of disputes.
    pub disputes: u8,
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub stored: Arc<Stored>,
    pub nodes: [Node; 2],
    pub calls: Vec<Call>,
    pub news: Vec<News>,
    pub reports: Vec<Report>,
    pub bank: Bank,
    pub left: Left,
    /// Whether the instructions of payers have expired.
    pub is_late: bool,
    pub told: bool,
    pub broken: Option<Misstep>,
}

impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.stored.digest.hash(hasher);
        for node in &self.nodes {
            match node {
                Node::Idle => 0_u8.hash(hasher),
                Node::Asks { read, id, sends } => (1_u8, read.digest, id.uuid(), sends).hash(hasher),
                Node::Writes { job, plan, heard } => {
                    (2_u8, plan.base, plan.after.digest, plan.tells, heard).hash(hasher);
                    match job {
                        Job::Conclude(request) | Job::EndSent(request) | Job::End(request) => {
                            (std::mem::discriminant(job), request_digest(request)).hash(hasher);
                        }
                        Job::Take { found, is_over } => {
                            let found: Vec<u64> = found.iter().map(request_digest).collect();
                            (3_u8, found, is_over).hash(hasher);
                        }
                        Job::EndAccepted(request, word) => (4_u8, request_digest(request), word).hash(hasher),
                        Job::Begin(kind) => (5_u8, kind).hash(hasher),
                        Job::Withdraw => 6_u8.hash(hasher),
                        Job::Reverse(report) => (7_u8, report).hash(hasher),
                        Job::Revoke(about) => (8_u8, about.uuid()).hash(hasher),
                    }
                }
            }
        }
        for call in &self.calls {
            request_digest(&call.request).hash(hasher);
        }
        (&self.news, &self.reports, &self.bank, self.left, self.is_late, self.told, self.broken.is_some())
            .hash(hasher);
    }
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        let digest = |world: &Self| {
            let mut hasher = DefaultHasher::new();
            world.hash(&mut hasher);
            hasher.finish()
        };
        digest(self) == digest(other)
    }
}

/// Whether a node has the answer to this request, and has not written it.
pub(crate) fn is_being_written(world: &World, request: &TransactionRequest) -> bool {
    world.nodes.iter().any(|node| match node {
        Node::Writes { job: Job::Conclude(ended) | Job::EndSent(ended), .. } => ended.id == request.id,
        Node::Idle | Node::Asks { .. } | Node::Writes { .. } => false,
    })
}

/// Whether the reconcile job sends it again.
pub(crate) fn is_sent_again(world: &World, at: usize) -> bool {
    let request = &world.stored.requests[at];
    world.stored.watches(request)
        && matches!(request.request_type.group(), RequestGroup::FollowUp(_))
        && request.outcome == Outcome::Open
        && !world.nodes.iter().any(|node| matches!(node, Node::Asks { id, .. } if *id == request.id))
}
