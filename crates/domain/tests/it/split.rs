//! Divides amounts: by table, and by properties of any rules, refunds and refunds that come back.

use proptest::prelude::*;
use regente_domain::charge::attempt::{Asks, RequestType, TransactionRequest};
use regente_domain::charge::reversal::{Reversal, ReversalKind, ReversalVerdict};
use regente_domain::charge::{Charge, ChargeState, FollowUpKind, FollowUpRefusal};
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::percentage::Percentage;
use regente_domain::platform_fee::{FeeMethod, PlatformFee, Terms};
use regente_domain::provider_type::ProviderType;
use regente_domain::split::{
    Bears, Misfit, ReturnRefusal, RulesRefusal, SellerReturn, Share, Shares, Split, SplitRule, WholePercent,
    check,
};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::charge::{approved, authorization, charge, request};

const NOW: Timestamp = Timestamp::from_millis(1_774_278_758_379);
const SANDBOX: ProviderType = ProviderType::Sandbox;

fn amount(cents: i64) -> Amount {
    Amount::new(cents).unwrap()
}

fn percent(percent: u8) -> Share {
    Share::Percentage(WholePercent::new(percent).unwrap())
}

fn rules(shares: &[Share]) -> Vec<SplitRule> {
    let rule = |(n, share): (u128, &Share)| SplitRule {
        id: Id::new(Uuid::from_u128(n)),
        seller_id: Id::new(Uuid::from_u128(100 + n)),
        share: *share,
        bears: Bears::default(),
    };
    (0..).zip(shares).map(rule).collect()
}

fn fee(hundredths: u32, fixed: i64) -> PlatformFee {
    PlatformFee {
        rule_id: Id::new(Uuid::from_u128(1)),
        terms: Terms {
            percentage: Some(Percentage::from_hundredths(hundredths)),
            fixed_amount: Some(amount(fixed)),
            payment_method: FeeMethod::Default,
            installment: None,
        },
        applied_at: NOW,
    }
}

/// The cents of each seller, of the merchant and of the platform.
fn cents(shares: &Shares) -> (Vec<i64>, i64, i64) {
    let sellers = shares.sellers.iter().map(|share| share.minor_units()).collect();
    (sellers, shares.merchant.minor_units(), shares.fee.minor_units())
}

fn taken(split: Split, cents: i64) -> Charge {
    let state = ChargeState::Authorized { responsible: SANDBOX };
    let amount = amount(cents);
    Charge { state, amount, original_amount: amount, split: Some(Box::new(split)), ..charge() }
}

fn held(charge: &Charge) -> (Vec<i64>, i64, i64) {
    let split = charge.split.as_deref().unwrap();
    cents(&split.shares(charge.amount, charge.original_amount))
}

fn gives(seller: u128, cents: i64) -> SellerReturn {
    SellerReturn { seller_id: Id::new(Uuid::from_u128(100 + seller)), amount: amount(cents) }
}

fn refunded(charge: &Charge, cents: i64, given: &[SellerReturn]) -> Charge {
    let (open, _) = charge.open_giving_back(FollowUpKind::Void, Some(amount(cents)), given, NOW).unwrap();
    open.settle(NOW).unwrap().charge
}

#[test]
fn cents_go_to_those_who_lost_most_by_rounding() {
    let shares = |shares: &[Share], fee, of| {
        let split = Split::new(rules(shares), fee);
        cents(&split.shares(amount(of), amount(of)))
    };
    let thirds = [percent(33), percent(33)];
    assert_eq!(shares(&[percent(30), percent(20)], None, 10_000), (vec![3000, 2000], 5000, 0));
    assert_eq!(shares(&thirds, None, 100), (vec![33, 33], 34, 0));
    // 3.3, 3.3 and 3.4: the merchant lost most. 33.33, 33.33 and 34.34: the first rule comes first.
    assert_eq!(shares(&thirds, None, 10), (vec![3, 3], 4, 0));
    assert_eq!(shares(&[percent(50), percent(50)], None, 101), (vec![51, 50], 0, 0));
    assert_eq!(shares(&[percent(1)], None, 1), (vec![0], 1, 0));
    assert_eq!(
        shares(&[Share::Amount(amount(70)), Share::Amount(amount(29))], None, 100),
        (vec![70, 29], 1, 0)
    );
    // The fee comes first: 3.5 % of 10.01 is 35.035 cents, and 50 more.
    assert_eq!(shares(&[percent(50)], Some(fee(350, 50)), 1001), (vec![458], 458, 85));
    // Half a cent is rounded up.
    assert_eq!(fee(50, 0).of(amount(100)), amount(1));
    assert_eq!(fee(49, 0).of(amount(100)), amount(0));
}

