//! What is reported of a payment after it was taken: a table of every state and every kind, and what repeated, late and
//! reordered reports lead to.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::attempt::{Asks, Outcome, RequestType, TransactionRequest};
use regente_domain::charge::reversal::{
    Doubt, Reversal, ReversalKind, ReversalReason, ReversalVerdict, counting,
};
use regente_domain::charge::{
    Charge, ChargeEvent, ChargeState, Held, OpenOperation, SecurityCode, StateName,
};
use regente_domain::currency::Currency;
use regente_domain::money::Amount;
use regente_domain::routing::explanation::Stopped;
use regente_domain::time::Timestamp;

use super::{NOW, SANDBOX, approved, authorization, charge, id, of_payer, request};

use ReversalKind::{ChargeBackReversed, ChargedBack, DisputeLost, DisputeOpened, DisputeWon, RefundReverted};
use ReversalReason::{MoreThanRefunded, NoSuchDispute, OtherPayment, UnderWay};

const ALL: [ReversalKind; 5] = [DisputeOpened, DisputeWon, DisputeLost, ChargedBack, RefundReverted];

fn amount(minor_units: i64) -> Amount {
    Amount::new(minor_units).unwrap()
}

fn reversal(kind: ReversalKind, id: &str) -> Reversal {
    Reversal::new(kind, id.to_owned(), None)
}

fn of(kind: ReversalKind, id: &str, minor_units: i64) -> Reversal {
    Reversal { amount: Some(amount(minor_units)), ..reversal(kind, id) }
}

/// A charge with its requests, to which things happen.
#[derive(Clone)]
pub(super) struct Story {
    pub(super) charge: Charge,
    pub(super) requests: Vec<TransactionRequest>,
}

impl Story {
    /// A charge of 150 that was authorized.
    pub(super) fn taken() -> Self {
        let requests = vec![authorization(0, approved())];
        let charge = charge().approve(SANDBOX, amount(150), NOW).unwrap().charge;
        Self { charge, requests }
    }

    /// One in this state, with the requests that lead to it.
    pub(super) fn in_state(name: StateName) -> Self {
        let responsible = SANDBOX;
        let open = |before| OpenOperation { ordinal: 1, amount: amount(150), before };
        let mut story = Self::taken();
        story.charge.state = match name {
            StateName::Processing => ChargeState::Processing,
            StateName::AwaitingPayer => {
                ChargeState::AwaitingPayer { responsible, security_code: SecurityCode::NotNeeded }
            }
            StateName::PreAuthorized => ChargeState::PreAuthorized { responsible },
            StateName::CapturePending => {
                ChargeState::CapturePending { responsible, open: open(Held::Reserved) }
            }
            StateName::Authorized => ChargeState::Authorized { responsible },
            StateName::RefundPending => ChargeState::RefundPending { responsible, open: open(Held::Taken) },
            StateName::RefundAccepted => ChargeState::RefundAccepted { responsible, open: open(Held::Taken) },
            StateName::Failed => ChargeState::Failed { responsible },
            StateName::Canceled => ChargeState::Canceled { responsible },
            StateName::Voided => return story.refunded(150),
            StateName::ChargedBack => {
                story.happens(&reversal(ChargedBack, "before"));
                return story;
            }
        };
        story
    }

    /// After a refund of this amount.
    pub(super) fn refunded(mut self, minor_units: i64) -> Self {
        let refund = amount(minor_units);
        let void = Asks::about(&self.requests[0], RequestType::Void, refund);
        self.requests.push(request(self.requests.len() as u128, void, approved()));
        self.charge.requests += 1;
        self.charge.amount = self.charge.amount.minus(refund).unwrap();
        if self.charge.amount == Amount::ZERO {
            self.charge.state = ChargeState::Voided { responsible: SANDBOX };
        }
        self
    }

    fn verdict(&self, reversal: &Reversal) -> ReversalVerdict {
        self.charge.reverse(&self.requests, &self.requests[0], reversal, NOW)
    }

