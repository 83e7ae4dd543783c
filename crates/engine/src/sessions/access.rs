//! What callers see of sessions: which, with which key, and at which address.

use regente_domain::id::SessionId;
use regente_domain::session::Session;
use uuid::Uuid;

use super::find;
use super::opened::Opened;
use crate::app::App;
use crate::caller::Caller;
use crate::error::Error;
use crate::events::session::SessionView;

/// A session that the caller may see.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn visible(app: &App, caller: &Caller, id: SessionId) -> Result<Session, Error> {
    match caller.sees(id) {
        true => find(app, caller.client_id, id).await,
        false => Err(Error::NotFound),
    }
}

/// As [`visible`], with what it says of persons.
///
/// # Errors
/// [`Error::NotFound`].
pub async fn visible_opened(app: &App, caller: &Caller, id: SessionId) -> Result<Opened, Error> {
    match caller.sees(id) {
        true => Opened::find(app, caller.client_id, id).await,
        false => Err(Error::NotFound),
    }
}

/// The key of a session.
pub async fn public_key(app: &App, session: &Session) -> Result<Uuid, Error> {
    Ok(app.vault.client_keys(session.client_id).await?.session_key(session.id))
}

/// A session as `caller` may see it, with its key: a public key is not shown what it says of persons.
pub async fn view_for(app: &App, caller: &Caller, opened: &Opened) -> Result<SessionView, Error> {
    if caller.is_public_key() {
        return view_of(app, &opened.session).await;
    }
    let view = with_access(app, &opened.session).await?;
    Ok(match &opened.private.nupay_recipients {
        Some(recipients) => view.with_nupay_recipients(recipients.clone()),
        None => view,
    })
}

/// A session as its page is shown it, with its key.
pub async fn view_of(app: &App, session: &Session) -> Result<SessionView, Error> {
    Ok(with_access(app, session).await?.for_others())
}

async fn with_access(app: &App, session: &Session) -> Result<SessionView, Error> {
    let link = match (session.terms.create_link, &app.settings.base_url) {
        (true, Some(base_url)) => Some(format!("{base_url}/pay/{}", session.id)),
        (true, None) | (false, _) => None,
    };
    let view = SessionView::of(session, app.clock.of(session.client_id));
    Ok(view.with_access(public_key(app, session).await?, link))
}
