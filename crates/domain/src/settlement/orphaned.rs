//! Which requests of a charge are about money that was never its own.

use std::collections::HashSet;

use crate::charge::FollowUpKind;
use crate::charge::attempt::{Outcome, RequestGroup, TransactionRequest};
use crate::id::TransactionRequestId;

/// The requests of a charge about money that a provider took unknown to it, or once more, and that is given back: the
/// voids, their results, and what each undoes where that has a record of its own. What they have moved is divided nowhere.
pub fn orphaned(requests: &[TransactionRequest]) -> HashSet<TransactionRequestId> {
    let mut orphaned = HashSet::new();
    for request in requests.iter().filter(|request| is_void(request)) {
        let Some((void, undone)) = undone_by(requests, request) else { continue };
        let is_unrecorded = matches!(undone.outcome, Outcome::Declined(_) | Outcome::NoEffect(_));
        // A void names what it undoes where that is not the charge's own payment.
        let named = void.undone_transaction_id.as_deref();
        if is_unrecorded || named.is_some() {
            orphaned.insert(request.id);
        }
        if named.is_some() && undone.transaction_id() == named {
            orphaned.insert(undone.id);
        }
    }
    orphaned
}

/// The void that led to this one, itself or what it is the result of, and what that undoes.
pub(super) fn undone_by<'a>(
    requests: &'a [TransactionRequest],
    request: &'a TransactionRequest,
) -> Option<(&'a TransactionRequest, &'a TransactionRequest)> {
    let mut void = request;
    // No chain is longer than the list.
    for _ in requests {
        let undone = requests.iter().find(|earlier| Some(earlier.id) == void.follows)?;
        if !is_void(undone) {
            return Some((void, undone));
        }
        void = undone;
    }
    None
}

fn is_void(request: &TransactionRequest) -> bool {
    request.request_type.group() == RequestGroup::FollowUp(FollowUpKind::Void)
}
