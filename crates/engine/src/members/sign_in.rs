//! Signing in. Every refusal is the same, whatever is wrong, and takes about the same time.

use std::fmt;

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use regente_domain::actor::Actor;
use regente_domain::id::{ClientId, MemberId, SignInId};
use regente_domain::member::{MemberStatus, PASSWORD_CHARS_MAX, SIGN_IN_IDLE_MAX, SIGN_IN_LIFE_MAX};
use regente_domain::time::later_of;
use regente_store::members::{self, MemberDigest, StoredMember};
use regente_store::sign_ins::{self, NewSignIn};
use regente_store::{Batch, Commit};
use uuid::Uuid;

use super::invitations::new_token;
use super::passwords;
use super::record::{Proofs, Record, email_key, link_digest};
use crate::app::App;
use crate::audit::Author;
use crate::caller::RequestId;
use crate::error::Error;
use crate::races::{self, Changed};
use crate::vault::{half_of, sha256};

/// What a person signs in with.
#[derive(Clone)]
pub struct Attempt {
    /// An e-mail address.
    pub email: String,
    /// A password.
    pub password: String,
    /// A code of a phone, or a recovery code.
    pub code: String,
}

/// What the browser of a member keeps. It is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Cookie {
    /// The account.
    pub client_id: ClientId,
    /// What proves the sign-in; only its digest is stored.
    pub token: String,
}

impl Cookie {
    /// The value of the cookie.
    pub fn text(&self) -> String {
        format!("{}.{}", self.client_id, self.token)
    }

    /// Reads [`Self::text`].
    pub fn parse(text: &str) -> Option<Self> {
        let (client_id, token) = text.split_once('.')?;
        Some(Self { client_id: client_id.parse().ok()?, token: token.to_owned() })
    }

    pub(super) fn digest(&self) -> MemberDigest {
        sha256(&[b"regente sign-in", self.token.as_bytes()])
    }

    /// What forms of this sign-in prove themselves by.
    pub(super) fn csrf(&self) -> String {
        let key = hmac::Key::new(HMAC_SHA256, self.token.as_bytes());
        hex::encode(hmac::sign(&key, b"regente dashboard form").as_ref())
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cookie(of client {})", self.client_id)
    }
}

/// What attempts with one address are counted by.
pub async fn counted_as(app: &App, email: &str) -> Result<Uuid, Error> {
    Ok(half_of(&email_key(app, email).await?))
}

/// Signs a member in; `None` when anything is wrong.
pub async fn sign_in(
    app: &App,
    request_id: &RequestId,
    attempt: &Attempt,
    browser: &str,
) -> Result<Option<Cookie>, Error> {
    if attempt.password.chars().count() > PASSWORD_CHARS_MAX {
        return Ok(None);
    }
    let key = email_key(app, &attempt.email).await?;
    let found = match members::find_by_email(&app.store, key).await? {
        Some(stored) => Some(Record::open(app, stored).await?),
        None => None,
    };
    let known = found.as_ref().filter(|record| record.stored.status == MemberStatus::Active);
    let proofs = known.and_then(|record| record.private.proofs.as_ref());
    let hash = proofs.and_then(|proofs| proofs.password.as_ref());
    let is_right = passwords::is_right(hash, &attempt.password).await?;
    let cookie = if is_right { begin_with_code(app, request_id, key, attempt, browser).await? } else { None };
    if let (None, Some(record)) = (&cookie, found) {
        tell_refusal(app, &record.stored, request_id);
    }
    Ok(cookie)
}

