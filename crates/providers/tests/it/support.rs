//! What the tests share: calls with the parts that matter, and a simulator with known settings.

use regente_domain::capture_mode::CaptureMode;
use regente_domain::card::{CardNumber, Cvv, Expiry};
use regente_domain::charge::authentication::LiabilityShift;
use regente_domain::charge::{CardSource, Credit, PaymentMethod};
use regente_domain::currency::Currency;
use regente_domain::decline::Decline;
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_providers::outcome::{Answer, Approval};
use regente_providers::provider::Providers;
use regente_providers::request::{
    Authorization, Call, CardDetails, Credentials, FollowUp, Held, Inquiry, Instrument, Mode, Operation,
    OperationKind, Verification,
};
use regente_providers::sandbox::{CvvRule, Sandbox, SandboxOptions, TransactionLog};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;
use zeroize::Zeroizing;

/// A number whose last digit approves.
pub(crate) const APPROVED: &str = "4916745120294124";
/// A number that is never answered.
pub(crate) const TIMED_OUT: &str = "4485401945979546";
/// A number that is approved or never answered.
pub(crate) const APPROVED_OR_TIMED_OUT: &str = "4556613630132678";

pub(crate) const SEED: u64 = 7;

pub(crate) fn at() -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000)
}

/// A key that is the same in every run.
pub(crate) fn key(number: u128) -> Uuid {
    Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 + number)
}

pub(crate) fn sandbox_options(seed: u64) -> SandboxOptions {
    SandboxOptions::new(seed, Zeroizing::new(vec![9; 32]))
}

pub(crate) fn providers(log: &TransactionLog) -> Providers {
    Providers::with([Sandbox::new(sandbox_options(SEED), log.clone()).into_adapter()])
}

pub(crate) fn providers_that_ignore_cvv() -> Providers {
    let options = SandboxOptions { cvv_on_charge: CvvRule::Ignored, ..sandbox_options(SEED) };
    Providers::with([Sandbox::new(options, TransactionLog::memory()).into_adapter()])
}

pub(crate) fn card(number: &str, cvv: Option<&str>) -> CardDetails {
    CardDetails {
        number: CardNumber::parse(number).unwrap(),
        holder_name: "JOAO DA SILVA".to_owned(),
        expiry: Expiry::parse("03/2027").unwrap(),
        cvv: cvv.map(|cvv| Cvv::parse(cvv).unwrap()),
    }
}

pub(crate) fn credit(installments: u8) -> PaymentMethod {
    PaymentMethod::Credit(Credit { source: card_source(), installments, recurrence: None })
}

pub(crate) fn card_source() -> CardSource {
    CardSource::Card { card_id: Id::new(Uuid::nil()) }
}

pub(crate) fn authorization(number: &str, cvv: Option<&str>) -> Authorization {
    Authorization {
        amount: Amount::new(1500).unwrap(),
        currency: Currency::BRL,
        capture: CaptureMode::Automatic,
        method: credit(1),
        instrument: Instrument::Card(card(number, cvv)),
        buyer: None,
        statement_descriptor: None,
        order_id: None,
        description: None,
        provider_reference_key: None,
        merchant_mcc: None,
        vendor: None,
        proof: None,
        liability_shift: LiabilityShift::NotRequired,
        division: None,
        network_transaction_id: None,
    }
}

pub(crate) fn call(key: Uuid, operation: Operation) -> Call {
    Call {
        key,
        object_id: Uuid::nil(),
        notify: None,
        at: at(),
        begun_at: at(),
        provider_type: ProviderType::Sandbox,
        credentials: Credentials::new(object(json!({ "type": "SANDBOX", "apiKey": "sandbox-secret" }))),
        options: Map::new(),
        mode: Mode::Sandbox,
        test_overrides: None,
        operation,
    }
}

pub(crate) fn charge(key: Uuid, number: &str, cvv: Option<&str>) -> Call {
    call(key, Operation::Authorize(authorization(number, cvv)))
}

pub(crate) fn verification(key: Uuid, number: &str, cvv: Option<&str>) -> Call {
    let card = card(number, cvv);
    call(key, Operation::VerifyCard(Verification { currency: Currency::BRL, card, merchant_mcc: None }))
}

/// An authorization that only reserves.
pub(crate) fn reservation(key: Uuid, number: &str, cvv: Option<&str>) -> Call {
    call(
        key,
        Operation::Authorize(Authorization { capture: CaptureMode::Manual, ..authorization(number, cvv) }),
    )
}

pub(crate) fn capture(key: Uuid, authorization_key: Uuid, amount: i64) -> Call {
    call(key, Operation::Capture(follow_up(authorization_key, amount)))
}

pub(crate) fn void(key: Uuid, authorization_key: Uuid, amount: i64) -> Call {
    call(key, Operation::Void(follow_up(authorization_key, amount)))
}

pub(crate) fn follow_up(authorization_key: Uuid, amount: i64) -> FollowUp {
    let amount = Amount::new(amount).unwrap();
    FollowUp {
        authorization_key,
        transaction_id: None,
        payment_type: PaymentType::Credit,
        amount,
        currency: Currency::BRL,
        held: Held::Taken(amount),
        delay_to_compose: None,
        division: None,
    }
}

pub(crate) fn inquiry(key: Uuid) -> Inquiry {
    Inquiry {
        key,
        object_id: Uuid::nil(),
        operation: OperationKind::Authorization,
        capture: Some(CaptureMode::Automatic),
        reference: None,
        returned: BTreeMap::new(),
        sent_at: at(),
        at: at(),
        provider_type: ProviderType::Sandbox,
        credentials: Credentials::new(Map::new()),
        options: Map::new(),
        mode: Mode::Sandbox,
        test_overrides: None,
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("not an object: {value}") };
    members
}

#[track_caller]
pub(crate) fn approved(answer: Answer) -> Approval {
    let Answer::Approved(approval) = answer else { panic!("not approved: {answer:?}") };
    approval
}

#[track_caller]
pub(crate) fn declined(answer: Answer) -> Decline {
    let Answer::Declined(decline) = answer else { panic!("not declined: {answer:?}") };
    decline
}
