//! What documents that prove refunds say, in each language: `texts/receipts`.

use std::sync::LazyLock;

use regente_domain::currency::Currency;
use regente_domain::local_day::{civil_of, day_of};
use regente_domain::money::Amount;
use regente_domain::receipt::ReceiptLanguage;
use regente_domain::time::Timestamp;
use serde::Deserialize;

macro_rules! texts {
    ($($name:ident),* $(,)?) => {
        /// The texts of one language.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Texts { $(pub(super) $name: String,)* }
    };
}

texts! {
    letter_title, card_title, pix_title, place_and_date, to, card_issuer, letter_body, card_body, pix_body, sale, payment, refund,
    refunds, returns, merchant, acquirer, holder, card, authorization_code, nsu, network_transaction_id, sale_date,
    sale_amount, installments, payer, payer_document, receiver, institution, end_to_end_id, payment_date, payment_amount,
    refund_date, refund_amount, refund_kind, total_refund, partial_refund, remaining, refund_id, number_column, date_column,
    refund_column, return_column, amount_column, total, charge, document, page, time_zone, sandbox, date_format, time_format,
    decimal_sign, group_sign,
}

static PT_BR: LazyLock<Texts> = LazyLock::new(|| read(include_str!("../../texts/receipts/pt-BR.json")));
static EN: LazyLock<Texts> = LazyLock::new(|| read(include_str!("../../texts/receipts/en.json")));
static ES: LazyLock<Texts> = LazyLock::new(|| read(include_str!("../../texts/receipts/es.json")));

/// The tests read each file.
fn read(file: &str) -> Texts {
    serde_json::from_str(file).expect("a file of this crate")
}

impl Texts {
    pub(super) fn of(language: ReceiptLanguage) -> &'static Self {
        match language {
            ReceiptLanguage::PtBr => &PT_BR,
            ReceiptLanguage::En => &EN,
            ReceiptLanguage::Es => &ES,
        }
    }

    /// The day in São Paulo.
    pub(super) fn day(&self, at: Timestamp) -> String {
        day_of(at).strftime(&self.date_format).to_string()
    }

    /// The day and the time of day in São Paulo.
    pub(super) fn time(&self, at: Timestamp) -> String {
        civil_of(at).strftime(&self.time_format).to_string()
    }

    /// `R$ 1.234,56`; other currencies by their codes.
    pub(super) fn money(&self, amount: Amount, currency: Currency) -> String {
        let plain = amount.in_major_units_of(currency);
        let (whole, part) = plain.split_once('.').unwrap_or((&plain, ""));
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                grouped.push_str(&self.group_sign);
            }
            grouped.push(digit);
        }
        if !part.is_empty() {
            grouped.push_str(&self.decimal_sign);
            grouped.push_str(part);
        }
        let sign = if currency.code() == "BRL" { "R$" } else { currency.code() };
        format!("{sign} {grouped}")
    }
}
