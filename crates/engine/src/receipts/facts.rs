//! What a document says: facts of the charge, its card or its payer, and its merchant, as they are when it is issued. Who was erased is
//! absent.

use regente_domain::charge::Charge;
use regente_domain::customer::normal_number;
use regente_domain::id::CardId;
use regente_domain::provider_type::ProviderType;
use regente_domain::receipt::ReceiptMethod;
use regente_domain::receipt::content::{CardSale, Content, PaidBy, PixSale, end_to_end_id, masked_document};
use regente_store::receipts::StoredReceipt;
use regente_store::settings::LogoFile;
use regente_store::{cards, clients, merchants, settings};

use super::{Drawing, Proved};
use crate::app::App;
use crate::card_data::open_holder;
use crate::charges::routing;
use crate::customers::payer;
use crate::error::Error;
use crate::link_settings;

/// What is drawn of a charge for an issue.
pub(super) async fn drawing(app: &App, proved: &Proved, receipt: &StoredReceipt) -> Result<Drawing, Error> {
    let charge = &proved.stored.charge;
    let sale = proved.sale()?;
    let codes = sale.authorization.reference().cloned().unwrap_or_default();
    let paid_by = match proved.method {
        ReceiptMethod::Credit => {
            let known = match charge.method.card_id() {
                Some(card_id) => card(app, charge, card_id).await?,
                None => CardSale::default(),
            };
            PaidBy::Card(CardSale {
                installments: charge.method.installments(),
                authorization_code: codes.authorization_code,
                nsu: codes.authorization_nsu,
                network_transaction_id: codes.network_transaction_id,
                ..known
            })
        }
        ReceiptMethod::Pix => {
            let payer = payer::of_charge(app, charge).await?;
            let document = payer.as_ref().map(|payer| &payer.document).filter(|known| !known.is_absent());
            PaidBy::Pix(PixSale {
                document: document.map(|known| masked_document(&normal_number(&known.number))),
                payer: payer.as_ref().map(|payer| payer.name.clone()),
                end_to_end_id: end_to_end_id(&codes).map(str::to_owned),
            })
        }
    };
    let content = Content {
        receipt_type: receipt.receipt_type,
        language: receipt.language,
        id: receipt.id,
        issued_at: receipt.id.created_at(),
        charge_id: charge.id,
        merchant: merchant(app, charge).await?,
        acquirer: ProviderType::Platform.shown().to_owned(),
        sold_at: sale.at,
        amount: sale.amount,
        currency: charge.currency,
        paid_by,
        refunds: proved.refunds.clone(),
    };
    Ok(Drawing { content, logo: logo(app, charge).await? })
}

async fn card(app: &App, charge: &Charge, id: CardId) -> Result<CardSale, Error> {
    let found = cards::find_many_ever(&app.store, charge.client_id, &[id]).await?;
    let Some(stored) = found.into_iter().next() else { return Ok(CardSale::default()) };
    let holder = match &stored.holder {
        Some(sealed) => Some(open_holder(app, charge.client_id, id, sealed).await?),
        None => None,
    };
    let face = stored.card.face;
    Ok(CardSale {
        holder,
        brand: face.brand,
        first6digits: Some(face.first6digits),
        last4digits: Some(face.last4digits),
        ..CardSale::default()
    })
}

/// The merchant's name, also of one that was deleted; the account's where the merchant has none.
async fn merchant(app: &App, charge: &Charge) -> Result<String, Error> {
    let (client_id, id) = (charge.client_id, charge.merchant_id);
    let merchant = routing::merchant(app, client_id, id).await?;
    let live = merchant.and_then(|found| found.merchant.details.shown_name().map(str::to_owned));
    if let Some(name) = live {
        return Ok(name);
    }
    let ever = merchants::names_ever(&app.store, client_id, &[id]).await?;
    if let Some((_, Some(name))) = ever.into_iter().next() {
        return Ok(name);
    }
    Ok(clients::find(&app.store, client_id).await?.map(|client| client.name).unwrap_or_default())
}

/// The logo of the settings in force for the merchant.
async fn logo(app: &App, charge: &Charge) -> Result<Option<LogoFile>, Error> {
    let in_force = link_settings::in_force(app, charge.client_id, Some(charge.merchant_id)).await?;
    let Some(logo) = in_force.and_then(|settings| settings.details.logo) else { return Ok(None) };
    Ok(settings::find_logo(&app.store, charge.client_id, logo.id).await?)
}
