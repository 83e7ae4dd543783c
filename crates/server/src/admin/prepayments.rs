//! Enables accounts for prepayment, and shows at which rates they are.

use regente_domain::actor::Actor;
use regente_domain::id::ClientId;
use regente_domain::percentage::Percentage;
use regente_domain::prepayment::Rates;
use regente_store::clients;
use serde::{Deserialize, Serialize};

use super::error::CommandError;
use crate::access::{self, AccessError};
use crate::app::App;

/// What is done about the prepayment of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrepaymentTask {
    /// Enable it, or change its rates. What was simulated before keeps those that it has.
    Enable(Rates),
    /// Disable it. What was committed is paid.
    Disable,
    /// Show how it stands.
    Show,
}

impl PrepaymentTask {
    /// The command's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Enable(_) => "prepayment enable",
            Self::Disable => "prepayment disable",
            Self::Show => "prepayment show",
        }
    }
}

/// How the prepayment of an account stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PrepaymentRow {
    /// The account.
    pub client_id: ClientId,
    /// Its name.
    pub name: String,
    /// Whether it is enabled.
    pub enabled: bool,
    /// What the provider asks for 30 days, in percent.
    pub monthly_rate: Option<String>,
    /// What the platform adds, in percent for 30 days.
    pub markup: Option<String>,
}

pub(super) async fn run(
    app: &App,
    client_id: ClientId,
    task: PrepaymentTask,
) -> Result<PrepaymentRow, CommandError> {
    match task {
        PrepaymentTask::Enable(rates) => {
            let Rates { monthly_rate, markup } = rates;
            if monthly_rate > Percentage::HUNDRED || markup > Percentage::HUNDRED {
                return Err(CommandError::Argument("a rate must not be greater than 100 %".to_owned()));
            }
            access::set_prepayment(app, client_id, Some(rates), Actor::Operator).await?;
        }
        PrepaymentTask::Disable => {
            access::set_prepayment(app, client_id, None, Actor::Operator).await?;
        }
        PrepaymentTask::Show => {}
    }
    let client = clients::find(&app.store, client_id).await?.ok_or(AccessError::UnknownClient(client_id))?;
    let percent = |rate: fn(Rates) -> Percentage| client.prepayment.map(rate).map(|rate| rate.to_string());
    Ok(PrepaymentRow {
        client_id,
        name: client.name.clone(),
        enabled: client.prepayment.is_some(),
        monthly_rate: percent(|rates| rates.monthly_rate),
        markup: percent(|rates| rates.markup),
    })
}
