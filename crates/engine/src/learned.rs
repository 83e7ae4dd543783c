//! The shares of balances that learn: reads the rates of their providers once for each hour and flow, and reports shares that
//! have changed a lot (`docs/learned-balance.md`).

use std::sync::Arc;

use regente_domain::flow::{Group, LearnedNode};
use regente_domain::id::ClientId;
use regente_domain::learned::Shares;
use regente_domain::learned::moves::Moved;
use regente_store::StoreError;
use regente_store::rates::to_learn;

use crate::app::App;
use crate::calls::learned::KnownHour;
use crate::calls::merchants::ActiveFlow;
use crate::metrics;

/// Most groups of an hour, provider, brand and band that are read: the latest ones.
const GROUPS_MAX: i64 = 200_000;

/// What the balances of a flow know; `None` where none learns. The first charge of an hour reads it, by one range of the key of the
/// rates, and those that come meanwhile wait for it; all others find it in memory.
///
/// # Errors
/// [`StoreError`].
pub async fn known(
    app: &App,
    client_id: ClientId,
    active: &ActiveFlow,
) -> Result<Option<Arc<KnownHour>>, StoreError> {
    if !active.learns {
        return Ok(None);
    }
    let hour = app.clock.of(client_id).hour();
    if let Some(known) = app.learned.get(active.id, hour) {
        return Ok(Some(known));
    }
    let _reading = app.learned.reading.lock().await;
    if let Some(known) = app.learned.get(active.id, hour) {
        return Ok(Some(known));
    }
    let nodes = active.flow.learned();
    let leads: Vec<_> = nodes.iter().flat_map(|node| node.leads).collect();
    let reach = nodes.iter().map(|node| i64::from(node.reach_hours())).max().unwrap_or(0);
    let payment_type = active.method.payment_type().word();
    // An hour further back than counts, for the shares of an hour ago.
    let hours = hour - reach - 1..hour;
    let counted = to_learn(&app.store, client_id, &leads, payment_type, hours, GROUPS_MAX).await?;
    let evidence =
        |node: &&LearnedNode| (node.number, [hour, hour - 1].map(|hour| node.evidence(&counted, hour)));
    let known = Arc::new(KnownHour::new(hour, nodes.iter().map(evidence)));
    app.learned.keep(active.id, Arc::clone(&known));
    Ok(Some(known))
}

/// The shares of a balance for a group of charges. Shares that have moved a lot within the hour are reported when they are first
/// computed.
pub fn shares(active: &ActiveFlow, known: &KnownHour, node: &LearnedNode, group: &Group) -> Option<Shares> {
    known.shares(node, group, |moved| {
        metrics::learned_share_moved();
        for Moved { branch, before, now } in moved {
            tracing::warn!(
                flow_id = %active.id,
                node = %node.path,
                branch,
                provider_id = node.leads.get(*branch).map(tracing::field::display),
                brand = %group.brand,
                currency = %group.currency,
                band = group.band,
                before_millionths = before.get(),
                now_millionths = now.get(),
                "the share of a branch has moved a lot within an hour",
            );
        }
    })
}
