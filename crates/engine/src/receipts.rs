//! Receipts: documents that prove the refunds of a charge (`docs/interface/receipts.md`). The same refunds have one issue of a type in a
//! language, whose file is stored sealed; a new refund makes a new one. [`facts`] gathers what a document says; whoever calls draws it.

mod facts;

use futures_util::future::BoxFuture;
use regente_domain::charge::refunds::{self, Refund, Sale};
use regente_domain::id::{ChargeId, ClientId, ReceiptId};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::receipt::content::Content;
use regente_domain::receipt::{ADDRESS_LIFE, KEPT_FOR, NewReceipt, REFUNDS_MAX, ReceiptMethod, digest_of};
use regente_domain::time::Timestamp;
use regente_store::receipts::{self as stored, StoredReceipt, Subject};
use regente_store::settings::LogoFile;
use regente_store::{Batch, charges};
use zeroize::Zeroizing;

use crate::app::App;
use crate::audit::Author;
use crate::error::Error;
use crate::races::{self, Changed};
use crate::receipt_links;
use crate::vault::{Binding, Purpose};

/// `businessCode` where nothing was given back yet.
pub const NOT_CONFIRMED: &str = "receipt_refund_not_confirmed";
/// `businessCode` where there is no such document of the payment method.
pub const TYPE_NOT_SUPPORTED: &str = "receipt_type_not_supported";
/// `businessCode` where another provider has the charge.
pub const PROVIDER_NOT_SUPPORTED: &str = "receipt_provider_not_supported";
/// `businessCode` of more refunds than documents name.
pub const TOO_MANY_REFUNDS: &str = "receipt_too_many_refunds";
/// The message of an address whose time is over.
const FILE_EXPIRED: &str = "File has expired";

/// What is drawn.
pub struct Drawing {
    /// What the document says.
    pub content: Content,
    /// The merchant's logo.
    pub logo: Option<LogoFile>,
}

/// Draws a document. It may take some milliseconds, away from what serves requests.
pub type Draw<'a> = &'a (dyn Fn(Drawing) -> BoxFuture<'static, Result<Vec<u8>, Error>> + Send + Sync);

/// An issue as answers show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Issued {
    /// The row.
    pub receipt: StoredReceipt,
    /// How the charge was paid.
    pub method: ReceiptMethod,
    /// The refunds that it proves, oldest first.
    pub refunds: Vec<Refund>,
    /// The address of the file.
    pub url: String,
    /// Until when the address is good.
    pub url_expires_at: Timestamp,
}

impl Issued {
    /// All refunds together.
    pub fn total(&self) -> Amount {
        let sum = self.refunds.iter().try_fold(Amount::ZERO, |sum, refund| sum.plus(refund.amount));
        sum.unwrap_or_default()
    }
}

/// A charge with what can be proved of it.
struct Proved {
    stored: charges::StoredCharge,
    requests: Vec<regente_domain::charge::attempt::TransactionRequest>,
    method: ReceiptMethod,
    refunds: Vec<Refund>,
}

impl Proved {
    fn sale(&self) -> Result<Sale<'_>, Error> {
        refunds::sale(&self.requests).ok_or_else(not_confirmed)
    }
}

/// Issues a document, or finds the issue of the same refunds: the batch that writes it with its entry in the audit trail.
///
/// # Errors
/// [`Error::NotFound`] without such a charge; [`Error::BusinessRule`] where nothing can be proved.
pub async fn plan_issue(
    app: &App,
    author: &Author<'_>,
    new: &NewReceipt,
    draw: Draw<'_>,
) -> Result<(Batch, Issued), Error> {
    let client_id = author.client_id;
    let proved = proved(app, client_id, new).await?;
    let (charge_id, receipt_type, language) = (new.charge_id, new.receipt_type, new.language);
    let subject = Subject { charge_id, receipt_type, language, refunds: digest_of(&proved.refunds) };
    let now = app.clock.of(client_id);
    let mut batch = Batch::new(client_id);
    let found = stored::find_of(&app.store, client_id, subject).await?;
    let receipt = match found {
        Some(found) if found.expires_at > now => found,
        Some(_) | None => {
            if let Some(over) = found {
                stored::delete(&mut batch, over.id);
            }
            let id: ReceiptId = app.chance.id(now);
            let format = receipt_type.format(proved.refunds.len());
            let expires_at = id.created_at() + KEPT_FOR;
            let receipt = StoredReceipt {
                id,
                client_id,
                charge_id,
                receipt_type,
                language,
                refunds: subject.refunds,
                format,
                expires_at,
            };
            let file = draw(facts::drawing(app, &proved, &receipt).await?).await?;
            stored::insert(&mut batch, &receipt, app.vault.seal(binding(client_id, id), &file));
            receipt
        }
    };
    author.record(app, &mut batch, "receipt.issued", receipt.id.uuid());
    let url_expires_at = now + ADDRESS_LIFE;
    let url = receipt_links::address(app, (client_id, receipt.id), url_expires_at).await?;
    let Proved { method, refunds, .. } = proved;
    Ok((batch, Issued { receipt, method, refunds, url, url_expires_at }))
}

