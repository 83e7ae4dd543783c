//! Checks of an embedded database's machine: free room and rights on the disk, integrity of the file, and the clock by
//! which rows were written.

use std::path::Path;
use std::time::Duration;

use regente_domain::time::Timestamp;
use regente_store::{Integrity, Store};

use super::{Check, Verdict, check, failure, room};
use crate::config::Config;

const MIB: u64 = 1024 * 1024;
/// Less free room than this is a failure.
const FREE_BYTES_MIN: u64 = 100 * MIB;
/// Less free room than this is a warning.
const FREE_BYTES_LOW: u64 = 1024 * MIB;
/// A smaller free share of the disk than this is a warning too.
const FREE_PERCENT_LOW: u64 = 10;
/// The largest database that is read from beginning to end.
const INTEGRITY_BYTES_MAX: u64 = 2 * 1024 * MIB;
/// The longest time that the integrity check may take.
const INTEGRITY_TIME_MAX: Duration = Duration::from_secs(20);
/// How far the newest row may be ahead of the clock, to allow for differences between nodes' clocks.
const AHEAD_MAX: Duration = Duration::from_secs(5 * 60);
/// The file that is written to find out whether the folder is writable.
const TRIAL_NAME: &str = ".doctor";

/// Checks room and rights on the disk of an embedded database. A database server is not checked.
pub(super) fn disk(config: &Config) -> Option<Check> {
    const NAME: &str = "disk";
    let address = config.database_address().ok()?;
    let folder: &Path = address.folder()?;
    let disk = match rustix::fs::statvfs(folder) {
        Ok(disk) => disk,
        Err(error) => return Some(failure(NAME, &error)),
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let all = disk.f_blocks.saturating_mul(disk.f_frsize);
    Some(match (try_to_write(folder), too_little(free, all)) {
        (Err(error), _) => check(NAME, Verdict::Failure, format!("{}: {error}", folder.display())),
        (Ok(()), Some((verdict, bound))) => {
            check(NAME, verdict, format!("{} free, which is less than {bound}", room(free)))
        }
        (Ok(()), None) => check(NAME, Verdict::Ok, format!("{} free, and can be written to", room(free))),
    })
}

/// The verdict on `free` bytes and the bound they are under, `None` when they are enough.
fn too_little(free: u64, all: u64) -> Option<(Verdict, String)> {
    let is_low_share = u128::from(free) * 100 < u128::from(all) * u128::from(FREE_PERCENT_LOW);
    match free {
        0..FREE_BYTES_MIN => Some((Verdict::Failure, room(FREE_BYTES_MIN))),
        FREE_BYTES_MIN..FREE_BYTES_LOW => Some((Verdict::Warning, room(FREE_BYTES_LOW))),
        FREE_BYTES_LOW.. if is_low_share => {
            Some((Verdict::Warning, format!("{FREE_PERCENT_LOW} % of the disk")))
        }
        FREE_BYTES_LOW.. => None,
    }
}

fn try_to_write(folder: &Path) -> std::io::Result<()> {
    let trial = folder.join(TRIAL_NAME);
    let written = std::fs::write(&trial, [0; 4096]);
    let removed = std::fs::remove_file(&trial);
    written.and(removed)
}

/// Checks the integrity of an embedded database's file within a bounded time.
pub(super) async fn integrity(store: &Store) -> Option<Check> {
    const NAME: &str = "integrity";
    let embedded = match store {
        Store::Sqlite(embedded) => embedded,
        Store::Postgres(_) => return None,
    };
    let not_read = "a backup of it can be checked in full: `regente restore` does, in another folder";
    let size = match store.size().await {
        Ok(size) => size.database_bytes,
        Err(error) => return Some(failure(NAME, &error)),
    };
    if size > INTEGRITY_BYTES_MAX {
        return Some(check(NAME, Verdict::Ok, format!("not read, since it has {}; {not_read}", room(size))));
    }
    Some(match embedded.quick_check(INTEGRITY_TIME_MAX).await {
        Err(error) => failure(NAME, &error),
        Ok(Integrity::Whole) => check(NAME, Verdict::Ok, format!("{} read, and whole", room(size))),
        Ok(Integrity::Damaged(what)) => check(NAME, Verdict::Failure, format!("damaged: {what}")),
        Ok(Integrity::NotFinished) => {
            let found = format!("not read to its end within {} s; {not_read}", INTEGRITY_TIME_MAX.as_secs());
            check(NAME, Verdict::Ok, found)
        }
    })
}

/// Checks for rows that this machine's clock puts in the future.
pub(super) async fn clock(store: &Store, now: Timestamp) -> Check {
    const NAME: &str = "clock";
    match store.newest().await {
        Err(error) => failure(NAME, &error),
        Ok(newest) => match newest.of_all() {
            Some(newest) if newest.since(now) > AHEAD_MAX => {
                let found = format!("the newest row was made at {newest}, and now it is {now}");
                check(NAME, Verdict::Warning, found)
            }
            Some(newest) => check(NAME, Verdict::Ok, format!("the newest row was made at {newest}")),
            None => check(NAME, Verdict::Ok, "nothing was written yet"),
        },
    }
}
