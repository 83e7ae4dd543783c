//! Runs the commands of operators.

use std::path::PathBuf;
use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::charge::timeline::Audience;
use regente_domain::id::{ChargeId, ClientId};
use regente_engine::jobs::DEPLOYMENT;
use regente_engine::queue::{self, Kind};
use regente_engine::vault;
use regente_store::{Batch, Commit, Existing, charges};

use super::answer::Answer;
use super::command::{Command, ExistingFile};
use super::doctor::{Subject, examine};
use super::error::CommandError;
use super::{
    backup, clients, clock, customers, flow_replay, flows, ledger, members, payouts, plans, prepayments,
    provider_check, reports, settlement, unknowns, webhooks,
};
use crate::access;
use crate::api::charges::explanation;
use crate::api::query::Query;
use crate::api::rates::RateListView;
use crate::app::App;
use crate::config::Config;

/// Runs a command.
///
/// # Errors
/// As the command; nothing was changed unless the error says otherwise.
pub async fn run(app: &App, config: &Config, command: Command) -> Result<Answer, CommandError> {
    match command {
        Command::ClientsCreate { name } => Ok(Answer::Client(clients::create(app, name).await?)),
        Command::ClientsList => Ok(Answer::Clients { clients: clients::rows(app).await? }),
        Command::ClientsSet { client_id, document_check_digits } => {
            Ok(Answer::ClientSet(clients::set(app, client_id, document_check_digits).await?))
        }
        Command::KeysCreate { client_id, label } => {
            let new = clients::create_key(app, client_id, label).await?;
            Ok(Answer::Key { key_id: new.id, key: new.key.expose().to_owned() })
        }
        Command::KeysList { client_id } => Ok(Answer::Keys { keys: clients::keys(app, client_id).await? }),
        Command::KeysRevoke { client_id, key_id } => {
            access::revoke_secret_key(app, client_id, key_id, Actor::Operator).await?;
            Ok(Answer::Revoked { key_id })
        }
        Command::VaultRotate => rotate(app).await,
        Command::VaultRewrap { kek_file } => rewrap(app, config, kek_file).await,
        Command::Explain { charge_id } => explain(app, charge_id).await,
        Command::UnknownsList => {
            let (unknowns, more) = unknowns::list(app).await?;
            Ok(Answer::Unknowns { unknowns, more })
        }
        Command::UnknownsRetry { request_id } => {
            unknowns::retry(app, request_id).await?;
            Ok(Answer::Resumed { request_id })
        }
        Command::LedgerVerify { client_id, repair } => {
            Ok(Answer::LedgerVerified(ledger::verify(app, client_id, repair).await?))
        }
        Command::LedgerStatement(of) => Ok(Answer::LedgerStatement(ledger::statement(app, of).await?)),
        Command::Rates { client_id, parameters } => {
            Ok(Answer::Rates(rates(app, client_id, parameters).await?))
        }
        Command::CustomersErase { client_id, customer_id } => {
            Ok(Answer::CustomerErased(customers::erase(app, client_id, customer_id).await?))
        }
        Command::ProvidersCheck { provider_id, wait_seconds } => {
            let wait_max = Duration::from_secs(wait_seconds);
            Ok(Answer::ProviderChecked(provider_check::check(app, provider_id, wait_max).await?))
        }
        Command::Clock { client_id, task } => Ok(Answer::Clock(clock::run(app, client_id, task).await?)),
        Command::Flows(command) => Ok(Answer::Flows(flows::run(app, command).await?)),
        Command::FlowReplay(command) => {
            Ok(Answer::FlowReplayPart(Box::new(flow_replay::run(app, *command).await?)))
        }
        Command::Plans(command) => Ok(Answer::Plans(plans::run(app, command).await?)),
        Command::Webhooks(command) => webhooks::run(app, command).await,
        Command::Settlement(command) => {
            Ok(Answer::Settlement { settlement: settlement::run(app, command).await? })
        }
        Command::Payouts(command) => Ok(Answer::Payouts(payouts::run(app, command).await?)),
        Command::Members { client_id, task } => {
            Ok(Answer::Members(members::run(app, client_id, task).await?))
        }
        Command::Prepayment { client_id, task } => {
            Ok(Answer::Prepayment(prepayments::run(app, client_id, task).await?))
        }
        Command::Reports(command) => Ok(Answer::ReportPart(reports::run(app, *command).await?)),
        Command::Address => Ok(Answer::Address { url: config.local_url(config.listen_address()?) }),
        Command::Doctor => {
            let (store, clock, chance) = (&app.store, &app.clock, &app.chance);
            let subject = Subject { store, config, simulator_log: app.simulator_log.as_ref(), clock, chance };
            Ok(Answer::Doctor(examine(subject).await))
        }
        Command::Backup { file, existing } => {
            let existing = match existing {
                ExistingFile::Refuse => Existing::Refuse,
                ExistingFile::Replace => Existing::Replace,
            };
            Ok(Answer::BackedUp(backup::back_up(app, file, existing).await?))
        }
        Command::Restore { file } => Ok(Answer::Restored(backup::restore(app, config, file).await?)),
    }
}

async fn explain(app: &App, charge_id: ChargeId) -> Result<Answer, CommandError> {
    let told = match charges::client_of(&app.store, charge_id).await? {
        Some(client_id) => explanation::tell(&app.store, client_id, charge_id, Audience::Merchant).await?,
        None => None,
    };
    match told {
        Some(explanation) => Ok(Answer::Explained(Box::new(explanation))),
        None => Err(CommandError::Argument(format!("there is no charge {charge_id}"))),
    }
}

async fn rates(
    app: &App,
    client_id: Option<ClientId>,
    parameters: Vec<(String, String)>,
) -> Result<RateListView, CommandError> {
    let client_id = clients::the_client(app, client_id).await?;
    let told = crate::api::rates::tell(app, client_id, &Query::of(parameters)).await;
    told.map_err(CommandError::of)
}

async fn rotate(app: &App) -> Result<Answer, CommandError> {
    let data_key_id = app.vault.rotate(Actor::Operator).await?;
    let mut batch = Batch::new(DEPLOYMENT);
    queue::bring_forward(app, &mut batch, Kind::Reseal);
    match app.store.apply(batch).await? {
        Commit::Applied => {}
        // The job recurs by itself; it only runs later.
        Commit::Refused(_) | Commit::Unknown => {
            tracing::warn!("the job that seals again was not brought forward")
        }
    }
    Ok(Answer::Rotated { data_key_id })
}

async fn rewrap(app: &App, config: &Config, kek_file: PathBuf) -> Result<Answer, CommandError> {
    let (former, _) = config.kek()?;
    let mut with_new = config.clone();
    with_new.vault.kek = None;
    with_new.vault.kek_file = Some(kek_file.clone());
    let (new, _) = with_new.kek()?;
    if new.looks_like_a_sample() {
        return Err(CommandError::Argument("the new key-encryption key is not random".to_owned()));
    }
    let now = app.clock.deployment();
    let data_keys = vault::rewrap(&app.store, &former, &new, &app.chance, now, Actor::Operator).await?;
    Ok(Answer::Rewrapped { data_keys, kek_file })
}
