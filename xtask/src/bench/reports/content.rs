//! What is in the files of a report, by its digest: that of 5 million charges has gigabytes.

use std::io::{BufRead, BufReader, Read};

use aws_lc_rs::digest::{Context, SHA256};

use crate::Outcome;

/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 20;

/// The files of a report, one after the other.
#[derive(Clone)]
pub(super) struct Content {
    /// Lines without the titles. No cell of these charges has several lines.
    pub(super) rows: u64,
    pub(super) files: u64,
    pub(super) bytes: u64,
    of_all: Context,
    of_rows: Context,
}

impl Default for Content {
    fn default() -> Self {
        Self { rows: 0, files: 0, bytes: 0, of_all: Context::new(&SHA256), of_rows: Context::new(&SHA256) }
    }
}

impl Content {
    /// Adds the next file.
    pub(super) fn add(&mut self, file: impl Read) -> Outcome {
        let mut file = BufReader::with_capacity(READ_BYTES, file);
        let mut titles = Vec::new();
        file.read_until(b'\n', &mut titles)?;
        self.of_all.update(&titles);
        self.bytes += titles.len() as u64;
        loop {
            let read = file.fill_buf()?;
            if read.is_empty() {
                break;
            }
            self.of_all.update(read);
            self.of_rows.update(read);
            self.rows += read.iter().filter(|byte| **byte == b'\n').count() as u64;
            let length = read.len();
            self.bytes += length as u64;
            file.consume(length);
        }
        // Where one file ends and the next one begins belongs to it.
        self.of_all.update(&self.bytes.to_be_bytes());
        self.files += 1;
        Ok(())
    }

    /// Whether the rows are the same, byte for byte, however they are divided into files.
    pub(super) fn has_rows_of(&self, other: &Self) -> bool {
        self.of_rows.clone().finish().as_ref() == other.of_rows.clone().finish().as_ref()
    }
}

impl PartialEq for Content {
    /// Whether the files are the same, byte for byte.
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files
            && self.of_all.clone().finish().as_ref() == other.of_all.clone().finish().as_ref()
    }
}