#[test]
fn rules_that_cannot_stand_are_refused() {
    assert_eq!(check(&rules(&[percent(60), percent(40)])), Ok(()));
    assert_eq!(check(&rules(&[percent(60), percent(41)])), Err(RulesRefusal::AboveTheWhole));
    assert_eq!(check(&rules(&[percent(60), Share::Amount(amount(1))])), Err(RulesRefusal::Mixed));
    let mut twice = rules(&[percent(10), percent(20)]);
    twice[1].seller_id = twice[0].seller_id;
    assert_eq!(check(&twice), Err(RulesRefusal::SellerTwice(1)));

    let by_amount = Split::new(rules(&[Share::Amount(amount(60))]), Some(fee(0, 40)));
    assert_eq!(by_amount.fit(amount(100)), Ok(()));
    assert_eq!(by_amount.fit(amount(99)), Err(Misfit::SellersAbove { room: amount(59) }));
    assert_eq!(by_amount.fit(amount(40)), Err(Misfit::FeeNotBelow { fee: amount(40) }));
}

#[test]
fn a_capture_is_divided_anew() {
    let reserved = |split| {
        let state = ChargeState::PreAuthorized { responsible: SANDBOX };
        Charge { state, ..taken(split, 1000) }
    };
    let charge = reserved(Split::new(rules(&[percent(30)]), None));
    let (capturing, _) = charge.open(FollowUpKind::Capture, Some(amount(101)), NOW).unwrap();
    assert_eq!(held(&capturing), (vec![300], 700, 0), "nothing is captured yet");
    assert_eq!(held(&capturing.settle(NOW).unwrap().charge), (vec![30], 71, 0));

    let charge = reserved(Split::new(rules(&[Share::Amount(amount(300))]), None));
    let refusal = charge.open(FollowUpKind::Capture, Some(amount(299)), NOW).unwrap_err();
    assert_eq!(refusal, FollowUpRefusal::Split(Misfit::SellersAbove { room: amount(299) }));
    let (capturing, _) = charge.open(FollowUpKind::Capture, Some(amount(300)), NOW).unwrap();
    assert_eq!(held(&capturing.settle(NOW).unwrap().charge), (vec![300], 0, 0));
    // A reservation that was lowered in proportion stays so.
    let lowered = refunded(&charge, 500, &[]);
    assert_eq!(held(&lowered), (vec![150], 350, 0));
    let (capturing, _) = lowered.open(FollowUpKind::Capture, Some(amount(100)), NOW).unwrap();
    assert_eq!(held(&capturing.settle(NOW).unwrap().charge), (vec![30], 70, 0));
}

#[test]
fn a_refund_is_given_back_in_proportion_or_as_the_caller_says() {
    let charge = taken(Split::new(rules(&[percent(30), percent(20)]), Some(fee(0, 100))), 1100);
    assert_eq!(held(&charge), (vec![300, 200], 500, 100));
    assert_eq!(held(&refunded(&charge, 110, &[])), (vec![270, 180], 450, 90));

    let (open, _) =
        charge.open_giving_back(FollowUpKind::Void, Some(amount(110)), &[gives(1, 50)], NOW).unwrap();
    let returning = open.parts_returning().unwrap();
    assert_eq!((returning.merchant, returning.fee, returning.total()), (amount(50), amount(10), amount(110)));
    assert_eq!(held(&open), held(&charge), "nothing is given back yet");
    assert_eq!(open.withdraw(NOW).unwrap().charge.split, charge.split, "the provider refused");
    let as_said = open.settle(NOW).unwrap().charge;
    assert_eq!(held(&as_said), (vec![300, 150], 450, 90));
    // From then on in proportion to what is left.
    assert_eq!(held(&refunded(&as_said, 99, &[])), (vec![270, 135], 405, 81));
    // The platform gives back its part only as far as the sellers leave it to do.
    assert_eq!(held(&refunded(&charge, 110, &[gives(0, 110)])), (vec![190, 200], 500, 100));

    let refusal = |cents: i64, given: &[SellerReturn]| {
        charge.open_giving_back(FollowUpKind::Void, Some(amount(cents)), given, NOW).unwrap_err()
    };
    let wrong = FollowUpRefusal::Return;
    assert_eq!(refusal(110, &[gives(7, 1)]), wrong(ReturnRefusal::Seller(0)));
    assert_eq!(refusal(110, &[gives(0, 1), gives(0, 1)]), wrong(ReturnRefusal::Seller(1)));
    let more = ReturnRefusal::MoreThanLeft { index: 1, left: amount(200) };
    assert_eq!(refusal(900, &[gives(0, 1), gives(1, 201)]), wrong(more));
    assert_eq!(refusal(110, &[gives(0, 111)]), wrong(ReturnRefusal::MoreThanRefunded));
    let less = ReturnRefusal::LessThanRefunded { least: amount(500) };
    assert_eq!(refusal(1100, &[gives(0, 300), gives(1, 199)]), wrong(less));
    let whole = [gives(0, 300), gives(1, 200)];
    assert_eq!(held(&refunded(&charge, 1100, &whole)), (vec![0, 0], 0, 0));
    let unsplit = Charge { split: None, ..charge };
    let refusal = unsplit.open_giving_back(FollowUpKind::Void, None, &whole, NOW).unwrap_err();
    assert_eq!(refusal, wrong(ReturnRefusal::Seller(0)));
}

