//! The simulator over HTTP: what is said on the wire, and the side that asks. The side that answers is the server's
//! `regente sandbox-provider`, since it alone knows how to listen.
//!
//! Card numbers travel in the clear, so this is for test cards, on a machine or a network of one's own.

mod client;
mod views;
mod wire;

pub use client::{RemoteError, RemoteOptions, RemoteSandbox, address};
pub use views::{
    CardView, ENTRIES_LIMIT_MAX, EntryPage, EntryView, HOLDINGS_LIMIT_MAX, HoldingPage, HoldingView, Outcome,
    TotalView,
};
pub use wire::{
    AnswerMessage, CallMessage, ErrorMessage, InquiryMessage, MessageError, PROTOCOL, ProbeMessage,
};
