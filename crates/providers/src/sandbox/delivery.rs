//! How an answer of the simulator is delivered: whole, delayed, broken or not at all. Over HTTP the server applies it
//! to the connection; in process the caller gets the equivalent outcome.

use std::time::Duration;

use tokio::time::sleep;

use crate::outcome::{Answer, Probe, UnknownReason};

/// An answer with its delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery<T> {
    /// It arrives whole.
    Whole(T),
    /// It starts at once; its body takes this long to arrive.
    Slowly(T, Duration),
    /// It arrives twice.
    Twice(T),
    /// Nothing arrives, and the connection stays open.
    Never,
    /// The connection breaks.
    Reset,
    /// An HTTP server error arrives instead.
    ServerError,
    /// An unreadable body arrives instead.
    Garbage,
}

impl<T> Delivery<T> {
    /// Converts the answer and keeps the delivery.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Delivery<U> {
        match self {
            Self::Whole(answer) => Delivery::Whole(make(answer)),
            Self::Slowly(answer, duration) => Delivery::Slowly(make(answer), duration),
            Self::Twice(answer) => Delivery::Twice(make(answer)),
            Self::Never => Delivery::Never,
            Self::Reset => Delivery::Reset,
            Self::ServerError => Delivery::ServerError,
            Self::Garbage => Delivery::Garbage,
        }
    }

    /// Changes the delivery of an answer that would arrive whole; other deliveries stay.
    pub(super) fn map_whole(self, otherwise: impl FnOnce(T) -> Self) -> Self {
        match self {
            Self::Whole(answer) => otherwise(answer),
            Self::Slowly(..)
            | Self::Twice(_)
            | Self::Never
            | Self::Reset
            | Self::ServerError
            | Self::Garbage => self,
        }
    }
}

/// The value that a caller gets for an answer that did not arrive.
pub(super) trait Lost {
    /// The outcome is unknown for this reason.
    fn lost(reason: UnknownReason) -> Self;
}

impl Lost for Answer {
    fn lost(reason: UnknownReason) -> Self {
        Self::Unknown(reason)
    }
}

impl Lost for Probe {
    fn lost(_: UnknownReason) -> Self {
        Self::Unknown
    }
}

/// What a caller in the same process receives. If nothing arrives, this waits until the caller's deadline cancels it.
pub(super) async fn received<T: Lost>(delivery: Delivery<T>) -> T {
    match delivery {
        Delivery::Whole(answer) | Delivery::Twice(answer) => answer,
        Delivery::Slowly(answer, duration) => {
            sleep(duration).await;
            answer
        }
        Delivery::Never => std::future::pending().await,
        Delivery::Reset => T::lost(UnknownReason::ConnectionLost),
        Delivery::ServerError => T::lost(UnknownReason::ProviderFailed),
        Delivery::Garbage => T::lost(UnknownReason::Unreadable),
    }
}
