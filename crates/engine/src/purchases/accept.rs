//! Accepts a purchase: resolves its references and stores everything that the job needs in one batch. Security codes
//! are stored only in CVV tokens, which the charges use up.

use regente_domain::actor::Actor;
use regente_domain::card::Cvv;
use regente_domain::card::record::{CardState, Unchecked};
use regente_domain::id::{CardId, CustomerId, Id, TokenId, of};
use regente_domain::purchase::{Advance, Noted, Phase, Purchase, RESULT_WITHIN, Slot};
use regente_store::tokens::{self as token_rows, TokenKind};
use regente_store::{Batch, cards, purchases};
use serde_json::Map;

use super::rules::{CardShare, NewPurchase, Source};
use super::slot::needs;
use super::{Cards, Private};
use crate::app::App;
use crate::audit::Openings;
use crate::caller::Caller;
use crate::card_data::{CvvSource, TokenContents, Words, must_not_name, new_card, open_token, seal_card};
use crate::error::Error;
use crate::events::purchase::PurchaseView;
use crate::queue::purchases::{KIND, enqueue};
use crate::vault::token_digest;
use crate::{charges, tokens};

/// Plans a new purchase: its batch, and the purchase as it will be.
pub async fn accept(
    app: &App,
    caller: &Caller,
    request: &NewPurchase,
    openings: &Openings,
) -> Result<(Batch, PurchaseView), Error> {
    let now = app.clock.of(caller.client_id);
    can_be_processed(app, caller, request).await?;
    let (customer_id, customer_alias) = customer(app, caller, request).await?;
    let words = [
        ("orderId", request.order_id.as_deref()),
        ("description", request.references.description.as_deref()),
        ("statementDescriptor", request.references.statement_descriptor.as_deref()),
    ];
    let (batch, private) = (Batch::new(caller.client_id), Private::default());
    let mut accepting = Accepting { app, caller, openings, words: &words, batch, private };
    let mut slots = Vec::with_capacity(request.payments.len());
    for (index, payment) in request.payments.iter().enumerate() {
        slots.push(accepting.slot(index, payment).await?);
    }
    let Accepting { mut batch, mut private, .. } = accepting;
    openings.record(&mut batch);
    private.metadata.clone_from(&request.metadata);
    private.fraud_analysis.clone_from(&request.fraud_analysis);
    let step = Advance::created(Purchase {
        id: app.chance.id(now),
        client_id: caller.client_id,
        merchant_id: request.merchant_id,
        customer_id,
        customer_alias,
        order_id: request.order_id.clone(),
        references: request.references.clone(),
        amount: request.amount,
        capture: request.capture,
        phase: Phase::Authorizing { until: now + RESULT_WITHIN },
        slots,
        reserved: None,
        entries: 0,
        unknown_members: Map::new(),
        version: 1,
        updated_at: now,
    });
    let accepted = &step.purchase;
    let sealed = private.seal(app, caller.client_id, accepted.id)?;
    purchases::insert(&mut batch, &step, Some(sealed), &caller.actor(), || app.chance.id(now))?;
    enqueue(app, &mut batch, accepted);
    let view = Cards::none().show(accepted).with_metadata(private.metadata);
    Ok((batch, view))
}

/// Checks that the merchant exists and has a provider for each card.
async fn can_be_processed(app: &App, caller: &Caller, request: &NewPurchase) -> Result<(), Error> {
    let merchant = charges::find_merchant(app, caller.client_id, request.merchant_id).await?;
    for payment in &request.payments {
        charges::must_be_servable(app, &merchant, &needs(payment.installments))?;
    }
    Ok(())
}

async fn customer(
    app: &App,
    caller: &Caller,
    request: &NewPurchase,
) -> Result<(Option<CustomerId>, Option<Id<of::CustomerAlias>>), Error> {
    let Some(id) = request.customer_id else { return Ok((None, None)) };
    let found = charges::find_buyer(app, caller.client_id, id).await?;
    let alias = found.via_alias.then(|| Id::new(found.shown_id.uuid()));
    Ok((Some(found.real_id), alias))
}

