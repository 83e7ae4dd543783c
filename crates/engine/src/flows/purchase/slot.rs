//! Charges one card of a purchase. It reads everything that the charge needs from the database, so any node can do it.

use regente_domain::card::record::CardState;
use regente_domain::charge::analysis::Screening;
use regente_domain::charge::{CardSource, Credit, PaymentMethod, PaymentType};
use regente_domain::purchase::CURRENCY;
use regente_domain::routing::Needs;
use regente_store::cards;
use regente_store::sealed::Sealed;
use regente_store::tokens::TokenKind;
use serde_json::json;

use super::{
    Actor, App, CaptureMode, Cards, Change, Charge, ChargeState, Created, DeclinedCode, Error, Id, Map,
    NewCharge, Private, PurchaseStep, Slot, StoredPurchase, Timestamp, TokenId, token_digest, tokens, write,
};
use crate::card_data::{FundingSource, TokenContents, open_token};
use crate::flows::charge;
use crate::flows::route::{self, RiskData};
use crate::queue::purchases::KIND;
use crate::vault::{Binding, Purpose};

/// Reserves the amount on a card. A card that cannot be tried counts as declined.
pub(super) async fn authorize(
    app: &App,
    stored: &StoredPurchase,
    cards: &Cards,
    index: usize,
) -> Result<(), Error> {
    let Some(slot) = stored.purchase.slots.get(index) else {
        return Err(Error::internal("a card that the purchase does not have"));
    };
    let Some(new) = prepare(app, stored, index, slot).await? else {
        let code = Some(DeclinedCode::Generic);
        return write(app, stored, cards, Change::SlotRefused(index, code)).await;
    };
    let admission = app.store.admit_waiting().await?;
    match Box::pin(charge::create(app.clone(), Box::new(new), admission)).await? {
        // The next step reads the outcome.
        Created::Ran(_) => Ok(()),
        Created::Answered(_) => Err(Error::internal("an answer to a request without a key")),
    }
}

/// Prepares the charge; `None` when the merchant, its providers, the card or the security code no longer exists.
async fn prepare(
    app: &App,
    stored: &StoredPurchase,
    index: usize,
    slot: &Slot,
) -> Result<Option<NewCharge>, Error> {
    let purchase = &stored.purchase;
    let client_id = purchase.client_id;
    let mut private = Private::open(app, stored).await?;
    let merchant = route::merchant(app, client_id, purchase.merchant_id).await?;
    let card = cards::find_with_number(&app.store, client_id, slot.card_id).await?;
    let (Some(merchant), Some(card)) = (merchant, card) else { return Ok(None) };
    if matches!(card.stored.card.state, CardState::Failed { .. }) {
        return Ok(None);
    }
    let Some(explanation) = route::choose(app, &merchant, &needs(slot.installments), &[]) else {
        return Ok(None);
    };
    let cvv_token = private.cvv_tokens.get_mut(index).and_then(Option::take);
    let cvv = match cvv_token {
        None => None,
        Some(token_id) => match open_cvv(app, stored, token_id).await? {
            None => return Ok(None),
            cvv => cvv,
        },
    };
    let (explanation, circuit_probes) = app.circuits.narrow(explanation);
    let now = app.clock.of(client_id);
    let data = match private.fraud_analysis {
        Some(_) => RiskData::Sent,
        None => RiskData::Absent,
    };
    let screening = route::screening(app, &merchant, PaymentType::Credit, data);
    let charge = charge_of(app, stored, slot, screening, now).routed(explanation);
    let step = purchase.apply(Change::SlotBegun(index, charge.id), now);
    let without_code = match cvv_token {
        Some(_) => Some(private.seal(app, client_id, purchase.id)?),
        None => None,
    };
    Ok(Some(NewCharge {
        private: seal_fraud_analysis(app, &private, &charge)?,
        charge,
        data: None,
        vendor: None,
        sellers: Vec::new(),
        setup_id: None,
        tokens: cvv_token.into_iter().map(token_digest).collect(),
        openings: None,
        merchant,
        circuit_probes,
        claim: None,
        purchase: Some(Box::new(PurchaseStep { before: purchase.clone(), step, private: without_code })),
        actor: Actor::Job(KIND),
        seed: None,
        source: FundingSource::StoredCard { found: Box::new(card), cvv },
    }))
}

/// The capabilities that a card of a purchase needs: every card is reserved first, even if captured at once.
pub const fn needs(installments: u8) -> Needs {
    Needs {
        payment_type: PaymentType::Credit,
        currency: CURRENCY,
        installments,
        capture: CaptureMode::Manual,
    }
}

fn charge_of(
    app: &App,
    stored: &StoredPurchase,
    slot: &Slot,
    screening: Option<Box<Screening>>,
    now: Timestamp,
) -> Charge {
    let purchase = &stored.purchase;
    Charge {
        id: app.chance.id(now),
        client_id: purchase.client_id,
        merchant_id: purchase.merchant_id,
        customer_id: purchase.customer_id,
        customer_alias: purchase.customer_alias.map(|alias| Id::new(alias.uuid())),
        order_id: purchase.order_id.clone(),
        purchase_id: Some(purchase.id),
        session_id: None,
        vendor: None,
        screening,
        split: None,
        method: PaymentMethod::Credit(Credit {
            source: CardSource::Card { card_id: slot.card_id },
            installments: slot.installments,
            recurrence: None,
        }),
        amount: slot.amount,
        original_amount: slot.amount,
        paid_otherwise: None,
        currency: CURRENCY,
        capture: CaptureMode::Manual,
        references: purchase.references.clone(),
        state: ChargeState::Processing,
        authentication: None,
        explanation: regente_domain::charge::explanation::Explanation::default(),
        position: 0,
        requests: 1,
        unknown_members: Map::new(),
        version: 1,
        updated_at: now,
    }
}

fn seal_fraud_analysis(app: &App, private: &Private, charge: &Charge) -> Result<Option<Sealed>, Error> {
    let Some(data) = &private.fraud_analysis else { return Ok(None) };
    let plain = serde_json::to_vec(&json!({ "fraudAnalysis": data })).map_err(Error::internal)?;
    let binding = Binding::new(Purpose::ChargeData, charge.client_id, charge.id.uuid());
    Ok(Some(app.vault.seal(binding, &plain)))
}

async fn open_cvv(
    app: &App,
    stored: &StoredPurchase,
    token_id: TokenId,
) -> Result<Option<regente_domain::card::Cvv>, Error> {
    let client_id = stored.purchase.client_id;
    let found = tokens::find(&app.store, client_id, token_digest(token_id), app.clock.of(client_id)).await?;
    let Some(found) = found.filter(|token| token.kind == TokenKind::Cvv) else { return Ok(None) };
    match open_token(app, client_id, token_id, &found.sealed).await? {
        TokenContents::Cvv(cvv) => Ok(Some(cvv)),
        TokenContents::Card(_) => Ok(None),
    }
}
