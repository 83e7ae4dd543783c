//! The bank of a deployment: the simulator, with the fuse around it.

use futures_util::future::BoxFuture;
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::time::Timestamp;
use regente_engine::bank::{Answer, Bank, Found, SimulatedBank, Transfer};
use regente_store::testing::Fuse;

/// The simulator of a bank, with a step before and after each question.
pub struct FusedBank {
    pub bank: SimulatedBank,
    pub fuse: Fuse,
}

impl Bank for FusedBank {
    fn send<'a>(&'a self, transfer: &'a Transfer) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            self.fuse.step().await;
            let answer = self.bank.send(transfer).await;
            self.fuse.step().await;
            answer
        })
    }

    fn find(&self, client_id: ClientId, id: PaymentBatchId, at: Timestamp) -> BoxFuture<'_, Found> {
        Box::pin(async move {
            self.fuse.step().await;
            let found = self.bank.find(client_id, id, at).await;
            self.fuse.step().await;
            found
        })
    }
}