    /// It is reported; what was announced.
    fn happens(&mut self, reversal: &Reversal) -> Option<ChargeEvent> {
        let ReversalVerdict::Applies(reversed) = self.verdict(reversal) else { return None };
        let recorded = reversed.request(id(900 + self.requests.len() as u128));
        assert_eq!(recorded.ordinal, self.charge.requests, "it is the newest request");
        assert_eq!(reversed.transition.charge.requests, self.charge.requests + 1);
        assert_eq!(reversed.transition.charge.version, self.charge.version + 1);
        assert!(matches!(recorded.outcome, Outcome::Approved(_)));
        self.requests.push(recorded);
        self.charge = reversed.transition.charge.clone();
        reversed.transition.announces
    }

    fn is_disputed(&self) -> bool {
        self.charge.is_disputed(&self.requests)
    }

    /// What a merchant sees.
    fn shown(&self) -> (&'static str, i64, bool) {
        (self.charge.state.status().word(), self.charge.amount.minor_units(), self.is_disputed())
    }
}

/// `-` refused, `~` too early, `=` known, otherwise the state that follows.
fn sign(story: &Story, reversal: &Reversal) -> &'static str {
    match story.verdict(reversal) {
        ReversalVerdict::Applies(reversed) => reversed.transition.charge.state.name().word(),
        ReversalVerdict::Known => "=",
        ReversalVerdict::TooEarly(_) => "~",
        ReversalVerdict::Refused(_) => "-",
    }
}

#[test]
fn every_state_and_every_kind() {
    let table = |name: StateName| match name {
        StateName::Processing
        | StateName::AwaitingPayer
        | StateName::CapturePending
        | StateName::RefundPending
        | StateName::RefundAccepted => ["~", "~", "~", "~", "~"],
        StateName::PreAuthorized | StateName::Failed | StateName::Canceled => ["-", "-", "-", "-", "-"],
        StateName::Authorized => ["authorized", "~", "charged_back", "charged_back", "-"],
        StateName::Voided => ["~", "~", "~", "~", "authorized"],
        // Another case is recorded as well.
        StateName::ChargedBack => ["charged_back", "~", "charged_back", "charged_back", "-"],
    };
    for (_, name) in StateName::WORDS {
        let story = Story::in_state(*name);
        assert_eq!(ALL.map(|kind| sign(&story, &reversal(kind, "new"))), table(*name), "{}", name.word());
    }
    let mut disputed = Story::taken();
    assert_eq!(disputed.happens(&reversal(DisputeOpened, "case")), Some(ChargeEvent::Dispute));
    let of_the_case = |story: &Story| ALL.map(|kind| sign(story, &reversal(kind, "case")));
    assert_eq!(of_the_case(&disputed), ["=", "authorized", "charged_back", "charged_back", "-"]);
    // What is given back while it is disputed may be taken once more, and the dispute ends all the same.
    let refunded = disputed.clone().refunded(150);
    assert_eq!(of_the_case(&refunded), ["=", "voided", "charged_back", "charged_back", "authorized"]);
    assert_eq!(sign(&disputed.refunded(50), &reversal(RefundReverted, "new")), "authorized");
    // The case that has taken the money can be decided for the merchant still.
    let taken = Story::in_state(StateName::ChargedBack);
    let of_the_case = ALL.map(|kind| sign(&taken, &reversal(kind, "before")));
    assert_eq!(of_the_case, ["=", "authorized", "=", "=", "-"]);
}

#[test]
fn a_charge_that_has_expired_may_be_paid_all_the_same() {
    let mut story = Story::in_state(StateName::Failed);
    story.charge.explanation.stopped = Some(Stopped::Expired);
    assert_eq!(story.verdict(&reversal(ChargedBack, "new")), ReversalVerdict::TooEarly(UnderWay));
}

