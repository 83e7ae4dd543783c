//! Migrations: one text for both databases, applied in order, each in one transaction, never changed after release.

use uuid::Uuid;

use crate::error::StoreError;
use crate::sql::{DatabaseKind, verbatim_length};

/// A change of the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// A migration recorded in a database.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    pub(crate) version: i64,
    pub(crate) name: String,
    pub(crate) checksum: Uuid,
}

/// All migrations, oldest first.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        name: "0001_foundation",
        text: include_str!("../migrations/0001_foundation.sql"),
    },
    Migration {
        version: 2,
        name: "0002_follow_ups",
        text: include_str!("../migrations/0002_follow_ups.sql"),
    },
    Migration { version: 3, name: "0003_webhooks", text: include_str!("../migrations/0003_webhooks.sql") },
    Migration { version: 4, name: "0004_purchases", text: include_str!("../migrations/0004_purchases.sql") },
    Migration { version: 5, name: "0005_listeners", text: include_str!("../migrations/0005_listeners.sql") },
    Migration { version: 6, name: "0006_in_place", text: include_str!("../migrations/0006_in_place.sql") },
    Migration {
        version: 7,
        name: "0007_claims_of_charges",
        text: include_str!("../migrations/0007_claims_of_charges.sql"),
    },
    Migration {
        version: 8,
        name: "0008_short_claims",
        text: include_str!("../migrations/0008_short_claims.sql"),
    },
    Migration {
        version: 9,
        name: "0009_awaiting_payers",
        text: include_str!("../migrations/0009_awaiting_payers.sql"),
    },
    Migration {
        version: 10,
        name: "0010_unused_index",
        text: include_str!("../migrations/0010_unused_index.sql"),
    },
    Migration {
        version: 11,
        name: "0011_counter_spans",
        text: include_str!("../migrations/0011_counter_spans.sql"),
    },
    Migration {
        version: 12,
        name: "0012_webhook_settings",
        text: include_str!("../migrations/0012_webhook_settings.sql"),
    },
    Migration {
        version: 13,
        name: "0013_undone_requests",
        text: include_str!("../migrations/0013_undone_requests.sql"),
    },
    Migration {
        version: 14,
        name: "0014_provider_notifications",
        text: include_str!("../migrations/0014_provider_notifications.sql"),
    },
    Migration {
        version: 15,
        name: "0015_authentications",
        text: include_str!("../migrations/0015_authentications.sql"),
    },
    Migration { version: 16, name: "0016_analyses", text: include_str!("../migrations/0016_analyses.sql") },
    Migration {
        version: 17,
        name: "0017_payer_pages",
        text: include_str!("../migrations/0017_payer_pages.sql"),
    },
    Migration {
        version: 18,
        name: "0018_wallet_payments",
        text: include_str!("../migrations/0018_wallet_payments.sql"),
    },
    Migration {
        version: 19,
        name: "0019_network_transaction_ids",
        text: include_str!("../migrations/0019_network_transaction_ids.sql"),
    },
    Migration {
        version: 20,
        name: "0020_requests_by_reference",
        text: include_str!("../migrations/0020_requests_by_reference.sql"),
    },
    Migration { version: 21, name: "0021_sessions", text: include_str!("../migrations/0021_sessions.sql") },
    Migration { version: 22, name: "0022_settings", text: include_str!("../migrations/0022_settings.sql") },
    Migration { version: 23, name: "0023_sellers", text: include_str!("../migrations/0023_sellers.sql") },
    Migration { version: 24, name: "0024_ledger", text: include_str!("../migrations/0024_ledger.sql") },
    Migration { version: 25, name: "0025_vendors", text: include_str!("../migrations/0025_vendors.sql") },
    Migration {
        version: 26,
        name: "0026_seller_documents",
        text: include_str!("../migrations/0026_seller_documents.sql"),
    },
    Migration {
        version: 27,
        name: "0027_registration_reviews",
        text: include_str!("../migrations/0027_registration_reviews.sql"),
    },
    Migration {
        version: 28,
        name: "0028_ends_of_disputes",
        text: include_str!("../migrations/0028_ends_of_disputes.sql"),
    },
    Migration {
        version: 29,
        name: "0029_how_outcomes_are_told",
        text: include_str!("../migrations/0029_how_outcomes_are_told.sql"),
    },
    Migration {
        version: 30,
        name: "0030_sealed_data_of_sessions",
        text: include_str!("../migrations/0030_sealed_data_of_sessions.sql"),
    },
    Migration {
        version: 31,
        name: "0031_tries_of_cards",
        text: include_str!("../migrations/0031_tries_of_cards.sql"),
    },
    Migration {
        version: 32,
        name: "0032_customers_of_sessions",
        text: include_str!("../migrations/0032_customers_of_sessions.sql"),
    },
    Migration {
        version: 33,
        name: "0033_subscriptions",
        text: include_str!("../migrations/0033_subscriptions.sql"),
    },
    Migration {
        version: 34,
        name: "0034_account_clocks",
        text: include_str!("../migrations/0034_account_clocks.sql"),
    },
    Migration {
        version: 35,
        name: "0035_sessions_for_cards",
        text: include_str!("../migrations/0035_sessions_for_cards.sql"),
    },
    Migration { version: 36, name: "0036_waiting", text: include_str!("../migrations/0036_waiting.sql") },
    Migration { version: 37, name: "0037_flows", text: include_str!("../migrations/0037_flows.sql") },
    Migration { version: 38, name: "0038_rates", text: include_str!("../migrations/0038_rates.sql") },
    Migration { version: 39, name: "0039_reports", text: include_str!("../migrations/0039_reports.sql") },
    Migration { version: 40, name: "0040_plans", text: include_str!("../migrations/0040_plans.sql") },
    Migration { version: 41, name: "0041_payouts", text: include_str!("../migrations/0041_payouts.sql") },
    Migration {
        version: 42,
        name: "0042_prepayments",
        text: include_str!("../migrations/0042_prepayments.sql"),
    },
    Migration { version: 43, name: "0043_receipts", text: include_str!("../migrations/0043_receipts.sql") },
    Migration {
        version: 44,
        name: "0044_payout_files",
        text: include_str!("../migrations/0044_payout_files.sql"),
    },
    Migration {
        version: 45,
        name: "0045_open_charges",
        text: include_str!("../migrations/0045_open_charges.sql"),
    },
    Migration {
        version: 46,
        name: "0046_default_plans",
        text: include_str!("../migrations/0046_default_plans.sql"),
    },
    Migration {
        version: 47,
        name: "0047_simulated_transfers",
        text: include_str!("../migrations/0047_simulated_transfers.sql"),
    },
    Migration { version: 48, name: "0048_members", text: include_str!("../migrations/0048_members.sql") },
];

