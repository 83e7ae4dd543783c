//! What happens without a request: payers pay or do not, banks take back, what was received is carried out, and
//! notifications tell of it. Whoever drives the bank says when.

use std::time::Duration;

use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::books::{Capture, Case, CaseState, Face, Means, Payment, RefundState, Standing};
use super::faults::{Dice, Fault, Plan};
use super::news::{News, Notice, OfCapture, Seldom, ToDo};
use super::{Bank, Inner, adyen, pagarme_v5, stripe};

/// How long an order is shown as an error on the way to the acquirer.
const DENIES_FOR: Duration = Duration::from_secs(60);
/// How long it takes at least until a provider takes its word back.
const RETRACTS_AFTER: Duration = Duration::from_secs(60);
/// One card in so many is refused.
const ONE_REFUSED_IN: u64 = 7;
/// One of so many of what was received is refused when it is carried out.
const ONE_FAILS_IN: u64 = 12;

impl Bank {
    /// Takes what is to be sent, oldest first.
    pub fn notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.lock().notices)
    }

    /// Whether there is nothing to be sent, now or when what it denies is known and what it takes back is gone.
    pub fn is_quiet(&self) -> bool {
        let inner = self.lock();
        let is_over = |payment: &Payment| {
            let has_word = !payment.is_to_be_retracted() && payment.failing_capture().is_none();
            payment.denied_until.is_none() && has_word
        };
        inner.notices.is_empty() && inner.books.payments.iter().all(is_over)
    }

    /// What was not delivered is sent again, before anything newer.
    pub fn send_again(&self, mut notices: Vec<Notice>) {
        let mut inner = self.lock();
        notices.append(&mut inner.notices);
        inner.notices = notices;
    }

    /// The payer of a charge pays: what is asked, or this. Whether they have instructions.
    pub fn pay(&self, object_id: &str, amount: Option<i64>) -> bool {
        let now = self.now();
        let is_asked = |payment: &Payment| payment.waits_until().is_some_and(|until| now < until);
        self.with(object_id, is_asked, |inner, place| {
            let payment = &mut inner.books.payments[place];
            // The first provider takes nothing else than it has asked for.
            let amount = amount.filter(|_| payment.face != Face::Stripe).unwrap_or(payment.amount);
            payment.pay(amount);
            payment.last = "paid";
            let is_other = amount != payment.amount;
            inner.count(Seldom::OtherAmount, is_other);
            inner.tell(place, News::Paid);
        })
    }

    /// The payer of a Pix who has paid pays once more. At the second provider that is a payment with an id of its own; the
    /// third one adds it to the first, and the first one has no Pix.
    pub fn pay_again(&self, object_id: &str, amount: Option<i64>) -> bool {
        let is_paid = |payment: &Payment| {
            let is_kept = payment.face == Face::Adyen || payment.refunds.is_empty();
            payment.means == Means::Pix
                && payment.standing == Standing::Taken
                && !payment.is_paid_twice
                && is_kept
        };
        self.with(object_id, is_paid, |inner, place| {
            let number = inner.number();
            let payment = &mut inner.books.payments[place];
            let amount = amount.unwrap_or(payment.amount);
            payment.is_paid_twice = true;
            let place = match payment.face {
                Face::Adyen => {
                    let id = format!("PSP{number}");
                    let further = Payment { id, taken: amount, refunds: Vec::new(), ..payment.clone() };
                    inner.books.payments.push(further);
                    inner.books.payments.len() - 1
                }
                Face::Stripe | Face::PagarmeV5 => {
                    payment.pay(amount);
                    payment.added = amount;
                    place
                }
            };
            inner.count(Seldom::PaidTwice, true);
            inner.tell(place, News::Paid);
        })
    }

    /// The cardholder disputes a part of what was taken, or all of it.
    pub fn dispute(&self, object_id: &str, part: Option<i64>) -> bool {
        let is_taken = |payment: &Payment| {
            // The third provider has one case for a payment.
            let most = if payment.face == Face::PagarmeV5 { 1 } else { 2 };
            let can_be = payment.cases.len() < most && payment.under_way() == 0;
            payment.means == Means::Card && payment.undisputed() > 0 && can_be
        };
        self.with(object_id, is_taken, |inner, place| {
            let (id, at) = (format!("dp_{}", inner.number()), inner.now());
            let payment = &mut inner.books.payments[place];
            let kept = payment.undisputed();
            // The third provider tells of the end alone, and of no sum.
            let (amount, state) = match payment.face {
                Face::Stripe | Face::Adyen => (part.map_or(kept, |part| part.min(kept)), CaseState::Open),
                Face::PagarmeV5 => (kept, CaseState::Lost),
            };
            // Where what follows names the payment alone, cases of one sum cannot be told apart.
            let is_alike =
                payment.names_itself_alone() && payment.cases.iter().any(|case| case.amount == amount);
            if is_alike {
                return;
            }
            let case = payment.cases.len();
            let is_part = amount < kept;
            payment.cases.push(Case { id, amount, state, at, ends: u8::from(state != CaseState::Open) });
            let news = match state {
                CaseState::Open => News::CaseOpened(case),
                CaseState::Won | CaseState::Lost => News::CaseEnded(case),
            };
            inner.count(Seldom::PartDisputed, is_part);
            inner.count(Seldom::SecondCase, case > 0);
            inner.tell(place, news);
        })
    }

    /// A case of a charge ends, or its end is overturned.
    pub fn end_case(&self, object_id: &str, end: CaseState) -> bool {
        let now = self.now();
        let can_end = |payment: &Payment| payment.can_end(end, now).is_some();
        self.with(object_id, can_end, |inner, place| {
            let payment = &mut inner.books.payments[place];
            let number = payment.can_end(end, now).unwrap();
            let case = &mut payment.cases[number];
            let is_overturned = case.state != CaseState::Open;
            (case.state, case.at, case.ends) = (end, now, case.ends + 1);
            inner.count(Seldom::Overturned, is_overturned);
            inner.tell(place, News::CaseEnded(number));
        })
    }

    /// Something happens to a payment or two, whoever made them.
    pub fn live(&self) {
        let drawn = {
            let mut inner = self.lock();
            let payments = inner.books.payments.len() as u64;
            let Some(last) = payments.checked_sub(1) else { return };
            // Mostly to the latest ones.
            let back = inner.dice.below(payments.min(200));
            let place = usize::try_from(last - back).unwrap();
            let object_id = inner.books.payments[place].object_id.to_string();
            let some = i64::try_from(1 + inner.dice.below(500)).unwrap();
            let some = inner.dice.one_in(3).then_some(some);
            (object_id, inner.dice.below(8), some, inner.dice.one_in(2))
        };
        let (object_id, what, some, is_won) = drawn;
        match what {
            0..=3 => self.pay(&object_id, some),
            4 => self.dispute(&object_id, some),
            5 => self.end_case(&object_id, if is_won { CaseState::Won } else { CaseState::Lost }),
            6 => self.pay_again(&object_id, some),
            _ => false,
        };
    }

    /// What falls due by now: nobody has paid, the acquirer's answer is known.
    pub fn pass(&self) {
        self.lock().pass();
    }

    /// What was received is carried out.
    pub fn work(&self) {
        self.lock().work();
    }

    /// No more faults, and everything is carried out. Whether anything was left to do.
    pub fn finish(&self) -> bool {
        let mut inner = self.lock();
        inner.plan = Plan::Calm;
        let before = inner.told;
        inner.pass();
        inner.work();
        before != inner.told
    }

    fn now(&self) -> Timestamp {
        self.lock().now()
    }

    fn with(
        &self,
        object_id: &str,
        is_meant: impl Fn(&Payment) -> bool,
        then: impl FnOnce(&mut Inner, usize),
    ) -> bool {
        let object_id: Uuid = object_id.parse().unwrap();
        let mut inner = self.lock();
        let meant = |payment: &Payment| payment.object_id == object_id && is_meant(payment);
        let place = inner.books.payments.iter().position(meant);
        if let Some(place) = place {
            then(&mut inner, place);
        }
        place.is_some()
    }
}

