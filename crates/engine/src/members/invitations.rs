//! Invitations: a link that makes whoever follows it the member, once, within three days.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regente_domain::customer::normal_email;
use regente_domain::id::{ClientId, MemberId};
use regente_domain::member::role::Role;
use regente_domain::member::{
    EMAIL_CHARS_MAX, INVITATION_OPEN_FOR, MemberStatus, NAME_CHARS_MAX, PASSWORD_CHARS_MAX,
    PASSWORD_CHARS_MIN, RECOVERY_CODES, SIGN_IN_LINK_OPEN_FOR,
};
use regente_domain::problems::Problems;
use regente_domain::text::is_email;
use regente_domain::time::later_of;
use regente_providers::request::Mode;
use regente_store::Batch;
use regente_store::members::{self, StoredMember};

use super::record::{Private, Proofs, Record, email_key, link_digest};
use super::sign_in::{Cookie, begin, recovery_digest};
use super::{passwords, totp};
use crate::app::App;
use crate::audit::Author;
use crate::caller::RequestId;
use crate::error::Error;
use crate::races::{self, Changed};

const LINK_BYTES: usize = 32;
const RECOVERY_CODE_CHARS: usize = 10;
/// The characters of recovery codes: none that is read as another.
const RECOVERY_ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// An invitation in the clear; only the digest of its token is stored.
#[derive(Clone, Debug)]
pub struct Invitation {
    /// The member that it makes.
    pub member_id: MemberId,
    /// The last part of its link.
    pub token: String,
}

/// Whom an open invitation invites.
#[derive(Clone, Debug)]
pub struct Invited {
    /// Their address.
    pub email: String,
    /// What they will be.
    pub role: Role,
    /// What their phone learns.
    pub totp: totp::Secret,
}

/// What an invited person sends.
#[derive(Clone)]
pub struct Acceptance {
    /// Their name.
    pub name: String,
    /// The password that they choose.
    pub password: String,
    /// A code of their phone.
    pub code: String,
}

/// What becomes of an acceptance.
pub enum Accepted {
    /// They are a member, and signed in. The recovery codes are shown once.
    Yes {
        /// What their browser keeps.
        cookie: Cookie,
        /// What stands for their phone, each code once.
        recovery: Vec<String>,
    },
    /// The code is none of the phone's.
    WrongCode,
    /// What was sent does not do.
    Unfit(Problems),
    /// There is no such invitation, or no more.
    NoInvitation,
}

/// Invites a person. Whoever is invited already gets a new link, and the former one ends.
///
/// # Errors
/// [`Error::Invalid`] for an address that is none; [`Error::Conflict`] when it is another member's.
pub async fn invite(app: &App, author: Author<'_>, email: &str, role: Role) -> Result<Invitation, Error> {
    let email = normal_email(email);
    if !is_email(&email) || email.chars().count() > EMAIL_CHARS_MAX {
        return Err(Problems::one("email", "must be an email").into());
    }
    let key = email_key(app, &email).await?;
    races::change(|| async {
        let token = new_token(app);
        let now = app.clock.deployment();
        let link = Some((link_digest(&token), now + INVITATION_OPEN_FOR));
        let mut batch = Batch::new(author.client_id);
        let member_id = match members::find_by_email(&app.store, key).await? {
            Some(known) if known.client_id == author.client_id && known.status == MemberStatus::Invited => {
                let mut record = Record::open(app, known).await?;
                record.stored.role = role;
                record.stored.link = link;
                record.stored.updated_at = later_of(now, record.stored.updated_at);
                record.private.proofs = Some(new_proofs(app));
                members::update(&mut batch, &record.sealed(app)?);
                record.stored.id
            }
            Some(_) => return Err(taken()),
            None => {
                let id: MemberId = app.chance.id(now);
                let private = Private::new(&email, "", Some(new_proofs(app)));
                let record = new_record(app, (author.client_id, id), role, private);
                let mut stored = record.sealed(app)?;
                (stored.email_key, stored.link) = (Some(key), link);
                members::insert(&mut batch, &stored);
                id
            }
        };
        author.record(app, &mut batch, "member.invited", member_id.uuid());
        Ok(Changed::Written(app.store.apply(batch).await?, Invitation { member_id, token }))
    })
    .await
}

/// Whom a link invites; `None` when it invites nobody, or no more.
pub async fn find(app: &App, token: &str) -> Result<Option<Invited>, Error> {
    Ok(open(app, token).await?.map(|(record, proofs)| Invited {
        email: record.private.email,
        role: record.stored.role,
        totp: proofs.totp,
    }))
}

