//! How the rows of a settlement file are read, and what a terminal is shown of them.

use std::cell::Cell;
use std::io;
use std::io::Read;

use regente::settlement::{LineError, Lines, Mapping, OF_THE_SIMULATOR};

use crate::support::server::{Server, run_on};

/// A mapping of the simulator's columns with changes.
fn mapping(changes: &[(&str, &str)]) -> Mapping {
    let file = tempfile::NamedTempFile::new().unwrap();
    let changed = changes.iter().fold(OF_THE_SIMULATOR.to_owned(), |mapping, (from, to)| {
        assert!(mapping.contains(from), "{from}");
        mapping.replace(from, to)
    });
    std::fs::write(file.path(), changed).unwrap();
    Mapping::read(file.path()).unwrap()
}

#[test]
fn amounts_have_no_more_decimals_than_their_currency() {
    let changes = [
        ("separator = \",\"", "separator = \";\""),
        ("minor_units\"\n", "decimal\"\n"),
        ("decimal_separator = \".\"", "decimal_separator = \",\""),
    ];
    let mapping = mapping(&changes);
    let head = "line;type;at;payment;currency;amount;fee;parts";
    for (currency, amount, expected) in [
        ("BRL", "1,00", Some(100)),
        ("BRL", "1,5", Some(150)),
        ("BRL", "1", Some(100)),
        ("BRL", "1.000", Some(100_000)),
        ("BRL", "1.234.567,89", Some(123_456_789)),
        // A thousand, perhaps, or one.
        ("BRL", "1,000", None),
        ("BRL", "1,0000", None),
        ("JPY", "1.000", Some(1000)),
        ("JPY", "1,0", None),
    ] {
        let file = format!("{head}\na;payout;2026-03-23T10:00:00Z;p;{currency};{amount};0;\n");
        let read: Vec<_> = Lines::new(file.as_bytes(), &mapping).unwrap().collect();
        match (&read[..], expected) {
            ([Ok(line)], Some(expected)) => assert_eq!(line.amount, expected, "{currency} {amount}"),
            ([Err(LineError::Row(wrong))], None) => {
                assert_eq!(wrong.column.as_deref(), Some("amount"));
                assert_eq!(wrong.why, format!("`{amount}` is no amount"));
            }
            other => panic!("{currency} {amount}: {other:?}"),
        }
    }
}

#[test]
fn the_kind_says_which_sign_an_amount_has() {
    for (negated, kind, amount, expected) in [
        ("[]", "sale", "-100", None),
        ("[]", "refund_reverted", "-100", None),
        ("[]", "charge_back_reversal", "-100", None),
        ("[\"sale\"]", "sale", "-100", Some(100)),
        ("[\"sale\"]", "sale", "100", None),
        ("[]", "refund", "-100", Some(100)),
        ("[]", "refund", "100", Some(100)),
        ("[]", "charge_back", "-100", Some(100)),
        ("[]", "fee", "-100", Some(-100)),
        ("[\"fee\"]", "fee", "-100", Some(100)),
    ] {
        let mapping = mapping(&[("negated = []", &format!("negated = {negated}"))]);
        let head = "line,type,at,payment,currency,amount,fee,parts";
        let file = format!("{head}\na,{kind},2026-03-23T10:00:00Z,p,BRL,{amount},0,\n");
        let read: Vec<_> = Lines::new(file.as_bytes(), &mapping).unwrap().collect();
        match (&read[..], expected) {
            ([Ok(line)], Some(expected)) => assert_eq!(line.amount, expected, "{negated} {kind}"),
            ([Err(LineError::Row(wrong))], None) => {
                let why =
                    format!("`{amount}` is the wrong sign for a `{kind}`: see `negated` of the mapping");
                assert_eq!((wrong.column.as_deref(), &wrong.why), (Some("amount"), &why));
            }
            other => panic!("{negated} {kind} {amount}: {other:?}"),
        }
    }
}

/// Tells how much of a file was read.
struct Counted<'a, R>(R, &'a Cell<usize>);

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.set(self.1.get() + read);
        Ok(read)
    }
}

#[test]
fn a_row_that_does_not_end_is_not_read_into_the_memory() {
    let mapping = mapping(&[]);
    let head = "line,type,at,payment,currency,amount,fee,parts\n";
    let right = "a,payout,2026-03-23T10:00:00Z,p,BRL,1,0,\n";
    let rows = format!("{head}{}", right.repeat(10_000));
    let file = rows.as_bytes().chain(&b"\"b"[..]).chain(io::repeat(b'c').take(8 * 1024 * 1024));
    let counted = Cell::new(0);
    let read: Vec<_> = Lines::new(Counted(file, &counted), &mapping).unwrap().take(10_001).collect();
    assert!(read.iter().take(10_000).all(Result::is_ok));
    let Some(Err(LineError::File(error))) = read.last() else { panic!("{:?}", read.last()) };
    assert!(
        error.to_string().starts_with("the row that begins in line 10002 has more than 64 KiB"),
        "{error}"
    );
    assert!(counted.get() < rows.len() + 128 * 1024, "{}", counted.get());

    let counted = Cell::new(0);
    let refused = Lines::new(Counted(io::repeat(b'c').take(8 * 1024 * 1024), &counted), &mapping);
    let refused = refused.err().unwrap().to_string();
    assert!(refused.starts_with("the row that begins in line 1 has more than 64 KiB"), "{refused}");
    assert!(counted.get() < 128 * 1024, "{}", counted.get());
}

#[tokio::test]
async fn no_text_of_a_file_moves_the_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let path = folder.path().join("file.csv");
    let import = ["settle", "import", path.to_str().unwrap(), "--provider", "SANDBOX"];
    let evil = "\u{1b}[2J\u{9b}1A\u{7f}\u{202e}\r\n\nmatched";
    let head = "line,type,at,payment,currency,amount,fee,parts\n";
    let row = format!("\"{evil}\",sale,2026-03-23T10:00:00Z,\"{evil}\",\"{evil}\",1,0,\n");
    std::fs::write(&path, format!("{head}{row}\"{evil}\",\"{evil}\",,,,,,\n")).unwrap();
    let is_plain =
        |text: &str| !text.contains(|sign: char| sign.is_control() && sign != '\n' || sign == '\u{202e}');
    let shown = run_on(folder.path(), &import).await;
    assert!(is_plain(&shown.stdout) && !shown.stdout.contains("\nmatched\n"), "{:?}", shown.stdout);
    let code = r"\u{1b}[2J\u{9b}1A\u{7f}\u{202e}\r\n\nmatched";
    // The line, its payment, its currency, the sums of the currency, and what is wrong with the other.
    assert_eq!(shown.stdout.matches(code).count(), 6, "{}", shown.stdout);
    let json = run_on(folder.path(), &[&import[..], &["--json"]].concat()).await.stdout;
    assert!(is_plain(&json), "{json:?}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["findings"][0]["line"], evil, "{json:#}");

    std::fs::write(&path, format!("\"{evil}\"\n")).unwrap();
    let refused = run_on(folder.path(), &import).await;
    let complaint = refused.complaint();
    assert!(is_plain(complaint) && complaint.contains(code), "{complaint:?}");
    server.stop().await;
}
