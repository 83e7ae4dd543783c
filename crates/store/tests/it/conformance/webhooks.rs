//! Events and deliveries of webhooks, as batches write them.

use regente_domain::actor::Actor;
use regente_domain::id::{DeliveryId, Id, WebhookId};
use regente_domain::time::Timestamp;
use regente_domain::webhook::{DeliveryStatus, EventFilter, EventName, PartialRefund, Version};
use regente_store::deliveries::{self, Delivery};
use regente_store::events::{self, NewEvent};
use regente_store::sealed::Sealed;
use regente_store::webhooks::{self, KeyPair, Webhook};
use regente_store::{Batch, Commit, Store};
use uuid::Uuid;

use crate::things::CLIENT;

on_both!(
    an_event_is_marked_when_a_webhook_asks_for_it,
    a_delivery_of_a_deleted_webhook_is_not_added,
    accounts_with_many_events_hide_no_others,
);

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const EVENT: &str = "transaction.authorized";

fn webhook(client_id: regente_domain::id::ClientId, number: u128, endpoint: &str) -> Webhook {
    let private = Sealed { key_id: Uuid::from_u128(1), bytes: vec![1] };
    Webhook {
        id: WebhookId::new(Uuid::from_u128(number)),
        client_id,
        event: EventFilter::parse(EVENT).unwrap(),
        endpoint: endpoint.to_owned(),
        sent_endpoint: None,
        partial_refund: PartialRefund::Voided,
        api_version: Version::ALL[0],
        active: true,
        key: KeyPair { public: [1; 32], private },
        next_key: None,
        lost_in_a_row: 0,
        version: 1,
        updated_at: NOW,
        listens_until: None,
    }
}

async fn apply(store: &Store, batch: Batch) {
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
}

fn announce(batch: &mut Batch, number: u128) {
    let event = NewEvent {
        id: Id::new(Uuid::from_u128(1000 + number)),
        object_id: Uuid::from_u128(number),
        version: 1,
        ordinal: 0,
        name: EventName::parse(EVENT).unwrap(),
        snapshot: "{}",
        actor: &Actor::Operator,
    };
    events::announce(batch, event);
}

async fn an_event_is_marked_when_a_webhook_asks_for_it(store: Store) {
    let mut batch = Batch::new(CLIENT);
    announce(&mut batch, 1);
    apply(&store, batch).await;
    let later = Timestamp::from_millis(4_000_000_000_000);
    assert!(events::to_dispatch(&store, CLIENT, later, 10).await.unwrap().read.is_empty());

    let mut batch = Batch::new(CLIENT);
    webhooks::insert(&mut batch, &webhook(CLIENT, 1, "https://one.example"));
    webhooks::insert(&mut batch, &webhook(CLIENT, 2, "https://two.example"));
    apply(&store, batch).await;
    for number in [2, 2, 3] {
        let mut batch = Batch::new(CLIENT);
        announce(&mut batch, number);
        apply(&store, batch).await;
    }
    let waiting = events::to_dispatch(&store, CLIENT, later, 10).await.unwrap().read;
    let objects: Vec<u128> = waiting.iter().map(|event| event.object_id.as_u128()).collect();
    assert_eq!(objects, [2, 3], "once each, however many webhooks ask");
    let everything = events::of_object(&store, CLIENT, Uuid::from_u128(2)).await.unwrap();
    assert_eq!(everything.len(), 1);
}

async fn a_delivery_of_a_deleted_webhook_is_not_added(store: Store) {
    let webhook = webhook(CLIENT, 1, "https://one.example");
    let mut batch = Batch::new(CLIENT);
    webhooks::insert(&mut batch, &webhook);
    apply(&store, batch).await;
    let delivery = |number| Delivery {
        id: DeliveryId::new(Uuid::from_u128(number)),
        client_id: CLIENT,
        webhook_id: webhook.id,
        event_id: Id::new(Uuid::from_u128(1001)),
        event: EVENT.to_owned(),
        object_id: Uuid::from_u128(1),
        object_version: 1,
        ordinal: 0,
        api_version: webhook.api_version,
        status: DeliveryStatus::Pending,
        attempts: 0,
        tries: 0,
        due_at: Some(NOW),
        began_at: None,
        updated_at: NOW,
    };
    let mut batch = Batch::new(CLIENT);
    deliveries::insert(&mut batch, &delivery(1));
    apply(&store, batch).await;
    let mut batch = Batch::new(CLIENT);
    webhooks::delete(&mut batch, &webhook, NOW);
    apply(&store, batch).await;
    let mut batch = Batch::new(CLIENT);
    deliveries::insert(&mut batch, &delivery(2));
    apply(&store, batch).await;
    let pending = deliveries::pending(&store, CLIENT, webhook.id, 10).await.unwrap();
    assert_eq!(pending, [DeliveryId::new(Uuid::from_u128(1))]);
}

async fn accounts_with_many_events_hide_no_others(store: Store) {
    let clients = [1, 2, 3].map(|number| regente_domain::id::ClientId::new(Uuid::from_u128(number)));
    for (client_id, events) in clients.into_iter().zip([1_200, 1, 700]) {
        let mut batch = Batch::new(client_id);
        webhooks::insert(&mut batch, &webhook(client_id, client_id.uuid().as_u128(), "https://one.example"));
        for number in 0..events {
            announce(&mut batch, number);
        }
        apply(&store, batch).await;
    }
    let nobody = regente_domain::id::ClientId::new(Uuid::nil());
    assert_eq!(events::clients_to_dispatch(&store, nobody, 10).await.unwrap(), clients);
    assert_eq!(events::clients_to_dispatch(&store, nobody, 2).await.unwrap(), clients[..2]);
    assert_eq!(events::clients_to_dispatch(&store, clients[0], 10).await.unwrap(), clients[1..]);
}
