//! Writes the settlement file of the simulator.

use std::io::Write;

use csv::WriterBuilder;
use regente_providers::sandbox::SettlementPage;

use super::Failure;

/// The columns, in the order of the members of a line.
const COLUMNS: [&str; 8] = ["line", "type", "at", "payment", "currency", "amount", "fee", "parts"];

/// Writes a file of which `read` gives the parts, each after the place where the one before has ended. Answers how many lines
/// it has; a file without lines has its columns all the same. Nothing is written when the first part cannot be read.
///
/// # Errors
/// What `read` says, or the file cannot be written.
pub async fn write_sandbox_file<E: Into<Failure>>(
    file: impl Write,
    read: impl AsyncFn(Option<u64>) -> Result<SettlementPage, E>,
) -> Result<u64, Failure> {
    let mut page = read(None).await.map_err(Into::into)?;
    let mut writer = WriterBuilder::new().has_headers(false).from_writer(file);
    writer.write_record(COLUMNS)?;
    let mut lines = 0;
    loop {
        for line in &page.lines {
            writer.serialize(line)?;
            lines += 1;
        }
        match page.next {
            Some(next) => page = read(Some(next)).await.map_err(Into::into)?,
            None => break,
        }
    }
    writer.flush()?;
    Ok(lines)
}
