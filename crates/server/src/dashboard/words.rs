//! What the dashboard says, in each language: `assets/dashboard/texts`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, header};
use serde::Deserialize;

use crate::api::buyer_page::Language;

/// Remembers the language that a reader has chosen.
pub(crate) const LANGUAGE_COOKIE: &str = "regente_dashboard_language";

/// The languages with their own names.
pub(crate) const LANGUAGES: [(Language, &str); 3] =
    [(Language::Portuguese, "Português"), (Language::English, "English"), (Language::Spanish, "Español")];

/// Defines the texts of a file: each name is a member of it.
macro_rules! texts {
    ($(#[$about:meta])* pub(crate) struct $texts:ident { $($name:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $texts { $(pub(crate) $name: String,)* }
    };
}
pub(crate) use texts;

/// One language with its texts.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) language: Language,
    pub(crate) t: Texts,
    names: Names,
}

texts! {
    /// The texts of pages.
    pub(crate) struct Texts {
        skip, places, home, charges, members, sign_ins, sign_out, language, times_in,
        today, today_against, charges_made, approved, declined, approval_rate, week_before, no_rate, about_rate, about_volume,
        unknown_title, unknown_cards, unknown_follow_ups, unknown_none, unknown_what, deliveries_title, deliveries_lost,
        deliveries_retried, deliveries_none, deliveries_no_webhook, deliveries_newest, look,
        search, search_label, search_hint, filters, more_filters, filter, clear, all, status, method, provider, from_day, to_day,
        order, amount, amount_hint, merchant, session, subscription, divided_only, newest_first, oldest_first, sorting,
        filter_wrong, found, made, page_of, before, next, none_title, none_at_all, none_filtered, without_order,
        charge, facts, card, card_expires, holder, installments, descriptor, description, customer, updated,
        id, dispute, captured_at_once, yes, no, timeline, timeline_about, no_call, duration, decline, decline_code, network, told_by,
        probes, next_probe, given_up, set_by_hand, route, route_about, route_flow, route_by_priority, route_asked, route_skipped,
        route_not_reached, route_stopped, priority, split, seller, share, platform_fee, metadata, metadata_none, sent_data, program,
        refunds, refunds_none, left, acts, no_acts, refund, capture, void, back_to_charge,
        refund_title, refund_about, refund_amount, refund_hint, refund_go, capture_title, capture_about, capture_amount,
        capture_hint, capture_go, confirm_title, confirm_refund, confirm_capture, confirm_void,
        confirm_once, confirm, of_amount, amount_wrong, amount_too_much,
        act_done, act_refused, act_refused_about, act_unknown, act_unknown_about, act_unknown_look, act_unknown_again, ask_again,
        not_allowed, not_allowed_about, not_found, not_found_about, failed, failed_about, reason, at_hour,
    }
}

/// The names of the words of the interface.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    roles: BTreeMap<String, String>,
    statuses: BTreeMap<String, String>,
    methods: BTreeMap<String, String>,
    requests: BTreeMap<String, String>,
    outcomes: BTreeMap<String, String>,
    skipped: BTreeMap<String, String>,
    circuits: BTreeMap<String, String>,
    stopped: BTreeMap<String, String>,
    tellers: BTreeMap<String, String>,
}

/// What a word of the interface is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Role,
    Status,
    Method,
    Request,
    Outcome,
    Skipped,
    Circuit,
    Stopped,
    Teller,
}

impl Words {
    /// The language that the reader has chosen before, otherwise that of the browser.
    pub(crate) fn of(headers: &HeaderMap) -> &'static Self {
        Self::in_language(chosen(headers).unwrap_or_else(|| Language::of(headers)))
    }

    pub(crate) fn in_language(language: Language) -> &'static Self {
        match language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
            Language::Spanish => &SPANISH,
        }
    }

    /// The name of a word of the interface. A word that has none stays as it is.
    pub(crate) fn name<'a>(&'a self, about: About, word: &'a str) -> &'a str {
        let names = match about {
            About::Role => &self.names.roles,
            About::Status => &self.names.statuses,
            About::Method => &self.names.methods,
            About::Request => &self.names.requests,
            About::Outcome => &self.names.outcomes,
            About::Skipped => &self.names.skipped,
            About::Circuit => &self.names.circuits,
            About::Stopped => &self.names.stopped,
            About::Teller => &self.names.tellers,
        };
        names.get(word).map_or(word, String::as_str)
    }

    fn read(language: Language, text: &str) -> Self {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            texts: Texts,
            names: Names,
        }
        let File { texts, names } =
            serde_json::from_str(text).expect("the texts of the program are complete");
        Self { language, t: texts, names }
    }
}

fn chosen(headers: &HeaderMap) -> Option<Language> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, tag) = pairs.find(|(name, _)| *name == LANGUAGE_COOKIE)?;
    LANGUAGES.into_iter().map(|(language, _)| language).find(|language| language.tag() == tag)
}

static PORTUGUESE: LazyLock<Words> = LazyLock::new(|| {
    Words::read(Language::Portuguese, include_str!("../../assets/dashboard/texts/pt-BR.json"))
});
static ENGLISH: LazyLock<Words> =
    LazyLock::new(|| Words::read(Language::English, include_str!("../../assets/dashboard/texts/en.json")));
static SPANISH: LazyLock<Words> =
    LazyLock::new(|| Words::read(Language::Spanish, include_str!("../../assets/dashboard/texts/es.json")));
