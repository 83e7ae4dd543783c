//! Calls the providers of a charge one after the other, until the charge ends, waits for its payer, or has an unknown
//! outcome. The caller's request runs it for a new charge, a job when a payer returned without paying.

use std::sync::Arc;

use regente_domain::actor::Actor;
use regente_domain::card::Cvv;
use regente_domain::card::record::{Card, SecurityCodeSent};
use regente_domain::charge::attempt::{AuthenticationStep, RequestGroup, RiskStep, TransactionRequest};
use regente_domain::charge::authentication::{Authenticator, LiabilityShift};
use regente_domain::charge::{Charge, Means, PaymentSource, Recurrence, SecurityCode, StateName};
use regente_domain::id::CardId;
use regente_domain::seller::Seller;
use regente_providers::authentication::ThreeDSecure;
use regente_providers::division::Division;
use regente_providers::request::{
    Authorization, CardDetails, Instrument, Operation, PayerDetails, VendorDetails,
};
use regente_store::providers::Provider;
use regente_store::{cards, charges};

use crate::app::App;
use crate::calls::circuits::CircuitProbes;
use crate::calls::merchants::KnownMerchant;
use crate::card_data::{FundingSource, OpenedSource};
use crate::charges::create::Ran;
use crate::charges::plan_step::step;
use crate::charges::stored::reread;
use crate::charges::write_outcome::{self, ChargedWith, Written};
use crate::charges::{late_answer, routing, security_code, series, split};
use crate::clock::MachineTime;
use crate::customers::payer;
use crate::error::Error;
use crate::transaction_requests::call::{self, CallResult, SimulatorOverrides};
use crate::{anti_fraud, authentication, captures_and_voids, vendors};

/// A stored charge, with everything that the task holds while it waits for a provider.
pub(crate) struct Asking {
    charge: Charge,
    card: Option<Card>,
    instrument: Instrument,
    data: Option<Box<ThreeDSecure>>,
    vendor: Option<Box<VendorDetails>>,
    sellers: Vec<Seller>,
    merchant: Arc<KnownMerchant>,
    overrides: SimulatorOverrides,
    actor: Actor,
    started: MachineTime,
    /// The open request.
    request: TransactionRequest,
    /// Ended requests, oldest first.
    ended: Vec<TransactionRequest>,
    _circuit_probes: CircuitProbes,
}

/// What an authorization needs besides the charge.
pub(crate) struct Prerequisites {
    /// Where the money comes from; opened after the request that records the opening is written.
    pub(crate) source: FundingSource,
    /// What the merchant has sent about the authentication of the cardholder.
    pub(crate) data: Option<Box<ThreeDSecure>>,
    /// In whose name the charge is taken.
    pub(crate) vendor: Option<Box<VendorDetails>>,
    /// The sellers among whom the charge is divided.
    pub(crate) sellers: Vec<Seller>,
    /// The merchant with its providers.
    pub(crate) merchant: Arc<KnownMerchant>,
    /// The circuit probes that the charge holds.
    pub(crate) circuit_probes: CircuitProbes,
}

