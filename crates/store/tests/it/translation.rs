//! One text in the words of two databases.

use regente_store::{DatabaseKind, Placement, Sql, testing};

static REPEATED: Sql = text("UPDATE t SET a = :a, b = :b WHERE b <> :b AND c = :c_2 AND a < :a");
static QUOTED: Sql = text("SELECT ':no', \"a:no\", 'it''s :no' -- :no\n, /* :no */ :yes");
static CAST: Sql = text("SELECT :a::bigint, x::text FROM t WHERE y[1:2] = :b");
static LISTS: Sql = text("SELECT 1 WHERE a IN EACH_TEXT(:names) AND b NOT IN EACH_UUID(:ids) AND c = :c");
static WRONG_LIST: Sql = text("SELECT 1 WHERE a IN EACH_TEXT(names)");
static OPTIONAL_LIST: Sql = text("SELECT 1 WHERE (:names IS NULL OR a IN EACH_TEXT(:names)) AND b = :b");
static STATES: Sql = text("SELECT 1 WHERE status IN STATES_UNDER_WAY OR b IN (:b)");
static NOW: Sql = text("UPDATE t SET until = DATABASE_NOW + :ms WHERE until <= DATABASE_NOW");
static BESIDES_A_LIST: Sql =
    text("SELECT 1 WHERE UNINDEXED client_id = :client_id AND a IN EACH_TEXT(:names)");
static SPLIT: Sql = Sql::split("it", "SPLIT", "lite :b :a", "post :a :b");

const fn text(text: &'static str) -> Sql {
    Sql::one("it", "TEXT", text)
}

fn for_many_rows(sql: &Sql, types: &[&str]) -> Option<String> {
    testing::for_many_rows(sql, Placement::OneServer, types)
}

fn both(sql: &Sql) -> (&str, &str) {
    (sql.text(DatabaseKind::Sqlite), sql.text(DatabaseKind::Postgres))
}

#[test]
fn a_name_has_one_number_wherever_it_stands() {
    let (sqlite, postgres) = both(&REPEATED);
    assert_eq!(sqlite, "UPDATE t SET a = ?1, b = ?2 WHERE b <> ?2 AND c = ?3 AND a < ?1");
    assert_eq!(postgres, "UPDATE t SET a = $1, b = $2 WHERE b <> $2 AND c = $3 AND a < $1");
    assert_eq!(REPEATED.argument_names(DatabaseKind::Postgres), ["a", "b", "c_2"]);
}

#[test]
fn quoted_text_and_comments_are_left_alone() {
    let (sqlite, postgres) = both(&QUOTED);
    assert_eq!(sqlite, "SELECT ':no', \"a:no\", 'it''s :no' -- :no\n, /* :no */ ?1");
    assert_eq!(postgres, "SELECT ':no', \"a:no\", 'it''s :no' -- :no\n, /* :no */ $1");
}

#[test]
fn casts_and_slices_are_no_arguments() {
    assert_eq!(both(&CAST).1, "SELECT $1::bigint, x::text FROM t WHERE y[1:2] = $2");
}

#[test]
fn lists_are_the_dialects_own() {
    let (sqlite, postgres) = both(&LISTS);
    assert_eq!(
        sqlite,
        "SELECT 1 WHERE a IN (SELECT value FROM json_each(?1)) \
         AND b NOT IN (SELECT unhex(replace(value, '-', '')) FROM json_each(?2)) AND c = ?3"
    );
    assert_eq!(
        postgres,
        "SELECT 1 WHERE a = ANY (ARRAY(SELECT value FROM jsonb_array_elements_text($1))) \
         AND b <> ALL (ARRAY(SELECT value::uuid FROM jsonb_array_elements_text($2))) AND c = $3"
    );
    assert!(both(&WRONG_LIST).0.contains("EACH_takes_one_named_argument"));
}

