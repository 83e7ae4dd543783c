//! What is next about a charge, as a table of what its requests say.

mod analysis;
mod asked_on;
mod authentication;
mod elsewhere;
mod paid;
mod refunds;
mod reversal;
mod revoked;

use std::time::Duration;

use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::attempt::{
    Approval, Asks, Gone, Outcome, RequestStatus, RequestType, TransactionRequest, never_arrived, unpaid,
};
use regente_domain::charge::instructions::{Instructions, Pending};
use regente_domain::charge::{
    CardSource, Charge, ChargeEvent, ChargeState, ChargeStatus, Credit, EXPIRES_AFTER, Finish, FollowUpKind,
    Means, Next, PayerSource, PaymentMethod, Pix, SecurityCode, StateFacts, StateName, refused_voids,
};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::id::{Id, TransactionRequestId};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::explanation::{Considered, Explanation, Skipped, Stopped};
use regente_domain::routing::{self, Hop};
use regente_domain::time::Timestamp;
use uuid::Uuid;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_774_278_758_379);
pub(crate) const SANDBOX: ProviderType = ProviderType::Sandbox;
const MINUTE: Duration = Duration::from_secs(60);

const AT_ONCE: Means = Means::Complete { elapsed: Duration::ZERO, budget: MINUTE };

pub(crate) fn id<T>(n: u128) -> Id<T> {
    Id::new(Uuid::from_u128(n))
}

/// Three providers, the second of which cannot serve the charge.
pub(crate) fn charge() -> Charge {
    let considered = |(n, skipped)| Considered {
        provider_id: id(100 + n),
        provider_type: SANDBOX,
        priority: 1,
        skipped,
        circuit: None,
    };
    let considered = [(0_u128, None), (1, Some(Skipped::Currency)), (2, None)].map(considered).into();
    let method = PaymentMethod::Credit(Credit {
        source: CardSource::Card { card_id: id(4) },
        installments: 1,
        recurrence: None,
    });
    let price = (Amount::new(150).unwrap(), Currency::BRL);
    Charge {
        explanation: Explanation { considered, flow: None, stopped: None },
        ..Charge::new(id(1), id(2), id(3), method, price, CaptureMode::Automatic, NOW)
    }
}

pub(crate) fn hop(position: usize) -> Hop {
    Hop { position, provider_id: id(100 + position as u128), provider_type: SANDBOX }
}

pub(crate) fn request(n: u128, asks: Asks, outcome: Outcome) -> TransactionRequest {
    let charge = Charge { requests: i64::try_from(n).unwrap() + 1, ..charge() };
    charge.begin_request(id(200 + n), asks, NOW).end(outcome, None, NOW)
}

pub(crate) fn authorization(n: u128, outcome: Outcome) -> TransactionRequest {
    request(n, charge().authorization_at(hop(0)), outcome)
}

pub(crate) fn approved() -> Outcome {
    Outcome::Approved(Approval { transaction_id: Some("at the provider".to_owned()), ..Approval::default() })
}

pub(crate) fn declined() -> Outcome {
    Outcome::Declined(Decline::of(DeclinedCode::TryAgain))
}

pub(crate) fn instructed(expires_at: Option<Timestamp>) -> Outcome {
    Outcome::Pending(Box::new(Pending {
        reference: Approval { transaction_id: Some("pending".to_owned()), ..Approval::default() },
        instructions: Instructions::Redirect { url: "https://bank.example/authenticate".to_owned() },
        expires_at,
    }))
}

fn awaiting() -> Charge {
    charge().await_payer(SANDBOX, SecurityCode::Needed, NOW).unwrap().charge
}

/// What the payer has done since request 0 asked them to.
fn of_payer(n: u128, outcome: Outcome) -> TransactionRequest {
    let awaited = authorization(0, instructed(None));
    request(n, Asks::about(&awaited, RequestType::Authorization, awaited.amount), outcome)
}

fn failed(stopped: Stopped) -> Next {
    Next::Finish(Finish::Failed { by: SANDBOX, stopped })
}

