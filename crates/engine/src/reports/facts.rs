//! What charges name, for the rows of a report: buyers, cards, merchants and providers, as they are now. Who was erased is absent.

use std::collections::{HashMap, HashSet};

use regente_domain::charge::Charge;
use regente_domain::id::{CardId, ClientId, CustomerId, MerchantId, ProviderId};
use regente_domain::report::{BuyerFacts, CardFacts, Column};
use regente_store::charges::StoredCharge;
use regente_store::{cards, customers, merchants, providers};
use serde_json::{Map, Value};

use crate::app::App;
use crate::customers::{Customer, CustomerData};
use crate::error::Error;
use crate::vault::{Binding, Purpose};

/// The member of a charge's sealed data that an analysis is made of, and the one of its customer.
const FRAUD_ANALYSIS: &str = "fraudAnalysis";
const CUSTOMER: &str = "customer";

/// Which facts the columns of a report need: what is not shown is not opened.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    buyers: bool,
    cards: bool,
    merchants: bool,
    providers: bool,
    analysis: bool,
}

impl Needs {
    fn of(columns: &[Column]) -> Self {
        let some = |begin: &str| columns.iter().any(|column| column.key().starts_with(begin));
        Self {
            buyers: some("customer__") || some("customer_address__"),
            cards: some("card__") || some("card_brand__"),
            merchants: some("merchant__"),
            providers: some("provider__"),
            analysis: some("fraud_analysis_customer"),
        }
    }
}

/// The facts of a page of charges. Names of merchants and providers are few, and stay for the next page.
#[derive(Debug, Default)]
pub(super) struct Facts {
    needs: Needs,
    buyers: HashMap<CustomerId, BuyerFacts>,
    cards: HashMap<CardId, CardFacts>,
    merchants: HashMap<MerchantId, Option<String>>,
    providers: HashMap<ProviderId, Option<String>>,
}

impl Facts {
    /// Those that these columns need.
    pub(super) fn for_columns(columns: &[Column]) -> Self {
        Self { needs: Needs::of(columns), ..Self::default() }
    }

    /// Reads the facts of charges; those of the page before are forgotten.
    pub(super) async fn read(
        &mut self,
        app: &App,
        client_id: ClientId,
        charges: &[StoredCharge],
        asked: &HashSet<ProviderId>,
    ) -> Result<(), Error> {
        self.buyers.clear();
        self.cards.clear();
        let charges = || charges.iter().map(|stored| &stored.charge);
        if self.needs.buyers {
            self.read_buyers(app, client_id, charges()).await?;
        }
        if self.needs.cards {
            self.read_cards(app, client_id, charges()).await?;
        }
        if self.needs.merchants {
            let new =
                distinct(charges().map(|charge| charge.merchant_id), |id| !self.merchants.contains_key(id));
            if !new.is_empty() {
                self.merchants.extend(merchants::names_ever(&app.store, client_id, &new).await?);
            }
        }
        if self.needs.providers {
            for id in distinct(asked.iter().copied(), |id| !self.providers.contains_key(id)) {
                let found = providers::find(&app.store, client_id, id).await?;
                self.providers.insert(id, found.map(|provider| provider.name));
            }
        }
        Ok(())
    }

    async fn read_buyers(
        &mut self,
        app: &App,
        client_id: ClientId,
        charges: impl Iterator<Item = &Charge>,
    ) -> Result<(), Error> {
        let ids = distinct(charges.filter_map(|charge| charge.customer_id), |_| true);
        if ids.is_empty() {
            return Ok(());
        }
        for stored in customers::find_many(&app.store, client_id, &ids).await? {
            let id = stored.id;
            let Customer { data, .. } = Customer::open(app, stored).await?;
            let CustomerData { name, email, contact_email, phone_number, document, address, .. } = data;
            let facts = BuyerFacts {
                id,
                name,
                email: email.or(contact_email),
                phone_number,
                document_number: document.number,
                address: address.map(|stored| (stored.id, stored.address)),
            };
            self.buyers.insert(id, facts);
        }
        Ok(())
    }

    async fn read_cards(
        &mut self,
        app: &App,
        client_id: ClientId,
        charges: impl Iterator<Item = &Charge>,
    ) -> Result<(), Error> {
        let ids = distinct(charges.filter_map(|charge| charge.method.card_id()), |_| true);
        if ids.is_empty() {
            return Ok(());
        }
        for stored in cards::find_many_ever(&app.store, client_id, &ids).await? {
            let id = stored.card.id;
            let holder_name = match &stored.holder {
                Some(sealed) => {
                    let binding = Binding::new(Purpose::CardHolder, client_id, id.uuid());
                    let plain = app.vault.open(binding, sealed).await?;
                    Some(String::from_utf8_lossy(&plain).into_owned())
                }
                None => None,
            };
            self.cards.insert(id, CardFacts { id, face: stored.card.face, holder_name });
        }
        Ok(())
    }

    pub(super) fn buyer(&self, charge: &Charge) -> Option<&BuyerFacts> {
        self.buyers.get(&charge.customer_id?)
    }

    pub(super) fn card(&self, charge: &Charge) -> Option<&CardFacts> {
        self.cards.get(&charge.method.card_id()?)
    }

    pub(super) fn merchant_name(&self, charge: &Charge) -> Option<&str> {
        self.merchants.get(&charge.merchant_id)?.as_deref()
    }

    pub(super) fn provider_name(&self, id: ProviderId) -> Option<&str> {
        self.providers.get(&id)?.as_deref()
    }

    /// `fraudAnalysis.customer` of a charge, in the clear.
    pub(super) async fn analysed_customer(
        &self,
        app: &App,
        stored: &StoredCharge,
    ) -> Result<Option<Map<String, Value>>, Error> {
        let (true, Some(sealed)) = (self.needs.analysis, &stored.private) else { return Ok(None) };
        let binding = Binding::new(Purpose::ChargeData, stored.charge.client_id, stored.charge.id.uuid());
        let plain = app.vault.open(binding, sealed).await?;
        let mut private: Map<String, Value> = serde_json::from_slice(&plain).map_err(Error::internal)?;
        let customer = private.get_mut(FRAUD_ANALYSIS).and_then(|analysis| analysis.get_mut(CUSTOMER));
        Ok(match customer.map(Value::take) {
            Some(Value::Object(members)) => Some(members),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_))
            | None => None,
        })
    }
}

fn distinct<T: Copy + Eq + std::hash::Hash>(
    ids: impl Iterator<Item = T>,
    is_wanted: impl Fn(&T) -> bool,
) -> Vec<T> {
    let distinct: HashSet<T> = ids.filter(is_wanted).collect();
    distinct.into_iter().collect()
}