/// A refund of `cents`, with the request of it.
fn refund(
    charge: &Charge,
    requests: &mut Vec<TransactionRequest>,
    cents: i64,
    given: &[SellerReturn],
) -> Charge {
    let asks = Asks::about(&requests[0], RequestType::Void, amount(cents));
    requests.push(request(u128::try_from(charge.requests).unwrap(), asks, approved()));
    refunded(charge, cents, given)
}

/// A refund comes back, of which the provider says that it is that of this request.
fn come_back(charge: &Charge, requests: &mut Vec<TransactionRequest>, about: usize, cents: i64) -> Charge {
    let (kind, id) = (ReversalKind::RefundReverted, format!("case {}", requests.len()));
    let reversal = Reversal::new(kind, id, Some(amount(cents)));
    let ReversalVerdict::Applies(reversed) = charge.reverse(requests, &requests[about], &reversal, NOW)
    else {
        panic!("it applies")
    };
    requests.push(reversed.request(Id::new(Uuid::from_u128(900 + requests.len() as u128))));
    reversed.transition.charge
}

#[test]
fn a_refund_that_comes_back_comes_back_to_those_who_gave_it() {
    let sold = || {
        let charge = taken(Split::new(rules(&[percent(50), percent(30)]), None), 150);
        (charge, vec![authorization(0, approved())])
    };
    let (charge, mut requests) = sold();
    assert_eq!(held(&charge), (vec![75, 45], 30, 0));
    let charge = refund(&charge, &mut requests, 30, &[gives(0, 30)]);
    let charge = refund(&charge, &mut requests, 20, &[gives(1, 20)]);
    assert_eq!(held(&charge), (vec![45, 25], 30, 0));
    // The first one, in two parts; then the second one.
    let charge = come_back(&charge, &mut requests, 1, 20);
    assert_eq!(held(&charge), (vec![65, 25], 30, 0));
    let charge = come_back(&charge, &mut requests, 1, 10);
    assert_eq!(held(&charge), (vec![75, 25], 30, 0));
    let charge = come_back(&charge, &mut requests, 2, 20);
    assert_eq!(held(&charge), (vec![75, 45], 30, 0));

    // One in proportion between them, and one in proportion after them: each is its own.
    let (charge, mut requests) = sold();
    let charge = refund(&charge, &mut requests, 10, &[]);
    let charge = refund(&charge, &mut requests, 70, &[gives(0, 70)]);
    let charge = refund(&charge, &mut requests, 35, &[]);
    assert_eq!(held(&charge), (vec![0, 21], 14, 0));
    assert_eq!(held(&come_back(&charge, &mut requests.clone(), 1, 10)), (vec![5, 24], 16, 0));
    assert_eq!(held(&come_back(&charge, &mut requests.clone(), 2, 70)), (vec![70, 21], 14, 0));
    assert_eq!(held(&come_back(&charge, &mut requests.clone(), 3, 35)), (vec![0, 42], 28, 0));
    // The provider names the payment alone: to all who have given something back. Or more than the refund was.
    assert_eq!(held(&come_back(&charge, &mut requests.clone(), 0, 115)), (vec![75, 45], 30, 0));
    assert_eq!(held(&come_back(&charge, &mut requests.clone(), 2, 115)), (vec![75, 45], 30, 0));
    // The result of a refund that was accepted names the refund.
    let accepted = requests[2].id;
    let result = TransactionRequest { follows: Some(accepted), ..requests[3].clone() };
    requests[3] = result;
    assert_eq!(held(&come_back(&charge, &mut requests, 3, 70)), (vec![70, 21], 14, 0));
}

