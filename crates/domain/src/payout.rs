//! Payouts: how the money that the platform's own provider has taken reaches who it belongs to (`docs/payouts.md`). An [`Order`]
//! is a part of a charge that is due to a receiver on a day; a batch is what one receiver is paid at once. Pure.

pub mod arrangement;
pub mod batch;
pub mod change;
pub mod drafts;
pub mod method;
pub mod schedule;
pub mod transfer;

use jiff::civil::Date;
use uuid::Uuid;

use crate::currency::Currency;
use crate::id::{ChargeId, ClientId, MerchantId, PaymentBatchId, PayoutOrderId, SellerId};
use crate::payout::arrangement::Arrangement;
use crate::payout::method::PayoutMethod;
use crate::time::Timestamp;
use crate::words::words;

/// Who is paid: a seller, or nobody named, which is the account itself. To that belong the parts of its merchants and its fees.
pub type Receiver = Option<SellerId>;

words! {
    /// What an order is about.
    #[schema(as = PayoutOrderType)]
    OrderType {
        /// Money that a charge has brought, or brought back.
        Authorization = "authorization",
        /// Money that the payer was given back.
        Void = "void",
        /// Money that the payer's bank has taken back.
        ChargeBack = "charge_back",
    }
}

words! {
    /// Where a payment batch stands.
    #[schema(as = PaymentBatchStatus)]
    BatchStatus {
        /// It is on its way to the bank of the receiver.
        Pending = "pending",
        /// The bank has paid it.
        Paid = "paid",
        /// The bank has refused or returned it. Its orders are in a later batch.
        Failed = "failed",
        /// There was nothing to pay: what was missing is deducted from a later batch.
        Offset = "offset",
    }
}

words! {
    /// Where the money of a payment batch comes from.
    #[schema(as = PaymentBatchFeature)]
    Feature {
        /// The platform's own provider.
        Subacquirer = "subacquirer",
        /// NuPay.
        Nupay = "nupay",
        /// Several of them.
        General = "general",
    }
}

impl Feature {
    /// That of a payment method.
    pub const fn of(method: PayoutMethod) -> Self {
        match method {
            PayoutMethod::Nupay => Self::Nupay,
            PayoutMethod::Credit | PayoutMethod::Pix => Self::Subacquirer,
        }
    }
}

/// A part of a charge that is due to a receiver, or that the receiver has to give back. It stays as it is but for where it is paid.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// Its id; the time of creation is the id's own.
    pub id: PayoutOrderId,
    /// The account it belongs to.
    pub client_id: ClientId,
    /// The charge.
    pub charge_id: ChargeId,
    /// Its place among the orders of the charge, from 0.
    pub ordinal: i64,
    /// The step of the charge that has made it ([`change::Change::step`]).
    pub step: i64,
    /// Who is paid.
    pub receiver: Receiver,
    /// The merchant of the charge.
    pub merchant_id: MerchantId,
    /// What it is about.
    pub order_type: OrderType,
    /// The installment, from 1; of a void that of the order that it reduces.
    pub installment: Option<u8>,
    /// Of how many.
    pub total_installments: Option<u8>,
    /// Minor units; negative for what is given back.
    pub gross: i64,
    /// What is kept of it, in minor units; negative for what is given back.
    pub fee: i64,
    /// The currency of both.
    pub currency: Currency,
    /// How the charge was paid.
    pub method: PayoutMethod,
    /// The arrangement in which a card paid it.
    pub arrangement: Option<Arrangement>,
    /// The business day on which it is due.
    pub scheduled_at: Date,
    /// The place of the order that it reduces, of a void or a charge back.
    pub reduces: Option<i64>,
    /// The batch in which it is paid.
    pub batch_id: Option<PaymentBatchId>,
    /// The prepayment by which it is paid early.
    pub prepayment_id: Option<Uuid>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Order {
    /// What is paid of it, in minor units: gross less fee.
    pub const fn net(&self) -> i64 {
        self.gross - self.fee
    }
}
