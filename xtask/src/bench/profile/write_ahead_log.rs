//! Reads from SQLite's write-ahead log which pages the last commits have written
//! (<https://www.sqlite.org/fileformat2.html#walformat>).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use crate::Outcome;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// Offsets of the page size in the header, and of the salts of this run of the log in header and frames.
const PAGE_BYTES_AT: usize = 8;
const HEADER_SALTS_AT: usize = 16;
const FRAME_SALTS_AT: usize = 8;
const SALTS_BYTES: usize = 8;

/// The content of the log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WriteAheadLog {
    /// Number of commits.
    pub(super) commits: u64,
    /// How often the commits have written each page.
    pub(super) pages: BTreeMap<u32, u64>,
}

impl WriteAheadLog {
    /// Reads the log, also while it is written.
    pub(super) fn read(file: &Path) -> Outcome<Self> {
        Self::of(&std::fs::read(file)?).ok_or_else(|| format!("{} is no log", file.display()).into())
    }

    /// Up to the last commit: what follows is incomplete, or from an earlier run of the log.
    fn of(log: &[u8]) -> Option<Self> {
        let (header, frames) = log.split_at_checked(HEADER_BYTES)?;
        let page_bytes = usize::try_from(number(header, PAGE_BYTES_AT)?).ok()?;
        let salts = header.get(HEADER_SALTS_AT..HEADER_SALTS_AT + SALTS_BYTES)?;
        let (mut held, mut of_next_commit) = (Self::default(), Vec::new());
        for frame in frames.chunks_exact(FRAME_HEADER_BYTES + page_bytes) {
            if frame.get(FRAME_SALTS_AT..FRAME_SALTS_AT + SALTS_BYTES)? != salts {
                break;
            }
            of_next_commit.push(number(frame, 0)?);
            let is_commit = number(frame, 4)? != 0;
            if is_commit {
                held.commits += 1;
                for page in of_next_commit.drain(..) {
                    *held.pages.entry(page).or_default() += 1;
                }
            }
        }
        Some(held)
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