#[test]
fn the_states_that_are_under_way_are_the_domains() {
    let (sqlite, postgres) = both(&STATES);
    let states = "('pending', 'capture_pending', 'refund_pending')";
    assert_eq!(sqlite, format!("SELECT 1 WHERE status IN {states} OR b IN (?1)"));
    assert_eq!(postgres, format!("SELECT 1 WHERE status IN {states} OR b IN ($1)"));
}

#[test]
fn now_is_what_the_databases_clock_shows() {
    let (sqlite, postgres) = both(&NOW);
    let now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
    assert_eq!(sqlite, format!("UPDATE t SET until = {now} + ?1 WHERE until <= {now}"));
    let now = "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)";
    assert_eq!(postgres, format!("UPDATE t SET until = {now} + $1 WHERE until <= {now}"));
}

#[test]
fn a_column_can_be_kept_from_its_index() {
    let (sqlite, postgres) = both(&BESIDES_A_LIST);
    assert!(sqlite.starts_with("SELECT 1 WHERE +client_id = ?1 AND a IN"), "{sqlite}");
    assert!(postgres.starts_with("SELECT 1 WHERE client_id = $1 AND a = ANY"), "{postgres}");
}

#[test]
fn a_list_is_json_wherever_it_stands() {
    let (sqlite, postgres) = both(&OPTIONAL_LIST);
    assert!(sqlite.contains("(?1 IS NULL OR a IN (SELECT value FROM json_each(?1)))"), "{sqlite}");
    assert!(
        postgres.contains(
            "($1::jsonb IS NULL OR a = ANY (ARRAY(SELECT value FROM jsonb_array_elements_text($1))))"
        )
    );
    assert!(postgres.ends_with("b = $2"), "{postgres}");
}

#[test]
fn a_split_has_an_order_of_its_own_on_each_database() {
    assert_eq!(both(&SPLIT), ("lite ?1 ?2", "post $1 $2"));
    assert_eq!(SPLIT.argument_names(DatabaseKind::Sqlite), ["b", "a"]);
    assert_eq!(SPLIT.argument_names(DatabaseKind::Postgres), ["a", "b"]);
}

#[test]
fn an_insert_takes_its_rows_from_arrays() {
    static INSERT: Sql = text("INSERT INTO t (a, b, c) VALUES (:a, NULL, CAST(:c AS BIGINT))");
    assert_eq!(
        for_many_rows(&INSERT, &["uuid", "int8"]).unwrap(),
        "INSERT INTO t (a, b, c) SELECT each.p1, NULL, CAST(each.p2 AS BIGINT) \
         FROM unnest($1::uuid[], $2::int8[]) AS each(p1, p2)"
    );
}

#[test]
fn an_insert_by_query_takes_its_rows_from_arrays_too() {
    static INSERT: Sql = text("INSERT INTO t SELECT :a, (SELECT x FROM w WHERE w.a = :a) WHERE TRUE");
    assert_eq!(
        for_many_rows(&INSERT, &["uuid"]).unwrap(),
        "INSERT INTO t SELECT each.p1, (SELECT x FROM w WHERE w.a = each.p1) FROM unnest($1::uuid[]) AS each(p1) \
         WHERE TRUE"
    );
}

#[test]
fn an_insert_from_a_table_takes_its_rows_from_arrays_as_well() {
    static INSERT: Sql =
        text("INSERT INTO t SELECT :a, w.b FROM w WHERE w.b = :b ON CONFLICT (a) DO NOTHING");
    assert_eq!(
        for_many_rows(&INSERT, &["uuid", "int8"]).unwrap(),
        "INSERT INTO t SELECT each.p1, w.b FROM w CROSS JOIN unnest($1::uuid[], $2::int8[]) AS each(p1, p2) \
         WHERE w.b = each.p2 ON CONFLICT (a) DO NOTHING"
    );
}

