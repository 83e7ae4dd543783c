//! The settings of mail, and how its password is read.

use std::net::IpAddr;
use std::path::PathBuf;

use regente_domain::text::is_email;
use regente_engine::mail::{MailOptions, Mailer, Protection};
use serde::{Deserialize, Serialize};
use url::Host;
use zeroize::Zeroizing;

use super::layers::ConfigError;
use super::secret::{self, SecretFile};
use super::this_machine::is_this_machine;
use super::{Config, Secret};

/// `smtp.…`: where mail is handed over. Without a server none is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SmtpConfig {
    /// The name or address of the server. Default none: no mail is sent.
    pub server: Option<String>,
    /// Its port. Default 587.
    pub port: u16,
    /// `starttls`, `tls` (from the beginning, mostly at port 465) or `none`. Default `starttls`, without which nothing is sent.
    pub tls: SmtpTls,
    /// The user, where the server demands one. Default none.
    pub username: Option<String>,
    /// The user's password. Default none.
    pub password: Option<Secret>,
    /// A file that holds it instead.
    pub password_file: Option<PathBuf>,
    /// Who sends: an address, or `Name <address>`. Default none.
    pub from: Option<String>,
    /// The only domains that are mailed to, separated by commas. Default none: all are.
    pub recipient_domains: Option<String>,
}

/// How the connection is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SmtpTls {
    /// TLS before anything is sent.
    StartTls,
    /// TLS from the beginning.
    Tls,
    /// No TLS.
    None,
}

impl Default for SmtpConfig {
    fn default() -> Self {
        Self {
            server: None,
            port: 587,
            tls: SmtpTls::StartTls,
            username: None,
            password: None,
            password_file: None,
            from: None,
            recipient_domains: None,
        }
    }
}

impl SmtpConfig {
    /// Whether the server is a name or an address, without a port.
    pub(super) fn has_good_server(&self) -> bool {
        let is_good = |text: &str| text.parse::<IpAddr>().is_ok() || Host::parse(text).is_ok();
        self.server.as_deref().is_none_or(is_good)
    }

    /// Whether mail has a sender, where it is sent.
    pub(super) fn has_good_sender(&self) -> bool {
        self.from.as_deref().map_or(self.server.is_none(), Mailer::is_good_sender)
    }

    /// Whether there is a user and a password, or neither.
    pub(super) fn has_whole_login(&self) -> bool {
        self.username.is_some() == (self.password.is_some() || self.password_file.is_some())
    }

    /// The domains that are mailed to, none for all; `None` when the text is invalid.
    pub(super) fn domains(&self) -> Option<Vec<String>> {
        let text = self.recipient_domains.as_deref().unwrap_or_default();
        let domains = text.split(',').map(|domain| domain.trim().to_lowercase());
        let parse = |domain: String| is_email(&format!("a@{domain}")).then_some(domain);
        domains.filter(|domain| !domain.is_empty()).map(parse).collect()
    }

    /// Whether links to personal data would cross a network in the clear.
    pub(super) fn is_in_the_clear(&self) -> bool {
        self.tls == SmtpTls::None && self.server.as_deref().is_some_and(|server| !is_this_machine(server))
    }
}

impl Config {
    /// What hands mail over, if a server is set.
    ///
    /// # Errors
    /// The password cannot be read, or the settings do not fit; the password is not repeated.
    pub fn mailer(&self) -> Result<Option<Mailer>, ConfigError> {
        let smtp = &self.smtp;
        let (Some(server), Some(from)) = (&smtp.server, &smtp.from) else { return Ok(None) };
        let wrong = |what: &dyn std::fmt::Display| ConfigError::one(format!("`smtp`: {what}"));
        let options = MailOptions {
            server: server.clone(),
            port: smtp.port,
            protection: match smtp.tls {
                SmtpTls::StartTls => Protection::StartTls,
                SmtpTls::Tls => Protection::Tls,
                SmtpTls::None => Protection::None,
            },
            login: smtp.username.clone().zip(self.smtp_password()?),
            from: from.clone(),
            domains: smtp.domains().ok_or_else(|| wrong(&"`recipient_domains` cannot be read"))?,
        };
        Mailer::new(options).map(Some).map_err(|error| wrong(&error))
    }

    fn smtp_password(&self) -> Result<Option<Zeroizing<String>>, ConfigError> {
        let file = SecretFile::of("smtp.password_file", self.smtp.password_file.as_deref());
        secret::either(self.smtp.password.as_ref(), file)
    }
}
