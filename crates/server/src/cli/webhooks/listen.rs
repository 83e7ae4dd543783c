//! Runs `regente webhooks listen`: prints each event on one line, and forwards it to the developer's address.
//!
//! The rules of `outbound/` do not apply here: the user of this process chose the address.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use regente_domain::id::{ClientId, DeliveryId, WebhookId};
use regente_engine::clock::Clock;
use regente_engine::deliveries::listeners::ListenedEvent;
use reqwest::Url;
use reqwest::redirect::Policy;

use super::super::operate::server_folder;
use super::super::remote::{Remote, RemoteArgs};
use super::super::run::runtime;
use super::super::{Failure, lists};
use super::fetched;
use crate::admin::{self, Answer, Command, SocketError, WebhooksCommand};
use crate::app::App;
use crate::bootstrap::{self, Migrations, Missing};
use crate::chain::chain;
use crate::config::{Config, Loaded};
use crate::serve::Signals;
use crate::telemetry;

/// How long an answer may take, as for the first attempt of a webhook.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// The pause before a server that does not answer is asked again.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The events to listen to, and where they are forwarded.
pub(super) struct Subscription {
    pub(super) client_id: Option<ClientId>,
    pub(super) event: String,
    pub(super) forward_to: Option<Url>,
}

pub(super) fn listen(
    loaded: &Loaded,
    subscription: Subscription,
    remote: RemoteArgs,
) -> Result<ExitCode, Failure> {
    telemetry::start(&loaded.config.log)?;
    runtime()?.block_on(async {
        let mut signals = Signals::take()?;
        let forward = subscription.forward_to.map(Forward::to).transpose()?;
        let Subscription { client_id, event, .. } = subscription;
        let place = EventSource::of(&loaded.config, client_id, remote).await?;
        let command = WebhooksCommand::Listen { client_id, event };
        let answer = place.ask(command).await.map_err(Trouble::into_failure)?;
        let Answer::Listening { client_id, listener_id, .. } = &answer else { return Err(other_release()) };
        io::stdout().write_all(lists::answer(&answer).as_bytes())?;
        let mut listener =
            Listener { place, client_id: *client_id, id: *listener_id, told: Vec::new(), heard: 0 };
        let ended = tokio::select! {
            ended = listener.go_on(forward.as_ref()) => ended,
            _ = signals.next() => Ok(()),
        };
        listener.end().await;
        ended?;
        writeln!(io::stdout(), "{} events.", listener.heard)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Where events are read: from the running server that owns the embedded database, from a shared database, or from a service
/// through its interface.
enum EventSource {
    Server(PathBuf),
    Shared(Box<(App, Config)>),
    Remote(Box<Remote>),
}

/// Why no events were read.
pub(super) enum Trouble {
    /// A later try may succeed.
    Passing(String),
    /// No later try can succeed.
    Lasting(Failure),
}

impl Trouble {
    fn into_failure(self) -> Failure {
        match self {
            Self::Passing(why) => why.into(),
            Self::Lasting(failure) => failure,
        }
    }
}

impl EventSource {
    async fn of(config: &Config, client_id: Option<ClientId>, remote: RemoteArgs) -> Result<Self, Failure> {
        let folder = if remote.are_given() { None } else { server_folder(config)? };
        if let Some(folder) = folder {
            return Ok(Self::Server(folder));
        }
        if remote.are_given() || remote.are_known() {
            if client_id.is_some() {
                return Err(
                    "`--client` is for whoever operates the service; through its interface the account is \
                            `--client-id`"
                        .into(),
                );
            }
            return Ok(Self::Remote(Box::new(remote.remote(config).await?)));
        }
        if config.database_address()?.folder().is_some() {
            return Err("no server runs on this data: start `regente dev` or `regente serve` first".into());
        }
        let app = bootstrap::open(config, Migrations::ApplyToSqlite, Missing::Refuse).await?;
        Ok(Self::Shared(Box::new((app, config.clone()))))
    }

    async fn ask(&self, command: WebhooksCommand) -> Result<Answer, Trouble> {
        match self {
            Self::Remote(remote) => fetched::ask(remote, command).await,
            Self::Server(folder) => {
                admin::ask(folder, &Command::Webhooks(command)).await.map_err(|error| match &error {
                    SocketError::NoAnswer(_) | SocketError::NotNow(_) | SocketError::Unreachable(..) => {
                        Trouble::Passing(chain(&error))
                    }
                    SocketError::Refused(_) => Trouble::Lasting(error.into()),
                })
            }
            Self::Shared(shared) => {
                let (app, config) = &**shared;
                admin::run(app, config, Command::Webhooks(command)).await.map_err(|error| {
                    if error.is_passing() {
                        Trouble::Passing(chain(&error))
                    } else {
                        Trouble::Lasting(error.into())
                    }
                })
            }
        }
    }
}

struct Listener {
    place: EventSource,
    client_id: ClientId,
    id: WebhookId,
    /// Deliveries that were shown and are to be skipped.
    told: Vec<DeliveryId>,
    heard: u64,
}

impl Listener {
    /// Shows events until a lasting failure.
    async fn go_on(&mut self, forward: Option<&Forward>) -> Result<(), Failure> {
        let mut is_troubled = false;
        loop {
            let command = WebhooksCommand::Hear {
                client_id: self.client_id,
                listener_id: self.id,
                told: self.told.clone(),
            };
            let events = match self.place.ask(command).await {
                Ok(Answer::Heard { events }) => events,
                Ok(_) => return Err(other_release()),
                Err(Trouble::Lasting(failure)) => return Err(failure),
                Err(Trouble::Passing(why)) => {
                    if !is_troubled {
                        writeln!(io::stderr(), "regente: {why}; asking again until it answers")?;
                    }
                    is_troubled = true;
                    tokio::time::sleep(ASK_AGAIN_AFTER).await;
                    continue;
                }
            };
            is_troubled = false;
            // The server has also dropped the deliveries that were reported to it before.
            self.told.clear();
            for event in events {
                let outcome = match forward {
                    Some(forward) => forward.send(&event).await,
                    None => String::new(),
                };
                let ListenedEvent { happened_at, event: name, object_id, delivery_id, .. } = &event;
                writeln!(
                    io::stdout(),
                    "{}",
                    format!("{happened_at}  {name:<26}  {object_id}  {outcome}").trim_end()
                )?;
                self.told.push(*delivery_id);
                self.heard += 1;
            }
        }
    }

    /// A listener that cannot be removed now expires by itself.
    async fn end(&self) {
        let (client_id, listener_id, told) = (self.client_id, self.id, self.told.clone());
        drop(self.place.ask(WebhooksCommand::EndListening { client_id, listener_id, told }).await);
        match &self.place {
            EventSource::Server(_) | EventSource::Remote(_) => {}
            EventSource::Shared(shared) => shared.0.store.close().await,
        }
    }
}

/// Forwards events to the developer's address.
struct Forward {
    http: reqwest::Client,
    url: Url,
    clock: Clock,
}

impl Forward {
    fn to(url: Url) -> Result<Self, Failure> {
        let http = reqwest::Client::builder().no_proxy().redirect(Policy::none()).timeout(ANSWER_TIME_MAX);
        // A client without TLS needs no root certificates.
        let http = match url.scheme() {
            "https" => http,
            "http" => http.tls_certs_only([]),
            _ => return Err(format!("{url} is neither an http nor an https address").into()),
        };
        Ok(Self { http: http.build()?, url, clock: Clock::system() })
    }

    /// Forwards an event and describes the result. A failure is shown and not retried.
    async fn send(&self, event: &ListenedEvent) -> String {
        let headers = event.headers.iter();
        let request = headers
            .fold(self.http.post(self.url.clone()), |request, (name, value)| request.header(name, value));
        let began = self.clock.machine();
        let answer = request.body(event.body.clone()).send().await;
        let took = self.clock.machine().since(began).as_millis();
        match answer {
            Ok(answer) => {
                let status = answer.status().as_u16();
                let verdict = if matches!(status, 200 | 201) {
                    ""
                } else {
                    ", a failure: only 200 and 201 are success"
                };
                format!("{status} in {took} ms{verdict}")
            }
            Err(error) if error.is_timeout() => format!("no answer in {took} ms"),
            Err(error) => format!("not sent: {}", chain(&error.without_url())),
        }
    }
}

fn other_release() -> Failure {
    "the running server is of another release".into()
}
