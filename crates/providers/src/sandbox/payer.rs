//! What a payer or a bank does at the simulator without a call: it pays instructions, in time, late, twice or with another
//! amount, or reports the result of a refund. Each is an entry of the transaction log.

use regente_domain::boleto::IssuedBoleto;
use regente_domain::decline::{Decline, DeclinedCode, RefusedBy};
use regente_domain::local_day;
use regente_domain::money::Amount;
use regente_domain::receipt::content::END_TO_END_ID_CHARS;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::draws::Draws;
use super::reversals::reversals;
use super::rules::network_says;
use super::sellers::Decided;
use super::transaction_log::Recorded;
use super::{Answered, Deed, Entry, Sandbox, TransactionLogError};
use crate::outcome::{Approval, Finding, Instructions, PayerPayment, Pending, ReversalKind};
use crate::staged::{StageRefusal, Staged, StagedEvent};

/// Namespace of the keys of what happens without a call.
const KEYS: Uuid = Uuid::from_u128(0x2f0a_61c8_55d1_4b7e_9a51_0c7d_3e9b_64f2);

impl Sandbox {
    /// Makes happen what a tester stages, and notifies whoever made the call.
    ///
    /// # Errors
    /// What [`StageRefusal`] says.
    pub async fn stage(&self, event: StagedEvent) -> Result<(), StageRefusal> {
        let StagedEvent { key, at, what } = event;
        match what {
            Staged::DisputeOpened => self.reverse(key, ReversalKind::DisputeOpened, None, at).await,
            Staged::DisputeWon => self.reverse(key, ReversalKind::DisputeWon, None, at).await,
            Staged::DisputeLost => self.reverse(key, ReversalKind::DisputeLost, None, at).await,
            Staged::ChargedBack => self.reverse(key, ReversalKind::ChargedBack, None, at).await,
            Staged::Case { number, kind, amount } => {
                self.reverse_in_case(key, number, (kind, amount), at).await
            }
            Staged::RefundReverted { amount } => {
                self.reverse(key, ReversalKind::RefundReverted, amount, at).await
            }
            Staged::Payment { amount } => self.told(key, self.pay(key, amount, at)).await,
            Staged::FurtherPayment { amount } => self.told(key, self.pay_again(key, amount, at)).await,
            Staged::Refusal => self.told(key, self.refuse(key, at)).await,
            Staged::Withdrawal => self.told(key, self.withdraw(key, at)).await,
            Staged::TakenBack => self.told(key, self.take_back(key, at)).await,
            Staged::Seller { status } => self.decide_about_seller(key, at, Decided::Standing(status)).await,
            Staged::ReviewOpened => self.decide_about_seller(key, at, Decided::Asks).await,
            Staged::ReviewWithdrawn => self.decide_about_seller(key, at, Decided::AsksNoMore).await,
            Staged::Refund => {
                let done = Draws::new(&self.seed, None, key).approval();
                self.told(key, self.report_void(key, at, Finding::Approved(done))).await
            }
            Staged::RefundRefusal => {
                let refused = Decline::of(DeclinedCode::Generic);
                let refused = Decline { retryable: false, ..network_says(refused, "sandbox refund refused") };
                self.told(key, self.report_void(key, at, Finding::Declined(refused))).await
            }
        }
    }

    /// Notifies the outcome of the call once something has changed it.
    async fn told<T>(
        &self,
        key: Uuid,
        changing: impl Future<Output = Result<T, StageRefusal>> + Send,
    ) -> Result<(), StageRefusal> {
        changing.await?;
        self.notify_of(key).await;
        Ok(())
    }

