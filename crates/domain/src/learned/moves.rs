//! Finds the shares that have changed a lot, which is reported.

use super::{Millionths, Shares};

/// A branch whose share has changed by more than is usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The index of the branch, from 0.
    pub branch: usize,
    /// Its share before.
    pub before: Millionths,
    /// Its share now.
    pub now: Millionths,
}

/// The branches whose share differs by more than this from what it was an hour ago, in their order. None when the shares are
/// those of balances with another number of branches: they are not the same balance.
pub fn moved(hour_ago: &Shares, now: &Shares, by_more_than: Millionths) -> Vec<Moved> {
    if hour_ago.branches().len() != now.branches().len() {
        return Vec::new();
    }
    let pairs = hour_ago.branches().iter().zip(now.branches()).enumerate();
    let moved = pairs.map(|(branch, (before, now))| Moved { branch, before: before.share, now: now.share });
    moved.filter(|moved| moved.before.get().abs_diff(moved.now.get()) > by_more_than.get()).collect()
}
