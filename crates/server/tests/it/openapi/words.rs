//! Closed lists are enums in the document, with the words of the parser's table.

use std::collections::BTreeMap;

use regente_domain::card::Brand;
use regente_domain::card::record::CardStatus;
use regente_domain::charge::analysis::{AnalysisStatus, SimulatedVerdict};
use regente_domain::charge::attempt::{OpenReason, RequestStatus, RequestType, ToldBy};
use regente_domain::charge::timeline::{Ended, Then};
use regente_domain::charge::{ChargeStatus, Recurrence, SimulatedStatus};
use regente_domain::country::Country;
use regente_domain::currency::Currency;
use regente_domain::decline::DeclinedCode;
use regente_domain::merchant::MerchantStatus;
use regente_domain::payment_type::PaymentType;
use regente_domain::plan::{self, PlanMethod, PlanStatus};
use regente_domain::provider_type::ProviderType;
use regente_domain::purchase::{Action, Milestone, PurchaseStatus};
use regente_domain::routing::explanation::{CircuitNote, Skipped, Stopped};
use regente_domain::scope::Scope;
use regente_domain::seller::data::{AccountType, HolderType, TransferInterval};
use regente_domain::seller::document::{DocumentKind, DocumentStatus};
use regente_domain::seller::review::ReviewStatus;
use regente_domain::seller::review::fields::FieldType;
use regente_domain::seller::{LinkStatus, ReasonType, SellerStatus};
use regente_domain::subscription::{AttemptStatus, CycleStatus, Interval, ItemRisk, SubscriptionStatus};
use regente_domain::webhook::{DeliveryStatus, EventName, Failure, Version};
use serde_json::{Value, json};

use crate::support::document::Document;
use crate::support::document::schema::types_of;

type Words = Vec<&'static str>;

fn of<T>(table: &[(&'static str, T)]) -> Words {
    table.iter().map(|(word, _)| *word).collect()
}

fn with(word: &'static str, mut words: Words) -> Words {
    words.insert(0, word);
    words
}

fn lists() -> BTreeMap<&'static str, Words> {
    let events = || of(EventName::WORDS);
    let sent = || events().into_iter().chain(["ping"]).collect();
    BTreeMap::from([
        ("CardBrand", Brand::ALL.map(Brand::name).into_iter().chain(["Unknown"]).collect()),
        ("AnalysisStatus", of(AnalysisStatus::WORDS)),
        ("CardStatus", of(CardStatus::WORDS)),
        ("ChargeStatus", of(ChargeStatus::WORDS)),
        ("CircuitNote", of(CircuitNote::WORDS)),
        ("Country", Country::all().map(Country::code).collect()),
        ("Currency", Currency::all().map(Currency::code).collect()),
        ("DeclinedCode", DeclinedCode::all().map(DeclinedCode::code).collect()),
        ("DeliveryFailure", of(Failure::WORDS)),
        ("DeliveryStatus", of(DeliveryStatus::WORDS)),
        ("EventFilter", with("*", events())),
        ("EventVersion", Version::ALL.map(Version::word).to_vec()),
        ("KnownCardBrand", Brand::ALL.map(Brand::name).to_vec()),
        ("ListOrder", vec!["asc", "desc"]),
        ("MerchantStatus", of(MerchantStatus::WORDS)),
        ("OpenReason", of(OpenReason::WORDS)),
        ("OutcomeSource", of(ToldBy::WORDS)),
        ("PaymentType", of(PaymentType::WORDS)),
        ("PayoutMethod", vec!["credit", "pix", "nupay"]),
        ("PayoutRecurrence", of(plan::Recurrence::WORDS)),
        ("PlanMethod", of(PlanMethod::WORDS)),
        ("PlanStatus", of(PlanStatus::WORDS)),
        ("ProviderType", ProviderType::all().map(ProviderType::code).collect()),
        ("PurchaseAction", of(Action::WORDS)),
        ("PurchaseMilestone", of(Milestone::WORDS)),
        ("PurchaseStatus", of(PurchaseStatus::WORDS)),
        ("Recurrence", of(Recurrence::WORDS)),
        ("RequestStatus", of(RequestStatus::WORDS)),
        ("RequestType", of(RequestType::WORDS).into_iter().chain(["pending"]).collect()),
        ("ScopeWord", with("*", Scope::ALL.map(Scope::word).to_vec())),
        ("RegistrationReviewFieldType", of(FieldType::WORDS)),
        ("RegistrationReviewStatus", of(ReviewStatus::WORDS)),
        ("SellerFileStatus", of(DocumentStatus::WORDS)),
        ("SellerFileType", of(DocumentKind::WORDS)),
        ("SellerAccountType", of(AccountType::WORDS)),
        ("SellerHolderType", of(HolderType::WORDS)),
        ("SellerLinkStatus", of(LinkStatus::WORDS)),
        ("SellerReasonType", of(ReasonType::WORDS)),
        ("SellerStatus", of(SellerStatus::WORDS)),
        ("SellerTransferInterval", of(TransferInterval::WORDS)),
        ("SentEventName", sent()),
        ("SettableStatus", of(SimulatedStatus::WORDS)),
        ("SettableVerdict", of(SimulatedVerdict::WORDS)),
        ("SkipReason", of(Skipped::WORDS)),
        ("SortOrder", vec!["ASC", "DESC"]),
        ("StepOutcome", of(Ended::WORDS)),
        ("StepSequel", of(Then::WORDS)),
        ("StopReason", of(Stopped::WORDS)),
        ("SubscriptionAttemptStatus", of(AttemptStatus::WORDS)),
        ("SubscriptionCycleStatus", of(CycleStatus::WORDS)),
        ("SubscriptionInterval", of(Interval::WORDS)),
        ("SubscriptionItemRisk", of(ItemRisk::WORDS)),
        ("SubscriptionStatus", of(SubscriptionStatus::WORDS)),
    ])
}

#[test]
fn the_words_of_a_closed_list_are_those_of_the_parser() {
    let schemas = &Document::current().value["components"]["schemas"];
    for (name, words) in lists() {
        assert_eq!(schemas[name]["enum"], json!(words), "{name}");
    }
}

/// Names of members that always hold a word of a closed list.
const NAMES: [&str; 23] = [
    "action",
    "actions",
    "apiVersion",
    "brand",
    "businessCode",
    "circuit",
    "country",
    "currency",
    "declinedCode",
    "declined_code",
    "documentCountry",
    "event",
    "failure",
    "openReason",
    "outcome",
    "paymentType",
    "providerType",
    "recurrence",
    "requestStatus",
    "requestType",
    "skipped",
    "sourceType",
    "status",
];
/// Texts that only look like them.
const OPEN: [&str; 10] = [
    "AcquirerBin.brand",
    "AnnouncedSubscription.recurrence",
    "AuthenticationAddress.country",
    "NewSubscription.recurrence",
    "NupayDetails.paymentType",
    "Rates.brand",
    "Subscription.recurrence",
    "SubscriptionChanges.recurrence",
    "SubscriptionItemLocation.country",
    "SubscriptionPreview.recurrence",
];

#[test]
fn members_with_a_closed_list_are_enums() {
    let document = Document::current();
    let mut met = Vec::new();
    for (name, schema) in document.value["components"]["schemas"].as_object().unwrap() {
        for (member, schema) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{name}.{member}");
            if NAMES.contains(&member.as_str()) && !OPEN.contains(&place.as_str()) {
                assert!(is_closed(document, schema), "{place} is no enum: {schema}");
                met.push(member.as_str());
            }
        }
    }
    for operation in &document.operations {
        for parameter in operation.value["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            // That of sessions has no effect, whatever it is.
            let is_order = name == "sort" || name == "order" && operation.path != "/v1/sessions";
            if NAMES.contains(&name) || is_order {
                assert!(is_closed(document, &parameter["schema"]), "{} {parameter}", operation.name());
            }
        }
    }
    assert!(NAMES.iter().all(|name| met.contains(name)), "a name that no schema has: {met:?}");
}

