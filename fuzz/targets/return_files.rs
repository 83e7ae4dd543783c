//! Files by which banks tell what became of payments (CNAB 240). The lines of the input are read as they are, and cut or filled to
//! 240 columns. The sum of what was asked for is that of the payments.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regente_domain::cnab240::name::ids_of;
use regente_domain::cnab240::returned::{decoded, read};

const COLUMNS: usize = 240;

fuzz_target!(|data: &[u8]| {
    let text = decoded(data);
    holds(&text);
    let filled = text.lines().map(|line| {
        let line: String = line.chars().take(COLUMNS).collect();
        format!("{line:<COLUMNS$}")
    });
    holds(&filled.collect::<Vec<_>>().join("\r\n"));
});

fn holds(text: &str) {
    let Ok(file) = read(text) else { return };
    let lines = text.lines().count();
    assert!(file.entries.len() + file.others.len() <= lines);
    for entry in &file.entries {
        assert!((1..=lines).contains(&entry.row));
        assert!(entry.amount >= 0 && entry.paid.is_none_or(|paid| paid > 0));
        let _ = ids_of(&entry.name);
    }
    assert!(file.entries.iter().try_fold(0_i64, |sum, entry| sum.checked_add(entry.amount)).is_some());
}