#[test]
fn an_authorization_leads_on_by_how_it_ended() {
    let next = |outcome, means| charge().next(&[authorization(0, outcome)], means, NOW);
    assert_eq!(charge().next(&[], AT_ONCE, NOW), Next::Authorize(hop(0)));
    assert_eq!(next(Outcome::Open, AT_ONCE), Next::AwaitOutcome);
    assert_eq!(
        next(approved(), AT_ONCE),
        Next::Finish(Finish::Approved { by: SANDBOX, amount: charge().amount })
    );
    assert_eq!(next(declined(), AT_ONCE), Next::Authorize(hop(2)), "the second cannot serve the charge");
    assert_eq!(next(Outcome::NoEffect(never_arrived()), AT_ONCE), Next::Authorize(hop(2)));
    let stolen = Outcome::Declined(Decline::of(DeclinedCode::StolenCard));
    assert_eq!(next(stolen.clone(), AT_ONCE), failed(Stopped::NotRetryable));
    let too_late = Means::Complete { elapsed: MINUTE, budget: MINUTE };
    assert_eq!(next(declined(), too_late), failed(Stopped::BudgetUsedUp));
    let buyer_is_gone = Means::Incomplete(Stopped::Interrupted);
    assert_eq!(next(declined(), buyer_is_gone), failed(Stopped::Interrupted));
    assert_eq!(next(stolen, buyer_is_gone), failed(Stopped::NotRetryable));
    let last = Charge { position: 2, ..charge() };
    assert_eq!(last.next(&[authorization(0, declined())], AT_ONCE, NOW), failed(Stopped::NoProviderLeft));
}

#[test]
fn what_precedes_an_authorization_skips_no_provider() {
    // As an analysis of risk will stand there.
    let analysis = request(
        0,
        Asks { request_type: RequestType::ZeroDollar, ..charge().authorization_at(hop(0)) },
        approved(),
    );
    let second = Charge { requests: 2, ..charge() };
    assert_eq!(charge().next(std::slice::from_ref(&analysis), AT_ONCE, NOW), Next::Authorize(hop(0)));
    let requests = [analysis, authorization(1, declined())];
    assert_eq!(second.next(&requests, AT_ONCE, NOW), Next::Authorize(hop(2)));
    assert_eq!(second.try_next(&[], hop(2), NOW).unwrap().charge.position, 2);
}

#[test]
fn a_payer_is_waited_for_until_the_instructions_expire() {
    let until = NOW + MINUTE;
    let requests = [authorization(0, instructed(Some(until)))];
    assert_eq!(charge().next(&requests, AT_ONCE, NOW), Next::AwaitPayer { by: SANDBOX, until });
    assert_eq!(
        charge().next(&requests, AT_ONCE, until),
        Next::AwaitPayer { by: SANDBOX, until },
        "they are written first"
    );
    assert_eq!(awaiting().next(&requests, AT_ONCE, NOW), Next::AwaitPayer { by: SANDBOX, until });
    assert_eq!(awaiting().next(&requests, AT_ONCE, until), Next::Expire);
    let silent = [authorization(0, instructed(None))];
    let until = silent[0].updated_at + EXPIRES_AFTER;
    assert_eq!(awaiting().next(&silent, AT_ONCE, NOW), Next::AwaitPayer { by: SANDBOX, until });
}

#[test]
fn what_the_payer_does_decides() {
    let next = |outcome, means| {
        awaiting().next(&[authorization(0, instructed(None)), of_payer(1, outcome)], means, NOW)
    };
    assert_eq!(
        next(approved(), AT_ONCE),
        Next::Finish(Finish::Approved { by: SANDBOX, amount: charge().amount })
    );
    assert_eq!(next(declined(), AT_ONCE), Next::Authorize(hop(2)));
    assert_eq!(next(declined(), Means::Incomplete(Stopped::BudgetUsedUp)), failed(Stopped::BudgetUsedUp));
}

