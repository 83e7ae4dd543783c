//! The payment method of a charge. Each variant holds its own facts and source, so that combinations that do not
//! exist cannot be expressed. Providers are given it as it is.

use deserr::Deserr;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

mod redirects;

use super::Recurrence;
use crate::boleto::LateCharges;
use crate::capture_mode::CaptureMode;
use crate::id::{CardId, CustomerId};
use crate::payment_type::PaymentType;
use crate::problems::Problems;
use crate::routing::explanation::Stopped;
use crate::text::chars_max;
use crate::wire::Text;

pub use redirects::*;

type Line = Text<0, { chars_max::LINE }>;

/// Longest time that a payer of a Pix can have.
pub const EXPIRES_IN_SECONDS_MAX: u32 = i32::MAX.unsigned_abs();

/// How a charge is paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "paymentType", rename_all = "snake_case")]
pub enum PaymentMethod {
    /// By credit card.
    Credit(Credit),
    /// By debit card.
    Debit(Debit),
    /// By meal or food voucher.
    Voucher(Voucher),
    /// By Pix, the Brazilian instant payment.
    Pix(Pix),
    /// By NuPay, from an account at Nubank. Boxed to keep a charge in flight small.
    Nupay(Box<Nupay>),
    /// By Drip, a Pix in installments. Boxed to keep a charge in flight small.
    Drip(Box<Drip>),
    /// By PicPay, from a wallet.
    Picpay(Picpay),
    /// By Apple Pay.
    ApplePay(WalletPayment),
    /// By Click to Pay.
    ClickToPay(WalletPayment),
    /// By boleto, a payment slip that every Brazilian bank takes. Boxed to keep a charge in flight small.
    Boleto(Box<Boleto>),
}

/// A payment by credit card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credit {
    /// The card.
    pub source: CardSource,
    /// Number of installments, 1 to [`INSTALLMENTS_MAX`].
    pub installments: u8,
    /// Stored-credential flag, passed on to providers that take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<Recurrence>,
}

/// A payment by debit card, captured at once. Its cardholder is authenticated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Debit {
    /// The card.
    pub source: CardSource,
    /// Number of installments, 1 to [`INSTALLMENTS_MAX`].
    pub installments: u8,
}

/// A payment by meal or food voucher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Voucher {
    /// The card.
    pub source: CardSource,
    /// `items`, as sent. Boxed to keep a charge in flight small, since few have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Value>>,
}

/// A payment by Pix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pix {
    /// The payer.
    pub source: PayerSource,
    /// How long the payer has, in seconds, 1 to [`EXPIRES_IN_SECONDS_MAX`].
    pub expires_in: u32,
    /// Texts that the payer's bank shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_info: Vec<AdditionalInfo>,
    /// `items`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Value>>,
}

/// A payment by wallet. What the wallet has handed out is sealed with the charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalletPayment {
    /// Number of installments, 1 to [`INSTALLMENTS_MAX`].
    pub installments: u8,
}

/// A payment by boleto.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Boleto {
    /// The payer.
    pub source: PayerSource,
    /// When it falls due, in São Paulo.
    pub due: Date,
    /// What the slip tells the payer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// What is added when it is paid late.
    #[serde(default, skip_serializing_if = "LateCharges::is_none")]
    pub late_charges: LateCharges,
    /// `items`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Value>>,
}

/// A text that the payer's bank shows, with its title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(error = Problems)]
#[expect(missing_docs, reason = "the names say it")]
pub struct AdditionalInfo {
    #[deserr(from(Line) = Text::into_string)]
    #[schema(value_type = Line)]
    pub name: String,
    #[deserr(from(Line) = Text::into_string)]
    #[schema(value_type = Line)]
    pub value: String,
}

/// Where the money of a charge comes from.
#[derive(Clone, Copy, Debug)]
pub enum PaymentSource<'a> {
    /// A stored card.
    Card(&'a CardSource),
    /// A payer who follows the instructions of a provider.
    Payer(&'a PayerSource),
    /// What a wallet has handed out for this payment alone.
    Wallet,
}

/// The payer of a method that is paid without a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PayerSource {
    /// The buyer.
    pub customer_id: CustomerId,
}

