//! In whose name a payment facilitator takes a payment.

use regente_domain::decline::Decline;
use regente_domain::vendor::without_punctuation;

use super::super::declines;
use super::super::wire::SubMerchant;
use super::payer::wire_address;
use super::wire_amount;
use crate::request::{Authorization, VendorDetails};

/// Most characters of its name.
const NAME_CHARS_MAX: usize = 22;
/// Digits of a category code.
const CATEGORY_DIGITS: usize = 4;
/// The member of `metadata` with the number of the facilitator. The provider knows it by the account, so its interface has
/// no member for it.
pub(super) const FACILITATOR: &str = "paymentFacilitatorId";

pub(super) fn sub_merchants(authorization: &Authorization) -> Result<Option<[SubMerchant<'_>; 1]>, Decline> {
    authorization.vendor.as_deref().map(|vendor| Ok([sub_merchant(authorization, vendor)?])).transpose()
}

fn sub_merchant<'a>(
    authorization: &Authorization,
    vendor: &'a VendorDetails,
) -> Result<SubMerchant<'a>, Decline> {
    let data = &vendor.data;
    let is_category = data.mcc.len() <= CATEGORY_DIGITS && data.mcc.bytes().all(|byte| byte.is_ascii_digit());
    if !is_category {
        return Err(declines::not_sent("category codes of up to four digits"));
    }
    let at = &data.address;
    let address =
        wire_address(&at.street, &at.street_number, &at.zip_code, &at.city, &at.state, at.country.code());
    Ok(SubMerchant {
        id: &vendor.reference_id,
        name: data.name.chars().take(NAME_CHARS_MAX).collect(),
        mcc: format!("{:0>CATEGORY_DIGITS$}", &*data.mcc),
        tax_id: without_punctuation(&data.identity),
        amount: wire_amount(authorization.amount, authorization.currency)?,
        email: data.email.as_deref(),
        phone_number: data.phone_number.as_deref(),
        url: data.website.as_deref(),
        address,
    })
}