#[test]
fn a_payer_who_did_not_come_may_try_again_and_nobody_else_is_asked() {
    let awaited = authorization(0, instructed(None));
    for gone in [Gone::Expired, Gone::Withdrawn] {
        let refused = unpaid(&awaited, gone);
        assert_eq!((refused.code, refused.retryable), (DeclinedCode::Generic, true));
    }
    let ended = awaiting().without_payer(vec![awaited.clone()], &awaited, Gone::Expired, &|| id(8), NOW);
    let ended = ended.unwrap().unwrap();
    assert_eq!(ended.step.charge.state.status(), ChargeStatus::Failed);
    assert_eq!(ended.step.charge.explanation.stopped, Some(Stopped::Expired));
    assert_eq!(ended.step.next, None);
    let canceled = awaiting().without_payer(vec![awaited.clone()], &awaited, Gone::Withdrawn, &|| id(8), NOW);
    let canceled = canceled.unwrap().unwrap().step.charge;
    assert_eq!(canceled.explanation.stopped, Some(Stopped::Withdrawn));
    assert!(canceled.takes_late_payment());
}

#[test]
fn whoever_has_something_to_pay_with_is_given_nothing_else() {
    let source = PayerSource { customer_id: id(9) };
    let pix = Pix { source, expires_in: 3600, additional_info: Vec::new(), items: None };
    let by_payer = Charge { method: PaymentMethod::Pix(pix), ..awaiting() };
    let next = |charge: &Charge, requests: &[TransactionRequest]| charge.next(requests, AT_ONCE, NOW);
    let withdrawn = Outcome::Declined(Decline::of(DeclinedCode::Generic));
    let told = [authorization(0, instructed(None)), of_payer(1, withdrawn.clone())];
    assert_eq!(next(&by_payer, &told), failed(Stopped::StillPayable), "although it is retryable");
    assert_eq!(next(&awaiting(), &told), Next::Authorize(hop(2)), "a card pays at another provider");
    assert!(
        !by_payer
            .may_ask_on(&told[..1], &TransactionRequest { outcome: withdrawn.clone(), ..told[0].clone() })
    );
    let refused = [authorization(0, withdrawn)];
    assert_eq!(next(&by_payer, &refused), Next::Authorize(hop(2)), "nothing was given out");
}

#[test]
fn a_request_is_known_to_the_provider_by_the_key_it_was_sent_with() {
    let awaited = authorization(0, instructed(None));
    let paid = of_payer(1, approved());
    assert_eq!(paid.provider_key(), awaited.provider_key());
    let void = request(2, Asks::about(&paid, RequestType::Void, paid.amount), Outcome::Open);
    assert_ne!(void.provider_key(), awaited.provider_key());
    let requests = [awaited, paid.clone(), void.clone()];
    assert_eq!(charge().followed(&requests, &void), Some(&paid));
    let authorized = Charge {
        requests: 2,
        ..awaiting().with_one_more_request().approve(SANDBOX, charge().amount, NOW).unwrap().charge
    };
    let (opened, _) = authorized.open(FollowUpKind::Void, None, NOW).unwrap();
    let of_an_earlier_release = TransactionRequest { follows: None, ..void };
    assert_eq!(opened.followed(&requests, &of_an_earlier_release), Some(&paid));
    assert_eq!(
        requests.map(|request| request.status()),
        [RequestStatus::Success, RequestStatus::Success, RequestStatus::Running]
    );
}

#[test]
fn pending_is_two_states_and_only_one_of_them_is_no_answer() {
    let (processing, awaiting) = (charge(), awaiting());
    assert_eq!([&processing, &awaiting].map(|charge| charge.state.status()), [ChargeStatus::Pending; 2]);
    assert_eq!([&processing, &awaiting].map(|charge| charge.state.is_settled()), [false, true]);
    let shown: Vec<_> = StateName::shown_as(ChargeStatus::Pending).collect();
    assert_eq!(shown, [StateName::Processing, StateName::AwaitingPayer]);
    for (word, status) in ChargeStatus::WORDS {
        assert!(StateName::shown_as(*status).next().is_some(), "{word}");
    }
    let unsettled = StateName::WORDS.iter().filter(|(_, name)| !name.is_settled()).map(|(word, _)| *word);
    assert_eq!(unsettled.collect::<Vec<_>>(), ["pending", "capture_pending", "refund_pending"]);
}

