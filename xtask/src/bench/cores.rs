//! Splits the machine's cores: one half for the service, the other for the load. A service that shares cores with a
//! load of several times the largest rate would be measured together with it.

use rustix::process::{Pid, getpid};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::meter;
use crate::Outcome;
use crate::place::Place;
use crate::service::Service;

/// The two halves; dropping it gives this task all cores again.
pub(super) struct Halves {
    service: Vec<u32>,
    load: Vec<u32>,
}

impl Halves {
    /// Starts a service on its half, and moves this task and every thread and process that it starts to the other. No
    /// halves on a single core.
    pub(super) fn start(place: &Place) -> Outcome<(Service, Option<Self>)> {
        let all = allowed()?;
        let (service, load) = all.split_at(all.len() / 2);
        if service.is_empty() {
            return Ok((Service::start(place)?, None));
        }
        let halves = Self { service: service.to_vec(), load: load.to_vec() };
        restrict(getpid(), &halves.service)?;
        let started = Service::start(place);
        restrict(getpid(), &halves.load)?;
        Ok((started?, Some(halves)))
    }

    /// The cores of the service.
    pub(super) fn of_service(&self) -> &[u32] {
        &self.service
    }

    /// The cores of the load.
    pub(super) fn of_load(&self) -> &[u32] {
        &self.load
    }
}

impl Drop for Halves {
    fn drop(&mut self) {
        drop(restrict(getpid(), &[self.service.as_slice(), &self.load].concat()));
    }
}

/// Restricts the first thread of a process, and everything it starts, to these cores.
pub(crate) fn restrict(process: Pid, cores: &[u32]) -> Outcome {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(usize::try_from(core)?);
    }
    Ok(sched_setaffinity(Some(process), &set)?)
}

/// As a list, such as `0,1`.
pub(super) fn list(cores: &[u32]) -> String {
    cores.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// The cores that this task may use, such as `0-3,6`.
pub(super) fn allowed() -> Outcome<Vec<u32>> {
    let status = meter::read(std::process::id(), "status");
    let ranges = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let mut cores = Vec::new();
    for range in ranges.ok_or("the kernel does not tell the cores")?.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        cores.extend(first.parse::<u32>()?..=last.parse()?);
    }
    Ok(cores)
}
