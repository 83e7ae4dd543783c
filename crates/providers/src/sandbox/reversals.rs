//! What happens at the simulator to a payment after it was taken: a payer disputes it, his bank takes it back, a refund comes
//! back. Each is an entry of the transaction log, with the id of its case.

use regente_domain::charge::reversal::{Reversal, ReversalKind};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::draws::Draws;
use super::payer::{derived, unanswered};
use super::recipients::Notified;
use super::transaction_log::Recorded;
use super::{Answered, Deed, Entry, Holdings, Sandbox};
use crate::notification::EventKind;
use crate::outcome::{Approval, Finding};
use crate::staged::StageRefusal;

/// Characters of the id of a case.
const CASE_ID_CHARS: usize = 20;

impl Sandbox {
    /// Something happens to the payment of the authorization with this key, unless it has happened already.
    ///
    /// # Errors
    /// What [`StageRefusal`] says.
    pub(super) async fn reverse(
        &self,
        key: Uuid,
        kind: ReversalKind,
        amount: Option<Amount>,
        at: Timestamp,
    ) -> Result<(), StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        let holding = Holdings::of(&history).holding(key).ok_or(StageRefusal::NothingWaits)?;
        // The log has one sum for all payments of an authorization, so it cannot tell which of them is meant.
        if is_paid_again(&history) {
            return Err(StageRefusal::NothingWaits);
        }
        let known = reversals(&history);
        let reversal = match again(&known, kind) {
            Some(again) => again.clone(),
            None => {
                // What was refused has an entry too.
                let is_reversal = |answered: &&Answered| matches!(answered.deed, Deed::Reversal { .. });
                let place = history.iter().filter_map(Entry::answered).filter(is_reversal).count();
                let entry_key = derived(key, &format!("reversal {place}"));
                let all = match kind {
                    ReversalKind::RefundReverted => holding.refunded,
                    ReversalKind::DisputeOpened
                    | ReversalKind::DisputeWon
                    | ReversalKind::DisputeLost
                    | ReversalKind::ChargedBack => holding.kept(),
                };
                let (id, all) = match (kind, open_dispute(&known)) {
                    (ReversalKind::DisputeWon | ReversalKind::DisputeLost, None) => {
                        return Err(StageRefusal::NothingWaits);
                    }
                    (ReversalKind::DisputeWon, Some(open)) => (open.id.clone(), open.amount.unwrap_or(all)),
                    (ReversalKind::DisputeLost | ReversalKind::ChargedBack, Some(open)) => {
                        (open.id.clone(), all)
                    }
                    (ReversalKind::ChargedBack, None)
                    | (ReversalKind::DisputeOpened | ReversalKind::RefundReverted, _) => {
                        (self.case_id(entry_key), all)
                    }
                };
                let amount = amount.unwrap_or(all);
                let reference = Approval { transaction_id: Some(id.clone()), ..Approval::default() };
                let deed = Deed::Reversal { authorization_key: key, kind };
                let finding = Finding::Approved(reference);
                let answered = Answered { deed, amount, currency: holding.currency, finding, division: None };
                match self.log.record(entry_key, at, answered).await.map_err(unanswered)? {
                    Recorded::Answered(Finding::Approved(_)) => {}
                    // The books do not have that much.
                    Recorded::Answered(_) | Recorded::ProbedBefore => return Err(StageRefusal::NothingWaits),
                }
                Reversal { kind, id, amount: Some(amount) }
            }
        };
        if let Some(Notified { recipient, plans }) = self.recipients.of(key) {
            self.notify(&recipient, &plans, key, at, EventKind::Reversal(reversal));
        }
        Ok(())
    }

    fn case_id(&self, entry_key: Uuid) -> String {
        let mut id = Draws::new(self.seed, None, entry_key).letters_and_digits("case id");
        id.truncate(CASE_ID_CHARS);
        id
    }
}

/// What has happened to the payment, in order.
pub(super) fn reversals(history: &[Entry]) -> Vec<Reversal> {
    let reversal = |entry: &Entry| {
        let answered = entry.answered()?;
        let Deed::Reversal { kind, .. } = answered.deed else { return None };
        let Finding::Approved(reference) = &answered.finding else { return None };
        Some(Reversal { kind, id: reference.transaction_id.clone()?, amount: Some(answered.amount) })
    };
    history.iter().filter_map(reversal).collect()
}

fn is_paid_again(history: &[Entry]) -> bool {
    let is_payment = |answered: &&Answered| {
        matches!((&answered.deed, &answered.finding), (Deed::Payment { .. }, Finding::Approved(_)))
    };
    history.iter().filter_map(Entry::answered).filter(is_payment).count() > 1
}

fn open_dispute(known: &[Reversal]) -> Option<&Reversal> {
    let is_over = |opening: &Reversal| {
        known.iter().any(|other| other.id == opening.id && other.kind != ReversalKind::DisputeOpened)
    };
    known.iter().find(|reversal| reversal.kind == ReversalKind::DisputeOpened && !is_over(reversal))
}

/// What is staged, if it has happened last: a dispute is open already, or has ended so. A refund may come back in parts.
fn again(known: &[Reversal], kind: ReversalKind) -> Option<&Reversal> {
    match kind {
        ReversalKind::DisputeOpened => open_dispute(known),
        ReversalKind::DisputeWon | ReversalKind::DisputeLost | ReversalKind::ChargedBack => {
            let ended = known.iter().rfind(|reversal| reversal.kind == kind);
            ended.filter(|_| open_dispute(known).is_none())
        }
        ReversalKind::RefundReverted => None,
    }
}
