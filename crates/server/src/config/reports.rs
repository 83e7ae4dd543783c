//! The settings of reports.

use std::path::PathBuf;

use regente_engine::report_files::ReportFiles;
use serde::{Deserialize, Serialize};

use super::Config;

/// `reports.…`: where the files of reports are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReportsConfig {
    /// The folder of the files; of several nodes one that they share. Default `<data_dir>/reports`.
    pub folder: PathBuf,
}

impl Default for ReportsConfig {
    fn default() -> Self {
        Self { folder: PathBuf::from("regente-data/reports") }
    }
}

impl Config {
    /// The files of reports.
    pub fn report_files(&self) -> ReportFiles {
        ReportFiles::in_folder(self.reports.folder.clone())
    }
}