#[test]
fn a_dispute_is_open_until_it_is_decided() {
    let mut story = Story::taken();
    let opened = of(DisputeOpened, "case", 100);
    assert_eq!(story.happens(&opened), Some(ChargeEvent::Dispute));
    assert_eq!(story.shown(), ("authorized", 150, true));
    assert_eq!(story.requests[1].request_type, RequestType::Dispute);
    assert_eq!((story.requests[1].amount, story.requests[1].transaction_id()), (amount(100), Some("case")));
    let other = reversal(DisputeWon, "another case");
    assert_eq!(story.verdict(&other), ReversalVerdict::TooEarly(NoSuchDispute));
    assert_eq!(story.happens(&reversal(DisputeWon, "case")), Some(ChargeEvent::DisputeClosed));
    assert_eq!(story.shown(), ("authorized", 150, false));
    assert_eq!(story.requests[2].request_type, RequestType::DisputeClosed);
    assert_eq!(story.requests[2].amount, amount(100), "what was disputed");
    assert_eq!(story.verdict(&opened), ReversalVerdict::Known, "it is over");
    // Another one is another one.
    story.happens(&reversal(DisputeOpened, "second"));
    story.happens(&reversal(DisputeOpened, "third"));
    story.happens(&reversal(DisputeWon, "second"));
    assert!(story.is_disputed(), "the third is open");
    assert_eq!(story.happens(&reversal(DisputeLost, "third")), Some(ChargeEvent::ChargedBack));
    assert_eq!(story.shown(), ("charged_back", 150, false));
}

#[test]
fn a_case_takes_the_money_once() {
    for first in [DisputeLost, ChargedBack] {
        let mut story = Story::taken().refunded(50);
        assert_eq!(story.happens(&reversal(first, "one")), Some(ChargeEvent::ChargedBack));
        assert_eq!(story.shown(), ("charged_back", 100, false), "the amount stays");
        assert_eq!(story.requests[2].request_type, RequestType::ChargeBack);
        assert_eq!(story.requests[2].amount, amount(100), "what was left");
        for again in [DisputeLost, ChargedBack] {
            assert_eq!(story.verdict(&reversal(again, "one")), ReversalVerdict::Known);
        }
        assert_eq!(story.verdict(&reversal(DisputeOpened, "one")), ReversalVerdict::Known, "it is over");
    }
}

#[test]
fn a_charge_back_can_be_reversed() {
    for (refunded, status) in [(0, "authorized"), (50, "authorized"), (150, "voided")] {
        let mut story = Story::taken();
        story.happens(&reversal(DisputeOpened, "case"));
        if refunded > 0 {
            story = story.refunded(refunded);
        }
        story.happens(&reversal(DisputeOpened, "other"));
        story.happens(&reversal(ChargedBack, "case"));
        let other = reversal(DisputeWon, "other");
        let is_open = if refunded < 150 { "charged_back" } else { "~" };
        assert_eq!(sign(&story, &other), is_open, "another case has taken the money");
        let won = of(DisputeWon, "case", 120);
        assert_eq!(story.happens(&won), Some(ChargeEvent::DisputeClosed));
        let is_disputed = refunded < 150;
        assert_eq!(story.shown(), (status, 150 - refunded, is_disputed), "the other dispute is open still");
        let newest = story.requests.last().unwrap();
        assert_eq!((newest.request_type, newest.amount), (RequestType::DisputeClosed, amount(120)));
        for again in [DisputeOpened, DisputeWon, ChargedBack] {
            assert_eq!(story.verdict(&reversal(again, "case")), ReversalVerdict::Known);
        }
        if refunded == 150 {
            continue;
        }
        // The bank decides once more, and so does the scheme.
        let lost = reversal(DisputeLost, "case");
        assert_eq!(story.happens(&lost), Some(ChargeEvent::ChargedBack));
        assert_eq!(story.verdict(&lost), ReversalVerdict::Known);
        assert_eq!(story.happens(&reversal(DisputeWon, "case")), Some(ChargeEvent::DisputeClosed));
        assert_eq!(story.shown(), ("authorized", 150 - refunded, true));
    }
}

