//! The books of two providers. What they decide is chosen by the checker; here is only what follows from it.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::FollowUpKind;
use regente_domain::charge::attempt::{Approval, Outcome, TransactionRequest};
use regente_domain::charge::instructions::{Instructions, Pending};
use regente_domain::charge::reversal::ReversalKind;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::money::Amount;
use regente_domain::time::Timestamp;
use uuid::Uuid;

/// What a provider decides about a call when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Decision {
    /// Done: authorized, captured, given back.
    Yes,
    /// Refused; another provider may be asked.
    No,
    /// Refused for good.
    Never,
    /// An authorization waits for its payer, an operation is accepted.
    Later,
}

/// Money of a buyer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Money {
    Reserved,
    Taken,
    Back,
}

/// What a provider has of an authorization.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Authorization {
    pub key: Uuid,
    pub answer: Decision,
    pub capture: Capture,
    /// What was paid, first of all the authorization itself.
    pub payments: Vec<Money>,
    /// Those of them that were less than asked, by their places.
    pub less: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Capture {
    AtOnce,
    Later,
}

/// What a payer pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sum {
    Whole,
    Less,
}

/// A sum that is less than asked.
pub(crate) const LESS: i64 = 100;

/// What a provider has of a capture or void.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operation {
    pub key: Uuid,
    /// The authorization and its payment.
    on: Option<(usize, usize)>,
    kind: FollowUpKind,
    pub answer: Decision,
}

/// What a provider says of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Word {
    Absent,
    Waits,
    /// So many payments, and the places of those that were less than asked.
    Paid(u8, u8),
    Refused,
    RefusedForGood,
    Accepted,
    Done,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Bank {
    pub authorizations: Vec<Authorization>,
    pub operations: Vec<Operation>,
    /// Two disputes about the first payment of an authorization: how each stands.
    pub cases: [Option<ReversalKind>; 2],
    /// How much has happened in them.
    pub moments: u8,
}

pub(crate) fn payment_id(key: Uuid, place: usize) -> String {
    format!("{}/{place}", key.as_u128() % 9973)
}

impl Bank {
    pub(crate) fn authorize(&mut self, request: &TransactionRequest, mode: CaptureMode, decision: Decision) {
        let key = request.provider_key();
        if self.authorizations.iter().any(|known| known.key == key) {
            return;
        }
        let capture = match mode {
            CaptureMode::Automatic => Capture::AtOnce,
            CaptureMode::Manual => Capture::Later,
        };
        let mut taken = Authorization { key, answer: decision, capture, payments: Vec::new(), less: 0 };
        if decision == Decision::Yes {
            taken.pay(Sum::Whole);
        }
        self.authorizations.push(taken);
        self.authorizations.sort_by_key(|authorization| authorization.key);
        // The places of others may have moved.
        let place = self.authorizations.iter().position(|known| known.key == key).unwrap();
        for operation in &mut self.operations {
            if let Some((on, _)) = &mut operation.on {
                *on += usize::from(*on >= place);
            }
        }
    }

    /// Carries out a capture or void; a key that is known gets the answer that it got.
    pub(crate) fn operate(
        &mut self,
        request: &TransactionRequest,
        authorization: &TransactionRequest,
        kind: FollowUpKind,
        decision: Decision,
    ) {
        let key = request.provider_key();
        if self.operations.iter().any(|known| known.key == key) {
            return;
        }
        let named = request.undone_transaction_id.as_deref().or_else(|| authorization.transaction_id());
        let on = self.authorizations.iter().position(|known| known.key == authorization.provider_key());
        let on = on.and_then(|on| {
            let places = 0..self.authorizations[on].payments.len();
            let place = places.into_iter().find(|place| {
                named.is_none_or(|named| payment_id(self.authorizations[on].key, *place) == named)
            });
            Some((on, place?))
        });
        let holds = on.is_some_and(|(on, place)| match (kind, self.authorizations[on].payments[place]) {
            (FollowUpKind::Capture, Money::Reserved)
            | (FollowUpKind::Void, Money::Reserved | Money::Taken) => true,
            (FollowUpKind::Capture, Money::Taken | Money::Back) | (FollowUpKind::Void, Money::Back) => false,
        });
        let answer = if holds { decision } else { Decision::No };
        self.operations.push(Operation { key, on, kind, answer });
        if answer == Decision::Yes {
            self.carry_out(self.operations.len() - 1);
        }
    }

    fn carry_out(&mut self, place: usize) {
        let Operation { on, kind, .. } = self.operations[place];
        let Some((on, place)) = on else { return };
        self.authorizations[on].payments[place] = match kind {
            FollowUpKind::Capture => Money::Taken,
            FollowUpKind::Void => Money::Back,
        };
    }

    /// An operation that was accepted ends.
    pub(crate) fn settle(&mut self, place: usize, decision: Decision) {
        let holds = self.operations[place].on.is_some_and(|(on, of)| {
            self.authorizations[on].payments.get(of).is_some_and(|money| *money != Money::Back)
        });
        let decision = if holds { decision } else { Decision::No };
        self.operations[place].answer = decision;
        if decision == Decision::Yes {
            self.carry_out(place);
        }
    }

