//! Replays charges of the past for `regente flows replay`, a part at a time, where the database is. Whoever asks adds the parts up.

use regente_domain::flow_replay::Tally;
use regente_domain::id::{ChargeId, ClientId, MerchantId, ProviderId};
use regente_domain::time::Timestamp;
use regente_engine::flow_replay::Replay;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::clients::the_client;
use super::error::CommandError;
use super::flows;
use crate::app::App;

/// Pages of charges that are walked for one answer.
const PAGES: usize = 4;

/// Asks for a part of a replay.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowReplayCommand {
    /// Whose charges; not needed where there is one account.
    pub client_id: Option<ClientId>,
    /// The flow, as a file holds it.
    pub flow: Map<String, Value>,
    /// Of this merchant; of the one in the file when absent.
    pub merchant_id: Option<MerchantId>,
    /// Charges made from this moment on.
    pub from: Timestamp,
    /// Charges made before.
    pub to: Timestamp,
    /// The last charge of the part before; `None` for the first part.
    pub after: Option<ChargeId>,
}

/// A part of a replay.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowReplayPart {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The names of its providers.
    pub providers: Vec<(ProviderId, String)>,
    /// Whether a balance of the flow learns.
    pub learns: bool,
    /// The sums of the charges.
    pub tally: Tally,
    /// The last one; `None` when there are no more.
    pub next: Option<ChargeId>,
}

pub(super) async fn run(app: &App, command: FlowReplayCommand) -> Result<FlowReplayPart, CommandError> {
    let FlowReplayCommand { client_id, flow, merchant_id, from, to, after } = command;
    let client_id = the_client(app, client_id).await?;
    let mut new = flows::read(flow)?;
    new.merchant_id = merchant_id.unwrap_or(new.merchant_id);
    flows::must_be_publishable(app, client_id, &new).await?;
    let replay = Replay::of(app, client_id, &new, (from, to)).await.map_err(CommandError::of)?;
    let (mut tally, mut next) = (Tally::default(), after);
    for _ in 0..PAGES {
        let walked = replay.walk(app, next).await?;
        tally.merge(walked.tally);
        next = walked.next;
        if next.is_none() {
            break;
        }
    }
    let providers = &replay.merchant().providers;
    Ok(FlowReplayPart {
        merchant_id: new.merchant_id,
        providers: providers.iter().map(|provider| (provider.id, provider.name.clone())).collect(),
        learns: replay.learns(),
        tally,
        next,
    })
}