#[test]
fn the_rows_of_one_client_share_it_as_one_argument() {
    static INSERT: Sql = text("INSERT INTO t (a, client_id) VALUES (:a, :client_id)");
    static UPDATE: Sql = text("UPDATE t SET a = :a WHERE client_id = :client_id AND id = :id");
    static IN_CONFLICT: Sql = text(
        "INSERT INTO t (a, client_id, b) VALUES (:a, :client_id, lower(')')) ON CONFLICT (a) DO UPDATE SET b = :b",
    );
    static IN_BOTH: Sql =
        text("INSERT INTO t (a, client_id) VALUES (:a, :client_id) ON CONFLICT (a) DO UPDATE SET b = :a");
    static OF_A_CLIENT: Sql = text("UPDATE t SET a = 1 WHERE client_id = :client_id");
    let of_one_client = |sql| testing::for_many_rows(sql, Placement::ByClient, &["text", "uuid", "uuid"]);
    let insert = testing::for_many_rows(&INSERT, Placement::ByClient, &["text", "uuid"]);
    assert_eq!(
        insert.unwrap(),
        "INSERT INTO t (a, client_id) VALUES ($1::text, $2::uuid), ($3::text, $2::uuid)"
    );
    assert_eq!(
        of_one_client(&IN_CONFLICT).unwrap(),
        "INSERT INTO t (a, client_id, b) VALUES ($1::text, $2::uuid, lower(')')), ($4::text, $2::uuid, lower(')')) \
         ON CONFLICT (a) DO UPDATE SET b = $3"
    );
    // Its parameter would have a value for each row.
    assert_eq!(of_one_client(&IN_BOTH), None);
    assert_eq!(
        of_one_client(&UPDATE).unwrap(),
        "UPDATE t SET a = each.p1 FROM unnest($1::text[], $3::uuid[]) AS each(p1, p3) \
         WHERE client_id = $2 AND id = each.p3"
    );
    assert_eq!(of_one_client(&OF_A_CLIENT), None);
}

#[test]
fn an_update_finds_its_rows_from_arrays() {
    static UPDATE: Sql = text("UPDATE t SET a = :a, n = n + 1 WHERE id = :id AND b = 'WHERE (:no'");
    assert_eq!(
        for_many_rows(&UPDATE, &["text", "uuid"]).unwrap(),
        "UPDATE t SET a = each.p1, n = n + 1 FROM unnest($1::text[], $2::uuid[]) AS each(p1, p2) \
         WHERE id = each.p2 AND b = 'WHERE (:no'"
    );
}

#[test]
fn what_stands_after_a_conflict_is_shared_by_all_rows() {
    static CLAIM: Sql =
        text("INSERT INTO t (a) VALUES (:a) ON CONFLICT (a) DO UPDATE SET a = excluded.a WHERE t.b <= :now");
    assert_eq!(
        for_many_rows(&CLAIM, &["uuid", "int8"]).unwrap(),
        "INSERT INTO t (a) SELECT each.p1 FROM unnest($1::uuid[]) AS each(p1) \
         ON CONFLICT (a) DO UPDATE SET a = excluded.a WHERE t.b <= $2"
    );
    static BOTH: Sql =
        text("INSERT INTO t (a) VALUES (:a) ON CONFLICT (a) DO UPDATE SET a = 1 WHERE t.b <= :a");
    assert_eq!(for_many_rows(&BOTH, &["uuid"]), None);
}

#[test]
fn other_shapes_stay_as_they_are() {
    static SELECT: Sql = text("SELECT a FROM t WHERE a = :a");
    static DELETE: Sql = text("DELETE FROM t WHERE a = :a");
    static RETURNING: Sql = text("UPDATE t SET a = :a WHERE b = 1 RETURNING b");
    static FROM: Sql = text("UPDATE t SET a = :a FROM u WHERE u.b = t.b");
    static TWO_ROWS: Sql = text("INSERT INTO t (a) VALUES (:a), (:b)");
    static EVERYTHING: Sql = text("UPDATE t SET a = :a");
    static NOTHING: Sql = text("UPDATE t SET n = n + 1 WHERE id = 1");
    for sql in [&SELECT, &DELETE, &RETURNING, &FROM, &TWO_ROWS, &EVERYTHING, &NOTHING] {
        assert_eq!(for_many_rows(sql, &["uuid", "uuid"]), None, "{sql:?}");
    }
}
