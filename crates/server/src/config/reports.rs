//! The settings of reports: where their files are.

use std::path::PathBuf;

use regente_engine::report_files::{Bucket, BucketOptions, ReportFiles};
use serde::{Deserialize, Serialize};
use url::Url;
use zeroize::Zeroizing;

use super::layers::ConfigError;
use super::secret::{self, SecretFile};
use super::this_machine::is_in_the_clear;
use super::{Config, Secret};

/// `reports.…`: where the files of reports are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReportsConfig {
    /// `folder`, or `s3` for a bucket. Default `folder`.
    pub storage: ReportStorage,
    /// The folder of the files; of several nodes one that they share. With a bucket, of those that are being written. Default
    /// `<data_dir>/reports`.
    pub folder: PathBuf,
    /// The address of the storage that has the bucket, such as `https://s3.example.com`. Default none.
    pub s3_endpoint: Option<String>,
    /// Its region. Default `us-east-1`.
    pub s3_region: String,
    /// The bucket. Default none.
    pub s3_bucket: Option<String>,
    /// What the names of all objects begin with, such as `reports/`. Default none.
    pub s3_prefix: Option<String>,
    /// The id of the access key. Default none.
    pub s3_access_key: Option<String>,
    /// Its secret. Default none.
    pub s3_secret_key: Option<Secret>,
    /// A file that holds it instead.
    pub s3_secret_key_file: Option<PathBuf>,
}

/// What keeps the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportStorage {
    /// A folder.
    Folder,
    /// A bucket of a storage that speaks S3.
    S3,
}

impl Default for ReportsConfig {
    fn default() -> Self {
        Self {
            storage: ReportStorage::Folder,
            folder: PathBuf::from("regente-data/reports"),
            s3_endpoint: None,
            s3_region: "us-east-1".to_owned(),
            s3_bucket: None,
            s3_prefix: None,
            s3_access_key: None,
            s3_secret_key: None,
            s3_secret_key_file: None,
        }
    }
}

impl ReportsConfig {
    /// The settings that a bucket needs and that are not there.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let is_bucket = self.storage == ReportStorage::S3;
        let needed = [
            ("reports.s3_endpoint", self.s3_endpoint.is_some()),
            ("reports.s3_bucket", self.s3_bucket.is_some()),
            ("reports.s3_access_key", self.s3_access_key.is_some()),
            ("reports.s3_secret_key", self.s3_secret_key.is_some() || self.s3_secret_key_file.is_some()),
        ];
        needed.into_iter().filter(|(_, is_set)| is_bucket && !is_set).map(|(key, _)| key).collect()
    }

    /// Whether keys with this prefix are what they seem: no part of them is a step to another folder.
    pub(super) fn has_good_prefix(&self) -> bool {
        let prefix = self.s3_prefix.as_deref().unwrap_or_default();
        !prefix.starts_with('/') && !prefix.split('/').any(|part| part == "." || part == "..")
    }

    /// Whether files would cross a network in the clear.
    pub(super) fn is_in_the_clear(&self) -> bool {
        let url = self.s3_endpoint.as_deref().and_then(|url| Url::parse(url).ok());
        self.storage == ReportStorage::S3 && url.is_some_and(|url| is_in_the_clear(&url))
    }
}

impl Config {
    /// The files of reports.
    ///
    /// # Errors
    /// The settings of the bucket do not fit, or its secret cannot be read; it is not repeated.
    pub fn report_files(&self) -> Result<ReportFiles, ConfigError> {
        let reports = &self.reports;
        let files = ReportFiles::in_folder(reports.folder.clone());
        match reports.storage {
            ReportStorage::Folder => return Ok(files),
            ReportStorage::S3 => {}
        }
        let wrong = |what: &dyn std::fmt::Display| ConfigError::one(format!("`reports.storage`: {what}"));
        let missing = || wrong(&"the settings of the bucket are incomplete");
        let endpoint = reports.s3_endpoint.as_deref().and_then(|url| Url::parse(url).ok());
        let options = BucketOptions {
            endpoint: endpoint.ok_or_else(missing)?,
            region: reports.s3_region.clone(),
            name: reports.s3_bucket.clone().ok_or_else(missing)?,
            prefix: reports.s3_prefix.clone().unwrap_or_default(),
            access_key: reports.s3_access_key.clone().ok_or_else(missing)?,
            secret_key: self.s3_secret_key()?.ok_or_else(missing)?,
        };
        let bucket = Bucket::new(options).map_err(|error| wrong(&error))?;
        Ok(files.with_bucket(bucket))
    }

    fn s3_secret_key(&self) -> Result<Option<Zeroizing<String>>, ConfigError> {
        let file = SecretFile::of("reports.s3_secret_key_file", self.reports.s3_secret_key_file.as_deref());
        secret::either(self.reports.s3_secret_key.as_ref(), file)
    }
}
