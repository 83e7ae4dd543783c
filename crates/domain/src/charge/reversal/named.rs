//! Which case a report is about. A provider may give a case an id, and name the payment alone in some of what it tells of it
//! (`docs/providers/adyen.md#disputes`): what it says then is about the case of that sum.

use crate::money::Amount;

use super::case::{Case, Gravity};
use super::{Reversal, ReversalKind};
use crate::charge::attempt::TransactionRequest;

/// The case that a report is about.
pub(super) struct Named {
    /// The id under which it is recorded.
    pub(super) id: String,
    /// Whether it may be about another one as well.
    pub(super) is_one_of_several: bool,
}

/// How well a case fits a report that does not name it, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It has this very report.
    HasIt,
    /// It stands the other way.
    IsTurned,
    /// It is open.
    IsEnded,
    /// It stands so already.
    IsRepeated,
    /// It has something newer.
    IsOlder,
}

impl Reversal {
    /// Which case it is about. `requests` are those of the charge, oldest first; `payment` is the provider's id of what the
    /// charge consists of, and `sum` what the report is about, where it says so.
    pub(super) fn named(
        &self,
        requests: &[TransactionRequest],
        payment: Option<&str>,
        sum: Option<Amount>,
    ) -> Named {
        let case = |id| Case { requests, id };
        let itself = Named { id: self.id.clone(), is_one_of_several: false };
        let of_sum = |case: &Case<'_>| case.is_of(sum);
        match payment {
            _ if self.kind == ReversalKind::RefundReverted => itself,
            Some(payment) if payment == self.id => {
                let mut fitting: Vec<_> = Case::all(requests).filter(of_sum).collect();
                fitting.sort_by_key(|case| self.fits(*case));
                let Some(best) = fitting.first().copied() else {
                    let is_free = !case(payment).is_known();
                    let id = match sum {
                        Some(sum) if !is_free => format!("{payment}/{}", sum.minor_units()),
                        Some(_) | None => payment.to_owned(),
                    };
                    return Named { id, is_one_of_several: false };
                };
                let is_alike = |other: &Case<'_>| self.fits(*other) == self.fits(best);
                let is_undecided = matches!(self.fits(best), Fit::IsTurned | Fit::IsEnded);
                let is_one_of_several =
                    is_undecided && fitting.iter().filter(|case| is_alike(case)).count() > 1;
                Named { id: best.id.to_owned(), is_one_of_several }
            }
            // What came before this named the payment alone. A case that begins after its end is another one.
            Some(payment) if !case(&self.id).is_known() => {
                let begins = matches!(self.kind, ReversalKind::DisputeOpened | ReversalKind::ChargedBack);
                let is_over = |nameless: &Case<'_>| {
                    let is_later = |end| self.occurred_at.is_none_or(|at| end < at);
                    begins && nameless.end().is_some_and(|((end, _), _)| is_later(end))
                };
                let is_nameless = |case: &Case<'_>| is_nameless(case.id, payment);
                let mut nameless = Case::all(requests).filter(is_nameless).filter(of_sum);
                nameless
                    .find(|nameless| !is_over(nameless))
                    .map_or(itself, |nameless| Named { id: nameless.id.to_owned(), is_one_of_several: false })
            }
            Some(_) | None => itself,
        }
    }

    fn fits(&self, case: Case<'_>) -> Fit {
        if case.has(self.kind.request_type(), self.occurred_at) {
            return Fit::HasIt;
        }
        if self.is_told_by(case) {
            return Fit::IsOlder;
        }
        match (self.kind.gravity(), case.end().map(|((_, gravity), _)| gravity)) {
            (Some(Gravity::Left), Some(Gravity::Taken)) | (Some(Gravity::Taken), Some(Gravity::Left)) => {
                Fit::IsTurned
            }
            (Some(_), None) => Fit::IsEnded,
            (Some(Gravity::Left), Some(Gravity::Left))
            | (Some(Gravity::Taken), Some(Gravity::Taken))
            | (None, _) => Fit::IsRepeated,
        }
    }
}

/// Whether a case has the name of the payment: the first one that is told so has its id, others their sum behind it.
fn is_nameless(id: &str, payment: &str) -> bool {
    id.strip_prefix(payment).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
