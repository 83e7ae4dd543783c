//! The rules of a new purchase: the number of cards, the source of each, and the amount of each.

use std::collections::HashSet;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::References;
use regente_domain::charge::sent::FraudAnalysis;
use regente_domain::id::{CardId, CustomerId, MerchantId, TokenId};
use regente_domain::money::Amount;
use regente_domain::purchase::{CURRENCY, Payment, SLOTS, SentPayment, SentPurchase};
use regente_domain::wire::{Object, Text, Verbatim};
use serde_json::{Map, Value};

use crate::card_data::CvvSource;

/// A new purchase that follows the rules.
pub struct NewPurchase {
    /// The sub-account.
    pub merchant_id: MerchantId,
    /// The total.
    pub amount: Amount,
    /// Whether it is captured at once or later.
    pub capture: CaptureMode,
    /// The merchant's reference.
    pub order_id: Option<String>,
    /// The buyer.
    pub customer_id: Option<CustomerId>,
    /// Texts and references.
    pub references: References,
    /// Free data of the merchant.
    pub metadata: Option<Map<String, Value>>,
    /// Fraud analysis data, for each charge.
    pub fraud_analysis: Option<Map<String, Value>>,
    /// The cards, in order.
    pub payments: Vec<CardShare>,
}

/// One card and its share of the total.
pub struct CardShare {
    /// The card.
    pub source: Source,
    /// Amount in minor units.
    pub amount: Amount,
    /// Number of installments.
    pub installments: u8,
}

/// The card of a payment.
pub enum Source {
    /// A stored card.
    Card {
        /// The card.
        card_id: CardId,
        /// Its security code, when the buyer is present.
        cvv: CvvSource,
    },
    /// A card token.
    Token(TokenId),
}

/// The rules of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A purchase has two or three cards.
    InvalidPaymentsCount,
    /// Each payment has a card.
    PaymentSourceRequired,
    /// Each payment has one card, and no card or token is used twice.
    AmbiguousSource,
    /// Each payment has at least the minimum amount.
    PaymentAmountBelowMinimum,
    /// The currency is that of purchases.
    CurrencyNotBrl,
    /// The payments add up to the amount.
    PaymentsAmountMismatch,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub rule: Rule,
    /// One sentence with a path for each violation.
    pub details: Vec<String>,
}

/// Checks the rules in order (`docs/interface/purchases.md#checks`). `least` is the minimum amount of one payment.
///
/// # Errors
/// The first broken rule, with all its violations.
pub fn check(sent: SentPurchase, least: Amount) -> Result<NewPurchase, Broken> {
    let refuse = |rule, details: Vec<String>| match details.is_empty() {
        true => Ok(()),
        false => Err(Broken { rule, details }),
    };
    let payments: Vec<SentPayment> = sent.payments.into_vec().into_iter().map(|Payment(sent)| sent).collect();
    if !SLOTS.contains(&payments.len()) {
        let details = vec!["payments must contain 2 or 3 items".to_owned()];
        return Err(Broken { rule: Rule::InvalidPaymentsCount, details });
    }
    let sources = payments.iter().map(|payment| (payment.card_id, payment.token_id));
    let missing = at(sources, |source| *source == (None, None), "must have a cardId or a tokenId");
    refuse(Rule::PaymentSourceRequired, missing)?;
    refuse(Rule::AmbiguousSource, ambiguous_sources(&payments))?;
    let rule = format!("must not be less than {}", least.minor_units());
    let amounts = payments.iter().map(|payment| payment.amount);
    let too_little = amounts.clone().enumerate().filter(|(_, amount)| *amount < least);
    let too_little = too_little.map(|(index, _)| format!("payments[{index}].amount {rule}")).collect();
    refuse(Rule::PaymentAmountBelowMinimum, too_little)?;
    if sent.currency.as_deref().is_some_and(|currency| currency != CURRENCY.code()) {
        let details = vec!["currency must be BRL".to_owned()];
        return Err(Broken { rule: Rule::CurrencyNotBrl, details });
    }
    let sum: i64 = amounts.map(Amount::minor_units).sum();
    let amount = Amount::from(sent.amount);
    if sum != amount.minor_units() {
        let details = vec![format!("amount must be the sum of the payments, which is {sum}")];
        return Err(Broken { rule: Rule::PaymentsAmountMismatch, details });
    }
    Ok(NewPurchase {
        merchant_id: sent.merchant_id,
        amount,
        capture: CaptureMode::from_flag(sent.capture.unwrap_or(false)),
        order_id: sent.order_id.map(Verbatim::into_string),
        customer_id: sent.customer_id,
        references: References {
            description: sent.description.map(Text::into_string),
            statement_descriptor: sent.statement_descriptor.map(Text::into_string),
            provider_reference_key: None,
            flow_metadata: sent.payment_flow.map(|flow| Value::Object(flow.metadata.into_members())),
            app_info: sent.app_info.map(|info| Value::Object(info.into_members())),
        },
        metadata: sent.metadata.map(Object::into_members),
        fraud_analysis: sent.fraud_analysis.map(|FraudAnalysis(members)| members),
        payments: payments.into_iter().filter_map(share).collect(),
    })
}

/// Finds payments with two sources and sources used twice: a token works once, and issuers suspect a card that is
/// charged twice.
fn ambiguous_sources(payments: &[SentPayment]) -> Vec<String> {
    let sources = payments.iter().map(|payment| (payment.card_id, payment.token_id));
    let is_both = |source: &(Option<CardId>, Option<TokenId>)| source.0.is_some() && source.1.is_some();
    let mut details = at(sources, is_both, "must have either a cardId or a tokenId");
    let mut used = HashSet::new();
    for (index, payment) in payments.iter().enumerate() {
        let named = [
            ("cardId", payment.card_id.map(|id| id.uuid())),
            ("tokenId", payment.token_id.map(|id| id.uuid())),
            ("tokenCvv", payment.token_cvv.map(|id| id.uuid())),
        ];
        for (name, id) in named {
            if id.is_some_and(|id| !used.insert(id)) {
                details.push(format!("payments[{index}].{name} must not be used twice"));
            }
        }
    }
    details
}

fn at<T>(items: impl Iterator<Item = T>, is_wrong: impl Fn(&T) -> bool, rule: &str) -> Vec<String> {
    let wrong = items.enumerate().filter(|(_, item)| is_wrong(item));
    wrong.map(|(index, _)| format!("payments[{index}] {rule}")).collect()
}

fn share(sent: SentPayment) -> Option<CardShare> {
    let SentPayment { card_id, token_id, amount, installments, card_cvv, token_cvv } = sent;
    let source = match (card_id, token_id) {
        (Some(card_id), None) => Source::Card { card_id, cvv: CvvSource::of(token_cvv, card_cvv) },
        (None, Some(token_id)) => Source::Token(token_id),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let installments = installments.map_or(Some(1), |number| u8::try_from(number.get()).ok())?;
    Some(CardShare { source, amount, installments })
}
