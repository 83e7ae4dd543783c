//! Stories at the judge. In the end of each the provider's official package has no complaint about what was sent and
//! answered.

use std::time::Duration;

use regente_domain::boleto::{Fine, FineRate, Interest, InterestRate, LateCharges};
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::authentication::{Authenticated, Found};
use regente_domain::charge::{AdditionalInfo, Boleto, Credit, Recurrence, Voucher};
use regente_domain::currency::Currency;
use regente_domain::decline::DeclinedCode;
use regente_domain::payment_type::PaymentType;
use regente_domain::percentage::Percentage;
use regente_domain::time::parse_date;
use regente_providers::authentication::Proof;
use regente_providers::notification::{EventKind, EventSubject, ProviderEvent};
use regente_providers::outcome::{Answer, Finding, Instructions, Probe};
use regente_providers::provider::{CredentialsCheck, CredentialsRefusal, NotRefused, Providers};
use regente_providers::request::{FollowUp, Inquiry, Mode, OperationKind, Verification};
use serde_json::Map;

use super::judge::Judge;
use super::notifications::events_of;
use super::*;
use crate::support::{approved, at, card, card_source, declined};

pub(super) fn key(number: u128) -> Uuid {
    Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 + number)
}

pub(super) fn follow_up(transaction_id: Option<&str>, amount: i64, payment_type: PaymentType) -> FollowUp {
    FollowUp {
        authorization_key: KEY,
        transaction_id: transaction_id.map(str::to_owned),
        payment_type,
        amount: cents(amount),
        currency: Currency::BRL,
        // The adapter asks the provider.
        held: regente_providers::request::Held::Taken(cents(amount)),
        delay_to_compose: None,
        division: None,
    }
}

pub(super) async fn authorize(providers: &Providers, authorization: Authorization) -> Answer {
    providers.call(call(KEY, Operation::Authorize(authorization))).await
}

pub(super) async fn capture(providers: &Providers, number: u128, id: Option<&str>, amount: i64) -> Answer {
    let follow_up = follow_up(id, amount, PaymentType::Credit);
    providers.call(call(key(number), Operation::Capture(follow_up))).await
}

pub(super) async fn void(providers: &Providers, number: u128, id: Option<&str>, amount: i64) -> Answer {
    let follow_up = follow_up(id, amount, PaymentType::Credit);
    providers.call(call(key(number), Operation::Void(follow_up))).await
}

/// The same void, when nothing of an earlier try can be under way any more.
pub(super) async fn void_later(providers: &Providers, number: u128, id: Option<&str>, amount: i64) -> Answer {
    let follow_up = follow_up(id, amount, PaymentType::Credit);
    let call = call(key(number), Operation::Void(follow_up));
    providers.call(Call { at: call.at + Duration::from_secs(11 * 60), ..call }).await
}

pub(super) async fn probe(providers: &Providers, reference: Option<&str>, after: Duration) -> Probe {
    providers.probe(inquiry(KEY, OperationKind::Authorization, reference, after)).await
}

pub(super) fn inquiry(
    key: Uuid,
    operation: OperationKind,
    reference: Option<&str>,
    after: Duration,
) -> Inquiry {
    Inquiry {
        object_id: OBJECT,
        operation,
        reference: reference.map(str::to_owned),
        at: at() + after,
        provider_type: ProviderType::PagarmeV5,
        credentials: credentials("sk_test_1"),
        ..support::inquiry(key)
    }
}

pub(super) fn reserving(cvv: &str) -> Authorization {
    Authorization { capture: CaptureMode::Manual, ..card_authorization(cvv) }
}

pub(super) const SOON: Duration = Duration::from_secs(5);

#[track_caller]
pub(super) fn id_of(answer: Answer) -> String {
    approved(answer).transaction_id.unwrap()
}

pub(super) async fn no_complaint(judge: &Judge) {
    assert_eq!(judge.complaints().await, json!([]));
}

