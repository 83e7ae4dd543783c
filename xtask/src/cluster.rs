//! The servers of a distributed database that `scripts/distributed` has started around this task.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use regente_store::testing::TestPostgres;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::time::sleep;

use crate::Outcome;
use crate::bench::cores;
use crate::bench::meter::{self, Usage};
use crate::place::Place;

/// The server whose address the service is given.
pub(crate) const COORDINATOR: &str = "coordinator";
/// The workers, in the order of their numbers from 1.
pub(crate) const WORKERS: [&str; 2] = ["worker_1", "worker_2"];

/// How often it is looked whether processes are gone.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A coordinator and two workers.
#[derive(Clone)]
pub(crate) struct Cluster {
    folder: PathBuf,
}

impl Cluster {
    /// The one around this task.
    pub(crate) fn running() -> Outcome<Self> {
        let folder = std::env::var_os("CLUSTER_FOLDER")
            .ok_or("no cluster runs; put `scripts/distributed` before the command")?;
        Ok(Self { folder: folder.into() })
    }

    /// A fresh database whose tables are distributed, by a release; its address. It stays as long as the cluster.
    pub(crate) async fn fresh_database(&self, binary: &Path) -> Outcome<String> {
        let database = TestPostgres::empty_distributed_database().await.ok_or("no cluster runs")?.keep();
        let place = Place::passing(binary, &std::env::temp_dir())?.on_postgres(&database);
        place.printed(&["migrate", "--distributed"])?;
        Ok(database)
    }

    /// What all servers have used so far.
    pub(crate) fn usage(&self) -> Usage {
        let mut all = Usage::default();
        for server in std::iter::once(COORDINATOR).chain(WORKERS) {
            all.add(self.usage_of(server));
        }
        all
    }

    /// What one server has used so far; nothing where it does not run.
    pub(crate) fn usage_of(&self, server: &str) -> Usage {
        self.process_id(server).map(Usage::of_family).unwrap_or_default()
    }

    /// Sends a signal to a server and all its processes.
    pub(crate) fn signal(&self, server: &str, signal: Signal) -> Outcome {
        self.processes(server)?.into_iter().for_each(|process| send(process, signal));
        Ok(())
    }

    /// Lets a server use these cores alone, with the connections that it takes from now on.
    pub(crate) fn restrict(&self, server: &str, cores: &[u32]) -> Outcome {
        let process = self.process_id(server)?.try_into()?;
        cores::restrict(Pid::from_raw(process).ok_or("no process")?, cores)
    }

    /// Kills a server, and waits until all its processes are gone: none starts while they hold its memory.
    pub(crate) async fn kill(&self, server: &str) -> Outcome {
        let mut processes = self.processes(server)?;
        while !processes.is_empty() {
            processes.iter().for_each(|process| send(*process, Signal::KILL));
            sleep(LOOK_EVERY).await;
            processes.retain(|process| test_kill_process(*process).is_ok());
        }
        Ok(())
    }

    fn processes(&self, server: &str) -> Outcome<Vec<Pid>> {
        let server = self.process_id(server)?;
        let all = std::iter::once(server).chain(meter::children(server));
        all.map(|id| Ok(Pid::from_raw(id.try_into()?).ok_or("no process")?)).collect()
    }

    /// Starts a server that was killed.
    pub(crate) fn start(&self, server: &str) -> Outcome {
        let started = Command::new(self.folder.join("start")).arg(server).output()?;
        match started.status.success() {
            true => Ok(()),
            false => Err(format!("{server}: {}", String::from_utf8_lossy(&started.stderr)).into()),
        }
    }

    fn process_id(&self, server: &str) -> Outcome<u32> {
        let told = std::fs::read_to_string(self.folder.join(server).join("postmaster.pid"))?;
        Ok(told.lines().next().ok_or("a server without a process")?.parse()?)
    }
}

/// A process that has ended meanwhile needs no signal.
fn send(process: Pid, signal: Signal) {
    let _ = kill_process(process, signal);
}