/// A provider that is asked tells the whole story each time.
#[test]
fn of_a_story_that_is_told_again_the_last_end_counts() {
    let told = [
        reversal(DisputeOpened, "c"),
        reversal(DisputeLost, "c"),
        reversal(ChargedBack, "d"),
        of(RefundReverted, "r", 10),
        reversal(DisputeWon, "c"),
    ];
    let left: Vec<&Reversal> = counting(&told).collect();
    assert_eq!(left, [&told[0], &told[2], &told[3], &told[4]]);
    assert_eq!(counting(&told[..2]).count(), 2);
}

#[test]
fn a_reverted_refund_raises_the_amount() {
    // 100 → refund 10 → refund 90 → 10 come back.
    let base = || {
        let mut story = Story::taken();
        story.charge.amount = amount(100);
        story.requests[0].amount = amount(100);
        story
    };
    let mut voided = base().refunded(10).refunded(90);
    assert_eq!(voided.shown(), ("voided", 0, false));
    assert_eq!(voided.happens(&of(RefundReverted, "r", 10)), Some(ChargeEvent::RevertVoid));
    assert_eq!(voided.shown(), ("authorized", 10, false));
    assert_eq!(voided.requests[3].request_type, RequestType::RevertVoid);
    // 100 → 90 → 70 → 80.
    let mut part = base().refunded(10).refunded(20);
    part.happens(&of(RefundReverted, "r", 10));
    assert_eq!(part.shown(), ("authorized", 80, false));
    assert_eq!(part.verdict(&of(RefundReverted, "r", 10)), ReversalVerdict::Known);
    let too_much = ReversalVerdict::Refused(MoreThanRefunded);
    assert_eq!(part.verdict(&of(RefundReverted, "s", 21)), too_much, "20 are refunded still");
    assert_eq!(part.verdict(&of(RefundReverted, "s", 0)), too_much);
    assert_eq!(part.happens(&reversal(RefundReverted, "s")), Some(ChargeEvent::RevertVoid), "the rest");
    assert_eq!(part.shown(), ("authorized", 100, false));
    assert_eq!(part.verdict(&of(RefundReverted, "t", 1)), too_much, "nothing is refunded any more");
}

#[test]
fn what_comes_back_is_bounded_by_what_was_captured() {
    let mut story = Story::taken();
    story.charge.capture = CaptureMode::Manual;
    story.requests[0].request_type = RequestType::PreAuthorization;
    let capture = Asks::about(&story.requests[0], RequestType::Capture, amount(100));
    story.requests.push(request(1, capture, approved()));
    story.charge.requests = 2;
    story.charge.amount = amount(100);
    let reverted = of(RefundReverted, "r", 1);
    assert_eq!(story.verdict(&reverted), ReversalVerdict::Refused(MoreThanRefunded), "50 were released");
    let mut story = story.refunded(30);
    assert_eq!(story.verdict(&of(RefundReverted, "r", 31)), ReversalVerdict::Refused(MoreThanRefunded));
    assert!(story.happens(&of(RefundReverted, "r", 30)).is_some());
    assert_eq!(story.shown(), ("authorized", 100, false));
}

#[test]
fn only_the_payment_of_the_charge_is_meant() {
    let mut story = Story::taken();
    let instructed = authorization(0, super::instructed(None));
    let (first, second) = (of_payer(1, approved()), of_payer(2, approved()));
    story.requests = vec![instructed, first, second];
    story.charge.requests = 3;
    let about = |place: usize| {
        story.charge.reverse(&story.requests, &story.requests[place], &reversal(ChargedBack, "c"), NOW)
    };
    assert!(matches!(about(0), ReversalVerdict::Applies(_)), "the request with the instructions");
    assert!(matches!(about(1), ReversalVerdict::Applies(_)), "the payment");
    assert_eq!(about(2), ReversalVerdict::Refused(OtherPayment), "it is given back by itself");
    let story = Story::taken().refunded(50);
    let about_the_refund =
        story.charge.reverse(&story.requests, &story.requests[1], &reversal(RefundReverted, "r"), NOW);
    assert!(matches!(about_the_refund, ReversalVerdict::Applies(_)), "a refund of the payment");
}

