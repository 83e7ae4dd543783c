//! The payment methods of an order (`docs/interface/charges.md#payment-methods`). What pays is resolved later: [`super::source`]
//! says what it is.

use jiff::civil::Date;
use regente_domain::boleto::{LateCharges, latest_due_date, usual_due_date};
use regente_domain::charge::{
    AdditionalInfo, Boleto, CardSource, Credit, Debit, Drip, DripTerms, Nupay, PayerSource, PaymentMethod,
    Picpay, Pix, Recurrence, Voucher, WalletPayment,
};
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use serde_json::Value;

use super::source::AddressRule;
use crate::error::Error;

/// A method that is paid by card.
pub enum CardMethod {
    /// By credit card.
    Credit {
        /// Number of installments.
        installments: u8,
        /// The stored-credential flag.
        recurrence: Option<Recurrence>,
    },
    /// By debit card.
    Debit {
        /// Number of installments.
        installments: u8,
    },
    /// By voucher.
    Voucher {
        /// `items`, as sent.
        items: Option<Value>,
    },
}

/// Whether a card that is sent needs its security code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRule {
    /// It does.
    Required,
    /// It does not: the buyer is not there to give it.
    Optional,
}

impl CardMethod {
    /// The word of the interface.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::Credit { .. } => PaymentType::Credit,
            Self::Debit { .. } => PaymentType::Debit,
            Self::Voucher { .. } => PaymentType::Voucher,
        }
    }

    /// Number of installments, 1 where there are none.
    pub const fn installments(&self) -> u8 {
        match self {
            Self::Credit { installments, .. } | Self::Debit { installments } => *installments,
            Self::Voucher { .. } => 1,
        }
    }

    /// Whether a card that is sent needs its security code.
    pub const fn code_rule(&self) -> CodeRule {
        match self {
            Self::Credit { recurrence: Some(Recurrence::Subsequent | Recurrence::Unscheduled), .. } => {
                CodeRule::Optional
            }
            Self::Credit { recurrence: Some(Recurrence::Initial) | None, .. }
            | Self::Debit { .. }
            | Self::Voucher { .. } => CodeRule::Required,
        }
    }

    /// The method with its resolved card.
    pub(super) fn paid_with(self, source: CardSource) -> PaymentMethod {
        match self {
            Self::Credit { installments, recurrence } => {
                PaymentMethod::Credit(Credit { source, installments, recurrence })
            }
            Self::Debit { installments } => PaymentMethod::Debit(Debit { source, installments }),
            Self::Voucher { items } => PaymentMethod::Voucher(Voucher { source, items: items.map(Box::new) }),
        }
    }
}

/// A method that is paid without a card.
pub enum PayerMethod {
    /// By Pix.
    Pix {
        /// How long the payer has, in seconds.
        expires_in: u32,
        /// Texts that the payer's bank shows.
        additional_info: Vec<AdditionalInfo>,
        /// `items`, as sent.
        items: Option<Value>,
    },
    /// By boleto.
    Boleto(NewBoleto),
    /// By NuPay.
    Nupay(NupayTerms),
    /// By Drip.
    Drip(Box<DripBody>),
    /// By PicPay.
    Picpay,
}

/// What a merchant says of a boleto.
pub struct NewBoleto {
    /// When it falls due, if that is not left to this service.
    pub due: Option<Date>,
    /// What the slip tells the payer.
    pub instructions: Option<String>,
    /// What is added when it is paid late.
    pub late_charges: LateCharges,
    /// `items`, as sent.
    pub items: Option<Value>,
}

/// What a merchant says of a NuPay.
pub struct NupayTerms {
    /// After how many minutes it is canceled when nobody pays.
    pub delay_to_auto_cancel: u32,
    /// Where the payer reads the order.
    pub order_url: Option<String>,
    /// Where the payer goes who has paid.
    pub return_url: Option<String>,
    /// Where the payer goes who has refused.
    pub cancel_url: Option<String>,
    /// Taxes in the amount.
    pub tax_value: Option<Amount>,
}

/// What a merchant says of a Drip.
pub struct DripBody {
    /// The terms of the installments.
    pub terms: DripTerms,
    /// How many minutes the payer has; the provider decides when absent.
    pub minutes_to_expire: Option<u32>,
    /// `items`, as sent.
    pub items: Option<Value>,
    /// Where the payer goes who has paid.
    pub success_redirect_url: Option<String>,
    /// Where the payer goes who has refused.
    pub cancel_redirect_url: Option<String>,
}

