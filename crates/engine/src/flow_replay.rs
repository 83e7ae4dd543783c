//! Walks charges of the past through another flow, a page at a time (`docs/flow-replay.md`). It writes nothing and asks nobody.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use regente_domain::card::record::CardFace;
use regente_domain::charge::Charge;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::flow::{Draws, Facts, Flow, FlowMethod, NewFlow};
use regente_domain::flow_replay::{Recorded, Replayed, Tally};
use regente_domain::id::{CardId, ChargeId, ClientId, FlowId, SellerId};
use regente_domain::routing::Needs;
use regente_domain::seller::Seller;
use regente_domain::time::Timestamp;
use regente_store::charges::StoredCharge;
use regente_store::charges::as_of::{self, InTime};
use regente_store::{cards, sellers, transaction_requests};
use serde_json::Value;
use uuid::Uuid;

use crate::app::App;
use crate::calls::merchants::KnownMerchant;
use crate::charges::routing::{self as routes, FlowChoice, RiskData};
use crate::error::Error;

/// Charges that are read at once: what a replay holds in memory besides its sums.
const CHARGES_AT_ONCE: i64 = 500;

/// A flow with the charges that are walked through it.
pub struct Replay {
    client_id: ClientId,
    merchant: Arc<KnownMerchant>,
    method: FlowMethod,
    flow: Flow,
    from: Timestamp,
    which: InTime,
}

/// Charges that were walked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Their sums.
    pub tally: Tally,
    /// The last one; `None` when there are no more.
    pub next: Option<ChargeId>,
}

impl Replay {
    /// The charges of a flow's merchant and method that were made from one moment until before another. The flow can be published.
    ///
    /// # Errors
    /// [`Error::ReferenceNotFound`] when the account has no such merchant.
    pub async fn of(
        app: &App,
        client_id: ClientId,
        new: &NewFlow,
        (from, to): (Timestamp, Timestamp),
    ) -> Result<Self, Error> {
        let merchant = routes::merchant(app, client_id, new.merchant_id).await?;
        let method = new.payment_method;
        Ok(Self {
            client_id,
            merchant: merchant.ok_or(Error::ReferenceNotFound("merchantId"))?,
            method,
            flow: Flow::published(&new.flow),
            from,
            which: InTime {
                id: None,
                merchant_id: Some(new.merchant_id),
                payment_types: Some(vec![method.payment_type()]),
                to,
            },
        })
    }

    /// Whether a balance of the flow learns. It is replayed with the shares that it begins with.
    pub fn learns(&self) -> bool {
        !self.flow.learned().is_empty()
    }

    /// The merchant.
    pub fn merchant(&self) -> &KnownMerchant {
        &self.merchant
    }

    /// Walks the next charges after this one.
    ///
    /// # Errors
    /// The database fails.
    pub async fn walk(&self, app: &App, after: Option<ChargeId>) -> Result<Walked, Error> {
        let after = after.unwrap_or_else(|| ChargeId::first_at(self.from));
        let read = as_of::in_time(&app.store, self.client_id, &self.which, after, CHARGES_AT_ONCE).await?;
        let is_end = i64::try_from(read.len()).is_ok_and(|read| read < CHARGES_AT_ONCE);
        let facts = PageFacts::read(app, self.client_id, &read).await?;
        let mut tally = Tally::default();
        for StoredCharge { charge, .. } in &read {
            let (card, requests) = (facts.card(charge), facts.requests(charge));
            let recorded = Recorded::of(charge, card, requests);
            let replayed = self.replayed(app, charge, card, &recorded, &facts.sellers(charge));
            tally.add(&recorded, &replayed);
        }
        let last = read.last().map(|stored| stored.charge.id);
        Ok(Walked { tally, next: last.filter(|_| !is_end) })
    }

