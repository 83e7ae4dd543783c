//! Calls the providers of a charge one after the other, until the charge ends, waits for its payer, or has an unknown
//! outcome. The caller's request runs it for a new charge, a job when a payer returned without paying.

use std::sync::Arc;

use regente_domain::actor::Actor;
use regente_domain::card::Cvv;
use regente_domain::card::record::{Card, SecurityCodeSent};
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{Charge, Means, SecurityCode, StateName};
use regente_providers::request::{Authorization, CardDetails, Operation};
use regente_store::cards;
use regente_store::merchants::MerchantWithProviders;
use regente_store::providers::Provider;

use super::attempt::{self, CallResult, SimulatorOverrides};
use super::charge::{Ran, reread};
use super::outcome::{self, ChargedWith, Written};
use super::step::step;
use super::{finding, route, security_code};
use crate::app::App;
use crate::calls::circuits::CircuitProbes;
use crate::card_data::ChargedCard;
use crate::clock::MachineTime;
use crate::error::Error;

/// A stored charge, with everything that the flow holds while it waits for a provider.
pub(super) struct Asking {
    charge: Charge,
    card: Card,
    details: CardDetails,
    merchant: Arc<MerchantWithProviders>,
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
pub(super) struct Instruments {
    /// The card.
    pub card: Card,
    /// The card data for the provider; opened after the request that records the opening is written.
    pub details: ChargedCard,
    /// The merchant with its providers.
    pub merchant: Arc<MerchantWithProviders>,
    /// The circuit probes that the charge holds.
    pub circuit_probes: CircuitProbes,
}

impl Instruments {
    /// Reads them for a charge whose payer was away; `None` when the card, the merchant or a required security code no
    /// longer exists.
    pub(super) async fn of(app: &App, charge: &Charge) -> Result<Option<Self>, Error> {
        let Some(card_id) = charge.method.card_id() else { return Ok(None) };
        let merchant = route::merchant(app, charge.client_id, charge.merchant_id).await?;
        let found = cards::find_with_number(&app.store, charge.client_id, card_id).await?;
        let (Some(merchant), Some(found)) = (merchant, found) else { return Ok(None) };
        let cvv = match charge.state.facts().security_code {
            Some(SecurityCode::Needed) => match security_code::find(app, charge).await? {
                None => return Ok(None),
                cvv => cvv,
            },
            Some(SecurityCode::NotNeeded) | None => None,
        };
        let card = found.stored.card.clone();
        let details = ChargedCard::Stored { found: Box::new(found), cvv };
        Ok(Some(Self { card, details, merchant, circuit_probes: CircuitProbes::default() }))
    }
}

/// A charge with a new request and its earlier ones.
pub(super) struct Begun {
    /// The charge.
    pub charge: Charge,
    /// The open request.
    pub request: TransactionRequest,
    /// Ended requests, oldest first.
    pub ended: Vec<TransactionRequest>,
}

/// What follows an answer.
enum Concluded {
    /// Call the next provider.
    AskNext(Box<Asking>),
    /// Call no further provider now.
    Ran(Box<Ran>),
}

/// Calls providers until none is to be called now.
pub(super) async fn drive(app: &App, mut asking: Box<Asking>) -> Result<Box<Ran>, Error> {
    loop {
        let asked = asking.ask(app).await?;
        // Boxed: data needed only before or after a call would enlarge every call in flight.
        match Box::pin(asking.conclude(app, asked)).await? {
            Concluded::AskNext(next) => asking = next,
            Concluded::Ran(ran) => return Ok(ran),
        }
    }
}

impl Asking {
    /// Opens the card for a request that is already written.
    pub(super) async fn begin(
        app: &App,
        begun: Begun,
        instruments: Instruments,
        overrides: SimulatorOverrides,
        actor: Actor,
        started: MachineTime,
    ) -> Result<Box<Self>, Error> {
        let Begun { charge, request, ended } = begun;
        let Instruments { card, details, merchant, circuit_probes } = instruments;
        let details = details.open(app).await?;
        let _circuit_probes = circuit_probes;
        Ok(Box::new(Self {
            charge,
            card,
            details,
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
        let is_asked = |provider: &&Provider| provider.id == self.request.provider_id;
        let Some(provider) = self.merchant.providers.iter().find(is_asked) else {
            return Err(Error::internal("a route to a provider that the merchant does not have"));
        };
        Ok(attempt::ask(app, provider, &self.request, &self.overrides, self.authorization()).await?)
    }

    fn authorization(&self) -> Operation {
        let charge = &self.charge;
        Operation::Authorize(Authorization {
            amount: charge.amount,
            currency: charge.currency,
            capture: charge.capture_in_effect(),
            payment_type: charge.method.payment_type(),
            installments: charge.method.installments(),
            recurrence: charge.method.recurrence(),
            card: self.details.clone(),
            statement_descriptor: charge.references.statement_descriptor.clone(),
            order_id: charge.order_id.clone(),
            description: charge.references.description.clone(),
            provider_reference_key: charge.references.provider_reference_key.clone(),
            merchant_mcc: Some(self.merchant.merchant.details.mcc.clone()),
        })
    }

    /// Writes the outcome together with the next step.
    async fn conclude(mut self: Box<Self>, app: &App, asked: CallResult) -> Result<Concluded, Error> {
        let Self { charge, request, actor, .. } = &*self;
        if let Some(reason) = asked.open_reason {
            outcome::leave_open(app, charge, request, reason, actor).await;
            return Ok(self.still_open());
        }
        let now = app.clock.of(self.charge.client_id);
        let ended = request.end(asked.outcome, Some(asked.duration), now);
        self.ended.push(ended);
        let Self { charge, ended, actor, .. } = &*self;
        let elapsed = app.clock.machine().since(self.started);
        let means = Means::Complete { elapsed, budget: app.settings.charge_budget };
        let (cvv, code) = self.security_code();
        let Some(mut step) = step(app, charge, ended, charge.next(ended, means, now), code)? else {
            return Err(Error::internal("an answer that leads nowhere"));
        };
        if let (StateName::AwaitingPayer, Some(cvv)) = (step.charge.state.name(), cvv) {
            step.security_code = security_code::seal(app, charge, cvv);
        }
        let last = ended.last();
        let sent = if self.details.cvv.is_some() { SecurityCodeSent::Yes } else { SecurityCodeSent::No };
        let card = ChargedWith { card: &self.card, code: sent };
        match outcome::write(app, charge, last, &step, Some(card), actor).await? {
            Written::ByUs => {}
            Written::Elsewhere => {
                if let Some(last) = last {
                    finding::take(app, last, actor).await?;
                }
                return Ok(Concluded::Ran(Box::new(reread(app, charge).await?)));
            }
            Written::NotYet => {
                self.ended.pop();
                return Ok(self.still_open());
            }
        }
        self.charge = step.charge;
        Ok(match step.next {
            Some(next) => {
                self.request = next;
                Concluded::AskNext(self)
            }
            None => Concluded::Ran(Box::new(Ran { charge: self.charge, requests: self.ended })),
        })
    }

    /// The security code to hold for a later provider, and whether one will be needed.
    fn security_code(&self) -> (Option<&Cvv>, SecurityCode) {
        match (&self.details.cvv, self.charge.next_hop()) {
            (Some(cvv), Some(_)) => (Some(cvv), SecurityCode::Needed),
            (_, _) => (None, SecurityCode::NotNeeded),
        }
    }

    fn still_open(self: Box<Self>) -> Concluded {
        let Self { charge, request, mut ended, .. } = *self;
        ended.push(request);
        Concluded::Ran(Box::new(Ran { charge, requests: ended }))
    }
}
