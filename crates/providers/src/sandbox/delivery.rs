//! How an answer of the simulator travels: usually whole, sometimes not at all. Over HTTP the server does it to the
//! connection; in process it is what a caller would have seen.

use std::time::Duration;

use tokio::time::sleep;

use crate::outcome::{Answer, Probe, UnknownReason};

/// An answer on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery<T> {
    /// It arrives.
    Whole(T),
    /// It begins at once and takes this long to arrive.
    Slowly(T, Duration),
    /// It arrives, and then again.
    Twice(T),
    /// Nothing arrives, and the connection stays open.
    Never,
    /// The connection breaks.
    Reset,
    /// An error of the provider's server arrives in its place.
    ServerError,
    /// Something arrives that cannot be read.
    Garbage,
}

impl<T> Delivery<T> {
    /// The same way, for what an answer is made into.
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

    /// Lets an answer that would arrive whole travel otherwise; what would not arrive still does not.
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

/// What a caller makes of an answer that did not arrive.
pub(super) trait Lost {
    /// The word for it.
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

/// What a caller in the same process sees. Where nothing arrives he waits for ever: his deadline ends it.
pub(super) async fn received<T: Lost>(delivery: Delivery<T>) -> T {
    match delivery {
        Delivery::Whole(answer) | Delivery::Twice(answer) => answer,
        Delivery::Slowly(answer, duration) => {
            sleep(duration).await;
            answer
        }
        Delivery::Never => std::future::pending().await,
        Delivery::Reset => T::lost(UnknownReason::ConnectionLost),
        Delivery::ServerError | Delivery::Garbage => T::lost(UnknownReason::ProviderFailed),
    }
}