impl Prerequisites {
    /// Reads them for a charge whose payer was away; `None` when the card, the merchant, the vendor or a required security
    /// code no longer exists, and for whoever pays without a stored card.
    pub(crate) async fn of(app: &App, charge: &Charge) -> Result<Option<Self>, Error> {
        let source = match charge.method.source() {
            PaymentSource::Card(source) => stored_card(app, charge, source.card_id()).await?,
            // What a wallet has handed out is not kept in a form that could be opened: it is good for one payment.
            PaymentSource::Payer(_) | PaymentSource::Wallet => None,
        };
        let merchant = routing::merchant(app, charge.client_id, charge.merchant_id).await?;
        let (Some(source), Some(merchant)) = (source, merchant) else { return Ok(None) };
        let data = match &charge.authentication {
            Some(_) => match charges::find(&app.store, charge.client_id, charge.id).await? {
                Some(stored) => authentication::data_of(app, &stored).await?.map(Box::new),
                None => None,
            },
            None => None,
        };
        // Without what the merchant has sent, the next provider would take the charge without the authentication.
        let needs_data =
            charge.authentication.as_ref().is_some_and(|authentication| match authentication.by {
                Authenticator::PaymentProvider { .. } | Authenticator::Merchant => true,
                Authenticator::Server { .. } | Authenticator::Nobody => false,
            });
        if needs_data && data.is_none() {
            return Ok(None);
        }
        let vendor = match &charge.vendor {
            Some(named) => match vendors::told(app, charge.client_id, named).await? {
                None => return Ok(None),
                vendor => vendor,
            },
            None => None,
        };
        let sellers = split::sellers_of(app, charge).await?;
        Ok(Some(Self { source, data, vendor, sellers, merchant, circuit_probes: CircuitProbes::default() }))
    }
}

/// The card of a charge, with the security code that was held for it; `None` when one of them no longer exists.
async fn stored_card(app: &App, charge: &Charge, card_id: CardId) -> Result<Option<FundingSource>, Error> {
    let Some(found) = cards::find_with_number(&app.store, charge.client_id, card_id).await? else {
        return Ok(None);
    };
    let cvv = match charge.state.facts().security_code {
        Some(SecurityCode::Needed) => match security_code::find(app, charge).await? {
            None => return Ok(None),
            cvv => cvv,
        },
        Some(SecurityCode::NotNeeded) | None => None,
    };
    Ok(Some(FundingSource::StoredCard { found: Box::new(found), cvv }))
}

/// A charge with a new request and its earlier ones.
pub(crate) struct Begun {
    /// The charge.
    pub(crate) charge: Charge,
    /// The open request.
    pub(crate) request: TransactionRequest,
    /// Ended requests, oldest first.
    pub(crate) ended: Vec<TransactionRequest>,
}

/// What follows an answer.
enum Concluded {
    /// Call the next provider.
    AskNext(Box<Asking>),
    /// Send the capture or void that the verdict on the risk led to.
    FollowUp(Box<Asking>),
    /// Call no further provider now.
    Ran(Box<Ran>),
}

/// Calls providers until none is to be called now.
pub(crate) async fn drive(app: &App, mut asking: Box<Asking>) -> Result<Box<Ran>, Error> {
    loop {
        let asked = asking.ask(app).await?;
        // Boxed: data needed only before or after a call would enlarge every call in flight.
        match Box::pin(asking.conclude(app, asked)).await? {
            Concluded::AskNext(next) => asking = next,
            Concluded::FollowUp(opened) => return opened.follow_up(app).await,
            Concluded::Ran(ran) => return Ok(ran),
        }
    }
}

impl Asking {
    /// Opens the funding source for a request that is already written.
    pub(crate) async fn begin(
        app: &App,
        begun: Begun,
        prerequisites: Prerequisites,
        overrides: SimulatorOverrides,
        actor: Actor,
        started: MachineTime,
    ) -> Result<Box<Self>, Error> {
        let Begun { charge, request, ended } = begun;
        let Prerequisites { source, data, vendor, sellers, merchant, circuit_probes: _circuit_probes } =
            prerequisites;
        let OpenedSource { instrument, mut card } = source.open(app).await?;
        if let (Some(Recurrence::Subsequent), Some(card), Some(subscription_id)) =
            (charge.method.recurrence(), &mut card, charge.subscription_id)
        {
            // Boxed: few charges are of a subscription, and all futures would be as large.
            card.network_transaction_id = Box::pin(series::begun_by(app, &charge, subscription_id)).await?;
        }
        Ok(Box::new(Self {
            charge,
            card,
            instrument,
            data,
            vendor,
            sellers,
            merchant,
            overrides,
            actor,
            started,
            request,
            ended,
            _circuit_probes,
        }))
    }

