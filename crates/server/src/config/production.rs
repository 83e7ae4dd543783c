//! Lists the weaknesses with which production refuses to start, all at once.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use regente_providers::request::Mode;
use regente_store::{StoreOptions, Transport};

use super::{Config, KekSource, TransactionLogLocation, WrittenIn, WrittenSecret};

/// Why a deployment is too weak for production.
#[derive(Clone, Debug)]
pub struct TooWeak(Vec<String>);

impl TooWeak {
    /// The reasons.
    pub fn reasons(&self) -> &[String] {
        &self.0
    }

    /// A single reason, found outside the configuration.
    pub fn because(reason: impl Into<String>) -> Self {
        Self(vec![reason.into()])
    }
}

impl fmt::Display for TooWeak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("production mode refuses to start:")?;
        self.0.iter().try_for_each(|reason| write!(f, "\n  - {reason}"))
    }
}

impl std::error::Error for TooWeak {}

impl Config {
    /// Finds every weakness of this configuration. In sandbox mode there is none.
    ///
    /// # Errors
    /// Every reason at once.
    pub fn check_strength(&self) -> Result<(), TooWeak> {
        match self.mode {
            Mode::Sandbox => return Ok(()),
            Mode::Production => {}
        }
        let mut reasons = Vec::new();
        match self.kek() {
            Err(error) => reasons.extend(error.problems().iter().cloned()),
            Ok((kek, source)) => {
                if kek.looks_like_a_sample() {
                    reasons.push("the key-encryption key is not random: it looks like a sample".to_owned());
                }
                match source {
                    KekSource::Value => {}
                    KekSource::File { made_by_dev: true, path } => reasons.push(format!(
                        "the key-encryption key in {} was made by `regente dev`",
                        path.display()
                    )),
                    KekSource::File { .. } => {}
                }
            }
        }
        reasons.extend(self.secret_files().iter().filter_map(|(key, path)| open_to_others(key, path)));
        reasons.extend(self.written_secrets.iter().filter_map(written_for_others));
        reasons.extend(self.database_reasons());
        match self.sandbox_books() {
            TransactionLogLocation::Memory => {
                reasons.push("`sandbox.books` is `memory`: a restart would forget payments".to_owned())
            }
            TransactionLogLocation::File(_) => {}
        }
        if self.trusts_test_tokens() {
            reasons.push(
                "`apple_pay.root_certificate_file` was made by `regente dev apple-pay keys`: anybody could sign payments"
                    .to_owned(),
            );
        }
        if self.sandbox.url.is_some() {
            reasons.push("`sandbox.url` would send card numbers in the clear".to_owned());
        }
        if self.own_provider.is_in_the_clear(&self.providers) {
            reasons.push("`own_provider.url` would send card numbers in the clear".to_owned());
        }
        if self.reports.is_in_the_clear() {
            reasons.push("`reports.s3_endpoint` would send personal data in the clear".to_owned());
        }
        if self.smtp.is_in_the_clear() {
            reasons.push(
                "`smtp.tls` is `none`: links to personal data would cross a network in the clear".to_owned(),
            );
        }
        for (key, _) in self.providers.moved() {
            reasons.push(format!("`{key}` would send card numbers to another place than the provider"));
        }
        if self.sandbox.faults_file.is_some() {
            reasons.push("`sandbox.faults_file` makes payments fail".to_owned());
        }
        #[cfg(feature = "bench-without-storage")]
        if self.database.discard_writes {
            reasons.push("`database.discard_writes` is for benchmarks alone".to_owned());
        }
        if reasons.is_empty() { Ok(()) } else { Err(TooWeak(reasons)) }
    }
}

impl Config {
    /// The files that settings name and that hold secrets, each with its setting.
    pub fn secret_files(&self) -> Vec<(&'static str, PathBuf)> {
        let files = [
            ("vault.kek_file", self.vault.kek_file.as_deref().filter(|_| self.vault.kek.is_none())),
            ("server.tls_key_file", self.server.tls_key_file.as_deref()),
            ("database.url_file", self.database.url_file.as_deref()),
            ("sandbox.key_file", self.sandbox.key_file.as_deref()),
            ("own_provider.key_file", self.own_provider.key_file.as_deref()),
            ("smtp.password_file", self.smtp.password_file.as_deref()),
            ("reports.s3_secret_key_file", self.reports.s3_secret_key_file.as_deref()),
        ];
        let files = files.into_iter().filter_map(|(key, path)| Some((key, path?.to_owned())));
        files.chain(self.apple_pay_key_files()).collect()
    }

    /// What is too weak about the connection to the database.
    fn database_reasons(&self) -> Vec<String> {
        let postgres = match self.store_options() {
            Err(error) => return error.problems().to_vec(),
            Ok(StoreOptions::Sqlite(_)) => return Vec::new(),
            Ok(StoreOptions::Postgres(postgres)) => postgres,
        };
        match postgres.transport() {
            Err(error) => vec![error.to_string()],
            Ok(Transport::Plain) if !self.database.postgres_allow_plain => vec![
                "the connection to PostgreSQL crosses a network without TLS: add `sslmode=require` to its address, or \
                 set `database.postgres_allow_plain`"
                    .to_owned(),
            ],
            Ok(Transport::Local | Transport::Encrypted | Transport::Plain) => Vec::new(),
        }
    }
}

fn open_to_others(key: &str, path: &Path) -> Option<String> {
    let mode = mode_open_to_others(path)?;
    let path = path.display();
    Some(format!("`{key}` {path} can be read by others (mode {mode:03o}): `chmod 600 {path}`"))
}

/// Why a secret that stands among the settings can be read by others.
fn written_for_others(secret: &WrittenSecret) -> Option<String> {
    let key = secret.key;
    match &secret.place {
        WrittenIn::Environment => None,
        WrittenIn::CommandLine => {
            Some(format!("`{key}` stands on the command line, which everybody on this machine can read"))
        }
        WrittenIn::File(path) => {
            let mode = mode_open_to_others(path)?;
            let path = path.display();
            Some(format!(
                "`{key}` stands in {path}, which others can read (mode {mode:03o}): `chmod 600 {path}`"
            ))
        }
    }
}

/// The variable in which systemd names the folder of a service's credentials, which only the service can read.
const CREDENTIALS_VARIABLE: &str = "CREDENTIALS_DIRECTORY";

/// The permission bits of a file that others than its owner may access; `None` when it is private or missing.
pub fn mode_open_to_others(path: &Path) -> Option<u32> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    // A credential belongs to root, and an access list lets the service read it; the mode shows that as rights of a
    // group.
    let is_credential = std::env::var_os(CREDENTIALS_VARIABLE)
        .is_some_and(|folder| !folder.is_empty() && path.parent() == Some(Path::new(&folder)));
    let of_others = if is_credential { 0o007 } else { 0o077 };
    (mode & of_others != 0).then_some(mode)
}