impl Inner {
    /// Whether what can take time is done at once.
    pub(super) fn is_quick(&mut self) -> bool {
        self.plan == Plan::Calm || !self.dice.one_in(4)
    }

    /// Takes a payment up and decides it.
    pub(super) fn begin(&mut self, mut payment: Payment, until: Option<Timestamp>, fault: Fault) -> usize {
        let now = self.now();
        let is_refused = self.plan != Plan::Calm && self.dice.one_in(ONE_REFUSED_IN);
        let at_once = payment.is_captured_at_once;
        payment.standing = match until {
            Some(until) => Standing::Waiting { until },
            None if is_refused => Standing::Refused,
            None if at_once && fault == Fault::Undecided => Standing::Undecided,
            None if at_once => Standing::Taken,
            None => Standing::Reserved,
        };
        if payment.standing == Standing::Taken {
            (payment.taken, payment.last) = (payment.amount, "captured");
        }
        let is_approved = matches!(payment.standing, Standing::Taken | Standing::Reserved);
        payment.is_retracted = is_approved && fault == Fault::Retracts;
        if until.is_none() && fault == Fault::Denies {
            payment.denied_until = Some(now + DENIES_FOR);
        }
        let news = match payment.standing {
            Standing::Refused => Some(News::Refused),
            Standing::Waiting { .. } => Some(News::Waits),
            Standing::Undecided => None,
            Standing::Expired | Standing::Reserved | Standing::Taken | Standing::Released => {
                Some(News::Authorized)
            }
        };
        let is_told = payment.denied_until.is_none();
        let place = self.books.add(payment);
        if let Some(news) = news.filter(|_| is_told) {
            self.tell(place, news);
        }
        place
    }

