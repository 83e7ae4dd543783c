//! The vault's guarantees about one ciphertext, one key, one hash.

use std::collections::HashSet;

use regente_domain::card::{CardNumber, Expiry};
use regente_domain::id::{ClientId, TokenId};
use regente_domain::time::Timestamp;
use regente_engine::chance::Chance;
use regente_engine::clock::Clock;
use regente_engine::vault::{Binding, Kek, Lookup, NotAKek, Purpose, Vault, VaultError, token_digest};
use regente_store::clients::{self, Client, ClientStatus};
use regente_store::sealed::Sealed;
use regente_store::testing::{TEST_TIME, TestDatabase};
use regente_store::{Batch, Commit, Store};
use uuid::Uuid;

const PAN: &[u8] = b"4111111111111111";
const EVERY_PURPOSE: [Purpose; 9] = [
    Purpose::CardNumber,
    Purpose::CardHolder,
    Purpose::TokenContents,
    Purpose::ProviderCredentials,
    Purpose::CustomerData,
    Purpose::CustomerAliasData,
    Purpose::ChargeData,
    Purpose::AnswerBody,
    Purpose::ClientSecret,
];

struct Fixture {
    vault: Vault,
    store: Store,
    chance: Chance,
    _database: TestDatabase,
}

async fn fixture(seed: u64) -> Fixture {
    let database = TestDatabase::fresh_sqlite();
    let store = database.open().await;
    let chance = Chance::seeded(seed);
    let kek = Kek::generate(&chance);
    let vault = Vault::unlock(store.clone(), kek, chance.clone(), Clock::manual(TEST_TIME)).await.unwrap();
    Fixture { vault, store, chance, _database: database }
}

impl Fixture {
    fn binding(&self, purpose: Purpose) -> Binding {
        Binding::new(purpose, ClientId::new(self.chance.uuid()), self.chance.uuid())
    }

