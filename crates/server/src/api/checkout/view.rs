//! What the page shows of a session: values, wherever they come from.

use jiff::civil::Date;
use regente_domain::currency::Currency;
use regente_domain::subscription::Interval;

use super::colours::Chosen;

/// A session that can be paid, or whose buyers may still follow the instructions that they have.
#[derive(Clone, Debug)]
pub(super) struct Checkout {
    pub(super) session_id: String,
    pub(super) client_id: String,
    pub(super) public_key: String,
    pub(super) name: Option<String>,
    pub(super) order_id: Option<String>,
    /// In the minor unit.
    pub(super) amount: i64,
    pub(super) currency: Currency,
    pub(super) items: Vec<Item>,
    /// In the order in which they are offered; at least one.
    pub(super) methods: Vec<Method>,
    /// Whether a card is only charged when its bank is liable.
    pub(super) liability_must_shift: bool,
    pub(super) shop: Shop,
    pub(super) click_to_pay_dpa_id: Option<String>,
    /// Whether it is paid more than once.
    pub(super) is_paid_repeatedly: bool,
    pub(super) is_sandbox: bool,
    /// Whether the buyer is asked to prove that they are a person.
    pub(super) asks_for_a_person: bool,
    /// Whether a payment can begin; else the page is for buyers who have instructions.
    pub(super) begins_payments: bool,
}

/// A session at which the buyer of a subscription gives another card.
#[derive(Clone, Debug)]
pub(super) struct CardPage {
    pub(super) session_id: String,
    pub(super) client_id: String,
    pub(super) public_key: String,
    /// The name of the subscription.
    pub(super) name: String,
    pub(super) interval: Interval,
    /// What a cycle costs, in the minor unit.
    pub(super) amount: i64,
    /// What was not paid, in the minor unit.
    pub(super) outstanding: Option<i64>,
    pub(super) currency: Currency,
    pub(super) shop: Shop,
    pub(super) is_sandbox: bool,
    /// Whether the buyer is asked to prove that they are a person.
    pub(super) asks_for_a_person: bool,
}

/// One item of the order.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) quantity: i64,
    pub(super) unit_price: i64,
}

/// A payment method that the page offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Credit { installments_max: u8, asks_cardholder: AsksCardholder },
    Pix,
    Boleto { due: Option<Date> },
    Nupay,
    Drip,
    ClickToPay,
}

/// Whether the bank of a card may want to ask the cardholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AsksCardholder {
    Perhaps,
    Never,
}

/// Whose page it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Shop {
    pub(super) name: String,
    /// The address of the picture.
    pub(super) logo: Option<String>,
    /// Where buyers return.
    pub(super) url: Option<String>,
    pub(super) colours: Chosen,
}

/// Why a session cannot be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Paid,
    Canceled,
    Refunded,
    Expired,
    Disabled,
    Unknown,
    /// The card that it was for was given.
    CardGiven,
    /// The subscription has got another card otherwise.
    CardReplaced,
    /// The subscription has ended.
    NothingToCharge,
}

impl Checkout {
    /// The method where there is no other to choose.
    pub(super) fn only_method(&self) -> Option<&Method> {
        match self.methods.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether one of the methods needs to know where the payer lives.
    pub(super) fn takes_address(&self) -> bool {
        self.methods.iter().any(|method| matches!(method, Method::Boleto { .. } | Method::Drip))
    }

    /// Whether a bank may show a page of its own inside of this one.
    pub(super) fn asks_cardholder(&self) -> bool {
        let asks = |method: &Method| {
            matches!(method, Method::Credit { asks_cardholder: AsksCardholder::Perhaps, .. })
        };
        self.methods.iter().any(asks)
    }
}

impl Method {
    /// `paymentType`.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Credit { .. } => "credit",
            Self::Pix => "pix",
            Self::Boleto { .. } => "boleto",
            Self::Nupay => "nupay",
            Self::Drip => "drip",
            Self::ClickToPay => "click_to_pay",
        }
    }

    /// A line in a square of 24 that stands for it: what the buyer uses, no logo.
    pub(super) const fn icon(&self) -> &'static str {
        match self {
            // A card.
            Self::Credit { .. } => "M3 6h18v12H3zM3 10h18M6 15h4",
            // A code to scan.
            Self::Pix => "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM20 14v2M18 20h2v-1M14 20v-1",
            // A bar code.
            Self::Boleto { .. } => "M4 5v14M8 5v14M11 5v14M15 5v14M20 5v14",
            // A wallet.
            Self::Nupay => "M19 8V5H5a2 2 0 0 0 0 4h15v10H5a2 2 0 0 1-2-2V7M16 14h1",
            // A month, in which a part falls due.
            Self::Drip => "M4 6h16v14H4zM4 10h16M8 3v5M16 3v5M9 15l2 2 4-4",
            // A finger's touch.
            Self::ClickToPay => "M8 8l3 12 3-5 5-3zM8 2v2M2 8h2M4 4l1 1M12 4l-1 1M4 12l1-1",
        }
    }

    /// Whether the button itself takes the money.
    pub(super) const fn is_paid_now(&self) -> bool {
        match self {
            Self::Credit { .. } | Self::ClickToPay => true,
            Self::Pix | Self::Boleto { .. } | Self::Nupay | Self::Drip => false,
        }
    }
}