/// As [`plan_issue`], written.
///
/// # Errors
/// As [`plan_issue`].
pub async fn issue(
    app: &App,
    author: &Author<'_>,
    new: &NewReceipt,
    draw: Draw<'_>,
) -> Result<Issued, Error> {
    races::change(|| async {
        let (batch, issued) = plan_issue(app, author, new, draw).await?;
        let _admission = app.store.admit(author.client_id)?;
        Ok(Changed::Written(app.store.apply(batch).await?, issued))
    })
    .await
}

/// Opens the file of an issue for whoever has its address. That it was fetched is noted in the audit trail: it holds personal data.
///
/// # Errors
/// [`Error::Gone`] once the time of the address is over, or when the issue is not kept any more.
pub async fn open_file(
    app: &App,
    reader: &Author<'_>,
    id: ReceiptId,
    until: Timestamp,
) -> Result<(StoredReceipt, Zeroizing<Vec<u8>>), Error> {
    let client_id = reader.client_id;
    if app.clock.of(client_id) >= until {
        return Err(Error::Gone(FILE_EXPIRED));
    }
    races::change(|| async {
        let receipt = stored::find(&app.store, client_id, id).await?;
        let sealed = stored::file(&app.store, client_id, id).await?;
        let (receipt, sealed) = receipt.zip(sealed).ok_or(Error::Gone(FILE_EXPIRED))?;
        let file = app.vault.open(binding(client_id, id), &sealed).await?;
        let mut batch = Batch::new(client_id);
        reader.record(app, &mut batch, "receipt.fetched", id.uuid());
        let _admission = app.store.admit(client_id)?;
        Ok(Changed::Written(app.store.apply(batch).await?, (receipt, file)))
    })
    .await
}

/// What can be proved of a charge; an error says why nothing can.
async fn proved(app: &App, client_id: ClientId, new: &NewReceipt) -> Result<Proved, Error> {
    let charge_id: ChargeId = new.charge_id;
    let found = charges::find_with_requests(&app.store, client_id, charge_id).await?;
    let (stored, requests) = found.ok_or(Error::NotFound)?;
    let payment_type = stored.charge.method.payment_type();
    let method = ReceiptMethod::of(payment_type).filter(|method| new.receipt_type.fits(*method));
    let Some(method) = method else {
        let message = format!(
            "there is no {} of a charge with paymentType {}",
            new.receipt_type.word(),
            payment_type.word()
        );
        return Err(rule(TYPE_NOT_SUPPORTED, message));
    };
    if stored.charge.state.responsible() != Some(ProviderType::Platform) {
        let message = format!("charge was not processed by {}", ProviderType::Platform.shown());
        return Err(rule(PROVIDER_NOT_SUPPORTED, message));
    }
    let requests: Vec<_> = requests.into_iter().map(|stored| stored.request).collect();
    let refunds = refunds::confirmed(&requests);
    if refunds.is_empty() {
        return Err(not_confirmed());
    }
    if refunds.len() > REFUNDS_MAX {
        let message = format!("charge has more than {REFUNDS_MAX} confirmed refunds");
        return Err(rule(TOO_MANY_REFUNDS, message));
    }
    Ok(Proved { stored, requests, method, refunds })
}

fn not_confirmed() -> Error {
    rule(NOT_CONFIRMED, "charge has no confirmed refund".to_owned())
}

fn rule(business_code: &'static str, message: String) -> Error {
    Error::BusinessRule { business_code, message: message.into() }
}

fn binding(client_id: ClientId, id: ReceiptId) -> Binding {
    Binding::new(Purpose::ReceiptFile, client_id, id.uuid())
}
