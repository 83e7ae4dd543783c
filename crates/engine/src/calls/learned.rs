//! Keeps what balances that learn know in the present hour.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use regente_domain::flow::{Evidence, Group, LearnedNode};
use regente_domain::id::FlowId;
use regente_domain::learned::Shares;
use regente_domain::learned::moves::{Moved, moved};
use std::sync::Arc;

/// Most flows of which something is kept; each takes some ten KiB.
const FLOWS_MAX: u64 = 1_000;

/// What is known of each flow that learns, in the present hour.
pub struct Learned {
    known: moka::sync::Cache<FlowId, Arc<KnownHour>>,
    /// Held while the rates of a flow are read, so that only one charge does.
    pub reading: tokio::sync::Mutex<()>,
}

impl Default for Learned {
    fn default() -> Self {
        Self { known: moka::sync::Cache::new(FLOWS_MAX), reading: tokio::sync::Mutex::default() }
    }
}

impl Learned {
    /// What is known of a flow in this hour of its account; `None` before it was read.
    pub fn get(&self, id: FlowId, hour: i64) -> Option<Arc<KnownHour>> {
        self.known.get(&id).filter(|known| known.hour == hour)
    }

    /// Keeps what was read of a flow.
    pub fn keep(&self, id: FlowId, known: Arc<KnownHour>) {
        self.known.insert(id, known);
    }
}

/// What the balances of a flow know in an hour.
pub struct KnownHour {
    hour: i64,
    nodes: HashMap<u16, KnownNode>,
}

struct KnownNode {
    now: Evidence,
    hour_ago: Evidence,
    /// The shares by group, computed when they are first needed.
    shares: Mutex<HashMap<Group, Shares>>,
}

impl KnownHour {
    /// What the balances know: now, and an hour ago.
    pub fn new(hour: i64, nodes: impl Iterator<Item = (u16, [Evidence; 2])>) -> Self {
        let node = |(number, [now, hour_ago]): (u16, [Evidence; 2])| {
            (number, KnownNode { now, hour_ago, shares: Mutex::default() })
        };
        Self { hour, nodes: nodes.map(node).collect() }
    }

    /// The shares of a balance for a group. `report` is told when they are first computed and have moved by more than the balance
    /// says within the hour.
    pub fn shares(&self, of: &LearnedNode, group: &Group, report: impl FnOnce(&[Moved])) -> Option<Shares> {
        let node = self.nodes.get(&of.number)?;
        let mut by_group = node.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shares) = by_group.get(group) {
            return Some(shares.clone());
        }
        let shares = of.shares(&node.now, group);
        by_group.insert(group.clone(), shares.clone());
        drop(by_group);
        let hour_ago = of.shares(&node.hour_ago, group);
        let moved = moved(&hour_ago, &shares, of.balance.learning().report_above);
        if !moved.is_empty() {
            report(&moved);
        }
        Some(shares)
    }
}
