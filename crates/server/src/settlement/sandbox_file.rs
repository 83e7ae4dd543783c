//! Writes the settlement file of the simulator.

use std::io::Write;

use csv::{Writer, WriterBuilder};
use regente_providers::sandbox::SettlementLine;

use super::Failure;

/// The columns, in the order of the members of a line.
const COLUMNS: [&str; 8] = ["line", "type", "at", "payment", "currency", "amount", "fee", "parts"];

/// A file that is written. One without lines has its columns all the same.
pub struct SandboxFile<W: Write>(Writer<W>);

impl<W: Write> SandboxFile<W> {
    /// Begins with the names of the columns.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(file: W) -> Result<Self, Failure> {
        let mut writer = WriterBuilder::new().has_headers(false).from_writer(file);
        writer.write_record(COLUMNS)?;
        Ok(Self(writer))
    }

    /// Adds lines.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, lines: &[SettlementLine]) -> Result<(), Failure> {
        for line in lines {
            self.0.serialize(line)?;
        }
        Ok(())
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        Ok(self.0.flush()?)
    }
}
