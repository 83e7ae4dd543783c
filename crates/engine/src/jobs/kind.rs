//! Dispatches a job to the function of its kind.

use regente_store::jobs::Job;

use super::job::Jobs;
use super::{
    advance, counters, feeding, ledger, payouts, prepayments, purge, reports, reservation, rotation, sellers,
    sessions, subscriptions,
};
use crate::app::App;
use crate::customers::erasure;
use crate::deliveries::{deleted, keys};
use crate::error::Error;
use crate::notifications;
use crate::purchases::{self, NextRun};
use crate::queue::{Ended, Kind};

/// Runs a job of this kind.
pub(super) async fn run(kind: Kind, jobs: &Jobs, job: &Job) -> Result<Ended, Error> {
    let app = &jobs.app;
    match kind {
        Kind::PurgeIdempotency => purge::idempotency(app).await,
        Kind::PurgeTokens => purge::tokens(app).await,
        Kind::PurgeCredentials => purge::credentials(app).await,
        Kind::PurgeDeliveries => purge::deliveries(app).await,
        Kind::Reseal => rotation::reseal(app).await,
        Kind::ExpireReservation => reservation::expire(app, job).await,
        Kind::Purchase => purchase(app, job).await,
        Kind::EndKeyRotation => keys::finish(app, job).await,
        Kind::PurgeListeners => purge::listeners(app).await,
        Kind::DropDeliveries => deleted::drop_deliveries(app, job).await,
        Kind::FoldCounters => counters::fold_sums(app).await,
        Kind::EraseCustomer => erasure::run(app, job).await,
        Kind::ProviderNotification => notifications::settle(app, job).await,
        Kind::PurgeNotifications => purge::notifications(app).await,
        Kind::PurgeRates => purge::rates(app).await,
        Kind::FeedAntiFraud => feeding::feed(app, job).await,
        Kind::CountPayment => sessions::count(app, job).await,
        Kind::ReturnPayment => sessions::give_back(app, job).await,
        Kind::ExpireSession => sessions::expire(app, job).await,
        Kind::CloseSession => sessions::close(app, job).await,
        Kind::OpenLedger => ledger::open(app).await,
        Kind::RegisterSeller => sellers::register(app, job).await,
        Kind::LinkSellers => sellers::link(app, job).await,
        Kind::EndSellerDocument => sellers::end_document(app, job).await,
        Kind::RegistrationReview => sellers::review(app, job).await,
        Kind::Subscription => subscriptions::run(app, job).await,
        Kind::Report => reports::write(app, job).await,
        Kind::ExpireReport => reports::expire(app, job).await,
        Kind::MailReport => reports::mail(app, job).await,
        Kind::PayoutOrders => payouts::write_orders(app, job).await,
        Kind::Payday => payouts::pay_out(app, job).await,
        Kind::Transfer => payouts::transfer(app, job).await,
        Kind::Prepayment => prepayments::run(app, job).await,
        Kind::AdvanceClock => advance::run(jobs, job).await,
    }
}

async fn purchase(app: &App, job: &Job) -> Result<Ended, Error> {
    let Ok(id) = job.payload.parse() else {
        return Ok(Ended::GiveUp { why: "the payload names no purchase".to_owned() });
    };
    Ok(match purchases::run(app, job.client_id, id).await {
        NextRun::Idle => Ended::Finished,
        NextRun::Until(at) => Ended::Again { at },
    })
}