/// Where a card came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "sourceType")]
pub enum CardSource {
    /// A stored card; an inline card or a card token becomes one.
    #[serde(rename = "card", rename_all = "camelCase")]
    Card {
        /// The stored card. The token's id is not kept: it would open the rest of the token.
        card_id: CardId,
    },
    /// The default card of a customer.
    #[serde(rename = "customer", rename_all = "camelCase")]
    Customer {
        /// The buyer.
        customer_id: CustomerId,
        /// The card that was the default when the charge was made; not shown.
        card_id: CardId,
    },
}

impl CardSource {
    /// The card that is charged.
    pub const fn card_id(&self) -> CardId {
        match self {
            Self::Card { card_id } | Self::Customer { card_id, .. } => *card_id,
        }
    }
}

impl PaymentMethod {
    /// `paymentType` on the wire.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::Credit(_) => PaymentType::Credit,
            Self::Debit(_) => PaymentType::Debit,
            Self::Voucher(_) => PaymentType::Voucher,
            Self::Pix(_) => PaymentType::Pix,
            Self::Nupay(_) => PaymentType::Nupay,
            Self::Drip(_) => PaymentType::Drip,
            Self::Picpay(_) => PaymentType::Picpay,
            Self::ApplePay(_) => PaymentType::ApplePay,
            Self::ClickToPay(_) => PaymentType::ClickToPay,
            Self::Boleto(_) => PaymentType::Boleto,
        }
    }

    /// Where the money comes from.
    pub const fn source(&self) -> PaymentSource<'_> {
        match self {
            Self::Credit(Credit { source, .. })
            | Self::Debit(Debit { source, .. })
            | Self::Voucher(Voucher { source, .. }) => PaymentSource::Card(source),
            Self::Pix(Pix { source, .. }) => PaymentSource::Payer(source),
            Self::Nupay(nupay) => PaymentSource::Payer(&nupay.source),
            Self::Drip(drip) => PaymentSource::Payer(&drip.source),
            Self::Picpay(Picpay { source }) => PaymentSource::Payer(source),
            Self::ApplePay(_) | Self::ClickToPay(_) => PaymentSource::Wallet,
            Self::Boleto(boleto) => PaymentSource::Payer(&boleto.source),
        }
    }

    /// The boleto, if it is one.
    pub const fn boleto(&self) -> Option<&Boleto> {
        let Self::Boleto(boleto) = self else { return None };
        Some(boleto)
    }

    /// The id of the charged card, for methods that charge one.
    pub const fn card_id(&self) -> Option<CardId> {
        match self.source() {
            PaymentSource::Card(source) => Some(source.card_id()),
            PaymentSource::Payer(_) | PaymentSource::Wallet => None,
        }
    }

    /// Whether a network token is charged in place of a card number.
    pub const fn is_tokenized(&self) -> bool {
        match self {
            Self::ApplePay(_) => true,
            Self::Credit(_)
            | Self::Debit(_)
            | Self::Voucher(_)
            | Self::Pix(_)
            | Self::Boleto(_)
            | Self::Nupay(_)
            | Self::Drip(_)
            | Self::Picpay(_)
            | Self::ClickToPay(_) => false,
        }
    }

    /// The caller's free-form list of items, for methods that have one.
    pub const fn items(&mut self) -> Option<&mut Option<Box<Value>>> {
        match self {
            Self::Voucher(Voucher { items, .. }) | Self::Pix(Pix { items, .. }) => Some(items),
            Self::Boleto(boleto) => Some(&mut boleto.items),
            Self::Drip(drip) => Some(&mut drip.items),
            Self::Credit(_)
            | Self::Debit(_)
            | Self::Nupay(_)
            | Self::Picpay(_)
            | Self::ApplePay(_)
            | Self::ClickToPay(_) => None,
        }
    }

    /// Number of installments; 1 for methods without installments.
    pub const fn installments(&self) -> u8 {
        match self {
            Self::Credit(Credit { installments, .. })
            | Self::Debit(Debit { installments, .. })
            | Self::ApplePay(WalletPayment { installments })
            | Self::ClickToPay(WalletPayment { installments }) => *installments,
            Self::Voucher(_)
            | Self::Pix(_)
            | Self::Boleto(_)
            | Self::Nupay(_)
            | Self::Drip(_)
            | Self::Picpay(_) => 1,
        }
    }

    /// The stored-credential flag.
    pub const fn recurrence(&self) -> Option<Recurrence> {
        match self {
            Self::Credit(Credit { recurrence, .. }) => *recurrence,
            Self::Debit(_)
            | Self::Voucher(_)
            | Self::Pix(_)
            | Self::Boleto(_)
            | Self::Nupay(_)
            | Self::Drip(_)
            | Self::Picpay(_)
            | Self::ApplePay(_)
            | Self::ClickToPay(_) => None,
        }
    }

    /// Without the texts and objects that callers fill as they like, and which may name a person.
    #[must_use]
    pub fn without_free_text(mut self) -> Self {
        if let Some(items) = self.items() {
            *items = None;
        }
        match &mut self {
            Self::Pix(pix) => pix.additional_info = Vec::new(),
            Self::Boleto(boleto) => boleto.instructions = None,
            Self::Nupay(nupay) => {
                (nupay.order_url, nupay.return_url, nupay.cancel_url) = (None, None, None);
            }
            Self::Drip(drip) => {
                (drip.success_redirect_url, drip.cancel_redirect_url) = (None, None);
            }
            Self::Credit(_)
            | Self::Debit(_)
            | Self::Voucher(_)
            | Self::Picpay(_)
            | Self::ApplePay(_)
            | Self::ClickToPay(_) => {}
        }
        self
    }

    /// Whether `transaction.pending` is announced when the charge is stored. A card charge is usually decided a
    /// moment later; for others the instructions must exist first.
    pub const fn is_announced_when_accepted(&self) -> bool {
        match self.source() {
            PaymentSource::Card(_) | PaymentSource::Wallet => true,
            PaymentSource::Payer(_) => false,
        }
    }

    /// What a charge ends as when it is not approved, for this reason.
    pub const fn unapproved(&self, stopped: Stopped) -> Unapproved {
        match (self, stopped) {
            (Self::Nupay(_), Stopped::Expired | Stopped::Withdrawn | Stopped::PayerRefused) => {
                Unapproved::Canceled
            }
            (
                Self::Nupay(_),
                Stopped::NotRetryable
                | Stopped::NoProviderLeft
                | Stopped::BudgetUsedUp
                | Stopped::Interrupted
                | Stopped::StillPayable
                | Stopped::NotAuthenticated
                | Stopped::Reproved
                | Stopped::AnalysisFailed,
            )
            | (
                Self::Credit(_)
                | Self::Debit(_)
                | Self::Voucher(_)
                | Self::Pix(_)
                | Self::Boleto(_)
                | Self::Drip(_)
                | Self::Picpay(_)
                | Self::ApplePay(_)
                | Self::ClickToPay(_),
                _,
            ) => Unapproved::Failed,
        }
    }
}

/// What a charge without an approval ends as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unapproved {
    /// It failed.
    Failed,
    /// The payer, or their delay, has canceled it.
    Canceled,
}

impl PaymentType {
    /// The capture mode in effect: only credit cards can be reserved, also those in a wallet.
    pub const fn capture(self, asked: CaptureMode) -> CaptureMode {
        match self {
            Self::Credit | Self::ApplePay | Self::ClickToPay => asked,
            Self::Debit
            | Self::Voucher
            | Self::Pix
            | Self::Boleto
            | Self::Nupay
            | Self::Drip
            | Self::Picpay => CaptureMode::Automatic,
        }
    }

    /// Whether it moves reais and nothing else, whoever the provider is.
    pub const fn is_in_reais_alone(self) -> bool {
        match self {
            Self::Pix | Self::Boleto | Self::Nupay | Self::Drip | Self::Picpay => true,
            Self::Credit | Self::Debit | Self::Voucher | Self::ApplePay | Self::ClickToPay => false,
        }
    }
}
