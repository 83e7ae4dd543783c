//! The files of reports, in a folder: one folder for each account, in it one for each report, in it one file for each page. They are
//! sealed under the key of their report. A file is written under another name and renamed once it is whole and synced, so what has its
//! name is whole, and writing it again replaces it. Where there is a [`bucket`], a file has no name here: once it is whole, it is stored
//! there.
//!
//! A file is a row of parts, each with its length (four bytes, big-endian) before it. The last one is empty and says that it is the
//! last: a file that was cut off does not open.

mod bucket;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream;
use regente_domain::id::{ClientId, ReportId};
use regente_domain::time::Timestamp;
use reqwest::Url;
use tokio::fs::{self, DirBuilder, File, OpenOptions};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufWriter};
use uuid::Uuid;
use zeroize::Zeroizing;

pub use bucket::{Bucket, BucketOptions, NoBucket};

use crate::chance::Chance;
use crate::vault::FileKey;

/// Only the service reads its files.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// The characters of a report's id in the name of a file.
const ID_CHARS_IN_NAME: usize = 8;
/// The most bytes of one part; more is no file of ours.
const PART_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Waits before a step; tests stop the process there.
pub type Pause = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Where the files are.
#[derive(Clone)]
pub struct ReportFiles {
    root: PathBuf,
    bucket: Option<Arc<Bucket>>,
    pause: Option<Pause>,
}

/// A page of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageName {
    /// The account.
    pub client_id: ClientId,
    /// The report.
    pub report_id: ReportId,
    /// From 1.
    pub number: u32,
}

/// A page that can be fetched.
pub enum Page {
    /// Here.
    Here(PageReader),
    /// At this address, for some minutes.
    There(Url),
}

/// A file that is being written.
pub struct Draft {
    file: BufWriter<File>,
    draft: PathBuf,
    whole: PathBuf,
    parts: Parts,
    /// How long the content is.
    length: u64,
    bucket: Option<Arc<Bucket>>,
    pause: Option<Pause>,
}

/// A file that is being read.
pub struct PageReader {
    file: BufReader<File>,
    parts: Parts,
}

/// Counts the parts of a file.
struct Parts {
    page: PageName,
    key: FileKey,
    number: u64,
}

/// Whether a part is the last one of its file.
#[derive(Clone, Copy)]
enum Part {
    Inner = 0,
    Last = 1,
}

impl ReportFiles {
    /// Files below this folder, which is made when the first one is written.
    pub const fn in_folder(root: PathBuf) -> Self {
        Self { root, bucket: None, pause: None }
    }

    /// The same files, kept in a bucket once they are whole.
    #[must_use]
    pub fn with_bucket(self, bucket: Bucket) -> Self {
        Self { bucket: Some(Arc::new(bucket)), ..self }
    }

    /// The same files, with a pause before each step of writing them.
    #[must_use]
    pub fn pausing(self, pause: Pause) -> Self {
        Self { pause: Some(pause), ..self }
    }