    pub(crate) fn word(&self, key: Uuid) -> Word {
        if let Some(known) = self.authorizations.iter().find(|known| known.key == key) {
            return match (known.payments.len(), known.answer) {
                (0, Decision::Later) => Word::Waits,
                (0, Decision::No) => Word::Refused,
                (0, Decision::Never | Decision::Yes) => Word::RefusedForGood,
                (paid, _) => Word::Paid(u8::try_from(paid).unwrap(), known.less),
            };
        }
        match self.operations.iter().find(|known| known.key == key).map(|known| known.answer) {
            None => Word::Absent,
            Some(Decision::Yes) => Word::Done,
            Some(Decision::Later) => Word::Accepted,
            Some(Decision::No | Decision::Never) => Word::Refused,
        }
    }

    /// Whether an authorization may still be refused: nothing of it was given back, and no capture rests on it.
    pub(crate) fn may_regret(&self, of: &Authorization) -> bool {
        let is_captured = of.capture == Capture::Later && of.payments == [Money::Taken];
        matches!(of.payments.as_slice(), [Money::Reserved | Money::Taken]) && !is_captured
    }

    pub(crate) fn regret(&mut self, place: usize) -> Uuid {
        let authorization = &mut self.authorizations[place];
        authorization.payments.clear();
        authorization.answer = Decision::Never;
        authorization.key
    }

    /// Whether a capture may still be refused: its money was not given back.
    pub(crate) fn may_regret_capture(&self, of: &Operation) -> bool {
        let money = of.on.map(|(on, place)| self.authorizations[on].payments.get(place));
        of.kind == FollowUpKind::Capture
            && of.answer == Decision::Yes
            && money.flatten() == Some(&Money::Taken)
    }

    pub(crate) fn regret_capture(&mut self, place: usize) -> Uuid {
        let Operation { on, key, answer, .. } = &mut self.operations[place];
        *answer = Decision::Never;
        if let Some((on, place)) = *on {
            self.authorizations[on].payments[place] = Money::Reserved;
        }
        *key
    }

    /// Whether a case has the money.
    pub(crate) fn is_lost(&self) -> bool {
        self.cases.contains(&Some(ReversalKind::DisputeLost))
    }

    /// What can happen next in a case.
    pub(crate) fn next_of(&self, case: usize) -> &'static [ReversalKind] {
        match self.cases[case] {
            None => &[ReversalKind::DisputeOpened],
            Some(ReversalKind::DisputeOpened) => &[ReversalKind::DisputeWon, ReversalKind::DisputeLost],
            Some(ReversalKind::DisputeWon) => &[ReversalKind::DisputeLost],
            Some(ReversalKind::DisputeLost) => &[ReversalKind::DisputeWon],
            Some(
                ReversalKind::ChargedBack | ReversalKind::ChargeBackReversed | ReversalKind::RefundReverted,
            ) => &[],
        }
    }

    /// The sum of a payment.
    pub(crate) fn sum(&self, key: Uuid, place: usize, asked: Amount) -> Amount {
        self.word(key).paid(place, asked)
    }

    /// All the money that the providers hold: of which key, which payment.
    pub(crate) fn held(&self) -> Vec<(Uuid, usize, Money)> {
        let of = |known: &Authorization| {
            let payments = known.payments.clone().into_iter().enumerate();
            let key = known.key;
            payments.filter(|(_, money)| *money != Money::Back).map(move |(place, money)| (key, place, money))
        };
        self.authorizations.iter().flat_map(of).collect()
    }
}

impl Authorization {
    pub(crate) fn pay(&mut self, sum: Sum) {
        if sum == Sum::Less {
            self.less |= 1 << self.payments.len();
        }
        self.payments.push(match self.capture {
            Capture::AtOnce => Money::Taken,
            Capture::Later => Money::Reserved,
        });
    }
}

impl Word {
    /// What was paid of `asked`.
    pub(crate) fn paid(self, place: usize, asked: Amount) -> Amount {
        match self {
            Self::Paid(_, less) if less & (1 << place) != 0 => Amount::new(LESS).unwrap(),
            _ => asked,
        }
    }
}

/// The outcomes of a request that its provider's word means: one for each payment.
pub(crate) fn outcomes(word: Word, key: Uuid, expires_at: Timestamp) -> Vec<Outcome> {
    let approval = |place| Approval { transaction_id: Some(payment_id(key, place)), ..Approval::default() };
    match word {
        Word::Absent => vec![Outcome::NoEffect(Decline::of(DeclinedCode::TryAgain))],
        Word::Waits => vec![Outcome::Pending(Box::new(Pending {
            reference: approval(0),
            instructions: Instructions::QrCode { data: String::new() },
            expires_at: Some(expires_at),
        }))],
        Word::Paid(paid, _) => {
            (0..usize::from(paid)).map(|place| Outcome::Approved(approval(place))).collect()
        }
        Word::Refused => vec![Outcome::Declined(Decline::of(DeclinedCode::TryAgain))],
        Word::RefusedForGood => vec![Outcome::Declined(Decline::of(DeclinedCode::StolenCard))],
        Word::Accepted => vec![Outcome::Accepted(Approval::default())],
        Word::Done => vec![Outcome::Approved(Approval::default())],
    }
}
