//! Batches are all or nothing, and each stands for itself.

use futures_util::future::join_all;
use regente_store::{Batch, Commit, RefusalKind, Store, StoreError, args};

use crate::things::{
    ADD_PART, ADD_THING, CLIENT, INCREMENT, SET_ALL, SET_N, TAKE_ONE, TAKE_ONE_BLINDLY, add, adding, count,
    exists, id, key, missed, n_of, refused, set_n, thing,
};

on_both!(
    a_batch_is_all_or_nothing,
    a_refusal_names_the_statement_and_the_reason,
    guards_come_first,
    a_miss_refuses_only_its_own_batch,
    a_wrong_statement_fails_only_its_own_batch,
    one_of_many_wins_each_version,
    no_increment_is_lost,
    a_guarded_decrement_never_goes_too_far,
    what_may_be_missing_is_no_reason_to_refuse,
    a_first_statement_that_misses_leaves_its_neighbours_alone,
);

async fn a_batch_is_all_or_nothing(store: Store) {
    add(&store, 1).await;
    let mut batch = Batch::new(CLIENT);
    batch.push(&ADD_THING, thing(2)).push(&INCREMENT, key(1)).push(&INCREMENT, key(99));
    assert_eq!(store.apply(batch).await.unwrap(), missed("INCREMENT", 0));
    assert!(!exists(&store, 2).await);
    assert_eq!(n_of(&store, 1).await, 0);

    let mut batch = Batch::new(CLIENT);
    batch.push(&ADD_THING, thing(2)).push(&INCREMENT, key(1)).push_any(&INCREMENT, key(99));
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    assert!(exists(&store, 2).await);
    assert_eq!(n_of(&store, 1).await, 1);
}

async fn a_refusal_names_the_statement_and_the_reason(store: Store) {
    add(&store, 1).await;
    assert_eq!(store.apply(adding(1)).await.unwrap(), refused("ADD_THING", RefusalKind::Unique));

    let mut same_name = Batch::new(CLIENT);
    same_name.push(&ADD_THING, thing(2)).push(
        &ADD_THING,
        args! {
            id: id(3), client_id: CLIENT, name: "thing 0002", doc: None::<String>, bytes: None::<Vec<u8>>,
            n: 0, version: 0,
        },
    );
    assert_eq!(store.apply(same_name).await.unwrap(), refused("ADD_THING", RefusalKind::Unique));

    let mut orphan = Batch::new(CLIENT);
    orphan.push(&ADD_PART, args! { id: id(1), client_id: CLIENT, thing_id: id(99) });
    assert_eq!(store.apply(orphan).await.unwrap(), refused("ADD_PART", RefusalKind::ForeignKey));

    let mut below_zero = Batch::new(CLIENT);
    below_zero.push(&TAKE_ONE_BLINDLY, key(1));
    let Commit::Refused(refusal) = store.apply(below_zero).await.unwrap() else { panic!("it was applied") };
    assert!(refusal.is(&TAKE_ONE_BLINDLY) && !refusal.is(&TAKE_ONE), "{refusal:?}");
    assert!(matches!(refusal.why, RefusalKind::Constraint(_)), "{refusal:?}");

    let mut none = Batch::new(CLIENT);
    none.push_n(&INCREMENT, key(1), 0);
    let why = RefusalKind::RowCount { expected: 0, actual: 1 };
    assert_eq!(store.apply(none).await.unwrap(), refused("INCREMENT", why));
    assert_eq!(count(&store).await, 1);
}

async fn guards_come_first(store: Store) {
    add(&store, 1).await;
    // Were the steps to run in the order of the calls, the unique key would refuse this one.
    let mut batch = Batch::new(CLIENT);
    batch.push(&ADD_THING, thing(1)).guard(&SET_N, set_n(1, 7, 5));
    assert_eq!(store.apply(batch).await.unwrap(), missed("SET_N", 0));
}

async fn a_miss_refuses_only_its_own_batch(store: Store) {
    for number in (1..=64).step_by(9) {
        add(&store, number).await;
    }
    let batches = (1..=64).map(|number| {
        let mut batch = adding(number);
        if number % 7 == 0 {
            batch.push(&INCREMENT, key(1000 + number));
        }
        batch
    });
    let answers = join_all(batches.map(|batch| store.apply(batch))).await;
    for (number, answer) in (1..=64_u128).zip(answers) {
        let was_there = (number - 1) % 9 == 0;
        let expected = match (was_there, number % 7 == 0) {
            (true, _) => refused("ADD_THING", RefusalKind::Unique),
            (false, true) => missed("INCREMENT", 0),
            (false, false) => Commit::Applied,
        };
        assert_eq!(answer.unwrap(), expected, "batch {number}");
        let written = was_there || expected == Commit::Applied;
        assert_eq!(exists(&store, number).await, written, "batch {number}");
    }
}

