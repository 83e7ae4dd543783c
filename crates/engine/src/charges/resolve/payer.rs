//! Finds the payer of a charge that is paid without a card, or creates them.

use regente_domain::charge::PayerSource;
use regente_domain::charge::sent::AddressRule;
use regente_domain::local_day::day_of;
use regente_providers::request::PayerDetails;

use super::{Funded, Intent, same_customer};
use crate::app::App;
use crate::card_data::FundingSource;
use crate::charges::method::PayerMethod;
use crate::charges::order::PlacedBy;
use crate::charges::source::OrderedPayer;
use crate::customers::ResolvedCustomer;
use crate::customers::payer::{self, PayingCustomer};
use crate::error::Error;

/// `buyer` is the one that the order names beside the payer.
pub(super) async fn fund(
    app: &App,
    (by, intent): (&PlacedBy, Intent),
    buyer: Option<ResolvedCustomer>,
    method: PayerMethod,
    named: OrderedPayer,
) -> Result<Funded, Error> {
    let today = day_of(app.clock.of(by.client_id()));
    method.check(today)?;
    let PayingCustomer { customer, details } =
        resolve(app, (by, intent), buyer, named, method.address_rule()).await?;
    Ok(Funded {
        method: method.paid_by(PayerSource { customer_id: customer.real_id }, today),
        source: FundingSource::Payer(Box::new(details)),
        tokens: Vec::new(),
        customer: Some(customer),
    })
}

async fn resolve(
    app: &App,
    (by, intent): (&PlacedBy, Intent),
    buyer: Option<ResolvedCustomer>,
    named: OrderedPayer,
    rule: AddressRule,
) -> Result<PayingCustomer, Error> {
    match (named, by) {
        (OrderedPayer::Stored(id), PlacedBy::Request(_) | PlacedBy::Job { .. }) => {
            const PATH: &str = "paymentSource.customerId";
            let paying =
                payer::stored(app, by.client_id(), id).await?.ok_or(Error::ReferenceNotFound(PATH))?;
            same_customer(buyer, Some(paying.customer))?;
            if rule == AddressRule::Complete {
                must_have_address(&paying.details, PATH)?;
            }
            Ok(paying)
        }
        // Whoever names both with a public key would learn whose e-mail or document it is.
        (OrderedPayer::Described(_), PlacedBy::Request(_)) if buyer.is_some() && by.is_public() => {
            Err(Error::invalid("customerId", "must be absent beside a customer in the body"))
        }
        (OrderedPayer::Described(new), PlacedBy::Request(requester)) => {
            let is_allowed = |customer: ResolvedCustomer| same_customer(buyer, Some(customer)).map(drop);
            const PATH: &str = "paymentSource.customer";
            let (caller, request_id) = (&requester.caller, &requester.request_id);
            match intent {
                Intent::Place => {
                    payer::found_or_created(app, caller, request_id, *new, PATH, is_allowed).await
                }
                Intent::DryRun => payer::foreseen(app, caller, request_id, *new, PATH, is_allowed).await,
            }
        }
        (OrderedPayer::Described(_), PlacedBy::Job { .. }) => {
            Err(Error::internal("a job describes a payer, although it knows the customers"))
        }
    }
}

/// A stored customer may lack an address, or a part of it. One that was sent was checked when it was read.
fn must_have_address(details: &PayerDetails, path: &str) -> Result<(), Error> {
    let lacks = match &details.address {
        None => vec![format!("{path}: the customer has no address")],
        Some(address) => {
            let missing = address.missing().into_iter();
            missing.map(|name| format!("{path}: the customer's address has no {name}")).collect()
        }
    };
    match lacks.is_empty() {
        true => Ok(()),
        false => {
            Err(Error::Impossible { message: "customer has no complete address".into(), details: lacks })
        }
    }
}
