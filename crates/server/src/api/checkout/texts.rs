//! What the checkout says, in each language: `assets/checkout/texts`.

use std::sync::LazyLock;

use regente_domain::subscription::Interval;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::view::Method;
use crate::api::buyer_page::Language;

/// The texts of one language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Texts {
    pub(super) page: PageTexts,
    /// Those of the script, by their names there.
    pub(super) script: Map<String, Value>,
    /// Those that are others where the page takes a card for a subscription.
    card_script: Map<String, Value>,
}

/// Defines the texts that the server writes into pages.
macro_rules! page_texts {
    ($($name:ident),* $(,)?) => {
        /// The texts that the server writes into pages.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct PageTexts { $(pub(super) $name: String,)* }
    };
}

page_texts! {
    title, skip, language, summary, order, items, more_items, total, your_details, name, email, document, phone, optional, address,
    zip_code, street, street_number, complement, district, city, state, how_to_pay, credit, pix, boleto, nupay, drip,
    click_to_pay, card_number, card_holder, card_expiry, card_cvv, installments, at_once, saved_cards, another_card,
    save_card, about_pix, about_boleto, boleto_due, about_nupay, about_drip, about_click_to_pay, human, pay, make_pix,
    make_boleto, go_on, secure, sandbox, no_script, back_to_shop, stay, pay_again, try_again, another_method, copy,
    pix_title, pix_steps, pix_picture, pix_code, waiting, expires_in, pix_over_title, pix_over, underpaid_title,
    underpaid, boleto_title, boleto_line, boleto_open, boleto_later, redirect_title, redirect, redirect_go, challenge_title, challenge,
    processing_title, processing, done_title, done, done_reference, redirecting, ended_paid_title, ended_paid,
    ended_canceled_title, ended_canceled, ended_refunded_title, ended_refunded, ended_expired_title, ended_expired,
    ended_disabled_title, ended_disabled, ended_unknown_title, ended_unknown, card_title, card_skip, subscription, about_card,
    outstanding, outstanding_soon, daily, weekly, monthly, quarterly, yearly, biennial, triennial, save_the_card, no_script_card,
    card_saving_title, card_saving, card_saved_title, card_saved, card_paid_title, card_paid, card_unpaid_title, card_unpaid,
    ended_card_given_title, ended_card_given, ended_card_replaced_title, ended_card_replaced, ended_subscription_title,
    ended_subscription,
}

impl Texts {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
            Language::Spanish => &SPANISH,
        }
    }
}

impl Texts {
    /// The texts of the script where the page takes a card for a subscription.
    pub(super) fn of_card_script(&self) -> Map<String, Value> {
        let mut texts = self.script.clone();
        texts.extend(self.card_script.clone());
        texts
    }
}

impl PageTexts {
    /// The name of a payment method.
    pub(super) fn method(&self, method: &Method) -> &str {
        match method {
            Method::Credit { .. } => &self.credit,
            Method::Pix => &self.pix,
            Method::Boleto { .. } => &self.boleto,
            Method::Nupay => &self.nupay,
            Method::Drip => &self.drip,
            Method::ClickToPay => &self.click_to_pay,
        }
    }

    /// How often a subscription is charged.
    pub(super) fn interval(&self, interval: Interval) -> &str {
        match interval {
            Interval::Daily => &self.daily,
            Interval::Weekly => &self.weekly,
            Interval::Monthly => &self.monthly,
            Interval::Quarterly => &self.quarterly,
            Interval::Yearly => &self.yearly,
            Interval::Biennial => &self.biennial,
            Interval::Triennial => &self.triennial,
        }
    }

    /// What the button does with a payment method.
    pub(super) fn action(&self, method: &Method) -> &str {
        match method {
            Method::Credit { .. } | Method::ClickToPay => &self.pay,
            Method::Pix => &self.make_pix,
            Method::Boleto { .. } => &self.make_boleto,
            Method::Nupay | Method::Drip => &self.go_on,
        }
    }
}

macro_rules! texts_of {
    ($file:literal) => {
        LazyLock::new(|| {
            let file = include_str!(concat!("../../../assets/checkout/texts/", $file));
            // A test reads every file, so a release has no broken one.
            serde_json::from_str(file).expect(concat!($file, " is what the checkout needs"))
        })
    };
}

static PORTUGUESE: LazyLock<Texts> = texts_of!("pt-BR.json");
static ENGLISH: LazyLock<Texts> = texts_of!("en.json");
static SPANISH: LazyLock<Texts> = texts_of!("es.json");