    /// Begins a file.
    ///
    /// # Errors
    /// The folder or the file cannot be made.
    pub async fn begin(&self, chance: &Chance, page: PageName, key: FileKey) -> io::Result<Draft> {
        pause(self.pause.as_ref()).await;
        let folder = match self.bucket {
            Some(_) => self.root.clone(),
            None => self.folder(page.client_id, page.report_id),
        };
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&folder).await?;
        // Another worker may be writing the same page: whoever renames last replaces it with the same rows.
        let draft = folder.join(format!("{}.{}.part", page.number, chance.uuid().simple()));
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(&draft).await?;
        if self.bucket.is_some() {
            // The file lasts as long as it is open: a process that stops leaves nothing of it.
            fs::remove_file(&draft).await?;
        }
        Ok(Draft {
            file: BufWriter::new(file),
            draft,
            whole: folder.join(page.number.to_string()),
            parts: Parts { page, key, number: 0 },
            length: 0,
            bucket: self.bucket.clone(),
            pause: self.pause.clone(),
        })
    }

    /// Opens a file; `None` when there is none. Whether one is in the bucket is not asked.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn open(&self, page: PageName, key: FileKey, now: Timestamp) -> io::Result<Option<Page>> {
        if let Some(bucket) = &self.bucket {
            return bucket.address(page, now).map(|address| Some(Page::There(address)));
        }
        let path = self.folder(page.client_id, page.report_id).join(page.number.to_string());
        match File::open(path).await {
            Ok(file) => Ok(Some(Page::Here(PageReader::of(file, page, key)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes all files of a report that has so many `pages`, also those that were never whole.
    ///
    /// # Errors
    /// They cannot be deleted.
    pub async fn remove(
        &self,
        (client_id, report_id): (ClientId, ReportId),
        pages: u32,
        now: Timestamp,
    ) -> io::Result<()> {
        pause(self.pause.as_ref()).await;
        if let Some(bucket) = &self.bucket {
            // Behind the last one may be one that was stored and not noted.
            for number in 1..=pages.saturating_add(1) {
                bucket.delete(PageName { client_id, report_id, number }, now).await?;
            }
        }
        match fs::remove_dir_all(self.folder(client_id, report_id)).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Deletes what workers that stopped have left of files that were never whole, or that are none of its `pages`.
    ///
    /// # Errors
    /// They cannot be deleted.
    pub async fn remove_drafts(
        &self,
        (client_id, report_id): (ClientId, ReportId),
        pages: u32,
        now: Timestamp,
    ) -> io::Result<()> {
        if let Some(bucket) = &self.bucket {
            let number = pages.saturating_add(1);
            bucket.delete(PageName { client_id, report_id, number }, now).await?;
        }
        let mut entries = match fs::read_dir(self.folder(client_id, report_id)).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        while let Some(entry) = entries.next_entry().await? {
            if entry.path().extension().is_some_and(|extension| extension == "part") {
                fs::remove_file(entry.path()).await?;
            }
        }
        Ok(())
    }

    fn folder(&self, client_id: ClientId, report_id: ReportId) -> PathBuf {
        self.root.join(client_id.to_string()).join(report_id.to_string())
    }
}

impl Draft {
    /// Appends to the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub async fn write(&mut self, chance: &Chance, plain: &[u8]) -> io::Result<()> {
        pause(self.pause.as_ref()).await;
        self.length += u64::try_from(plain.len()).map_err(io::Error::other)?;
        self.part(chance, plain, Part::Inner).await
    }

    /// Ends the file and gives it its name, both for good; or stores it in the bucket.
    ///
    /// # Errors
    /// It cannot be written.
    pub async fn finish(mut self, chance: &Chance, now: Timestamp) -> io::Result<()> {
        self.part(chance, &[], Part::Last).await?;
        self.file.flush().await?;
        if let Some(bucket) = self.bucket.take() {
            return self.store(&bucket, now).await;
        }
        self.file.get_ref().sync_all().await?;
        pause(self.pause.as_ref()).await;
        fs::rename(&self.draft, &self.whole).await?;
        let folder = self.whole.parent().unwrap_or(Path::new("."));
        File::open(folder).await?.sync_all().await?;
        pause(self.pause.as_ref()).await;
        Ok(())
    }

    /// Stores the content in the bucket, reading it part by part.
    async fn store(self, bucket: &Bucket, now: Timestamp) -> io::Result<()> {
        pause(self.pause.as_ref()).await;
        let Parts { page, key, .. } = self.parts;
        let mut file = self.file.into_inner();
        file.rewind().await?;
        let reader = PageReader::of(file, page, key);
        let content = stream::try_unfold(reader, |mut reader| async move {
            let part = reader.next().await?;
            Ok::<_, io::Error>(part.map(|part| (Bytes::copy_from_slice(&part), reader)))
        });
        bucket.put(page, (self.length, content), now).await?;
        pause(self.pause.as_ref()).await;
        Ok(())
    }

    async fn part(&mut self, chance: &Chance, plain: &[u8], part: Part) -> io::Result<()> {
        let sealed = self.parts.key.seal(chance, &self.parts.place(part), plain);
        self.parts.number += 1;
        let length = u32::try_from(sealed.len()).map_err(io::Error::other)?;
        self.file.write_all(&length.to_be_bytes()).await?;
        self.file.write_all(&sealed).await
    }
}

impl PageName {
    /// What the file is called for whoever fetches it.
    pub fn file_name(self) -> String {
        let id: String = self.report_id.to_string().chars().take(ID_CHARS_IN_NAME).collect();
        format!("report-{id}-{}.csv", self.number)
    }
}

impl PageReader {
    fn of(file: File, page: PageName, key: FileKey) -> Self {
        Self { file: BufReader::new(file), parts: Parts { page, key, number: 0 } }
    }

    /// The next part; `None` at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, was changed or cut off, or its key is another one.
    pub async fn next(&mut self) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let mut length = [0; 4];
        self.file.read_exact(&mut length).await?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > PART_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut sealed = vec![0; length];
        self.file.read_exact(&mut sealed).await?;
        if let Some(plain) = self.parts.key.open(&self.parts.place(Part::Inner), &sealed) {
            self.parts.number += 1;
            return Ok(Some(plain));
        }
        let last = self.parts.key.open(&self.parts.place(Part::Last), &sealed);
        last.map(|_| None).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

impl Parts {
    /// What a part is sealed for: its report, page and number, and whether it is the last one.
    fn place(&self, part: Part) -> Vec<u8> {
        let PageName { client_id, report_id, number } = self.page;
        let mut place = Vec::with_capacity(2 * size_of::<Uuid>() + 4 + 8 + 1);
        place.extend_from_slice(client_id.uuid().as_bytes());
        place.extend_from_slice(report_id.uuid().as_bytes());
        place.extend_from_slice(&number.to_be_bytes());
        place.extend_from_slice(&self.number.to_be_bytes());
        place.push(part as u8);
        place
    }
}

async fn pause(pause: Option<&Pause>) {
    if let Some(pause) = pause {
        pause().await;
    }
}
