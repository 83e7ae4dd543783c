//! Payments without a card: Pix and boletos, and how a payer is described.

use std::time::Duration;

use regente_domain::charge::{Boleto, Pix};
use regente_domain::country::Country;
use regente_domain::currency::Currency;
use regente_domain::customer::normal_number;
use regente_domain::decline::Decline;

use super::super::declines;
use super::super::wire::{Authentication, BillingAddress, Method, PaymentsBody, Shopper, ShopperName, Terms};
use super::{AdyenRequest, Expects, merchant_account, nowhere, pay, reference, terms, wire_amount};
use crate::request::{Authorization, Call, Instrument, PayerDetails};

/// Most characters of a first or last name.
const NAME_CHARS_MAX: usize = 80;
/// Characters of a state that the provider takes, and of a country.
const STATE_CHARS: std::ops::RangeInclusive<usize> = 2..=3;
const COUNTRY_CHARS: usize = 2;
/// Brazilian tax numbers: of a person, and of a company.
const TAX_NUMBERS: [&str; 2] = ["CPF", "CNPJ"];

pub(super) fn pix<'a>(
    call: &'a Call,
    authorization: &'a Authorization,
    pix: &Pix,
) -> Result<AdyenRequest<'a>, Decline> {
    let expires_at = call.at + Duration::from_secs(pix.expires_in.into());
    let terms = Terms { session_validity: Some(expires_at.to_string()), ..terms(authorization)? };
    let request = payment(call, authorization, Method::Pix, terms)?;
    Ok(pay(call, request, Expects::Pix { expires_at }))
}

/// What late payers owe cannot be told to the provider: who would pay by the slip would pay another amount than it asks.
pub(super) fn boleto<'a>(
    call: &'a Call,
    authorization: &'a Authorization,
    boleto: &'a Boleto,
) -> Result<AdyenRequest<'a>, Decline> {
    if !boleto.late_charges.is_none() {
        return Err(declines::not_sent("boletos without interest and fine alone"));
    }
    let terms = Terms {
        // Noon is the same day in São Paulo and in UTC.
        deliver_at: Some(format!("{}T12:00:00.000Z", boleto.due)),
        shopper_statement: boleto.instructions.clone(),
        ..terms(authorization)?
    };
    let request = payment(call, authorization, Method::Boleto, terms)?;
    Ok(pay(call, request, Expects::Boleto(Box::new(boleto.clone()))))
}

fn payment<'a>(
    call: &'a Call,
    authorization: &'a Authorization,
    payment_method: Method<'a>,
    terms: Terms<'a>,
) -> Result<PaymentsBody<'a>, Decline> {
    let Instrument::Payer(payer) = &authorization.instrument else {
        return Err(declines::not_sent("cards, Pix and boletos alone"));
    };
    if authorization.currency != Currency::BRL {
        return Err(declines::not_sent("Pix and boletos are in BRL"));
    }
    Ok(PaymentsBody {
        merchant_account: merchant_account(&call.credentials),
        amount: wire_amount(authorization.amount, authorization.currency)?,
        reference: reference(call),
        return_url: nowhere(call),
        payment_method,
        // The payer's bank decides when the money is taken.
        terms: Terms { capture_delay_hours: None, ..terms },
        shopper: Shopper {
            country_code: Some("BR"),
            shopper_email: payer.email.as_deref(),
            shopper_name: name(payer),
            social_security_number: tax_number(payer),
            billing_address: address(payer),
            ..Shopper::default()
        },
        authentication: Authentication::default(),
    })
}

/// First and last name, which the provider wants apart; who has one name has it twice.
pub(super) fn name(payer: &PayerDetails) -> Option<ShopperName> {
    let cut = |name: &str| name.chars().take(NAME_CHARS_MAX).collect();
    let name = payer.name.trim();
    let (first, last) = name.split_once(char::is_whitespace).unwrap_or((name, name));
    (!name.is_empty()).then(|| ShopperName { first_name: cut(first), last_name: cut(last.trim()) })
}

fn tax_number(payer: &PayerDetails) -> Option<String> {
    let document = &payer.document;
    let is_tax_number = document.country == Country::BR
        && TAX_NUMBERS.iter().any(|kind| document.kind.eq_ignore_ascii_case(kind));
    is_tax_number.then(|| normal_number(&document.number)).filter(|number| !number.is_empty())
}

/// The address, if it has all that the provider demands of one.
pub(super) fn address(payer: &PayerDetails) -> Option<BillingAddress<'_>> {
    let address = payer.address.as_ref()?;
    wire_address(
        address.street.as_deref()?,
        address.street_number.as_deref()?,
        address.zip_code.as_deref()?,
        address.city.as_deref()?,
        address.state.as_deref().unwrap_or_default(),
        address.country?.code(),
    )
}

pub(super) fn wire_address<'a>(
    street: &'a str,
    house_number_or_name: &'a str,
    postal_code: &'a str,
    city: &'a str,
    state: &'a str,
    country: &'a str,
) -> Option<BillingAddress<'a>> {
    let all = [street, house_number_or_name, postal_code, city].iter().all(|text| !text.trim().is_empty());
    let state_or_province = STATE_CHARS.contains(&state.chars().count()).then_some(state);
    (all && country.len() == COUNTRY_CHARS).then_some(BillingAddress {
        city,
        country,
        house_number_or_name,
        postal_code,
        state_or_province,
        street,
    })
}