#[test]
fn what_was_stored_without_the_refunds_comes_back_in_proportion() {
    let charge = taken(Split::new(rules(&[percent(50), percent(30)]), None), 150);
    let charge = refunded(&charge, 30, &[gives(0, 30)]);
    let mut stored = serde_json::to_value(&charge.split).unwrap();
    assert!(stored["held"].as_object_mut().unwrap().remove("unevenly").is_some());
    let split: Split = serde_json::from_value(stored).unwrap();
    let charge =
        Charge { split: Some(Box::new(split.come_back(amount(30), Some(1)))), amount: amount(150), ..charge };
    assert_eq!(held(&charge), (vec![75, 45], 30, 0));
}

#[test]
fn what_was_captured_counts_of_a_lowered_reservation() {
    let state = ChargeState::PreAuthorized { responsible: SANDBOX };
    let charge = Charge { state, ..taken(Split::new(rules(&[percent(50)]), Some(fee(1000, 0))), 100) };
    let charged = |charge: &Charge| {
        let split = charge.split.as_deref().unwrap();
        cents(&split.charged(charge.amount, charge.original_amount))
    };
    let lowered = refunded(&charge, 20, &[]);
    let (capturing, _) = lowered.open(FollowUpKind::Capture, Some(amount(40)), NOW).unwrap();
    let captured = capturing.settle(NOW).unwrap().charge;
    assert_eq!((held(&captured), charged(&captured)), ((vec![18], 18, 4), (vec![18], 18, 4)));
    let refunded = refunded(&captured, 10, &[gives(0, 9)]);
    assert_eq!((held(&refunded), charged(&refunded)), ((vec![9], 18, 3), (vec![18], 18, 4)));
}

#[test]
fn a_chargeback_falls_on_the_liable_and_the_merchant() {
    let mut rules = rules(&[percent(30), percent(20)]);
    rules[1].bears.liable = Some(true);
    let charge = taken(Split::new(rules, Some(fee(0, 100))), 1100);
    let borne = charge.parts_on_charge_back();
    let sellers: Vec<i64> = borne.sellers.iter().map(|(_, part)| part.minor_units()).collect();
    assert_eq!((sellers, borne.merchant, borne.fee), (vec![0, 200], amount(800), amount(100)));
    assert_eq!(borne.total(), charge.amount);
}

fn some_rules() -> impl Strategy<Value = (Vec<SplitRule>, i64)> {
    let by_percentage =
        proptest::collection::vec(1_u8..=20, 1..=5).prop_map(|of| of.into_iter().map(percent).collect());
    let by_amount = proptest::collection::vec(1_i64..=300, 1..=5)
        .prop_map(|of| of.into_iter().map(|cents| Share::Amount(amount(cents))).collect());
    let shares = prop_oneof![by_percentage, by_amount];
    let total = prop_oneof![1600_i64..=1700, 1600_i64..=Amount::MINOR_UNITS_MAX];
    (shares.prop_map(|shares: Vec<Share>| rules(&shares)), total)
}

