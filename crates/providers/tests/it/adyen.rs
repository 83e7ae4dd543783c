//! Stories about the adapter of `ADYEN`: what it sends, what it understands, and what it does when no answer comes.

mod answers;
mod calls;
mod faults;
mod judged;
mod notifications;
mod proofs;
mod requests;
mod upstream;
