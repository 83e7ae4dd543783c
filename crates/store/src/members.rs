//! Stores members: the people who work with an account in the dashboard. What is personal of one, and what they prove
//! themselves by, is one sealed value.

use regente_domain::id::{ClientId, MemberId};
use regente_domain::member::MemberStatus;
use regente_domain::member::role::Role;
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::batch::Batch;
use crate::row::Row;
use crate::sealed::Sealed;
use crate::{Store, StoreError, args, sql};

/// A keyed digest of an e-mail address, or the digest of a link.
pub type MemberDigest = [u8; 32];

/// The row that holds the key of the digests of addresses.
pub const KEY_ROW: ClientId = ClientId::new(Uuid::max());

macro_rules! columns {
    () => {
        "m.id, m.client_id, m.email_key, m.role, m.status, m.private, m.key_id, m.link_digest, m.link_ends_at, \
         m.version, m.updated_at"
    };
}
pub(crate) use columns;

sql! {
    /// Adds a member; the unique index refuses a second one with the same address.
    pub INSERT_MEMBER = "
        INSERT INTO members (id, client_id, email_key, role, status, private, key_id, link_digest, link_ends_at, version,
            updated_at)
        VALUES (:id, :client_id, :email_key, :role, :status, :private, :key_id, :link_digest, :link_ends_at, :version,
            :updated_at)";
    /// Changes a member.
    pub UPDATE_MEMBER = "
        UPDATE members SET email_key = :email_key, role = :role, status = :status, private = :private, key_id = :key_id,
            link_digest = :link_digest, link_ends_at = :link_ends_at, version = version + 1, updated_at = :updated_at
        WHERE id = :id AND client_id = :client_id AND version = :version";
    /// One member of an account.
    pub FIND_MEMBER = concat!("SELECT ", columns!(), " FROM members m
        WHERE m.id = :id AND m.client_id = :client_id");
    /// The member with an address, in any account.
    pub FIND_MEMBER_BY_EMAIL = concat!("SELECT ", columns!(), " FROM members m WHERE m.email_key = :email_key");
    /// The member to whom a link leads, in any account.
    pub FIND_MEMBER_BY_LINK = concat!("SELECT ", columns!(), " FROM members m WHERE m.link_digest = :link_digest");
    /// The members of an account, oldest first.
    pub LIST_MEMBERS = concat!("SELECT ", columns!(), " FROM members m
        WHERE m.client_id = :client_id ORDER BY m.id LIMIT :limit");
    /// Adds the key of the digests, unless there is one.
    pub INSERT_MEMBER_KEY = "
        INSERT INTO member_keys (id, secret, key_id) VALUES (:client_id, :secret, :key_id)
        ON CONFLICT (id) DO NOTHING";
    /// The key of the digests.
    pub FIND_MEMBER_KEY = "SELECT secret, key_id FROM member_keys WHERE id = :client_id";
}

/// A member as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMember {
    /// Who; the time of the first invitation is the id's own.
    pub id: MemberId,
    /// The account.
    pub client_id: ClientId,
    /// The keyed digest of the e-mail address; `None` of a revoked member.
    pub email_key: Option<MemberDigest>,
    /// What they are.
    pub role: Role,
    /// Whether they may sign in.
    pub status: MemberStatus,
    /// What is known of them, sealed.
    pub private: Sealed,
    /// The link that invites them or signs them in, and when it ends.
    pub link: Option<(MemberDigest, Timestamp)>,
    /// Grows by one with each change; every write checks it.
    pub version: i64,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Adds a member.
pub fn insert(batch: &mut Batch, member: &StoredMember) {
    batch.push(&INSERT_MEMBER, args_of(member));
}

/// Writes `member`; the batch is refused when it has changed since the version in `member`.
pub fn update(batch: &mut Batch, member: &StoredMember) {
    batch.guard(&UPDATE_MEMBER, args_of(member));
}

fn args_of(member: &StoredMember) -> crate::Args {
    args! {
        id: member.id,
        client_id: member.client_id,
        email_key: member.email_key,
        role: member.role.word(),
        status: member.status.word(),
        private: member.private.bytes.as_slice(),
        key_id: member.private.key_id,
        link_digest: member.link.map(|(digest, _)| digest),
        link_ends_at: member.link.map(|(_, ends_at)| ends_at),
        version: member.version,
        updated_at: member.updated_at,
    }
}

/// A member of an account.
///
/// # Errors
/// As [`Store::row`]; [`StoreError::Corrupt`].
pub async fn find(
    store: &Store,
    client_id: ClientId,
    id: MemberId,
) -> Result<Option<StoredMember>, StoreError> {
    store.row(&FIND_MEMBER, args! { id, client_id }).await?.as_ref().map(from_row).transpose()
}

/// The member with this address, in any account.
///
/// # Errors
/// As [`find`].
pub async fn find_by_email(
    store: &Store,
    email_key: MemberDigest,
) -> Result<Option<StoredMember>, StoreError> {
    store.row(&FIND_MEMBER_BY_EMAIL, args! { email_key }).await?.as_ref().map(from_row).transpose()
}

/// The member to whom this link leads, in any account.
///
/// # Errors
/// As [`find`].
pub async fn find_by_link(
    store: &Store,
    link_digest: MemberDigest,
) -> Result<Option<StoredMember>, StoreError> {
    store.row(&FIND_MEMBER_BY_LINK, args! { link_digest }).await?.as_ref().map(from_row).transpose()
}

/// At most `limit` members of an account, oldest first, also revoked ones.
///
/// # Errors
/// As [`find`].
pub async fn list(store: &Store, client_id: ClientId, limit: i64) -> Result<Vec<StoredMember>, StoreError> {
    store.rows(&LIST_MEMBERS, args! { client_id, limit }).await?.iter().map(from_row).collect()
}

/// Adds the key of the digests of addresses, unless there is one. The batch is of [`KEY_ROW`].
pub fn insert_key(batch: &mut Batch, secret: &Sealed) {
    let client_id = batch.client_id();
    batch.push_any(
        &INSERT_MEMBER_KEY,
        args! { client_id, secret: secret.bytes.as_slice(), key_id: secret.key_id },
    );
}

/// The key of the digests of addresses.
///
/// # Errors
/// As [`Store::row`].
pub async fn key(store: &Store) -> Result<Option<Sealed>, StoreError> {
    let Some(row) = store.row(&FIND_MEMBER_KEY, args! { client_id: KEY_ROW }).await? else { return Ok(None) };
    Ok(Some(Sealed { key_id: row.get("key_id")?, bytes: row.get("secret")? }))
}

pub(crate) fn from_row(row: &Row) -> Result<StoredMember, StoreError> {
    let corrupt = |column: &str| StoreError::Corrupt(format!("members.{column}"));
    let digest: Option<MemberDigest> = row.get("link_digest")?;
    let ends_at: Option<Timestamp> = row.get("link_ends_at")?;
    Ok(StoredMember {
        id: row.get("id")?,
        client_id: row.get("client_id")?,
        email_key: row.get("email_key")?,
        role: Role::parse(row.get("role")?).ok_or_else(|| corrupt("role"))?,
        status: MemberStatus::parse(row.get("status")?).ok_or_else(|| corrupt("status"))?,
        private: Sealed { key_id: row.get("key_id")?, bytes: row.get("private")? },
        link: digest.zip(ends_at),
        version: row.get("version")?,
        updated_at: row.get("updated_at")?,
    })
}
