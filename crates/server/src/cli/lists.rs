//! Answers as people read them.

use regente_domain::time::Timestamp;

use crate::admin::{Answer, ClientRow, KeyRow, Report, Verdict};

/// The answer to a command.
pub(super) fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Client(ClientRow { id, name, .. }) => {
            format!("Client {id} ({name}) is made. Its first key: regente keys create {id}\n")
        }
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
        Answer::Doctor(found) => report(found),
    }
}

/// What an examination found.
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

/// To the second.
fn short(time: Timestamp) -> String {
    let mut text = time.to_string();
    text.truncate("YYYY-MM-DDTHH:MM:SS".len());
    text.push('Z');
    text
}

/// Columns as wide as their widest cell, two spaces apart.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows);
    let mut text = String::new();
    for line in &lines {
        for (column, cell) in line.iter().enumerate() {
            let width = lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
            let is_last = column + 1 == N;
            text.push_str(&if is_last { cell.clone() } else { format!("{cell:<width$}  ") });
        }
        text.push('\n');
    }
    text
}
