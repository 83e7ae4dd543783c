//! Files that are divided by payment, so that each part fits into the memory: what has the same payment is in the same
//! part. They are temporary files without a name, which end with the process.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Deserializer;

use super::Failure;

/// Bytes of a part of the file, roughly.
const PART_BYTES: u64 = 2 * 1024 * 1024;
/// Most parts: each is an open file.
const PARTS_MAX: u64 = 128;
/// Bytes that wait to be written to each.
const WAITING_BYTES: usize = 16 * 1024;

/// Values by payment.
pub(super) struct Parts(Vec<BufWriter<File>>);

impl Parts {
    /// Empty parts, as many as a file of this size takes.
    pub(super) fn of_size(bytes: u64) -> Result<Self, Failure> {
        Self::of_number(usize::try_from((bytes / PART_BYTES + 1).min(PARTS_MAX))?)
    }

    /// So many empty parts.
    pub(super) fn of_number(parts: usize) -> Result<Self, Failure> {
        let part = |_| tempfile::tempfile().map(|file| BufWriter::with_capacity(WAITING_BYTES, file));
        Ok(Self((0..parts).map(part).collect::<Result<_, _>>()?))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a value of this payment.
    pub(super) fn add(&mut self, payment: &str, value: &impl Serialize) -> Result<(), Failure> {
        let mut hasher = DefaultHasher::new();
        payment.hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % self.0.len() as u64)?;
        if let Some(part) = self.0.get_mut(place) {
            serde_json::to_writer(&mut *part, value)?;
            part.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The values of each part, in the order in which they were added.
    pub(super) fn into_parts(self) -> Result<Vec<Part>, Failure> {
        self.0.into_iter().map(Part::of).collect()
    }
}

/// One part, to be read.
pub(super) struct Part(File);

impl Part {
    fn of(writer: BufWriter<File>) -> Result<Self, Failure> {
        let mut file = writer.into_inner()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Self(file))
    }

    pub(super) fn read<T: DeserializeOwned>(mut self) -> Result<Vec<T>, Failure> {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes)?;
        Ok(Deserializer::from_slice(&bytes).into_iter().collect::<Result<_, _>>()?)
    }
}
