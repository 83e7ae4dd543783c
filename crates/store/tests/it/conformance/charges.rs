//! Charges and their requests: what is written is read again, also what earlier releases have written.

use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::attempt::{
    Approval, Asks, Gone, OpenReason, Outcome, RequestType, TransactionRequest, never_arrived, unpaid,
};
use regente_domain::charge::instructions::{Instructions, Pending};
use regente_domain::charge::{
    CardSource, Charge, ChargeState, ChargeStatus, Credit, PaymentMethod, SecurityCode, Voucher,
};
use regente_domain::currency::Currency;
use regente_domain::decline::Decline;
use regente_domain::id::{ChargeId, Id};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::routing::Hop;
use regente_domain::routing::explanation::{Considered, Explanation, Skipped};
use regente_domain::time::Timestamp;
use regente_store::accounts::Accounts;
use regente_store::charges::{self, ChargeFilter, Direction};
use regente_store::counters::CounterFilter;
use regente_store::expiring::Expired;
use regente_store::sealed::Sealed;
use regente_store::testing::TEST_TIME;
use regente_store::transaction_requests::{self, Beginning, Claim, ObjectKind, Probing};
use regente_store::{Batch, Commit, Store, args, held_security_codes, sql};
use serde_json::json;
use uuid::Uuid;

use crate::things::CLIENT;

on_both!(
    documents_of_the_former_format_are_read,
    a_charge_is_read_as_it_was_written,
    what_awaits_its_payer_is_settled_and_listed_as_pending,
    a_request_that_has_instructed_the_payer_is_asked_about_until_that_is_known,
    a_request_that_is_sent_again_says_so,
    a_denied_request_is_asked_about_again_and_its_void_names_it,
    a_held_security_code_is_read_in_time_only,
);

const SANDBOX: ProviderType = ProviderType::Sandbox;

sql! {
    /// A charge as the former release wrote it.
    PUT_CHARGE = "
        INSERT INTO charges (id, client_id, merchant_id, status, payment_type, amount, original_amount, currency, doc,
            actor, version, updated_at)
        VALUES (:id, :client_id, :id, 'pending', :payment_type, 150, 150, 'BRL', :doc, 'operator', 3, 0)";
}

/// A `doc` of format 1: a card charge whose first provider refused and whose second is being asked, of a route
/// whose second place was skipped.
const FORMER: &str = r#"{"format":1,"payment":{"installments":3,"recurrence":"initial"},
    "source":{"sourceType":"card","cardId":"019d1b41-4feb-7000-8000-000000000004"},"capture":"automatic",
    "references":{"description":"Order 231"},"freeForm":{"flowMetadata":"{\"b\":1,\"a\":2}"},
    "explanation":{"considered":[
        {"providerId":"00000000-0000-0000-0000-000000000065","providerType":"SANDBOX","priority":1},
        {"providerId":"00000000-0000-0000-0000-000000000066","providerType":"SANDBOX","priority":2,"skipped":"currency"},
        {"providerId":"00000000-0000-0000-0000-000000000067","providerType":"SANDBOX","priority":3}]},
    "requests":2,"later":"kept"}"#;

/// The same of a voucher.
const FORMER_VOUCHER: &str = r#"{"format":1,"payment":{"installments":1},
    "source":{"sourceType":"customer","customerId":"019d1b41-4feb-7000-8000-000000000005",
        "cardId":"019d1b41-4feb-7000-8000-000000000004"},"capture":"manual","references":{},
    "freeForm":{"items":"[{\"z\":1,\"a\":2}]"},"explanation":{"considered":[]},"requests":1}"#;

/// Of version 7, made at [`TEST_TIME`].
fn id<T>(n: u128) -> Id<T> {
    Id::new(Uuid::from_u128(Id::<()>::first_at(TEST_TIME).uuid().as_u128() | (7 << 76) | (2 << 62) | n))
}

fn charge(n: u128) -> Charge {
    let considered = |(n, skipped)| Considered {
        provider_id: Id::new(Uuid::from_u128(n)),
        provider_type: SANDBOX,
        priority: 1,
        skipped,
        circuit: None,
    };
    let method = PaymentMethod::Credit(Credit {
        source: CardSource::Card { card_id: id(4) },
        installments: 1,
        recurrence: None,
    });
    let price = (Amount::new(150).unwrap(), Currency::BRL);
    Charge {
        explanation: Explanation {
            considered: [(0x65, None), (0x66, Some(Skipped::Currency)), (0x67, None)].map(considered).into(),
            flow: None,
            stopped: None,
        },
        ..Charge::new(id(n), CLIENT, id(3), method, price, CaptureMode::Automatic, TEST_TIME)
    }
}

