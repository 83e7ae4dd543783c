//! The simulator's transaction log in a file that can be lost.

use regente_providers::sandbox::TransactionLog;
use tempfile::TempDir;

/// A transaction log in a file that a test takes from the simulator and gives back.
pub struct FileBooks {
    pub books: TransactionLog,
    folder: TempDir,
}

impl FileBooks {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let books = TransactionLog::file(&folder.path().join("books.db")).unwrap();
        Self { books, folder }
    }

    /// Takes the log away: the simulator can neither record nor look up a call.
    pub fn lose(&self) {
        drop(self.execute("ALTER TABLE entries RENAME TO entries_away"));
    }

    /// Gives the log back unchanged.
    pub fn find(&self) {
        drop(self.execute("ALTER TABLE entries_away RENAME TO entries"));
    }

    /// Locks the log: the simulator cannot record a call until the result is dropped.
    pub fn occupy(&self) -> rusqlite::Connection {
        self.execute("BEGIN IMMEDIATE")
    }

    fn execute(&self, statement: &str) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.folder.path().join("books.db")).unwrap();
        connection.execute_batch(statement).unwrap();
        connection
    }
}
