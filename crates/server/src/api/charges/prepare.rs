//! Resolves a parsed body into a complete charge: merchant, buyer, card or payer, and route. A refusal here leaves no
//! trace; only a payer in the body who is not a customer yet is created, once nothing else can be refused.

use regente_domain::card::Cvv;
use regente_domain::card::record::{CardState, Unchecked};
use regente_domain::charge::analysis::Screening;
use regente_domain::charge::authentication::{
    Authentication, Authenticator, LiabilityShift, Purpose as Purpose3ds,
};
use regente_domain::charge::explanation::Explanation;
use regente_domain::charge::{
    CardSource, Charge, ChargeState, PayerSource, PaymentMethod, PaymentType, Recurrence,
};
use regente_domain::id::{CardId, Id, TokenId, of};
use regente_domain::local_day::day_of;
use regente_domain::routing::Needs;
use regente_domain::seller::Seller;
use regente_engine::audit::Openings;
use regente_engine::caller::{Authority, Caller, RequestId};
use regente_engine::card_data::{
    CvvSource, FundingSource, NewCard, TokenContents, must_not_name_source, new_card, open_token, seal_card,
    wallets,
};
use regente_engine::error::Error;
use regente_engine::flows::authentication::THREE_D_SECURE;
use regente_engine::flows::charge::{CVV_TOKEN_PATH, NewCharge, TOKEN_PATH, setup_not_found};
use regente_engine::flows::customers::payer::{self, PRINTED_PAYER, PayingCustomer, PrintedPayer};
use regente_engine::flows::customers::{ResolvedCustomer, find_matching, resolve_customer};
use regente_engine::flows::route::{self, RiskData};
use regente_engine::flows::split;
use regente_engine::flows::vendors;
use regente_engine::idempotency::Claim;
use regente_engine::vault::{Binding, Purpose, token_digest};
use regente_providers::authentication::ThreeDSecure;
use regente_providers::request::{CardDetails, PayerDetails};
use regente_store::authentication_setups::{self, AuthenticationSetup};
use regente_store::merchants::MerchantWithProviders;
use regente_store::sealed::Sealed;
use regente_store::tokens::TokenKind;
use regente_store::{cards, tokens};
use serde_json::Map;
use uuid::Uuid;

use super::request::{AddressRule, CardOwner, ChargeRequest, FRAUD_ANALYSIS, Paid, Payer, Source};
use crate::api::split_rules::SPLIT_RULES;
use crate::app::App;