/// Makes the invited person a member, and signs them in.
pub async fn accept(
    app: &App,
    request_id: &RequestId,
    token: &str,
    sent: &Acceptance,
    browser: &str,
) -> Result<Accepted, Error> {
    if let Err(problems) = check(sent) {
        return Ok(Accepted::Unfit(problems));
    }
    let Some((_, proofs)) = open(app, token).await? else { return Ok(Accepted::NoInvitation) };
    if proofs.totp.step_of(&sent.code, app.clock.deployment(), proofs.taken_step).is_none() {
        return Ok(Accepted::WrongCode);
    }
    let password = passwords::hash(app, &sent.password).await?;
    races::change(|| async {
        let Some((mut record, mut proofs)) = open(app, token).await? else {
            return Ok(Changed::Already(Accepted::NoInvitation));
        };
        let now = app.clock.deployment();
        let Some(step) = proofs.totp.step_of(&sent.code, now, proofs.taken_step) else {
            return Ok(Changed::Already(Accepted::WrongCode));
        };
        let recovery: Vec<String> = (0..RECOVERY_CODES).map(|_| new_recovery_code(app)).collect();
        proofs.taken_step = step;
        proofs.password = Some(password.clone());
        proofs.recovery = recovery.iter().map(|code| recovery_digest(record.stored.id, code)).collect();
        record.private.name = sent.name.trim().to_owned();
        record.private.proofs = Some(proofs);
        record.stored.status = MemberStatus::Active;
        record.stored.link = None;
        record.stored.updated_at = later_of(now, record.stored.updated_at);
        let mut batch = Batch::new(record.stored.client_id);
        members::update(&mut batch, &record.sealed(app)?);
        let author = super::sign_in::author(&record.stored, request_id);
        author.record(app, &mut batch, "member.accepted", record.stored.id.uuid());
        let cookie = begin(app, &mut batch, &record.stored, browser);
        Ok(Changed::Written(app.store.apply(batch).await?, Accepted::Yes { cookie, recovery }))
    })
    .await
}

/// A link that signs the owner of a sandbox in, once. The owner is made when there is none with this address.
///
/// # Errors
/// [`Error::RuleBroken`] in production; [`Error::Conflict`] when the address is a member's of another account.
pub async fn sandbox_link(app: &App, client_id: ClientId, email: &str, name: &str) -> Result<String, Error> {
    match app.settings.mode {
        Mode::Sandbox => {}
        Mode::Production => return Err(Error::RuleBroken("only a sandbox signs in by a link")),
    }
    let key = email_key(app, email).await?;
    let author = Author::operator(client_id);
    races::change(|| async {
        let token = new_token(app);
        let now = app.clock.deployment();
        let link = Some((link_digest(&token), now + SIGN_IN_LINK_OPEN_FOR));
        let mut batch = Batch::new(client_id);
        let id = match members::find_by_email(&app.store, key).await? {
            Some(known) if known.client_id == client_id => {
                let status = MemberStatus::Active;
                let updated_at = later_of(now, known.updated_at);
                members::update(&mut batch, &StoredMember { link, status, updated_at, ..known });
                known.id
            }
            Some(_) => return Err(taken()),
            None => {
                let id: MemberId = app.chance.id(now);
                let record = new_record(app, (client_id, id), Role::Owner, Private::new(email, name, None));
                let mut stored = record.sealed(app)?;
                (stored.email_key, stored.link, stored.status) = (Some(key), link, MemberStatus::Active);
                members::insert(&mut batch, &stored);
                id
            }
        };
        author.record(app, &mut batch, "member.invited", id.uuid());
        Ok(Changed::Written(app.store.apply(batch).await?, token))
    })
    .await
}

async fn open(app: &App, token: &str) -> Result<Option<(Record, Proofs)>, Error> {
    let Some(stored) = members::find_by_link(&app.store, link_digest(token)).await? else { return Ok(None) };
    let is_open = stored.link.is_some_and(|(_, ends_at)| app.clock.deployment() < ends_at);
    if !is_open || stored.status != MemberStatus::Invited {
        return Ok(None);
    }
    let record = Record::open(app, stored).await?;
    Ok(record.private.proofs.clone().map(|proofs| (record, proofs)))
}

fn check(sent: &Acceptance) -> Result<(), Problems> {
    let mut problems = Problems::default();
    if !(1..=NAME_CHARS_MAX).contains(&sent.name.trim().chars().count()) {
        problems.add("name", format_args!("must have 1 to {NAME_CHARS_MAX} characters"));
    }
    if !(PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&sent.password.chars().count()) {
        let rule = format_args!("must have {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters");
        problems.add("password", rule);
    }
    problems.into_result()
}

fn new_record(app: &App, (client_id, id): (ClientId, MemberId), role: Role, private: Private) -> Record {
    // Sealed with the record; an empty ciphertext is never written.
    let empty = regente_store::sealed::Sealed { key_id: app.vault.sealer().key_id(), bytes: Vec::new() };
    let stored = StoredMember {
        id,
        client_id,
        email_key: None,
        role,
        status: MemberStatus::Invited,
        private: empty,
        link: None,
        version: 1,
        updated_at: id.created_at(),
    };
    Record { stored, private }
}

fn new_proofs(app: &App) -> Proofs {
    Proofs {
        totp: totp::Secret::new(app.chance.bytes()),
        taken_step: 0,
        password: None,
        recovery: Vec::new(),
    }
}

pub(super) fn new_token(app: &App) -> String {
    URL_SAFE_NO_PAD.encode(app.chance.bytes::<LINK_BYTES>())
}

/// 50 random bits, in two halves.
fn new_recovery_code(app: &App) -> String {
    let random: [u8; RECOVERY_CODE_CHARS] = app.chance.bytes();
    let characters = random.map(|byte| char::from(RECOVERY_ALPHABET[usize::from(byte % 32)]));
    let (first, second) = characters.split_at(RECOVERY_CODE_CHARS / 2);
    format!("{}-{}", first.iter().collect::<String>(), second.iter().collect::<String>())
}

fn taken() -> Error {
    Error::Conflict { message: "Conflict Exception".into(), details: vec!["email is a member's".to_owned()] }
}
