//! What access, configuration and every resource of the interface stand on: errors and their answers, headers, limits.
//! Nothing here knows a route or a setting.

pub mod bodies;
pub mod business_code;
pub mod card_testing;
pub mod dashboard;
pub mod error;
pub mod fields_origin;
pub mod files;
pub mod headers;
pub mod html;
pub mod limits;
pub mod peer;
pub mod rates;
pub mod streams;
pub mod words;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;

/// The result of every route.
pub type Answered = Result<Response, Infallible>;

/// A monotonic clock of the machine: the time since any fixed moment. Never business time.
pub type MonotonicClock = Arc<dyn Fn() -> Duration + Send + Sync>;
