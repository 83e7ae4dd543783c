//! What the kernel tells of processes.

use std::collections::HashSet;
use std::path::Path;

/// Ticks of the kernel's clock in a second, as everywhere on Linux.
const TICKS_PER_SECOND: u64 = 100;

/// A member of `/proc/<pid>/status` that is given in KiB, such as `VmRSS:`.
pub(crate) fn status_kib(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// How long a process has computed, in milliseconds.
pub(crate) fn cpu_ms(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program, which may contain anything, stands in parentheses; utime and stime are members 14 and 15.
    let members = stat.rsplit_once(')').map_or("", |(_, members)| members);
    ticks_ms(members.split_whitespace().skip(11).take(2))
}

/// The same of a process with those that it has started.
pub(crate) fn family_cpu_ms(pid: u32) -> u64 {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    cpu_ms(pid) + children.map(cpu_ms).sum::<u64>()
}

/// How long all processors have computed, in milliseconds.
pub(crate) fn machine_cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let members: Vec<&str> = stat.lines().next().unwrap_or_default().split_whitespace().collect();
    // user nice system, then idle and waiting, then interrupts.
    let busy = [1, 2, 3, 6, 7];
    ticks_ms(busy.into_iter().filter_map(|at| members.get(at).copied()))
}

fn ticks_ms<'a>(ticks: impl Iterator<Item = &'a str>) -> u64 {
    ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 1000 / TICKS_PER_SECOND
}

/// The connections that a process has opened over IPv4: its own port and that of the other side.
pub(crate) fn connections(pid: u32) -> HashSet<(u16, u16)> {
    let sockets = sockets(pid);
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default();
    let connection = |line: &str| {
        let members: Vec<&str> = line.split_whitespace().collect();
        let port = |at: usize| u16::from_str_radix(members.get(at)?.rsplit(':').next()?, 16).ok();
        sockets.contains(*members.get(9)?).then_some((port(1)?, port(2)?))
    };
    table.lines().skip(1).filter_map(connection).collect()
}

/// The inodes of a process's sockets.
fn sockets(pid: u32) -> HashSet<String> {
    let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return HashSet::new() };
    let inode = |path: &Path| {
        let target = std::fs::read_link(path).ok()?;
        Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    };
    files.filter_map(|file| inode(&file.ok()?.path())).collect()
}
