//! What an interface has a say in while a charge is made. The engine knows no browser, no address and no rate of a caller.

use regente_domain::card::record::Card;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::session::Session;

use crate::error::Error;

/// Hears of a charge that has tried a card, with its requests so far.
pub type CardTriedObserver = Box<dyn FnOnce(&[TransactionRequest]) + Send>;

/// Lets a charge through, or not.
pub trait Guard: Send + Sync {
    /// Why not, beside the errors of the engine.
    type Error: From<Error> + Send;

    /// Whether whoever has placed the order may pay this session. Asked once the session takes the payment.
    fn lets_pay(&self, session: &Session) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Whether the charge may try this card. Asked once nothing else can be refused, before anything is written. Answers who
    /// wants to hear what became of it.
    fn lets_try(&self, card: &Card) -> Result<Option<CardTriedObserver>, Self::Error>;
}

/// Lets everything through: whoever places the order is not outside.
#[derive(Clone, Copy, Debug)]
pub struct Unguarded;

impl Guard for Unguarded {
    type Error = Error;

    async fn lets_pay(&self, _session: &Session) -> Result<(), Error> {
        Ok(())
    }

    fn lets_try(&self, _card: &Card) -> Result<Option<CardTriedObserver>, Error> {
        Ok(None)
    }
}