    async fn ask(&self, app: &App) -> Result<CallResult, Error> {
        match self.request.request_type.group() {
            // Boxed: they are rare and would enlarge every call in flight.
            RequestGroup::Authentication(AuthenticationStep::Enroll) => {
                return Box::pin(self.enroll(app)).await;
            }
            RequestGroup::Risk(RiskStep::Analysis) => {
                let Self { charge, request, overrides, .. } = self;
                return Box::pin(anti_fraud::analyse(app, charge, request, overrides)).await;
            }
            RequestGroup::Authorization(_)
            | RequestGroup::CardCheck
            | RequestGroup::FollowUp(_)
            | RequestGroup::Reversal(_)
            | RequestGroup::Authentication(AuthenticationStep::Setup | AuthenticationStep::Validate)
            | RequestGroup::Risk(RiskStep::Feeding) => {}
        }
        let is_asked = |provider: &&Provider| provider.id == self.request.provider_id;
        let Some(provider) = self.merchant.providers.iter().find(is_asked) else {
            return Err(Error::internal("a route to a provider that the merchant does not have"));
        };
        // Boxed: few providers want to know.
        let buyer = match app.providers.wants_buyer(provider.provider_type) {
            true => Box::pin(self.buyer(app)).await?,
            false => None,
        };
        let division = split::of_charge(&self.charge, &self.sellers, provider.id);
        let authorization = self.authorization(app, buyer, division);
        Ok(call::ask(app, provider, &self.request, &self.overrides, authorization).await?)
    }

    async fn enroll(&self, app: &App) -> Result<CallResult, Error> {
        let Self { charge, request, merchant, overrides, .. } = self;
        let (Instrument::Card(card), Some(data)) = (&self.instrument, self.data.as_deref()) else {
            return Err(Error::internal("an authentication without a card or its data"));
        };
        // The security code is for whoever authorizes.
        let card = CardDetails { cvv: None, ..card.clone() };
        authentication::enroll(app, charge, request, card, data, merchant, overrides).await
    }

    /// The customer of a charge by card.
    async fn buyer(&self, app: &App) -> Result<Option<Box<PayerDetails>>, Error> {
        match self.instrument {
            Instrument::Card(_) => Ok(payer::of_charge(app, &self.charge).await?.map(Box::new)),
            Instrument::Payer(_) | Instrument::Wallet(_) => Ok(None),
        }
    }

    fn authorization(
        &self,
        app: &App,
        buyer: Option<Box<PayerDetails>>,
        division: Option<Box<Division>>,
    ) -> Operation {
        let charge = &self.charge;
        let authentication = charge.authentication.as_deref();
        Operation::Authorize(Authorization {
            amount: charge.amount,
            currency: charge.currency,
            capture: charge.capture_in_effect(),
            method: charge.method.clone(),
            network_transaction_id: self.network_transaction_id(),
            instrument: self.instrument.clone(),
            buyer,
            statement_descriptor: charge.references.statement_descriptor.clone(),
            order_id: charge.order_id.clone(),
            description: charge.references.description.clone(),
            provider_reference_key: charge.references.provider_reference_key.clone(),
            merchant_mcc: Some(self.merchant.merchant.details.mcc.clone()),
            vendor: self.vendor(),
            proof: authentication::proof(app, charge, &self.ended, self.data.as_deref()),
            liability_shift: authentication
                .map_or(LiabilityShift::NotRequired, |authentication| authentication.liability_shift),
            division,
        })
    }

    /// In whose name the payment is taken, for a provider that forwards it; the others are not told
    /// (`docs/interface/vendors.md#charges`).
    fn vendor(&self) -> Option<Box<VendorDetails>> {
        let forwards = self.request.provider_type.capabilities().vendors.is_yes();
        self.vendor.as_ref().filter(|_| forwards).cloned()
    }

