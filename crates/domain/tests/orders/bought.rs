//! A purchase as it is stored, its charges, and what two nodes do with it.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use regente_domain::charge::FollowUpKind;
use regente_domain::id::{ChargeId, Id};
use regente_domain::purchase::Purchase;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::moves::Move;
use super::several::digest_of;
use super::world::{Left, World};

/// What a node does with the purchase.
#[derive(Clone, Debug)]
pub(crate) enum Driver {
    Idle,
    /// It decides next; these cards have refused to be given back in this run.
    Runs {
        refused: u8,
    },
    /// It is about to write, and the charge of a card begins with it.
    Writes {
        refused: u8,
        base: i64,
        after: Arc<Purchase>,
        begins: Option<usize>,
        gave_up: bool,
    },
    /// It has begun this for a card, and waits for the end.
    Waits {
        refused: u8,
        card: usize,
        operation: Option<FollowUpKind>,
        base: i64,
        before: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Bought {
    pub purchase: Arc<Purchase>,
    pub cards: [Option<World>; 2],
    pub drivers: [Driver; 2],
    pub left: Left,
    pub waits: u8,
    pub twins: u8,
    pub now: Timestamp,
    pub told: bool,
}

/// What may happen next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Something happens to the charge of a card.
    Card(usize, Move),
    /// A node drives the purchase, from the beginning or on.
    Drive(usize),
    /// A node dies: what it does with the purchase and with the charges.
    Crash(usize),
    /// The next thing is due.
    Wait,
    /// The merchant captures or voids.
    Request(FollowUpKind),
}

pub(crate) fn digest(purchase: &Purchase) -> String {
    let slots: Vec<_> = purchase.slots.iter().map(|slot| (slot.noted, slot.charge_id.is_some())).collect();
    format!("{:?} {slots:?} {}", purchase.phase, purchase.version)
}

pub(crate) fn id_of(card: usize) -> ChargeId {
    Id::new(Uuid::from_u128(50 + card as u128))
}

pub(crate) fn state_of(world: &World) -> String {
    format!("{:?}", world.stored.charge.state)
}

impl Hash for Bought {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        digest(&self.purchase).hash(hasher);
        self.cards.hash(hasher);
        for driver in &self.drivers {
            match driver {
                Driver::Idle => 0_u8.hash(hasher),
                Driver::Runs { refused } => (1_u8, refused).hash(hasher),
                Driver::Writes { refused, base, after, begins, gave_up } => {
                    (2_u8, refused, base, digest(after), begins, gave_up).hash(hasher);
                }
                Driver::Waits { refused, card, operation, base, before } => {
                    (3_u8, refused, card, operation, base, before).hash(hasher);
                }
            }
        }
        (self.left, self.waits, self.twins, self.now, self.told).hash(hasher);
    }
}

impl PartialEq for Bought {
    fn eq(&self, other: &Self) -> bool {
        digest_of(self) == digest_of(other)
    }
}