/// Reports of one case in every order, each as often as it is told, lead to one end.
#[test]
fn the_order_of_reports_does_not_matter() {
    let told = [reversal(DisputeOpened, "c"), reversal(DisputeLost, "c"), reversal(ChargedBack, "c")];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut story = Story::taken();
        let mut events = Vec::new();
        for place in order.into_iter().chain(order) {
            events.extend(story.happens(&told[place]));
        }
        assert_eq!(story.shown(), ("charged_back", 150, false), "{order:?}");
        assert_eq!(events.iter().filter(|event| **event == ChargeEvent::ChargedBack).count(), 1);
    }
    // The end of a dispute waits for its opening.
    let (opened, won) = (reversal(DisputeOpened, "c"), reversal(DisputeWon, "c"));
    let mut story = Story::taken();
    let events: Vec<ChargeEvent> =
        [&won, &opened, &won, &opened].map(|told| story.happens(told)).into_iter().flatten().collect();
    assert_eq!(events, [ChargeEvent::Dispute, ChargeEvent::DisputeClosed]);
    assert_eq!(story.shown(), ("authorized", 150, false));
}

fn at(seconds: i64, reversal: Reversal) -> Reversal {
    Reversal { occurred_at: Some(Timestamp::from_millis(1_000 * seconds)), ..reversal }
}

/// Every order of these.
fn orders(told: &[Reversal]) -> Vec<Vec<Reversal>> {
    if told.is_empty() {
        return vec![Vec::new()];
    }
    let beginning_with = |place: usize| {
        let mut rest = told.to_vec();
        let first = rest.remove(place);
        orders(&rest).into_iter().map(move |rest| [vec![first.clone()], rest].concat())
    };
    (0..told.len()).flat_map(beginning_with).collect()
}

/// What the lost cases have taken of a charge.
fn lost(story: &Story) -> i64 {
    if let ChargeState::ChargedBack { lost, .. } = &story.charge.state {
        return lost.unwrap_or(story.charge.amount).minor_units();
    }
    assert_eq!(story.charge.state.name(), StateName::Authorized);
    0
}

/// Reports come in every order, and again: what came too early has waited, what is old was sent once more.
#[test]
fn the_last_end_of_a_case_counts_in_whatever_order_it_is_heard() {
    let opened = at(1, reversal(DisputeOpened, "c"));
    let (lost_first, won) = (at(2, reversal(DisputeLost, "c")), at(3, reversal(DisputeWon, "c")));
    let lost_again = at(4, reversal(DisputeLost, "c"));
    let taken_at_once = at(3, reversal(ChargedBack, "c"));
    for (told, status) in [
        (vec![opened.clone(), lost_first.clone(), won.clone()], "authorized"),
        (vec![opened.clone(), lost_first.clone(), won.clone(), lost_again.clone()], "charged_back"),
        (vec![lost_first, won.clone(), lost_again], "charged_back"),
        // Of one moment the graver end counts.
        (vec![opened, won, taken_at_once], "charged_back"),
    ] {
        for order in orders(&told) {
            let mut story = Story::taken();
            for told in order.iter().chain(&order).chain(&order) {
                story.happens(told);
            }
            assert_eq!(story.shown(), (status, 150, false), "{order:?}");
            for told in &order {
                assert_eq!(story.verdict(told), ReversalVerdict::Known, "{told:?} of {order:?}");
            }
        }
    }
}

