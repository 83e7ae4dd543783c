//! Every statement keeps the rules under which the schema can be distributed by client (`store/src/sql.rs`), but for
//! the named ones.

use std::collections::BTreeSet;

use regente_store::testing;
use regente_store::{DatabaseKind, Sql};

/// Small tables that every node of a distributed database keeps whole.
pub(crate) const REPLICATED: [&str; 5] = ["clients", "data_keys", "heartbeat", "members", "member_keys"];

/// Why a statement need not keep to one account.
const WORKERS: &str = "a worker looks for what is due in all accounts, in pages";
const PURGES: &str =
    "the purge looks for what ended in all accounts, in pages; it deletes account by account";
const METRICS: &str = "a metric counts over all accounts";
const CHECKS: &str =
    "readiness asks every part of the database, and a restored backup is compared with a former state";
const OPERATORS: &str = "an operator names a record without its account, or lists those of all accounts";
const NOTIFICATIONS: &str = "a notification names its provider alone; each node asks once for each provider, whose account never changes";
const PAGES: &str = "the address of a payment link names its session alone";
const SEALED: &str =
    "the job that seals rows anew reads whole tables, in pages; it writes account by account";
const CLOCKS: &str = "in the sandbox every node follows the clocks of all accounts";
const NEXT_DUE: &str = "a test that moves the clock asks when the next thing of any account is due";

/// The statements that break a rule, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("CLIENTS_WITH_UNFOLDED_COUNTERS", WORKERS),
    ("CLIENTS_WITH_UNFOLDED_BALANCES", WORKERS),
    ("CLIENTS_OF_EVENTS_TO_DISPATCH", WORKERS),
    ("WEBHOOKS_WITH_DUE_DELIVERIES", WORKERS),
    ("CLIENTS_OF_DUE_JOBS", WORKERS),
    ("CLIENTS_OF_DUE_REQUESTS", WORKERS),
    ("CLIENTS_WITH_FOREIGN_LEASES", WORKERS),
    ("SETTLED_PROVIDER_NOTIFICATIONS", PURGES),
    ("OLD_EVENTS", PURGES),
    ("ENDED_DELIVERIES", PURGES),
    ("CLIENTS_WITH_ENDED_LISTENERS", PURGES),
    ("EXPIRED_KEYS", PURGES),
    ("ENDED_CREDENTIALS", PURGES),
    ("CLIENTS_WITH_EXPIRED_AUTHENTICATION_SETUPS", PURGES),
    ("CLIENTS_WITH_EXPIRED_SECURITY_CODES", PURGES),
    ("CLIENTS_WITH_EXPIRED_TOKENS", PURGES),
    ("CLIENTS_WITH_EXPIRED_RECEIPTS", PURGES),
    ("CLIENTS_WITH_OLD_RATES", PURGES),
    ("CLIENTS_WITH_EXPIRED_WALLET_PAYMENTS", PURGES),
    ("NEXT_DISPATCH", METRICS),
    ("DUE_JOBS_BACKLOG", METRICS),
    ("COUNT_DEAD_JOBS", METRICS),
    ("UNKNOWN_TRANSACTION_REQUESTS", METRICS),
    ("UNKNOWN_FOR_GOOD", METRICS),
    ("NEWEST_CHARGE", CHECKS),
    ("NEWEST_AUDIT_ENTRY", CHECKS),
    ("LEFT_PROVIDER_NOTIFICATIONS", OPERATORS),
    ("CLIENT_OF_PROVIDER", NOTIFICATIONS),
    ("CLIENT_OF_SESSION", PAGES),
    ("CLIENT_OF_WEBHOOK", OPERATORS),
    ("CLIENT_OF_CHARGE", OPERATORS),
    ("DEAD_JOBS", OPERATORS),
    ("OPEN_TRANSACTION_REQUESTS", OPERATORS),
    ("GIVEN_UP_TRANSACTION_REQUESTS", OPERATORS),
    ("FIND_GIVEN_UP_TRANSACTION_REQUEST", OPERATORS),
    ("LIST_ACCOUNT_CLOCKS", CLOCKS),
    ("PAGE_PROVIDERS", SEALED),
    ("PAGE_SESSIONS", SEALED),
    ("PAGE_CUSTOMERS", SEALED),
    ("PAGE_CUSTOMER_ALIASES", SEALED),
    ("PAGE_CARDS", SEALED),
    ("PAGE_CHARGES", SEALED),
    ("PAGE_PURCHASES", SEALED),
    ("PAGE_WEBHOOKS", SEALED),
    ("PAGE_ANSWERS", SEALED),
    ("PAGE_PROVIDER_NOTIFICATIONS", SEALED),
    ("PAGE_SELLERS", SEALED),
    ("PAGE_VENDORS", SEALED),
    ("PAGE_SELLER_DOCUMENTS", SEALED),
    ("PAGE_REGISTRATION_ANSWERS", SEALED),
    ("PAGE_REPORTS", SEALED),
    ("PAGE_PAYOUT_ACCOUNTS", SEALED),
    ("PAGE_RECEIPTS", SEALED),
    ("TOKEN_UNDER_DATA_KEY", SEALED),
    ("NEXT_DISPATCH_OF_EACH", NEXT_DUE),
    ("NEXT_DUE_DELIVERY", NEXT_DUE),
    ("NEXT_DUE_JOB", NEXT_DUE),
    ("NEXT_DUE_TRANSACTION_REQUEST", NEXT_DUE),
];

