//! Members: the people who work with an account in the dashboard. An owner, or whoever runs the deployment, invites them;
//! they sign in with a password and a code of their phone. Nothing of this is cached: who is revoked is refused at the next
//! request.

pub mod invitations;
mod passwords;
mod record;
pub mod sign_in;
pub mod sign_ins;
pub mod totp;

use regente_domain::id::{ClientId, Id, MemberId, SignInId};
use regente_domain::member::role::Role;
use regente_domain::member::{MEMBERS_LISTED_MAX, MemberStatus};
use regente_domain::time::{Timestamp, later_of};
use regente_store::members::{self, StoredMember};
use regente_store::{Batch, sign_ins as rows};

use crate::app::App;
use crate::audit::Author;
use crate::caller::{Authority, Caller};
use crate::error::Error;
use crate::races::{self, Changed};
use record::Record;

/// A member who has signed in, as a request of theirs finds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// The account.
    pub client_id: ClientId,
    /// Who it is.
    pub member_id: MemberId,
    /// In which browser.
    pub sign_in_id: SignInId,
    /// Their name.
    pub name: String,
    /// Their e-mail address.
    pub email: String,
    /// What they are.
    pub role: Role,
    /// What each form of theirs sends along.
    pub csrf: String,
}

impl SignedIn {
    /// The member as the caller of the interface.
    pub fn caller(&self) -> Caller {
        Caller {
            client_id: self.client_id,
            credential_id: Id::new(self.sign_in_id.uuid()),
            authority: Authority::Member { member_id: self.member_id, role: self.role },
        }
    }
}

/// A member as a list shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Who.
    pub id: MemberId,
    /// Their e-mail address.
    pub email: String,
    /// Their name; empty until they accept their invitation.
    pub name: String,
    /// What they are.
    pub role: Role,
    /// Whether they may sign in.
    pub status: MemberStatus,
    /// When an open invitation ends.
    pub invited_until: Option<Timestamp>,
}

/// The members of an account, oldest first, without revoked ones.
pub async fn list(app: &App, client_id: ClientId) -> Result<Vec<Member>, Error> {
    let mut listed = Vec::new();
    for stored in members::list(&app.store, client_id, MEMBERS_LISTED_MAX).await? {
        if stored.status == MemberStatus::Revoked {
            continue;
        }
        let Record { stored, private } = Record::open(app, stored).await?;
        listed.push(Member {
            id: stored.id,
            email: private.email,
            name: private.name,
            role: stored.role,
            status: stored.status,
            invited_until: match stored.status {
                MemberStatus::Invited => stored.link.map(|(_, ends_at)| ends_at),
                MemberStatus::Active | MemberStatus::Revoked => None,
            },
        });
    }
    Ok(listed)
}

/// Revokes a member, with all their sign-ins and their invitation. One that is revoked already stays so.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::RuleBroken`] for the last owner who can sign in.
pub async fn revoke(app: &App, author: Author<'_>, id: MemberId) -> Result<(), Error> {
    let client_id = author.client_id;
    races::change(|| async {
        let stored = members::find(&app.store, client_id, id).await?.ok_or(Error::NotFound)?;
        if stored.status == MemberStatus::Revoked {
            return Ok(Changed::Already(()));
        }
        if is_owner(&stored) && !others_own(app, &stored).await? {
            return Err(Error::RuleBroken("an account keeps one owner who can sign in"));
        }
        let record = Record::open(app, stored).await?;
        let mut after = record.clone();
        after.stored.status = MemberStatus::Revoked;
        after.stored.email_key = None;
        after.stored.link = None;
        after.private.proofs = None;
        after.stored.updated_at = later_of(app.clock.deployment(), after.stored.updated_at);
        let mut batch = Batch::new(client_id);
        members::update(&mut batch, &after.sealed(app)?);
        rows::delete_all(&mut batch, id);
        author.record(app, &mut batch, "member.revoked", id.uuid());
        Ok(Changed::Written(app.store.apply(batch).await?, ()))
    })
    .await
}

fn is_owner(member: &StoredMember) -> bool {
    member.role == Role::Owner && member.status == MemberStatus::Active
}

async fn others_own(app: &App, one: &StoredMember) -> Result<bool, Error> {
    let all = members::list(&app.store, one.client_id, MEMBERS_LISTED_MAX).await?;
    Ok(all.iter().any(|other| other.id != one.id && is_owner(other)))
}
