//! Applies flows that are kept in files, and writes active flows for such files.

use regente_domain::flow::{FlowMethod, FlowProblem, NewFlow};
use regente_domain::id::{ClientId, FlowId, MerchantId};
use regente_domain::problems::Problems;
use regente_engine::audit::Author;
use regente_engine::error::Error;
use regente_engine::flows;
use regente_store::flows::FlowVersion;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use similar::TextDiff;

use super::clients::the_client;
use super::error::CommandError;
use crate::app::App;

/// A command about the flows of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowsCommand {
    /// Whose; not needed where there is one account.
    pub client_id: Option<ClientId>,
    /// What is done.
    pub task: FlowsTask,
}

/// What is done about flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowsTask {
    /// A file is compared with the active flow of its merchant and method.
    Compare(Map<String, Value>),
    /// The same, and it is published if it differs.
    Publish(Map<String, Value>),
    /// The active flow is written as a file holds it.
    Export {
        /// Of which merchant.
        merchant_id: MerchantId,
        /// For which method.
        payment_method: FlowMethod,
    },
}

impl FlowsTask {
    /// The command's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Compare(_) | Self::Publish(_) => "flows apply",
            Self::Export { .. } => "flows export",
        }
    }
}

/// The answer to a command about flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowsAnswer {
    /// How a file differs from the active flow, and what became of it.
    Compared(ComparedFlow),
    /// The file of the active flow.
    Exported(Map<String, Value>),
}

/// How a file differs from the active flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ComparedFlow {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The method.
    pub payment_method: FlowMethod,
    /// The active version, if there is one.
    pub active: Option<FlowId>,
    /// The difference of their lines in unified form; empty where there is none.
    pub difference: String,
    /// The version that was published.
    pub published: Option<FlowId>,
}

pub(super) async fn run(app: &App, command: FlowsCommand) -> Result<FlowsAnswer, CommandError> {
    let client_id = the_client(app, command.client_id).await?;
    match command.task {
        FlowsTask::Compare(file) => Ok(FlowsAnswer::Compared(compare(app, client_id, file).await?.0)),
        FlowsTask::Publish(file) => Ok(FlowsAnswer::Compared(publish(app, client_id, file).await?)),
        FlowsTask::Export { merchant_id, payment_method } => {
            let active =
                flows::active(app, client_id, merchant_id, payment_method).await.map_err(CommandError::of)?;
            match active {
                Some(version) => Ok(FlowsAnswer::Exported(file_of(&version))),
                None => Err(CommandError::Argument(format!(
                    "merchant {merchant_id} has no active flow for {}",
                    payment_method.word()
                ))),
            }
        }
    }
}

async fn compare(
    app: &App,
    client_id: ClientId,
    file: Map<String, Value>,
) -> Result<(ComparedFlow, NewFlow), CommandError> {
    let new = read(file)?;
    must_be_publishable(app, client_id, &new).await?;
    let active =
        flows::active(app, client_id, new.merchant_id, new.payment_method).await.map_err(CommandError::of)?;
    let before = active.as_ref().map(file_of).unwrap_or_default();
    let difference = difference(&before, &written(&new));
    let compared = ComparedFlow {
        merchant_id: new.merchant_id,
        payment_method: new.payment_method,
        active: active.map(|version| version.id),
        difference,
        published: None,
    };
    Ok((compared, new))
}

/// What a file holds.
pub(super) fn read(file: Map<String, Value>) -> Result<NewFlow, CommandError> {
    let read = deserr::deserialize::<NewFlow, Value, Problems>(Value::Object(file));
    let new = read.map_err(|problems| CommandError::of(Error::Invalid(problems)))?;
    if new.parent_id.is_some() {
        let message = "parentId must not stand in a file: a flow is made from the one that is active";
        return Err(CommandError::Argument(message.to_owned()));
    }
    Ok(new)
}

/// Refuses a flow that would not be published.
pub(super) async fn must_be_publishable(
    app: &App,
    client_id: ClientId,
    new: &NewFlow,
) -> Result<(), CommandError> {
    let problems = flows::problems(app, client_id, new).await.map_err(CommandError::of)?;
    if problems.is_empty() {
        return Ok(());
    }
    let sentences: Vec<String> = problems.iter().map(FlowProblem::sentence).collect();
    Err(CommandError::Argument(sentences.join("; ")))
}

async fn publish(
    app: &App,
    client_id: ClientId,
    file: Map<String, Value>,
) -> Result<ComparedFlow, CommandError> {
    let (compared, new) = compare(app, client_id, file).await?;
    if compared.difference.is_empty() {
        return Ok(compared);
    }
    let author = Author::operator(client_id);
    let id = flows::publish_over(app, author, &new, compared.active).await.map_err(CommandError::of)?;
    Ok(ComparedFlow { published: Some(id), ..compared })
}

fn file_of(version: &FlowVersion) -> Map<String, Value> {
    written(&NewFlow {
        name: None,
        merchant_id: version.merchant_id,
        payment_method: version.method,
        flow: version.details.flow.clone(),
        parent_id: None,
    })
    .into_iter()
    .chain(version.details.name.clone().map(|name| ("name".to_owned(), Value::String(name))))
    .collect()
}

/// The members of a file.
fn written(new: &NewFlow) -> Map<String, Value> {
    let named = new.name.as_ref().map(|name| ("name".to_owned(), Value::String(name.as_str().to_owned())));
    let members = [
        ("merchantId", new.merchant_id.to_string().into()),
        ("paymentMethod", new.payment_method.word().into()),
        ("flow", Value::Object(new.flow.clone())),
    ];
    named.into_iter().chain(members.map(|(name, value)| (name.to_owned(), value))).collect()
}

fn difference(before: &Map<String, Value>, after: &Map<String, Value>) -> String {
    if before == after {
        return String::new();
    }
    let (before, after) = (lines(before), lines(after));
    TextDiff::from_lines(&before, &after).unified_diff().header("active", "file").to_string()
}

/// The members in a fixed order, so that a file that only orders them differently does not differ.
fn lines(members: &Map<String, Value>) -> String {
    if members.is_empty() {
        return String::new();
    }
    let mut sorted = Value::Object(members.clone());
    sorted.sort_all_objects();
    format!("{sorted:#}\n")
}