    fn count(&mut self, what: Seldom, is_it: bool) {
        *self.met.entry(format!("{what:?}")).or_default() += u64::from(is_it);
    }

    pub(super) fn tell(&mut self, place: usize, news: News) {
        self.count(Seldom::TakenBack, matches!(news, News::Retracted));
        self.count(Seldom::CaptureTakenBack, matches!(news, News::CaptureRetracted(_)));
        let (now, number) = (self.now(), self.number());
        let payment = &self.books.payments[place];
        let bodies = match payment.face {
            Face::Stripe => stripe::events(payment, &news, number, now),
            Face::Adyen => adyen::events(payment, &news, now),
            Face::PagarmeV5 => pagarme_v5::events(payment, &news, number, now),
        };
        let is_needed = match (payment.face, &news) {
            (Face::Adyen, _)
            | (_, News::CaseOpened(_) | News::CaseEnded(_) | News::Retracted | News::Refunded(_)) => true,
            (Face::Stripe | Face::PagarmeV5, _) => false,
        };
        let (face, account) = (payment.face, payment.account.clone());
        let notice = |body| Notice { face, account: account.clone(), body, is_needed };
        self.notices.extend(bodies.into_iter().map(notice));
    }

    fn pass(&mut self) {
        let now = self.now();
        for place in 0..self.books.payments.len() {
            let payment = &mut self.books.payments[place];
            if payment.waits_until().is_some_and(|until| until <= now) {
                payment.standing = Standing::Expired;
                self.tell(place, News::Expired);
            } else if payment.denied_until.is_some_and(|until| until <= now) {
                payment.denied_until = None;
                let is_refused = payment.standing == Standing::Refused;
                self.tell(place, if is_refused { News::Refused } else { News::Authorized });
            }
        }
    }

    fn work(&mut self) {
        for to_do in std::mem::take(&mut self.to_do) {
            self.carry_out(to_do);
        }
        for place in 0..self.books.payments.len() {
            self.decide(place);
            for refund in 0..self.books.payments[place].refunds.len() {
                let fails = self.plan != Plan::Calm && self.dice.one_in(ONE_FAILS_IN);
                let payment = &mut self.books.payments[place];
                if payment.refunds[refund].state != RefundState::UnderWay {
                    continue;
                }
                // The third provider does not say which of its refunds has failed.
                let fails = fails && payment.face != Face::PagarmeV5;
                payment.refunds[refund].state = if fails { RefundState::Failed } else { RefundState::Done };
                payment.last = "partial_refunded";
                self.tell(place, News::Refunded(refund));
            }
        }
    }

