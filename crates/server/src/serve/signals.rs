//! Handles the signals that stop the process.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that stop this process, from the moment they were taken.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Takes the signals, so that none of them ends the process by itself.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn take() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Takes the signals of a service. SIGHUP does not end it: it reloads certificates, or does nothing without any.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn take_for_service() -> io::Result<Self> {
        // A signal handler, once installed, stays for the life of the process.
        drop(signal(SignalKind::hangup())?);
        Self::take()
    }

    /// Waits for the next signal and returns its name.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
