//! Mail by SMTP (RFC 5321). A mail that the server accepts is handed over: what becomes of it afterwards is not known here.
//!
//! What a server says often repeats the address that it refuses, so nothing of it is kept but its code.

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use lettre::address::AddressError;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, SinglePart};
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId as HelloName;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use regente_domain::time::Timestamp;
use tokio::time::timeout;
use zeroize::Zeroizing;

/// The longest time of a connection, from its beginning to its end.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(60);
/// The longest wait for a connection.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Codes that refuse whoever sends, not who is sent to: an operator can set that right (RFC 4954).
const ABOUT_THE_SENDER: [u16; 5] = [523, 530, 534, 535, 538];

/// How the connection to the server is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// TLS from the beginning.
    Tls,
    /// TLS before anything is said that matters; a server without it is refused.
    StartTls,
    /// None: everybody on the way reads it.
    None,
}

/// Where mail is handed over.
#[derive(Clone)]
pub struct MailOptions {
    /// Host name or address of the server.
    pub server: String,
    /// Its port.
    pub port: u16,
    /// How the connection is protected.
    pub protection: Protection,
    /// User and password, where the server demands them.
    pub login: Option<(String, Zeroizing<String>)>,
    /// Who sends: `address`, or `Name <address>`.
    pub from: String,
    /// The only domains that are mailed to, in lower case; empty is all.
    pub domains: Vec<String>,
}

/// Hands mail over.
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    domains: Vec<String>,
}

/// A mail.
#[derive(Clone, Copy)]
pub struct Mail<'a> {
    /// Who gets it.
    pub to: &'a str,
    /// Its subject.
    pub subject: &'a str,
    /// Its text.
    pub text: &'a str,
    /// When it was written.
    pub at: Timestamp,
    /// Tells it from every other mail of this sender. A repetition has the same name, so that mailboxes can drop it.
    pub name: &'a str,
}

/// Why there is no mailer.
#[derive(Debug, thiserror::Error)]
pub enum NoMailer {
    /// The sender's address is none.
    #[error("the sender is no address")]
    From(#[from] AddressError),
    /// TLS cannot be prepared.
    #[error("TLS cannot be prepared")]
    Tls(#[source] smtp::Error),
}

/// Why a mail was not handed over. It names nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// The server may accept it later.
    #[error("the mail server did not accept it: {0}")]
    Yet(Fault),
    /// It never will: the recipient is refused for good.
    #[error("the mail server refused it for good: {0}")]
    Ever(Fault),
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server said so, with this code.
    Code(u16),
    /// There was no connection, or it broke.
    Connection,
    /// The connection cannot be protected.
    Tls,
    /// Server and settings do not fit: it offers no such login, or no TLS.
    Unfit,
    /// It took too long.
    TooSlow,
    /// The address is none that can be mailed to.
    Address,
    /// The address is at no domain that is mailed to.
    Domain,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "it answered {code}"),
            Self::Connection => f.write_str("there was no connection, or it broke"),
            Self::Tls => f.write_str("TLS failed"),
            Self::Unfit => f.write_str("it does not offer what the settings ask for"),
            Self::TooSlow => f.write_str("it took too long"),
            Self::Address => f.write_str("the address cannot be mailed to"),
            Self::Domain => f.write_str("the domain is none that is mailed to"),
        }
    }
}

impl Mailer {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// [`NoMailer`].
    pub fn new(options: MailOptions) -> Result<Self, NoMailer> {
        let MailOptions { server, port, protection, login, from, domains } = options;
        let from: Mailbox = from.parse()?;
        let tls = || TlsParameters::new(server.clone()).map_err(NoMailer::Tls);
        let tls = match protection {
            Protection::Tls => Tls::Wrapper(tls()?),
            Protection::StartTls => Tls::Required(tls()?),
            Protection::None => Tls::None,
        };
        let transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(server)
            .port(port)
            .tls(tls)
            .timeout(Some(CONNECT_TIME_MAX))
            .hello_name(HelloName::Domain(from.email.domain().to_owned()));
        let transport = match login {
            Some((user, password)) => transport.credentials(Credentials::new(user, password.to_string())),
            None => transport,
        };
        Ok(Self { transport: transport.build(), from, domains })
    }

    /// Whether `text` is a sender that mail can come from.
    pub fn is_good_sender(text: &str) -> bool {
        text.parse::<Mailbox>().is_ok()
    }

    /// Whether this address is mailed to at all.
    pub fn mails_to(&self, address: &str) -> bool {
        let domain = address.rsplit_once('@').map(|(_, domain)| domain.to_lowercase());
        self.domains.is_empty() || domain.is_some_and(|domain| self.domains.contains(&domain))
    }

    /// Whether the server can be reached and lets the sender in.
    ///
    /// # Errors
    /// [`NotSent`]: nothing can be sent.
    pub async fn test(&self) -> Result<(), NotSent> {
        match timeout(CONNECT_TIME_MAX, self.transport.test_connection()).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(NotSent::Yet(Fault::Connection)),
            Ok(Err(error)) => Err(NotSent::of(&error)),
            Err(_) => Err(NotSent::Yet(Fault::TooSlow)),
        }
    }

    /// Hands a mail over.
    ///
    /// # Errors
    /// [`NotSent`]. The server may have accepted a mail whose connection broke.
    pub async fn send(&self, mail: Mail<'_>) -> Result<(), NotSent> {
        if !self.mails_to(mail.to) {
            return Err(NotSent::Ever(Fault::Domain));
        }
        let message = self.message(mail).ok_or(NotSent::Ever(Fault::Address))?;
        match timeout(CONNECTION_TIME_MAX, self.transport.send(message)).await {
            Ok(Ok(_accepted)) => Ok(()),
            Ok(Err(error)) => Err(NotSent::of(&error)),
            Err(_) => Err(NotSent::Yet(Fault::TooSlow)),
        }
    }

    /// `None` when the address is none.
    fn message(&self, mail: Mail<'_>) -> Option<Message> {
        let to = Mailbox::new(None, mail.to.parse().ok()?);
        let message = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(mail.subject)
            .date(UNIX_EPOCH + mail.at.since(Timestamp::EPOCH))
            .message_id(Some(format!("<{}@{}>", mail.name, self.from.email.domain())))
            .singlepart(SinglePart::plain(mail.text.to_owned()));
        let mut message = message.ok()?;
        // Nobody's notice of absence is to answer it (RFC 3834).
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        message.headers_mut().insert_raw(HeaderValue::new(automatic, "auto-generated".to_owned()));
        Some(message)
    }
}

impl NotSent {
    fn of(error: &smtp::Error) -> Self {
        if let Some(code) = error.status() {
            let code = u16::from(code);
            let is_final = error.is_permanent() && !ABOUT_THE_SENDER.contains(&code);
            return if is_final { Self::Ever(Fault::Code(code)) } else { Self::Yet(Fault::Code(code)) };
        }
        Self::Yet(if error.is_tls() {
            Fault::Tls
        } else if error.is_client() {
            Fault::Unfit
        } else if error.is_timeout() {
            Fault::TooSlow
        } else {
            Fault::Connection
        })
    }
}
