//! The ledger: what is out of balance cannot be committed, and balances add up whatever happens around them.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::{join, join_all};
use regente_domain::currency::Currency;
use regente_domain::id::{ChargeId, MerchantId, SellerId};
use regente_domain::ledger::{Account, Books, Entry, Movement, Purpose, Source, Subject};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;
use regente_store::charges::Direction;
use regente_store::ledger::{self, AccountFilter, EntryFilter};
use regente_store::testing::TEST_TIME;
use regente_store::{Args, Batch, Commit, RefusalKind, Sql, Store, args, sql};
use uuid::Uuid;

use crate::things::{CLIENT, adding, count, fold_all};

on_both!(
    what_does_not_balance_cannot_be_committed,
    an_entry_is_never_changed,
    balances_are_exact_at_any_time_while_entries_come_and_are_folded,
    sums_of_the_largest_amounts_fit,
    what_is_wrong_is_found,
    pages_after_an_entry_have_each_once_while_entries_come,
    charges_are_found_by_when_they_moved,
);

sql! {
    /// An entry with any columns.
    PUT_ENTRY = "
        INSERT INTO ledger_entries (source_id, version, ordinal, client_id, at, movement, merchant_id,
            provider_type, currency, debit, credit, amount)
        VALUES (:source_id, 1, 0, :client_id, 0, 'capture', :source_id, 'SANDBOX', :currency, :debit, :credit, :amount)";
    /// Changes the amount of entries.
    CHANGE_ENTRIES = "UPDATE ledger_entries SET amount = amount + 1 WHERE client_id = :client_id";
    /// Changes what an entry credits.
    REDIRECT_ENTRIES = "UPDATE ledger_entries SET credit = 'payout' WHERE client_id = :client_id";
    /// Deletes entries.
    DELETE_ENTRIES = "DELETE FROM ledger_entries WHERE client_id = :client_id";
    /// Makes balances wrong.
    SPOIL_BALANCES = "
        UPDATE ledger_balances SET debits_low = debits_low + 1
        WHERE client_id = :client_id AND purpose = 'payout' AND stripe < 0";
}

const BRL: Currency = Currency::BRL;

const fn books(merchant: u128) -> Books {
    Books {
        client_id: CLIENT,
        merchant_id: MerchantId::new(Uuid::from_u128(merchant)),
        provider_type: ProviderType::Sandbox,
        currency: BRL,
    }
}

fn at(hours: i64, millis: u64) -> Timestamp {
    Timestamp::of_hour(TEST_TIME.hour() + hours) + Duration::from_millis(millis)
}

/// The entry with a number: of one of two merchants, every third for a seller, spread over two years.
fn entry(number: i64) -> Entry {
    let source = Source { id: Uuid::from_u128(number.unsigned_abs().into()), version: 1, ordinal: 0 };
    let seller = SellerId::new(Uuid::from_u128(0x5E));
    let (movement, subject, seller_id) = match number % 3 {
        0 => (Movement::Capture, Subject::Merchant, None),
        1 => (Movement::Capture, Subject::Seller, Some(seller)),
        _ => (Movement::Payout, Subject::Provider, Some(seller)),
    };
    let books = books(u128::try_from(0x3E + number % 2).unwrap());
    let moment = at(number * 37, u64::try_from(number % 60).unwrap() * 60_000);
    books.entry(source, moment, movement, subject, seller_id, 100 + number).unwrap()
}

async fn post(store: &Store, entries: &[Entry]) {
    let mut batch = Batch::new(CLIENT);
    ledger::post(&mut batch, entries);
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
}

/// The sums of accounts, counted from nothing.
fn sums<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> BTreeMap<Account, (i64, i128, i128)> {
    let mut sums = BTreeMap::new();
    for entry in entries {
        let amount = i128::from(entry.amount.minor_units());
        for (account, debited, credited) in [(entry.debited(), amount, 0), (entry.credited(), 0, amount)] {
            let sum: &mut (i64, i128, i128) = sums.entry(account).or_default();
            *sum = (sum.0 + 1, sum.1 + debited, sum.2 + credited);
        }
    }
    sums
}