    async fn opens(&self, binding: Binding, sealed: &Sealed) -> bool {
        match self.vault.open(binding, sealed).await {
            Ok(_) => true,
            Err(VaultError::DoesNotOpen) => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// A client whose secret is `secret`.
    async fn client(&self, id: u128, secret: [u8; 32]) -> ClientId {
        let id = ClientId::new(Uuid::from_u128(id));
        let client = Client {
            id,
            name: "Loja".to_owned(),
            status: ClientStatus::Active,
            contacts: Vec::new(),
            language: "pt-BR".to_owned(),
            time_zone: "America/Sao_Paulo".to_owned(),
            document_check_digits: regente_domain::check_digits::CheckDigits::Off,
            prepayment: None,
            version: 1,
            updated_at: Timestamp::EPOCH,
            unknown_members: serde_json::Map::new(),
        };
        let binding = Binding::new(Purpose::ClientSecret, id, id.uuid());
        let mut batch = Batch::new(id);
        clients::insert(&mut batch, &client, &self.vault.seal(binding, &secret)).unwrap();
        assert_eq!(self.store.apply(batch).await.unwrap(), Commit::Applied);
        id
    }
}

#[tokio::test]
async fn what_is_sealed_opens_where_it_was_sealed_for() {
    let f = fixture(1).await;
    for plain in [b"".as_slice(), PAN, &[0x5a; 100_000]] {
        let binding = f.binding(Purpose::CardNumber);
        let sealed = f.vault.seal(binding, plain);
        assert_eq!(f.vault.open(binding, &sealed).await.unwrap().as_slice(), plain);
        assert!(plain.is_empty() || !sealed.bytes.windows(plain.len()).any(|window| window == plain));
    }
}

#[tokio::test]
async fn two_rows_that_are_swapped_do_not_open() {
    let f = fixture(2).await;
    let client = ClientId::new(f.chance.uuid());
    let (one, other) = (f.chance.uuid(), f.chance.uuid());
    let (one, other) =
        (Binding::new(Purpose::CardNumber, client, one), Binding::new(Purpose::CardNumber, client, other));
    let (of_one, of_other) = (f.vault.seal(one, PAN), f.vault.seal(other, PAN));
    assert!(f.opens(one, &of_one).await && f.opens(other, &of_other).await);
    assert!(!f.opens(one, &of_other).await);
    assert!(!f.opens(other, &of_one).await);
}

#[tokio::test]
async fn another_client_or_purpose_does_not_open_it() {
    let f = fixture(3).await;
    for purpose in EVERY_PURPOSE {
        let binding = f.binding(purpose);
        let sealed = f.vault.seal(binding, PAN);
        let other_client = Binding { client_id: ClientId::new(f.chance.uuid()), ..binding };
        assert!(!f.opens(other_client, &sealed).await);
        for other in EVERY_PURPOSE.into_iter().filter(|other| *other != purpose) {
            assert!(
                !f.opens(Binding { purpose: other, ..binding }, &sealed).await,
                "{purpose:?} as {other:?}"
            );
        }
    }
}

#[tokio::test]
async fn client_and_id_cannot_trade_places() {
    let f = fixture(4).await;
    let (a, b) = (f.chance.uuid(), f.chance.uuid());
    let sealed = f.vault.seal(Binding::new(Purpose::CardNumber, ClientId::new(a), b), PAN);
    assert!(!f.opens(Binding::new(Purpose::CardNumber, ClientId::new(b), a), &sealed).await);
}

#[tokio::test]
async fn every_changed_bit_is_noticed() {
    let f = fixture(5).await;
    let binding = f.binding(Purpose::CardNumber);
    let sealed = f.vault.seal(binding, PAN);
    for at in 0..sealed.bytes.len() * 8 {
        let mut changed = sealed.clone();
        changed.bytes[at / 8] ^= 1 << (at % 8);
        assert!(!f.opens(binding, &changed).await, "bit {at}");
    }
    for length in 0..sealed.bytes.len() {
        let cut = Sealed { key_id: sealed.key_id, bytes: sealed.bytes[..length].to_vec() };
        assert!(!f.opens(binding, &cut).await, "cut to {length} bytes");
    }
}

#[tokio::test]
async fn the_same_text_is_never_sealed_alike() {
    let f = fixture(6).await;
    let binding = f.binding(Purpose::CardNumber);
    let sealed: HashSet<Vec<u8>> = (0..1000).map(|_| f.vault.seal(binding, PAN).bytes).collect();
    assert_eq!(sealed.len(), 1000);
}

#[tokio::test]
async fn an_unknown_data_key_is_named_as_such() {
    let f = fixture(7).await;
    let binding = f.binding(Purpose::CardNumber);
    let sealed = Sealed { key_id: f.chance.uuid(), ..f.vault.seal(binding, PAN) };
    match f.vault.open(binding, &sealed).await {
        Err(VaultError::UnknownKey(id)) => assert_eq!(id, sealed.key_id),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_token_row_alone_opens_nothing() {
    let f = fixture(8).await;
    let (client, token) = (ClientId::new(f.chance.uuid()), f.chance.secret_id());
    let sealed = f.vault.seal(Binding::new(Purpose::TokenContents, client, TokenId::uuid(token)), PAN);
    // Everything in the row: the digest, whole or in halves, client, key id.
    let digest = token_digest(token);
    let from_row = [
        Binding::new(Purpose::TokenContents, client, Uuid::from_slice(&digest[..16]).unwrap()),
        Binding::new(Purpose::TokenContents, client, Uuid::from_slice(&digest[16..]).unwrap()),
        Binding::new(Purpose::TokenContents, client, client.uuid()),
        Binding::new(Purpose::TokenContents, client, sealed.key_id),
        Binding::new(Purpose::TokenContents, client, Uuid::nil()),
    ];
    for binding in from_row {
        assert!(!f.opens(binding, &sealed).await);
    }
    assert!(!digest.windows(16).any(|window| window == token.uuid().as_bytes()));
    assert!(f.opens(Binding::new(Purpose::TokenContents, client, token.uuid()), &sealed).await);
}

#[tokio::test]
async fn hashes_of_a_client_are_its_own_and_of_one_kind() {
    let f = fixture(9).await;
    let (one, other) = (f.client(1, [1; 32]).await, f.client(2, [2; 32]).await);
    let mut seen = HashSet::new();
    for client in [one, other] {
        let keys = f.vault.client_keys(client).await.unwrap();
        for lookup in [Lookup::Email, Lookup::Document, Lookup::DocumentNumber] {
            assert_eq!(
                keys.lookup_key(lookup, "ana@example.com"),
                keys.lookup_key(lookup, "ana@example.com")
            );
            assert!(seen.insert(keys.lookup_key(lookup, "ana@example.com").to_vec()));
        }
        assert!(seen.insert(keys.request_fingerprint(b"ana@example.com").to_vec()));
        for parts in [&["ana@example.com"][..], &["ab", "c"], &["a", "bc"], &["abc"]] {
            assert!(seen.insert(keys.idempotency_digest(parts).into_bytes().to_vec()));
        }
    }
}

/// These values are in databases: if they changed, no stored card, customer or claim could be found.
#[tokio::test]
async fn hashes_stay_what_they_are_from_release_to_release() {
    let f = fixture(10).await;
    let keys = f.vault.client_keys(f.client(1, [7; 32]).await).await.unwrap();
    let number = CardNumber::parse("4111 1111 1111 1111").unwrap();
    let fingerprint = keys.card_fingerprint(&number, Expiry::parse("12/2030").unwrap());
    assert_eq!(fingerprint.get_version_num(), 5);
    assert_eq!(fingerprint.get_variant(), uuid::Variant::RFC4122);
    let hex = |bytes: [u8; 32]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let known = [
        fingerprint.to_string(),
        hex(keys.lookup_key(Lookup::Email, "ana@example.com")),
        hex(keys.lookup_key(Lookup::Document, "BR:CPF:12345678909")),
        hex(keys.lookup_key(Lookup::DocumentNumber, "12345678909")),
        hex(keys.request_fingerprint(b"{}")),
        keys.idempotency_digest(&["secret_key", "POST /v1/charges", "k"]).simple().to_string(),
        hex(token_digest(TokenId::new(Uuid::from_u128(1)))),
    ];
    assert_eq!(known, KNOWN_HASHES);
}

/// Computed independently of this code, by RFC 5869 and RFC 2104.
const KNOWN_HASHES: [&str; 7] = [
    "5bd2c47e-5540-5a0c-8568-1c56a6ecd2da",
    "0b525b7f4f7507b1a1b19d509e3800ffc598c3136ddabe84be208e10dd0c5994",
    "6a87c1df1533d79b4ff1a406b053063125f245bb020a0fc8767ffca9df47b82d",
    "74e61bd3bea0ae00b049a559aa0950010dc2a0c34a2e6a775e7db2a2e794f6da",
    "1c7843ce8b75e273a75414751bb2d7cc6e7b2d13788cf6b7e6e32b3c886e0377",
    "3a0fef6cda08fa4e95eb878c2d09b4f5",
    "2e808b2a1cf2eea16394624f0d1fb5359b499334c93d1b3f29ded82c4c89ea4b",
];

#[tokio::test]
async fn the_fingerprint_of_a_card_depends_on_number_and_expiry_alone() {
    let f = fixture(11).await;
    let keys = f.vault.client_keys(f.client(1, [1; 32]).await).await.unwrap();
    let of = |number: &str, expiry: &str| {
        keys.card_fingerprint(&CardNumber::parse(number).unwrap(), Expiry::parse(expiry).unwrap())
    };
    assert_eq!(of("4111111111111111", "12/2030"), of("4111 1111-1111 1111", "12/2030"));
    assert_ne!(of("4111111111111111", "12/2030"), of("4111111111111111", "11/2030"));
    assert_ne!(of("4111111111111111", "12/2030"), of("5555555555554444", "12/2030"));
}

#[test]
fn a_key_encryption_key_is_read_in_each_of_its_spellings() {
    let hex = "00fb0203f405060708090a0b0c0d0e0f101112131415161718191a1b1c1dffee";
    let base64 = "APsCA/QFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd/+4=";
    let kek = Kek::parse(hex).unwrap();
    assert_eq!(kek.expose_text().as_str(), hex);
    for text in [
        &format!("  {hex}\r\n"),
        &hex.to_uppercase(),
        base64,
        base64.trim_end_matches('='),
        &base64.replace('/', "_").replace('+', "-"),
        &format!("{base64}\n"),
    ] {
        assert_eq!(Kek::parse(text).unwrap().id(), kek.id(), "{text:?}");
    }
    let short = &hex[..62];
    let long = format!("{hex}00");
    for text in
        ["", " ", short, &long, "not a key", &base64[..40], &format!("AAAA{base64}"), &hex.replace('f', "g")]
    {
        assert_eq!(Kek::parse(text).unwrap_err(), NotAKek, "{text:?}");
    }
}

#[test]
fn the_id_of_a_key_encryption_key_tells_keys_apart_and_nothing_about_them() {
    let chance = Chance::seeded(12);
    let keks: Vec<Kek> = (0..100).map(|_| Kek::generate(&chance)).collect();
    let ids: HashSet<&str> = keks.iter().map(Kek::id).collect();
    assert_eq!(ids.len(), 100);
    assert!(keks.iter().all(|kek| kek.id().len() == 16 && !kek.expose_text().contains(kek.id())));
    assert!(keks.iter().all(|kek| !kek.looks_like_a_sample()));
}

#[test]
fn a_key_that_somebody_typed_is_recognized() {
    let counting: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
    let typed: String =
        b"change-me-change-me-0123456789ab".iter().map(|byte| format!("{byte:02x}")).collect();
    for text in ["00".repeat(32), "ff".repeat(32), "0123456789abcdef".repeat(4), counting, typed] {
        assert!(Kek::parse(&text).unwrap().looks_like_a_sample(), "{text}");
    }
}

#[tokio::test]
async fn nothing_secret_is_printed() {
    let f = fixture(13).await;
    let kek = Kek::generate(&f.chance);
    let keys = f.vault.client_keys(f.client(1, [0xab; 32]).await).await.unwrap();
    let token: TokenId = f.chance.secret_id();
    let binding = Binding::new(Purpose::TokenContents, ClientId::new(Uuid::nil()), token.uuid());
    assert_eq!(format!("{kek:?}"), format!("Kek({})", kek.id()));
    assert_eq!(format!("{keys:?}"), "ClientKeys(…)");
    assert!(!format!("{binding:?}").contains(&token.to_string()));
    let sealer = f.vault.sealer();
    assert_eq!(format!("{sealer:?}"), format!("Sealer(data key {})", sealer.key_id()));
    assert!(format!("{:?}", f.vault).starts_with("Vault(Kek("));
    let text = kek.expose_text();
    let error = Kek::parse(&text[..60]).unwrap_err();
    assert!(!format!("{error:?} {error}").contains(&text[..8]));
}
