//! Charges while both workers have one core between them, and while each has one of its own: how the rate grows with their cores. The
//! service and the load are left where they are, so on a small machine they take part of the second core.

use super::{ACCOUNTS, Engine, Side, turn};
use crate::Outcome;
use crate::bench::cores;
use crate::bench::figures::number;
use crate::bench::report::{Report, Table};
use crate::bench::turns::Turns;
use crate::bench::{Bench, postgres::CONNECTIONS};
use crate::cluster::{Cluster, WORKERS};

pub(super) async fn measure(bench: &Bench, cluster: &Cluster, report: &mut Report) -> Outcome {
    let all = cores::allowed()?;
    let [first, second, ..] = all[..] else {
        report.note(
            "How the rate grows with the cores of workers was not measured: this machine has one.".to_owned(),
        );
        return Ok(());
    };
    let distributed = || Engine::Distributed(cluster.clone());
    let mut sides = [
        (Side::of("both workers on one core", distributed(), true), [first, first]),
        (Side::of("each worker on a core of its own", distributed(), true), [first, second]),
    ];
    for round in 1..=bench.rounds {
        for at in [0, 1, 1, 0] {
            let (side, cores_of_workers) = &mut sides[at];
            println!("distributed: {}, round {round} of {}", side.what, bench.rounds);
            for (worker, core) in WORKERS.into_iter().zip(cores_of_workers) {
                cluster.restrict(worker, &[*core])?;
            }
            turn(bench, cluster, side).await?;
        }
    }
    WORKERS.into_iter().try_for_each(|worker| cluster.restrict(worker, &all))?;
    let mut table = Table::new(
        format!(
            "Charges of {ACCOUNTS} accounts, closed loop of {CONNECTIONS} connections, by the cores of the workers"
        ),
        Turns::columns("", "PostgreSQL CPU µs"),
    );
    let [(one, _), (two, _)] = &sides;
    for side in [one, two] {
        table.row(side.turns.row(side.what.to_owned()).collect::<Vec<_>>());
    }
    let grown = two.turns.divided_by(&one.turns);
    table.row(grown.row_of_ratios("ratio".to_owned()).collect::<Vec<_>>());
    report.tables.push(table);
    report.note(format!(
        "With a second core for the workers the rate grows to {} times; the coordinator, the service and the load have whatever is left of the \
         {} cores.",
        number(grown.rate.median(), 2),
        all.len()
    ));
    Ok(())
}
