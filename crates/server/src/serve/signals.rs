//! Signals to stop.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals of this process that ask it to stop, from the moment they were taken.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Takes the signals: from now on none of them ends the process by itself.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn take() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The signals of a service, which SIGHUP does not end: it means that certificates are to be read again, and means
    /// nothing where there are none.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn take_for_service() -> io::Result<Self> {
        // Taking a signal once keeps it from ending the process for ever.
        drop(signal(SignalKind::hangup())?);
        Self::take()
    }

    /// Waits for the next one, and answers its name.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