    /// The payer of the authorization with this key pays: `amount`, or what was asked of them. Whoever has paid does not pay
    /// once more, and whoever has refused does not pay any more.
    ///
    /// # Errors
    /// What [`StageRefusal`] says.
    pub async fn pay(
        &self,
        key: Uuid,
        amount: Option<Amount>,
        at: Timestamp,
    ) -> Result<PayerPayment, StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        match payments(&history).into_iter().next() {
            Some(paid) => Ok(paid),
            None => self.pay_as(0, key, &history, amount, at).await,
        }
    }

    /// The payer pays, whether they have paid before or not.
    ///
    /// # Errors
    /// What [`StageRefusal`] says.
    pub async fn pay_again(
        &self,
        key: Uuid,
        amount: Option<Amount>,
        at: Timestamp,
    ) -> Result<PayerPayment, StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        let is_free = |place: &usize| history.iter().all(|entry| entry.key != act_key(key, *place));
        let place = (0..=history.len()).find(is_free).unwrap_or_default();
        self.pay_as(place, key, &history, amount, at).await
    }

    /// Enters the payment with this place among what the payer does, from 0.
    async fn pay_as(
        &self,
        place: usize,
        key: Uuid,
        history: &[Entry],
        amount: Option<Amount>,
        at: Timestamp,
    ) -> Result<PayerPayment, StageRefusal> {
        let (asked, pending) = instructed(history, key).ok_or(StageRefusal::NothingWaits)?;
        let amount = amount.unwrap_or_else(|| owed(asked, at));
        if amount == Amount::ZERO {
            return Err(StageRefusal::NothingWaits);
        }
        let payment_key = act_key(key, place);
        let reference = payment_reference(pending, &Draws::new(&self.seed, None, payment_key));
        let deed = Deed::Payment { authorization_key: key };
        let finding = Finding::Approved(reference.clone());
        let entered = Answered { deed, amount, currency: asked.currency, finding, division: None };
        match self.enter(payment_key, at, entered).await? {
            Finding::Declined(_) => Err(StageRefusal::NothingWaits),
            Finding::Approved(_)
            | Finding::Pending(_)
            | Finding::Paid(_)
            | Finding::Accepted(_)
            | Finding::Reversed { .. } => Ok(PayerPayment { reference, amount, taken_back: None }),
        }
    }

    /// What the payer does first has one key, so that a payment and a refusal at the same moment are one of both.
    async fn refuse(&self, key: Uuid, at: Timestamp) -> Result<(), StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        let (asked, _) = instructed(&history, key).ok_or(StageRefusal::NothingWaits)?;
        let refused = network_says(Decline::of(DeclinedCode::Generic), "sandbox refused by the payer");
        let refused = Decline { retryable: false, refused_by: RefusedBy::Payer, ..refused };
        let (amount, currency) = (asked.amount, asked.currency);
        let deed = Deed::Withdrawal { authorization_key: key };
        let entered =
            Answered { deed, amount, currency, finding: Finding::Declined(refused), division: None };
        match self.enter(act_key(key, 0), at, entered).await? {
            Finding::Declined(_) => Ok(()),
            Finding::Approved(_)
            | Finding::Pending(_)
            | Finding::Paid(_)
            | Finding::Accepted(_)
            | Finding::Reversed { .. } => Err(StageRefusal::NothingWaits),
        }
    }

    async fn withdraw(&self, key: Uuid, at: Timestamp) -> Result<(), StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        let asked = instructed(&history, key).filter(|_| payments(&history).is_empty());
        let (asked, _) = asked.ok_or(StageRefusal::NothingWaits)?;
        let refused = network_says(Decline::of(DeclinedCode::Generic), "sandbox withdrawn");
        let finding = Finding::Declined(refused);
        let (amount, currency) = (asked.amount, asked.currency);
        let deed = Deed::Withdrawal { authorization_key: key };
        let entered = Answered { deed, amount, currency, finding, division: None };
        self.enter(derived(key, "withdrawal"), at, entered).await.map(drop)
    }

    /// The payer's bank takes back the first payment of a boleto.
    async fn take_back(&self, key: Uuid, at: Timestamp) -> Result<(), StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        let asked = instructed(&history, key).filter(|(asked, _)| boleto(asked).is_some());
        let paid = payments(&history).into_iter().next();
        let (Some((asked, _)), Some(PayerPayment { amount, .. })) = (asked, paid) else {
            return Err(StageRefusal::NothingWaits);
        };
        let own_key = taken_back_key(act_key(key, 0));
        let finding = Finding::Approved(Draws::new(&self.seed, None, own_key).approval());
        let deed = Deed::TakenBack { authorization_key: key };
        let answered = Answered { deed, amount, currency: asked.currency, finding, division: None };
        match self.enter(own_key, at, answered).await? {
            Finding::Approved(_) => Ok(()),
            // It was given back: nothing is left to take.
            Finding::Declined(_)
            | Finding::Pending(_)
            | Finding::Paid(_)
            | Finding::Accepted(_)
            | Finding::Reversed { .. } => Err(StageRefusal::NothingWaits),
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
        let (amount, currency, division) = (void.amount, void.currency, void.division.clone());
        let deed = Deed::VoidResult { authorization_key };
        self.enter(result_key(key), at, Answered { deed, amount, currency, finding, division })
            .await
            .map(drop)
    }

    /// Enters what happened, and returns what the log has: the first entry of a key stays.
    async fn enter(&self, key: Uuid, at: Timestamp, answered: Answered) -> Result<Finding, StageRefusal> {
        match self.log.record(key, at, answered).await.map_err(unanswered)? {
            Recorded::Answered(finding) => Ok(finding),
            Recorded::ProbedBefore => Err(StageRefusal::NothingWaits),
        }
    }

    /// The outcome of a call as it is now. `finding` is what the call was answered with.
    pub(super) async fn current(&self, key: Uuid, finding: Finding) -> Result<Finding, TransactionLogError> {
        match finding {
            Finding::Pending(_) | Finding::Approved(_) => {
                let history = self.log.history(key).await?;
                let reversals = reversals(&history);
                let taken = match finding {
                    Finding::Pending(_) => after_payer(&history).unwrap_or(finding),
                    Finding::Approved(_)
                    | Finding::Declined(_)
                    | Finding::Accepted(_)
                    | Finding::Paid(_)
                    | Finding::Reversed { .. } => finding,
                };
                if reversals.is_empty() {
                    return Ok(taken);
                }
                Ok(Finding::Reversed { taken: Box::new(taken), reversals })
            }
            Finding::Accepted(_) => {
                let result = self.log.find(result_key(key)).await?;
                let result =
                    result.as_ref().and_then(Entry::answered).map(|answered| answered.finding.clone());
                Ok(result.unwrap_or(finding))
            }
            Finding::Declined(_) | Finding::Paid(_) | Finding::Reversed { .. } => Ok(finding),
        }
    }
}

