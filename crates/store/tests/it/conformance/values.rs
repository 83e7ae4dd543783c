//! Values and arguments, on their way in and out.

use regente_store::{Args, Batch, Commit, Json, Store, StoreError, args};
use uuid::Uuid;

use crate::things::{
    ADD_THING, ALL_THINGS, CLIENT, FIND_THING, INCREMENT, SET_N, THINGS_BY_ID, THINGS_BY_NAME, add, count,
    id, key, n_of,
};

on_both!(
    values_come_back_as_they_went,
    wrong_kinds_are_mistakes_and_not_data,
    arguments_are_bound_by_name,
    arguments_must_fit_the_statement,
    what_was_applied_can_be_read,
    lists_are_arguments,
    a_row_is_one_row,
    a_read_cannot_write,
);

async fn values_come_back_as_they_went(store: Store) {
    let bytes: Vec<u8> = (0..=255).collect();
    let text = "São Paulo ✓ '\"\\ \n :name ?1 $1";
    let document = r#"{"a": 1, "nested": {"text": "ç"}, "none": null}"#;
    let mut batch = Batch::new(CLIENT);
    batch.push(
        &ADD_THING,
        args! {
            id: id(u128::MAX), client_id: CLIENT, name: text, doc: Json(document.to_owned()),
            bytes: bytes.clone(), n: i64::MAX, version: i64::MIN,
        },
    );
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    let row = store.row(&FIND_THING, key(u128::MAX)).await.unwrap().unwrap();
    assert_eq!(row.get::<Uuid>("id").unwrap(), Uuid::max());
    assert_eq!(row.get::<&str>("name").unwrap(), text);
    let same: serde_json::Value = serde_json::from_str(row.get("doc").unwrap()).unwrap();
    assert_eq!(same, serde_json::from_str::<serde_json::Value>(document).unwrap());
    assert_eq!(row.get::<Vec<u8>>("bytes").unwrap(), bytes);
    assert_eq!(row.get::<i64>("n").unwrap(), i64::MAX);
    assert_eq!(row.get::<Option<i64>>("version").unwrap(), Some(i64::MIN));

    add(&store, 1).await;
    let row = store.row(&FIND_THING, key(1)).await.unwrap().unwrap();
    assert_eq!(row.get::<Option<Json>>("doc").unwrap(), None);
    assert_eq!(row.get::<Option<&[u8]>>("bytes").unwrap(), None);
    assert!(!row.get::<bool>("n").unwrap());
    assert!(matches!(row.get::<String>("doc"), Err(StoreError::Corrupt(_))));
    assert!(matches!(row.get::<i64>("name"), Err(StoreError::Corrupt(_))));
    assert!(matches!(row.get::<i64>("nonsense"), Err(StoreError::Programming(_))));
}

async fn wrong_kinds_are_mistakes_and_not_data(store: Store) {
    add(&store, 1).await;
    let text_for_a_number = args! { id: id(1), client_id: CLIENT, version: 0, n: "one" };
    let bytes_for_a_number = args! { id: id(1), client_id: CLIENT, version: 0, n: vec![1_u8] };
    for args in [text_for_a_number, bytes_for_a_number] {
        let mut batch = Batch::new(CLIENT);
        batch.push(&SET_N, args);
        let answer = store.apply(batch).await;
        assert!(matches!(answer, Err(StoreError::Programming(_))), "{answer:?}");
    }
    assert_eq!(n_of(&store, 1).await, 0);
}

async fn arguments_are_bound_by_name(store: Store) {
    add(&store, 1).await;
    add(&store, 2).await;
    let mut batch = Batch::new(CLIENT);
    // In another order than in the statement, where `:version` comes twice and after `:n`.
    batch.guard(&SET_N, args! { id: id(2), version: 0, client_id: CLIENT, n: 42 });
    assert_eq!(store.apply(batch).await.unwrap(), Commit::Applied);
    let row = store.row(&FIND_THING, args! { client_id: CLIENT, id: id(2) }).await.unwrap().unwrap();
    assert_eq!((row.get::<i64>("n").unwrap(), row.get::<i64>("version").unwrap()), (42, 1));
    assert_eq!(n_of(&store, 1).await, 0);
}

async fn arguments_must_fit_the_statement(store: Store) {
    let client_id = CLIENT;
    let missing = args! { client_id };
    let extra = args! { client_id, id: id(1), name: "x" };
    let twice = Args::new().with("client_id", client_id).with("id", id(1)).with("id", id(2));
    for args in [missing, extra, twice] {
        let read = store.rows(&FIND_THING, args.clone()).await;
        assert!(matches!(read, Err(StoreError::Programming(_))), "{read:?}");
        let mut batch = Batch::new(client_id);
        batch.push(&INCREMENT, args);
        let written = store.apply(batch).await;
        assert!(matches!(written, Err(StoreError::Programming(_))), "{written:?}");
    }
}

async fn what_was_applied_can_be_read(store: Store) {
    for number in 0..50 {
        add(&store, number).await;
        assert_eq!(count(&store).await, i64::try_from(number).unwrap() + 1);
    }
    let rows = store.rows(&ALL_THINGS, args! { client_id: CLIENT }).await.unwrap();
    let ids: Vec<Uuid> = rows.iter().map(|row| row.get("id").unwrap()).collect();
    assert_eq!(ids, (0..50).map(Uuid::from_u128).collect::<Vec<_>>());
}

async fn lists_are_arguments(store: Store) {
    for number in 1..=4 {
        add(&store, number).await;
    }
    let names = |rows: Vec<regente_store::Row>| -> Vec<String> {
        rows.iter().map(|row| row.get("name").unwrap()).collect()
    };
    let ids = serde_json::to_string(&[id(4), id(2), id(99)]).unwrap();
    let found = store.rows(&THINGS_BY_ID, args! { client_id: CLIENT, ids: Json(ids) }).await.unwrap();
    assert_eq!(names(found), ["thing 0002", "thing 0004"]);
    let wanted = Json(r#"["thing 0001", "it's", "thing 0003"]"#.to_owned());
    let found = store.rows(&THINGS_BY_NAME, args! { client_id: CLIENT, names: wanted }).await.unwrap();
    assert_eq!(names(found), ["thing 0001", "thing 0003"]);
    let none = Json("[]".to_owned());
    assert!(store.rows(&THINGS_BY_NAME, args! { client_id: CLIENT, names: none }).await.unwrap().is_empty());
}

async fn a_row_is_one_row(store: Store) {
    assert!(store.row(&ALL_THINGS, args! { client_id: CLIENT }).await.unwrap().is_none());
    add(&store, 1).await;
    assert!(store.row(&ALL_THINGS, args! { client_id: CLIENT }).await.unwrap().is_some());
    add(&store, 2).await;
    let two = store.row(&ALL_THINGS, args! { client_id: CLIENT }).await;
    assert!(matches!(two, Err(StoreError::Programming(_))), "{two:?}");
}

async fn a_read_cannot_write(store: Store) {
    add(&store, 1).await;
    let read = store.rows(&INCREMENT, key(1)).await;
    assert!(matches!(read, Err(StoreError::Programming(_))), "{read:?}");
    assert_eq!(n_of(&store, 1).await, 0);
}
