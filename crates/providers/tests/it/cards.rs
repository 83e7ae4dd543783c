//! The published test cards behave as the table says (`docs/interface/sandbox.md#cards`).

use regente_domain::decline::DeclinedCode;
use regente_providers::outcome::{Answer, UnknownReason};
use regente_providers::sandbox::Books;

use crate::support::{charge, key, providers};

#[derive(Clone, Copy)]
enum Expected {
    Approved,
    Silent,
    ApprovedOrSilent,
    Declined(DeclinedCode, &'static str, bool),
}

/// A column of the table: what it promises, and its number and security code for each of the five brands.
type Column = (Expected, [(&'static str, &'static str); 5]);

#[rustfmt::skip]
const TABLE: [Column; 8] = [
    (Expected::Approved,
        [("5214254988499590", "220"), ("4916745120294124", "560"), ("371511430434941", "6560"),
         ("6062829302997360", "980"), ("36757624613710", "490")]),
    (Expected::Declined(DeclinedCode::Generic, "sandbox not authorized", true),
        [("5171407375927752", "300"), ("4916878170842862", "650"), ("346924402646172", "8460"),
         ("6062820734125142", "520"), ("30306641444422", "900")]),
    (Expected::Silent,
        [("5402839904300856", "130"), ("4485401945979546", "600"), ("372763217194656", "3290"),
         ("6062828660520236", "970"), ("30308603779936", "540")]),
    (Expected::ApprovedOrSilent,
        [("5491266201550748", "260"), ("4556613630132678", "850"), ("379769909235288", "3240"),
         ("6062827833068438", "720"), ("30392608411448", "410")]),
    (Expected::Declined(DeclinedCode::RestrictedCard, "sandbox blocked card", true),
        [("5521448129190195", "880"), ("4556684530238865", "440"), ("341033144189205", "4990"),
         ("6062825739079475", "530"), ("30089464740585", "180")]),
    (Expected::Declined(DeclinedCode::PickupCard, "sandbox canceled card", true),
        [("5597251149584267", "340"), ("4485406132091427", "170"), ("342582504975297", "6820"),
         ("6062824159779557", "480"), ("36176932295997", "660")]),
    (Expected::Declined(DeclinedCode::ExpiredCard, "sandbox expired card", true),
        [("5462320441541663", "830"), ("4532552729063643", "660"), ("377134064055173", "6240"),
         ("6062820196712783", "840"), ("38955717860903", "230")]),
    (Expected::Declined(DeclinedCode::InvalidCvv, "sandbox invalid cvv", false),
        [("5240675434648372", "231"), ("4716866286004545", "965"), ("340035263979895", "7552"),
         ("6062823576109778", "347"), ("30383606498545", "138")]),
];

#[tokio::test(start_paused = true)]
async fn every_published_test_card_does_what_its_column_says() {
    let books = Books::memory();
    let providers = providers(&books);
    let cards = TABLE.iter().flat_map(|(expected, cards)| cards.map(|card| (*expected, card)));
    for (place, (expected, (number, cvv))) in (0..).zip(cards) {
        let key = key(place);
        let answer = providers.call(charge(key, number, Some(cvv))).await;
        let entry = books.find(key).await.unwrap();
        match (expected, &answer) {
            (Expected::Approved | Expected::ApprovedOrSilent, Answer::Approved(_)) => {
                assert!(entry.is_some(), "{number} was approved and not written down");
            }
            (Expected::Silent | Expected::ApprovedOrSilent, Answer::Unknown(UnknownReason::TimedOut)) => {
                assert_eq!(entry, None, "{number} timed out, so nothing happened");
            }
            (Expected::Declined(code, reason, retryable), Answer::Declined(decline)) => {
                assert_eq!(decline.code, code, "{number}");
                assert_eq!(decline.network_denied_reason.as_deref(), Some(reason), "{number}");
                assert_eq!(decline.retryable, retryable, "{number}");
            }
            _ => panic!("{number} answered {answer:?}"),
        }
    }
    let declined =
        TABLE.iter().filter(|(expected, _)| matches!(expected, Expected::Declined(..))).count() * 5;
    assert_eq!(books.effects().await.unwrap(), books.entries().await.unwrap().len() - declined);
}