async fn stored(store: &Store, at: Option<Timestamp>) -> BTreeMap<Account, (i64, i128, i128)> {
    let all = AccountFilter::default();
    let found = ledger::balances(store, CLIENT, &all, at, 1000, 0).await.unwrap();
    found.iter().map(|found| (found.account, (found.entries, found.debits, found.credits))).collect()
}

async fn agrees(store: &Store) {
    assert_eq!(ledger::wrong_balances(store, CLIENT, 10).await.unwrap(), []);
    assert_eq!(ledger::wrong_spans(store, CLIENT).await.unwrap(), 0);
    assert_eq!(ledger::unbalanced(store, CLIENT).await.unwrap(), []);
}

async fn what_does_not_balance_cannot_be_committed(store: Store) {
    type Word = Option<&'static str>;
    let entry = |currency: Word, debit: Word, credit: Word, amount: Option<i64>| {
        args! { source_id: Uuid::from_u128(1), client_id: CLIENT, currency, debit, credit, amount }
    };
    let (debit, credit, currency) = (Some("provider_receivable"), Some("merchant_payable"), Some("BRL"));
    let unbalanced = [
        ("only a debit", entry(currency, debit, None, Some(100))),
        ("only a credit", entry(currency, None, credit, Some(100))),
        ("nothing moved", entry(currency, debit, credit, Some(0))),
        ("less than nothing", entry(currency, debit, credit, Some(-100))),
        ("no amount", entry(currency, debit, credit, None)),
        ("no currency", entry(None, debit, credit, Some(100))),
        ("from an account to itself", entry(currency, debit, debit, Some(100))),
    ];
    for (what, columns) in unbalanced {
        // Something else is in the batch, which is not committed either.
        let mut batch = adding(1);
        batch.push(&PUT_ENTRY, columns);
        let answer = store.apply(batch).await.unwrap();
        let Commit::Refused(refusal) = answer else { panic!("{what}: {answer:?}") };
        assert_eq!(refusal.statement, "PUT_ENTRY", "{what}");
        assert!(matches!(refusal.why, RefusalKind::Constraint(_)), "{what}: {refusal:?}");
        assert_eq!(count(&store).await, 0, "{what}");
    }
    let mut batch = adding(1);
    batch.push(&PUT_ENTRY, entry(currency, debit, credit, Some(100)));
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
}

async fn an_entry_is_never_changed(store: Store) {
    post(&store, &[entry(1)]).await;
    for sql in [&CHANGE_ENTRIES, &REDIRECT_ENTRIES, &DELETE_ENTRIES] {
        let answer = try_any(&store, sql, args! { client_id: CLIENT }).await;
        let Commit::Refused(refusal) = answer else { panic!("{answer:?}") };
        assert!(matches!(refusal.why, RefusalKind::Constraint(_)), "{refusal:?}");
    }
    assert_eq!(ledger::of_sources(&store, CLIENT, &[entry(1).source.id]).await.unwrap(), [entry(1)]);
    // What it records is recorded once.
    let mut batch = Batch::new(CLIENT);
    ledger::post(&mut batch, &[Entry { at: at(5, 0), ..entry(1) }]);
    let again = store.apply(batch).await.unwrap();
    assert!(matches!(&again, Commit::Refused(refusal) if refusal.why == RefusalKind::Unique), "{again:?}");
    assert_eq!(stored(&store, None).await, sums(&[entry(1)]));
}

async fn try_any(store: &Store, sql: &'static Sql, args: Args) -> Commit {
    let mut batch = Batch::new(CLIENT);
    batch.push_any(sql, args);
    store.apply(batch).await.unwrap()
}

