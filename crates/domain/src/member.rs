//! Members: the people who work with an account in the dashboard. A member has one role, and the role says what they may
//! read and do.

pub mod role;

use std::time::Duration;

/// How long an invitation is open.
pub const INVITATION_OPEN_FOR: Duration = Duration::from_secs(72 * 60 * 60);
/// How long a link is open that signs the owner of a sandbox in.
pub const SIGN_IN_LINK_OPEN_FOR: Duration = Duration::from_secs(12 * 60 * 60);
/// How long a sign-in lasts at most.
pub const SIGN_IN_LIFE_MAX: Duration = Duration::from_secs(12 * 60 * 60);
/// How long a sign-in lasts without a request.
pub const SIGN_IN_IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// How often the time of the last request is written.
pub const SEEN_WRITTEN_EVERY: Duration = Duration::from_secs(60);
/// Fewest characters of a password.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// Most characters of a password: hashing reads all of them.
pub const PASSWORD_CHARS_MAX: usize = 256;
/// Most characters of a name.
pub const NAME_CHARS_MAX: usize = 100;
/// Most characters of an e-mail address.
pub const EMAIL_CHARS_MAX: usize = 254;
/// How many recovery codes a member gets.
pub const RECOVERY_CODES: usize = 8;
/// Most members that a list shows.
pub const MEMBERS_LISTED_MAX: i64 = 500;

/// Whether a member may sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberStatus {
    /// They have not accepted their invitation yet.
    Invited,
    /// They may.
    Active,
    /// They may no more.
    Revoked,
}

impl MemberStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Invited, Self::Active, Self::Revoked];

    /// The word in the column.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Invited => "invited",
            Self::Active => "active",
            Self::Revoked => "revoked",
        }
    }

    /// Parses a word of the column.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}