/// Resolves the ids of a request and chooses its route.
pub(super) async fn prepare(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    request: ChargeRequest,
    claim: Option<Claim>,
    openings: Openings,
    seed: Option<String>,
) -> Result<NewCharge, Error> {
    let merchant = route::merchant(app, caller.client_id, request.merchant_id)
        .await?
        .ok_or(Error::ReferenceNotFound("merchantId"))?;
    let data = match request.private.contains_key(FRAUD_ANALYSIS) {
        true => RiskData::Sent,
        false => RiskData::Absent,
    };
    let screening = route::screening(app, &merchant, request.paid.payment_type(), data);
    let customer = match request.customer_id {
        Some(id) => {
            Some(resolve_customer(app, caller, id).await?.ok_or(Error::ReferenceNotFound("customerId"))?)
        }
        None => None,
    };
    let named = split::Named::find(app, caller.client_id, request.merchant_id, &request.split_rules).await?;
    let sellers = match request.session_id {
        None => named.all()?,
        Some(_) => named.all_of_session()?,
    };
    let (payment_type, installments) = (request.paid.payment_type(), request.paid.installments());
    let recurrence = match &request.paid {
        Paid::ByCard(method, _) => method.recurrence(),
        Paid::ByPayer(..) | Paid::ByWallet(..) => None,
    };
    let (explanation, circuit_probes) =
        app.circuits.narrow(route_of(app, &merchant, &request, screening.as_deref(), &sellers)?);
    let asked = explanation.considered.iter().filter(|considered| considered.skipped.is_none());
    let asked = asked.map(|considered| considered.provider_type);
    let vendor = vendors::checked(app, caller.client_id, request.vendor.as_deref(), asked).await?;
    let Charged { method, funding, tokens, customer } = match request.paid {
        Paid::ByCard(method, source) => {
            let carded = resolve_source(app, caller, source, &openings).await?;
            Charged {
                method: method.paid_with(carded.source),
                funding: carded.funding,
                tokens: carded.tokens,
                customer: same_customer(customer, carded.customer)?,
            }
        }
        Paid::ByPayer(method, payer) => {
            let today = day_of(app.clock.of(caller.client_id));
            method.check(today)?;
            let PayingCustomer { customer, details } =
                resolve_payer(app, caller, request_id, customer, payer, method.address_rule()).await?;
            Charged {
                method: method.paid_by(PayerSource { customer_id: customer.real_id }, today),
                funding: FundingSource::Payer(Box::new(details)),
                tokens: Vec::new(),
                customer: Some(customer),
            }
        }
        Paid::ByWallet(method, wallet) => {
            let price = (request.amount, request.currency);
            let funding = wallets::fund(app, caller.client_id, wallet, price, &openings)?;
            Charged {
                method: method.paid(),
                funding: FundingSource::Wallet(Box::new(funding)),
                tokens: Vec::new(),
                customer,
            }
        }
    };
    let words = [
        ("orderId", request.order_id.as_deref()),
        ("providerReferenceKey", request.references.provider_reference_key.as_deref()),
        ("description", request.references.description.as_deref()),
        ("statementDescriptor", request.references.statement_descriptor.as_deref()),
    ];
    must_not_name_source(app, &funding, &words).await?;
    let authentication = match &request.authentication {
        Some(data) => {
            let mut authentication = authentication_of(app, caller, data, &funding, recurrence).await?;
            // Issuers refuse debit cards whose holder nobody has authenticated.
            if payment_type == PaymentType::Debit {
                authentication.liability_shift = LiabilityShift::Required;
            }
            Some(Box::new(authentication))
        }
        None => None,
    };
    let now = app.clock.of(caller.client_id);
    let id = app.chance.id(now);
    let fee = merchant.merchant.details.platform_fee.of_charge(payment_type, installments, now);
    let split = split::of_rules(split::rules_with(app, &request.split_rules, &sellers, now), fee);
    if let Some(split) = &split {
        split.fit(request.amount).map_err(|misfit| split::misfit(SPLIT_RULES, misfit))?;
    }
    let mut private = request.private;
    if let FundingSource::Payer(payer) = &funding
        && let Some(printed) = PrintedPayer::of(&method, payer)
    {
        private.insert(PRINTED_PAYER.to_owned(), serde_json::to_value(printed).map_err(Error::internal)?);
    }
    let private = match private.is_empty() {
        true => None,
        false => {
            let plain = serde_json::to_vec(&private).map_err(Error::internal)?;
            Some(app.vault.seal(Binding::new(Purpose::ChargeData, caller.client_id, id.uuid()), &plain))
        }
    };
    let charge = Charge {
        id,
        client_id: caller.client_id,
        merchant_id: request.merchant_id,
        customer_id: customer.as_ref().map(|customer| customer.real_id),
        customer_alias: customer.as_ref().and_then(alias_of),
        order_id: request.order_id,
        purchase_id: None,
        session_id: request.session_id,
        vendor: request.vendor,
        screening,
        split,
        method,
        amount: request.amount,
        original_amount: request.amount,
        paid_otherwise: None,
        currency: request.currency,
        capture: request.capture,
        references: request.references,
        state: ChargeState::Processing,
        authentication,
        explanation: Explanation::default(),
        position: 0,
        requests: 1,
        unknown_members: Map::new(),
        version: 1,
        updated_at: now,
    }
    .routed(explanation);
    Ok(NewCharge {
        charge,
        private,
        source: funding,
        setup_id: request.authentication.as_ref().and_then(|data| data.setup_id),
        data: request.authentication,
        vendor,
        sellers,
        tokens,
        openings: Some(openings),
        merchant,
        circuit_probes,
        claim,
        purchase: None,
        actor: caller.actor(),
        seed,
    })
}

/// What a charge demands of the authentication of its cardholder.
async fn authentication_of(
    app: &App,
    caller: &Caller,
    data: &ThreeDSecure,
    funding: &FundingSource,
    recurrence: Option<Recurrence>,
) -> Result<Authentication, Error> {
    let purpose = match data.data_only {
        Some(true) => Purpose3ds::ShareData,
        Some(false) | None => Purpose3ds::Authenticate,
    };
    let by = match (data.setup_id, &data.mpi) {
        (_, Some(_)) => Authenticator::Merchant,
        (None, None) => Authenticator::PaymentProvider { purpose },
        (Some(setup_id), None) => {
            let now = app.clock.of(caller.client_id);
            let found = authentication_setups::find(&app.store, caller.client_id, setup_id, now).await?;
            let setup = found.filter(|setup| Some(setup.fingerprint) == fingerprint_of(funding));
            let AuthenticationSetup { server, .. } = setup.ok_or_else(setup_not_found)?;
            Authenticator::Server { server, setup_id, purpose }
        }
    };
    let by = by.unless_away(recurrence);
    let is_away = matches!(by, Authenticator::Merchant | Authenticator::Nobody);
    if !is_away && app.settings.base_url.is_none() {
        return Err(Error::invalid(
            THREE_D_SECURE,
            "is not available: the operator has not set the address of this service, `server.base_url`",
        ));
    }
    let liability_shift = match data.requires_liability_shift {
        Some(true) => LiabilityShift::Required,
        Some(false) | None => LiabilityShift::NotRequired,
    };
    Ok(Authentication { by, liability_shift })
}