#[test]
fn a_state_is_read_with_its_own_facts_and_no_others() {
    let part = ChargeState::ChargedBack { responsible: SANDBOX, lost: Some(charge().amount) };
    let all = [charge().state, awaiting().state, ChargeState::Failed { responsible: SANDBOX }, part];
    for state in all {
        assert_eq!(ChargeState::of(state.name(), state.responsible(), state.facts()), Some(state));
    }
    let none = StateFacts::default();
    assert_eq!(ChargeState::of(StateName::AwaitingPayer, Some(SANDBOX), none), None);
    assert_eq!(ChargeState::of(StateName::Authorized, None, none), None);
    let code = StateFacts { security_code: Some(SecurityCode::Needed), ..none };
    assert_eq!(ChargeState::of(StateName::Authorized, Some(SANDBOX), code), None);
}

#[test]
fn instructions_are_announced_and_what_awaits_a_payer_cannot_be_voided() {
    let transition = charge().await_payer(SANDBOX, SecurityCode::NotNeeded, NOW).unwrap();
    assert_eq!(transition.announces, None, "that of a card was announced when it was accepted");
    let source = PayerSource { customer_id: id(9) };
    let pix = Pix { source, expires_in: 3600, additional_info: Vec::new(), items: None };
    let paid_by_payer = Charge { method: PaymentMethod::Pix(pix), ..charge() };
    let instructed = paid_by_payer.await_payer(SANDBOX, SecurityCode::NotNeeded, NOW).unwrap();
    assert_eq!(instructed.announces, Some(ChargeEvent::Pending));
    assert_eq!(transition.charge.requests, 1);
    assert!(transition.charge.open(FollowUpKind::Void, None, NOW).is_err());
    let paid = transition.charge.with_one_more_request().approve(SANDBOX, charge().amount, NOW).unwrap();
    assert_eq!((paid.charge.state.status(), paid.charge.requests), (ChargeStatus::Authorized, 2));
}

#[test]
fn money_that_comes_late_makes_the_charge_good_or_is_given_back() {
    let found = |n| TransactionRequest { outcome: approved(), ..authorization(n, Outcome::Open) };
    let card = Charge {
        explanation: Explanation { stopped: Some(Stopped::Interrupted), ..charge().explanation },
        state: ChargeState::Failed { responsible: SANDBOX },
        ..charge()
    };
    let denied = authorization(0, Outcome::NoEffect(never_arrived()));
    let void = Next::Void { request: denied.id };
    assert_eq!(card.next_after_late(std::slice::from_ref(&denied), &found(0)), void);
    let undone = request(1, Asks::about(&denied, RequestType::Void, denied.amount), Outcome::Open);
    assert_eq!(card.next_after_late(&[denied.clone(), undone.clone()], &found(0)), Next::Rest);
    let refused = TransactionRequest { outcome: declined(), ..undone.clone() };
    assert_eq!(card.next_after_late(&[denied.clone(), refused], &found(0)), void);
    let refused = TransactionRequest { outcome: declined(), ..found(0) };
    assert_eq!(card.next_after_late(std::slice::from_ref(&denied), &refused), Next::Rest);
    let declined_at_once = authorization(0, declined());
    assert_eq!(card.next_after_late(std::slice::from_ref(&declined_at_once), &found(0)), void);
    assert_eq!(card.next_after_late(&[declined_at_once, undone], &found(0)), Next::Rest);

    let awaited = authorization(0, instructed(None));
    let unpaid = [awaited.clone(), of_payer(1, Outcome::Declined(unpaid(&awaited, Gone::Expired)))];
    let expired = awaiting().with_one_more_request().fail(SANDBOX, Stopped::Expired, NOW).unwrap().charge;
    let approve = Next::Finish(Finish::Approved { by: SANDBOX, amount: charge().amount });
    assert_eq!(expired.next_after_late(&unpaid, &found(0)), approve);
    let paid = expired.with_one_more_request().approve(SANDBOX, charge().amount, NOW).unwrap().charge;
    assert_eq!((paid.state.status(), paid.explanation.stopped), (ChargeStatus::Authorized, None));
    let twice = [unpaid[0].clone(), unpaid[1].clone(), of_payer(2, approved())];
    assert_eq!(paid.next_after_late(&twice, &found(0)), Next::Rest);
    // A payment without an id is known by the transfer, else by what was paid.
    let unnamed = |transfer: Option<&str>, minor_units| {
        let network_authorization_code = transfer.map(str::to_owned);
        let outcome = Outcome::Approved(Approval { network_authorization_code, ..Approval::default() });
        TransactionRequest { amount: Amount::new(minor_units).unwrap(), ..authorization(0, outcome) }
    };
    let pix = Pix {
        source: PayerSource { customer_id: id(7) },
        expires_in: 60,
        additional_info: Vec::new(),
        items: None,
    };
    let paid_by_payer = Charge { method: PaymentMethod::Pix(pix), ..paid.clone() };
    let further = Next::Void { request: found(0).id };
    let original = charge().amount.minor_units();
    assert_eq!(paid_by_payer.next_after_late(&twice, &unnamed(None, original)), Next::Rest);
    assert_eq!(paid_by_payer.next_after_late(&twice, &unnamed(None, original + 1)), further);
    let first = TransactionRequest { outcome: unnamed(Some("E1"), original).outcome, ..twice[2].clone() };
    let known = [unpaid[0].clone(), unpaid[1].clone(), first];
    assert_eq!(paid_by_payer.next_after_late(&known, &unnamed(Some("E1"), original)), Next::Rest);
    assert_eq!(paid_by_payer.next_after_late(&known, &unnamed(Some("E2"), original)), further);
    // Its provider had refused, and another one has taken the charge since.
    let other = [awaited, of_payer(1, declined()), authorization(2, approved())];
    assert_eq!(
        paid.next_after_late(&other, &found(0)),
        Next::Void { request: id::<_>(200) as TransactionRequestId }
    );
}