fn first_request(charge: &Charge) -> TransactionRequest {
    let hop = Hop { position: 0, provider_id: Id::new(Uuid::from_u128(0x65)), provider_type: SANDBOX };
    charge.begin_request(id(0x200), charge.authorization_at(hop), TEST_TIME)
}

fn instructions() -> Pending {
    Pending {
        reference: Approval { transaction_id: Some("at the provider".to_owned()), ..Approval::default() },
        instructions: Instructions::Redirect { url: "https://bank.example/authenticate".to_owned() },
        expires_at: Some(later(600)),
    }
}

fn later(seconds: u64) -> Timestamp {
    TEST_TIME + Duration::from_secs(seconds)
}

async fn try_to(store: &Store, fill: impl FnOnce(&mut Batch)) -> Commit {
    let mut batch = Batch::new(CLIENT);
    fill(&mut batch);
    store.apply(batch).await.unwrap()
}

async fn write(store: &Store, fill: impl FnOnce(&mut Batch)) {
    assert_eq!(try_to(store, fill).await, Commit::Applied);
}

/// Writes a charge with its first request.
async fn begin(store: &Store, charge: &Charge) -> TransactionRequest {
    let request = first_request(charge);
    let actor = &Actor::Operator;
    let beginning = Beginning { object_kind: ObjectKind::Charge, card_id: None, due_at: later(10), actor };
    let written = write(store, |batch| {
        charges::insert(batch, charge, None, actor).unwrap();
        transaction_requests::insert(batch, &request, beginning);
    });
    written.await;
    request
}

/// Its provider gives the payer something to do.
async fn instruct(store: &Store, before: &Charge, request: &TransactionRequest) -> Charge {
    let pending = instructions();
    let ended = request.end(Outcome::Pending(Box::new(pending.clone())), None, later(1));
    let after = before.await_payer(SANDBOX, SecurityCode::Needed, later(1)).unwrap().charge;
    let written = write(store, |batch| {
        charges::update(batch, before, &after, &Actor::Operator).unwrap();
        transaction_requests::instruct(batch, &ended, &pending, later(30)).unwrap();
    });
    written.await;
    after
}

async fn read(store: &Store, id: ChargeId) -> Charge {
    charges::find(store, CLIENT, id).await.unwrap().unwrap().charge
}

