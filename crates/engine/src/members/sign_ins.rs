//! Sign-ins: what the cookie of a browser leads to, and how a member ends it.

use regente_domain::id::SignInId;
use regente_domain::member::{MemberStatus, SEEN_WRITTEN_EVERY, SIGN_IN_IDLE_MAX, SIGN_IN_LIFE_MAX};
use regente_store::clients::ClientStatus;
use regente_store::sign_ins::{self, Found, SignIn};
use regente_store::{Batch, Commit};

use super::SignedIn;
use super::record::Record;
use super::sign_in::Cookie;
use crate::app::App;
use crate::audit;
use crate::caller::RequestId;
use crate::error::Error;
use crate::races;

/// Who has signed in with this cookie; `None` when it is over.
pub async fn find(app: &App, cookie: &Cookie) -> Result<Option<SignedIn>, Error> {
    let digest = cookie.digest();
    let Some(found) = sign_ins::find(&app.store, cookie.client_id, digest).await? else { return Ok(None) };
    let now = app.clock.deployment();
    let Found { sign_in, member, client_status } = found;
    let is_member = member.status == MemberStatus::Active && client_status == ClientStatus::Active;
    if !is_member || !is_alive(&sign_in, now) {
        return Ok(None);
    }
    if now >= sign_in.seen_at + SEEN_WRITTEN_EVERY {
        let mut batch = Batch::new(cookie.client_id);
        sign_ins::mark_seen(&mut batch, digest, now);
        match app.store.apply(batch).await? {
            // What is not written now is written by the next request.
            Commit::Applied | Commit::Refused(_) | Commit::Unknown => {}
        }
    }
    let Record { stored, private } = Record::open(app, member).await?;
    Ok(Some(SignedIn {
        client_id: stored.client_id,
        member_id: stored.id,
        sign_in_id: sign_in.id,
        name: private.name,
        email: private.email,
        role: stored.role,
        csrf: cookie.csrf(),
    }))
}

/// The sign-ins of a member, newest first.
pub async fn list(app: &App, who: &SignedIn) -> Result<Vec<SignIn>, Error> {
    let now = app.clock.deployment();
    let mut found = sign_ins::of_member(&app.store, who.client_id, who.member_id).await?;
    found.retain(|sign_in| is_alive(sign_in, now));
    Ok(found)
}

/// Ends a sign-in of the member, their own one or that of another browser.
///
/// # Errors
/// [`Error::NotFound`] when the member has no such sign-in.
pub async fn end(app: &App, who: &SignedIn, request_id: &RequestId, id: SignInId) -> Result<(), Error> {
    let action = if id == who.sign_in_id { "member.signed_out" } else { "member.sign_in_revoked" };
    races::delete(|| async {
        let known = sign_ins::of_member(&app.store, who.client_id, who.member_id).await?;
        if !known.iter().any(|sign_in| sign_in.id == id) {
            return Err(Error::NotFound);
        }
        let mut batch = Batch::new(who.client_id);
        sign_ins::delete(&mut batch, who.member_id, id);
        audit::record(app, &mut batch, &who.caller(), request_id, action, who.member_id.uuid());
        Ok(app.store.apply(batch).await?)
    })
    .await
}

fn is_alive(sign_in: &SignIn, now: regente_domain::time::Timestamp) -> bool {
    now < sign_in.began_at + SIGN_IN_LIFE_MAX && now < sign_in.seen_at + SIGN_IN_IDLE_MAX
}