proptest! {
    /// The shares of anything, also of what a payer has paid too little, are the whole of it; each share is the exact one
    /// to less than a cent.
    #[test]
    fn shares_are_the_whole((rules, total) in some_rules(), fixed in 0_i64..50, paid in 0_i64..2000) {
        let split = Split::new(rules, Some(fee(125, fixed)));
        for of in [total, paid] {
            let shares = split.shares(amount(of), amount(total));
            prop_assert_eq!(shares.total(), amount(of));
            let room = i128::from(of - shares.fee.minor_units());
            for (rule, share) in split.rules.iter().zip(&shares.sellers) {
                let share = i128::from(share.minor_units());
                match rule.share {
                    Share::Percentage(percent) if split.fit(amount(of)).is_ok() => {
                        let exact = room * i128::from(percent.get());
                        prop_assert!((share * 100 - exact).abs() < 100);
                    }
                    Share::Amount(cents) if split.fit(amount(of)).is_ok() => {
                        prop_assert_eq!(share, i128::from(cents.minor_units()));
                    }
                    Share::Percentage(_) | Share::Amount(_) => {}
                }
            }
        }
    }

    /// However many refunds there are, nobody gets more by one, the shares stay the whole of what is left, and what each
    /// has left is the exact part of it to less than two cents.
    #[test]
    fn refunds_do_not_drift(
        (rules, total) in some_rules(),
        backs in proptest::collection::vec(1_u32..=1_000_000, 1..60),
    ) {
        let mut charge = taken(Split::new(rules, Some(fee(125, 3))), total);
        let whole = charge.split.as_deref().unwrap().shares(charge.amount, charge.amount);
        for millionths in backs {
            let left = charge.amount.minor_units();
            let back = i64::try_from(i128::from(left) * i128::from(millionths) / 5_000_000).unwrap();
            if back == 0 {
                continue;
            }
            let before = charge.parts();
            charge = refunded(&charge, back, &[]);
            let parts = charge.parts();
            prop_assert_eq!(parts.total(), charge.amount);
            prop_assert!(parts.merchant <= before.merchant && parts.fee <= before.fee);
            for ((_, now), (_, earlier)) in parts.sellers.iter().zip(&before.sellers) {
                prop_assert!(now <= earlier);
            }
            let now = i128::from(charge.amount.minor_units());
            for ((_, part), had) in parts.sellers.iter().zip(&whole.sellers) {
                let exact = i128::from(had.minor_units()) * now;
                let off = i128::from(part.minor_units()) * i128::from(total) - exact;
                prop_assert!(off.abs() < 2 * i128::from(total));
            }
        }
    }

    /// What a caller says, refunds that come back, and what is stored in between, in any order.
    #[test]
    fn histories_stay_whole(
        (rules, total) in some_rules(),
        steps in proptest::collection::vec((0_u8..4, 1_i64..=100, 0_usize..5), 1..30),
    ) {
        let mut charge = taken(Split::new(rules, Some(fee(125, 3))), total);
        let whole = charge.parts();
        for (kind, part, of) in steps {
            let portion = |whole: i64| i64::try_from(i128::from(whole) * i128::from(part) / 150).unwrap();
            let before = charge.parts();
            charge = match kind {
                0 | 1 => match portion(charge.amount.minor_units()) {
                    0 => continue,
                    back => {
                        let (seller, has) = before.sellers[of % before.sellers.len()];
                        let part = has.min(amount(back));
                        let given = SellerReturn { seller_id: seller, amount: part };
                        let given = if kind == 1 && part > Amount::ZERO { vec![given] } else { Vec::new() };
                        let open = charge.open_giving_back(FollowUpKind::Void, Some(amount(back)), &given, NOW);
                        match open {
                            Ok((open, _)) => {
                                prop_assert_eq!(open.parts_returning().unwrap().total(), amount(back));
                                open.settle(NOW).unwrap().charge
                            }
                            Err(refusal) => {
                                let of_given = matches!(refusal, FollowUpRefusal::Return(_));
                                prop_assert!(of_given && !given.is_empty());
                                continue;
                            }
                        }
                    }
                },
                2 => {
                    let returned = total - charge.amount.minor_units();
                    let to = amount(charge.amount.minor_units() + portion(returned));
                    let back = amount(to.minor_units() - charge.amount.minor_units());
                    let void = (of > 0).then(|| part % charge.requests);
                    let split = charge.split.as_deref().unwrap().come_back(back, void);
                    let risen = Charge { split: Some(Box::new(split)), amount: to, ..charge.clone() };
                    for ((_, now), (_, had)) in risen.parts().sellers.iter().zip(&whole.sellers) {
                        prop_assert!(now <= had, "nobody gets more than he gave");
                    }
                    for ((_, now), (_, earlier)) in risen.parts().sellers.iter().zip(&before.sellers) {
                        prop_assert!(now >= earlier);
                    }
                    risen
                }
                _ => {
                    let text = serde_json::to_string(&charge.split).unwrap();
                    Charge { split: serde_json::from_str(&text).unwrap(), ..charge }
                }
            };
            prop_assert_eq!(charge.parts().total(), charge.amount);
            prop_assert_eq!(charge.parts_on_charge_back().total(), charge.amount);
        }
    }
}
