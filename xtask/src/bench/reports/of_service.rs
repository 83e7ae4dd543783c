//! Reports that a service makes, undisturbed and killed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::content::Content;
use super::{Filled, Made};
use crate::Outcome;
use crate::bench::meter::Watch;
use crate::place::Place;
use crate::service::Service;

/// How often a service is killed while it makes a report: after each third of the files, in the midst of the next one.
pub(super) const KILLS: u64 = 2;
/// Interval between looks at a report and its files.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Rows of one file (`docs/interface/reports.md`).
const ROWS_PER_FILE: u64 = 50_000;

pub(super) async fn undisturbed(
    service: &Service,
    place: &Place,
    filled: &Filled,
    report_type: &str,
) -> Outcome<Made> {
    println!("reports: {report_type}, by a service");
    Asked::new(service, place, filled, report_type).await?.made(service, filled).await
}

/// Kills the service and starts it again, [`KILLS`] times.
pub(super) async fn killed(
    service: &mut Service,
    place: &Place,
    filled: &Filled,
    report_type: &str,
) -> Outcome<Made> {
    println!("reports: {report_type}, by a service that is killed {KILLS} times");
    let mut asked = Asked::new(service, place, filled, report_type).await?;
    let files = filled.charges.div_ceil(ROWS_PER_FILE);
    let mut seen = HashSet::new();
    for kill in 1..=KILLS {
        let watch = Watch::begin(service.process_id());
        let whole = files * kill / (KILLS + 1);
        while !asked.is_at(usize::try_from(whole)?, &seen) {
            tokio::time::sleep(LOOK_EVERY).await;
            if asked.status(service, filled).await? == "uploaded" {
                return Err("the report was done before its service was killed".into());
            }
        }
        service.kill()?;
        asked.own_mib = asked.own_mib.max(watch.end().own_mib);
        seen.extend(drafts(&asked.folder));
        println!("reports: killed with {} files", whole_files(&asked.folder));
        service.start_again()?;
        // Until the client has seen that its connections are those of the dead process.
        tokio::time::sleep(LOOK_EVERY).await;
    }
    asked.made(service, filled).await
}

/// A report that is being made.
struct Asked {
    id: String,
    /// Of its files.
    folder: PathBuf,
    begun: Instant,
    own_mib: f64,
}

impl Asked {
    /// Asks for a report, and waits until it is begun.
    #[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
    async fn new(service: &Service, place: &Place, filled: &Filled, report_type: &str) -> Outcome<Self> {
        let body = json!({
            "sendTo": "user@example.com", "type": report_type, "fields": "all",
            "filters": { "transactionCreatedAt": { "gte": filled.from, "lte": filled.to } },
        });
        let report = service.post(&filled.account, "/v1/reports", &body).await?;
        let id = report["id"].as_str().ok_or("no id of the report")?.to_owned();
        let folder = place.folder().join("reports").join(&filled.account.client_id).join(&id);
        let mut asked = Self { id, folder, begun: Instant::now(), own_mib: 0.0 };
        while asked.status(service, filled).await? == "pending" {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        asked.begun = Instant::now();
        Ok(asked)
    }

    async fn status(&self, service: &Service, filled: &Filled) -> Outcome<String> {
        let report = self.read(service, filled).await?;
        Ok(report["status"].as_str().unwrap_or_default().to_owned())
    }

    async fn read(&self, service: &Service, filled: &Filled) -> Outcome<Value> {
        service.get(&filled.account, &format!("/v1/reports/{}", self.id)).await
    }

    /// Whether so many files are whole, and another one is being written: none of those seen before.
    fn is_at(&self, whole: usize, seen: &HashSet<PathBuf>) -> bool {
        let is_written = |draft: &PathBuf| std::fs::metadata(draft).is_ok_and(|file| file.len() > 0);
        whole_files(&self.folder) >= whole
            && drafts(&self.folder).any(|draft| !seen.contains(&draft) && is_written(&draft))
    }

    /// Waits until it is made, and fetches its files.
    async fn made(self, service: &Service, filled: &Filled) -> Outcome<Made> {
        let watch = Watch::begin(service.process_id());
        while self.status(service, filled).await? == "processing" {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let (seconds, own_mib) = (self.begun.elapsed().as_secs_f64(), watch.end().own_mib);
        let report = self.read(service, filled).await?;
        if report["status"] != "uploaded" {
            return Err(format!("the report is {}", report["status"]).into());
        }
        let mut content = Content::default();
        for number in 1..=report["pagesCount"].as_u64().unwrap_or_default() {
            let path = format!("/v1/reports/{}/files/{number}", self.id);
            content.add(service.bytes(&filled.account, &path).await?.as_slice())?;
        }
        // Those of the next report need room.
        std::fs::remove_dir_all(&self.folder)?;
        Ok(Made { seconds, own_mib: own_mib.max(self.own_mib), content })
    }
}

fn whole_files(folder: &Path) -> usize {
    files(folder).filter(|file| file.extension().is_none()).count()
}

fn drafts(folder: &Path) -> impl Iterator<Item = PathBuf> {
    files(folder).filter(|file| file.extension().is_some())
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}