    /// What was not decided is captured or refused; what is retracted is given up.
    fn decide(&mut self, place: usize) {
        let (is_refused, is_mostly, now) = (self.dice.one_in(2), !self.dice.one_in(4), self.now());
        let payment = &mut self.books.payments[place];
        let is_due = |since: Timestamp| now.since(since) >= RETRACTS_AFTER;
        if let Some(failing) = payment.failing_capture().filter(|capture| is_due(capture.at)) {
            let (id, reference) = (failing.id.clone(), failing.reference.clone());
            let amount = std::mem::take(&mut payment.taken);
            (payment.standing, payment.captured_by) = (Standing::Reserved, None);
            return self.tell(place, News::CaptureRetracted(OfCapture { id, reference, amount }));
        }
        let is_due = payment.is_to_be_retracted() && is_due(payment.at);
        match payment.standing {
            Standing::Undecided if is_refused => {
                (payment.standing, payment.is_retracted) = (Standing::Released, true);
                self.tell(place, News::Retracted);
            }
            Standing::Undecided => {
                (payment.standing, payment.taken, payment.last) =
                    (Standing::Taken, payment.amount, "captured");
                self.tell(place, News::Authorized);
            }
            Standing::Reserved | Standing::Taken if is_due => {
                // What it has captured by itself it gives up with the capture, or with the authorization.
                let is_of_capture = payment.face == Face::Adyen && payment.is_captured_at_once && is_mostly;
                let (id, reference) = (format!("CAP{}", payment.id), payment.reference.clone());
                let amount = std::mem::take(&mut payment.taken);
                payment.standing = Standing::Released;
                self.count(Seldom::OwnCaptureTakenBack, is_of_capture);
                let news = match is_of_capture {
                    true => News::CaptureRetracted(OfCapture { id, reference, amount }),
                    false => News::Retracted,
                };
                self.tell(place, news);
            }
            Standing::Refused
            | Standing::Waiting { .. }
            | Standing::Expired
            | Standing::Reserved
            | Standing::Taken
            | Standing::Released => {}
        }
    }

    fn carry_out(&mut self, to_do: ToDo) {
        let fails = self.plan != Plan::Calm && self.dice.one_in(ONE_FAILS_IN);
        match to_do {
            ToDo::Capture { place, id, reference, amount, fails: fails_later } => {
                let at = self.now();
                let by = Capture { id: id.clone(), reference: reference.clone(), at, fails: fails_later };
                let payment = &mut self.books.payments[place];
                let news = match fails || payment.capture(amount, by).is_err() {
                    true => News::CaptureFailed(OfCapture { id, reference, amount }),
                    false => News::Captured,
                };
                self.tell(place, news);
            }
            ToDo::Release { place, id, reference } => {
                let payment = &mut self.books.payments[place];
                let can_be = payment.standing == Standing::Reserved;
                let news = match fails || !can_be || payment.release().is_err() {
                    true => News::ReleaseFailed { id, reference },
                    false => News::Released { by: Some(reference) },
                };
                self.tell(place, news);
            }
            ToDo::Refund { place, id, reference, amount } => {
                let payment = &mut self.books.payments[place];
                let state = if fails { RefundState::Failed } else { RefundState::Done };
                if payment.refund(id.clone(), reference.clone(), amount, state).is_err() {
                    payment.refunds.push(super::books::Refund {
                        id,
                        reference,
                        amount,
                        state: RefundState::Failed,
                    });
                }
                let refund = payment.refunds.len() - 1;
                self.tell(place, News::Refunded(refund));
            }
        }
    }
}

/// What a driver draws of the way of notifications: each is delivered so often now.
pub fn deliveries(dice: &mut Dice) -> u64 {
    dice.pick(&[0, 1, 1, 1, 2])
}
