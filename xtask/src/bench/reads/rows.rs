//! How many rows a page reads, as a PostgreSQL server counts them.

use super::queries::Query;
use crate::Outcome;
use crate::bench::figures::number;
use crate::bench::report::{Report, Table};
use crate::bench::seeded::{RowsRead, Seeded, Server};
use crate::service::Service;

/// How often each page is read; what the service reads by itself meanwhile is a small part then.
const ASKED: i64 = 50;

pub(super) async fn measure(
    server: &Server,
    seeded: &Seeded,
    queries: &[Query],
    report: &mut Report,
) -> Outcome {
    let mut table = Table::new(
        "Rows that the server reads for a page and its total",
        ["filter", "of counters", "of charges"],
    );
    for query in queries {
        println!("reads: rows of {}", query.what);
        let rows = of_page(server, seeded, query).await?;
        let each = |rows: i64| number(rows as f64 / ASKED as f64, 0);
        table.row([query.what.clone(), each(rows.counters), each(rows.charges)]);
    }
    report.tables.push(table);
    Ok(())
}

/// What `ASKED` requests read.
async fn of_page(server: &Server, seeded: &Seeded, query: &Query) -> Outcome<RowsRead> {
    let before = server.rows_read()?;
    let service = Service::start(&seeded.place)?;
    for _ in 0..ASKED {
        service.get(&seeded.facts.account, &query.path()).await?;
    }
    service.stop()?;
    Ok(server.rows_read()?.since(before))
}
