//! Rotations: new data keys under load, new key-encryption keys, nodes with outdated keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use regente_domain::actor::Actor;
use regente_domain::id::{CardId, ClientId, TokenId};
use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_engine::vault::{
    Binding, Freshness, Kek, Purpose, RETIREMENT_GRACE, ResealProgress, Vault, VaultError, rewrap,
    token_digest,
};
use regente_store::data_keys::{self, KeyState, Position, SealedTable};
use regente_store::sealed::Sealed;
use regente_store::testing::{TEST_TIME, TestDatabase};
use regente_store::{Batch, Commit, DatabaseKind, Json, Store, args, audit, sql};
use uuid::Uuid;

sql! {
    INSERT_CARD = "
        INSERT INTO cards (id, client_id, fingerprint, status, pan, private, key_id, doc, version, updated_at)
        VALUES (:id, :client_id, :id, 'active', :pan, :private, :key_id, :doc, 1, 0)";
    INSERT_TOKEN = "
        INSERT INTO tokens (digest, client_id, kind, sealed, key_id, expires_at, actor)
        VALUES (:digest, :client_id, 'card', :sealed, :key_id, :expires_at, 'operator')";
    INSERT_ANSWER = "
        INSERT INTO idempotency (digest, client_id, fingerprint, state, body, key_id, expires_at)
        VALUES (:digest, :client_id, :body, 'done', :body, :key_id, 0)";
    INSERT_PROVIDER = "
        INSERT INTO providers (id, client_id, merchant_id, provider_type, priority, credentials, key_id, doc,
            version, updated_at)
        VALUES (:id, :client_id, :id, 'SANDBOX', 1, :sealed, :key_id, :doc, 1, 0)";
    INSERT_CUSTOMER = "
        INSERT INTO customers (id, client_id, document_type, private, key_id, version, updated_at)
        VALUES (:id, :client_id, 'CPF', :sealed, :key_id, 1, 0)";
    INSERT_ALIAS = "
        INSERT INTO customer_aliases (id, client_id, customer_id, private, key_id)
        VALUES (:id, :client_id, :id, :sealed, :key_id)";
    INSERT_VENDOR = "
        INSERT INTO vendors (id, client_id, reference_id, private, key_id, version, updated_at)
        VALUES (:id, :client_id, '1', :sealed, :key_id, 1, 0)";
    INSERT_CLIENT = "
        INSERT INTO clients (id, name, status, secret, key_id, doc, version, updated_at)
        VALUES (:id, 'Loja', 'active', :sealed, :key_id, :doc, 1, 0)";
    INSERT_CHARGE = "
        INSERT INTO charges (id, client_id, merchant_id, status, payment_type, amount, original_amount, currency,
            doc, private, key_id, actor, version, updated_at)
        VALUES (:id, :client_id, :id, 'pending', 'credit', 1, 1, 'BRL', :doc, :private, :key_id, 'operator', 1, 0)";
    INSERT_SESSION = "
        INSERT INTO sessions (id, client_id, merchant_id, status, active, amount, currency, authorizing, pending, paid,
            returned, doc, private, key_id, actor, version, updated_at)
        VALUES (:id, :client_id, :id, 'created', 1, 1, 'BRL', 0, 0, 0, 0, :doc, :private, :key_id, 'operator', 1, 0)";
    INSERT_WEBHOOK = "
        INSERT INTO webhooks (id, client_id, event, endpoint, api_version, active, public_key, private_key,
            next_public_key, next_private_key, next_key_at, key_id, lost_in_a_row, version, updated_at)
        VALUES (:id, :client_id, '*', 'https://shop.example', '1.1', 1, :public, :private,
            :public, :next, 1, :key_id, 0, 1, 0)";
    CARDS_OF = "SELECT id, pan, private, key_id FROM cards WHERE client_id = :client_id ORDER BY id";
    UPDATE_CARD_NUMBER = "
        UPDATE cards SET pan = :pan, private = :private, key_id = :key_id
        WHERE id = :id AND client_id = :client_id";
    ERASE_CARD = "UPDATE cards SET pan = NULL, private = NULL WHERE id = :id AND client_id = :client_id";
    KEY_OF_EVERYTHING = "
        SELECT 'clients' AS what, key_id FROM clients WHERE id = :client_id
        UNION ALL SELECT 'providers', key_id FROM providers WHERE client_id = :client_id
        UNION ALL SELECT 'customers', key_id FROM customers WHERE client_id = :client_id
        UNION ALL SELECT 'customer_aliases', key_id FROM customer_aliases WHERE client_id = :client_id
        UNION ALL SELECT 'vendors', key_id FROM vendors WHERE client_id = :client_id
        UNION ALL SELECT 'cards', key_id FROM cards WHERE client_id = :client_id AND pan IS NOT NULL
        UNION ALL SELECT 'charges', key_id FROM charges WHERE client_id = :client_id AND private IS NOT NULL
        UNION ALL SELECT 'sessions', key_id FROM sessions WHERE client_id = :client_id AND private IS NOT NULL
        UNION ALL SELECT 'idempotency', key_id FROM idempotency WHERE client_id = :client_id
        UNION ALL SELECT 'webhooks', key_id FROM webhooks WHERE client_id = :client_id";
}

