//! A status that no provider is asked for: the charge is written as if it were so.

use regente_domain::charge::attempt::{Approval, Asks, Outcome, TransactionRequest};
use regente_domain::charge::{Charge, SimulatedStatus, Transition};
use regente_domain::decline::{Decline, DeclinedCode};
use regente_store::transaction_requests::{self, ObjectKind};
use regente_store::{Batch, charges, events, purchases};

use super::{STATUS_SET, refused};
use crate::app::App;
use crate::audit;
use crate::caller::{Caller, RequestId};
use crate::charges::stored::Ran;
use crate::error::Error;
use crate::purchases::operations::card_is_free;
use crate::queue;

/// The charge in its new status, and the batch that writes it.
pub(super) async fn plan(
    app: &App,
    (caller, request_id): (&Caller, &RequestId),
    before: &Charge,
    status: SimulatedStatus,
) -> Result<(Batch, Ran), Error> {
    let (client_id, now, actor) = (before.client_id, app.clock.of(before.client_id), caller.actor());
    let purchase = card_is_free(app, before, None).await?;
    let Transition { charge: after, announces } = before.simulate(status, now).map_err(refused)?;
    let requests = transaction_requests::of_object(&app.store, client_id, before.id.uuid()).await?;
    let mut requests: Vec<TransactionRequest> = requests.into_iter().map(|stored| stored.request).collect();
    // The provider of the payment, where one was asked.
    let of_payment = requests.iter().rfind(|request| !request.request_type.is_about_risk());
    let Some(last) = of_payment.or(requests.last()) else {
        return Err(Error::internal("a charge without a transaction request"));
    };
    let told = told(app, before, &after, last, status);
    let mut batch = Batch::new(client_id);
    if let Some(purchase) = purchase {
        purchases::hold(&mut batch, purchase);
    }
    charges::update(&mut batch, before, &after, &actor)?;
    queue::follow(app, &mut batch, before, &after, Some(&told));
    transaction_requests::insert_ended(&mut batch, &told, ObjectKind::Charge, &actor)?;
    if let Some(event) = announces {
        events::charge_changed(&mut batch, app.chance.id(now), &after, event, &actor);
    }
    audit::record(app, &mut batch, caller, request_id, STATUS_SET, before.id.uuid());
    requests.push(told);
    Ok((batch, Ran { charge: after, requests }))
}

/// The transaction request that records the change. It has no provider's id, which marks it as set by hand.
fn told(
    app: &App,
    before: &Charge,
    after: &Charge,
    last: &TransactionRequest,
    status: SimulatedStatus,
) -> TransactionRequest {
    let now = after.updated_at;
    let asks = Asks {
        provider_id: last.provider_id,
        provider_type: last.provider_type,
        request_type: status.request_type(),
        amount: before.amount,
        follows: None,
    };
    let outcome = match status {
        SimulatedStatus::Failed => Outcome::Declined(Decline::of(DeclinedCode::Generic)),
        SimulatedStatus::Authorized
        | SimulatedStatus::Voided
        | SimulatedStatus::ChargedBack
        | SimulatedStatus::RefundPending => Outcome::Approved(Approval::default()),
    };
    TransactionRequest { outcome, ..after.begin_request(app.chance.id(now), asks, now) }
}
