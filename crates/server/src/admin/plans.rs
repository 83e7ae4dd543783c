//! Creates and changes sales plans for operators, and lists them.

use deserr::Deserr;
use regente_domain::id::{ClientId, PlanId};
use regente_domain::plan::{Plan, PlanStatus};
use regente_domain::problems::Problems;
use regente_domain::wire;
use regente_engine::audit::Author;
use regente_engine::error::Error;
use regente_engine::plans;
use regente_store::customers::{Order, Slice};
use regente_store::plans::PlanFilter;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::clients::the_client;
use super::error::CommandError;
use crate::api::plans::PlanView;
use crate::app::App;

/// Plans that one query reads.
const PLANS_PER_PAGE: i64 = 200;

/// A command about the sales plans of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlansCommand {
    /// Whose; not needed where there is one account.
    pub client_id: Option<ClientId>,
    /// What is done.
    pub task: PlansTask,
}

/// What is done about plans.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlansTask {
    /// A plan is created of the members of a file.
    Create(Map<String, Value>),
    /// A plan takes the members of a file.
    Change {
        /// Which.
        plan_id: PlanId,
        /// What changes.
        members: Map<String, Value>,
    },
    /// All plans are listed.
    List,
    /// One plan is shown.
    Show {
        /// Which.
        plan_id: PlanId,
    },
    /// A plan becomes the default.
    Default {
        /// Which.
        plan_id: PlanId,
    },
    /// Sellers can be linked to a plan from now on.
    Activate {
        /// Which.
        plan_id: PlanId,
    },
    /// They can be no more.
    Deactivate {
        /// Which.
        plan_id: PlanId,
    },
}

impl PlansTask {
    /// The command's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Create(_) => "plans create",
            Self::Change { .. } => "plans change",
            Self::List => "plans list",
            Self::Show { .. } => "plans show",
            Self::Default { .. } => "plans default",
            Self::Activate { .. } => "plans activate",
            Self::Deactivate { .. } => "plans deactivate",
        }
    }
}

/// The answer to a command about plans.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlansAnswer {
    /// It was created so.
    Created(PlanView),
    /// It is so now.
    Changed(PlanView),
    /// All plans, oldest first.
    Listed(Vec<PlanView>),
    /// One plan.
    Shown(PlanView),
}

pub(super) async fn run(app: &App, command: PlansCommand) -> Result<PlansAnswer, CommandError> {
    let client_id = the_client(app, command.client_id).await?;
    let author = Author::operator(client_id);
    let set = async |plan_id, status| {
        let done = plans::set_status(app, author, plan_id, status).await;
        done.map(changed).map_err(|error| refused(plan_id, error))
    };
    match command.task {
        PlansTask::Create(members) => {
            let created = plans::create(app, author, &read(members)?).await;
            created.map(|plan| PlansAnswer::Created(plan.into())).map_err(CommandError::of)
        }
        PlansTask::Change { plan_id, members } => {
            let done = plans::change(app, author, plan_id, &read(members)?).await;
            done.map(changed).map_err(|error| refused(plan_id, error))
        }
        PlansTask::List => all(app, client_id).await.map(PlansAnswer::Listed),
        PlansTask::Show { plan_id } => {
            let found = plans::find(app, client_id, plan_id).await;
            found.map(|plan| PlansAnswer::Shown(plan.into())).map_err(|error| refused(plan_id, error))
        }
        PlansTask::Default { plan_id } => {
            let done = plans::make_default(app, author, plan_id).await;
            done.map(changed).map_err(|error| refused(plan_id, error))
        }
        PlansTask::Activate { plan_id } => set(plan_id, PlanStatus::Active).await,
        PlansTask::Deactivate { plan_id } => set(plan_id, PlanStatus::Inactive).await,
    }
}

fn changed(plan: Plan) -> PlansAnswer {
    PlansAnswer::Changed(plan.into())
}

/// What a file holds.
fn read<T: Deserr<Problems>>(members: Map<String, Value>) -> Result<T, CommandError> {
    wire::read(members).map_err(|problems| CommandError::of(Error::Invalid(problems)))
}

/// Why nothing was done about a plan.
fn refused(plan_id: PlanId, error: Error) -> CommandError {
    if matches!(error, Error::NotFound) {
        return CommandError::Argument(format!("the account has no plan {plan_id}"));
    }
    CommandError::of(error)
}

async fn all(app: &App, client_id: ClientId) -> Result<Vec<PlanView>, CommandError> {
    let mut listed = Vec::new();
    loop {
        let offset = i64::try_from(listed.len()).unwrap_or(i64::MAX);
        let slice = Slice { order: Order::OldestFirst, limit: PLANS_PER_PAGE, offset };
        let page = plans::list(app, client_id, PlanFilter::default(), slice).await;
        let (page, _) = page.map_err(CommandError::of)?;
        if page.is_empty() {
            return Ok(listed);
        }
        listed.extend(page.into_iter().map(PlanView::from));
    }
}
