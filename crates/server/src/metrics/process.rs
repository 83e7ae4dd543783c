//! Reads the process's memory and file descriptors from the operating system; `None` where it does not report them.

use std::path::Path;

/// Bytes of resident memory.
pub(super) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kibibytes =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?;
    kibibytes.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Open file descriptors, without the one that is used to count them.
pub(super) fn open_fds() -> Option<u64> {
    let entries = std::fs::read_dir(Path::new("/proc/self/fd")).ok()?.count();
    u64::try_from(entries).ok()?.checked_sub(1)
}

/// The limit of open file descriptors; `None` when there is none.
pub(super) fn max_fds() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let bound = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    bound.split_whitespace().next()?.parse().ok()
}
