//! What is done about the transfer of a batch. Before it is sent it is written that it may have been: whoever comes after a crash
//! asks the bank first, and sends again only what it does not have, under the same name. An answer that is not clear is no answer,
//! and is asked for again until it is. A bank may give back what it has paid.

use super::BatchStatus;
use super::batch::{Figures, Told};
use crate::words::words;

words! {
    /// Whether the bank may have been asked to transfer a batch.
    Sending {
        /// It has not.
        Unsent = "unsent",
        /// It may have: what became of it is looked up first.
        Sent = "sent",
    }
}

/// What a bank says of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The receiver has it.
    Paid,
    /// It was not made, and will not be.
    Refused {
        /// Why.
        reason: String,
    },
    /// It is under way.
    Pending,
    /// It came back, perhaps after it was paid.
    Returned {
        /// Why.
        reason: String,
    },
    /// The bank did not say.
    Unknown,
}

/// What a bank says when it is asked about a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It has it.
    Told(Answer),
    /// It has none of this name: sending it does not send it twice.
    Absent,
}

/// What is to be done about a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: the bank has decided, or there is nothing to pay.
    Rest,
    /// It is written that it may have been sent, and then it is sent.
    Begin,
    /// The bank is asked what became of it.
    Ask,
    /// It is sent under its name.
    Send,
    /// What the bank has decided is written, and why it has failed.
    Decide(Told, Option<String>),
    /// The bank is asked later.
    Wait,
}

/// What is next for the batch of a transfer; `found` is what the bank says of it, once it was asked or sent.
pub fn next(status: BatchStatus, sending: Sending, found: Option<Found>) -> Step {
    match (status, found) {
        (BatchStatus::Failed | BatchStatus::Offset, _) => Step::Rest,
        (BatchStatus::Pending, found) => match (sending, found) {
            (Sending::Unsent, None | Some(Found::Absent)) => Step::Begin,
            (Sending::Sent, None) => Step::Ask,
            (Sending::Sent, Some(Found::Absent)) => Step::Send,
            (_, Some(Found::Told(answer))) => of_answer(answer),
        },
        (BatchStatus::Paid, None) => Step::Ask,
        (BatchStatus::Paid, Some(Found::Told(answer @ (Answer::Returned { .. } | Answer::Unknown)))) => {
            of_answer(answer)
        }
        (BatchStatus::Paid, Some(Found::Told(_) | Found::Absent)) => Step::Rest,
    }
}

fn of_answer(answer: Answer) -> Step {
    match answer {
        Answer::Paid => Step::Decide(Told::Paid, None),
        Answer::Refused { reason } => Step::Decide(Told::Refused, Some(reason)),
        Answer::Returned { reason } => Step::Decide(Told::Returned, Some(reason)),
        Answer::Pending | Answer::Unknown => Step::Wait,
    }
}

/// What follows for a batch from what the bank has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// It is paid, and the bank is asked once more whether it came back.
    Paid,
    /// It has failed.
    Failed {
        /// What had been paid of it, in minor units.
        came_back: i64,
        /// How its orders are paid.
        again: Again,
    },
}

/// How the orders of a batch that has failed are paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// By another batch of the same figures: the discount of a prepayment is agreed.
    Alike,
    /// With what else is due.
    Released {
        /// A debt that it had set off and that is owed again, in minor units.
        debt: i64,
    },
}

/// What follows for a batch in `status` from what a bank says of its transfer; `None` where that changes nothing.
pub fn decided(status: BatchStatus, told: Told, figures: &Figures, is_prepaid: bool) -> Option<Decided> {
    match status.after(told)? {
        BatchStatus::Paid => Some(Decided::Paid),
        BatchStatus::Failed => Some(Decided::Failed {
            came_back: if status == BatchStatus::Paid { figures.final_balance() } else { 0 },
            again: if is_prepaid { Again::Alike } else { Again::Released { debt: figures.balance } },
        }),
        BatchStatus::Pending | BatchStatus::Offset => None,
    }
}
