//! Mails whoever a report is for the links to its files, once they are all there. A mail that was handed over and not noted, because the
//! process stopped in between, is handed over again, under the same name.

use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, ReportId};
use regente_domain::report::{ReportMail, ReportStatus, Step, Zone};
use regente_store::Batch;
use regente_store::reports as stored;

use super::{expires_at, moved, private};
use crate::app::App;
use crate::error::Error;
use crate::mail::{Mail, NotSent};
use crate::queue::Kind;
use crate::races::{self, Changed};
use crate::{audit, report_links};

/// What a run has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mailed {
    /// The mail was handed over, or there is none to send any more.
    Done,
    /// The recipient is refused for good.
    Refused(NotSent),
    /// The service does not know at which address others reach it.
    NoAddress,
}

/// Mails the links of a report.
///
/// # Errors
/// The database or the vault fails, or the mail server does not accept the mail now; the same run may succeed later.
pub async fn mail(app: &App, client_id: ClientId, id: ReportId) -> Result<Mailed, Error> {
    let Some(mailer) = &app.mailer else { return Ok(Mailed::Done) };
    let Some(report) = stored::find(&app.store, client_id, id).await? else { return Ok(Mailed::Done) };
    let (now, until) = (app.clock.of(client_id), expires_at(&report));
    if report.status != ReportStatus::Uploaded || now >= until {
        return Ok(Mailed::Done);
    }
    let order = &report.order;
    let period = order.filters.period().ok_or_else(|| Error::internal("a report without a period"))?;
    let zone = Zone::parse(&order.timezone).unwrap_or_default();
    let links = report_links::addresses(app, (client_id, id), report.progress.pages).await?;
    let Some(links) = links else { return Ok(Mailed::NoAddress) };
    let ReportMail { subject, text } = ReportMail::of(order.language, &zone, period, &links, until);
    let private = private(app, &report).await?;
    let name = format!("report-{id}");
    let mail = Mail { to: &private.send_to, subject, text: &text, at: now, name: &name };
    match mailer.send(mail).await {
        Ok(()) => {}
        Err(refused @ NotSent::Ever(_)) => return Ok(Mailed::Refused(refused)),
        Err(fault @ NotSent::Yet(_)) => return Err(Error::internal(fault)),
    }
    note(app, client_id, id).await?;
    Ok(Mailed::Done)
}

/// Notes that the mail was handed over; a report whose files have gone meanwhile stays as it is.
async fn note(app: &App, client_id: ClientId, id: ReportId) -> Result<(), Error> {
    races::change(|| async {
        let Some(report) = stored::find(&app.store, client_id, id).await? else {
            return Ok(Changed::Already(()));
        };
        let Some(status) = report.status.after(Step::MailHandedOver) else { return Ok(Changed::Already(())) };
        let mut batch = Batch::new(client_id);
        stored::update(&mut batch, &moved(app, &report, status))?;
        let job = Actor::Job(Kind::MailReport.word());
        audit::record_of(app, &mut batch, (&job, None), "report.mailed", id.uuid());
        let _admission = app.store.admit_waiting().await?;
        Ok(Changed::Written(app.store.apply(batch).await?, ()))
    })
    .await
}
