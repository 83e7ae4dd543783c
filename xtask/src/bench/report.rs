//! Reports the results of scenarios: targets and tables. Prints them, keeps them between runs, and writes them into
//! the documentation.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Scenario;
use super::figures::Reached;
use crate::Outcome;

/// The results stand between these lines of the documentation.
const BEGIN: &str = "<!-- measured: written by `cargo xtask bench --write` -->";
const END: &str = "<!-- end of what was measured -->";

/// The results of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The targets.
    pub(crate) numbers: Vec<Number>,
    /// The measurements.
    pub(crate) tables: Vec<Table>,
    /// Notes for readers of the tables.
    pub(crate) notes: Vec<String>,
}

/// A target figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Number {
    /// Its subject.
    pub(crate) what: String,
    /// The measured value.
    pub(crate) measured: String,
    /// The target.
    pub(crate) to_reach: String,
    /// Whether it was reached.
    pub(crate) reached: Reached,
}

/// A table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The reports of all full runs of scenarios, each with its machine.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    machine: Vec<(String, String)>,
    reports: BTreeMap<Scenario, Report>,
}

impl Report {
    /// An empty report.
    pub(crate) const fn new() -> Self {
        Self { numbers: Vec::new(), tables: Vec::new(), notes: Vec::new() }
    }

    /// Adds a target.
    pub(crate) fn number(
        &mut self,
        what: impl Into<String>,
        measured: impl Into<String>,
        to_reach: impl Into<String>,
        reached: Reached,
    ) {
        let (what, measured, to_reach) = (what.into(), measured.into(), to_reach.into());
        self.numbers.push(Number { what, measured, to_reach, reached });
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Prints the report.
    pub(crate) fn print(&self, scenario: Scenario) {
        println!("\n== {} ==", scenario.word());
        for table in &self.tables {
            println!("\n{}\n{}", table.title, table.aligned());
        }
        for note in &self.notes {
            println!("* {note}");
        }
        if !self.numbers.is_empty() {
            println!("\n{}", numbers([(scenario, self)]).aligned());
        }
    }
}

impl Table {
    /// A table without rows.
    pub(crate) fn new<'a>(title: impl Into<String>, columns: impl IntoIterator<Item = &'a str>) -> Self {
        let columns = columns.into_iter().map(str::to_owned).collect();
        Self { title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// With columns of equal width, numbers aligned to the right.
    fn aligned(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.chain(self.columns.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for row in std::iter::once(&self.columns).chain(&self.rows) {
            for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if at == 0 { "" } else { "  " };
                if at == 0 {
                    let _ = write!(text, "{gap}{cell:<width$}");
                } else {
                    let _ = write!(text, "{gap}{cell:>width$}");
                }
            }
            text.push('\n');
        }
        text
    }

    fn markdown(&self) -> String {
        let rule: Vec<String> =
            (0..self.columns.len()).map(|at| if at == 0 { "---" } else { "---:" }.to_owned()).collect();
        let lines = [&self.columns, &rule].into_iter().chain(&self.rows);
        lines.map(|cells| format!("| {} |\n", cells.join(" | "))).collect()
    }
}

/// One row for each target.
fn numbers<'a>(reports: impl IntoIterator<Item = (Scenario, &'a Report)>) -> Table {
    let mut table = Table::new("", ["number", "measured", "to reach", "reached"]);
    for (scenario, report) in reports {
        for Number { what, measured, to_reach, reached } in &report.numbers {
            let what = format!("{} · {what}", scenario.word());
            table.row([what, measured.clone(), to_reach.clone(), reached.to_string()]);
        }
    }
    table
}

impl Kept {
    /// Reads the reports of earlier runs.
    pub(crate) fn read(file: &Path) -> Self {
        let text = std::fs::read(file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Replaces the earlier report of the same scenario.
    pub(crate) fn keep(
        &mut self,
        file: &Path,
        scenario: Scenario,
        report: Report,
        machine: Vec<(String, String)>,
    ) -> Outcome {
        self.reports.insert(scenario, report);
        self.machine = machine;
        Ok(std::fs::write(file, serde_json::to_vec_pretty(self)?)?)
    }

    /// Writes all reports into the marked part of a document.
    pub(crate) fn write(&self, document: &Path) -> Outcome {
        let text = std::fs::read_to_string(document)?;
        let missing = || format!("{} has no line {BEGIN} before a line {END}", document.display());
        let (before, rest) = text.split_once(BEGIN).ok_or_else(missing)?;
        let (_, after) = rest.split_once(END).ok_or_else(missing)?;
        std::fs::write(document, format!("{before}{BEGIN}\n\n{}\n{END}{after}", self.markdown()))?;
        println!("{} is written", document.display());
        Ok(())
    }

    fn markdown(&self) -> String {
        let mut text = String::from("### The machine\n\n");
        for (what, value) in &self.machine {
            let _ = writeln!(text, "* {what}: {value}");
        }
        let all = self.reports.iter().map(|(scenario, report)| (*scenario, report));
        let _ = write!(text, "\n### The numbers\n\n{}", numbers(all).markdown());
        for (scenario, report) in &self.reports {
            let _ = write!(text, "\n### {}\n\n`cargo xtask bench {}`\n", scenario.title(), scenario.word());
            for table in &report.tables {
                let _ = write!(text, "\n{}:\n\n{}", table.title, table.markdown());
            }
            if !report.notes.is_empty() {
                text.push('\n');
            }
            for note in &report.notes {
                let _ = writeln!(text, "* {note}");
            }
        }
        text
    }
}
