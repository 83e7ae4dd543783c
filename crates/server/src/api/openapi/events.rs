//! The section `webhooks` of the OpenAPI document: an entry for each event that a webhook may ask for, and for the test
//! event. The domain names the families and their events; [`told`] says what each family tells.

use std::borrow::Cow;

use regente_domain::id::{Id, of};
use regente_domain::time::Timestamp;
use regente_domain::webhook::{EventName, Family, PING, PING_OBJECT, Version};
use regente_domain::wire::{Object, one_of};
use regente_engine::events::purchase::PurchaseView;
use regente_engine::events::registration_review::ReviewNewsView;
use regente_engine::events::seller::SellerNewsView;
use regente_engine::events::subscription::SubscriptionNewsView;
use regente_engine::events::transaction::TransactionView;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, PathItem, Paths, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::RefBuilder;
use utoipa::openapi::{Content, ObjectBuilder, Ref, RefOr, Required, ResponseBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::api::sessions::view::ShownSession;
use regente_domain::wire::tagged::{Components, Variant, sum};

/// The component of any event.
const EVENT: &str = "Event";
/// The component of the versions in which events are sent.
const VERSION: &str = "EventVersion";

/// The section `webhooks`.
pub(super) fn webhooks() -> Paths {
    let events = EventName::WORDS.iter().map(|(name, event)| (*name, Some(*event))).chain([(PING, None)]);
    events.fold(PathsBuilder::new(), |paths, (name, event)| paths.path(name, entry(name, event))).build()
}

/// What the section refers to.
pub(super) fn components() -> Components {
    let variants: Vec<Variant> = families()
        .map(|family| Variant { word: object_of(family), name: Cow::Owned(named(family, EVENT)) })
        .collect();
    let any = "What is sent to a webhook: `object` says what it is about, `event` what happened.";
    let versions = one_of("The version of what is sent to a webhook.", Version::ALL.map(Version::word));
    let mut components =
        vec![(EVENT.to_owned(), sum(any, "object", &variants)), (VERSION.to_owned(), versions)];
    for family in families() {
        let told = told(family);
        components.push((named(family, EVENT), envelope(family, &told).into()));
        components.push((words_of(family), one_of("What happened.", events_of(family))));
        components.extend(told.components);
    }
    components
}

/// The families of events; `None` is the test event, which is of none.
fn families() -> impl Iterator<Item = Option<Family>> {
    Family::WORDS.iter().map(|(_, family)| Some(*family)).chain([None])
}

/// What the events of a family tell.
struct Told {
    sentence: &'static str,
    data: Cow<'static, str>,
    components: Components,
}

impl Told {
    fn of<T: ToSchema>(sentence: &'static str) -> Self {
        let mut components = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut components);
        Self { sentence, data: T::name(), components }
    }
}

fn told(family: Option<Family>) -> Told {
    match family {
        Some(Family::Transaction) => Told::of::<TransactionView>("A charge has changed."),
        Some(Family::Seller) => Told::of::<SellerEventSchema>(
            "A seller has come into a status, or a review of its registration has changed.",
        ),
        Some(Family::Subscription) => Told::of::<SubscriptionNewsView>("A subscription has changed."),
        Some(Family::Purchase) => Told::of::<PurchaseView>("A purchase has ended."),
        Some(Family::Session) => Told::of::<ShownSession>("A session has changed."),
        None => Told::of::<Object<0>>("A test event, which `POST /v1/webhooks/{id}/ping` asks for."),
    }
}

/// What an event of a seller tells: of the seller, or of a review.
#[derive(ToSchema)]
#[schema(as = SellerEventContent)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
enum SellerEventSchema {
    Status(Box<SellerNewsView<'static>>),
    Review(Box<ReviewNewsView<'static>>),
}

fn object_of(family: Option<Family>) -> &'static str {
    family.map_or(PING_OBJECT, Family::word)
}

/// The words of `event`.
fn events_of(family: Option<Family>) -> Vec<&'static str> {
    match family {
        Some(family) => {
            let names = EventName::WORDS.iter().map(|(_, name)| name);
            names.filter(|name| name.family() == family).map(|name| name.event()).collect()
        }
        None => vec![PING],
    }
}

/// The name of a family's component: `TransactionEvent`, and `TestEvent` of the test event.
fn named(family: Option<Family>, what: &str) -> String {
    format!("{}{what}", capitalized(family.map_or("test", Family::word)))
}

fn words_of(family: Option<Family>) -> String {
    named(family, "EventWord")
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_ascii_uppercase() + rest
}

/// The body of a family's events.
fn envelope(family: Option<Family>, told: &Told) -> Schema {
    let referred = |name: &str, description: &str| {
        let location = Ref::from_schema_name(name).ref_location;
        RefOr::Ref(RefBuilder::new().ref_location(location).description(Some(description)).build())
    };
    let object = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([object_of(family)]));
    let members = [
        ("object", object.into()),
        ("id", Id::<of::Event>::schema()),
        ("apiVersion", referred(VERSION, "")),
        ("event", referred(&words_of(family), "What happened: the part of the name after the first dot.")),
        ("createdAt", Timestamp::schema()),
        ("data", referred(&told.data, "What it happened to, as it was right after the change.")),
    ];
    let envelope = ObjectBuilder::new().schema_type(Type::Object).description(Some(told.sentence));
    let add = |envelope: ObjectBuilder, (name, schema): (&str, RefOr<Schema>)| {
        envelope.property(name, schema).required(name)
    };
    members.into_iter().fold(envelope, add).into()
}

fn entry(name: &str, event: Option<EventName>) -> PathItem {
    let family = event.map(EventName::family);
    let body = RequestBodyBuilder::new()
        .content("application/json", Content::new(Some(Ref::from_schema_name(named(family, EVENT)))))
        .required(Some(Required::True));
    let taken = "The event was taken; so it is by 201. After any other answer it is sent again.";
    let operation = OperationBuilder::new()
        .tag("Events")
        .summary(Some(told(family).sentence))
        .operation_id(Some(operation_id(name)))
        .request_body(Some(body.build()))
        .response("200", ResponseBuilder::new().description(taken));
    PathItem::new(HttpMethod::Post, operation)
}

/// `onTransactionPreAuthorized` for `transaction.pre_authorized`.
fn operation_id(name: &str) -> String {
    format!("on{}", name.split(['.', '_']).map(capitalized).collect::<String>())
}