/// The table of applied migrations.
const MEMORY: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    version {int} PRIMARY KEY,
    name TEXT NOT NULL,
    checksum {uuid} NOT NULL,
    applied_at {int} NOT NULL
) {table_options};";

/// Placeholders of migrations, with their SQL in SQLite and in PostgreSQL.
const WORDS: [(&str, &str, &str); 9] = [
    ("{uuid}", "BLOB", "UUID"),
    ("{json}", "TEXT", "JSONB"),
    ("{bytes}", "BLOB", "BYTEA"),
    ("{int}", "INTEGER", "BIGINT"),
    // The first half of a digest that was stored in full.
    ("{half_of_digest}", "substr(digest, 1, 16)", "encode(substr(digest, 1, 16), 'hex')::uuid"),
    // Mark a line that only one of them runs.
    ("{postgres}", "--", ""),
    ("{sqlite}", "", "--"),
    ("{table_options}", "STRICT", ""),
    ("{keyed_table_options}", "STRICT, WITHOUT ROWID", ""),
];

impl Migration {
    /// The SQL for one database.
    pub(crate) fn render(&self, database: DatabaseKind) -> String {
        render(self.text, database)
    }

    /// Shows whether the text is still the one that was applied. It guards against mistakes, not attackers.
    pub(crate) fn checksum(&self) -> Uuid {
        Uuid::new_v5(&Uuid::NAMESPACE_OID, self.text.as_bytes())
    }
}

/// The statement that creates the table of applied migrations.
pub(crate) fn memory(database: DatabaseKind) -> String {
    render(MEMORY, database)
}

/// The `migrations` still to apply. `applied` is in the order of versions.
pub(crate) fn pending<'a>(
    applied: &[Applied],
    migrations: &'a [Migration],
) -> Result<&'a [Migration], StoreError> {
    if applied.len() > migrations.len() {
        let version = applied[migrations.len()].version;
        return Err(StoreError::Schema(format!("migration {version} is of a later release")));
    }
    for (done, known) in applied.iter().zip(migrations) {
        if done.version != known.version || done.checksum != known.checksum() {
            return Err(StoreError::Schema(format!(
                "migration {} was applied as {} ({}), and is now another text",
                known.name, done.version, done.name
            )));
        }
    }
    Ok(&migrations[applied.len()..])
}

/// The statements of a text, in order. A semicolon in a comment, a literal or the body of a function ends none.
pub(crate) fn statements(text: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(next) = text[at..].chars().next() {
        at += verbatim_length(&text[at..]).unwrap_or(next.len_utf8());
        if next == ';' {
            statements.push(text[start..at].trim());
            start = at;
        }
    }
    statements.push(text[start..].trim());
    statements.retain(|statement| !statement.is_empty());
    statements
}

/// Tells the log in one line that a database was migrated. Each migration has a line of its own at level `debug`.
pub(crate) fn tell_of(applied: usize) {
    if applied > 0 {
        tracing::info!(migrations = applied, "the database was migrated");
    }
}

fn render(text: &str, database: DatabaseKind) -> String {
    WORDS.iter().fold(text.to_owned(), |text, (word, sqlite, postgres)| {
        text.replace(
            word,
            match database {
                DatabaseKind::Sqlite => sqlite,
                DatabaseKind::Postgres => postgres,
            },
        )
    })
}
