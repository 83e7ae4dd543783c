//! Formats answers to commands as text.

use regente_domain::check_digits::CheckDigits;
use regente_domain::time::Timestamp;
use regente_engine::plans::first_of;

use super::{clock, dashboard, flows, ledger, moving, payouts, plans, prepayments, rates};
use crate::admin::{
    Answer, BackedUp, ClientRow, ErasedPerson, KeyRow, Report, Restored, UnknownRow, Verdict, WebhookKeys,
};

/// The text of an answer.
pub(super) fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Client(client) => client_made(client),
        Answer::ClientSet(client) => client_set(client),
        Answer::Clients { clients } => clients_table(clients),
        Answer::Key { key_id, key } => {
            format!("{key}\n\nThis is secret key {key_id}. It is not shown again.\n")
        }
        Answer::Keys { keys } => keys_table(keys),
        Answer::Revoked { key_id } => format!("Secret key {key_id} works no more.\n"),
        Answer::Rotated { data_key_id } => format!(
            "Data key {data_key_id} is in use. What stands under the former one is sealed again while requests go on.\n"
        ),
        Answer::Rewrapped { data_keys, kek_file } => format!(
            "{data_keys} data keys are under the key-encryption key in {file}. Set `vault.kek_file` to it before the \
             next start, and keep the former one as long as there are backups that need it.\n",
            file = kek_file.display()
        ),
        Answer::Explained(explanation) => format!("{}\n", explanation.text),
        Answer::Unknowns { unknowns, .. } if unknowns.is_empty() => "No outcome is unknown.\n".to_owned(),
        Answer::Unknowns { unknowns, more } => {
            let end = if *more { "There are more; these are the oldest.\n" } else { "" };
            format!("{}{end}", unknowns_table(unknowns))
        }
        Answer::Resumed { request_id } => {
            format!("The provider is asked anew what became of request {request_id}.\n")
        }
        Answer::LedgerVerified(found) => ledger::report(found),
        Answer::LedgerStatement(found) => ledger::statement(found),
        Answer::Rates(found) => rates::shown(found),
        Answer::CustomerErased(person) => erased(person),
        Answer::ProviderChecked(found) => report(found),
        Answer::Clock(row) => clock::shown(row),
        Answer::Flows(found) => flows::shown(found),
        Answer::Plans(found) => plans::shown(found),
        Answer::Members(answer) => dashboard::shown(answer),
        Answer::Prepayment(row) => prepayments::shown(row),
        Answer::WebhookKeyRotated(keys) => key_rotated(keys),
        Answer::WebhookKeys(keys) => webhook_keys(keys),
        Answer::ReplayCounted { deliveries } => format!("{deliveries} deliveries\n"),
        Answer::Replayed { replayed, under_way, .. } => replayed_text(*replayed, *under_way),
        Answer::Listening { client_id, event, public_key, .. } => format!(
            "Listening to `{event}` of account {client_id}; Ctrl+C ends it. What comes is signed with this key, for as \
             long:\n\n{public_key}\n"
        ),
        Answer::Heard { events } => format!("{} events\n", events.len()),
        Answer::ListeningEnded { listener_id } => format!("{listener_id} listens no more.\n"),
        Answer::Payouts(found) => payouts::shown(found),
        // Their own commands have printed them.
        Answer::Settlement { .. } | Answer::ReportPart(_) | Answer::FlowReplayPart(_) => String::new(),
        Answer::Address { url } => format!("{url}\n"),
        Answer::Doctor(found) => report(found),
        Answer::BackedUp(backup) => backed_up(backup),
        Answer::Restored(backup) => restored(backup),
        Answer::Moved(done) => moving::shown(done),
    }
}

/// The text of an examination's report.
pub(super) fn report(report: &Report) -> String {
    let mut text = String::new();
    for check in &report.checks {
        text.push_str(&format!("{:<8} {:<17} {}\n", check.verdict, check.name, check.found));
    }
    text.push_str(match report.verdict() {
        Verdict::Ok => "\nEverything is as it must be.\n",
        Verdict::Warning => "\nNothing fails; an operator should look at the warnings.\n",
        Verdict::Failure => "\nSomething fails.\n",
    });
    text
}