/// Generated clients have types for days and moments where the document says that a text is one.
#[test]
fn days_and_moments_of_payouts_have_a_format() {
    let document = Document::current();
    for operation in document.operations.iter().filter(|operation| operation.path.starts_with("/v1/payouts"))
    {
        for parameter in operation.value["parameters"].as_array().into_iter().flatten() {
            let format = match parameter["name"].as_str().unwrap() {
                "startDate" | "endDate" => "date-time",
                "paymentDate" => "date",
                _ => continue,
            };
            assert_eq!(parameter["schema"]["format"], format, "{} {parameter}", operation.name());
        }
    }
    let new = &document.value["components"]["schemas"]["NewPrepayment"]["properties"];
    assert_eq!(
        (&new["endDate"]["format"], &new["dates"]["items"]["format"]),
        (&json!("date"), &json!("date"))
    );
}

/// Whether a schema accepts only words of a list, or is no string.
fn is_closed(document: &Document, schema: &Value) -> bool {
    let schema = document.resolve(schema);
    if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
        return choices.iter().all(|choice| is_closed(document, choice));
    }
    if let Some(items) = schema.get("items") {
        return is_closed(document, items);
    }
    schema.get("enum").is_some() || !types_of(&schema["type"]).any(|name| name == "string")
}

/// Every event for webhooks has its entry in the section `webhooks`, and its words in the body of that entry.
#[test]
fn each_event_is_described() {
    let document = Document::current();
    let entries = document.value["webhooks"].as_object().unwrap();
    let names: Vec<&str> = entries.keys().map(String::as_str).collect();
    let known: Words = of(EventName::WORDS).into_iter().chain(["ping"]).collect();
    assert_eq!(names, known);
    for (name, entry) in entries {
        let (object, event) = name.split_once('.').unwrap_or(("webhook", name));
        let body = document.resolve(&entry["post"]["requestBody"]["content"]["application/json"]["schema"]);
        assert_eq!(body["properties"]["object"]["enum"], json!([object]), "{name}");
        let events = document.resolve(&body["properties"]["event"]);
        assert!(events["enum"].as_array().unwrap().contains(&json!(event)), "{name}");
    }
}

/// Shows that the receiver notices an event that does not match, on which every webhook test relies.
#[test]
fn an_event_that_is_not_as_documented_is_noticed() {
    let document = Document::current();
    let id = "5616b19e-4d99-4bd3-b415-4990e5cab4f4";
    let ping = json!({
        "id": id, "apiVersion": "1.1", "object": "webhook", "event": "ping",
        "createdAt": "2026-01-01T00:00:00.000Z", "data": {}
    });
    assert_eq!(document.problems_of_event(&ping), [""; 0]);
    for (member, value) in [
        ("event", json!("pong")),
        ("object", json!("transaction")),
        ("apiVersion", json!("2.0")),
        ("createdAt", json!("yesterday")),
        ("data", json!(null)),
        ("more", json!(1)),
    ] {
        let mut wrong = ping.clone();
        wrong[member] = value;
        assert!(!document.problems_of_event(&wrong).is_empty(), "{wrong}");
    }
}