const OPERATOR: Actor = Actor::Operator;
const PAN: &[u8] = b"4111111111111111";
const HOLDER: &[u8] = b"Ana";

/// A deployment: one database, one key-encryption key, any number of nodes.
struct Deployment {
    store: Store,
    clock: Clock,
    chance: Chance,
    kek: Kek,
    _database: TestDatabase,
}

impl Deployment {
    async fn new(kind: DatabaseKind) -> Self {
        let database = TestDatabase::fresh(kind).await;
        let store = database.open().await;
        let clock = Clock::manual(TEST_TIME);
        let chance = Chance::seeded(1);
        let kek = Kek::generate(&chance);
        Self { store, clock, chance, kek, _database: database }
    }

    async fn node(&self) -> Vault {
        self.node_with(&self.kek).await.unwrap()
    }

    async fn node_with(&self, kek: &Kek) -> Result<Vault, VaultError> {
        Vault::unlock(self.store.clone(), kek.clone(), self.chance.clone(), self.clock.clone()).await
    }

    fn client(&self) -> ClientId {
        ClientId::new(self.chance.uuid())
    }

    async fn write(&self, batch: Batch) {
        assert_eq!(self.store.apply(batch).await.unwrap(), Commit::Applied);
    }

    async fn add_card(&self, node: &Vault, client_id: ClientId) -> CardId {
        let id: CardId = self.chance.id(self.clock.deployment());
        let sealer = node.sealer();
        let pan = sealer.seal(Binding::new(Purpose::CardNumber, client_id, id.uuid()), PAN);
        let holder = sealer.seal(Binding::new(Purpose::CardHolder, client_id, id.uuid()), HOLDER);
        let mut batch = Batch::new(client_id);
        let doc = Json("{}".to_owned());
        batch.push(
            &INSERT_CARD,
            args! { id, client_id, pan: pan.bytes, private: holder.bytes, key_id: pan.key_id, doc },
        );
        self.write(batch).await;
        id
    }

    async fn cards(&self, client_id: ClientId) -> Vec<(CardId, Sealed, Sealed)> {
        let rows = self.store.rows(&CARDS_OF, args! { client_id }).await.unwrap();
        let sealed = |row: &regente_store::Row, column: &str| Sealed {
            key_id: row.get("key_id").unwrap(),
            bytes: row.get(column).unwrap(),
        };
        rows.iter().map(|row| (row.get("id").unwrap(), sealed(row, "pan"), sealed(row, "private"))).collect()
    }