/// The authorization that has given a payer instructions to pay. A cardholder who is asked who they are pays with their card.
fn instructed(history: &[Entry], key: Uuid) -> Option<(&Answered, &Pending)> {
    let own = history.iter().find(|entry| entry.key == key)?.answered()?;
    match &own.finding {
        Finding::Pending(pending) => match pending.instructions {
            Instructions::QrCode { .. } | Instructions::Redirect { .. } | Instructions::Boleto(_) => {
                Some((own, pending))
            }
            Instructions::Challenge { .. } | Instructions::HostedChallenge { .. } => None,
        },
        Finding::Approved(_)
        | Finding::Declined(_)
        | Finding::Paid(_)
        | Finding::Accepted(_)
        | Finding::Reversed { .. } => None,
    }
}

/// The identifiers of a payment. One by a code has an end-to-end id.
fn payment_reference(pending: &Pending, draws: &Draws) -> Approval {
    let transaction_id = match &pending.instructions {
        Instructions::QrCode { .. } => {
            let mut id = draws.letters_and_digits("end-to-end id");
            id.truncate(END_TO_END_ID_CHARS - 1);
            Some(format!("E{id}"))
        }
        Instructions::Redirect { .. }
        | Instructions::Challenge { .. }
        | Instructions::HostedChallenge { .. }
        | Instructions::Boleto(_) => draws.approval().transaction_id,
    };
    Approval { transaction_id, paid_as: pending.reference.paid_as.clone(), ..Approval::default() }
}

/// What the payer has done, or the provider in their stead.
fn after_payer(history: &[Entry]) -> Option<Finding> {
    let payments = payments(history);
    if !payments.is_empty() {
        return Some(Finding::Paid(payments));
    }
    history.iter().filter_map(Entry::answered).find_map(|answered| {
        matches!(answered.deed, Deed::Withdrawal { .. }).then(|| answered.finding.clone())
    })
}

fn payments(history: &[Entry]) -> Vec<PayerPayment> {
    let approved = |entry: &Entry| match entry.answered().map(|answered| &answered.finding) {
        Some(Finding::Approved(reference)) => Some(reference.clone()),
        Some(
            Finding::Declined(_)
            | Finding::Pending(_)
            | Finding::Paid(_)
            | Finding::Accepted(_)
            | Finding::Reversed { .. },
        )
        | None => None,
    };
    let taken_back = |payment: &Entry| {
        let key = taken_back_key(payment.key);
        history.iter().find(|entry| entry.key == key).and_then(approved)
    };
    let paid = |entry: &Entry| {
        let payment = entry.answered().filter(|answered| matches!(answered.deed, Deed::Payment { .. }))?;
        let (reference, amount) = (approved(entry)?, payment.amount);
        Some(PayerPayment { reference, amount, taken_back: taken_back(entry) })
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

/// The key of the entry with which a payment is taken back.
fn taken_back_key(payment_key: Uuid) -> Uuid {
    derived(payment_key, "taken back")
}

/// The key of the entry with what the payer does, by its place from 0.
fn act_key(key: Uuid, place: usize) -> Uuid {
    derived(key, &format!("payment {place}"))
}

/// The key of the entry with the result of an accepted void.
fn result_key(void_key: Uuid) -> Uuid {
    derived(void_key, "result")
}

pub(super) fn derived(key: Uuid, what: &str) -> Uuid {
    Uuid::new_v5(&KEYS, &[key.as_bytes().as_slice(), what.as_bytes()].concat())
}

pub(super) fn unanswered(error: TransactionLogError) -> StageRefusal {
    tracing::error!(%error, "the simulator cannot use its transaction log");
    StageRefusal::Unanswered
}
