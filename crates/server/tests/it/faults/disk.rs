//! A full disk and a read-only file, on a small disk of the test's own.
//!
//! Mounting it needs root. For another user each story runs in a process of its own, in a user namespace where that user
//! is root (`user_namespaces(7)`). Where the system allows no such namespaces, the runner's output says which stories
//! were skipped.

use std::ffi::CStr;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use axum::http::Method;
use regente_engine::settings::Settings;
use regente_providers::sandbox::TransactionLog;
use regente_store::testing::{TestDatabase, run_script};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};
use rustix::process::geteuid;
use serde_json::json;
use tempfile::TempDir;

use super::{LOOKS_MAX, PAUSE, assert_agrees, charge, settled, until_charged};
use crate::support::app::TestApp;
use crate::support::bodies::{APPROVED, Charge};
use crate::support::client::{assert_unavailable, request};
use crate::support::server::{regente, run, run_on};

/// Enough for a database and its log, and soon full.
const DISK_BYTES: &CStr = c"size=8m";
/// Longer than the test locks the simulator's transaction log.
const PATIENT_DEADLINE: Duration = Duration::from_secs(30);

/// A small disk in memory, removed on drop.
struct Disk(TempDir);

impl Disk {
    fn mount() -> Self {
        let folder = tempfile::tempdir().unwrap();
        mount("tmpfs", folder.path(), "tmpfs", MountFlags::empty(), DISK_BYTES)
            .expect("root mounts a disk here: give the tests CAP_SYS_ADMIN");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the disk to the last page.
    fn fill(&self) {
        let mut filler = std::fs::OpenOptions::new().create(true).append(true).open(self.filler()).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
    }

    fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> std::path::PathBuf {
        self.path().join("filler")
    }

    fn remount(&self, flags: MountFlags) {
        mount_remount(self.path(), flags, c"").unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = unmount(self.path(), UnmountFlags::DETACH);
    }
}

/// Runs each story as root.
macro_rules! stories_on_a_disk {
    ($($name:ident),* $(,)?) => {
        mod on_a_disk {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if super::is_root() {
                    super::$name(super::Disk::mount()).await;
                } else {
                    super::run_in_a_namespace(concat!(module_path!(), "::", stringify!($name)));
                }
            })*
        }
    };
}

stories_on_a_disk! {
    a_full_disk_refuses_charges_and_loses_none,
    what_the_provider_took_while_the_disk_was_full_is_written_afterwards,
    a_disk_that_is_read_only_at_the_start_is_named,
    a_backup_that_finds_no_room_leaves_nothing_behind,
}

fn is_root() -> bool {
    geteuid().is_root()
}

/// Makes the user root in a user namespace, where mounts are its own.
const NAMESPACE: [&str; 4] = ["--user", "--map-root-user", "--mount", "--"];

/// Runs this story again in a namespace.
fn run_in_a_namespace(path: &str) {
    let (_, story) = path.split_once("::").unwrap();
    let probe = Command::new("unshare").args(NAMESPACE).arg("true").output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        // Past `println!`, which the runner shows of failed tests alone.
        let line = format!("SKIPPED {story}: it needs root, or `unshare` and user namespaces\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        return;
    }
    let program = std::env::current_exe().unwrap();
    let ran = Command::new("unshare").args(NAMESPACE).arg(program).args(["--exact", story]).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && told.contains("1 passed"), "{told}");
}

/// An application whose database is on the disk, and the simulator's transaction log elsewhere.
async fn app_on(disk: &Disk) -> TestApp {
    let folder = tempfile::tempdir_in(disk.path()).unwrap();
    TestApp::on(TestDatabase::Sqlite(folder), Settings::default()).await
}

async fn a_full_disk_refuses_charges_and_loses_none(disk: Disk) {
    let app = app_on(&disk).await;
    let merchant = app.merchant().await;
    let before = charge(&app, &merchant, "before").await.expect(201);

    disk.fill();
    for number in 0..3 {
        assert_unavailable(&charge(&app, &merchant, &format!("full-{number}")).await);
    }
    let id = before["id"].as_str().unwrap();
    assert_eq!(app.get(&format!("/v1/charges/{id}")).await.expect(200), before, "reads go on");
    assert_eq!(app.get("/health/ready").await.expect(503)["failing"], json!(["database"]));

    disk.free();
    let after = until_charged(&app, &merchant, "after").await;
    // A refused key can be used again.
    charge(&app, &merchant, "full-0").await.expect(201);
    let charges = settled(&app).await;
    assert_eq!(charges.keys().collect::<Vec<_>>(), [&after, "before", "full-0"]);
    assert_agrees(&app.books, &charges).await;
}