async fn balances_are_exact_at_any_time_while_entries_come_and_are_folded(store: Store) {
    const ENTRIES: i64 = 480;
    let early: Vec<Entry> = (1..=ENTRIES / 2).map(entry).collect();
    let late: Vec<Entry> = (ENTRIES / 2 + 1..=ENTRIES).map(entry).collect();
    post(&store, &early).await;
    let posting = async {
        for some in late.chunks(40) {
            join_all(some.iter().map(|entry| post(&store, std::slice::from_ref(entry)))).await;
        }
    };
    let until = |at: Timestamp| early.iter().filter(move |entry| entry.at <= at);
    let reading = async {
        for number in (1..ENTRIES / 2).step_by(11) {
            // To the millisecond: an entry counts at its time and not before.
            let at = entry(number).at;
            assert_eq!(stored(&store, Some(at)).await, sums(until(at)));
            let before = at - Duration::from_millis(1);
            assert_eq!(stored(&store, Some(before)).await, sums(until(before)));
        }
    };
    let folding = async {
        for rows in [7, 16, 100] {
            fold_all::<Account>(&store, rows).await;
        }
    };
    join(join(folding, fold_all::<Account>(&store, 11)), join(posting, reading)).await;
    fold_all::<Account>(&store, 1000).await;
    agrees(&store).await;
    let all: Vec<Entry> = early.iter().chain(&late).copied().collect();
    assert_eq!(stored(&store, None).await, sums(&all));
    assert_eq!(stored(&store, Some(at(0, 0))).await, BTreeMap::new());
    lists_agree(&store, &all).await;
}

