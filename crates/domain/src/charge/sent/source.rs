//! With what a charge is paid, as it is sent (`docs/interface/charges.md#payment-sources`). What of it counts, and what it needs, the
//! method says.

use deserr::{Deserr, ValuePointerRef};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;
use zeroize::Zeroizing;

use super::{NewWalletSource, Payer};
use crate::card::{Cvv, InlineCard};
use crate::charge::Recurrence;
use crate::id::{CardId, CustomerId, TokenId};
use crate::payment_type::PaymentType;
use crate::problems::Problems;
use crate::tagged_schema;
use crate::wire::refused;
use crate::wire::tagged::{peek, tag_of, variant};
use crate::words::words;

/// The member that says which source it is.
const SOURCE_TYPE: &str = "sourceType";
const CARD: &str = "card";
const CARD_ID: &str = "cardId";
const CARD_CVV: &str = "cardCvv";
const TOKEN_CVV: &str = "tokenCvv";
const CUSTOMER: &str = "customer";
const CUSTOMER_ID: &str = "customerId";
const ADDRESS: &str = "address";
const PHONE_NUMBER: &str = "phoneNumber";
const RECURRENCE: &str = "recurrence";
const WALLET_PAYMENT: &str = "walletPayment";
const PAYMENT_DATA: &str = "paymentData";
const CLICK_TO_PAY: &str = "walletClickToPay";
const EMPTY: &str = "should not be empty";

words! {
    /// What a charge is paid with.
    SourceType {
        /// A stored card, or a card in the body.
        Card = "card",
        /// A card token.
        Token = "token",
        /// A customer: their default card, or themselves.
        Customer = "customer",
        /// What a wallet has handed out.
        Wallet = "wallet",
    }
}

/// With what it is paid.
pub enum NewPaymentSource {
    /// A stored card, or a card in the body.
    Card(NewCardSource),
    /// A card token.
    Token(NewTokenSource),
    /// A customer.
    Customer(Box<NewCustomerSource>),
    /// What a wallet has handed out.
    Wallet(Box<NewWalletSource>),
}

tagged_schema!(NewPaymentSource, "With what it is paid.", by "sourceType" {
    SourceType::Card.word() => NewCardSource,
    SourceType::Token.word() => NewTokenSource,
    SourceType::Customer.word() => NewCustomerSource,
    SourceType::Wallet.word() => NewWalletSource,
});

/// A stored card by its `cardId`, or a card as `card`, which is stored. One of both; `cardId` wins.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the types say it")]
pub struct NewCardSource {
    #[deserr(default)]
    pub card_id: Option<CardId>,
    #[deserr(default)]
    pub card: Option<InlineCard>,
    /// Security code of a stored card, when the buyer is present.
    #[deserr(default)]
    pub card_cvv: Option<Cvv>,
    /// A CVV token instead of `cardCvv`; it wins.
    #[deserr(default)]
    pub token_cvv: Option<TokenId>,
}

/// A card token; it is used up.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the type says it")]
pub struct NewTokenSource {
    pub token_id: TokenId,
}

/// A customer, who is named by `customerId` or described by `customer`. One of both; `customerId` wins. A card charge
/// takes their default card; a method that is paid without a card gives them instructions, and creates the customer where
/// none fits.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the types say it")]
pub struct NewCustomerSource {
    #[deserr(default)]
    pub customer_id: Option<CustomerId>,
    #[deserr(default)]
    pub customer: Option<Payer>,
    /// Security code of the card, when the buyer is present.
    #[deserr(default)]
    pub card_cvv: Option<Cvv>,
    /// A CVV token instead of `cardCvv`; it wins.
    #[deserr(default)]
    pub token_cvv: Option<TokenId>,
}

/// Whether a card that is sent needs its security code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRule {
    /// It does.
    Required,
    /// It does not: the buyer is not there to give it.
    Optional,
}

/// Whether the provider must know where the payer lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressRule {
    /// It need not.
    Optional,
    /// It must, with every member of an address.
    Complete,
}

/// What a method is paid with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceRule {
    /// A card.
    Card(CodeRule),
    /// A payer who follows the instructions of a provider.
    Payer(AddressRule),
    /// A token of Apple Pay.
    ApplePay,
    /// A checkout at Click to Pay.
    ClickToPay,
}

impl SourceRule {
    /// That of a method of this type, as it is sent.
    pub(super) fn of(payment_type: PaymentType, method: &Map<String, Json>) -> Self {
        match payment_type {
            PaymentType::Credit => Self::Card(match peek(method, RECURRENCE) {
                Some(Recurrence::Subsequent | Recurrence::Unscheduled) => CodeRule::Optional,
                Some(Recurrence::Initial) | None => CodeRule::Required,
            }),
            PaymentType::Debit | PaymentType::Voucher => Self::Card(CodeRule::Required),
            PaymentType::Drip => Self::Payer(AddressRule::Complete),
            PaymentType::Pix | PaymentType::Boleto | PaymentType::Nupay | PaymentType::Picpay => {
                Self::Payer(AddressRule::Optional)
            }
            PaymentType::ApplePay => Self::ApplePay,
            PaymentType::ClickToPay => Self::ClickToPay,
        }
    }

    const fn words(self) -> &'static [(&'static str, SourceType)] {
        const CUSTOMER: (&str, SourceType) = (SourceType::Customer.word(), SourceType::Customer);
        const CARDS: &[(&str, SourceType)] = &[
            (SourceType::Card.word(), SourceType::Card),
            (SourceType::Token.word(), SourceType::Token),
            CUSTOMER,
        ];
        const WALLETS: &[(&str, SourceType)] = &[(SourceType::Wallet.word(), SourceType::Wallet)];
        match self {
            Self::Card(_) => CARDS,
            Self::Payer(_) => &[CUSTOMER],
            Self::ApplePay | Self::ClickToPay => WALLETS,
        }
    }
}

