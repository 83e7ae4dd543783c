//! Plans one step of a charge: what [`Charge::step`] says, with the ids and the time of this process.

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::charge::{self, Charge, ChargeEvent, Misstep, Next, SecurityCode};
use regente_domain::id::TransactionRequestId;
use regente_domain::time::Timestamp;
use regente_store::sealed::Sealed;

use crate::app::App;
use crate::error::Error;

/// The next change of a charge.
pub(crate) struct Step {
    /// The charge after the step.
    pub(crate) charge: Charge,
    /// The event that the step announces.
    pub(crate) announces: Option<ChargeEvent>,
    /// The request that is sent next.
    pub(crate) next: Option<TransactionRequest>,
    /// The security code that is held while the charge waits for its payer.
    pub(crate) security_code: Option<Sealed>,
    /// The request with instructions that the outcome of the step is the first to tell the end of.
    pub(crate) first_told_of: Option<Box<TransactionRequest>>,
}

impl From<charge::Step> for Step {
    fn from(charge::Step { charge, announces, next }: charge::Step) -> Self {
        Self { charge, announces, next, security_code: None, first_told_of: None }
    }
}

impl Step {
    /// A request that ends with this step ends when its charge changes: an event shows the requests as they were at the time
    /// of its version.
    pub(crate) fn ends(&self, request: TransactionRequest) -> TransactionRequest {
        TransactionRequest { updated_at: self.charge.updated_at, ..request }
    }
}

/// The step for `next` at `now`, the one moment of its batch; `None` while the charge waits. `security_code` tells what a
/// later provider needs, if the charge begins to wait for its payer.
pub(crate) fn step(
    app: &App,
    charge: &Charge,
    requests: &[TransactionRequest],
    next: Next,
    security_code: SecurityCode,
    now: Timestamp,
) -> Result<Option<Step>, Error> {
    let step = charge.step(requests, next, security_code, &ids(app, charge), now).map_err(misstep)?;
    Ok(step.map(Step::from))
}

/// The ids of requests that a step of this charge adds.
pub(crate) fn ids(app: &App, charge: &Charge) -> impl Fn() -> TransactionRequestId {
    let client_id = charge.client_id;
    move || app.chance.id(app.clock.of(client_id))
}

pub(crate) fn misstep(misstep: Misstep) -> Error {
    Error::internal(match misstep {
        Misstep::NotPending(status) => {
            format!("the outcome of a request came for a charge that is {}", status.word())
        }
        Misstep::NoOperation => "an outcome for a charge with no open operation".to_owned(),
        Misstep::NoSuchRequest => {
            "an outcome or a void of a request that the charge does not have".to_owned()
        }
        Misstep::NotAnalysed => "an analysis of a charge that nobody analyses".to_owned(),
        Misstep::NoReservation => "a verdict on a charge without a reservation".to_owned(),
        Misstep::NotEnded => "a void that has not ended".to_owned(),
        Misstep::UnderWay => "an authentication of a charge that is under way".to_owned(),
    })
}
