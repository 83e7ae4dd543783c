//! What a payer or a bank does at the simulator without a call: it pays instructions, in time, late, twice or with another
//! amount, or reports the result of a refund. Each is an entry of the transaction log.

use regente_domain::boleto::IssuedBoleto;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::local_day;
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::draws::Draws;
use super::rules::network_says;
use super::transaction_log::Recorded;
use super::{Answered, Deed, Entry, Sandbox, TransactionLogError};
use crate::outcome::{Approval, Finding, Instructions, Payment, Pending};
use crate::staged::{StageRefusal, Staged, StagedEvent};

/// Namespace of the keys of what happens without a call.
const KEYS: Uuid = Uuid::from_u128(0x2f0a_61c8_55d1_4b7e_9a51_0c7d_3e9b_64f2);
/// Characters of an end-to-end id, the id of one Pix payment.
const END_TO_END_ID_CHARS: usize = 32;

impl Sandbox {
    /// Makes happen what a tester stages, and notifies whoever made the call.
    ///
    /// # Errors
    /// What [`StageRefusal`] says.
    pub async fn stage(&self, event: StagedEvent) -> Result<(), StageRefusal> {
        self.enact(event).await?;
        self.notify_of(event.key).await;
        Ok(())
    }

    async fn enact(&self, event: StagedEvent) -> Result<(), StageRefusal> {
        let StagedEvent { key, at, what } = event;
        match what {
            Staged::Payment { amount } => self.pay(key, amount, at).await.map(drop),
            Staged::FurtherPayment { amount } => self.pay_again(key, amount, at).await.map(drop),
            Staged::Withdrawal => self.withdraw(key, at).await,
            Staged::Reversal => self.reverse(key, at).await,
            Staged::Refund => {
                let done = Draws::new(self.seed, None, key).approval();
                self.report_void(key, at, Finding::Approved(done)).await
            }
            Staged::RefundRefusal => {
                let refused = Decline::of(DeclinedCode::Generic);
                let refused = Decline { retryable: false, ..network_says(refused, "sandbox refund refused") };
                self.report_void(key, at, Finding::Declined(refused)).await
            }
        }
    }

    /// The payer of the authorization with this key pays: `amount`, or what was asked of him. Whoever has paid does not pay
    /// once more.
    ///
    /// # Errors
    /// What [`StageRefusal`] says.
    pub async fn pay(
        &self,
        key: Uuid,
        amount: Option<Amount>,
        at: Timestamp,
    ) -> Result<Payment, StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        match payments(&history).into_iter().next() {
            Some(paid) => Ok(paid),
            None => self.pay_as(0, key, &history, amount, at).await,
        }
    }

    /// The payer pays, whether he has paid before or not.
    ///
    /// # Errors
    /// What [`StageRefusal`] says.
    pub async fn pay_again(
        &self,
        key: Uuid,
        amount: Option<Amount>,
        at: Timestamp,
    ) -> Result<Payment, StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        self.pay_as(payments(&history).len(), key, &history, amount, at).await
    }

    /// Enters the payment with this place among those of the authorization, from 0.
    async fn pay_as(
        &self,
        place: usize,
        key: Uuid,
        history: &[Entry],
        amount: Option<Amount>,
        at: Timestamp,
    ) -> Result<Payment, StageRefusal> {
        let asked = instructed(history, key).ok_or(StageRefusal::NothingWaits)?;
        let amount = amount.unwrap_or_else(|| owed(asked, at));
        let payment_key = payment_key(key, place);
        let mut id = Draws::new(self.seed, None, payment_key).letters_and_digits("end-to-end id");
        id.truncate(END_TO_END_ID_CHARS - 1);
        let reference = Approval { transaction_id: Some(format!("E{id}")), ..Approval::default() };
        let deed = Deed::Payment { authorization_key: key };
        let finding = Finding::Approved(reference.clone());
        self.enter(payment_key, at, Answered { deed, amount, currency: asked.currency, finding }).await?;
        Ok(Payment { reference, amount, reversal: None })
    }

    async fn withdraw(&self, key: Uuid, at: Timestamp) -> Result<(), StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        let asked = instructed(&history, key).filter(|_| payments(&history).is_empty());
        let asked = asked.ok_or(StageRefusal::NothingWaits)?;
        let refused = network_says(Decline::of(DeclinedCode::Generic), "sandbox withdrawn");
        let finding = Finding::Declined(Decline { retryable: false, ..refused });
        let (amount, currency) = (asked.amount, asked.currency);
        let deed = Deed::Withdrawal { authorization_key: key };
        self.enter(derived(key, "withdrawal"), at, Answered { deed, amount, currency, finding })
            .await
            .map(drop)
    }

    /// The payer's bank takes back the first payment of a boleto.
    async fn reverse(&self, key: Uuid, at: Timestamp) -> Result<(), StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        let asked = instructed(&history, key).filter(|asked| boleto(asked).is_some());
        let paid = payments(&history).into_iter().next();
        let (Some(asked), Some(Payment { amount, .. })) = (asked, paid) else {
            return Err(StageRefusal::NothingWaits);
        };
        let reversal_key = reversal_key(payment_key(key, 0));
        let finding = Finding::Approved(Draws::new(self.seed, None, reversal_key).approval());
        let deed = Deed::Reversal { authorization_key: key };
        let answered = Answered { deed, amount, currency: asked.currency, finding };
        match self.enter(reversal_key, at, answered).await? {
            Finding::Approved(_) => Ok(()),
            // It was given back: nothing is left to take.
            Finding::Declined(_) | Finding::Pending(_) | Finding::Paid(_) | Finding::Accepted(_) => {
                Err(StageRefusal::NothingWaits)
            }
        }
    }

    /// Reports the result of an accepted void.
    async fn report_void(&self, key: Uuid, at: Timestamp, finding: Finding) -> Result<(), StageRefusal> {
        let found = self.log.find(key).await.map_err(unanswered)?;
        let answered = found.as_ref().and_then(Entry::answered);
        let accepted = answered.filter(|answered| matches!(answered.finding, Finding::Accepted(_)));
        let Some((void, authorization_key)) =
            accepted.and_then(|void| Some((void, void.deed.authorization_key()?)))
        else {
            return Err(StageRefusal::NothingWaits);
        };
        let (amount, currency) = (void.amount, void.currency);
        let deed = Deed::VoidResult { authorization_key };
        self.enter(result_key(key), at, Answered { deed, amount, currency, finding }).await.map(drop)
    }

    /// Writes the entry of a key, unless there is one, and returns what the log has.
    async fn enter(&self, key: Uuid, at: Timestamp, answered: Answered) -> Result<Finding, StageRefusal> {
        match self.log.record(key, at, answered).await.map_err(unanswered)? {
            Recorded::Answered(finding) => Ok(finding),
            Recorded::ProbedBefore => Err(StageRefusal::NothingWaits),
        }
    }

    /// The outcome of a call as it is now. `finding` is what the call was answered with.
    pub(super) async fn current(&self, key: Uuid, finding: Finding) -> Result<Finding, TransactionLogError> {
        match finding {
            Finding::Pending(_) => {
                let history = self.log.history(key).await?;
                let payments = payments(&history);
                if !payments.is_empty() {
                    return Ok(Finding::Paid(payments));
                }
                let withdrawn = history.iter().filter_map(Entry::answered).find_map(|answered| {
                    matches!(answered.deed, Deed::Withdrawal { .. }).then(|| answered.finding.clone())
                });
                Ok(withdrawn.unwrap_or(finding))
            }
            Finding::Accepted(_) => {
                let result = self.log.find(result_key(key)).await?;
                let result =
                    result.as_ref().and_then(Entry::answered).map(|answered| answered.finding.clone());
                Ok(result.unwrap_or(finding))
            }
            Finding::Approved(_) | Finding::Declined(_) | Finding::Paid(_) => Ok(finding),
        }
    }
}

