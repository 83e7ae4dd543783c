//! Reads a process's processor time, bytes written, memory and threads from the kernel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Ticks of `/proc/<pid>/stat` in a second (`sysconf(_SC_CLK_TCK)`, 100 on every Linux).
const TICKS_PER_SECOND: f64 = 100.0;
/// Interval between readings of memory.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// KiB in a MB of this report.
const KIB_PER_MIB: f64 = 1024.0;

/// The usage of a process since its start, or between two readings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Processor time in seconds.
    pub(crate) cpu_seconds: f64,
    /// Bytes written to the disk, now or later.
    pub(crate) written_bytes: f64,
    /// Bytes passed to write calls.
    pub(crate) handed_over_bytes: f64,
}

impl Usage {
    /// The usage of one process with its threads.
    pub(crate) fn of(process_id: u32) -> Self {
        let io = read(process_id, "io");
        Self {
            cpu_seconds: ticks(process_id, &[UTIME, STIME]) / TICKS_PER_SECOND,
            written_bytes: member(&io, "write_bytes:"),
            handed_over_bytes: member(&io, "wchar:"),
        }
    }

    /// The usage of a process and its children, also ended ones.
    pub(crate) fn of_family(process_id: u32) -> Self {
        let mut sum = Self::of(process_id);
        sum.cpu_seconds += ticks(process_id, &[CUTIME, CSTIME]) / TICKS_PER_SECOND;
        for child in children(process_id) {
            sum.add(Self::of(child));
        }
        sum
    }

    /// Processor seconds of this process, which makes the load, and of the children it has waited for.
    pub(crate) fn of_generator() -> f64 {
        ticks(std::process::id(), &[UTIME, STIME, CUTIME, CSTIME]) / TICKS_PER_SECOND
    }

    /// Adds what another process has used.
    pub(crate) fn add(&mut self, other: Self) {
        self.cpu_seconds += other.cpu_seconds;
        self.written_bytes += other.written_bytes;
        self.handed_over_bytes += other.handed_over_bytes;
    }

    /// The usage since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            cpu_seconds: self.cpu_seconds - earlier.cpu_seconds,
            written_bytes: self.written_bytes - earlier.written_bytes,
            handed_over_bytes: self.handed_over_bytes - earlier.handed_over_bytes,
        }
    }
}

/// Processor seconds of the whole machine.
pub(crate) fn machine_cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let all: Vec<&str> = stat.lines().next().unwrap_or_default().split_whitespace().collect();
    let busy = BUSY.iter().filter_map(|&place| all.get(place)?.parse::<f64>().ok());
    busy.sum::<f64>() / TICKS_PER_SECOND
}

// Fields of the first line of /proc/stat: user, nice, system and two kinds of interrupts, without the idle ones.
const BUSY: [usize; 5] = [1, 2, 3, 6, 7];
// Fields of /proc/<pid>/stat after the name of the program, which is in brackets.
const UTIME: usize = 11;
const STIME: usize = 12;
const CUTIME: usize = 13;
const CSTIME: usize = 14;
const PARENT: usize = 1;

fn ticks(process_id: u32, places: &[usize]) -> f64 {
    let stat = read(process_id, "stat");
    places.iter().map(|&place| place_of(&stat, place)).sum()
}

fn place_of(stat: &str, place: usize) -> f64 {
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    behind_name.split_whitespace().nth(place).and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// The child processes.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&process_id| (place_of(&read(process_id, "stat"), PARENT) - f64::from(parent)).abs() < 0.5)
        .collect()
}

/// Resident memory in MB: the process's own, and the parts of files it maps.
pub(crate) fn resident_mib(process_id: u32) -> f64 {
    member(&read(process_id, "status"), "VmRSS:") / KIB_PER_MIB
}

/// The process's own memory, in MB.
pub(crate) fn own_mib(process_id: u32) -> f64 {
    member(&read(process_id, "status"), "RssAnon:") / KIB_PER_MIB
}

/// Threads.
pub(crate) fn threads(process_id: u32) -> f64 {
    member(&read(process_id, "status"), "Threads:")
}

/// The threads of a process.
pub(crate) fn thread_ids(process_id: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{process_id}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The share of a thread's processor time spent in the kernel, from its `stat`.
pub(crate) fn kernel_part(stat: &str) -> f64 {
    let (user, kernel) = (place_of(stat, UTIME), place_of(stat, STIME));
    kernel / (user + kernel).max(1.0)
}

/// A file of the kernel about a process; empty when it has ended.
pub(crate) fn read(process_id: u32, file: &str) -> String {
    std::fs::read_to_string(format!("/proc/{process_id}/{file}")).unwrap_or_default()
}

/// The number after a name at the start of a line.
pub(crate) fn member(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// Samples a process until it is stopped.
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    looking: JoinHandle<Peak>,
}

/// The highest values seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peak {
    /// The process's own memory, in MB.
    pub(crate) own_mib: f64,
    /// Its threads.
    pub(crate) threads: f64,
}

impl Watch {
    /// Starts to sample.
    pub(crate) fn begin(process_id: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let looking = std::thread::spawn({
            let stop = stop.clone();
            move || {
                let mut peak = Peak::default();
                while !stop.load(Ordering::Relaxed) {
                    peak.own_mib = peak.own_mib.max(own_mib(process_id));
                    peak.threads = peak.threads.max(threads(process_id));
                    std::thread::sleep(LOOK_EVERY);
                }
                peak
            }
        });
        Self { stop, looking }
    }

    /// Stops, and returns the highest values.
    pub(crate) fn end(self) -> Peak {
        self.stop.store(true, Ordering::Relaxed);
        self.looking.join().unwrap_or_default()
    }
}
