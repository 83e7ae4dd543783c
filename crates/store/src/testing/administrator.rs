//! Runs statements of a superuser on one server.

use std::sync::OnceLock;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio_postgres::{Client, NoTls};

/// One connection for all tests of a process. Each test has a runtime of its own, with which a connection would end; so a thread has
/// it. A new connection for each statement costs more than most statements.
#[derive(Debug)]
pub(super) struct Administrator {
    url: String,
    statements: OnceLock<UnboundedSender<Administered>>,
}

/// Statements to run one after the other, and whom to tell what came of them.
type Administered = (Vec<String>, oneshot::Sender<Result<(), tokio_postgres::Error>>);

impl Administrator {
    /// Connects to the database at `url` once there is something to run.
    pub(super) const fn at(url: String) -> Self {
        Self { url, statements: OnceLock::new() }
    }

    /// Runs the statements one after the other, also those behind one that fails.
    ///
    /// # Panics
    /// When one of them fails.
    pub(super) async fn run(&self, statements: Vec<String>) {
        self.attempt(statements).await.expect("the test server obeys");
    }

    /// The same, where one of them may fail.
    pub(super) async fn attempt(&self, statements: Vec<String>) -> Result<(), tokio_postgres::Error> {
        let to_thread = self.statements.get_or_init(|| {
            let (sender, statements) = unbounded_channel();
            let url = self.url.clone();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(administrate(&url, statements));
            });
            sender
        });
        let (done, is_done) = oneshot::channel();
        to_thread.send((statements, done)).expect("the thread runs");
        is_done.await.expect("the thread answers")
    }
}

/// Runs statements on one connection, and on a new one after the server was stopped.
async fn administrate(url: &str, mut statements: UnboundedReceiver<Administered>) {
    let mut client = None;
    while let Some((statements, done)) = statements.recv().await {
        let usable = client.take().filter(|client: &Client| !client.is_closed());
        let connection = match usable {
            Some(connection) => connection,
            None => connected(url).await,
        };
        let mut ran = Ok(());
        for statement in statements {
            ran = ran.and(connection.batch_execute(&statement).await);
        }
        client = Some(connection);
        // Who has asked may be gone.
        let _ = done.send(ran);
    }
}

/// A connection that ends with its client.
pub(super) async fn connected(url: &str) -> Client {
    let connected = tokio_postgres::connect(url, NoTls).await;
    let (client, connection) = connected.expect("the test server answers");
    tokio::spawn(connection);
    client
}
