//! What happens at the simulator to a payment after it was taken: a payer disputes it, their bank takes it back, a refund comes
//! back. Each is an entry of the transaction log, with the id of its case.

use regente_domain::charge::reversal::{Reversal, ReversalKind};
use regente_domain::currency::Currency;
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
                    | ReversalKind::ChargeBackReversed
                    | ReversalKind::DisputeLost
                    | ReversalKind::ChargedBack => holding.kept(),
                };
                let (id, all) = match (kind, open_dispute(&known)) {
                    // The simulator has disputes, which tell it.
                    (ReversalKind::DisputeWon | ReversalKind::DisputeLost, None)
                    | (ReversalKind::ChargeBackReversed, _) => return Err(StageRefusal::NothingWaits),
                    (ReversalKind::DisputeWon, Some(open)) => (open.id.clone(), open.amount.unwrap_or(all)),
                    (ReversalKind::DisputeLost | ReversalKind::ChargedBack, Some(open)) => {
                        (open.id.clone(), open.amount.unwrap_or(all).min(all))
                    }
                    (ReversalKind::ChargedBack, None)
                    | (ReversalKind::DisputeOpened | ReversalKind::RefundReverted, _) => {
                        (self.case_id(entry_key), all)
                    }
                };
                let amount = amount.unwrap_or(all);
                let deed = Deed::Reversal { authorization_key: key, kind };
                self.record((entry_key, deed), &id, (amount, holding.currency), at).await?;
                Reversal { occurred_at: Some(at), ..Reversal::new(kind, id, Some(amount)) }
            }
        };
        self.tell(key, reversal, at);
        Ok(())
    }

    /// Something happens in a case of the payment, by the number of the case.
    ///
    /// # Errors
    /// What [`StageRefusal`] says.
    pub(super) async fn reverse_in_case(
        &self,
        key: Uuid,
        number: u32,
        (kind, amount): (ReversalKind, Option<Amount>),
        at: Timestamp,
    ) -> Result<(), StageRefusal> {
        let history = self.log.history(key).await.map_err(unanswered)?;
        let holding = Holdings::of(&history).holding(key).ok_or(StageRefusal::NothingWaits)?;
        if is_paid_again(&history) {
            return Err(StageRefusal::NothingWaits);
        }
        let id = self.case_id(derived(key, &format!("case {number}")));
        let last = reversals(&history).into_iter().rfind(|reversal| reversal.id == id);
        if let Some(again) = last.clone().filter(|last| last.kind == kind) {
            self.tell(key, again, at);
            return Ok(());
        }
        let before = last.as_ref().map(|last| last.kind);
        let deed = deed_in_case(key, before, kind).ok_or(StageRefusal::NothingWaits)?;
        let amount = amount.or(last.and_then(|last| last.amount)).unwrap_or(holding.kept());
        self.record((next_key(key, &history), deed), &id, (amount, holding.currency), at).await?;
        self.tell(key, Reversal { occurred_at: Some(at), ..Reversal::new(kind, id, Some(amount)) }, at);
        Ok(())
    }

    async fn record(
        &self,
        (entry_key, deed): (Uuid, Deed),
        id: &str,
        (amount, currency): (Amount, Currency),
        at: Timestamp,
    ) -> Result<(), StageRefusal> {
        let reference = Approval { transaction_id: Some(id.to_owned()), ..Approval::default() };
        let answered =
            Answered { deed, amount, currency, finding: Finding::Approved(reference), division: None };
        match self.log.record(entry_key, at, answered).await.map_err(unanswered)? {
            Recorded::Answered(Finding::Approved(_)) => Ok(()),
            // The books do not have that much.
            Recorded::Answered(_) | Recorded::ProbedBefore => Err(StageRefusal::NothingWaits),
        }
    }

    /// Notifies what has happened, with the time at which it has.
    fn tell(&self, key: Uuid, reversal: Reversal, now: Timestamp) {
        if let Some(Notified { recipient, plans }) = self.recipients.of(key) {
            let at = reversal.occurred_at.unwrap_or(now);
            self.notify(&recipient, &plans, key, at, EventKind::Reversal(reversal));
        }
    }

    fn case_id(&self, entry_key: Uuid) -> String {
        let mut id = Draws::new(&self.seed, None, entry_key).letters_and_digits("case id");
        id.truncate(CASE_ID_CHARS);
        id
    }
}

/// What has happened to the payment, in order.
pub(super) fn reversals(history: &[Entry]) -> Vec<Reversal> {
    let reversal = |entry: &Entry| {
        let answered = entry.answered()?;
        let kind = kind_of(&answered.deed)?;
        let Finding::Approved(reference) = &answered.finding else { return None };
        let reversal = Reversal::new(kind, reference.transaction_id.clone()?, Some(answered.amount));
        Some(Reversal { occurred_at: Some(entry.at), ..reversal })
    };
    history.iter().filter_map(reversal).collect()
}

/// What an entry tells of what happened after a payment was taken.
const fn kind_of(deed: &Deed) -> Option<ReversalKind> {
    match deed {
        Deed::Reversal { kind, .. } => Some(*kind),
        Deed::ChargeBackReversed { .. } => Some(ReversalKind::DisputeWon),
        Deed::Authorization { .. }
        | Deed::Verification { .. }
        | Deed::Capture { .. }
        | Deed::Void { .. }
        | Deed::Payment { .. }
        | Deed::Withdrawal { .. }
        | Deed::VoidResult { .. }
        | Deed::TakenBack { .. } => None,
    }
}

/// The key of the entry of what happens next. What was refunded has an entry too.
fn next_key(key: Uuid, history: &[Entry]) -> Uuid {
    let is_reversal = |answered: &&Answered| kind_of(&answered.deed).is_some();
    let place = history.iter().filter_map(Entry::answered).filter(is_reversal).count();
    derived(key, &format!("reversal {place}"))
}

/// What can happen in a case in which this has happened last; `None` for what cannot.
const fn deed_in_case(key: Uuid, last: Option<ReversalKind>, kind: ReversalKind) -> Option<Deed> {
    use ReversalKind::{
        ChargeBackReversed, ChargedBack, DisputeLost, DisputeOpened, DisputeWon, RefundReverted,
    };
    match (last, kind) {
        (None, DisputeOpened | ChargedBack)
        | (Some(DisputeOpened), DisputeWon)
        | (Some(DisputeOpened | DisputeWon), DisputeLost | ChargedBack) => {
            Some(Deed::Reversal { authorization_key: key, kind })
        }
        (Some(DisputeLost | ChargedBack), DisputeWon) => {
            Some(Deed::ChargeBackReversed { authorization_key: key })
        }
        (None, DisputeWon | DisputeLost | RefundReverted | ChargeBackReversed)
        | (
            Some(
                DisputeOpened | DisputeWon | ChargeBackReversed | DisputeLost | ChargedBack | RefundReverted,
            ),
            DisputeOpened | DisputeWon | ChargeBackReversed | DisputeLost | ChargedBack | RefundReverted,
        ) => None,
    }
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
        ReversalKind::DisputeWon
        | ReversalKind::ChargeBackReversed
        | ReversalKind::DisputeLost
        | ReversalKind::ChargedBack => {
            let ended = known.iter().rfind(|reversal| reversal.kind == kind);
            ended.filter(|_| open_dispute(known).is_none())
        }
        ReversalKind::RefundReverted => None,
    }
}
