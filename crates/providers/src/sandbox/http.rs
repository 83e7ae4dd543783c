//! The simulator over HTTP: its messages and its client. The server is in `regente sandbox-provider`.
//!
//! Card numbers are sent in the clear: use test cards only, on one machine or a private network.

mod client;
mod views;
mod wire;

pub use client::{RemoteError, RemoteOptions, RemoteSandbox, address};
pub use views::{
    CardView, ENTRIES_LIMIT_MAX, EntryOutcome, EntryPage, EntryView, HOLDINGS_LIMIT_MAX, HoldingPage,
    HoldingView, TotalView,
};
pub use wire::{
    AnswerMessage, AssessedMessage, CallMessage, CardholderAnswerMessage, CardholderMessage, ErrorMessage,
    InquiryMessage, MessageError, PROTOCOL, ProbeMessage, RiskMessage, SellerAnswerMessage, SellerMessage,
    StagedAnswer, StagedMessage,
};
