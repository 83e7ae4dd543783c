//! Files that are divided by payment, so that each part fits into the memory: what has the same payment is in the same
//! part. They are temporary files without a name, which end with the process.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Deserializer;

use super::Failure;

/// Bytes of a part, roughly.
const PART_BYTES: u64 = 2 * 1024 * 1024;
/// Most parts: each is an open file.
const PARTS_MAX: u64 = 128;
/// Bytes that wait to be written to each.
const WAITING_BYTES: usize = 16 * 1024;

/// Values by payment.
pub(super) struct Parts {
    parts: Vec<BufWriter<File>>,
    bytes: u64,
}

/// How many parts so many bytes take.
pub(super) fn parts_of(bytes: u64) -> u64 {
    (bytes / PART_BYTES + 1).min(PARTS_MAX)
}

impl Parts {
    /// So many empty parts.
    pub(super) fn of_number(parts: u64) -> Result<Self, Failure> {
        let part = |_| tempfile::tempfile().map(|file| BufWriter::with_capacity(WAITING_BYTES, file));
        Ok(Self { parts: (0..parts).map(part).collect::<Result<_, _>>()?, bytes: 0 })
    }

    /// How much was added.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a value of this payment.
    pub(super) fn add(&mut self, payment: &str, value: &impl Serialize) -> Result<(), Failure> {
        let mut hasher = DefaultHasher::new();
        payment.hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % self.parts.len() as u64)?;
        if let Some(part) = self.parts.get_mut(place) {
            let mut value = serde_json::to_vec(value)?;
            value.push(b'\n');
            part.write_all(&value)?;
            self.bytes += value.len() as u64;
        }
        Ok(())
    }

    /// The values of each part, in the order in which they were added.
    pub(super) fn into_parts(self) -> Result<Vec<Part>, Failure> {
        self.parts.into_iter().map(Part::of).collect()
    }
}

/// One part, to be read.
pub(super) struct Part(File);

impl Part {
    fn of(writer: BufWriter<File>) -> Result<Self, Failure> {
        Ok(Self(writer.into_inner()?))
    }

    /// Its values, one after the other.
    pub(super) fn stream<T: DeserializeOwned>(
        &mut self,
    ) -> Result<impl Iterator<Item = Result<T, Failure>>, Failure> {
        self.0.seek(SeekFrom::Start(0))?;
        let rows = BufReader::new(&mut self.0).split(b'\n');
        Ok(rows.map(|row| Ok(serde_json::from_slice(&row?)?)))
    }

    /// All of its values.
    pub(super) fn read<T: DeserializeOwned>(&mut self) -> Result<Vec<T>, Failure> {
        let mut bytes = Vec::new();
        self.0.seek(SeekFrom::Start(0))?;
        self.0.read_to_end(&mut bytes)?;
        Ok(Deserializer::from_slice(&bytes).into_iter().collect::<Result<_, _>>()?)
    }
}
