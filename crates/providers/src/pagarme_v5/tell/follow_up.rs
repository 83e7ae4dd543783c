//! Captures and voids. Neither is ever refused because of an answer that says nothing about it: an earlier repetition may
//! have had its effect.

use http::StatusCode;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::http_client::Incoming;
use crate::outcome::{Answer, Approval, Finding, Probe};
use crate::pagarme_v5::declines;
use crate::pagarme_v5::reference::{Mark, Metadata};
use crate::pagarme_v5::wire::told::{Charge, ChargeStatus, TransactionStatus};

use super::{UNCERTAIN, approval, charge, codes, refusal, without_charge};

/// The answer to a capture; `None` when the charge has to be read: it was not taken, perhaps since an earlier repetition
/// was.
pub fn capture(answered: &Incoming, amount: Amount) -> Option<Answer> {
    if says_no(answered) {
        return None;
    }
    let Some(charge) = charge(answered) else { return Some(without_charge(answered)) };
    Some(not_done(&charge).or_else(|| captured(&charge, amount)).unwrap_or(UNCERTAIN))
}

/// What a charge that was read says of a capture that was not taken.
pub fn captured_before(charge: &Charge, amount: Amount, answered: &Incoming) -> Answer {
    if let Some(answer) = captured(charge, amount) {
        return answer;
    }
    let status = charge.last_transaction.as_ref().and_then(|transaction| transaction.status);
    let is_not_captured = match charge.status {
        ChargeStatus::Pending => matches!(
            status,
            Some(TransactionStatus::AuthorizedPendingCapture | TransactionStatus::PartialVoid)
        ),
        ChargeStatus::Failed | ChargeStatus::Canceled => declines::is_over(charge),
        // Of another amount: somebody else has captured it. What was taken back was captured before.
        ChargeStatus::Chargedback
        | ChargeStatus::Paid
        | ChargeStatus::Overpaid
        | ChargeStatus::Underpaid
        | ChargeStatus::Processing
        | ChargeStatus::Other => false,
    };
    match refusal(answered).filter(|_| is_not_captured) {
        Some(refusal) => Answer::Declined(Decline { transaction_id: Some(charge.id.clone()), ..refusal }),
        None => UNCERTAIN,
    }
}

fn captured(charge: &Charge, amount: Amount) -> Option<Answer> {
    let is_paid =
        matches!(charge.status, ChargeStatus::Paid | ChargeStatus::Overpaid | ChargeStatus::Underpaid);
    let is_ours = charge.paid_amount.or(charge.amount) == Some(amount);
    (is_paid && is_ours).then(|| Answer::Approved(done(charge)))
}

/// What has to be done for a void.
#[derive(Debug)]
pub enum Void {
    /// Nothing: this is its answer.
    Answered(Answer),
    /// It was never sent. First the charge gets this metadata, by which a repetition knows whether the void is done.
    First {
        /// All metadata of the charge, with the mark of the void.
        marked: Metadata,
        /// How much of the charge it cancels.
        extent: Extent,
    },
    /// It may have been sent before, and is not done.
    Again {
        /// When it was sent first, where a second time would not do for the first one: it cancels a part.
        since: Option<Timestamp>,
    },
}

/// How much of a charge a void cancels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it: the status of the charge tells whether that is done, and a repetition has no effect.
    Whole,
    /// Less, or the rest of what others have left: without a mark it might be done twice.
    Part,
}

/// Decides what has to be done for the void with this key.
pub fn void(charge: &Charge, key: Uuid, amount: Amount, now: Timestamp) -> Void {
    let metadata = charge.metadata.clone().unwrap_or_default();
    let mark = Mark::of(&metadata, key);
    let canceled = charge.canceled_amount.unwrap_or(Amount::ZERO);
    let total = charge.paid_amount.or(charge.amount).unwrap_or(Amount::ZERO);
    let is_done = mark.is_some_and(|mark| mark.is_done(canceled));
    let no = |code| Void::Answered(Answer::Declined(nothing_to_give_back(charge, code)));
    match charge.status {
        // The rest of it was charged back.
        ChargeStatus::Chargedback if is_done => Void::Answered(Answer::Approved(done(charge))),
        ChargeStatus::Chargedback if mark.is_some() => Void::Answered(UNCERTAIN),
        ChargeStatus::Failed if !declines::is_over(charge) => Void::Answered(UNCERTAIN),
        // By this void, or by others: the payer has the money.
        ChargeStatus::Canceled if mark.is_some() || amount >= total => {
            Void::Answered(Answer::Approved(done(charge)))
        }
        ChargeStatus::Canceled | ChargeStatus::Failed | ChargeStatus::Chargedback => {
            no(DeclinedCode::TransactionNotAllowed)
        }
        ChargeStatus::Processing | ChargeStatus::Other => Void::Answered(UNCERTAIN),
        ChargeStatus::Pending | ChargeStatus::Paid | ChargeStatus::Overpaid | ChargeStatus::Underpaid => {
            match (is_done, is_on_its_way(charge), mark) {
                (true, _, _) => Void::Answered(Answer::Approved(done(charge))),
                (false, true, Some(_)) => Void::Answered(Answer::Accepted(approval(charge))),
                // Another refund: its end is waited for.
                (false, true, None) => Void::Answered(UNCERTAIN),
                (false, false, Some(mark)) => {
                    let is_whole = mark.before == Amount::ZERO && amount == total;
                    Void::Again { since: (!is_whole).then_some(mark.at) }
                }
                (false, false, None) => match total.minus(canceled) {
                    Some(rest) if amount <= rest => {
                        let is_whole = canceled == Amount::ZERO && amount == rest;
                        let marked = Mark { before: canceled, amount, at: now }.beside(metadata, key);
                        Void::First { marked, extent: if is_whole { Extent::Whole } else { Extent::Part } }
                    }
                    Some(_) | None => no(DeclinedCode::InvalidAmount),
                },
            }
        }
    }
}