async fn documents_of_the_former_format_are_read(store: Store) {
    for (n, payment_type, doc) in [(1, "credit", FORMER), (2, "voucher", FORMER_VOUCHER)] {
        let id: ChargeId = id(n);
        let doc = regente_store::Json(doc.to_owned());
        let mut batch = Batch::new(CLIENT);
        batch.push(&PUT_CHARGE, args! { id, client_id: CLIENT, payment_type, doc });
        assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    }
    let card = read(&store, id(1)).await;
    let PaymentMethod::Credit(credit) = &card.method else { panic!("{:?}", card.method) };
    assert_eq!((credit.installments, credit.recurrence.unwrap().word()), (3, "initial"));
    assert_eq!(card.state, ChargeState::Processing);
    assert_eq!(card.position, 2, "the second provider that may be asked is the third of the route");
    assert_eq!(card.references.flow_metadata.clone().unwrap().to_string(), r#"{"b":1,"a":2}"#);
    assert_eq!(card.unknown_members.keys().collect::<Vec<_>>(), ["later"]);
    let voucher = read(&store, id(2)).await;
    let PaymentMethod::Voucher(Voucher { source: CardSource::Customer { .. }, items }) = &voucher.method
    else {
        panic!("{:?}", voucher.method)
    };
    assert_eq!(items.as_ref().unwrap().to_string(), r#"[{"z":1,"a":2}]"#);
    // Written again, it is in the present format and says the same.
    let after = card.approve(SANDBOX, card.amount, later(5)).unwrap().charge;
    let after = Charge { requests: 3, ..after };
    let written = write(&store, |batch| charges::update(batch, &card, &after, &Actor::Operator).unwrap());
    written.await;
    assert_eq!(read(&store, card.id).await, after);
}

async fn a_charge_is_read_as_it_was_written(store: Store) {
    let credit = Charge { position: 2, ..charge(1) };
    let voucher = Voucher {
        source: CardSource::Customer { customer_id: id(5), card_id: id(4) },
        items: Some(Box::new(json!([{ "z": 1, "a": 2 }]))),
    };
    let voucher = Charge { method: PaymentMethod::Voucher(voucher), ..charge(2) };
    for charge in [credit, voucher] {
        begin(&store, &charge).await;
        assert_eq!(read(&store, charge.id).await, charge);
    }
}

async fn what_awaits_its_payer_is_settled_and_listed_as_pending(store: Store) {
    let (processing, other) = (charge(1), charge(2));
    begin(&store, &other).await;
    let request = begin(&store, &processing).await;
    let settled = async || charges::settled(&store, CLIENT, processing.id, 1).await.unwrap();
    assert_eq!(settled().await, None);
    let awaiting = instruct(&store, &processing, &request).await;
    assert_eq!(read(&store, processing.id).await, awaiting);
    assert_eq!(settled().await.unwrap().version, 2);

    let filter = |statuses| ChargeFilter {
        counted: CounterFilter { statuses: Some(statuses), ..CounterFilter::default() },
        ..ChargeFilter::default()
    };
    let total = async |status| {
        let filter = filter(vec![status]);
        let listed = charges::list(&store, CLIENT, &filter, Direction::Ascending, 10, 0).await.unwrap();
        assert_eq!(usize::try_from(listed.total).unwrap(), listed.charges.len());
        listed.total
    };
    assert_eq!(total(ChargeStatus::Pending).await, 2, "whichever of the two states");

    // What the payer does afterwards changes nothing about that answer.
    let paid =
        awaiting.clone().with_one_more_request().approve(SANDBOX, awaiting.amount, later(60)).unwrap().charge;
    let written = write(&store, |batch| charges::update(batch, &awaiting, &paid, &Actor::Operator).unwrap());
    written.await;
    assert_eq!(settled().await.unwrap().version, 2);
    let answered = charges::find_version(&store, CLIENT, processing.id, 2).await.unwrap().unwrap();
    assert_eq!(answered.charge, awaiting);
    assert_eq!((total(ChargeStatus::Pending).await, total(ChargeStatus::Authorized).await), (1, 1));
}

async fn a_request_that_has_instructed_the_payer_is_asked_about_until_that_is_known(store: Store) {
    let charge = charge(1);
    let request = begin(&store, &charge).await;
    let awaiting = instruct(&store, &charge, &request).await;
    let due = async |now| transaction_requests::due(&store, CLIENT, now, 10).await.unwrap();
    assert!(due(later(29)).await.is_empty());
    let found = due(later(30)).await.pop().unwrap();
    assert_eq!(found.request.pending(), Some(&instructions()));
    assert_eq!(found.request.reference().unwrap().transaction_id.as_deref(), Some("at the provider"));
    // It is no request of which nobody knows how it ended.
    let unknown = transaction_requests::unknown(&store, later(3600)).await.unwrap();
    assert_eq!(
        (unknown.open, transaction_requests::open(&store, later(3600), 10).await.unwrap().len()),
        (0, 0)
    );
    let claimed = write(&store, |batch| {
        transaction_requests::claim(batch, &found, Claim::ToProbe, later(90));
    });
    claimed.await;
    let second = try_to(&store, |batch| {
        transaction_requests::claim(batch, &found, Claim::ToProbe, later(95));
    });
    assert!(matches!(second.await, Commit::Refused(_)));

    let asks = Asks::about(&found.request, RequestType::Authorization, request.amount);
    let told = awaiting.with_one_more_request();
    let declined = Outcome::Declined(Decline {
        transaction_id: Some("refused".to_owned()),
        ..unpaid(&found.request, Gone::Expired)
    });
    let told = told.begin_request(id(0x201), asks, later(90)).end(declined, None, later(90));
    write(&store, |batch| {
        transaction_requests::tell(batch, request.id, &told, Probing::GoesOn, &Actor::Operator).unwrap();
    })
    .await;
    assert_eq!(due(later(3600)).await.len(), 1, "the payer may still pay");
    write(&store, |batch| {
        transaction_requests::stop_probing(batch, CLIENT, charge.id.uuid(), request.id);
    })
    .await;
    assert!(due(later(3600)).await.is_empty());
    let requests = transaction_requests::of_object(&store, CLIENT, charge.id.uuid()).await.unwrap();
    assert_eq!(requests[0].request, found.request, "it stays what it was");
    assert_eq!(requests[1].request.outcome, told.outcome);
    assert_eq!(requests[1].request.provider_key(), request.provider_key());
}

async fn a_request_that_is_sent_again_says_so(store: Store) {
    let charge = charge(1);
    let request = begin(&store, &charge).await;
    let stored =
        async || transaction_requests::due(&store, CLIENT, later(600), 1).await.unwrap().pop().unwrap();
    assert_eq!(stored().await.request.sent_at, request.id.created_at());
    let repeated = TransactionRequest { sent_at: later(3), ..request };
    let noted = write(&store, |batch| {
        transaction_requests::note_open(batch, &repeated, OpenReason::TimedOut, later(20));
    });
    noted.await;
    let found = stored().await;
    assert_eq!(found.request.sent_at, later(3), "the call repeated it");
    let again = Claim::ToSend { at: later(20) };
    write(&store, |batch| transaction_requests::claim(batch, &found, again, later(40))).await;
    assert_eq!((stored().await.request.sent_at, stored().await.probes), (later(20), 1));
}

async fn a_denied_request_is_asked_about_again_and_its_void_names_it(store: Store) {
    let charge = charge(1);
    let request = begin(&store, &charge).await;
    let denied = request.end(Outcome::NoEffect(never_arrived()), None, later(5));
    write(&store, |batch| transaction_requests::end_watched(batch, &denied, later(125)).unwrap()).await;
    let due = async |now| transaction_requests::due(&store, CLIENT, now, 10).await.unwrap();
    assert!(due(later(124)).await.is_empty());
    assert_eq!(due(later(125)).await.pop().unwrap().request.outcome, denied.outcome);
    let unknown = transaction_requests::unknown(&store, later(3600)).await.unwrap();
    assert_eq!((unknown.open, unknown.given_up), (0, 0), "its outcome is known");
    write(&store, |batch| {
        transaction_requests::stop_probing(batch, CLIENT, charge.id.uuid(), request.id);
    })
    .await;
    assert!(due(later(3600)).await.is_empty());

    let approval = Approval { transaction_id: Some("at the provider".to_owned()), ..Approval::default() };
    let found = TransactionRequest { outcome: Outcome::Approved(approval), ..denied };
    let (_, void) = charge.void_orphan(id(0x201), &found, later(130));
    let actor = &Actor::Operator;
    let beginning = Beginning { object_kind: ObjectKind::Charge, card_id: None, due_at: later(160), actor };
    write(&store, |batch| transaction_requests::insert(batch, &void, beginning)).await;
    let read = due(later(160)).await.pop().unwrap().request;
    assert_eq!((read.follows, &read.undone_transaction_id), (Some(request.id), &void.undone_transaction_id));
    assert_eq!(read.undone_transaction_id.as_deref(), Some("at the provider"));
}

async fn a_held_security_code_is_read_in_time_only(store: Store) {
    let charge: ChargeId = id(1);
    let sealed = |byte| Sealed { key_id: Uuid::from_u128(7), bytes: vec![byte; 40] };
    let find = async |now| {
        let found = held_security_codes::find(&store, CLIENT, charge, now).await.unwrap();
        found.map(|sealed| sealed.bytes[0])
    };
    for byte in [1, 2] {
        write(&store, |batch| held_security_codes::hold(batch, charge, sealed(byte), later(900))).await;
        assert_eq!(find(later(899)).await, Some(byte), "one for a charge");
    }
    assert_eq!(find(later(900)).await, None, "its time is over before it is deleted");
    let everybody = Accounts::AllBut(Vec::new());
    let clients = |now| held_security_codes::EXPIRING.clients(&store, &everybody, now, 10);
    assert!(clients(later(899)).await.unwrap().is_empty());
    assert_eq!(clients(later(900)).await.unwrap(), [Expired { client_id: CLIENT, until: later(900) }]);
    write(&store, |batch| held_security_codes::EXPIRING.purge(batch, later(900), 10)).await;
    assert!(clients(later(900)).await.unwrap().is_empty());
    write(&store, |batch| held_security_codes::hold(batch, charge, sealed(3), later(900))).await;
    write(&store, |batch| held_security_codes::discard(batch, charge)).await;
    write(&store, |batch| held_security_codes::discard(batch, charge)).await;
    assert_eq!(find(TEST_TIME).await, None);
}
