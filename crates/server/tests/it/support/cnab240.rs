//! A bank that takes payments as files: what it answers to one.

use serde_json::{Value, json};

/// The company that pays, as a file about it has it.
pub fn company() -> Value {
    json!({ "bank": "001", "bankName": "Banco da Praça", "agreement": "0001222220126", "name": "Comércio São João Ltda.",
        "document": "12345678000195", "branch": "1234", "branchCheckDigit": "5", "account": "98765",
        "accountCheckDigit": "X" })
}

/// The columns from one on, counted from 1, of a line.
pub fn columns(line: &str, from: usize, columns: usize) -> &str {
    &line[from - 1..from - 1 + columns]
}

/// The segments A of a file.
pub fn payments(file: &str) -> Vec<&str> {
    file.lines().filter(|line| columns(line, 8, 1) == "3" && columns(line, 14, 1) == "A").collect()
}

/// The return file about a remittance: `answer` says of the amount of a payment, in cents, its type of movement with the instruction
/// (three columns), its codes, and how much was paid.
pub fn answered(remittance: &str, answer: impl Fn(i64) -> (&'static str, &'static str, i64)) -> String {
    let mut lines: Vec<String> = remittance.lines().map(str::to_owned).collect();
    put(&mut lines[0], 143, "2");
    for line in lines.iter_mut().filter(|line| columns(line, 8, 1) == "3" && columns(line, 14, 1) == "A") {
        let (movement, codes, paid) = answer(columns(line, 120, 15).parse().unwrap());
        put(line, 15, movement);
        put(line, 163, &format!("{paid:015}"));
        put(line, 231, codes);
    }
    lines.join("\r\n") + "\r\n"
}

fn put(line: &mut String, from: usize, text: &str) {
    line.replace_range(from - 1..from - 1 + text.len(), text);
}
