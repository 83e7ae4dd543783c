//! The report as a page: one file that needs nothing else, for browsers and printers.

use askama::Template;

use super::report::{Report, Sum, money};

#[derive(Template)]
#[template(path = "settlement.html")]
struct Page<'a> {
    report: &'a Report,
    numbers: Vec<(&'static str, u64)>,
    sums: Vec<(&'a Sum, String, String)>,
}

/// The page of a report.
///
/// # Errors
/// None that a report could cause.
pub fn page(report: &Report) -> Result<String, askama::Error> {
    let shown = report.sums.iter().map(|sum| {
        let Sum { currency, amount, fee, .. } = sum;
        (sum, money(currency, *amount), money(currency, *fee))
    });
    Page { report, numbers: report.numbers(), sums: shown.collect() }.render()
}
