//! Checks a database that is distributed over several servers.

use regente_store::{Layout, Store};

use super::{Check, Verdict, check, failure};

/// Checks that each server answers and each table lies where it should. A database on one server is not checked.
pub(super) async fn servers(store: &Store) -> Option<Check> {
    const NAME: &str = "servers";
    match store.layout().await {
        Ok(layout) => layout.map(|layout| judge(NAME, &layout)),
        Err(error) => Some(failure(NAME, &error)),
    }
}

fn judge(name: &str, layout: &Layout) -> Check {
    let Layout { servers, by_client, whole, missing } = layout;
    let lost = servers.iter().filter(|server| !server.is_reachable);
    let lost: Vec<String> =
        lost.map(|server| format!("worker {} at {}", server.number, server.address)).collect();
    if !lost.is_empty() {
        let found =
            format!("the coordinator cannot connect to {}; its accounts are refused", lost.join(", "));
        return check(name, Verdict::Failure, found);
    }
    if !missing.is_empty() {
        let found =
            format!("{} on the coordinator alone; run `regente migrate --distributed`", missing.join(", "));
        return check(name, Verdict::Failure, found);
    }
    let each = servers.iter().map(|server| {
        let role = match server.number {
            0 => "coordinator".to_owned(),
            number => format!("worker {number}"),
        };
        format!("{role} at {} with {} shards", server.address, server.shards)
    });
    let each: Vec<String> = each.collect();
    let found = format!("{}; {by_client} tables by account, {whole} whole on each", each.join(", "));
    check(name, Verdict::Ok, found)
}
