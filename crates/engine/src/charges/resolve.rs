//! Resolves an order into a complete charge: merchant, buyer, what pays, and route. A refusal here leaves no trace; only a
//! payer that was described and is not a customer yet is created, once nothing else can be refused.

mod authentication;
mod card;
mod payer;

use std::sync::Arc;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::analysis::Screening;
use regente_domain::charge::{Charge, PaymentMethod, References};
use regente_domain::currency::Currency;
use regente_domain::flow::{Draws, Facts};
use regente_domain::id::{ChargeId, ClientId, CustomerId, Id, MerchantId, of};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::purchase::Change;
use regente_domain::routing::Needs;
use regente_domain::routing::explanation::Explanation;
use regente_domain::seller::Seller;
use regente_domain::split::{Split, SplitRule};
use regente_domain::time::Timestamp;
use regente_domain::vendor::NamedVendor;
use regente_providers::request::VendorDetails;
use regente_store::merchants::MerchantWithProviders;
use regente_store::sealed::Sealed;
use serde_json::{Map, Value};

use super::method::PayerMethod;
use super::order::{Buyer, ChargeOrder, Origin, PaidBy, PlacedBy, PurchaseSlot};
use super::source::OrderedPayer;
use crate::anti_fraud::FRAUD_ANALYSIS;
use crate::app::App;
use crate::audit::Openings;
use crate::calls::merchants::KnownMerchant;
use crate::card_data::{FundingSource, must_not_name_source, wallets};
use crate::charges::create::{NewCharge, PartOf, PurchaseStep};
use crate::charges::routing::{self as routes, FlowChoice, RiskData};
use crate::charges::split::{self, SPLIT_RULES};
use crate::customers::payer::{PRINTED_PAYER, PrintedPayer};
use crate::customers::{ResolvedCustomer, resolve_customer};
use crate::error::Error;
use crate::idempotency::Claim;
use crate::vault::{Binding, Purpose};
use crate::vendors;

/// What an order is resolved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// Its charge is made.
    Place,
    /// Its charge is only described: no customer is created.
    DryRun,
}

/// Resolves what an order names and chooses its route.
pub(super) async fn resolve(
    app: &App,
    order: ChargeOrder,
    by: &PlacedBy,
    claim: Option<Claim>,
    intent: Intent,
) -> Result<NewCharge, Error> {
    let client_id = by.client_id();
    let openings = by.openings(app);
    let merchant = find_merchant(app, client_id, order.merchant_id).await?;
    let buyer = match order.buyer {
        Some(Buyer::Named(id)) => Some(find_buyer(app, client_id, id).await?),
        Some(Buyer::Found(buyer)) => Some(buyer),
        None => None,
    };
    let sellers = sellers_of(app, client_id, &order).await?;
    let wanted = Wanted::of(&order);
    let price = (order.amount, order.currency);
    let paying = find_paying(app, by, buyer, order.paid_by, price, &openings).await?;
    let metadata = order.references.flow_metadata.as_ref();
    let flow = flow_of(app, &merchant, (&wanted, metadata), &paying, claim.as_ref()).await?;
    let screening = routes::screening(app, &merchant, wanted.payment_type, wanted.risk_data, flow.as_ref());
    let route = route_of(app, &merchant, &wanted, screening.as_deref(), &sellers, flow)?;
    let (explanation, circuit_probes) = app.circuits.narrow(route);
    let vendor = vendor_of(app, client_id, order.vendor.as_deref(), &explanation).await?;
    let Funded { method, source, tokens, customer } = match paying {
        Paying::Found(funded) => *funded,
        Paying::Payer(method, named) => payer::fund(app, (by, intent), buyer, method, *named).await?,
    };
    must_not_name_source(app, &source, &words_of(order.order_id.as_deref(), &order.references)).await?;
    let data = order.authentication;
    let authentication = match data.as_deref() {
        Some(data) => Some(Box::new(authentication::of(app, client_id, data, &source, &method).await?)),
        None => None,
    };
    let now = app.clock.of(client_id);
    let id = app.chance.id(now);
    let split = divide(app, &merchant, &method, (&order.split_rules, &sellers), order.amount, now)?;
    let private = seal(app, client_id, id, order.private, &method, &source)?;
    let charge = Charge {
        customer_id: customer.as_ref().map(|customer| customer.real_id),
        customer_alias: customer.as_ref().and_then(alias_of),
        order_id: order.order_id,
        purchase_id: order.origin.purchase_id(),
        session_id: order.origin.session_id(),
        subscription_id: order.origin.subscription_id(),
        vendor: order.vendor,
        references: Arc::new(order.references),
        authentication,
        screening,
        split,
        ..Charge::new(id, client_id, order.merchant_id, method, price, order.capture, now)
    };
    Ok(NewCharge {
        charge: charge.routed(explanation),
        private,
        source,
        setup_id: data.as_ref().and_then(|data| data.setup_id),
        data,
        vendor,
        sellers,
        tokens,
        openings,
        merchant,
        circuit_probes,
        claim,
        part_of: begins(app, order.origin, id, now)?,
        actor: by.actor(),
        seed: by.simulator_seed(),
    })
}