    /// The payment that a payment without the cardholder names, if its card has one and the provider takes it.
    fn network_transaction_id(&self) -> Option<String> {
        let is_taken = self.request.provider_type.capabilities().recurrence.is_yes();
        match self.charge.method.recurrence().filter(|_| is_taken)? {
            Recurrence::Initial => None,
            Recurrence::Subsequent | Recurrence::Unscheduled => {
                self.card.as_ref()?.network_transaction_id.clone()
            }
        }
    }

    /// Writes the outcome together with the next step.
    async fn conclude(mut self: Box<Self>, app: &App, asked: CallResult) -> Result<Concluded, Error> {
        let Self { charge, request, actor, .. } = &*self;
        if let Some(reason) = asked.still_open() {
            write_outcome::leave_open(app, charge, request, reason, actor).await;
            return Ok(self.still_open());
        }
        let now = app.clock.of(self.charge.client_id);
        let ended = asked.end(request, now);
        self.ended.push(ended);
        let Self { charge, ended, actor, .. } = &*self;
        let elapsed = app.clock.machine().since(self.started);
        let means = Means::Complete { elapsed, budget: app.settings.charge_budget };
        let (cvv, code) = self.security_code();
        let Some(mut step) = step(app, charge, ended, charge.next(ended, means, now), code, now)? else {
            return Err(Error::internal("an answer that leads nowhere"));
        };
        if let (StateName::AwaitingPayer, Some(cvv)) = (step.charge.state.name(), cvv) {
            step.security_code = security_code::seal(app, charge, cvv);
        }
        let last = ended.last().map(|last| step.ends(last.clone()));
        let is_sent = self.instrument.card().is_some_and(|card| card.cvv.is_some());
        let code = if is_sent { SecurityCodeSent::Yes } else { SecurityCodeSent::No };
        let card = self.card.as_ref().map(|card| ChargedWith { card, code });
        match write_outcome::write(app, charge, last.as_ref(), &step, card, actor).await? {
            Written::ByUs => {}
            Written::Elsewhere => {
                if let Some(last) = &last {
                    late_answer::take(app, last, actor).await?;
                }
                return Ok(Concluded::Ran(Box::new(reread(app, charge).await?)));
            }
            Written::NotYet => {
                self.ended.pop();
                return Ok(self.still_open());
            }
        }
        self.charge = step.charge;
        if let (Some(written), Some(last)) = (last, self.ended.last_mut()) {
            *last = written;
        }
        Ok(match step.next {
            Some(next) => {
                let is_follow_up = self.charge.has_open(&next);
                self.request = next;
                if is_follow_up { Concluded::FollowUp(self) } else { Concluded::AskNext(self) }
            }
            None => Concluded::Ran(Box::new(Ran { charge: self.charge, requests: self.ended })),
        })
    }

    async fn follow_up(self: Box<Self>, app: &App) -> Result<Box<Ran>, Error> {
        let Self { charge, request, ended, overrides, actor, .. } = *self;
        let sent = Box::pin(captures_and_voids::send(app, charge, request, ended, &overrides, &actor));
        sent.await.map(Box::new)
    }

    /// The security code to hold for a later provider, and whether one will be needed.
    fn security_code(&self) -> (Option<&Cvv>, SecurityCode) {
        let cvv = self.instrument.card().and_then(|card| card.cvv.as_ref());
        let may_ask_again = self.request.request_type.is_authentication() || self.charge.next_hop().is_some();
        match cvv {
            Some(cvv) if may_ask_again => (Some(cvv), SecurityCode::Needed),
            Some(_) | None => (None, SecurityCode::NotNeeded),
        }
    }

    fn still_open(self: Box<Self>) -> Concluded {
        let Self { charge, request, mut ended, .. } = *self;
        ended.push(request);
        Concluded::Ran(Box::new(Ran { charge, requests: ended }))
    }
}
