//! Chooses which providers a charge may go to, and in which order. Pure.
//! [`Charge::next`](crate::charge::Charge::next) decides whether to ask the next one after a refusal.

pub mod explanation;

use std::time::Duration;

use crate::capture_mode::CaptureMode;
use crate::circuit::CircuitState;
use crate::currency::Currency;
use crate::id::ProviderId;
use crate::payment_type::PaymentType;
use crate::provider_type::{Capabilities, ProviderType, Simulators};
use explanation::{CircuitNote, Considered, Explanation, Skipped, Taken};

/// No authorization starts after this long (`docs/interface/routing.md#budget`).
pub const BUDGET: Duration = Duration::from_secs(60);

/// What a provider must be able to do for a charge.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// The payment type.
    pub payment_type: PaymentType,
    /// The currency.
    pub currency: Currency,
    /// Number of installments.
    pub installments: u8,
    /// The capture mode.
    pub capture: CaptureMode,
}

/// Limits that a provider's options put on its type's capabilities; `None` is no limit.
#[derive(Clone, Debug, Default)]
pub struct Narrowed {
    /// The only payment types allowed.
    pub payment_types: Option<Vec<PaymentType>>,
    /// The only currencies allowed.
    pub currencies: Option<Vec<Currency>>,
    /// The most installments.
    pub installments_max: Option<u8>,
}

/// A provider of the merchant, with what routing needs.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The provider.
    pub id: ProviderId,
    /// Its type, which decides its capabilities.
    pub provider_type: ProviderType,
    /// 1 is asked first; equal priorities go by age, oldest first.
    pub priority: i64,
    /// The limits of its options.
    pub narrowed: Narrowed,
    /// Where the sellers of the charge stand there.
    pub sellers: SellersThere,
}

/// Where the sellers among whom a charge is divided stand at a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SellersThere {
    /// The charge has none.
    None,
    /// All are active.
    Active,
    /// One is not.
    NotActive,
}

/// Chooses the route: every provider in the order of priority, with the reason for each that is skipped.
pub fn route(mut candidates: Vec<Candidate>, needs: &Needs, simulators: Simulators) -> Explanation {
    candidates.sort_by_key(|candidate| (candidate.priority, candidate.id));
    in_this_order(&candidates, needs, simulators)
}

/// As [`route`], in the order of the branch of a flow. Providers that the merchant has no more are left out.
pub fn route_by_flow(
    candidates: Vec<Candidate>,
    (taken, branch): (Box<Taken>, &[ProviderId]),
    needs: &Needs,
    simulators: Simulators,
) -> Explanation {
    let place = |candidate: &Candidate| branch.iter().position(|id| *id == candidate.id);
    let mut placed: Vec<_> =
        candidates.into_iter().filter_map(|candidate| Some((place(&candidate)?, candidate))).collect();
    placed.sort_by_key(|(place, _)| *place);
    let candidates: Vec<Candidate> = placed.into_iter().map(|(_, candidate)| candidate).collect();
    Explanation { flow: Some(taken), ..in_this_order(&candidates, needs, simulators) }
}

fn in_this_order(candidates: &[Candidate], needs: &Needs, simulators: Simulators) -> Explanation {
    let considered = candidates
        .iter()
        .map(|candidate| Considered {
            provider_id: candidate.id,
            provider_type: candidate.provider_type,
            priority: candidate.priority,
            skipped: skip(candidate, needs, simulators),
            circuit: None,
        })
        .collect();
    Explanation { considered, flow: None, stopped: None }
}

fn skip(candidate: &Candidate, needs: &Needs, simulators: Simulators) -> Option<Skipped> {
    if !simulators.permit(candidate.provider_type) {
        return Some(Skipped::Simulator);
    }
    let can: &Capabilities = candidate.provider_type.capabilities();
    let only = &candidate.narrowed;
    if can.payment_types.is_empty() {
        return Some(Skipped::NotAPaymentProvider);
    }
    let narrowed_out = only.payment_types.as_ref().is_some_and(|types| !types.contains(&needs.payment_type));
    if narrowed_out || !can.can_charge(needs.payment_type) {
        return Some(Skipped::PaymentType);
    }
    let narrowed_out = only.currencies.as_ref().is_some_and(|list| !list.contains(&needs.currency));
    if narrowed_out || !can.takes_currency(needs.payment_type, needs.currency) {
        return Some(Skipped::Currency);
    }
    let installments_max = only.installments_max.unwrap_or(can.installments_max).min(can.installments_max);
    if needs.installments > installments_max {
        return Some(Skipped::Installments);
    }
    match needs.capture {
        CaptureMode::Manual if !can.can_pre_authorize(needs.payment_type) => {
            return Some(Skipped::PreAuthorization);
        }
        CaptureMode::Manual | CaptureMode::Automatic => {}
    }
    match candidate.sellers {
        SellersThere::None => None,
        SellersThere::Active | SellersThere::NotActive if !can.can_split(needs.payment_type) => {
            Some(Skipped::Split)
        }
        SellersThere::NotActive => Some(Skipped::Seller),
        SellersThere::Active => None,
    }
}

/// Skips the providers whose circuit is open, unless none would be left.
pub fn around_open_circuits(
    mut route: Explanation,
    mut state_of: impl FnMut(&Considered) -> CircuitState,
) -> Explanation {
    let mut open: Vec<&mut Considered> = Vec::new();
    let mut others = 0_usize;
    for considered in route.considered.iter_mut().filter(|considered| considered.skipped.is_none()) {
        match state_of(considered) {
            CircuitState::Closed => others += 1,
            CircuitState::Probe(_) => {
                considered.circuit = Some(CircuitNote::Probe);
                others += 1;
            }
            CircuitState::Open => open.push(considered),
        }
    }
    for considered in open {
        if others > 0 {
            considered.skipped = Some(Skipped::CircuitOpen);
        } else {
            considered.circuit = Some(CircuitNote::OpenButNoOther);
        }
    }
    route
}

/// A provider of the route that may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Its index among all considered providers, from 0.
    pub position: usize,
    /// The provider.
    pub provider_id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
}

/// The first provider of the route; `None` when none can serve the charge.
pub fn first(explanation: &Explanation) -> Option<Hop> {
    hops(explanation).next()
}

/// The provider at this place of the route; `None` when it is skipped.
pub fn at(explanation: &Explanation, position: usize) -> Option<Hop> {
    hops(explanation).find(|hop| hop.position == position)
}

/// The next provider after this place of the route.
pub fn after(explanation: &Explanation, position: usize) -> Option<Hop> {
    hops(explanation).find(|hop| hop.position > position)
}

/// The place of the provider to ask after `tried` others. For charges of earlier releases, whose records have no
/// place.
pub fn position_after(explanation: &Explanation, tried: usize) -> usize {
    hops(explanation).nth(tried).map_or(0, |hop| hop.position)
}

fn hops(explanation: &Explanation) -> impl Iterator<Item = Hop> + '_ {
    let hop = |(position, considered): (usize, &Considered)| Hop {
        position,
        provider_id: considered.provider_id,
        provider_type: considered.provider_type,
    };
    explanation.considered.iter().enumerate().filter(|(_, considered)| considered.skipped.is_none()).map(hop)
}