/// The merchant with its providers.
///
/// # Errors
/// [`Error::ReferenceNotFound`].
pub async fn find_merchant(
    app: &App,
    client_id: ClientId,
    id: MerchantId,
) -> Result<Arc<KnownMerchant>, Error> {
    routes::merchant(app, client_id, id).await?.ok_or(Error::ReferenceNotFound("merchantId"))
}

/// The buyer that an order names.
///
/// # Errors
/// [`Error::ReferenceNotFound`].
pub async fn find_buyer(app: &App, client_id: ClientId, id: CustomerId) -> Result<ResolvedCustomer, Error> {
    resolve_customer(app, client_id, id).await?.ok_or(Error::ReferenceNotFound("customerId"))
}

/// Checks that a charge with these needs, of which nothing else is known yet, may find a provider.
///
/// # Errors
/// [`Error::Impossible`] when none can serve it (`docs/interface/charges.md#creating`).
pub fn must_be_servable(app: &App, merchant: &KnownMerchant, needs: &Needs) -> Result<(), Error> {
    match routes::may_be_served(app, merchant, needs) {
        true => Ok(()),
        false => Err(no_provider(needs.payment_type)),
    }
}

fn no_provider(payment_type: PaymentType) -> Error {
    Error::impossible(format!("no provider available for paymentType {}", payment_type.word()))
}

/// What is known of an order before anything that it names is looked up, as far as it decides about the route.
struct Wanted {
    payment_type: PaymentType,
    installments: u8,
    amount: Amount,
    currency: Currency,
    capture: CaptureMode,
    risk_data: RiskData,
}

impl Wanted {
    fn of(order: &ChargeOrder) -> Self {
        Self {
            payment_type: order.paid_by.payment_type(),
            installments: order.paid_by.installments(),
            amount: order.amount,
            currency: order.currency,
            capture: order.capture,
            risk_data: match order.private.contains_key(FRAUD_ANALYSIS) {
                true => RiskData::Sent,
                false => RiskData::Absent,
            },
        }
    }
}

/// What the merchant's flow says. The draws of its balances come from the idempotency key where there is one: the same key has
/// the same.
async fn flow_of(
    app: &App,
    merchant: &KnownMerchant,
    (wanted, metadata): (&Wanted, Option<&Value>),
    paying: &Paying,
    claim: Option<&Claim>,
) -> Result<Option<FlowChoice>, Error> {
    let card = match paying {
        Paying::Found(funded) => funded.source.card(),
        Paying::Payer(..) => None,
    };
    let facts = Facts {
        amount: wanted.amount.minor_units(),
        currency: wanted.currency,
        installments: card.map(|_| wanted.installments),
        bin: card.map(|card| card.face.first6digits.as_str()),
        brand: card.and_then(|card| card.face.brand),
        metadata: metadata.and_then(Value::as_object),
    };
    let seed = || match claim {
        Some(claim) => claim.seed(),
        None => u64::from_be_bytes(app.chance.bytes()),
    };
    Ok(merchant.choose(app, wanted.payment_type, &facts, || Draws::seeded(seed())).await?)
}

fn route_of(
    app: &App,
    merchant: &MerchantWithProviders,
    wanted: &Wanted,
    screening: Option<&Screening>,
    sellers: &[Seller],
    flow: Option<FlowChoice>,
) -> Result<Explanation, Error> {
    let needs = Needs {
        payment_type: wanted.payment_type,
        currency: wanted.currency,
        installments: wanted.installments,
        capture: routes::capture_needed(screening, wanted.payment_type, wanted.capture),
    };
    routes::choose(app, merchant, &needs, sellers, flow).ok_or_else(|| no_provider(wanted.payment_type))
}

/// The sellers of the rules, in their order.
async fn sellers_of(app: &App, client_id: ClientId, order: &ChargeOrder) -> Result<Vec<Seller>, Error> {
    let named = split::Named::find(app, client_id, order.merchant_id, &order.split_rules).await?;
    match &order.origin {
        Origin::Request | Origin::Purchase(_) | Origin::Subscription(_) => named.all(),
        Origin::Session(_) => named.all_of_session(),
    }
}

/// The vendor, as the providers that may be asked would be told of it.
async fn vendor_of(
    app: &App,
    client_id: ClientId,
    vendor: Option<&NamedVendor>,
    explanation: &Explanation,
) -> Result<Option<Box<VendorDetails>>, Error> {
    let asked = explanation.considered.iter().filter(|considered| considered.skipped.is_none());
    let asked = asked.map(|considered| considered.provider_type);
    vendors::checked(app, client_id, vendor, asked).await
}