    /// Opens every card of the client; returns the data keys in use.
    async fn open_cards(&self, node: &Vault, client_id: ClientId) -> Vec<Uuid> {
        let mut keys = Vec::new();
        for (id, pan, holder) in self.cards(client_id).await {
            let number = Binding::new(Purpose::CardNumber, client_id, id.uuid());
            let name = Binding::new(Purpose::CardHolder, client_id, id.uuid());
            assert_eq!(node.open(number, &pan).await.unwrap().as_slice(), PAN);
            assert_eq!(node.open(name, &holder).await.unwrap().as_slice(), HOLDER);
            keys.push(pan.key_id);
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Runs the job until it is done or wants to wait.
    async fn reseal(&self, node: &Vault) -> ResealProgress {
        for _ in 0..1000 {
            match node.reseal().await.unwrap() {
                ResealProgress::Again { after } if after.is_zero() => {}
                progress @ (ResealProgress::Done | ResealProgress::Again { .. }) => return progress,
            }
        }
        panic!("it never ends")
    }

    async fn states(&self) -> Vec<KeyState> {
        data_keys::all(&self.store).await.unwrap().iter().map(|key| key.state).collect()
    }
}

fn current(node: &Vault) -> Uuid {
    node.sealer().key_id()
}

/// Runs each story on both databases.
macro_rules! on_both_databases {
    ($(async fn $name:ident($deployment:ident: Deployment) $body:block)*) => { $(
        mod $name {
            use super::*;

            async fn story($deployment: Deployment) $body

            #[tokio::test]
            async fn sqlite() {
                story(Deployment::new(DatabaseKind::Sqlite).await).await;
            }

            #[tokio::test]
            async fn postgres() {
                story(Deployment::new(DatabaseKind::Postgres).await).await;
            }
        }
    )* };
}

on_both_databases! {
    async fn nodes_that_start_at_once_on_an_empty_database_agree_on_one_key(d: Deployment) {
        let d = Arc::new(d);
        let starts = (0..8).map(|_| {
            let d = Arc::clone(&d);
            tokio::spawn(async move { d.node().await })
        });
        let mut nodes = Vec::new();
        for start in starts.collect::<Vec<_>>() {
            nodes.push(start.await.unwrap());
        }
        assert_eq!(d.states().await, [KeyState::Current]);
        let binding = Binding::new(Purpose::CardNumber, d.client(), d.chance.uuid());
        for one in &nodes {
            let sealed = one.seal(binding, PAN);
            for other in &nodes {
                assert_eq!(other.open(binding, &sealed).await.unwrap().as_slice(), PAN);
            }
        }
    }

    async fn a_restart_opens_what_was_sealed_before(d: Deployment) {
        let binding = Binding::new(Purpose::CardNumber, d.client(), d.chance.uuid());
        let sealed = d.node().await.seal(binding, PAN);
        assert_eq!(d.node().await.open(binding, &sealed).await.unwrap().as_slice(), PAN);
    }

    async fn another_key_encryption_key_opens_nothing(d: Deployment) {
        drop(d.node().await);
        let other = Kek::generate(&d.chance);
        match d.node_with(&other).await {
            Err(VaultError::OtherKek { wrapped_by, given, .. }) => {
                assert_eq!((wrapped_by.as_str(), given.as_str()), (d.kek.id(), other.id()));
            }
            other => panic!("{other:?}"),
        }
    }

    async fn rotation_under_load_loses_nothing_and_the_old_key_opens_nothing_afterwards(d: Deployment) {
        let d = Arc::new(d);
        let (rotating, writing) = (d.node().await, d.node().await);
        let old = current(&rotating);
        let clients = [d.client(), d.client(), d.client()];
        for client_id in clients {
            for _ in 0..40 {
                d.add_card(&writing, client_id).await;
            }
        }
        let kept = d.cards(clients[0]).await;

        // Another node learns of the rotation late, and continues to add and rewrite cards.
        let stop = Arc::new(AtomicBool::new(false));
        let load = tokio::spawn({
            let (d, stop, writing) = (Arc::clone(&d), Arc::clone(&stop), writing.clone());
            async move {
                let mut written = 0;
                while !stop.load(Ordering::SeqCst) {
                    for client_id in clients {
                        let id = d.add_card(&writing, client_id).await;
                        let sealer = writing.sealer();
                        let pan = sealer.seal(Binding::new(Purpose::CardNumber, client_id, id.uuid()), PAN);
                        let private =
                            sealer.seal(Binding::new(Purpose::CardHolder, client_id, id.uuid()), HOLDER);
                        let mut batch = Batch::new(client_id);
                        batch.push(
                            &UPDATE_CARD_NUMBER,
                            args! { id, client_id, pan: pan.bytes, private: private.bytes, key_id: pan.key_id },
                        );
                        d.write(batch).await;
                        written += 1;
                    }
                }
                written
            }
        });
        let new = rotating.rotate(OPERATOR).await.unwrap();
        assert_ne!(old, new);
        for _ in 0..10 {
            rotating.reseal().await.unwrap();
            tokio::task::yield_now().await;
        }
        writing.refresh().await.unwrap();
        assert_eq!(current(&writing), new);
        for _ in 0..5 {
            rotating.reseal().await.unwrap();
        }
        stop.store(true, Ordering::SeqCst);
        let written = load.await.unwrap();
        assert!(written > 0);

        // The old key stays during the grace, since a node might still seal under it.
        assert!(matches!(d.reseal(&rotating).await, ResealProgress::Again { .. }));
        assert_eq!(d.states().await, [KeyState::Retiring, KeyState::Current]);
        d.clock.advance(RETIREMENT_GRACE);
        assert_eq!(d.reseal(&rotating).await, ResealProgress::Done);
        assert_eq!(d.states().await, [KeyState::Destroyed, KeyState::Current]);

        let mut count = 0;
        for client_id in clients {
            assert_eq!(d.open_cards(&rotating, client_id).await, [new]);
            count += d.cards(client_id).await.len();
        }
        assert_eq!(count, 120 + written);

        // A copy of the old rows opens on no node any more, whether old or new.
        let wrapped = data_keys::all(&d.store).await.unwrap().remove(0).wrapped;
        assert!(wrapped.is_empty());
        writing.refresh().await.unwrap();
        for node in [&rotating, &writing, &d.node().await] {
            let (id, pan, _) = &kept[0];
            let binding = Binding::new(Purpose::CardNumber, clients[0], id.uuid());
            assert!(matches!(node.open(binding, pan).await, Err(VaultError::UnknownKey(key)) if key == old));
        }
    }

    async fn a_node_that_has_not_heard_of_a_rotation_opens_what_others_seal(d: Deployment) {
        let (one, other) = (d.node().await, d.node().await);
        one.rotate(OPERATOR).await.unwrap();
        let binding = Binding::new(Purpose::CardNumber, d.client(), d.chance.uuid());
        let sealed = one.seal(binding, PAN);
        assert_ne!(current(&other), sealed.key_id);
        assert_eq!(other.open(binding, &sealed).await.unwrap().as_slice(), PAN);
        assert_eq!(current(&other), sealed.key_id);
    }

    async fn a_node_that_cannot_ask_for_the_keys_stops_sealing_in_time(d: Deployment) {
        let vault = async |refreshed_after, age_max| {
            let freshness = Freshness { refreshed_after, age_max };
            let (kek, chance, clock) = (d.kek.clone(), d.chance.clone(), d.clock.clone());
            Vault::unlock_with(freshness, d.store.clone(), kek, chance, clock).await.unwrap()
        };
        let hour = Duration::from_secs(3600);
        let recent = vault(hour, hour).await;
        let refreshing = vault(Duration::ZERO, hour).await;
        let outdated = vault(Duration::ZERO, Duration::ZERO).await;
        let new = d.node().await.rotate(OPERATOR).await.unwrap();
        for node in [&recent, &refreshing, &outdated] {
            node.keep_current().await.unwrap();
        }
        assert_ne!(current(&recent), new);
        assert_eq!((current(&refreshing), current(&outdated)), (new, new));
        d.store.close().await;
        recent.keep_current().await.unwrap();
        refreshing.keep_current().await.unwrap();
        assert!(matches!(outdated.keep_current().await, Err(VaultError::Store(_))));
    }

    async fn a_row_that_a_late_node_wrote_within_the_grace_is_sealed_again(d: Deployment) {
        let (one, late) = (d.node().await, d.node().await);
        let client_id = d.client();
        let new = one.rotate(OPERATOR).await.unwrap();
        assert!(matches!(d.reseal(&one).await, ResealProgress::Again { .. }));
        d.add_card(&late, client_id).await;
        d.clock.advance(RETIREMENT_GRACE);
        assert_eq!(d.reseal(&one).await, ResealProgress::Done);
        assert_eq!(d.open_cards(&one, client_id).await, [new]);
    }

    async fn a_walk_that_began_within_the_grace_destroys_nothing(d: Deployment) {
        let node = d.node().await;
        node.rotate(OPERATOR).await.unwrap();
        d.clock.advance(RETIREMENT_GRACE - Duration::from_millis(1));
        assert_eq!(d.reseal(&node).await, ResealProgress::Again { after: Duration::from_millis(1) });
        assert_eq!(d.states().await, [KeyState::Retiring, KeyState::Current]);
    }

    async fn every_kind_of_row_is_sealed_again_and_still_opens(d: Deployment) {
        let node = d.node().await;
        let client_id = d.client();
        let doc = || Json("{}".to_owned());
        let id = d.chance.uuid();
        let digest = d.chance.uuid();
        let bound = |purpose| Binding::new(purpose, client_id, id);
        let answer = Binding::new(Purpose::AnswerBody, client_id, digest);
        let secret = Binding::new(Purpose::ClientSecret, client_id, client_id.uuid());
        let sealed = |binding| node.seal(binding, b"what nobody may read");
        let key_id = current(&node);
        let mut batch = Batch::new(client_id);
        batch
            .push(&INSERT_CLIENT, args! { id: client_id, sealed: sealed(secret).bytes, key_id, doc: doc() })
            .push(
                &INSERT_PROVIDER,
                args! { id, client_id, sealed: sealed(bound(Purpose::ProviderCredentials)).bytes, key_id, doc: doc() },
            )
            .push(
                &INSERT_CUSTOMER,
                args! { id, client_id, sealed: sealed(bound(Purpose::CustomerData)).bytes, key_id },
            )
            .push(
                &INSERT_ALIAS,
                args! { id, client_id, sealed: sealed(bound(Purpose::CustomerAliasData)).bytes, key_id },
            )
            .push(
                &INSERT_VENDOR,
                args! { id, client_id, sealed: sealed(bound(Purpose::VendorData)).bytes, key_id },
            )
            .push(
                &INSERT_CHARGE,
                args! { id, client_id, private: sealed(bound(Purpose::ChargeData)).bytes, key_id, doc: doc() },
            )
            .push(
                &INSERT_SESSION,
                args! { id, client_id, private: sealed(bound(Purpose::SessionData)).bytes, key_id, doc: doc() },
            )
            .push(
                &INSERT_SESSION,
                args! {
                    id: d.chance.uuid(), client_id, private: None::<Vec<u8>>, key_id: None::<Uuid>, doc: doc(),
                },
            )
            .push(
                &INSERT_WEBHOOK,
                args! {
                    id, client_id, public: [7_u8; 32], private: sealed(bound(Purpose::WebhookKey)).bytes,
                    next: sealed(bound(Purpose::NextWebhookKey)).bytes, key_id,
                },
            )
            .push(&INSERT_ANSWER, args! { digest, client_id, body: sealed(answer).bytes, key_id })
            .push(
                &INSERT_CHARGE,
                args! {
                    id: d.chance.uuid(), client_id, private: None::<Vec<u8>>, key_id: None::<Uuid>, doc: doc(),
                },
            );
        d.write(batch).await;
        let card = d.add_card(&node, client_id).await;
        let keys_before = node.client_keys(client_id).await.unwrap().request_fingerprint(b"x");

        let new = node.rotate(OPERATOR).await.unwrap();
        d.clock.advance(RETIREMENT_GRACE);
        assert_eq!(d.reseal(&node).await, ResealProgress::Done);
        let rows = d.store.rows(&KEY_OF_EVERYTHING, args! { client_id }).await.unwrap();
        assert_eq!(rows.len(), 10);
        for row in rows {
            assert_eq!(row.get::<Uuid>("key_id").unwrap(), new, "{}", row.get::<&str>("what").unwrap());
        }
        assert_eq!(d.open_cards(&node, client_id).await, [new]);

        // The secret was sealed again and not replaced: hashes stay the same, also on a new node.
        let fresh = d.node().await;
        assert_eq!(fresh.client_keys(client_id).await.unwrap().request_fingerprint(b"x"), keys_before);

        // Every number that was opened is in the audit trail.
        let entries = audit::of_object(&d.store, client_id, card.uuid(), 10).await.unwrap();
        let actions: Vec<&str> = entries.iter().map(|entry| entry.action.as_str()).collect();
        assert_eq!(actions, ["card.pan_resealed"]);
        assert_eq!(entries[0].actor, "job:vault_reseal");
    }

    async fn a_key_waits_for_the_tokens_that_only_their_owners_can_open(d: Deployment) {
        let node = d.node().await;
        let (client_id, token): (ClientId, TokenId) = (d.client(), d.chance.secret_id());
        let binding = Binding::new(Purpose::TokenContents, client_id, token.uuid());
        let sealed = node.seal(binding, PAN);
        let mut batch = Batch::new(client_id);
        batch.push(
            &INSERT_TOKEN,
            args! {
                digest: token_digest(token), client_id, sealed: sealed.bytes.clone(), key_id: sealed.key_id,
                expires_at: d.clock.deployment() + Duration::from_secs(7200),
            },
        );
        d.write(batch).await;
        node.rotate(OPERATOR).await.unwrap();
        d.clock.advance(RETIREMENT_GRACE);
        assert_eq!(d.reseal(&node).await, ResealProgress::Again { after: Duration::from_secs(60) });
        assert_eq!(node.open(binding, &sealed).await.unwrap().as_slice(), PAN);
        d.clock.advance(Duration::from_secs(7200));
        assert_eq!(d.reseal(&node).await, ResealProgress::Done);
        assert!(matches!(node.open(binding, &sealed).await, Err(VaultError::UnknownKey(_))));
    }

    async fn a_card_that_changes_while_it_is_sealed_again_keeps_the_change(d: Deployment) {
        let node = d.node().await;
        let client_id = d.client();
        let id = d.add_card(&node, client_id).await;
        let new_key = d.chance.uuid();
        let start = Position::start(SealedTable::Cards);
        let (rows, _) = data_keys::page(&d.store, &start, new_key, 10).await.unwrap();
        let sealer = node.sealer();
        let number = sealer.seal(Binding::new(Purpose::CardNumber, client_id, id.uuid()), PAN);
        let holder = sealer.seal(Binding::new(Purpose::CardHolder, client_id, id.uuid()), HOLDER);
        let unchanged = d.cards(client_id).await.remove(0);
        for (pan, private) in [(&number, &unchanged.2), (&unchanged.1, &holder), (&number, &holder)] {
            let mut change = Batch::new(client_id);
            change.push(
                &UPDATE_CARD_NUMBER,
                args! { id, client_id, pan: pan.bytes.clone(), private: private.bytes.clone(), key_id: pan.key_id },
            );
            d.write(change).await;
            let mut late = Batch::new(client_id);
            data_keys::reseal(&mut late, &rows[0], new_key, [Some(vec![1]), Some(vec![2])]);
            d.write(late).await;
            assert_eq!(d.cards(client_id).await, [(id, pan.clone(), private.clone())]);
        }
    }

    async fn an_erased_card_does_not_keep_a_key(d: Deployment) {
        let node = d.node().await;
        let client_id = d.client();
        let id = d.add_card(&node, client_id).await;
        let mut batch = Batch::new(client_id);
        batch.push(&ERASE_CARD, args! { id, client_id });
        d.write(batch).await;
        node.rotate(OPERATOR).await.unwrap();
        d.clock.advance(RETIREMENT_GRACE);
        assert_eq!(d.reseal(&node).await, ResealProgress::Done);
    }

    async fn numbers_swapped_in_the_database_do_not_open_and_keep_their_key(d: Deployment) {
        let node = d.node().await;
        let client_id = d.client();
        for _ in 0..2 {
            d.add_card(&node, client_id).await;
        }
        let cards = d.cards(client_id).await;
        let mut batch = Batch::new(client_id);
        for ((id, pan, private), (_, other_pan, _)) in cards.iter().zip(cards.iter().rev()) {
            assert_ne!(pan, other_pan);
            batch.push(
                &UPDATE_CARD_NUMBER,
                args! {
                    id: *id, client_id, pan: other_pan.bytes.clone(), private: private.bytes.clone(), key_id: pan.key_id,
                },
            );
        }
        d.write(batch).await;
        for (id, pan, _) in d.cards(client_id).await {
            let binding = Binding::new(Purpose::CardNumber, client_id, id.uuid());
            assert!(matches!(node.open(binding, &pan).await, Err(VaultError::DoesNotOpen)));
        }
        node.rotate(OPERATOR).await.unwrap();
        d.clock.advance(RETIREMENT_GRACE);
        assert!(
            matches!(d.reseal(&node).await, ResealProgress::Again { after } if after >= Duration::from_secs(60))
        );
        assert_eq!(d.states().await, [KeyState::Retiring, KeyState::Current]);
    }

    async fn two_rotations_in_a_row_end_with_one_key(d: Deployment) {
        let node = d.node().await;
        let client_id = d.client();
        d.add_card(&node, client_id).await;
        node.rotate(OPERATOR).await.unwrap();
        d.add_card(&node, client_id).await;
        let last = node.rotate(OPERATOR).await.unwrap();
        d.add_card(&node, client_id).await;
        d.clock.advance(RETIREMENT_GRACE);
        assert_eq!(d.reseal(&node).await, ResealProgress::Done);
        assert_eq!(d.open_cards(&node, client_id).await, [last]);
        assert_eq!(d.states().await, [KeyState::Destroyed, KeyState::Destroyed, KeyState::Current]);
    }

    async fn of_rotations_at_once_each_one_wins_or_says_that_it_lost(d: Deployment) {
        let d = Arc::new(d);
        let nodes = [d.node().await, d.node().await, d.node().await];
        let rotations = nodes.map(|node| tokio::spawn(async move { node.rotate(OPERATOR).await }));
        let mut won = 0;
        for rotation in rotations {
            match rotation.await.unwrap() {
                Ok(_) => won += 1,
                Err(VaultError::RotatedMeanwhile) => {}
                Err(error) => panic!("{error}"),
            }
        }
        let states = d.states().await;
        assert_eq!(states.iter().filter(|state| **state == KeyState::Current).count(), 1);
        assert_eq!(states.len(), 1 + won);
        assert!(won >= 1);
    }

    async fn a_large_table_is_walked_in_pieces(d: Deployment) {
        let node = d.node().await;
        let clients = [d.client(), d.client()];
        let (pan, holder) = ([7_u8; 40], [8_u8; 40]);
        for client_id in clients {
            // More rows than a page; none of them opens, since only the paging is tested.
            let mut batch = Batch::new(client_id);
            for _ in 0..6000 {
                let args = args! {
                    id: d.chance.uuid(), client_id, pan, private: holder, key_id: current(&node),
                    doc: Json("{}".to_owned()),
                };
                batch.push(&INSERT_CARD, args);
            }
            d.write(batch).await;
        }
        let good = d.add_card(&node, clients[0]).await;
        let new = node.rotate(OPERATOR).await.unwrap();
        assert_eq!(node.reseal().await.unwrap(), ResealProgress::Again { after: Duration::ZERO });
        assert!(matches!(d.reseal(&node).await, ResealProgress::Again { .. }));
        let (_, sealed, _) = d.cards(clients[0]).await.into_iter().find(|(id, ..)| *id == good).unwrap();
        assert_eq!(sealed.key_id, new);
    }

    async fn a_new_key_encryption_key_replaces_the_former_one(d: Deployment) {
        let node = d.node().await;
        let client_id = d.client();
        d.add_card(&node, client_id).await;
        node.rotate(OPERATOR).await.unwrap();
        d.add_card(&node, client_id).await;
        let new = Kek::generate(&d.chance);
        assert_eq!(rewrap(&d.store, &d.kek, &new, &d.chance, d.clock.deployment(), OPERATOR).await.unwrap(), 2);

        // The running node continues, and a rotation under its former key is refused.
        node.refresh().await.unwrap();
        assert_eq!(d.open_cards(&node, client_id).await.len(), 2);
        assert!(matches!(node.rotate(OPERATOR).await, Err(VaultError::RotatedMeanwhile)));

        // A node cannot start with the former key-encryption key, only with the new one.
        assert!(matches!(d.node_with(&d.kek).await, Err(VaultError::OtherKek { .. })));
        let restarted = d.node_with(&new).await.unwrap();
        assert_eq!(d.open_cards(&restarted, client_id).await.len(), 2);
        restarted.rotate(OPERATOR).await.unwrap();

        // Done twice it does nothing, and from a key that was never there it does not work.
        assert_eq!(rewrap(&d.store, &d.kek, &new, &d.chance, d.clock.deployment(), OPERATOR).await.unwrap(), 0);
        let stranger = Kek::generate(&d.chance);
        let other = Kek::generate(&d.chance);
        let refused = rewrap(&d.store, &stranger, &other, &d.chance, d.clock.deployment(), OPERATOR).await;
        assert!(matches!(refused, Err(VaultError::OtherKek { .. })));
    }

    async fn rotations_are_on_record(d: Deployment) {
        let node = d.node().await;
        let old = current(&node);
        node.rotate(OPERATOR).await.unwrap();
        d.clock.advance(RETIREMENT_GRACE);
        assert_eq!(d.reseal(&node).await, ResealProgress::Done);
        let entries = audit::of_object(&d.store, data_keys::DEPLOYMENT, old, 10).await.unwrap();
        let actions: Vec<&str> = entries.iter().rev().map(|entry| entry.action.as_str()).collect();
        assert_eq!(actions, ["data_key.created", "data_key.retired", "data_key.destroyed"]);
    }
}