async fn a_wrong_statement_fails_only_its_own_batch(store: Store) {
    let batches = (1..=32).map(|number| {
        let mut batch = adding(number);
        if number % 5 == 0 {
            // Text for a number: SQLite finds out while it writes, PostgreSQL before.
            batch.push(&SET_N, args! { id: id(number), client_id: CLIENT, version: 0, n: "many" });
        }
        batch
    });
    let answers = join_all(batches.map(|batch| store.apply(batch))).await;
    for (number, answer) in (1..=32).zip(answers) {
        if number % 5 == 0 {
            assert!(matches!(answer, Err(StoreError::Programming(_))), "batch {number}: {answer:?}");
        } else {
            assert_eq!(answer.unwrap(), Commit::Applied, "batch {number}");
        }
    }
    assert_eq!(count(&store).await, 32 - 6);
}

async fn one_of_many_wins_each_version(store: Store) {
    add(&store, 1).await;
    for version in 0..8 {
        let tries = (0..64).map(|runner| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut batch = Batch::new(CLIENT);
                batch.guard(&SET_N, set_n(1, runner, version));
                store.apply(batch).await.unwrap()
            })
        });
        let answers: Vec<Commit> = join_all(tries).await.into_iter().map(Result::unwrap).collect();
        let winners: Vec<usize> = (0..64).filter(|&runner| answers[runner] == Commit::Applied).collect();
        assert_eq!(winners.len(), 1, "version {version}: {winners:?}");
        assert_eq!(answers.iter().filter(|answer| **answer == missed("SET_N", 0)).count(), 63);
        assert_eq!(n_of(&store, 1).await, i64::try_from(winners[0]).unwrap());
    }
}

async fn no_increment_is_lost(store: Store) {
    add(&store, 1).await;
    add(&store, 2).await;
    // In both orders, so that on PostgreSQL two groups may wait for each other in a circle.
    let tries = (0..200).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let (first, second) = if number % 2 == 0 { (1, 2) } else { (2, 1) };
            let mut batch = Batch::new(CLIENT);
            batch.push(&INCREMENT, key(first)).push(&INCREMENT, key(second));
            store.apply(batch).await.unwrap()
        })
    });
    for answer in join_all(tries).await {
        assert_eq!(answer.unwrap(), Commit::Applied);
    }
    assert_eq!(n_of(&store, 1).await, 200);
    assert_eq!(n_of(&store, 2).await, 200);
}

async fn a_guarded_decrement_never_goes_too_far(store: Store) {
    add(&store, 1).await;
    for _ in 0..20 {
        let mut batch = Batch::new(CLIENT);
        batch.push(&INCREMENT, key(1));
        assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    }
    let tries = (0..64).map(|_| async {
        let mut batch = Batch::new(CLIENT);
        batch.guard(&TAKE_ONE, key(1));
        store.apply(batch).await.unwrap()
    });
    let answers = join_all(tries).await;
    assert_eq!(answers.iter().filter(|answer| **answer == Commit::Applied).count(), 20);
    assert_eq!(n_of(&store, 1).await, 0);
}

async fn what_may_be_missing_is_no_reason_to_refuse(store: Store) {
    for number in 0..10 {
        add(&store, number).await;
    }
    // Each thing is reached for four times: the even ones by the version that they have, the others by one that is not there.
    let batches = (0..40).map(|at| {
        let mut batch = Batch::new(CLIENT);
        batch
            .push(&ADD_THING, thing(100 + at))
            .push_at_most_one(&SET_N, set_n(at % 10, 5, if at % 2 == 0 { 0 } else { 7 }));
        batch
    });
    for answer in join_all(batches.map(|batch| store.apply(batch))).await {
        assert_eq!(answer.unwrap(), Commit::Applied);
    }
    for number in 0..10 {
        assert_eq!(n_of(&store, number).await, if number % 2 == 0 { 5 } else { 0 }, "{number}");
    }
    let mut several = Batch::new(CLIENT);
    several.push_at_most_one(&SET_ALL, args! { client_id: CLIENT, n: 1 });
    assert_eq!(
        store.apply(several).await.unwrap(),
        refused("SET_ALL", RefusalKind::RowCount { expected: 1, actual: 50 })
    );
    assert_eq!(n_of(&store, 0).await, 5, "what was refused has changed nothing");
}

async fn a_first_statement_that_misses_leaves_its_neighbours_alone(store: Store) {
    for number in 0..40 {
        add(&store, number).await;
    }
    let batches = (0..40).map(|number| {
        let mut batch = Batch::new(CLIENT);
        let version = if number % 4 == 3 { 7 } else { 0 };
        batch.guard(&SET_N, set_n(number, 1, version)).push(&ADD_THING, thing(100 + number));
        batch
    });
    let answers = join_all(batches.map(|batch| store.apply(batch))).await;
    for (number, answer) in (0..40).zip(answers) {
        let expected = if number % 4 == 3 { missed("SET_N", 0) } else { Commit::Applied };
        assert_eq!(answer.unwrap(), expected, "{number}");
        assert_eq!(exists(&store, 100 + number).await, number % 4 != 3, "{number}");
    }
}