/// Every filter of a list finds what a search through all entries finds, with its number.
async fn lists_agree(store: &Store, all: &[Entry]) {
    let (from, to) = (all[99].at, all[300].at + Duration::from_millis(1));
    let of = |accounts: AccountFilter| EntryFilter { accounts, ..EntryFilter::default() };
    let merchant = all[0].merchant_id;
    let seller = SellerId::new(Uuid::from_u128(0x5E));
    let payable = vec![Purpose::SellerPayable];
    type Matches<'a> = Box<dyn Fn(&Entry) -> bool + 'a>;
    let cases: [(EntryFilter, Matches<'_>); 7] = [
        (EntryFilter::default(), Box::new(|_| true)),
        (
            EntryFilter { from: Some(from), to: Some(to), ..EntryFilter::default() },
            Box::new(|entry| (from..to).contains(&entry.at)),
        ),
        (
            of(AccountFilter { merchants: Some(vec![merchant]), ..AccountFilter::default() }),
            Box::new(|entry| entry.merchant_id == merchant),
        ),
        (
            of(AccountFilter { purposes: Some(payable.clone()), ..AccountFilter::default() }),
            Box::new(|entry| entry.credit == Purpose::SellerPayable),
        ),
        (
            of(AccountFilter { sellers: Some(vec![seller]), ..AccountFilter::default() }),
            Box::new(|entry| entry.seller_id.is_some()),
        ),
        (
            EntryFilter {
                movements: Some(vec![Movement::Payout]),
                from: Some(from),
                ..EntryFilter::default()
            },
            Box::new(|entry| entry.movement == Movement::Payout && entry.at >= from),
        ),
        (
            EntryFilter { sources: Some(vec![all[7].source.id]), ..EntryFilter::default() },
            Box::new(|entry| entry.source.id == all[7].source.id),
        ),
    ];
    for (filter, matches) in cases {
        let expected: Vec<Entry> = all.iter().filter(|entry| matches(entry)).copied().collect();
        assert_eq!(ledger::count(store, CLIENT, &filter).await.unwrap(), expected.len() as i64, "{filter:?}");
        let found = ledger::page(store, CLIENT, &filter, Direction::Ascending, 1000, 0).await.unwrap();
        assert_eq!(found, expected, "{filter:?}");
        let newest = ledger::page(store, CLIENT, &filter, Direction::Descending, 1, 0).await.unwrap();
        assert_eq!(newest.first(), expected.last(), "{filter:?}");
    }
}

async fn sums_of_the_largest_amounts_fit(store: Store) {
    let largest = Amount::MINOR_UNITS_MAX;
    let entries: Vec<Entry> = (1..=1100)
        .map(|number| {
            let source = Source { id: Uuid::from_u128(number), version: 1, ordinal: 0 };
            let of = books(1).entry(source, TEST_TIME, Movement::Capture, Subject::Merchant, None, largest);
            of.unwrap()
        })
        .collect();
    for some in entries.chunks(550) {
        post(&store, some).await;
    }
    fold_all::<Account>(&store, 100).await;
    agrees(&store).await;
    let expected = i128::from(largest) * 1100;
    assert!(expected > i128::from(i64::MAX));
    assert_eq!(stored(&store, None).await, sums(&entries));
}

async fn what_is_wrong_is_found(store: Store) {
    let entries: Vec<Entry> = (1..=12).map(entry).collect();
    post(&store, &entries).await;
    fold_all::<Account>(&store, 100).await;
    agrees(&store).await;
    let spoiled = try_any(&store, &SPOIL_BALANCES, args! { client_id: CLIENT }).await;
    assert_eq!(spoiled, Commit::Applied);
    let wrong = ledger::wrong_balances(&store, CLIENT, 10).await.unwrap();
    assert_eq!(wrong.len(), 4, "{wrong:?}");
    assert!(wrong.iter().all(|wrong| wrong.account.purpose == Purpose::Payout), "{wrong:?}");
    assert!(ledger::wrong_spans(&store, CLIENT).await.unwrap() > 0);
    assert_eq!(ledger::unbalanced(&store, CLIENT).await.unwrap(), [BRL]);
}

async fn pages_after_an_entry_have_each_once_while_entries_come(store: Store) {
    let entries: Vec<Entry> = (1..=12).map(entry).collect();
    let (late, early) = entries.split_at(6);
    post(&store, late).await;
    let all = AccountFilter::default();
    let (mut found, mut last): (Vec<Entry>, Option<Entry>) = (Vec::new(), None);
    loop {
        let page = ledger::after(&store, CLIENT, &all, (None, None), last.as_ref(), 2).await.unwrap();
        if last.is_none() {
            // They happened before all others, and are posted now.
            let before = |(n, entry): (u64, &Entry)| Entry { at: at(-10_000, n), ..*entry };
            post(&store, &(0..).zip(early).map(before).collect::<Vec<_>>()).await;
        }
        found.extend(&page);
        match page.last() {
            Some(entry) => last = Some(*entry),
            None => break,
        }
    }
    let mut expected = late.to_vec();
    expected.sort_by_key(|entry| (entry.at, entry.source));
    assert_eq!(found, expected);
    let (from, to) = (expected[1].at, expected[5].at);
    let found = ledger::after(&store, CLIENT, &all, (Some(from), Some(to)), None, 100).await.unwrap();
    expected.retain(|entry| (from..to).contains(&entry.at));
    assert_eq!(found, expected);
}

async fn charges_are_found_by_when_they_moved(store: Store) {
    let with = |number: i64, version: i64, hours: i64| {
        let source = Source { version, ..entry(number).source };
        Entry { source, at: at(hours, 0), ..entry(number) }
    };
    // The third moves twice, in the same moment as the first. The fourth entry is of a line of a file.
    let moved = [
        with(3, 1, 2),
        with(1, 1, 2),
        with(3, 2, 5),
        with(2, 0, 3),
        with(2, 1, 4),
        with(5, 1, 3),
        with(4, 1, 9),
    ];
    post(&store, &moved).await;
    let id = |number: u128| ChargeId::new(Uuid::from_u128(number));
    let mut after = (at(1, 0), ChargeId::new(Uuid::nil()));
    let mut found = Vec::new();
    loop {
        let page = ledger::charges_moved(&store, CLIENT, after, at(9, 0), id(5), 1).await.unwrap();
        match page[..] {
            [] => break,
            [one] => after = one,
            _ => panic!("{page:?}"),
        }
        found.extend(page);
    }
    assert_eq!(found, [(at(2, 0), id(1)), (at(2, 0), id(3)), (at(4, 0), id(2)), (at(5, 0), id(3))]);
}
