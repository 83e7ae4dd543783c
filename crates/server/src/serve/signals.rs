//! Signals to stop.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals of this process that ask it to stop, from the moment they were taken.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

impl Signals {
    /// Takes the signals: from now on none of them ends the process by itself.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn take() -> io::Result<Self> {
        #[cfg(unix)]
        return Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        });
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next one, and answers its name.
    pub async fn next(&mut self) -> &'static str {
        #[cfg(unix)]
        return tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        };
        #[cfg(not(unix))]
        {
            let _ended = tokio::signal::ctrl_c().await;
            "Ctrl+C"
        }
    }
}