/// A provider without disputes shows the payment as taken, before it is charged back and after it has come back.
#[test]
fn a_payment_that_is_shown_as_taken_reverses_the_charge_back_before_it_alone() {
    let (taken_back, shown) =
        (at(2, reversal(ChargedBack, "c")), |time| at(time, reversal(ChargeBackReversed, "c")));
    let mut story = Story::taken();
    assert_eq!(story.verdict(&shown(1)), ReversalVerdict::Known, "nothing was taken back");
    story.happens(&taken_back);
    for old in [1, 2] {
        assert_eq!(story.verdict(&shown(old)), ReversalVerdict::Known, "it is older than the charge back");
    }
    assert_eq!(story.shown(), ("charged_back", 150, false));
    assert_eq!(story.happens(&shown(3)), Some(ChargeEvent::DisputeClosed));
    assert_eq!((story.shown(), lost(&story)), (("authorized", 150, false), 0));
    for again in [taken_back, shown(3), shown(4)] {
        assert_eq!(story.verdict(&again), ReversalVerdict::Known, "{again:?}");
    }
    assert_eq!(story.happens(&at(5, reversal(ChargedBack, "c"))), Some(ChargeEvent::ChargedBack));
}

#[test]
fn an_end_without_a_time_is_the_newest_of_its_case() {
    let mut story = Story::taken();
    story.happens(&at(9_000_000_000, reversal(ChargedBack, "c")));
    assert_eq!(story.happens(&reversal(DisputeWon, "c")), Some(ChargeEvent::DisputeClosed));
    assert_eq!(story.verdict(&at(9_000_000_000, reversal(ChargedBack, "c"))), ReversalVerdict::Known);
    assert_eq!(story.happens(&reversal(DisputeLost, "c")), Some(ChargeEvent::ChargedBack));
    assert_eq!(story.shown(), ("charged_back", 150, false));
}

#[test]
fn a_charge_is_charged_back_while_any_case_is_lost() {
    let one = at(1, of(ChargedBack, "one", 60));
    let (two, won) = (at(2, of(DisputeLost, "two", 50)), at(3, of(DisputeWon, "one", 60)));
    for order in orders(&[one.clone(), two.clone(), won.clone()]) {
        let mut story = Story::taken();
        for told in order.iter().chain(&order) {
            story.happens(told);
        }
        assert_eq!((story.shown(), lost(&story)), (("charged_back", 150, false), 50), "{order:?}");
    }
    let mut story = Story::taken();
    let mut sums = Vec::new();
    for told in [one, two, at(3, of(ChargedBack, "three", 100)), won, at(4, of(DisputeWon, "three", 100))] {
        assert!(story.happens(&told).is_some(), "each is told");
        sums.push(lost(&story));
    }
    assert_eq!(sums, [60, 110, 150, 150, 50], "never more than was left");
    assert_eq!(story.happens(&at(5, reversal(DisputeWon, "two"))), Some(ChargeEvent::DisputeClosed));
    assert_eq!((story.shown(), lost(&story)), (("authorized", 150, false), 0));
}

#[test]
fn a_case_is_about_no_more_than_was_taken_and_about_the_same_money() {
    for kind in [DisputeOpened, DisputeLost, ChargedBack] {
        let ReversalVerdict::Applies(reversed) = Story::taken().verdict(&of(kind, "c", 99_999_999)) else {
            panic!("{kind:?} applies");
        };
        assert_eq!((reversed.asks.amount, reversed.doubt), (amount(150), Some(Doubt::AboveThePayment)));
        let in_dollars = Reversal { currency: Currency::parse("USD"), ..of(kind, "c", 100) };
        let ReversalVerdict::Applies(reversed) = Story::taken().verdict(&in_dollars) else {
            panic!("{kind:?} applies");
        };
        assert_eq!((reversed.asks.amount, reversed.doubt), (amount(150), Some(Doubt::OtherCurrency)));
    }
    // A bank may take what was refunded already.
    let ReversalVerdict::Applies(reversed) = Story::taken().refunded(50).verdict(&of(ChargedBack, "c", 150))
    else {
        panic!("it applies");
    };
    assert_eq!((reversed.asks.amount, reversed.doubt), (amount(150), None));
    let in_dollars = Reversal { currency: Currency::parse("USD"), ..of(RefundReverted, "r", 10) };
    let refused = ReversalVerdict::Refused(ReversalReason::OtherCurrency);
    assert_eq!(Story::taken().refunded(50).verdict(&in_dollars), refused);
}

