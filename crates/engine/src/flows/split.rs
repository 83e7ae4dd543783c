//! The errors of charges that are divided among sellers.

use regente_domain::split::{Misfit, ReturnRefusal};

use crate::error::Error;

/// The stable code of a fee that leaves nothing.
const FEE_EXCEEDS: &str = "platform_fee_exceeds_link_amount";

/// The error for an amount that the rules cannot divide. `path` is the member that gives it.
pub fn misfit(path: &str, misfit: Misfit) -> Error {
    match misfit {
        Misfit::FeeNotBelow { fee } => Error::BusinessRule {
            business_code: FEE_EXCEEDS,
            message: format!("the platform fee of {} is not below the amount", fee.minor_units()).into(),
        },
        Misfit::SellersAbove { room } => Error::invalid(
            path,
            format!("the sellers together must not get more than {}", room.minor_units()),
        ),
    }
}

/// The error for a void that the sellers cannot give back as the caller says.
pub(super) fn return_refused(refusal: ReturnRefusal) -> Error {
    match refusal {
        ReturnRefusal::Seller(index) => Error::invalid(
            format!("splitRules[{index}].sellerId"),
            "must be a seller of the charge, each once",
        ),
        ReturnRefusal::MoreThanLeft { index, left } => Error::invalid(
            format!("splitRules[{index}].amount"),
            format!("must not be greater than {}, what is left to the seller", left.minor_units()),
        ),
        ReturnRefusal::MoreThanRefunded => {
            Error::invalid("splitRules", "the sellers must not give back more than is voided")
        }
        ReturnRefusal::LessThanRefunded { others } => Error::invalid(
            "splitRules",
            format!(
                "the sellers must give back all but {}, what is left to the merchant",
                others.minor_units()
            ),
        ),
    }
}
