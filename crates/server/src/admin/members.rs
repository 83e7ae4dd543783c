//! The people of an account, as operators invite, list and revoke them: so comes the first owner.

use regente_domain::id::{ClientId, MemberId};
use regente_domain::member::role::Role;
use regente_engine::audit::Author;
use regente_engine::error::Error;
use regente_engine::members::{self, Member, invitations};
use serde::{Deserialize, Serialize};

use super::clients::the_client;
use super::error::CommandError;
use crate::app::App;
use crate::dashboard::link_of_invitation;

/// What is done about the members of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MembersTask {
    /// Invite a person.
    Invite {
        /// Their e-mail address.
        email: String,
        /// What they will be.
        role: Role,
    },
    /// List them.
    List,
    /// Revoke one.
    Revoke {
        /// Their e-mail address.
        email: String,
    },
}

impl MembersTask {
    /// The command's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Invite { .. } => "dashboard invite",
            Self::List => "dashboard members",
            Self::Revoke { .. } => "dashboard revoke",
        }
    }
}

/// A member, as a list shows them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MemberRow {
    /// Who.
    pub id: MemberId,
    /// Their e-mail address.
    pub email: String,
    /// Their name; empty until they accept their invitation.
    pub name: String,
    /// What they are.
    pub role: Role,
    /// `invited` or `active`.
    pub status: String,
}

/// What a command about members answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MembersAnswer {
    /// A person is invited.
    Invited {
        /// Whom.
        member_id: MemberId,
        /// The link to give them. It is shown once.
        link: String,
    },
    /// The members.
    Members(Vec<MemberRow>),
    /// A member is revoked.
    Revoked {
        /// Who.
        member_id: MemberId,
    },
}

pub(super) async fn run(
    app: &App,
    client_id: Option<ClientId>,
    task: MembersTask,
) -> Result<MembersAnswer, CommandError> {
    let client_id = the_client(app, client_id).await?;
    let author = Author::operator(client_id);
    match task {
        MembersTask::Invite { email, role } => {
            let invitation = invitations::invite(app, author, &email, role).await.map_err(told)?;
            let link = link_of_invitation(app, &invitation);
            Ok(MembersAnswer::Invited { member_id: invitation.member_id, link })
        }
        MembersTask::List => {
            let members = members::list(app, client_id).await.map_err(told)?;
            Ok(MembersAnswer::Members(members.into_iter().map(row).collect()))
        }
        MembersTask::Revoke { email } => {
            let members = members::list(app, client_id).await.map_err(told)?;
            let normal = regente_domain::customer::normal_email(&email);
            let found = members.into_iter().find(|member| member.email == normal);
            let member_id = found.ok_or_else(|| argument("the account has no such member"))?.id;
            members::revoke(app, author, member_id).await.map_err(told)?;
            Ok(MembersAnswer::Revoked { member_id })
        }
    }
}

fn row(member: Member) -> MemberRow {
    let Member { id, email, name, role, status, .. } = member;
    MemberRow { id, email, name, role, status: status.word().to_owned() }
}

/// What the operator can mend, in a sentence.
fn told(error: Error) -> CommandError {
    if let Error::RuleBroken(rule) = error {
        return argument(rule);
    }
    if let Error::Conflict { .. } = error {
        return argument("the address is a member's already");
    }
    CommandError::of(error)
}

fn argument(sentence: &str) -> CommandError {
    CommandError::Argument(sentence.to_owned())
}