    /// The route that the flow gives a charge, with the providers as they are today. Circuits count for nothing.
    fn replayed(
        &self,
        app: &App,
        charge: &Charge,
        card: Option<&CardFace>,
        recorded: &Recorded,
        sellers: &[Seller],
    ) -> Replayed {
        let installments = charge.method.installments();
        let facts = Facts {
            amount: charge.original_amount.minor_units(),
            currency: charge.currency,
            installments: charge.method.card_id().map(|_| installments),
            bin: card.map(|card| card.first6digits.as_str()),
            brand: card.and_then(|card| card.brand),
            metadata: charge.references.flow_metadata.as_ref().and_then(Value::as_object),
        };
        let turns = charge.explanation.flow.iter().flat_map(|taken| &taken.turns);
        let made: Vec<u32> = turns.filter_map(|turn| turn.draw).collect();
        let (_, seed) = charge.id.uuid().as_u64_pair();
        let choice = self.flow.choose(&facts, Draws::made(&made, seed));
        let flow = FlowChoice { id: FlowId::new(Uuid::nil()), choice };
        let analysed_by = flow.choice.anti_fraud();
        let payment_type = self.method.payment_type();
        // Whether it came with data for an analysis is sealed; what was analysed did.
        let risk_data = recorded.analysed_by.map_or(RiskData::Absent, |_| RiskData::Sent);
        let screening = routes::screening(app, &self.merchant, payment_type, risk_data, Some(&flow));
        let needs = Needs {
            payment_type,
            currency: charge.currency,
            installments,
            capture: routes::capture_needed(screening.as_deref(), payment_type, charge.capture),
        };
        let route = routes::choose(app, &self.merchant, &needs, sellers, Some(flow));
        let considered = route.iter().flat_map(|route| &route.considered);
        Replayed {
            route: considered.filter(|at| at.skipped.is_none()).map(|at| at.provider_id).collect(),
            analysed_by,
        }
    }
}

/// What the charges of a page name.
struct PageFacts {
    cards: HashMap<CardId, CardFace>,
    sellers: HashMap<SellerId, Seller>,
    requests: HashMap<Uuid, Vec<TransactionRequest>>,
}

impl PageFacts {
    async fn read(app: &App, client_id: ClientId, charges: &[StoredCharge]) -> Result<Self, Error> {
        let charges = || charges.iter().map(|stored| &stored.charge);
        let ids: Vec<Uuid> = charges().map(|charge| charge.id.uuid()).collect();
        let mut requests: HashMap<Uuid, Vec<TransactionRequest>> = HashMap::new();
        for stored in transaction_requests::of_objects(&app.store, client_id, &ids).await? {
            requests.entry(stored.request.object_id).or_default().push(stored.request);
        }
        let cards = distinct(charges().filter_map(|charge| charge.method.card_id()));
        let cards = match cards.is_empty() {
            true => Vec::new(),
            false => cards::find_many_ever(&app.store, client_id, &cards).await?,
        };
        let sellers = distinct(charges().flat_map(sellers_of));
        let sellers = match sellers.is_empty() {
            true => Vec::new(),
            false => sellers::find_many(&app.store, client_id, &sellers).await?,
        };
        Ok(Self {
            cards: cards.into_iter().map(|stored| (stored.card.id, stored.card.face)).collect(),
            sellers: sellers.into_iter().map(|seller| (seller.id, seller)).collect(),
            requests,
        })
    }

    fn card(&self, charge: &Charge) -> Option<&CardFace> {
        self.cards.get(&charge.method.card_id()?)
    }

    fn requests(&self, charge: &Charge) -> &[TransactionRequest] {
        self.requests.get(&charge.id.uuid()).map_or(&[], Vec::as_slice)
    }

    fn sellers(&self, charge: &Charge) -> Vec<Seller> {
        sellers_of(charge).filter_map(|id| self.sellers.get(&id).cloned()).collect()
    }
}

fn sellers_of(charge: &Charge) -> impl Iterator<Item = SellerId> + '_ {
    charge.split.iter().flat_map(|split| &split.rules).map(|rule| rule.seller_id)
}

fn distinct<T: Copy + Eq + Hash>(ids: impl Iterator<Item = T>) -> Vec<T> {
    let distinct: HashSet<T> = ids.collect();
    distinct.into_iter().collect()
}