/// The answer to a void whose charge does not show its mark: nothing of it was sent. `None` when the charge shows it.
pub fn unmarked(answered: &Incoming, key: Uuid) -> Option<Answer> {
    let was_looked_at = answered.status != StatusCode::TOO_MANY_REQUESTS;
    if let Some(refusal) = refusal(answered).filter(|_| was_looked_at) {
        return Some(Answer::Declined(refusal));
    }
    let metadata = charge(answered).and_then(|charge| charge.metadata).unwrap_or_default();
    Mark::of(&metadata, key).is_none().then_some(UNCERTAIN)
}

/// The answer to a cancellation or refund; `None` when the charge has to be read.
pub fn voided(answered: &Incoming) -> Option<Answer> {
    if says_no(answered) {
        return None;
    }
    let Some(charge) = charge(answered) else { return Some(without_charge(answered)) };
    if is_on_its_way(&charge) {
        return Some(Answer::Accepted(approval(&charge)));
    }
    if charge.status == ChargeStatus::Canceled {
        return Some(Answer::Approved(done(&charge)));
    }
    if let Some(answer) = not_done(&charge) {
        return Some(answer);
    }
    let status = charge.last_transaction.as_ref().and_then(|transaction| transaction.status);
    let is_done = matches!(
        status,
        Some(
            TransactionStatus::Voided
                | TransactionStatus::PartialVoid
                | TransactionStatus::Refunded
                | TransactionStatus::PartialRefunded
        )
    );
    Some(if is_done { Answer::Approved(done(&charge)) } else { UNCERTAIN })
}

/// What a charge that was read says of a void that was accepted.
pub fn void_accepted(charge: &Charge, key: Uuid) -> Probe {
    let mark = charge.metadata.as_ref().and_then(|metadata| Mark::of(metadata, key));
    let canceled = charge.canceled_amount.unwrap_or(Amount::ZERO);
    let is_done = mark.map_or(charge.status == ChargeStatus::Canceled, |mark| mark.is_done(canceled));
    if is_done {
        return Probe::Found(Finding::Approved(done(charge)));
    }
    if is_on_its_way(charge) {
        return Probe::Found(Finding::Accepted(approval(charge)));
    }
    match is_refused(charge) {
        true => Probe::Found(Finding::Declined(declined(charge))),
        false => Probe::Unknown,
    }
}

/// Whether the provider says that it does not do it. It says so too when it has done it before.
fn says_no(answered: &Incoming) -> bool {
    let is_about_it = matches!(
        answered.status,
        StatusCode::BAD_REQUEST
            | StatusCode::NOT_FOUND
            | StatusCode::PRECONDITION_FAILED
            | StatusCode::UNPROCESSABLE_ENTITY
    );
    is_about_it && refusal(answered).is_some()
}

fn is_on_its_way(charge: &Charge) -> bool {
    let transaction = charge.last_transaction.as_ref();
    transaction.is_some_and(|transaction| transaction.status == Some(TransactionStatus::PendingRefund))
}

/// The answer when the last transaction of a charge was not carried out: a refusal, or unknown when nobody who decides
/// has refused it.
fn not_done(charge: &Charge) -> Option<Answer> {
    let transaction = charge.last_transaction.as_ref()?;
    if declines::is_refused(transaction, charge.payment_method) {
        return Some(Answer::Declined(declined(charge)));
    }
    (transaction.success == Some(false)).then_some(UNCERTAIN)
}

/// Whether the last transaction of a charge was refused.
fn is_refused(charge: &Charge) -> bool {
    let transaction = charge.last_transaction.as_ref();
    transaction.is_some_and(|transaction| declines::is_refused(transaction, charge.payment_method))
}

fn declined(charge: &Charge) -> Decline {
    let Some(transaction) = charge.last_transaction.as_ref() else { return declines::of_charge(charge) };
    Decline { transaction_id: transaction.id.clone(), ..declines::of_transaction(transaction) }
}

fn nothing_to_give_back(charge: &Charge, code: DeclinedCode) -> Decline {
    let decline = Decline::of(code);
    let message = decline.message.clone();
    let decline = decline.with_network("nothing to give back", message);
    Decline { transaction_id: Some(charge.id.clone()), ..decline }
}

/// The provider's identifiers of the last transaction.
pub(in crate::pagarme_v5) fn done(charge: &Charge) -> Approval {
    charge.last_transaction.as_ref().map(codes).unwrap_or_else(|| approval(charge))
}
