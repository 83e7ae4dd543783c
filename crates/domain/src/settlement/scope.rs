//! Whose file it is, and which of its lines are posted in whose books.

use serde::{Deserialize, Serialize};

use super::{Borne, Judged, Line, Verdict};
use crate::currency::Currency;
use crate::id::{ChargeId, ClientId, MerchantId, ProviderId, SellerId, TransactionRequestId};
use crate::provider_type::ProviderType;

/// Whose file it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The type of the provider.
    pub provider_type: ProviderType,
    /// The registered provider; `None` for a file about all of the type.
    pub registered: Option<Registered>,
}

/// A registered provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// The account.
    pub client_id: ClientId,
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The provider.
    pub provider_id: ProviderId,
}

/// A line that is posted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Posting {
    /// The line.
    pub line: Line,
    /// In whose books.
    pub registered: Registered,
    /// The type of the provider.
    pub provider_type: ProviderType,
    /// The charge, if it is divided among sellers, with the request that is settled.
    pub split: Option<(ChargeId, TransactionRequestId)>,
    /// Who bears how much of it, or of how much less it is than the records say.
    pub borne: Borne,
}

impl Scope {
    /// Whether it is the own provider, whose fees, payouts and anticipations are posted by payouts: lines about them are compared.
    pub const fn is_own(&self) -> bool {
        matches!(self.provider_type, ProviderType::Platform)
    }

    /// Judges a line about all payments together.
    pub fn judge_without_payment(&self, line: Line) -> Judged {
        let verdict = if self.registered.is_none() {
            Verdict::Unassigned
        } else if line.kind.moves_a_charge() {
            Verdict::MissingHere
        } else if Currency::parse(&line.currency).is_none() {
            Verdict::ForeignCurrency
        } else if !line.parts.is_empty() {
            Verdict::Unassigned
        } else {
            let borne = vec![(line.seller_id, line.amount)];
            return Judged { verdict: Verdict::Matched, line: Some(line), ours: None, borne };
        };
        Judged::alone(verdict, line, None)
    }

    /// In whose books a line stands.
    fn books_of(&self, judged: &Judged) -> Option<Registered> {
        match &judged.ours {
            Some(ours) => Some(Registered {
                client_id: ours.client_id,
                merchant_id: ours.merchant_id,
                provider_id: ours.provider_id,
            }),
            None => self.registered,
        }
    }

    /// The seller that a line to be posted names, with the merchant who must have it.
    pub fn seller_of(&self, judged: &Judged) -> Option<(ClientId, MerchantId, SellerId)> {
        let seller_id = judged.line.as_ref()?.seller_id?;
        let Registered { client_id, merchant_id, .. } = self.books_of(judged)?;
        judged.verdict.is_posted().then_some((client_id, merchant_id, seller_id))
    }

    /// What is posted of a line; also where its entries are none, since something else may have been posted of it before.
    pub fn posting(&self, judged: Judged) -> Option<Posting> {
        if !judged.verdict.is_posted() {
            return None;
        }
        let registered = self.books_of(&judged)?;
        let Judged { line, ours, borne, .. } = judged;
        let split = ours.filter(|ours| ours.is_split).map(|ours| (ours.charge_id, ours.request_id));
        Some(Posting { line: line?, registered, provider_type: self.provider_type, split, borne })
    }
}

impl Judged {
    /// Takes the line for nobody's: it names a seller whom its merchant does not have.
    pub fn unassign(&mut self) {
        self.verdict = Verdict::Unassigned;
        self.borne.clear();
    }
}

impl Verdict {
    /// Whether something of a line is posted: what the provider alone knows, and by how much it differs from the records.
    /// What is missing on one side is left to the operator: it may come with the next file, or with the next answer of the
    /// provider.
    const fn is_posted(self) -> bool {
        match self {
            Self::Matched | Self::DifferingAmount | Self::DifferingParts => true,
            Self::MissingHere
            | Self::MissingThere
            | Self::Doubled
            | Self::SoldAgain
            | Self::ForeignCurrency
            | Self::Unassigned
            | Self::OnTheEdge => false,
        }
    }
}