/// The state of a purchase while its cards are resolved.
struct Accepting<'a> {
    app: &'a App,
    caller: &'a Caller,
    openings: &'a Openings,
    words: &'a Words<'a>,
    batch: Batch,
    private: Private,
}

impl Accepting<'_> {
    async fn slot(&mut self, index: usize, payment: &CardShare) -> Result<Slot, Error> {
        let (card_id, cvv) = match &payment.source {
            Source::Card { card_id, cvv } => (*card_id, self.stored(index, *card_id, cvv).await?),
            Source::Token(token_id) => self.token(index, *token_id).await?,
        };
        let cvv_token = match cvv {
            Some(cvv) => Some(self.keep_cvv(cvv)?),
            None => None,
        };
        self.private.cvv_tokens.push(cvv_token);
        Ok(Slot {
            id: self.app.chance.id(self.app.clock.of(self.caller.client_id)),
            card_id,
            amount: payment.amount,
            installments: payment.installments,
            charge_id: None,
            noted: Noted::Nothing,
            declined_code: None,
        })
    }

    async fn stored(&mut self, index: usize, card_id: CardId, cvv: &CvvSource) -> Result<Option<Cvv>, Error> {
        let place = format!("payments[{index}].cardId");
        let found = cards::find(&self.app.store, self.caller.client_id, card_id).await?;
        let found = found.ok_or_else(|| Error::invalid(&place, "was not found"))?;
        if let CardState::Failed { .. } = found.card.state {
            return Err(Error::invalid(&place, "cannot be used in status failed"));
        }
        must_not_name(self.app, &found.card, self.words).await?;
        match cvv {
            CvvSource::None => Ok(None),
            CvvSource::Inline(cvv) => Ok(Some(cvv.clone())),
            CvvSource::Token(token_id) => {
                let place = format!("payments[{index}].tokenCvv");
                match self.use_up(*token_id, TokenKind::Cvv, &place).await? {
                    TokenContents::Cvv(cvv) => Ok(Some(cvv)),
                    TokenContents::Card(_) => Err(unusable(&place)),
                }
            }
        }
    }

    /// Stores the card of a token, as a charge does.
    async fn token(&mut self, index: usize, token_id: TokenId) -> Result<(CardId, Option<Cvv>), Error> {
        let place = format!("payments[{index}].tokenId");
        let opened = self.use_up(token_id, TokenKind::Card, &place).await?;
        let TokenContents::Card(details) = opened else {
            return Err(unusable(&place));
        };
        let card =
            new_card(self.app, self.caller.client_id, &details, CardState::Pending(Unchecked::NotAskedFor))
                .await?;
        must_not_name(self.app, &card, self.words).await?;
        let sealed = seal_card(self.app, self.caller.client_id, card.id, &details);
        cards::insert(&mut self.batch, &card, sealed.number, sealed.holder)?;
        Ok((card.id, details.cvv))
    }

    async fn use_up(
        &mut self,
        token_id: TokenId,
        kind: TokenKind,
        place: &str,
    ) -> Result<TokenContents, Error> {
        let (app, client_id, now) =
            (self.app, self.caller.client_id, self.app.clock.of(self.caller.client_id));
        let digest = token_digest(token_id);
        let found = token_rows::find(&app.store, client_id, digest, now).await?;
        let found = found.filter(|token| token.kind == kind).ok_or_else(|| unusable(place))?;
        token_rows::consume(&mut self.batch, digest, now);
        if kind == TokenKind::Card {
            self.openings.note(digest);
        }
        Ok(open_token(app, client_id, token_id, &found.sealed).await?)
    }

    /// Stores a security code until the charge of its card, under an id that is given to nobody.
    fn keep_cvv(&mut self, cvv: Cvv) -> Result<TokenId, Error> {
        tokens::add(self.app, &mut self.batch, &TokenContents::Cvv(cvv), &Actor::Job(KIND))
    }
}

fn unusable(place: &str) -> Error {
    Error::invalid(place, "must be a token that is not used and not expired")
}