#[test]
fn a_void_of_an_orphan_names_what_it_undoes_and_keeps_its_reference() {
    let denied = authorization(0, Outcome::NoEffect(never_arrived()));
    let found = TransactionRequest { outcome: approved(), ..denied.clone() };
    let good = Charge { requests: 2, ..charge().approve(SANDBOX, charge().amount, NOW).unwrap().charge };
    let (after, void) = good.void_orphan(id(300), &found, NOW);
    assert_eq!((after.requests, after.version, &after.state), (3, good.version + 1, &good.state));
    assert_eq!((void.ordinal, void.follows, void.amount), (2, Some(denied.id), denied.amount));
    assert_eq!(void.undone_transaction_id.as_deref(), Some("at the provider"));
    let requests = [denied.clone(), authorization(1, approved()), void.clone()];
    assert_eq!(after.followed(&requests, &void), Some(&denied));

    let refused = TransactionRequest { outcome: declined(), ..void.clone() };
    let (after, again) = after.void_orphan_again(id(301), &refused, NOW);
    assert_eq!((again.ordinal, again.follows, again.provider_id), (3, void.follows, void.provider_id));
    assert_eq!(again.undone_transaction_id, void.undone_transaction_id);
    assert_ne!(again.provider_key(), void.provider_key(), "a provider repeats its refusal of a known key");
    let requests = [denied.clone(), authorization(1, approved()), refused, again.clone()];
    assert_eq!(refused_voids(&requests, again.follows), 1);
    assert_eq!(after.next_after_late(&requests, &found), Next::Rest, "one void is under way");
}

#[test]
fn a_void_of_an_earlier_release_undoes_the_denied_authorization_or_none() {
    let requests = [
        authorization(0, Outcome::NoEffect(never_arrived())),
        authorization(1, approved()),
        authorization(2, declined()),
    ];
    let void = |n| {
        request(
            n,
            Asks { follows: None, ..Asks::about(&requests[0], RequestType::Void, requests[0].amount) },
            Outcome::Open,
        )
    };
    let good = charge().approve(SANDBOX, charge().amount, NOW).unwrap().charge;
    assert_eq!(good.followed(&requests[..2], &void(2)), Some(&requests[0]), "the good payment stays");
    assert_eq!(good.followed(&requests, &void(3)), None, "nothing is guessed");
}

#[test]
fn records_that_do_not_say_where_the_route_stands_count_the_providers() {
    let route = charge().explanation;
    assert_eq!([0, 1, 2].map(|tried| routing::position_after(&route, tried)), [0, 2, 0]);
}