/// The authorization that has given a payer instructions.
fn instructed(history: &[Entry], key: Uuid) -> Option<&Answered> {
    let own = history.iter().find(|entry| entry.key == key)?;
    own.answered().filter(|answered| matches!(answered.finding, Finding::Pending(_)))
}

fn payments(history: &[Entry]) -> Vec<Payment> {
    let approved = |entry: &Entry| match entry.answered().map(|answered| &answered.finding) {
        Some(Finding::Approved(reference)) => Some(reference.clone()),
        Some(Finding::Declined(_) | Finding::Pending(_) | Finding::Paid(_) | Finding::Accepted(_)) | None => {
            None
        }
    };
    let reversal_of = |payment: &Entry| {
        let key = reversal_key(payment.key);
        history.iter().find(|entry| entry.key == key).and_then(approved)
    };
    let paid = |entry: &Entry| {
        let payment = entry.answered().filter(|answered| matches!(answered.deed, Deed::Payment { .. }))?;
        let (reference, amount) = (approved(entry)?, payment.amount);
        Some(Payment { reference, amount, reversal: reversal_of(entry) })
    };
    history.iter().filter_map(paid).collect()
}

/// What the payer has to pay on the day of this time: for a boleto with interest and fine.
fn owed(asked: &Answered, at: Timestamp) -> Amount {
    let owed = boleto(asked)
        .and_then(|boleto| boleto.late_charges.owed(asked.amount, boleto.due, local_day::day_of(at)));
    owed.map_or(asked.amount, |owed| owed.total)
}

/// The boleto that an authorization has given the payer.
fn boleto(asked: &Answered) -> Option<&IssuedBoleto> {
    let Finding::Pending(pending) = &asked.finding else { return None };
    let Pending { instructions: Instructions::Boleto(boleto), .. } = pending.as_ref() else { return None };
    Some(boleto)
}

/// The key of the entry with the payment of this place, from 0.
fn payment_key(key: Uuid, place: usize) -> Uuid {
    derived(key, &format!("payment {place}"))
}

/// The key of the entry with the reversal of a payment.
fn reversal_key(payment_key: Uuid) -> Uuid {
    derived(payment_key, "reversal")
}

/// The key of the entry with the result of an accepted void.
fn result_key(void_key: Uuid) -> Uuid {
    derived(void_key, "result")
}

fn derived(key: Uuid, what: &str) -> Uuid {
    Uuid::new_v5(&KEYS, &[key.as_bytes().as_slice(), what.as_bytes()].concat())
}

fn unanswered(error: TransactionLogError) -> StageRefusal {
    tracing::error!(%error, "the simulator cannot use its transaction log");
    StageRefusal::Unanswered
}