fn fingerprint_of(funding: &FundingSource) -> Option<Uuid> {
    match funding {
        FundingSource::NewCard(new) => Some(new.card.fingerprint),
        FundingSource::StoredCard { found, .. } => Some(found.stored.card.fingerprint),
        FundingSource::Payer(_) | FundingSource::Wallet(_) => None,
    }
}

fn alias_of(customer: &ResolvedCustomer) -> Option<Id<of::CustomerAlias>> {
    customer.via_alias.then(|| Id::new(customer.shown_id.uuid()))
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

/// The route; an error when no provider of the merchant can serve the charge (`docs/interface/charges.md#creating`).
fn route_of(
    app: &App,
    merchant: &MerchantWithProviders,
    request: &ChargeRequest,
    screening: Option<&Screening>,
    sellers: &[Seller],
) -> Result<Explanation, Error> {
    let payment_type = request.paid.payment_type();
    let needs = Needs {
        payment_type,
        currency: request.currency,
        installments: request.paid.installments(),
        capture: route::capture_needed(screening, payment_type, request.capture),
    };
    route::choose(app, merchant, &needs, sellers).ok_or_else(|| {
        Error::impossible(format!("no provider available for paymentType {}", payment_type.word()))
    })
}

/// The payment method of a charge with its resolved source.
struct Charged {
    method: PaymentMethod,
    funding: FundingSource,
    tokens: Vec<[u8; 32]>,
    customer: Option<ResolvedCustomer>,
}

/// The payer, found or created. `named` is the buyer that the body names beside the source.
async fn resolve_payer(
    app: &App,
    caller: &Caller,
    request_id: &RequestId,
    named: Option<ResolvedCustomer>,
    payer: Payer,
    rule: AddressRule,
) -> Result<PayingCustomer, Error> {
    match payer {
        Payer::Stored(id) => {
            const PATH: &str = "paymentSource.customerId";
            let paying = payer::stored(app, caller, id).await?.ok_or(Error::ReferenceNotFound(PATH))?;
            same_customer(named, Some(paying.customer))?;
            if rule == AddressRule::Complete {
                must_have_address(&paying.details, PATH)?;
            }
            Ok(paying)
        }
        // Whoever names both with a public key would learn whose e-mail or document it is.
        Payer::Described(_) if named.is_some() && !matches!(caller.authority, Authority::SecretKey) => {
            Err(Error::invalid("customerId", "must be absent beside a customer in the body"))
        }
        Payer::Described(new) => {
            let is_allowed = |customer: ResolvedCustomer| same_customer(named, Some(customer)).map(drop);
            const PATH: &str = "paymentSource.customer";
            payer::found_or_created(app, caller, request_id, *new, PATH, is_allowed).await
        }
    }
}

/// A stored customer may lack an address, or a part of it. One in the body was checked when it was read.
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

/// The resolved card of a charge.
struct Carded {
    source: CardSource,
    funding: FundingSource,
    tokens: Vec<[u8; 32]>,
    customer: Option<ResolvedCustomer>,
}

async fn resolve_source(
    app: &App,
    caller: &Caller,
    source: Source,
    openings: &Openings,
) -> Result<Carded, Error> {
    match source {
        Source::InlineCard(card) => {
            let details = card.checked(app.clock.of(caller.client_id))?;
            store_first(app, caller, details, None).await
        }
        Source::Token(token_id) => {
            let sealed = find_token(app, caller, token_id, TokenKind::Card).await?;
            openings.note(token_digest(token_id));
            let opened = open_token(app, caller.client_id, token_id, &sealed).await?;
            let TokenContents::Card(details) = opened else {
                return Err(Error::token_not_found(TOKEN_PATH));
            };
            store_first(app, caller, details, Some(token_id)).await
        }
        Source::StoredCard { card_id, cvv } => {
            let source = CardSource::Card { card_id };
            stored(app, caller, card_id, "paymentSource.cardId", cvv, source).await
        }
        Source::Customer { payer, cvv } => default_card(app, caller, payer, cvv).await,
    }
}

/// A new card, stored with this charge.
async fn store_first(
    app: &App,
    caller: &Caller,
    details: CardDetails,
    token_id: Option<TokenId>,
) -> Result<Carded, Error> {
    let card = new_card(app, caller.client_id, &details, CardState::Pending(Unchecked::NotAskedFor)).await?;
    let sealed = seal_card(app, caller.client_id, card.id, &details);
    Ok(Carded {
        source: CardSource::Card { card_id: card.id },
        funding: FundingSource::NewCard(Box::new(NewCard { card, sealed, details })),
        tokens: token_id.map(token_digest).into_iter().collect(),
        customer: None,
    })
}

fn cannot_be_used(path: &str, message: &'static str) -> Error {
    Error::Impossible { message: message.into(), details: vec![format!("{path}: {message}")] }
}

async fn stored(
    app: &App,
    caller: &Caller,
    card_id: CardId,
    path: &'static str,
    cvv: CvvSource,
    source: CardSource,
) -> Result<Carded, Error> {
    let found = cards::find_with_number(&app.store, caller.client_id, card_id)
        .await?
        .ok_or(Error::ReferenceNotFound(path))?;
    if let CardState::Failed { .. } = found.stored.card.state {
        return Err(cannot_be_used(path, "card cannot be used in status failed"));
    }
    let (cvv, tokens) = resolve_cvv(app, caller, cvv).await?;
    let funding = FundingSource::StoredCard { found: Box::new(found), cvv };
    Ok(Carded { source, funding, tokens, customer: None })
}

async fn resolve_cvv(
    app: &App,
    caller: &Caller,
    cvv: CvvSource,
) -> Result<(Option<Cvv>, Vec<[u8; 32]>), Error> {
    match cvv {
        CvvSource::None => Ok((None, Vec::new())),
        CvvSource::Inline(cvv) => Ok((Some(cvv), Vec::new())),
        CvvSource::Token(token_id) => {
            let sealed = find_token(app, caller, token_id, TokenKind::Cvv).await?;
            match open_token(app, caller.client_id, token_id, &sealed).await? {
                TokenContents::Cvv(cvv) => Ok((Some(cvv), vec![token_digest(token_id)])),
                TokenContents::Card(_) => Err(Error::token_not_found(CVV_TOKEN_PATH)),
            }
        }
    }
}

/// The usable card that was linked last (`docs/interface/tokens-and-cards.md#default-card`).
async fn default_card(app: &App, caller: &Caller, owner: CardOwner, cvv: CvvSource) -> Result<Carded, Error> {
    const NO_CARD: &str = "customer has no card that can be charged";
    let (path, id) = match owner {
        CardOwner::Stored(id) => ("paymentSource.customerId", Some(id)),
        // A caller with a public key could send anybody's document.
        CardOwner::Described { .. } if caller.is_public_key() => {
            return Err(Error::invalid(
                "paymentSource.customer",
                "must be given as customerId with a public key, when his card is charged",
            ));
        }
        CardOwner::Described { email, document } => {
            ("paymentSource.customer", find_matching(app, caller, &email, &document).await?)
        }
    };
    let Some(id) = id else { return Err(cannot_be_used(path, NO_CARD)) };
    let customer = resolve_customer(app, caller, id).await?.ok_or(Error::ReferenceNotFound(path))?;
    if customer.via_alias && caller.is_public_key() {
        return Err(Error::invalid(path, "must be a customer whose cards may be used"));
    }
    let of_customer = cards::of_customer(&app.store, caller.client_id, customer.real_id).await?;
    let usable = |stored: &&cards::StoredCard| match stored.card.state {
        CardState::Active | CardState::Pending(_) => true,
        CardState::Failed { .. } | CardState::Verifying => false,
    };
    let Some(card_id) = of_customer.iter().find(usable).map(|stored| stored.card.id) else {
        return Err(cannot_be_used(path, NO_CARD));
    };
    let source = CardSource::Customer { customer_id: customer.real_id, card_id };
    let charged = stored(app, caller, card_id, path, cvv, source).await?;
    Ok(Carded { customer: Some(customer), ..charged })
}

/// A valid token, sealed. The batch that begins the charge uses it up.
async fn find_token(app: &App, caller: &Caller, token_id: TokenId, kind: TokenKind) -> Result<Sealed, Error> {
    let now = app.clock.of(caller.client_id);
    let found = tokens::find(&app.store, caller.client_id, token_digest(token_id), now).await?;
    let path = match kind {
        TokenKind::Card => TOKEN_PATH,
        TokenKind::Cvv => CVV_TOKEN_PATH,
    };
    let stored = found.filter(|token| token.kind == kind).ok_or_else(|| Error::token_not_found(path))?;
    Ok(stored.sealed)
}
