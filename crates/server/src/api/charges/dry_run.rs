//! `POST /v1/charges` with `X-Dry-Run: true`: what the charge would do (`docs/interface/charges.md#dry-run`).

use std::collections::HashMap;

use axum::Json;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use regente_domain::capture_mode::CaptureMode;
use regente_domain::card::ShownBrand;
use regente_domain::charge::foreseen::{Foreseen, When};
use regente_domain::charge::timeline::{self, Audience};
use regente_domain::currency::Currency;
use regente_domain::id::{CustomerId, MerchantId, ProviderId, SellerId};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ShownProviderType;
use regente_engine::caller::{Caller, RequestId};
use regente_engine::charges::{self, DryRun};
use regente_engine::events::split::{PlatformFeeView, SplitRuleView};
use regente_engine::events::transaction_request::ShownRequestType;
use regente_store::flows;
use serde::Serialize;
use utoipa::ToSchema;

use super::begin::{ROUTE, requester};
use super::explanation::{CandidateView, FlowTakenView};
use super::request;
use crate::api::fields::Body;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::limits::read_bytes;

/// What a charge would do. No charge was made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChargeDryRun)]
pub struct DryRunView {
    merchant_id: MerchantId,
    /// In minor units.
    #[schema(value_type = i64, example = 150)]
    amount: Amount,
    currency: Currency,
    payment_type: PaymentType,
    #[schema(example = 1)]
    installments: u8,
    /// Whether the amount would be captured at once.
    capture: bool,
    /// The customer of the charge. Null when there is none, or when they would be created.
    #[schema(required = true)]
    customer_id: Option<CustomerId>,
    /// Whether the buyer in the body would become a customer.
    creates_customer: bool,
    /// The flow that chose the order, with the nodes that were visited. Null where the priorities of the providers did.
    #[schema(required = true)]
    flow: Option<FlowTakenView>,
    /// The merchant's providers, or those of the branch of its flow, in the order of the route; `skipped` says why one is left out.
    providers: Vec<CandidateView>,
    /// What would be sent to whom, in this order.
    requests: Vec<PlannedRequestView>,
    /// The rules that divide the charge. Null without any.
    #[schema(required = true)]
    split_rules: Option<Vec<SplitRuleView>>,
    /// What the platform keeps. Null where it keeps nothing.
    #[schema(required = true)]
    platform_fee: Option<PlatformFeeView>,
    /// What each would get. Null where nothing is divided.
    #[schema(required = true)]
    division: Option<DivisionView>,
}

/// A request that would be sent to a provider.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DryRunRequest)]
struct PlannedRequestView {
    /// Null for a 3DS server.
    #[schema(required = true)]
    provider_id: Option<ProviderId>,
    #[schema(value_type = ShownProviderType, example = "SANDBOX")]
    provider_type: &'static str,
    /// The merchant's name for the provider.
    #[schema(required = true, example = "Main")]
    name: Option<String>,
    #[schema(value_type = ShownRequestType, example = "authorization")]
    request_type: &'static str,
    when: When,
    /// In minor units.
    #[schema(value_type = i64, example = 150)]
    amount: Amount,
    currency: Currency,
    #[schema(example = 1)]
    installments: u8,
    /// The text on the statement of the card.
    #[schema(required = true)]
    statement_descriptor: Option<String>,
    /// The card. Null where none pays.
    #[schema(required = true)]
    card: Option<PlannedCardView>,
}

/// The card that a provider would be told of: number, holder and expiry, of which this is shown.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DryRunCard)]
struct PlannedCardView {
    #[schema(example = "491674")]
    first6digits: String,
    #[schema(example = "4124")]
    last4digits: String,
    #[schema(required = true)]
    brand: ShownBrand,
}

/// What each would get of a charge, in minor units.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DryRunDivision)]
struct DivisionView {
    sellers: Vec<SellerShareView>,
    #[schema(value_type = i64)]
    merchant: Amount,
    #[schema(value_type = i64)]
    platform: Amount,
}

/// What a seller would get.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DryRunSellerShare)]
struct SellerShareView {
    seller_id: SellerId,
    #[schema(value_type = i64)]
    amount: Amount,
}

/// Answers a request of a secret key.
pub(super) async fn answer(app: App, caller: Caller, mut request: Request) -> Result<Response, ApiError> {
    let headers = std::mem::take(request.headers_mut());
    let request_id = request.extensions().get::<RequestId>().cloned().unwrap_or_else(|| RequestId::new(""));
    let bytes = read_bytes(request).await?;
    let _admission = app.store.admit(caller.client_id)?;
    let body = Body::parse(&bytes)?;
    let order = request::read(&body, app.settings.mode)?;
    let requester = requester(&caller, request_id, (&headers, ROUTE.to_owned()), &body)?;
    let run = charges::dry_run(&app.engine, order, requester).await?;
    Ok(Json(view(&app, &run).await?).into_response())
}

async fn view(app: &App, run: &DryRun) -> Result<DryRunView, ApiError> {
    let charge = &run.charge;
    let flow = match &charge.explanation.flow {
        Some(taken) => flows::find(&app.store, charge.client_id, taken.id).await?,
        None => None,
    };
    let named = charge.explanation.considered.iter().filter_map(|considered| {
        Some((considered.provider_id, run.name_of(considered.provider_id)?.to_owned()))
    });
    let names: HashMap<ProviderId, String> = named.collect();
    let timeline = timeline::tell(charge, &[], &names, Audience::Merchant);
    let split = charge.split.as_deref();
    let division = split.zip(run.shares.as_ref()).map(|(split, shares)| DivisionView {
        sellers: split
            .rules
            .iter()
            .zip(&shares.sellers)
            .map(|(rule, amount)| SellerShareView { seller_id: rule.seller_id, amount: *amount })
            .collect(),
        merchant: shares.merchant,
        platform: shares.fee,
    });
    Ok(DryRunView {
        merchant_id: charge.merchant_id,
        amount: charge.amount,
        currency: charge.currency,
        payment_type: charge.method.payment_type(),
        installments: charge.method.installments(),
        capture: charge.method.payment_type().capture(charge.capture) == CaptureMode::Automatic,
        customer_id: charge.customer_id.filter(|_| !run.creates_customer),
        creates_customer: run.creates_customer,
        flow: charge
            .explanation
            .flow
            .as_deref()
            .zip(flow)
            .map(|(taken, version)| FlowTakenView::of(&version, taken)),
        providers: timeline.providers.iter().map(CandidateView::of).collect(),
        requests: charge
            .foreseen()
            .into_iter()
            .map(|foreseen| PlannedRequestView::of(run, foreseen))
            .collect(),
        split_rules: split.map(|split| split.rules.iter().map(SplitRuleView::of).collect()),
        platform_fee: PlatformFeeView::of(charge),
        division,
    })
}

impl PlannedRequestView {
    fn of(run: &DryRun, foreseen: Foreseen) -> Self {
        let Foreseen { provider_id, provider_type, request_type, when } = foreseen;
        let charge = &run.charge;
        Self {
            provider_id,
            provider_type: provider_type.shown(),
            name: provider_id.and_then(|id| run.name_of(id)).map(str::to_owned),
            request_type: request_type.word(),
            when,
            amount: charge.amount,
            currency: charge.currency,
            installments: charge.method.installments(),
            statement_descriptor: charge.references.statement_descriptor.clone(),
            card: run.card.as_ref().map(|face| PlannedCardView {
                first6digits: face.first6digits.to_string(),
                last4digits: face.last4digits.to_string(),
                brand: ShownBrand(face.brand),
            }),
        }
    }
}
