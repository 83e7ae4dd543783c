//! The simulator looks at how a payment is divided: at the sellers, and whether their parts fit.

use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::seller::LinkStatus;
use regente_domain::time::Timestamp;

use super::Sandbox;
use super::rules::network_says;
use super::transaction_log::TransactionLogError;
use crate::division::Division;
use crate::request::Operation;

impl Sandbox {
    /// Why the division of an operation is refused. What a seller gives back is taken from them wherever they stand.
    pub(super) async fn division_refused(
        &self,
        operation: &Operation,
        at: Timestamp,
    ) -> Result<Option<Decline>, TransactionLogError> {
        let Some(division) = operation.division() else { return Ok(None) };
        if !division.fits(operation.amount()) {
            let decline = Decline::of(DeclinedCode::InvalidAmount);
            return Ok(Some(network_says(decline, "sandbox split does not fit")));
        }
        match operation {
            Operation::Authorize(_) | Operation::Capture(_) => self.seller_refused(division, at).await,
            Operation::VerifyCard(_) | Operation::Void(_) => Ok(None),
        }
    }
}

impl Sandbox {
    async fn seller_refused(
        &self,
        division: &Division,
        at: Timestamp,
    ) -> Result<Option<Decline>, TransactionLogError> {
        for part in &division.sellers {
            let known = self.transaction_log().seller(part.registration).await?;
            let reason = match known.map(|entry| entry.known.standing(part.registration, at).status) {
                Some(LinkStatus::Active) => continue,
                None => "sandbox no such seller",
                Some(LinkStatus::Blocked) => "sandbox seller is blocked",
                Some(LinkStatus::Pending | LinkStatus::Inactive) => "sandbox seller is not active",
            };
            let decline = Decline::of(DeclinedCode::TransactionNotAllowed);
            return Ok(Some(network_says(decline, reason)));
        }
        Ok(None)
    }
}