/// Whether a statement is one of those that may look over all accounts.
pub(crate) fn is_exception(sql: &Sql) -> bool {
    EXCEPTIONS.iter().any(|(name, _)| *name == sql.name())
}

/// The statements by which workers, purges and metrics look over all accounts.
pub(crate) fn looks_over_all_accounts() -> impl Iterator<Item = &'static str> {
    EXCEPTIONS.iter().filter(|(_, why)| [WORKERS, PURGES, METRICS].contains(why)).map(|(name, _)| *name)
}

#[test]
fn statements_can_run_on_a_database_that_is_distributed_by_client() {
    let of_the_product = Sql::catalog().filter(|sql| sql.module().starts_with("regente_store::"));
    let broken: Vec<(&str, String)> =
        of_the_product.filter_map(|sql| Some((sql.name(), complaint(sql)?))).collect();
    let unexpected: Vec<_> =
        broken.iter().filter(|(name, _)| !EXCEPTIONS.iter().any(|(known, _)| known == name)).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    let names: BTreeSet<&str> = broken.iter().map(|(name, _)| *name).collect();
    let needless: Vec<_> = EXCEPTIONS.iter().filter(|(name, _)| !names.contains(name)).collect();
    assert!(needless.is_empty(), "these keep the rules: {needless:?}");
}

/// One worker that cannot be reached must not stop what looks over all accounts. A job that reads whole tables waits for it.
#[test]
fn what_looks_over_all_accounts_can_leave_out_those_of_a_lost_worker() {
    let may_wait = [SEALED, NEXT_DUE];
    for sql in Sql::catalog().filter(|sql| sql.module().starts_with("regente_store::")) {
        let reason = EXCEPTIONS.iter().find(|(name, _)| *name == sql.name()).map(|(_, why)| *why);
        let must = reason.is_some_and(|why| !may_wait.contains(&why));
        assert_eq!(testing::keeps_to_the_reachable(sql), must, "{sql:?}");
    }
}

