//! Charges beside each other, each in a [`World`] of its own: those of a purchase and those of a session.

use std::hash::{DefaultHasher, Hash, Hasher};

use stateright::Model;

use super::charge::Orders;
use super::moves::Move;
use super::world::{Left, Node, World};

/// A charge that sends more comes to no end.
pub(crate) const REQUESTS_MAX: usize = 20;

/// Something happens to one of the charges. What may happen how often is common to them: `left` of it is returned with
/// the charge.
pub(crate) fn on_charge(
    orders: &Orders,
    world: &World,
    left: Left,
    step: impl FnOnce(&Orders, &World) -> Option<World>,
) -> Option<(World, Left)> {
    let changed = step(orders, &World { left, ..world.clone() })?;
    let left = changed.left;
    Some((World { left: Left::default(), ..changed }, left))
}

/// What may happen to one of the charges.
pub(crate) fn moves(orders: &Orders, world: &World, left: Left) -> Vec<Move> {
    let mut moves = Vec::new();
    orders.actions(&World { left, ..world.clone() }, &mut moves);
    moves
}

/// A charge that a node begins.
pub(crate) fn begun(orders: &Orders, node: usize) -> World {
    World { left: Left::default(), ..orders.begun(node) }
}

/// A node dies: what it does with a charge. The job of a notification is stored, and runs again.
pub(crate) fn crash(world: &mut World, node: usize) {
    if let Node::Writes { job, heard, .. } = world.nodes[node].clone() {
        Orders::hear_again(world, &job, heard);
    }
    world.nodes[node] = Node::Idle;
}

pub(crate) fn is_busy(world: &World, node: usize) -> bool {
    !matches!(world.nodes[node], Node::Idle)
}

pub(crate) fn is_stopped(world: &World) -> bool {
    world.broken.is_some() || world.stored.requests.len() > REQUESTS_MAX
}

/// Whether nothing can happen any more.
pub(crate) fn is_over<M: Model>(model: &M, state: &M::State) -> bool
where
    M::State: PartialEq,
{
    let mut steps = Vec::new();
    model.actions(state, &mut steps);
    !steps.into_iter().any(|step| model.next_state(state, step).is_some_and(|after| after != *state))
}

pub(crate) fn digest_of(state: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}
