//! The bank of the sandbox. The last digit of the account number says what becomes of a transfer: 0 to 5 are paid, 6 is paid and
//! not answered, 7 is refused, 8 is answered a day later, 9 is paid and comes back a day later. It has its transfers in memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use regente_domain::id::PaymentBatchId;
use regente_domain::time::Timestamp;

use super::{Answer, Bank, Found, Transfer};

/// How long what is late takes.
const LATE: Duration = Duration::from_secs(24 * 60 * 60);
const NO_SUCH_ACCOUNT: &str = "the account does not exist";
const CAME_BACK: &str = "the account is closed";

/// The simulator of a bank.
#[derive(Debug, Default)]
pub struct SimulatedBank {
    taken: Mutex<HashMap<PaymentBatchId, Taken>>,
}

/// A transfer that it has.
#[derive(Clone, Debug)]
struct Taken {
    transfer: Transfer,
    /// How often it was sent.
    sent: usize,
}

impl SimulatedBank {
    /// Every transfer that it has, with how often it was sent.
    pub fn transfers(&self) -> Vec<(Transfer, usize)> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.values().map(|taken| (taken.transfer.clone(), taken.sent)).collect()
    }

    /// Takes a transfer, once; whether it is new, and what became of it by this time.
    fn take(&self, transfer: &Transfer) -> (bool, Answer) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let known = taken.entry(transfer.id).or_insert_with(|| Taken { transfer: transfer.clone(), sent: 0 });
        known.sent += 1;
        (known.sent == 1, became_of(&known.transfer, transfer.at))
    }
}

impl Bank for SimulatedBank {
    fn send<'a>(&'a self, transfer: &'a Transfer) -> BoxFuture<'a, Answer> {
        let (is_new, answer) = self.take(transfer);
        let is_silent = is_new && last_digit(transfer) == Some('6');
        async move { if is_silent { Answer::Unknown } else { answer } }.boxed()
    }

    fn find(&self, id: PaymentBatchId, at: Timestamp) -> BoxFuture<'_, Found> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let found = taken.get(&id).map_or(Found::Absent, |known| Found::Told(became_of(&known.transfer, at)));
        async move { found }.boxed()
    }
}

fn last_digit(transfer: &Transfer) -> Option<char> {
    transfer.to.account_number.as_str().chars().rfind(char::is_ascii_digit)
}

fn became_of(transfer: &Transfer, at: Timestamp) -> Answer {
    let is_late = at >= transfer.at + LATE;
    match (last_digit(transfer), is_late) {
        (Some('7'), _) => Answer::Refused { reason: NO_SUCH_ACCOUNT.to_owned() },
        (Some('8'), false) => Answer::Pending,
        (Some('9'), true) => Answer::Returned { reason: CAME_BACK.to_owned() },
        (Some(_) | None, _) => Answer::Paid,
    }
}