#[test]
fn what_breaks_a_rule_is_found() {
    static RECURSIVE: Sql = text("WITH RECURSIVE w AS (SELECT 1) SELECT a FROM w");
    static IN_VALUES: Sql = text(
        "INSERT INTO t (client_id, a) VALUES (:client_id, (SELECT b FROM u WHERE client_id = :client_id))",
    );
    static IN_CONFLICT: Sql = text(
        "INSERT INTO t (client_id) VALUES (:client_id) ON CONFLICT (client_id) DO UPDATE SET a = 1
         WHERE EXISTS (SELECT 1 FROM u WHERE u.client_id = :client_id)",
    );
    static FROM_NOTHING: Sql = text("INSERT INTO t (client_id) SELECT :client_id WHERE TRUE");
    static UNFILTERED: Sql = text("SELECT a FROM t WHERE id = :id");
    static UNFILTERED_JOIN: Sql =
        text("SELECT a FROM t JOIN u ON u.id = t.id WHERE t.client_id = :client_id");
    static CORRELATED: Sql = text(
        "DELETE FROM t WHERE client_id = :client_id AND NOT EXISTS (
            SELECT 1 FROM u WHERE u.client_id = t.client_id)",
    );
    static OTHER_ARGUMENT: Sql = text("UPDATE t SET a = 1 WHERE client_id = :other AND b = :client_id");
    let broken = [
        &RECURSIVE,
        &IN_VALUES,
        &IN_CONFLICT,
        &FROM_NOTHING,
        &UNFILTERED,
        &UNFILTERED_JOIN,
        &CORRELATED,
        &OTHER_ARGUMENT,
    ];
    for sql in broken {
        assert!(complaint(sql).is_some(), "{}", sql.text(DatabaseKind::Postgres));
    }
    static INSERT: Sql =
        text("INSERT INTO t (client_id) VALUES (:client_id) ON CONFLICT (client_id) DO NOTHING");
    static INSERT_FROM: Sql =
        text("INSERT INTO t (client_id) SELECT w.client_id FROM w WHERE w.client_id = :client_id");
    static JOINED: Sql = text(
        "SELECT a FROM t JOIN u ON u.client_id = t.client_id LEFT JOIN clients c ON c.id = u.client_id
         WHERE t.client_id = :client_id AND t.a IN EACH_UUID(:ids)",
    );
    static UNITED: Sql = text(
        "SELECT a FROM (SELECT a FROM t WHERE client_id = :client_id
         UNION ALL SELECT a FROM u WHERE client_id = :client_id) both_of_them",
    );
    for sql in [&INSERT, &INSERT_FROM, &JOINED, &UNITED] {
        assert_eq!(complaint(sql), None, "{}", sql.text(DatabaseKind::Postgres));
    }
}

const fn text(text: &'static str) -> Sql {
    Sql::one("it", "TEXT", text)
}

/// A `SELECT`, or the statement around it.
#[derive(Default)]
struct Scope {
    /// Tables by the name that columns of them have.
    tables: Vec<(String, String)>,
    tokens: Vec<String>,
}

/// Which rule a statement breaks.
fn complaint(sql: &Sql) -> Option<String> {
    let tokens = tokens(sql.text(DatabaseKind::Postgres));
    if tokens.iter().any(|token| token == "RECURSIVE") {
        return Some("it is recursive".to_owned());
    }
    let is_insert = tokens.first().is_some_and(|token| token == "INSERT");
    let selects = tokens.iter().any(|token| token == "SELECT");
    if is_insert && selects && tokens.iter().any(|token| token == "VALUES") {
        return Some("an INSERT … VALUES holds a subquery".to_owned());
    }
    let names = sql.argument_names(DatabaseKind::Postgres);
    let client = names.iter().position(|name| *name == "client_id").map(|at| format!("${}", at + 1));
    let scopes = scopes(&tokens);
    if is_insert && selects && !scopes.iter().any(|scope| scope.tokens.iter().any(|token| token == "FROM")) {
        return Some("an INSERT … SELECT takes its rows from no table".to_owned());
    }
    scopes.iter().find_map(|scope| unfiltered(scope, client.as_deref()))
}