async fn what_the_provider_took_while_the_disk_was_full_is_written_afterwards(disk: Disk) {
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("books.db");
    let app = app_on(&disk).await.with_sandbox_deadline(PATIENT_DEADLINE).await;
    let app = app.with_books(TransactionLog::file(&file).unwrap()).await;
    let merchant = app.merchant().await;

    // The simulator waits for its locked log, so the call stays under way as long as the test wants.
    let books = rusqlite::Connection::open(&file).unwrap();
    books.execute_batch("BEGIN IMMEDIATE").unwrap();
    let body = Charge::by_card(&merchant, APPROVED).with("orderId", "under way").body();
    let under_way = app.begin(request(
        &app.client,
        Method::POST,
        "/v1/charges",
        &[("X-Idempotency-Key", "under way")],
        Some(&body),
    ));
    let mut looks = 0;
    while app.app.in_flight.is_empty() {
        looks += 1;
        assert!(looks < LOOKS_MAX, "no call is under way");
        tokio::time::sleep(PAUSE).await;
    }
    disk.fill();
    books.execute_batch("ROLLBACK").unwrap();
    assert_eq!(under_way.await.unwrap().expect(201)["status"], "pending", "nothing is guessed");
    assert_eq!(app.books.effects().await.unwrap(), 1, "the provider took it");

    disk.free();
    until_charged(&app, &merchant, "after").await;
    let charges = settled(&app).await;
    assert_eq!(charges["under way"]["status"], "authorized");
    assert_agrees(&app.books, &charges).await;
    let again = charge(&app, &merchant, "under way").await.expect(201);
    assert_eq!(again, charges["under way"], "the same key leads to what became of it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_becomes_read_only_refuses_charges_until_it_can_be_written_again() {
    let app = TestApp::sqlite().await;
    let merchant = app.merchant().await;
    let before = charge(&app, &merchant, "before").await.expect(201);
    // The same error as on a file system that was remounted read-only.
    run_script(&app.app.store, "PRAGMA query_only = ON").await.unwrap();
    assert_unavailable(&charge(&app, &merchant, "read-only").await);
    let id = before["id"].as_str().unwrap();
    app.get(&format!("/v1/charges/{id}")).await.expect(200);
    app.get("/health/ready").await.expect(503);
    run_script(&app.app.store, "PRAGMA query_only = OFF").await.unwrap();
    charge(&app, &merchant, "read-only").await.expect(201);
    let charges = settled(&app).await;
    assert_eq!(charges.len(), 2);
    assert_agrees(&app.books, &charges).await;
}

async fn a_disk_that_is_read_only_at_the_start_is_named(disk: Disk) {
    let folder = disk.path().join("data");
    std::fs::create_dir(&folder).unwrap();
    run(regente(&["vault", "new-kek"]).arg(folder.join("kek"))).await.text();
    run_on(&folder, &["migrate"]).await.text();
    disk.remount(MountFlags::BIND | MountFlags::RDONLY);
    let refused = run_on(&folder, &["serve", "--listen", "127.0.0.1:0"]).await;
    assert!(refused.complaint().contains("Read-only file system"), "{}", refused.stderr);
    let refused = run_on(&folder, &["backup", folder.join("backup.db").to_str().unwrap()]).await;
    assert!(refused.complaint().contains("Read-only file system"), "{}", refused.stderr);
    disk.remount(MountFlags::BIND);
    assert!(run_on(&folder, &["clients", "list"]).await.status.success());
    let found = run_on(&folder, &["doctor"]).await;
    assert!(
        found.stdout.contains("FAILURE  disk") && found.stdout.contains("less than 100 MiB"),
        "{}",
        found.stdout
    );
}

async fn a_backup_that_finds_no_room_leaves_nothing_behind(disk: Disk) {
    let folder = tempfile::tempdir().unwrap();
    run(regente(&["vault", "new-kek"]).arg(folder.path().join("kek"))).await.text();
    run_on(folder.path(), &["migrate"]).await.text();
    disk.fill();
    let file = disk.path().join("backup.db");
    let refused = run_on(folder.path(), &["backup", file.to_str().unwrap()]).await;
    assert!(
        refused.complaint().contains("full") || refused.complaint().contains("No space"),
        "{}",
        refused.stderr
    );
    let left: Vec<_> =
        std::fs::read_dir(disk.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["filler"]);
    run_on(folder.path(), &["doctor"]).await.text();
}
