//! What the pages about people say, in each language: `assets/dashboard/people`.

use std::sync::LazyLock;

use crate::api::buyer_page::Language;
use crate::dashboard::words::{Words, texts};

texts! {
    /// The texts of these pages.
    pub(crate) struct Texts {
        sign_in, email, password, code, code_hint, refused, too_many, invitation, invitation_about, name, password_hint,
        phone, phone_about, secret, phone_code, phone_code_hint, accept, over, over_about, wrong, wrong_code, wrong_name,
        wrong_password, recovery, recovery_about, go_on, members, member, role, status, active, invited_until, revoke,
        revoke_title, revoke_about, keep, invite, invite_about, send, invited, invited_about, link, email_taken,
        email_wrong, last_owner, sign_ins, sign_ins_about, browser, unknown_browser, began, seen, this_one, end,
    }
}

impl Texts {
    pub(super) fn of(words: &Words) -> &'static Self {
        match words.language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
            Language::Spanish => &SPANISH,
        }
    }
}

fn read(text: &str) -> Texts {
    serde_json::from_str(text).expect("the texts of the program are complete")
}

static PORTUGUESE: LazyLock<Texts> =
    LazyLock::new(|| read(include_str!("../../../assets/dashboard/people/pt-BR.json")));
static ENGLISH: LazyLock<Texts> =
    LazyLock::new(|| read(include_str!("../../../assets/dashboard/people/en.json")));
static SPANISH: LazyLock<Texts> =
    LazyLock::new(|| read(include_str!("../../../assets/dashboard/people/es.json")));
