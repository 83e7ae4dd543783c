//! What has happened, and the notifications that tell of it.

use regente_domain::time::Timestamp;
use serde_json::Value;

use super::books::Face;
use super::faults::Dice;
use super::{adyen, pagarme_v5, stripe};

/// The secret of the webhook of the first provider.
pub const STRIPE_SECRET: &str = "whsec_test";

/// What has become of a payment.
#[derive(Clone, Debug)]
pub enum News {
    Authorized,
    Refused,
    /// The payer has instructions.
    Waits,
    /// By a request.
    Captured,
    CaptureFailed(OfCapture),
    /// The provider takes back that it has captured it.
    CaptureRetracted(OfCapture),
    /// By a request with this name, if it has one.
    Released {
        by: Option<String>,
    },
    ReleaseFailed {
        id: String,
        reference: String,
    },
    /// The refund with this number is done, or has failed.
    Refunded(usize),
    /// By the payer.
    Paid,
    Expired,
    CaseOpened(usize),
    CaseEnded(usize),
    /// The provider takes back that it has authorized it.
    Retracted,
}

/// A capture by the provider's id and our name for it; by our name for the payment, if nobody has asked for it.
#[derive(Clone, Debug)]
pub struct OfCapture {
    pub id: String,
    pub reference: String,
    pub amount: i64,
}

/// What happens seldom enough to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seldom {
    /// A payer pays another amount than they are asked for.
    OtherAmount,
    /// A payer pays twice.
    PaidTwice,
    PartDisputed,
    SecondCase,
    /// The end of a dispute is overturned.
    Overturned,
    /// The provider takes back that it has authorized, or decides against it.
    TakenBack,
    /// A capture that was told as done fails.
    CaptureTakenBack,
    /// The same, and nobody has asked for the capture.
    OwnCaptureTakenBack,
}

impl Seldom {
    pub const ALL: &[Self] = &[
        Self::OtherAmount,
        Self::PaidTwice,
        Self::PartDisputed,
        Self::SecondCase,
        Self::Overturned,
        Self::TakenBack,
        Self::CaptureTakenBack,
        Self::OwnCaptureTakenBack,
    ];
    /// What happens in a few dozens of sequences.
    pub const OFTEN_ENOUGH: &[Self] = &[Self::OtherAmount, Self::PartDisputed, Self::TakenBack];
}

/// What was received, and is carried out later.
#[derive(Clone, Debug)]
pub enum ToDo {
    Capture { place: usize, id: String, reference: String, amount: i64, fails: bool },
    Release { place: usize, id: String, reference: String },
    Refund { place: usize, id: String, reference: String, amount: i64 },
}

/// A notification that the bank has to send.
#[derive(Clone, Debug)]
pub struct Notice {
    pub face: Face,
    /// The key of the merchant whom it is for.
    pub account: String,
    pub body: Value,
    /// Nothing else ever tells it: the provider sends it until it is taken.
    pub is_needed: bool,
}

impl Notice {
    /// The header that proves it.
    pub fn signed(&self, now: Timestamp) -> (&'static str, String) {
        match self.face {
            Face::Stripe => stripe::signed(self, STRIPE_SECRET, now),
            // It is in the body.
            Face::Adyen => ("X-Signed", "in the body".to_owned()),
            Face::PagarmeV5 => pagarme_v5::signed(pagarme_v5::WEBHOOK),
        }
    }

    /// The same by somebody who has got it on its way and changes what nobody has signed. The first provider signs all of it,
    /// the third nothing.
    pub fn altered(&self, dice: &mut Dice) -> Option<Value> {
        match self.face {
            Face::Adyen => Some(adyen::altered(&self.body, dice)),
            Face::Stripe | Face::PagarmeV5 => None,
        }
    }

    /// The same by somebody who does not know the secret and says that it is another sum.
    pub fn forged(&self, now: Timestamp) -> ((&'static str, String), Value) {
        let mut body = self.body.clone();
        let header = match self.face {
            Face::Stripe => {
                body["data"]["object"]["amount"] = 999_999.into();
                self.signed(now)
            }
            Face::Adyen => {
                body["notificationItems"][0]["NotificationRequestItem"]["amount"]["value"] = 999_999.into();
                self.signed(now)
            }
            Face::PagarmeV5 => {
                body["data"]["paid_amount"] = 999_999.into();
                pagarme_v5::signed(("regente", "guessed"))
            }
        };
        (header, body)
    }
}
