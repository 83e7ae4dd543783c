//! The arithmetic of a payment batch, the debts that it sets off or leaves, and how it moves.

use super::BatchStatus;

/// The sums of the orders that a batch takes, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Gross of what charges have brought.
    pub authorized: i64,
    /// What payers were given back; 0 or more.
    pub voided: i64,
    /// What payers' banks have taken back; 0 or more.
    pub charged_back: i64,
    /// What is kept of all of it; negative where more is given back.
    pub fee: i64,
    /// What it costs to be paid early.
    pub discount: i64,
}

/// What a batch shows, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Figures {
    /// Gross.
    pub amount: i64,
    /// What the provider keeps.
    pub fee: i64,
    /// All that is kept, with what the provider keeps.
    pub total_fee: i64,
    /// An earlier debt that is set off.
    pub balance: i64,
    /// Credits by hand.
    pub credit: i64,
    /// Refunds that are deducted.
    pub refund: i64,
    /// Charge backs that are deducted.
    pub debit_adjustment: i64,
    /// What is added to adjust it.
    pub credit_adjustment: i64,
    /// What the transfer costs.
    pub withdrawal_fee: i64,
}

/// A new batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Drawn {
    /// What it shows.
    pub figures: Figures,
    /// `Pending` where there is something to pay, otherwise `Offset`.
    pub status: BatchStatus,
    /// What the receiver owes after it.
    pub debt: i64,
}

impl Figures {
    /// What is paid; negative for what is missing.
    pub const fn final_balance(&self) -> i64 {
        self.amount - self.total_fee - self.balance + self.credit - self.refund - self.debit_adjustment
            + self.credit_adjustment
            - self.withdrawal_fee
    }

    /// What the orders of the batch come to, before an earlier debt is set off.
    pub const fn net(&self) -> i64 {
        self.final_balance() + self.balance
    }
}

/// The batch of a receiver who owes `debt`, 0 or more.
pub fn draw(sums: &Sums, debt: i64) -> Drawn {
    let figures = Figures {
        amount: sums.authorized,
        fee: sums.fee,
        total_fee: sums.fee + sums.discount,
        refund: sums.voided,
        debit_adjustment: sums.charged_back,
        ..Figures::default()
    };
    let net = figures.final_balance();
    let figures = Figures { balance: debt.min(net.max(0)), ..figures };
    let status = if figures.final_balance() > 0 { BatchStatus::Pending } else { BatchStatus::Offset };
    Drawn { figures, status, debt: debt - figures.balance + (-net).max(0) }
}

/// What a bank says of the transfer of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// It was paid.
    Paid,
    /// It was refused; nothing was paid.
    Refused,
    /// It was given back, perhaps after it was paid.
    Returned,
}

impl BatchStatus {
    /// The status after what a bank says; `None` where that changes nothing.
    pub const fn after(self, told: Told) -> Option<Self> {
        match (self, told) {
            (Self::Pending, Told::Paid) => Some(Self::Paid),
            (Self::Pending, Told::Refused | Told::Returned) | (Self::Paid, Told::Returned) => {
                Some(Self::Failed)
            }
            (Self::Paid, Told::Paid | Told::Refused)
            | (Self::Failed | Self::Offset, Told::Paid | Told::Refused | Told::Returned) => None,
        }
    }
}