/// The payment method of a charge with what pays.
struct Funded {
    method: PaymentMethod,
    source: FundingSource,
    /// The tokens that it uses up, by their digests.
    tokens: Vec<[u8; 32]>,
    customer: Option<ResolvedCustomer>,
}

/// What pays, as far as it is looked up before the route is chosen.
enum Paying {
    /// A card, which a flow may ask about, or what a wallet has handed out.
    Found(Box<Funded>),
    /// A payer, who is looked up once nothing else can be refused, since they may become a customer by it.
    Payer(PayerMethod, Box<OrderedPayer>),
}

/// Looks up what pays.
async fn find_paying(
    app: &App,
    by: &PlacedBy,
    buyer: Option<ResolvedCustomer>,
    paid_by: PaidBy,
    price: (Amount, Currency),
    openings: &Openings,
) -> Result<Paying, Error> {
    match paid_by {
        PaidBy::Card(method, named) => {
            let funded = card::fund(app, by, buyer, method, named, openings).await?;
            Ok(Paying::Found(Box::new(funded)))
        }
        PaidBy::Payer(method, named) => Ok(Paying::Payer(method, Box::new(named))),
        PaidBy::Wallet(method, wallet) => {
            let funding = wallets::fund(app, by.client_id(), wallet, price, openings)?;
            Ok(Paying::Found(Box::new(Funded {
                method: method.paid(),
                source: FundingSource::Wallet(Box::new(funding)),
                tokens: Vec::new(),
                customer: buyer,
            })))
        }
    }
}

/// Checks that a buyer named twice is the same (`docs/interface/charges.md#creating`).
fn same_customer(
    named: Option<ResolvedCustomer>,
    paying: Option<ResolvedCustomer>,
) -> Result<Option<ResolvedCustomer>, Error> {
    match (named, paying) {
        (Some(named), Some(paying)) if named.real_id != paying.real_id => {
            Err(Error::invalid("customerId", "must be the customer of paymentSource"))
        }
        (Some(named), _) => Ok(Some(named)),
        (None, paying) => Ok(paying),
    }
}

fn alias_of(customer: &ResolvedCustomer) -> Option<Id<of::CustomerAlias>> {
    customer.via_alias.then(|| Id::new(customer.shown_id.uuid()))
}

/// Where nobody may write the number of the card that pays.
fn words_of<'a>(
    order_id: Option<&'a str>,
    references: &'a References,
) -> [(&'static str, Option<&'a str>); 4] {
    [
        ("orderId", order_id),
        ("providerReferenceKey", references.provider_reference_key.as_deref()),
        ("description", references.description.as_deref()),
        ("statementDescriptor", references.statement_descriptor.as_deref()),
    ]
}

/// The division among sellers, with what the platform keeps.
fn divide(
    app: &App,
    merchant: &MerchantWithProviders,
    method: &PaymentMethod,
    (rules, sellers): (&[SplitRule], &[Seller]),
    amount: Amount,
    now: Timestamp,
) -> Result<Option<Box<Split>>, Error> {
    let fees = &merchant.merchant.details.platform_fee;
    let fee = fees.of_charge(method.payment_type(), method.installments(), now);
    let split = split::of_rules(split::rules_with(app, rules, sellers, now), fee);
    if let Some(split) = &split {
        split.fit(amount).map_err(|misfit| split::misfit(SPLIT_RULES, misfit))?;
    }
    Ok(split)
}

/// Seals what is personal, with the payer that documents of the charge name.
fn seal(
    app: &App,
    client_id: ClientId,
    id: ChargeId,
    mut private: Map<String, Value>,
    method: &PaymentMethod,
    source: &FundingSource,
) -> Result<Option<Sealed>, Error> {
    if let FundingSource::Payer(payer) = source
        && let Some(printed) = PrintedPayer::of(method, payer)
    {
        private.insert(PRINTED_PAYER.to_owned(), serde_json::to_value(printed).map_err(Error::internal)?);
    }
    if private.is_empty() {
        return Ok(None);
    }
    let plain = serde_json::to_vec(&private).map_err(Error::internal)?;
    Ok(Some(app.vault.seal(Binding::new(Purpose::ChargeData, client_id, id.uuid()), &plain)))
}

/// What the charge is part of, before and after it begins.
fn begins(app: &App, origin: Origin, charge_id: ChargeId, now: Timestamp) -> Result<Option<PartOf>, Error> {
    match origin {
        Origin::Purchase(slot) => {
            let PurchaseSlot { purchase: before, index, without_code: private } = *slot;
            let step = before.apply(Change::SlotBegun(index, charge_id), now);
            Ok(Some(PartOf::Purchase(Box::new(PurchaseStep { before, step, private }))))
        }
        Origin::Subscription(attempt) => {
            // It is not due any more: another node came first.
            let step = attempt.begin(app, charge_id, now).ok_or_else(Error::busy)?;
            Ok(Some(PartOf::Subscription(step)))
        }
        Origin::Request | Origin::Session(_) => Ok(None),
    }
}