/// Takes the code, under the version that was read: of two requests with one code, one signs in.
async fn begin_with_code(
    app: &App,
    request_id: &RequestId,
    key: MemberDigest,
    attempt: &Attempt,
    browser: &str,
) -> Result<Option<Cookie>, Error> {
    races::change(|| async {
        let Some(stored) = members::find_by_email(&app.store, key).await? else {
            return Ok(Changed::Already(None));
        };
        let mut record = Record::open(app, stored).await?;
        let now = app.clock.deployment();
        let Some(proofs) = record.private.proofs.as_mut() else { return Ok(Changed::Already(None)) };
        let is_taken = take_code(proofs, record.stored.id, attempt.code.trim(), now);
        if !is_taken || record.stored.status != MemberStatus::Active {
            return Ok(Changed::Already(None));
        }
        record.stored.updated_at = later_of(now, record.stored.updated_at);
        let mut batch = Batch::new(record.stored.client_id);
        members::update(&mut batch, &record.sealed(app)?);
        author(&record.stored, request_id).record(
            app,
            &mut batch,
            "member.signed_in",
            record.stored.id.uuid(),
        );
        let cookie = begin(app, &mut batch, &record.stored, browser);
        Ok(Changed::Written(app.store.apply(batch).await?, Some(cookie)))
    })
    .await
}

/// Signs the owner of a sandbox in by a link, once.
pub async fn by_link(
    app: &App,
    request_id: &RequestId,
    token: &str,
    browser: &str,
) -> Result<Option<Cookie>, Error> {
    races::change(|| async {
        let Some(stored) = members::find_by_link(&app.store, link_digest(token)).await? else {
            return Ok(Changed::Already(None));
        };
        let now = app.clock.deployment();
        let is_open = stored.link.is_some_and(|(_, ends_at)| now < ends_at);
        if !is_open || stored.status != MemberStatus::Active {
            return Ok(Changed::Already(None));
        }
        let after = StoredMember { link: None, updated_at: later_of(now, stored.updated_at), ..stored };
        let mut batch = Batch::new(after.client_id);
        members::update(&mut batch, &after);
        author(&after, request_id).record(app, &mut batch, "member.signed_in", after.id.uuid());
        let cookie = begin(app, &mut batch, &after, browser);
        Ok(Changed::Written(app.store.apply(batch).await?, Some(cookie)))
    })
    .await
}

/// The member as the author of a change.
pub(super) fn author<'a>(member: &StoredMember, request_id: &'a RequestId) -> Author<'a> {
    Author { client_id: member.client_id, actor: Actor::Member(member.id), request_id: Some(request_id) }
}

/// Begins a sign-in with a token of its own, and ends those of the member that are over.
pub(super) fn begin(app: &App, batch: &mut Batch, member: &StoredMember, browser: &str) -> Cookie {
    let now = app.clock.deployment();
    let cookie = Cookie { client_id: member.client_id, token: new_token(app) };
    let id: SignInId = app.chance.id(now);
    sign_ins::delete_before(batch, member.id, now - SIGN_IN_LIFE_MAX, now - SIGN_IN_IDLE_MAX);
    let (digest, member_id, browser) = (cookie.digest(), member.id, browser.to_owned());
    sign_ins::insert(batch, &NewSignIn { digest, id, member_id, browser, began_at: now });
    cookie
}

/// The digest of a recovery code. It has 50 random bits and is sealed, and each try costs a password.
pub(super) fn recovery_digest(member_id: MemberId, code: &str) -> String {
    let normal: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    let normal = normal.to_ascii_uppercase();
    hex::encode(sha256(&[b"regente recovery code", member_id.uuid().as_bytes(), normal.as_bytes()]))
}

/// Takes the code of a phone, or a recovery code; neither works again.
fn take_code(
    proofs: &mut Proofs,
    member_id: MemberId,
    code: &str,
    now: regente_domain::time::Timestamp,
) -> bool {
    if let Some(step) = proofs.totp.step_of(code, now, proofs.taken_step) {
        proofs.taken_step = step;
        return true;
    }
    let digest = recovery_digest(member_id, code);
    let left = proofs.recovery.len();
    proofs.recovery.retain(|known| *known != digest);
    proofs.recovery.len() < left
}

/// Writes a refusal into the audit trail, after the answer: the time of the answer says nothing about who is known.
fn tell_refusal(app: &App, member: &StoredMember, request_id: &RequestId) {
    let mut batch = Batch::new(member.client_id);
    author(member, request_id).record(app, &mut batch, "member.sign_in_refused", member.id.uuid());
    let store = app.store.clone();
    drop(app.in_flight.run(async move {
        match store.apply(batch).await? {
            Commit::Applied | Commit::Refused(_) | Commit::Unknown => Ok(()),
        }
    }));
}