/// What a provider tells of several cases, some of it by the payment's id alone.
mod named {
    use std::time::Duration;

    use super::*;

    /// The provider's id of the payment.
    fn payment(story: &Story) -> String {
        story.requests[0].transaction_id().unwrap().to_owned()
    }

    fn at(reversal: Reversal, minutes: u64) -> Reversal {
        Reversal { occurred_at: Some(NOW + Duration::from_secs(60 * minutes)), ..reversal }
    }

    fn lost(story: &Story) -> Option<i64> {
        let ChargeState::ChargedBack { lost, .. } = story.charge.state else { return Some(0) };
        lost.map(Amount::minor_units)
    }

    #[test]
    fn what_names_the_payment_alone_is_about_the_case_of_its_sum() {
        let mut story = Story::taken();
        let unnamed = |story: &Story, kind, sum, minutes| at(of(kind, &payment(story), sum), minutes);
        story.happens(&at(of(ChargedBack, "one", 40), 1));
        story.happens(&at(of(ChargedBack, "two", 60), 2));
        assert_eq!(lost(&story), Some(100));
        let reversed = unnamed(&story, DisputeWon, 40, 3);
        story.happens(&reversed);
        assert_eq!(lost(&story), Some(60));
        assert_eq!(story.verdict(&reversed), ReversalVerdict::Known, "it is told once more");
        let of_no_case = unnamed(&story, DisputeWon, 50, 4);
        assert_eq!(story.verdict(&of_no_case), ReversalVerdict::TooEarly(NoSuchDispute));
        story.happens(&unnamed(&story, DisputeLost, 40, 5));
        assert_eq!(lost(&story), Some(100));
        assert_eq!(story.verdict(&unnamed(&story, DisputeWon, 40, 4)), ReversalVerdict::Known, "it is older");
    }

    #[test]
    fn a_case_whose_end_was_heard_before_its_name_is_counted_once() {
        let mut story = Story::taken();
        let again = at(of(DisputeLost, &payment(&story), 40), 3);
        story.happens(&again);
        for earlier in [at(of(DisputeOpened, "one", 40), 0), at(of(ChargedBack, "one", 40), 1)] {
            assert_eq!(story.verdict(&earlier), ReversalVerdict::Known, "{earlier:?}");
        }
        // One that begins after that end, and one of another sum, are others.
        story.happens(&at(of(ChargedBack, "two", 40), 4));
        assert_eq!(lost(&story), Some(80));
        story.happens(&at(of(ChargedBack, "three", 30), 2));
        assert_eq!(lost(&story), Some(110));
        story.happens(&at(of(DisputeWon, "one", 40), 5));
        assert_eq!(lost(&story), Some(70), "the first one has a name now");
    }

    #[test]
    fn of_several_cases_of_one_sum_the_operator_is_told() {
        let mut story = Story::taken();
        story.happens(&at(of(ChargedBack, "one", 40), 1));
        story.happens(&at(of(ChargedBack, "two", 40), 2));
        let reversed = at(of(DisputeWon, &payment(&story), 40), 3);
        let ReversalVerdict::Applies(applies) = story.verdict(&reversed) else { panic!("it counts") };
        assert_eq!(applies.doubt, Some(Doubt::OneOfSeveral));
        story.happens(&reversed);
        assert_eq!(lost(&story), Some(40));
        assert_eq!(story.verdict(&reversed), ReversalVerdict::Known, "it is told once more");
        let named = at(of(DisputeWon, "two", 40), 4);
        let ReversalVerdict::Applies(applies) = story.verdict(&named) else { panic!("it counts") };
        assert_eq!(applies.doubt, None);
    }
}