impl PayerMethod {
    /// The word of the interface.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::Pix { .. } => PaymentType::Pix,
            Self::Boleto(_) => PaymentType::Boleto,
            Self::Nupay(_) => PaymentType::Nupay,
            Self::Drip(_) => PaymentType::Drip,
            Self::Picpay => PaymentType::Picpay,
        }
    }

    /// Whether the provider must know where the payer lives.
    pub const fn address_rule(&self) -> AddressRule {
        match self {
            Self::Drip(_) => AddressRule::Complete,
            Self::Pix { .. } | Self::Boleto(_) | Self::Nupay(_) | Self::Picpay => AddressRule::Optional,
        }
    }

    /// The same method, whose payer comes back to this page from that of the provider, unless it says where to.
    #[must_use]
    pub fn leading_back_to(mut self, page: &str) -> Self {
        let addresses = match &mut self {
            Self::Nupay(terms) => [&mut terms.return_url, &mut terms.cancel_url],
            Self::Drip(body) => [&mut body.success_redirect_url, &mut body.cancel_redirect_url],
            Self::Pix { .. } | Self::Boleto(_) | Self::Picpay => return self,
        };
        for address in addresses {
            address.get_or_insert_with(|| page.to_owned());
        }
        self
    }

    /// Checks what depends on the day.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the member.
    pub(super) fn check(&self, today: Date) -> Result<(), Error> {
        match self {
            Self::Pix { .. } | Self::Nupay(_) | Self::Drip(_) | Self::Picpay => Ok(()),
            Self::Boleto(boleto) => boleto.check(today),
        }
    }

    /// The method with its resolved payer, on this day.
    pub(super) fn paid_by(self, source: PayerSource, today: Date) -> PaymentMethod {
        match self {
            Self::Pix { expires_in, additional_info, items } => {
                PaymentMethod::Pix(Pix { source, expires_in, additional_info, items: items.map(Box::new) })
            }
            Self::Boleto(boleto) => PaymentMethod::Boleto(Box::new(boleto.paid_by(source, today))),
            Self::Nupay(terms) => terms.paid_by(source),
            Self::Drip(body) => body.paid_by(source),
            Self::Picpay => PaymentMethod::Picpay(Picpay { source }),
        }
    }
}

impl NewBoleto {
    /// Checks the due date. Only here is the day known: a repeated key is answered also when the date has passed.
    fn check(&self, today: Date) -> Result<(), Error> {
        const PATH: &str = "paymentMethod.expiresDate";
        let latest = latest_due_date(today);
        match self.due {
            Some(due) if due < today => Err(Error::invalid(PATH, "must not be in the past")),
            Some(due) if due > latest => {
                Err(Error::invalid(PATH, format!("must not be later than {latest}")))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn paid_by(self, source: PayerSource, today: Date) -> Boleto {
        let Self { due, instructions, late_charges, items } = self;
        let due = due.unwrap_or_else(|| usual_due_date(today));
        Boleto { source, due, instructions, late_charges, items: items.map(Box::new) }
    }
}

impl NupayTerms {
    /// Where its payer is led, by the fields of the request.
    pub(super) fn addresses(&self) -> [(&'static str, Option<&str>); 3] {
        [
            ("paymentMethod.orderUrl", self.order_url.as_deref()),
            ("paymentMethod.returnUrl", self.return_url.as_deref()),
            ("paymentMethod.cancelUrl", self.cancel_url.as_deref()),
        ]
    }

    fn paid_by(self, source: PayerSource) -> PaymentMethod {
        let Self { delay_to_auto_cancel, order_url, return_url, cancel_url, tax_value } = self;
        PaymentMethod::Nupay(Box::new(Nupay {
            source,
            delay_to_auto_cancel,
            order_url,
            return_url,
            cancel_url,
            tax_value,
        }))
    }
}

impl DripBody {
    /// Where its payer is led, by the fields of the request.
    pub(super) fn addresses(&self) -> [(&'static str, Option<&str>); 2] {
        [
            ("paymentMethod.successRedirectUrl", self.success_redirect_url.as_deref()),
            ("paymentMethod.cancelRedirectUrl", self.cancel_redirect_url.as_deref()),
        ]
    }

    fn paid_by(self, source: PayerSource) -> PaymentMethod {
        let Self { terms, minutes_to_expire, items, success_redirect_url, cancel_redirect_url } = self;
        PaymentMethod::Drip(Box::new(Drip {
            source,
            terms,
            minutes_to_expire,
            items: items.map(Box::new),
            success_redirect_url,
            cancel_redirect_url,
        }))
    }
}

/// A method that is paid by wallet.
pub enum WalletMethod {
    /// By Apple Pay.
    ApplePay(WalletPayment),
    /// By Click to Pay.
    ClickToPay(WalletPayment),
}

impl WalletMethod {
    /// The word of the interface.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::ApplePay(_) => PaymentType::ApplePay,
            Self::ClickToPay(_) => PaymentType::ClickToPay,
        }
    }

    /// Number of installments.
    pub const fn installments(&self) -> u8 {
        match self {
            Self::ApplePay(payment) | Self::ClickToPay(payment) => payment.installments,
        }
    }

    /// The method of the charge.
    pub(super) const fn paid(self) -> PaymentMethod {
        match self {
            Self::ApplePay(payment) => PaymentMethod::ApplePay(payment),
            Self::ClickToPay(payment) => PaymentMethod::ClickToPay(payment),
        }
    }
}
