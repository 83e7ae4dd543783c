//! The bank that transfers what receivers are paid, behind one trait. A transfer has a name of its own, that of its batch: sent
//! again under the same name it is the same transfer. What is not certain is no answer, and is asked about again.

mod simulator;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use regente_domain::currency::Currency;
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::money::Amount;
use regente_domain::seller::data::BankAccount;
use regente_domain::time::Timestamp;

pub use regente_domain::payout::transfer::{Answer, Found};
pub use simulator::SimulatedBank;

/// The bank of a deployment.
pub type SharedBank = Arc<dyn Bank>;

/// A transfer to a receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The account that pays.
    pub client_id: ClientId,
    /// Its name, the same however often it is sent.
    pub id: PaymentBatchId,
    /// How much.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// To whom.
    pub to: BankAccount,
    /// The account's time.
    pub at: Timestamp,
}

/// A bank.
pub trait Bank: Send + Sync {
    /// Sends a transfer. One that the bank has already is answered with what became of it.
    fn send<'a>(&'a self, transfer: &'a Transfer) -> BoxFuture<'a, Answer>;

    /// Asks what became of a transfer of an account, at the account's time.
    fn find(&self, client_id: ClientId, id: PaymentBatchId, at: Timestamp) -> BoxFuture<'_, Found>;
}
