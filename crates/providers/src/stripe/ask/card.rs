//! What is sent of a card: its data, how it is charged, and who authenticates its holder.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::Recurrence;
use regente_domain::charge::authentication::{Authenticated, LiabilityShift, Purpose};
use regente_domain::decline::Decline;

use super::{Members, billed};
use crate::authentication::{Mpi, Proof};
use crate::request::{Authorization, CardDetails, PayerDetails};
use crate::stripe::declines;
use crate::stripe::wire::member;

/// Characters that every account leaves for the suffix of the statement descriptor: 22, less the longest prefix (10) and the
/// asterisk and space between them.
const DESCRIPTOR_SUFFIX_CHARS_MAX: usize = 10;
/// Signs that statement descriptors may not have.
const DESCRIPTOR_FORBIDDEN: [char; 6] = ['<', '>', '\\', '\'', '"', '*'];

/// The card, and where it is billed.
pub(super) fn card(form: &mut Members, card: &CardDetails, buyer: Option<&PayerDetails>) {
    form.add("payment_method_types[]", "card");
    form.add("payment_method_data[type]", "card");
    form.add("payment_method_data[card][number]", card.number.expose_digits());
    form.add("payment_method_data[card][exp_month]", card.expiry.month_text());
    form.add("payment_method_data[card][exp_year]", card.expiry.year_text());
    form.add_some("payment_method_data[card][cvc]", card.cvv.as_ref().map(|cvv| cvv.expose()));
    match buyer {
        Some(buyer) => billed(form, Some(&card.holder_name), buyer),
        None => form.add("payment_method_data[billing_details][name]", card.holder_name.clone()),
    }
}

/// How a card is charged: at once or later, in installments, by an earlier agreement.
pub(super) fn agreement(form: &mut Members, authorization: &Authorization) {
    let capture = match authorization.capture {
        CaptureMode::Automatic => "automatic",
        CaptureMode::Manual => "manual",
    };
    form.add("capture_method", capture);
    form.add_some(
        "statement_descriptor_suffix",
        authorization.statement_descriptor.as_deref().and_then(descriptor_suffix),
    );
    let installments = authorization.method.installments();
    if installments > 1 {
        form.add("payment_method_options[card][installments][enabled]", "true");
        form.add("payment_method_options[card][installments][plan][type]", "fixed_count");
        form.add("payment_method_options[card][installments][plan][interval]", "month");
        form.add("payment_method_options[card][installments][plan][count]", installments.to_string());
    }
    match authorization.method.recurrence() {
        Some(Recurrence::Initial) => form.add("setup_future_usage", "off_session"),
        Some(Recurrence::Subsequent | Recurrence::Unscheduled) => {
            form.add("off_session", "true");
            form.add_some(
                "payment_method_options[card][mit_exemption][network_transaction_id]",
                authorization.network_transaction_id.clone(),
            );
        }
        None => {}
    }
}

/// Who authenticates the cardholder. A browser that does not know where to return cannot be sent to the issuer, so a payment
/// for which the issuer wants that fails at once; one without the cardholder does so by itself.
pub(super) fn proof(form: &mut Members, authorization: &Authorization) -> Result<(), Decline> {
    let result = match authorization.proof.as_deref() {
        Some(Proof::ToDo { purpose: Purpose::Authenticate, data: _, return_url }) => {
            form.add("payment_method_options[card][request_three_d_secure]", "any");
            form.add("return_url", return_url.clone());
            if authorization.liability_shift == LiabilityShift::Required {
                form.add("metadata[regente_liability_shift]", member::REQUIRED);
            }
            return Ok(());
        }
        None => {
            if form.get("off_session").is_none() {
                form.add("error_on_requires_action", "true");
            }
            return Ok(());
        }
        // The provider has no request to share data alone.
        Some(Proof::ToDo { purpose: Purpose::ShareData, .. }) => None,
        Some(Proof::Answered(answered)) => ThreeDSecureResult::of_server(answered),
        Some(Proof::Outside(mpi)) => ThreeDSecureResult::of_merchant(mpi),
    };
    form.add("error_on_requires_action", "true");
    match (result, authorization.liability_shift) {
        (Some(result), _) => result.add(form),
        (None, LiabilityShift::Required) => return Err(declines::no_shift()),
        (None, LiabilityShift::NotRequired) => {}
    }
    Ok(())
}

/// The result of another 3DS server. The provider takes it with version, cryptogram and id alone.
struct ThreeDSecureResult<'a> {
    version: &'a str,
    cryptogram: &'a str,
    transaction_id: &'a str,
    eci: Option<&'a str>,
    trans_status: Option<&'a str>,
}

impl<'a> ThreeDSecureResult<'a> {
    fn of_server(answered: &'a Authenticated) -> Option<Self> {
        Some(Self {
            version: answered.version.as_deref()?,
            cryptogram: answered.cavv.as_deref()?,
            transaction_id: answered.network_transaction_id.as_deref()?,
            eci: answered.eci.as_deref(),
            trans_status: None,
        })
    }

    fn of_merchant(mpi: &'a Mpi) -> Option<Self> {
        Some(Self {
            version: mpi.version.as_deref()?,
            cryptogram: mpi.proof()?,
            transaction_id: mpi.directory_server_transaction_id.as_deref().or(mpi.xid.as_deref())?,
            eci: mpi.eci.as_deref(),
            trans_status: mpi.trans_status.as_deref(),
        })
    }

    fn add(&self, form: &mut Members) {
        form.add("payment_method_options[card][three_d_secure][version]", self.version);
        form.add("payment_method_options[card][three_d_secure][cryptogram]", self.cryptogram);
        form.add("payment_method_options[card][three_d_secure][transaction_id]", self.transaction_id);
        form.add_some(
            "payment_method_options[card][three_d_secure][electronic_commerce_indicator]",
            self.eci,
        );
        form.add_some("payment_method_options[card][three_d_secure][ares_trans_status]", self.trans_status);
    }
}

/// The part of a descriptor that the provider prints behind the account's prefix: Latin letters without accents, at least one.
fn descriptor_suffix(text: &str) -> Option<String> {
    let plain = deunicode::deunicode(text);
    let allowed =
        plain.chars().filter(|sign| matches!(sign, ' '..='~') && !DESCRIPTOR_FORBIDDEN.contains(sign));
    let suffix: String = allowed.take(DESCRIPTOR_SUFFIX_CHARS_MAX).collect();
    let suffix = suffix.trim();
    suffix.contains(|sign: char| sign.is_ascii_alphabetic()).then(|| suffix.to_owned())
}
