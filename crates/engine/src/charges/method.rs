//! The payment methods of an order (`docs/interface/charges.md#payment-methods`). What pays is resolved later: [`super::source`]
//! says what it is.

use jiff::civil::Date;
use regente_domain::boleto::latest_due_date;
use regente_domain::charge::sent::{
    AddressRule, NewBoletoPayment, NewDripPayment, NewNupayPayment, NewPixPayment,
};
use regente_domain::charge::{
    CardSource, Credit, Debit, PayerSource, PaymentMethod, Picpay, Pix, Recurrence, Voucher, WalletPayment,
};
use regente_domain::payment_type::PaymentType;
use serde_json::Value;

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

/// A method that is paid without a card, as its merchant has sent it.
pub enum PayerMethod {
    /// By Pix.
    Pix(NewPixPayment),
    /// By boleto.
    Boleto(NewBoletoPayment),
    /// By NuPay.
    Nupay(NewNupayPayment),
    /// By Drip.
    Drip(Box<NewDripPayment>),
    /// By PicPay.
    Picpay,
}

impl PayerMethod {
    /// The word of the interface.
    pub const fn payment_type(&self) -> PaymentType {
        match self {
            Self::Pix(_) => PaymentType::Pix,
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
            Self::Pix(_) | Self::Boleto(_) | Self::Nupay(_) | Self::Picpay => AddressRule::Optional,
        }
    }

    /// The same method, whose payer comes back to this page from that of the provider, unless it says where to.
    #[must_use]
    pub fn leading_back_to(mut self, page: &str) -> Self {
        let addresses = match &mut self {
            Self::Nupay(nupay) => [&mut nupay.return_url, &mut nupay.cancel_url],
            Self::Drip(drip) => [&mut drip.success_redirect_url, &mut drip.cancel_redirect_url],
            Self::Pix(_) | Self::Boleto(_) | Self::Picpay => return self,
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
            Self::Pix(_) | Self::Nupay(_) | Self::Drip(_) | Self::Picpay => Ok(()),
            Self::Boleto(boleto) => must_fall_due(boleto.expires_date, today),
        }
    }

    /// The method with its resolved payer, on this day.
    pub(super) fn paid_by(self, source: PayerSource, today: Date) -> PaymentMethod {
        match self {
            Self::Pix(NewPixPayment { expires_in, additional_info, items }) => {
                PaymentMethod::Pix(Pix { source, expires_in, additional_info, items: items.map(Box::new) })
            }
            Self::Boleto(boleto) => PaymentMethod::Boleto(Box::new(boleto.paid_by(source, today))),
            Self::Nupay(nupay) => PaymentMethod::Nupay(Box::new(nupay.paid_by(source))),
            Self::Drip(drip) => PaymentMethod::Drip(Box::new(drip.paid_by(source))),
            Self::Picpay => PaymentMethod::Picpay(Picpay { source }),
        }
    }
}

/// Checks the due date of a boleto. Only here is the day known: a repeated key is answered also when the date has passed.
fn must_fall_due(due: Option<Date>, today: Date) -> Result<(), Error> {
    const PATH: &str = "paymentMethod.expiresDate";
    let latest = latest_due_date(today);
    match due {
        Some(due) if due < today => Err(Error::invalid(PATH, "must not be in the past")),
        Some(due) if due > latest => Err(Error::invalid(PATH, format!("must not be later than {latest}"))),
        Some(_) | None => Ok(()),
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