#[tokio::test]
async fn a_card_is_charged_read_back_and_refunded_in_parts() {
    let judge = Judge::start();
    let providers = judge.providers();
    let answer = authorize(&providers, card_authorization("123")).await;
    let charge = id_of(answer.clone());
    let Answer::Approved(approval) = answer else { unreachable!() };
    assert_eq!(approval.network_transaction_id.as_deref(), Some("network-7"));

    let found = Probe::Found(Finding::Approved(approval));
    assert_eq!(probe(&providers, Some(&charge), SOON).await, found);
    assert_eq!(probe(&providers, None, SOON).await, found, "by the code of the order");

    for (number, amount) in [(1, 400), (2, 400), (3, 700)] {
        approved(void(&providers, number, Some(&charge), amount).await);
    }
    let refused = declined(void(&providers, 4, Some(&charge), 100).await);
    assert_eq!(refused.code, DeclinedCode::TransactionNotAllowed);
    assert_eq!(judge.effects().await, (1, 0, 3));
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_divided_charge_is_captured_and_given_back() {
    let judge = Judge::start();
    let providers = judge.providers();
    let divided = Authorization { division: Some(asks::division(500)), ..reserving("123") };
    let charge = id_of(authorize(&providers, divided).await);
    let whole = follow_up(Some(&charge), 1500, PaymentType::Credit);
    let whole = FollowUp { division: Some(asks::division(500)), ..whole };
    approved(providers.call(call(key(1), Operation::Capture(whole.clone()))).await);
    approved(providers.call(call(key(2), Operation::Void(whole))).await);
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_reservation_is_captured_in_part_or_released() {
    let judge = Judge::start();
    let providers = judge.providers();
    let charge = id_of(authorize(&providers, reserving("123")).await);
    approved(capture(&providers, 1, Some(&charge), 700).await);
    // The charge keeps the code of its order: notifications lead back.
    let told = judge.notifications().await;
    let [event, _] = events_of(told.last().unwrap()).unwrap().try_into().unwrap();
    let ProviderEvent { about, what, .. } = event;
    assert_eq!(about, EventSubject::Call { object_id: OBJECT, key: KEY });
    assert!(matches!(what, EventKind::Outcome(Finding::Approved(_))), "{what:?}");
    approved(void(&providers, 2, Some(&charge), 700).await);
    no_complaint(&judge).await;

    let judge = Judge::start();
    let providers = judge.providers();
    let charge = id_of(authorize(&providers, reserving("123")).await);
    approved(void(&providers, 1, Some(&charge), 1500).await);
    let refused = declined(capture(&providers, 2, Some(&charge), 1500).await);
    assert_eq!(refused.network_denied_reason.as_deref(), Some("http 412"));
    assert_eq!(judge.effects().await, (1, 0, 1));
    no_complaint(&judge).await;
}

#[tokio::test]
async fn more_than_was_reserved_is_not_captured() {
    let judge = Judge::start();
    let providers = judge.providers();
    let charge = id_of(authorize(&providers, reserving("123")).await);
    declined(capture(&providers, 1, Some(&charge), 1501).await);
    approved(capture(&providers, 2, None, 1500).await);
    assert_eq!(judge.effects().await, (1, 1, 0));
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_card_is_refused_by_its_issuer_and_by_the_risk_analysis() {
    let judge = Judge::start();
    let answer = authorize(&judge.providers(), card_authorization("651")).await;
    let decline = declined(answer);
    assert_eq!(
        (decline.code, decline.network_denied_reason.as_deref()),
        (DeclinedCode::InsufficientFunds, Some("51"))
    );
    let found = probe(&judge.providers(), decline.transaction_id.as_deref(), SOON).await;
    assert!(matches!(found, Probe::Found(Finding::Declined(_))), "{found:?}");
    no_complaint(&judge).await;

    let judge = Judge::start();
    let mut buyer = payer();
    buyer.document.number = "111.111.111-11".to_owned();
    let suspected = Authorization { buyer: Some(Box::new(buyer)), ..card_authorization("123") };
    let decline = declined(authorize(&judge.providers(), suspected).await);
    assert_eq!(decline.code, DeclinedCode::FraudSuspect);
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_request_that_is_not_taken_has_no_effect() {
    let judge = Judge::start();
    let mut buyer = payer();
    buyer.email = None;
    let without = Authorization { buyer: Some(Box::new(buyer)), ..card_authorization("123") };
    let decline = declined(authorize(&judge.providers(), without).await);
    // The package's own schema refuses it first.
    assert_eq!(decline.network_denied_reason.as_deref(), Some("http 422"));
    assert_eq!(judge.effects().await, (0, 0, 0));
}

#[tokio::test]
async fn a_series_is_begun_with_3ds_and_goes_on_without_the_buyer() {
    let judge = Judge::start();
    let credit = |recurrence| {
        PaymentMethod::Credit(Credit { source: card_source(), installments: 1, recurrence: Some(recurrence) })
    };
    let answered = Authenticated {
        eci: Some("05".to_owned()),
        cavv: Some("AAAB".to_owned()),
        network_transaction_id: Some("ds-1".to_owned()),
        version: Some("2.2.0".to_owned()),
        ..Authenticated::bare(Found::Authenticated)
    };
    let first = Authorization {
        method: credit(Recurrence::Initial),
        proof: Some(Box::new(Proof::Answered(answered))),
        statement_descriptor: Some("Loja".to_owned()),
        ..card_authorization("123")
    };
    let network = approved(authorize(&judge.providers(), first).await).network_transaction_id;
    let later = Authorization {
        method: credit(Recurrence::Subsequent),
        network_transaction_id: network,
        instrument: Instrument::Card(card(CARD, None)),
        ..card_authorization("123")
    };
    approved(judge.providers().call(call(key(1), Operation::Authorize(later))).await);
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_voucher_is_charged() {
    let judge = Judge::start();
    let method = PaymentMethod::Voucher(Voucher { source: card_source(), items: None });
    let charge =
        id_of(authorize(&judge.providers(), Authorization { method, ..card_authorization("123") }).await);
    approved(void(&judge.providers(), 1, Some(&charge), 1500).await);
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_pix_is_paid_by_notification_and_refunded_later() {
    let judge = Judge::start();
    let providers = judge.providers();
    let additional_info = vec![AdditionalInfo { name: "Pedido".to_owned(), value: "7".to_owned() }];
    let method = Pix { source: payer_source(), expires_in: 900, additional_info, items: None };
    let pix = Authorization { method: PaymentMethod::Pix(method), ..pix_authorization() };
    let Answer::Pending(pending) = authorize(&providers, pix).await else { panic!("not pending") };
    assert!(matches!(pending.instructions, Instructions::QrCode { .. }));
    assert_eq!(pending.expires_at, regente_domain::time::Timestamp::parse("2026-01-01T00:15:00Z"));
    let charge = pending.reference.transaction_id.clone().unwrap();
    let found = probe(&providers, Some(&charge), SOON).await;
    assert_eq!(found, Probe::Found(Finding::Pending(pending)));

    judge.does(&format!("pay/{charge}")).await;
    let told = judge.notifications().await;
    let kinds: Vec<_> = told.iter().map(|body| body["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["charge.pending", "charge.paid"]);
    let [event] = events_of(&told[1]).unwrap().try_into().unwrap();
    assert_eq!(event.about, EventSubject::Call { object_id: OBJECT, key: KEY });
    let EventKind::Outcome(Finding::Paid(payments)) = event.what else { panic!("{:?}", event.what) };
    assert_eq!(payments[0].amount, cents(1500));
    assert_eq!(probe(&providers, Some(&charge), SOON).await, Probe::Found(Finding::Paid(payments)));

    // The refund is accepted; a repetition does not begin another.
    let refund = |number, amount| void(&providers, number, Some(&charge), amount);
    let Answer::Accepted(accepted) = refund(1, 500).await else { panic!("not accepted") };
    assert!(matches!(refund(1, 500).await, Answer::Accepted(_)));
    let ask =
        || providers.probe(inquiry(key(1), OperationKind::Void, accepted.transaction_id.as_deref(), SOON));
    assert!(matches!(ask().await, Probe::Found(Finding::Accepted(_))));
    judge.does(&format!("settle/{charge}")).await;
    assert!(matches!(ask().await, Probe::Found(Finding::Approved(_))));
    let told = judge.notifications().await;
    let events = events_of(told.last().unwrap()).unwrap();
    assert!(events.iter().any(|event| event.about == EventSubject::Call { object_id: OBJECT, key: key(1) }));
    assert!(matches!(refund(1, 500).await, Answer::Approved(_)));
    assert!(matches!(refund(2, 1000).await, Answer::Accepted(_)));
    assert_eq!(judge.effects().await, (1, 0, 2));
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_pix_that_nobody_pays_fails_or_is_canceled() {
    let judge = Judge::start();
    let Answer::Pending(pending) = authorize(&judge.providers(), pix_authorization()).await else { panic!() };
    let charge = pending.reference.transaction_id.unwrap();
    judge.does(&format!("expire/{charge}")).await;
    let found = probe(&judge.providers(), Some(&charge), SOON).await;
    assert!(matches!(found, Probe::Found(Finding::Declined(_))), "{found:?}");
    no_complaint(&judge).await;

    let judge = Judge::start();
    let Answer::Pending(pending) = authorize(&judge.providers(), pix_authorization()).await else { panic!() };
    let charge = pending.reference.transaction_id.unwrap();
    approved(void(&judge.providers(), 1, Some(&charge), 1500).await);
    let found = probe(&judge.providers(), Some(&charge), SOON).await;
    assert!(matches!(found, Probe::Found(Finding::Declined(_))), "{found:?}");
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_boleto_is_issued_and_paid_short() {
    let judge = Judge::start();
    let providers = judge.providers();
    let boleto = Boleto {
        source: payer_source(),
        due: parse_date("2027-01-05").unwrap(),
        instructions: Some("Pagar até o vencimento".to_owned()),
        late_charges: LateCharges {
            interest: Some(Interest {
                days: 1,
                rate: InterestRate::PercentagePerMonth(Percentage::from_hundredths(150)),
            }),
            fine: Some(Fine { days: 2, rate: FineRate::Amount(cents(250)) }),
        },
        items: None,
    };
    let late_charges = boleto.late_charges;
    let method = PaymentMethod::Boleto(Box::new(boleto));
    let Answer::Pending(pending) =
        authorize(&providers, Authorization { method, ..pix_authorization() }).await
    else {
        panic!("not pending")
    };
    let Instructions::Boleto(issued) = &pending.instructions else { panic!("{:?}", pending.instructions) };
    assert_eq!((issued.due.to_string().as_str(), issued.late_charges), ("2027-01-05", late_charges));
    let charge = pending.reference.transaction_id.unwrap();
    judge.does(&format!("underpay/{charge}")).await;
    let Probe::Found(Finding::Paid(payments)) = probe(&providers, Some(&charge), SOON).await else {
        panic!("not paid")
    };
    assert_eq!(payments[0].amount, cents(1400));
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_charge_that_is_analysed_is_decided_by_notification() {
    let judge = Judge::start();
    let providers = judge.providers();
    let slow = Authorization {
        instrument: Instrument::Card(card("4000000000000036", Some("123"))),
        ..card_authorization("123")
    };
    assert!(matches!(authorize(&providers, slow).await, Answer::Unknown(_)));
    assert_eq!(probe(&providers, None, SOON).await, Probe::Unknown, "it is not absent either");
    let told = judge.notifications().await;
    assert_eq!(events_of(&told[0]), Ok(vec![]));
    let charge = told[0]["data"]["id"].as_str().unwrap().to_owned();
    judge.does(&format!("finish/{charge}")).await;
    let told = judge.notifications().await;
    let [event, _] = events_of(told.last().unwrap()).unwrap().try_into().unwrap();
    assert_eq!(event.about, EventSubject::Call { object_id: OBJECT, key: KEY });
    assert!(matches!(event.what, EventKind::Outcome(Finding::Approved(_))), "{:?}", event.what);
    assert!(matches!(probe(&providers, None, SOON).await, Probe::Found(Finding::Approved(_))));
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_charge_back_is_told_and_nothing_is_given_back_after_it() {
    let judge = Judge::start();
    let charge = id_of(authorize(&judge.providers(), card_authorization("123")).await);
    judge.does(&format!("chargeback/{charge}")).await;
    let told = judge.notifications().await;
    let [event] = events_of(told.last().unwrap()).unwrap().try_into().unwrap();
    assert!(matches!(event.what, EventKind::Reversal(_)), "{:?}", event.what);
    declined(void(&judge.providers(), 1, Some(&charge), 1500).await);
    no_complaint(&judge).await;
}

#[tokio::test]
async fn a_card_is_not_checked_without_a_charge() {
    let judge = Judge::start();
    let verification =
        Verification { currency: Currency::BRL, card: card(CARD, Some("123")), merchant_mcc: None };
    let decline = declined(judge.providers().call(call(KEY, Operation::VerifyCard(verification))).await);
    assert!(decline.retryable);
    let found = judge.providers().probe(inquiry(KEY, OperationKind::ZeroDollar, None, SOON)).await;
    assert_eq!(found, Probe::Absent);
    assert_eq!(judge.effects().await, (0, 0, 0));
}

#[tokio::test]
async fn wrong_credentials_are_told_at_registration_and_refuse_charges() {
    let judge = Judge::start();
    let providers = judge.providers();
    let check = async |secret_key: &str, mode| {
        let check = CredentialsCheck { credentials: credentials(secret_key), options: Map::new(), mode };
        providers.check_credentials(ProviderType::PagarmeV5, check).await
    };
    let refusal = |problem| Err(CredentialsRefusal { member: "secretKey", problem });
    assert_eq!(check("sk_test_1", Mode::Sandbox).await, Ok(NotRefused::Accepted));
    assert_eq!(check("sk_live", Mode::Production).await, Ok(NotRefused::Accepted));
    assert_eq!(check("sk_test_wrong", Mode::Sandbox).await, refusal("is not accepted by the provider"));
    let blocked = refusal("is not accepted by the provider from this address");
    assert_eq!(check("sk_test_blocked", Mode::Sandbox).await, blocked);
    let live = refusal("must be a key for tests: any other moves money");
    assert_eq!(check("sk_live", Mode::Sandbox).await, live);
    assert_eq!(check("sk_test_1", Mode::Production).await, refusal("must not be a key for tests"));

    for secret_key in ["sk_test_wrong", "sk_test_blocked"] {
        let authorization = Operation::Authorize(card_authorization("123"));
        let denied = Call { credentials: credentials(secret_key), ..call(KEY, authorization) };
        let decline = declined(providers.call(denied).await);
        assert_eq!((decline.code, decline.retryable), (DeclinedCode::InvalidMerchant, true));
    }
    assert_eq!(judge.effects().await, (0, 0, 0));
    no_complaint(&judge).await;
}
