//! Listening through the interface, with a key of the account.

use reqwest::{Method, StatusCode};
use serde_json::json;

use super::super::remote::{Remote, RemoteError, read};
use super::listen::Trouble;
use crate::admin::{Answer, WebhooksCommand};
use crate::api::listeners::{HeardEventView, HeardView, ListenerView};
use crate::chain::chain;

const PATH: &str = "/v1/listeners";
/// How long the service waits for events: short, because a service that stops lets requests end first.
const WAIT_SECONDS: i64 = 5;

/// The answer to a command of a listener.
pub(super) async fn ask(remote: &Remote, command: WebhooksCommand) -> Result<Answer, Trouble> {
    match command {
        WebhooksCommand::Listen { event, .. } => {
            let made = remote.send(Method::POST, PATH, &json!({ "event": event }), None).await;
            let ListenerView { id: listener_id, event, public_key } =
                read(&made.map_err(trouble)?.body).map_err(Trouble::Lasting)?;
            Ok(Answer::Listening { client_id: remote.client_id, listener_id, event, public_key })
        }
        WebhooksCommand::Hear { listener_id, told, .. } => {
            let body = json!({ "told": told, "waitSeconds": WAIT_SECONDS });
            let heard = remote.send(Method::PATCH, &format!("{PATH}/{listener_id}"), &body, None).await;
            let HeardView { events } = read(&heard.map_err(over)?.body).map_err(Trouble::Lasting)?;
            Ok(Answer::Heard { events: events.into_iter().map(HeardEventView::into_event).collect() })
        }
        // Whatever is not fetched goes with it.
        WebhooksCommand::EndListening { listener_id, .. } => {
            remote.delete(&format!("{PATH}/{listener_id}")).await.map_err(trouble)?;
            Ok(Answer::ListeningEnded { listener_id })
        }
        WebhooksCommand::Keys { .. }
        | WebhooksCommand::RotateKey { .. }
        | WebhooksCommand::CountRange { .. }
        | WebhooksCommand::Replay { .. } => {
            Err(Trouble::Lasting("this is for whoever operates the service".into()))
        }
    }
}

fn over(error: RemoteError) -> Trouble {
    if let RemoteError::Refused(refusal) = &error
        && refusal.status == StatusCode::NOT_FOUND
    {
        return Trouble::Lasting(
            "this listener was not heard of for too long and is over; begin anew".into(),
        );
    }
    trouble(error)
}

fn trouble(error: RemoteError) -> Trouble {
    let is_passing = match &error {
        RemoteError::Unreachable(..) | RemoteError::Unanswered(_) | RemoteError::Failed(_) => true,
        RemoteError::Refused(refusal) => refusal.status == StatusCode::TOO_MANY_REQUESTS,
        RemoteError::Unreadable => false,
    };
    if is_passing { Trouble::Passing(chain(&error)) } else { Trouble::Lasting(error.into()) }
}