fn unfiltered(scope: &Scope, client: Option<&str>) -> Option<String> {
    let is_column_of = |token: &str, name: &str| match token.split_once('.') {
        Some((table, column)) => column == "client_id" && table == name,
        None => token == "client_id" && scope.tables.len() == 1,
    };
    let equals = || scope.tokens.windows(3).filter(|three| three[1] == "=");
    let is_filtered =
        |name: &str| equals().any(|three| is_column_of(&three[0], name) && Some(three[2].as_str()) == client);
    let is_joined = |name: &str| {
        let others = || scope.tables.iter().filter(|(_, other)| other != name && is_filtered(other));
        equals().any(|three| {
            others().any(|(_, other)| {
                (is_column_of(&three[0], name) && is_column_of(&three[2], other))
                    || (is_column_of(&three[2], name) && is_column_of(&three[0], other))
            })
        })
    };
    let is_inserted = |table: &str| {
        scope.tokens.windows(2).any(|two| two[0] == "INTO" && two[1] == table)
            && (!scope.tokens.iter().any(|token| token == "VALUES")
                || client.is_some_and(|client| scope.tokens.iter().any(|token| token == client)))
    };
    let (table, _) = scope.tables.iter().find(|(table, name)| {
        !REPLICATED.contains(&table.as_str()) && !is_inserted(table) && !is_filtered(name) && !is_joined(name)
    })?;
    Some(format!("{table} is not filtered by client_id = :client_id"))
}

/// The statement by its subqueries; the parts of a `UNION` are apart.
fn scopes(tokens: &[String]) -> Vec<Scope> {
    let mut ended = Vec::new();
    // The open scopes, each with the depth of the parentheses around it.
    let mut open = vec![(0, Scope::default())];
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map(String::as_str);
        match token.as_str() {
            "(" => {
                depth += 1;
                if next == Some("SELECT") {
                    open.push((depth, Scope::default()));
                    continue;
                }
            }
            ")" => {
                if open.last().is_some_and(|(opened, _)| *opened == depth && depth > 0) {
                    ended.extend(open.pop().map(|(_, scope)| scope));
                }
                depth -= 1;
            }
            "UNION" => {
                let opened = open.last().map_or(0, |(opened, _)| *opened);
                ended.extend(open.pop().map(|(_, scope)| scope));
                open.push((opened, Scope::default()));
            }
            "SELECT" if at > 0 && tokens[0] == "INSERT" && depth == 0 => {
                ended.extend(open.pop().map(|(_, scope)| scope));
                open.push((0, Scope::default()));
            }
            _ => {}
        }
        if let Some((_, scope)) = open.last_mut() {
            scope.tokens.push(token.clone());
            let is_before_table = ["FROM", "JOIN", "INTO"].contains(&token.as_str())
                || (token == "UPDATE" && (at == 0 || tokens[at - 1] == ";"));
            let is_call = tokens.get(at + 2).is_some_and(|token| token == "(") && token != "INTO";
            if let Some(table) = next.filter(|next| is_before_table && is_name(next) && !is_call) {
                let alias = match tokens.get(at + 2).map(String::as_str) {
                    Some("AS") => tokens.get(at + 3).map(String::as_str),
                    other => other,
                };
                let name = alias.filter(|alias| is_name(alias)).unwrap_or(table);
                scope.tables.push((table.to_owned(), name.to_owned()));
            }
        }
    }
    ended.extend(open.into_iter().map(|(_, scope)| scope));
    ended
}

/// Tables, columns and aliases are written in lower case, words of SQL in upper case.
fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_lowercase())
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        let is_of_word = c.is_ascii_alphanumeric() || "_.$'".contains(c);
        match tokens.last_mut() {
            Some(last) if in_word && is_of_word => last.push(c),
            _ if !c.is_whitespace() => tokens.push(c.to_string()),
            _ => {}
        }
        in_word = is_of_word;
    }
    tokens
}
