//! Stores sign-ins: browsers in which a member has signed in, found by the digest of the token in their cookie.

use regente_domain::id::{ClientId, MemberId, SignInId};
use regente_domain::time::Timestamp;

use crate::batch::Batch;
use crate::clients::ClientStatus;
use crate::members::{self, MemberDigest, StoredMember};
use crate::row::Row;
use crate::{Store, StoreError, args, sql};

sql! {
    /// Adds a sign-in.
    pub INSERT_SIGN_IN = "
        INSERT INTO sign_ins (digest, client_id, id, member_id, browser, began_at, seen_at)
        VALUES (:digest, :client_id, :id, :member_id, :browser, :began_at, :seen_at)";
    /// A sign-in with its member and the state of the account.
    pub FIND_SIGN_IN = concat!("SELECT s.id AS sign_in_id, s.browser, s.began_at, s.seen_at, c.status AS client_status, ",
        members::columns!(), " FROM sign_ins s
        JOIN members m ON m.id = s.member_id AND m.client_id = s.client_id
        JOIN clients c ON c.id = s.client_id
        WHERE s.digest = :digest AND s.client_id = :client_id");
    /// The sign-ins of a member, newest first.
    pub SIGN_INS_OF_MEMBER = "
        SELECT id AS sign_in_id, browser, began_at, seen_at FROM sign_ins
        WHERE client_id = :client_id AND member_id = :member_id ORDER BY id DESC LIMIT :limit";
    /// Writes when a sign-in was seen.
    pub MARK_SIGN_IN_SEEN = "
        UPDATE sign_ins SET seen_at = :seen_at WHERE digest = :digest AND client_id = :client_id";
    /// Ends a sign-in of a member.
    pub DELETE_SIGN_IN = "
        DELETE FROM sign_ins WHERE client_id = :client_id AND member_id = :member_id AND id = :id";
    /// Ends those of a member that began before a time, or were not seen since another.
    pub DELETE_SIGN_INS_BEFORE = "
        DELETE FROM sign_ins
        WHERE client_id = :client_id AND member_id = :member_id AND (began_at < :began_at OR seen_at < :seen_at)";
    /// Ends all of a member.
    pub DELETE_SIGN_INS_OF_MEMBER = "
        DELETE FROM sign_ins WHERE client_id = :client_id AND member_id = :member_id";
}

/// Most sign-ins of a member that are listed.
const LISTED_MAX: i64 = 100;

/// A sign-in to add.
#[derive(Clone, Debug)]
pub struct NewSignIn {
    /// The digest of the token.
    pub digest: MemberDigest,
    /// Its id.
    pub id: SignInId,
    /// Whose.
    pub member_id: MemberId,
    /// The name of the browser.
    pub browser: String,
    /// When.
    pub began_at: Timestamp,
}

/// A sign-in as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// Its id.
    pub id: SignInId,
    /// The name of the browser.
    pub browser: String,
    /// When it began.
    pub began_at: Timestamp,
    /// When it was last seen, to the minute.
    pub seen_at: Timestamp,
}

/// What a cookie leads to.
#[derive(Clone, Debug)]
pub struct Found {
    /// The sign-in.
    pub sign_in: SignIn,
    /// Its member.
    pub member: StoredMember,
    /// The state of the account.
    pub client_status: ClientStatus,
}

/// Adds a sign-in of the batch's account.
pub fn insert(batch: &mut Batch, new: &NewSignIn) {
    let client_id = batch.client_id();
    batch.push(
        &INSERT_SIGN_IN,
        args! {
            digest: new.digest,
            client_id,
            id: new.id,
            member_id: new.member_id,
            browser: new.browser.clone(),
            began_at: new.began_at,
            seen_at: new.began_at,
        },
    );
}

/// The sign-in with this digest in an account.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`].
pub async fn find(
    store: &Store,
    client_id: ClientId,
    digest: MemberDigest,
) -> Result<Option<Found>, StoreError> {
    let Some(row) = store.row(&FIND_SIGN_IN, args! { digest, client_id }).await? else { return Ok(None) };
    Ok(Some(Found {
        sign_in: from_row(&row)?,
        member: members::from_row(&row)?,
        client_status: ClientStatus::parse(row.get("client_status")?)?,
    }))
}

/// The newest sign-ins of a member.
///
/// # Errors
/// As [`Store::rows`].
pub async fn of_member(
    store: &Store,
    client_id: ClientId,
    member_id: MemberId,
) -> Result<Vec<SignIn>, StoreError> {
    let args = args! { client_id, member_id, limit: LISTED_MAX };
    store.rows(&SIGN_INS_OF_MEMBER, args).await?.iter().map(from_row).collect()
}

/// Writes when a sign-in of the batch's account was seen.
pub fn mark_seen(batch: &mut Batch, digest: MemberDigest, seen_at: Timestamp) {
    let client_id = batch.client_id();
    batch.push_any(&MARK_SIGN_IN_SEEN, args! { digest, client_id, seen_at });
}

/// Ends a sign-in of a member of the batch's account; refused when there is none.
pub fn delete(batch: &mut Batch, member_id: MemberId, id: SignInId) {
    let client_id = batch.client_id();
    batch.guard(&DELETE_SIGN_IN, args! { client_id, member_id, id });
}

/// Ends the sign-ins of a member of the batch's account that began before a time, or were not seen since another.
pub fn delete_before(batch: &mut Batch, member_id: MemberId, began_at: Timestamp, seen_at: Timestamp) {
    let client_id = batch.client_id();
    batch.push_any(&DELETE_SIGN_INS_BEFORE, args! { client_id, member_id, began_at, seen_at });
}

/// Ends all sign-ins of a member of the batch's account.
pub fn delete_all(batch: &mut Batch, member_id: MemberId) {
    let client_id = batch.client_id();
    batch.push_any(&DELETE_SIGN_INS_OF_MEMBER, args! { client_id, member_id });
}

fn from_row(row: &Row) -> Result<SignIn, StoreError> {
    Ok(SignIn {
        id: row.get("sign_in_id")?,
        browser: row.get("browser")?,
        began_at: row.get("began_at")?,
        seen_at: row.get("seen_at")?,
    })
}
