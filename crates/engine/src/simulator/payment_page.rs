//! A payer at a page of the simulator pays or refuses (`docs/interface/sandbox.md#payment-pages`). It happens at the
//! simulator alone, which notifies of it and tells it when it is probed, as a real provider would.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::instructions::Instructions;
use regente_domain::charge::{Charge, ChargeState, PaymentMethod, expiry};
use regente_domain::id::Id;
use regente_domain::time::Timestamp;
use regente_providers::sandbox::{PAGES, PageLink};
use regente_providers::staged::{StageRefusal, Staged, StagedEvent};
use regente_store::charges::{self, StoredCharge};

use crate::app::App;
use crate::charges::routing;
use crate::error::Error;
use crate::notifications;

/// What the payer of a page does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// They pay.
    Pay,
    /// They refuse.
    Refuse,
}

/// What there is to do at a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// The payer may pay or refuse.
    Open,
    /// It is paid.
    Paid,
    /// It can no longer be paid.
    Over,
}

/// The page of a charge.
pub struct PaymentPage {
    /// The charge.
    pub stored: StoredCharge,
    /// The merchant's name.
    pub merchant: Option<String>,
    /// What there is to do.
    pub state: PageState,
    instructed: TransactionRequest,
}

/// The page that a link leads to; `None` when no payer was given the link.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn open(app: &App, link: &str) -> Result<Option<PaymentPage>, Error> {
    let Some(PageLink { provider_id, object_id }) = PageLink::read(link) else { return Ok(None) };
    let provider = match notifications::provider(app, Id::new(provider_id)).await {
        Err(Error::NotFound) => return Ok(None),
        found => found?,
    };
    let client_id = provider.client_id;
    let found = charges::find_with_requests(&app.store, client_id, Id::new(object_id)).await?;
    let Some((stored, requests)) = found else { return Ok(None) };
    let instructed =
        requests.into_iter().map(|stored| stored.request).rfind(|request| leads_to(request, link));
    let Some(instructed) = instructed else { return Ok(None) };
    let merchant = routing::merchant(app, client_id, stored.charge.merchant_id).await?;
    let merchant = merchant.and_then(|found| found.merchant.details.shown_name().map(str::to_owned));
    let state = state(&stored.charge, &instructed, app.clock.of(client_id));
    Ok(Some(PaymentPage { stored, merchant, state, instructed }))
}

/// Whether the payer of this request was given the link.
fn leads_to(request: &TransactionRequest, link: &str) -> bool {
    let address = match request.pending().map(|pending| &pending.instructions) {
        Some(Instructions::Redirect { url }) => url,
        Some(Instructions::QrCode { data }) => data,
        Some(
            Instructions::Challenge { .. } | Instructions::HostedChallenge { .. } | Instructions::Boleto(_),
        )
        | None => return false,
    };
    let given = address.rsplit_once(PAGES).map(|(_, given)| given);
    given.is_some_and(|given| verify_slices_are_equal(given.as_bytes(), link.as_bytes()).is_ok())
}

fn state(charge: &Charge, instructed: &TransactionRequest, now: Timestamp) -> PageState {
    match charge.state {
        ChargeState::Processing | ChargeState::AwaitingPayer { .. } if now < expiry(instructed) => {
            PageState::Open
        }
        ChargeState::Processing
        | ChargeState::AwaitingPayer { .. }
        | ChargeState::Failed { .. }
        | ChargeState::Canceled { .. } => PageState::Over,
        ChargeState::PreAuthorized { .. }
        | ChargeState::CapturePending { .. }
        | ChargeState::Authorized { .. }
        | ChargeState::RefundPending { .. }
        | ChargeState::RefundAccepted { .. }
        | ChargeState::Voided { .. }
        | ChargeState::ChargedBack { .. } => PageState::Paid,
    }
}

impl PaymentPage {
    /// The payer decides. The first decision stands; `false` when it was another one, or is too late.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the simulator does not answer.
    pub async fn decide(&self, app: &App, decision: Decision) -> Result<bool, Error> {
        let what = match (decision, self.state) {
            (_, PageState::Over) | (Decision::Refuse, PageState::Paid) => return Ok(false),
            (Decision::Pay, PageState::Paid) => return Ok(true),
            (Decision::Pay, PageState::Open) => Staged::Payment { amount: None },
            (Decision::Refuse, PageState::Open) => Staged::Refusal,
        };
        let at = app.clock.of(self.instructed.client_id);
        let event = StagedEvent { key: self.instructed.provider_key(), at, what };
        match app.providers.stage(self.instructed.provider_type, event).await {
            Ok(()) => Ok(true),
            Err(StageRefusal::NothingWaits | StageRefusal::NoSimulator) => Ok(false),
            Err(StageRefusal::Unanswered) => Err(Error::unavailable()),
        }
    }

    /// Where the payer goes on after this decision, if the merchant says.
    pub fn return_address(&self, decision: Decision) -> Option<&str> {
        let (paid, refused) = match &self.stored.charge.method {
            PaymentMethod::Nupay(nupay) => (nupay.return_url.as_deref(), nupay.cancel_url.as_deref()),
            PaymentMethod::Drip(drip) => {
                (drip.success_redirect_url.as_deref(), drip.cancel_redirect_url.as_deref())
            }
            PaymentMethod::Credit(_)
            | PaymentMethod::Debit(_)
            | PaymentMethod::Voucher(_)
            | PaymentMethod::Pix(_)
            | PaymentMethod::Boleto(_)
            | PaymentMethod::Picpay(_)
            | PaymentMethod::ApplePay(_)
            | PaymentMethod::ClickToPay(_) => (None, None),
        };
        match decision {
            Decision::Pay => paid,
            Decision::Refuse => refused,
        }
    }
}