fn client_made(client: &ClientRow) -> String {
    let ClientRow { id, name, .. } = client;
    format!(
        "Client {id} ({name}) is made. Its first key: regente keys create {id}\n\
         Nothing is kept of its charges at the own provider until its default plan has fees: regente plans change {plan} \
         FILE --client {id}\n",
        plan = first_of(*id)
    )
}

fn client_set(client: &ClientRow) -> String {
    let ClientRow { id, name, document_check_digits, .. } = client;
    let wrong_ones = match document_check_digits {
        CheckDigits::On => "are refused",
        CheckDigits::Off => "are taken",
    };
    format!("Documents with wrong check digits {wrong_ones} by client {id} ({name}).\n")
}

fn erased(person: &ErasedPerson) -> String {
    let ErasedPerson { customer_id, cards, charges, purchases, sessions, notifications, answers, .. } =
        person;
    let mut text = format!(
        "Customer {customer_id} is erased, with {cards} cards, and from {charges} charges, {purchases} purchases, \
         {sessions} sessions, {notifications} notifications of providers and {answers} kept answers.\n"
    );
    if person.subscriptions > 0 {
        text.push_str(&format!("{} subscriptions of theirs are canceled.\n", person.subscriptions));
    }
    let charges = person.charges_left.iter().map(|id| format!("charge {id}"));
    let purchases = person.purchases_left.iter().map(|id| format!("purchase {id}"));
    let sessions = person.sessions_left.iter().map(|id| format!("session {id}"));
    let notifications = match person.notifications_left {
        0 => None,
        count => Some(format!("{count} notifications of providers")),
    };
    let left: Vec<String> = charges.chain(purchases).chain(sessions).chain(notifications).collect();
    if !left.is_empty() {
        text.push_str(&format!("Under way, and erased by a job when it has ended: {}.\n", left.join(", ")));
    }
    text.push_str("\nNot reached by this command:\n");
    for sentence in &person.beyond_reach {
        text.push_str(&format!("* {sentence}\n"));
    }
    text
}

fn replayed_text(replayed: u64, under_way: u64) -> String {
    let left_alone = match under_way {
        0 => String::new(),
        _ => format!("; {under_way} were left alone, because an attempt is under way"),
    };
    format!("{replayed} deliveries are sent again{left_alone}.\n")
}

/// The new key comes first, because the merchant needs it.
fn key_rotated(keys: &WebhookKeys) -> String {
    let WebhookKeys { webhook_id, public_key, next } = keys;
    match next {
        None => format!(
            "The new key of webhook {webhook_id}, which signs alone from now on:\n\n{public_key}\nReceivers refuse what \
             comes until they have it.\n"
        ),
        Some(next) => format!(
            "The new key of webhook {webhook_id}:\n\n{}\nUntil {at} both keys sign: `webhook-signature` carries a \
             signature of each, `X-Plug-Signature` that of the former. From then on the new key signs alone; have \
             receivers take it before.\n",
            next.public_key,
            at = short(next.signs_alone_from)
        ),
    }
}

fn webhook_keys(keys: &WebhookKeys) -> String {
    let WebhookKeys { webhook_id, public_key, next } = keys;
    let next = next.as_ref().map_or_else(String::new, |next| {
        format!("\nThe key that signs alone from {}:\n\n{}", short(next.signs_alone_from), next.public_key)
    });
    format!("The key of webhook {webhook_id}:\n\n{public_key}{next}")
}

fn backed_up(backup: &BackedUp) -> String {
    let BackedUp { file, bytes, schema_version, at, took_ms } = backup;
    format!(
        "{file} holds everything that was acknowledged before {at}: {bytes} bytes, schema version {schema_version}, \
         made in {took_ms} ms.\nIt does not hold the key-encryption key, without which nothing sealed in it opens, nor \
         the transaction log of the simulator.\n",
        file = file.display()
    )
}