impl NewPaymentSource {
    /// Reads what pays by a method with this rule. Members that do not count are left out, whatever they are.
    ///
    /// # Errors
    /// Every problem that was found.
    pub(super) fn read(
        mut sent: Map<String, Json>,
        at: ValuePointerRef<'_>,
        rule: SourceRule,
    ) -> Result<Self, Problems> {
        sent.retain(|_, value| !value.is_null());
        match tag_of(&sent, at, SOURCE_TYPE, rule.words())? {
            SourceType::Token => variant(sent, at).map(Self::Token),
            SourceType::Card => {
                let problems = settle_card(&mut sent, at, rule);
                problems.beside(variant(sent, at)).map(Self::Card)
            }
            SourceType::Customer => {
                let problems = settle_customer(&mut sent, at, rule);
                problems.beside(variant(sent, at)).map(|source| Self::Customer(Box::new(source)))
            }
            SourceType::Wallet => {
                let problems = settle_wallet(&mut sent, at, rule);
                problems.beside(variant(sent, at)).map(|source| Self::Wallet(Box::new(source)))
            }
        }
    }
}

/// Of a card that is named, the card in the body does not count; of one that is sent, the security code of a stored one.
fn settle_card(sent: &mut Map<String, Json>, at: ValuePointerRef<'_>, rule: SourceRule) -> Problems {
    if sent.contains_key(CARD_ID) {
        wipe(sent.shift_remove(CARD));
    } else if let Some(card) = sent.get(CARD) {
        let lacks_code = card.as_object().is_some_and(|card| card.get(CARD_CVV).is_none_or(Json::is_null));
        let needs_code = matches!(rule, SourceRule::Card(CodeRule::Required)) && lacks_code;
        without_code(sent);
        return match needs_code {
            true => refused(at.push_key(CARD).push_key(CARD_CVV), EMPTY),
            false => Problems::new(),
        };
    }
    settle_code(sent);
    needed(sent, at, CARD_ID)
}

fn settle_code(sent: &mut Map<String, Json>) {
    if sent.contains_key(TOKEN_CVV) {
        wipe(sent.shift_remove(CARD_CVV));
    }
}

fn without_code(sent: &mut Map<String, Json>) {
    wipe(sent.shift_remove(CARD_CVV));
    wipe(sent.shift_remove(TOKEN_CVV));
}

/// Wipes the texts of what does not count: they may be card data.
fn wipe(value: Option<Json>) {
    match value {
        Some(Json::String(text)) => drop(Zeroizing::new(text)),
        Some(Json::Object(members)) => members.into_iter().for_each(|(_, member)| wipe(Some(member))),
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_)) | None => {}
    }
}

/// Of the owner of a card, what identifies them counts; of a payer, no security code.
fn settle_customer(sent: &mut Map<String, Json>, at: ValuePointerRef<'_>, rule: SourceRule) -> Problems {
    if sent.contains_key(CUSTOMER_ID) {
        drop(sent.shift_remove(CUSTOMER));
    }
    let mut problems = match sent.contains_key(CUSTOMER) {
        true => Problems::new(),
        false => needed(sent, at, CUSTOMER_ID),
    };
    match rule {
        SourceRule::Card(_) | SourceRule::ApplePay | SourceRule::ClickToPay => {
            settle_code(sent);
            if let Some(Json::Object(owner)) = sent.get_mut(CUSTOMER) {
                owner.retain(|name, _| matches!(name.as_str(), "email" | "document"));
            }
        }
        SourceRule::Payer(rule) => {
            without_code(sent);
            problems.extend(payer_lacks(sent, at.push_key(CUSTOMER), rule));
        }
    }
    problems
}

/// What a payer must have, by this rule.
fn payer_lacks(sent: &Map<String, Json>, at: ValuePointerRef<'_>, rule: AddressRule) -> Problems {
    let Some(Json::Object(payer)) = sent.get(CUSTOMER) else { return Problems::new() };
    let lacks = |name: &str| payer.get(name).is_none_or(Json::is_null);
    let mut problems = needed(payer, at, PHONE_NUMBER);
    // One that is blank counts as nothing.
    let read: Option<Payer> = peek(sent, CUSTOMER).filter(|_| !lacks(PHONE_NUMBER));
    let lacks_address = read.map_or_else(|| lacks(ADDRESS), |payer| payer.address.is_none());
    if rule == AddressRule::Complete && lacks_address {
        problems.extend(refused(at.push_key(ADDRESS), "should not be empty for this paymentType"));
    }
    problems
}

/// What another wallet has handed out does not count.
fn settle_wallet(sent: &mut Map<String, Json>, at: ValuePointerRef<'_>, rule: SourceRule) -> Problems {
    match rule {
        SourceRule::ApplePay => {
            drop(sent.shift_remove(CLICK_TO_PAY));
            needed(sent, at, PAYMENT_DATA)
        }
        SourceRule::ClickToPay | SourceRule::Card(_) | SourceRule::Payer(_) => {
            drop(sent.shift_remove(PAYMENT_DATA));
            let mut problems = needed(sent, at, WALLET_PAYMENT);
            problems.extend(needed(sent, at, CLICK_TO_PAY));
            problems
        }
    }
}

fn needed(sent: &Map<String, Json>, at: ValuePointerRef<'_>, name: &str) -> Problems {
    match sent.get(name).is_none_or(Json::is_null) {
        true => refused(at.push_key(name), EMPTY),
        false => Problems::new(),
    }
}
