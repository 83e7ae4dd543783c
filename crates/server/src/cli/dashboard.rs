//! `regente dashboard`: the people who work with an account in the dashboard.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use regente_domain::member::role::Role;

use super::account::AccountArgs;
use super::{Failure, operate};
use crate::admin::{Command, MembersAnswer, MembersTask};
use crate::config::Loaded;

#[derive(Debug, Subcommand)]
pub(super) enum DashboardCommand {
    /// Invite a person, and print the link to give them; it works once, for 72 hours
    Invite {
        #[command(flatten)]
        of: AccountArgs,
        /// Their e-mail address
        #[arg(long, value_name = "E-MAIL")]
        email: String,
        /// owner, operator, support, finance or read_only
        #[arg(long, value_name = "ROLE", default_value = "owner", value_parser = role)]
        role: Role,
    },
    /// List the members of an account
    Members(AccountArgs),
    /// Revoke a member: they are signed out everywhere
    Revoke {
        #[command(flatten)]
        of: AccountArgs,
        /// Their e-mail address
        #[arg(long, value_name = "E-MAIL")]
        email: String,
    },
}

fn role(text: &str) -> Result<Role, String> {
    let words = || Role::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    Role::parse(text).ok_or_else(|| format!("must be one of {}", words()))
}

pub(super) fn run(loaded: &Loaded, command: DashboardCommand) -> Result<ExitCode, Failure> {
    let (AccountArgs { account, output }, task) = match command {
        DashboardCommand::Invite { of, email, role } => (of, MembersTask::Invite { email, role }),
        DashboardCommand::Members(of) => (of, MembersTask::List),
        DashboardCommand::Revoke { of, email } => (of, MembersTask::Revoke { email }),
    };
    operate::run(loaded, Command::Members { client_id: account.client_id, task }, output)
}

pub(super) fn shown(answer: &MembersAnswer) -> String {
    match answer {
        MembersAnswer::Invited { link, .. } => {
            format!("Give this link to the person; it works once, for 72 hours:\n\n  {link}\n")
        }
        MembersAnswer::Members(members) if members.is_empty() => {
            "The account has no members; `regente dashboard invite --email …` invites the first owner.\n"
                .to_owned()
        }
        MembersAnswer::Members(members) => members.iter().fold(String::new(), |mut lines, member| {
            let _ = writeln!(
                lines,
                "{}  {:<9}  {:<8}  {}  {}",
                member.id,
                member.role.word(),
                member.status,
                member.email,
                member.name
            );
            lines
        }),
        MembersAnswer::Revoked { member_id } => format!("Member {member_id} is revoked.\n"),
    }
}