/// The text starts with what a restore means for payments since the backup.
fn restored(backup: &Restored) -> String {
    let Restored { file, bytes, schema_version, migrated, newest_charge_at, kept, took_ms } = backup;
    let mut text = format!(
        "{} is restored: {bytes} bytes, schema version {schema_version}, in {took_ms} ms.\n",
        file.display()
    );
    if !migrated.is_empty() {
        text.push_str(&format!("Migrations that it did not have were applied: {}.\n", migrated.join(", ")));
    }
    if let Some(kept) = kept {
        text.push_str(&format!(
            "What was there before is kept in {}; `regente restore` takes it back.\n",
            kept.display()
        ));
    }
    let newest = newest_charge_at.map_or_else(
        || "It holds no charge.".to_owned(),
        |at| format!("Its newest charge was made at {}.", short(at)),
    );
    text.push_str(&format!(
        "{newest} What happened after the backup was made is not in it: charges, captures and refunds since then are \
         unknown here, and the money that they moved stays moved. `regente doctor` compares with the transaction log of \
         the simulator; for real providers, compare with their reports from that time on.\n"
    ));
    text
}

fn clients_table(clients: &[ClientRow]) -> String {
    let rows = clients.iter().map(|client| {
        [client.id.to_string(), client.status.clone(), short(client.created_at), client.name.clone()]
    });
    table(["ID", "STATUS", "CREATED", "NAME"], rows)
}

fn keys_table(keys: &[KeyRow]) -> String {
    let rows = keys.iter().map(|key| {
        let status =
            key.revoked_at.map_or_else(|| "active".to_owned(), |at| format!("revoked {}", short(at)));
        let used = key.last_used_on.clone().unwrap_or_else(|| "never".to_owned());
        [key.id.to_string(), status, short(key.created_at), used, key.label.clone()]
    });
    table(["ID", "STATUS", "CREATED", "LAST USED", "LABEL"], rows)
}

/// Columns that are compared come first, those that are copied last.
fn unknowns_table(unknowns: &[UnknownRow]) -> String {
    let or_dash = |text: Option<&str>| text.filter(|text| !text.is_empty()).unwrap_or("-").to_owned();
    let rows = unknowns.iter().map(|unknown| {
        let next = match (unknown.given_up_at, unknown.next_probe_at) {
            (Some(at), _) => format!("given up {}", short(at)),
            (None, at) => at.map_or_else(|| "-".to_owned(), short),
        };
        let provider = match &unknown.provider_name {
            Some(name) => format!("{name} ({})", unknown.provider_type),
            None => unknown.provider_type.clone(),
        };
        [
            age(unknown.age_seconds),
            unknown.operation.clone(),
            or_dash(Some(&unknown.amount_shown)),
            provider,
            or_dash(unknown.reason.as_deref()),
            unknown.probes.to_string(),
            next,
            unknown.request_id.to_string(),
            format!("{} {}", unknown.object_kind, unknown.object_id),
            unknown.client_id.to_string(),
        ]
    });
    let head = [
        "AGE",
        "OPERATION",
        "AMOUNT",
        "PROVIDER",
        "REASON",
        "PROBES",
        "NEXT PROBE",
        "REQUEST",
        "OF",
        "CLIENT",
    ];
    table(head, rows)
}

/// A duration in its two largest units.
fn age(seconds: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match seconds {
        0..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min {} s", seconds / MINUTE, seconds % MINUTE),
        HOUR..DAY => format!("{} h {} min", seconds / HOUR, seconds % HOUR / MINUTE),
        DAY.. => format!("{} d {} h", seconds / DAY, seconds % DAY / HOUR),
    }
}

/// A time to the second.
pub(super) fn short(time: Timestamp) -> String {
    let mut text = time.to_string();
    text.truncate("YYYY-MM-DDTHH:MM:SS".len());
    text.push('Z');
    text
}

/// A table with columns as wide as their widest cell, two spaces apart.
pub(super) fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut lines = vec![head.map(str::to_owned).into()];
    lines.extend(rows.map(Vec::from));
    columns(&lines)
}

/// The same with any number of columns, which all lines have.
pub(super) fn columns(lines: &[Vec<String>]) -> String {
    let mut text = String::new();
    for line in lines {
        for (column, cell) in line.iter().enumerate() {
            let width =
                lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
            let (width, is_last) = (width.unwrap_or(0), column + 1 == line.len());
            text.push_str(&if is_last { cell.clone() } else { format!("{cell:<width$}  ") });
        }
        text.push('\n');
    }
    text
}
