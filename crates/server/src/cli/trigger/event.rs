//! What can be triggered, how, and to which charges.

use clap::ValueEnum;
use regente_providers::staged::Staged;

use super::super::Failure;
use super::super::charges::Charge;
use super::new_charge::Kind;

/// Something that happens in the sandbox. The texts are those of `regente trigger --help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Event {
    /// The payer of a Pix pays, in time or late
    PixPaid,
    /// The payer of a boleto pays, in time or late
    BoletoPaid,
    /// The payer of a NuPay, a Drip or a PicPay pays; the charge has to be named
    PagePaid,
    /// The provider withdraws the code, the boleto or the page that nobody has paid: the charge fails
    PaymentWithdrawn,
    /// The provider has accepted a refund of a Pix, and has not made it yet
    RefundPending,
    /// The refund that is under way is made
    RefundDone,
    /// The refund that is under way fails: the money stays taken
    RefundFailed,
    /// The payer's bank takes the money back
    ChargedBack,
    /// The pending risk analysis approves; the charge has to be named
    RiskApproved,
    /// The pending risk analysis does not approve; the charge has to be named
    RiskReproved,
    /// The pending risk analysis fails; the charge has to be named
    RiskFailed,
    /// The payer disputes the payment. This and what follows takes `regente sandbox-provider`
    Dispute,
    /// The dispute is decided for the merchant
    DisputeWon,
    /// The dispute is decided for the payer, whose bank takes the money back
    DisputeLost,
    /// A refund comes back
    RefundReverted,
    /// The payer of a Pix pays once more
    PaidAgain,
}

/// How an event is brought about.
#[derive(Clone, Copy)]
pub(super) enum Means {
    /// The charge gets this status at the simulator.
    Status(&'static str),
    /// The risk analysis gets this verdict.
    Verdict(&'static str),
    /// A tester stages it at the simulator.
    Staged(Staged),
}

/// What comes before an event when no charge is named.
#[derive(Clone, Copy)]
pub(super) enum Begins {
    /// A new charge of this kind.
    With(Kind),
    /// Another event.
    After(Event),
    /// Nothing that is made here.
    WithOneGiven,
}

const BY_PAGE: &[&str] = &["nupay", "drip", "picpay"];
const BY_PAYER: &[&str] = &["pix", "boleto", "nupay", "drip", "picpay"];
const PIX: &[&str] = &["pix"];
const BOLETO: &[&str] = &["boleto"];
const ANY: &[&str] = &[];

impl Event {
    pub(super) const fn means(self) -> Means {
        match self {
            // Whoever is set to `authorized` while a refund is under way has the refund refused.
            Self::PixPaid | Self::BoletoPaid | Self::PagePaid | Self::RefundFailed => {
                Means::Status("authorized")
            }
            Self::PaymentWithdrawn => Means::Status("failed"),
            Self::RefundPending => Means::Status("refund_pending"),
            Self::RefundDone => Means::Status("voided"),
            Self::ChargedBack => Means::Status("charged_back"),
            Self::RiskApproved => Means::Verdict("approved"),
            Self::RiskReproved => Means::Verdict("reproved"),
            Self::RiskFailed => Means::Verdict("failed"),
            Self::Dispute => Means::Staged(Staged::DisputeOpened),
            Self::DisputeWon => Means::Staged(Staged::DisputeWon),
            Self::DisputeLost => Means::Staged(Staged::DisputeLost),
            Self::RefundReverted => Means::Staged(Staged::RefundReverted { amount: None }),
            Self::PaidAgain => Means::Staged(Staged::FurtherPayment { amount: None }),
        }
    }

    pub(super) const fn is_staged(self) -> bool {
        match self.means() {
            Means::Staged(_) => true,
            Means::Status(_) | Means::Verdict(_) => false,
        }
    }

    pub(super) const fn begins(self) -> Begins {
        match self {
            Self::PixPaid | Self::PaymentWithdrawn => Begins::With(Kind::Pix),
            Self::BoletoPaid => Begins::With(Kind::Boleto),
            Self::ChargedBack | Self::Dispute => Begins::With(Kind::Card),
            Self::RefundPending | Self::PaidAgain => Begins::After(Self::PixPaid),
            Self::RefundDone | Self::RefundFailed => Begins::After(Self::RefundPending),
            Self::RefundReverted => Begins::After(Self::RefundDone),
            Self::DisputeWon | Self::DisputeLost => Begins::After(Self::Dispute),
            Self::PagePaid | Self::RiskApproved | Self::RiskReproved | Self::RiskFailed => {
                Begins::WithOneGiven
            }
        }
    }

    /// Refuses what would be another event: the same status has several meanings.
    pub(super) fn may_happen_to(self, charge: &Charge) -> Result<(), Failure> {
        let (types, statuses): (&[&str], &[&str]) = match self {
            Self::PixPaid => (PIX, &["pending", "failed"]),
            Self::BoletoPaid => (BOLETO, &["pending", "failed"]),
            Self::PagePaid => (BY_PAGE, &["pending", "failed"]),
            Self::PaymentWithdrawn => (BY_PAYER, &["pending"]),
            Self::RefundPending => (PIX, &["pending", "authorized"]),
            Self::RefundDone | Self::RefundFailed => (ANY, &["refund_pending"]),
            Self::PaidAgain => (PIX, ANY),
            Self::ChargedBack
            | Self::RiskApproved
            | Self::RiskReproved
            | Self::RiskFailed
            | Self::Dispute
            | Self::DisputeWon
            | Self::DisputeLost
            | Self::RefundReverted => (ANY, ANY),
        };
        let fits = |known: &[&str], word: &str| known.is_empty() || known.contains(&word);
        if !fits(types, charge.payment_type()) {
            let (id, is) = (charge.id, charge.payment_type());
            return Err(format!("charge {id} is paid by {is}, and this is about {}", types.join(", ")).into());
        }
        if !fits(statuses, &charge.status) {
            let (id, is) = (charge.id, &charge.status);
            return Err(format!(
                "charge {id} is {is}, and this happens to one that is {}",
                statuses.join(" or ")
            )
            .into());
        }
        Ok(())
    }
}
