//! Payment files in CNAB 240: whole lines as the layout has them, what comes back, and files that are not whole.

use jiff::civil::{Date, date};
use regente_domain::cnab240::name::{ids_of, name_of};
use regente_domain::cnab240::occurrence::Verdict;
use regente_domain::cnab240::parties::{Company, Payer, Payment, Unwritable};
use regente_domain::cnab240::remittance::{Heading, write};
use regente_domain::cnab240::returned::{Entry, ReturnFile, Unreadable, decoded, read};
use regente_domain::currency::Currency;
use regente_domain::id::PaymentBatchId;
use regente_domain::money::Amount;
use regente_domain::seller::data::BankAccount;
use regente_domain::wire;
use serde_json::{Value, json};

const RITA: &str = "019d6afe-c505-70a9-8df0-d052b578b35a";
const RITAS_NAME: &str = "06EPNZP50M596Z1M2JPN";
const JOAO: &str = "019d6afe-c505-7000-8000-000000000000";
const JOAOS_NAME: &str = "06EPNZP50M0000000000";
const PAY_ON: Date = date(2026, 3, 25);

fn id(text: &str) -> PaymentBatchId {
    text.parse().unwrap()
}

fn read_body<T: deserr::Deserr<regente_domain::problems::Problems>>(body: &Value) -> T {
    wire::read(body.as_object().unwrap().clone()).unwrap()
}

fn company() -> Value {
    json!({ "bank": "001", "bankName": "Banco da Praça", "agreement": "0001222220126", "name": "Comércio São João Ltda.",
        "document": "12.345.678/0001-95", "branch": "1234-5", "account": "98765", "accountCheckDigit": "x" })
}

fn account(bank: &str, branch: &str, number: &str, kind: &str) -> Value {
    json!({ "holderName": "Rita Lima", "holderDocument": "362.433.190-67", "bank": bank, "branchNumber": branch,
        "accountNumber": number, "type": kind })
}

fn payer() -> Payer {
    Payer::of(&read_body::<Company>(&company())).unwrap()
}

fn brl(cents: i64) -> (Currency, Amount) {
    (Currency::BRL, Amount::new(cents).unwrap())
}

fn paid_to(account: &Value) -> Result<Payment, Unwritable> {
    Payment::of(&payer(), id(RITA), brl(242_500), &read_body::<BankAccount>(account))
}

/// One payment by TED and one to the same bank.
fn remittance() -> String {
    let rita = paid_to(&account("077", "492", "4920", "conta_corrente")).unwrap();
    let mut to = account("001", "00321-7", "0000123456-7", "conta_corrente");
    to["holderName"] = json!("João Conceição");
    let joao = Payment::of(&payer(), id(JOAO), brl(1_999), &read_body(&to)).unwrap();
    let heading = Heading { number: 7, made_at: date(2026, 3, 24).at(9, 5, 7, 0), pay_on: PAY_ON };
    write(&payer(), &[rita, joao], heading)
}

/// The remittance as a bank returns it: the header says so, and the segments A of these rows have other columns from the first one on.
fn returned(changes: &[(usize, usize, &str)]) -> String {
    let mut lines: Vec<String> = remittance().lines().map(str::to_owned).collect();
    for (row, from, text) in [(1, 143, "2")].iter().chain(changes) {
        lines[row - 1].replace_range(from - 1..from - 1 + text.len(), text);
    }
    lines.join("\r\n") + "\r\n"
}

fn one(file: &str, name: &str) -> Entry {
    let ReturnFile { entries, .. } = read(file).unwrap();
    entries.into_iter().find(|entry| entry.name == name).unwrap()
}

/// What becomes of the payment in row 3 with a movement, an instruction and codes.
fn verdict(movement: &str, codes: &str) -> Verdict {
    one(&returned(&[(3, 15, movement), (3, 231, codes)]), JOAOS_NAME).verdict
}

#[test]
fn a_remittance_is_what_the_layout_says() {
    let blanks = |columns: usize| " ".repeat(columns);
    let zeros = |columns: usize| "0".repeat(columns);
    let company = "2123456780001950001222220126       012345000000098765X COMERCIO SAO JOAO LTDA.       ";
    let lot_header = |number: &str, form: &str| {
        format!(
            "001{number}1C20{form}044 {company}{}{}00000{}00000{}01{}",
            blanks(40),
            blanks(30),
            blanks(35),
            blanks(5),
            blanks(16)
        )
    };
    let lot_trailer =
        |number: &str, sum: &str| format!("001{number}5{}000004{sum}{}{}", blanks(9), zeros(24), blanks(175));
    let segment_b = |number: &str, amount: &str| {
        format!(
            "001{number}300002B   100036243319067{}00000{}00000{}25032026{amount}{}{}0000000{}",
            blanks(30),
            blanks(50),
            blanks(5),
            zeros(60),
            blanks(15),
            blanks(8)
        )
    };
    let expected = [
        format!(
            "00100000{}{company}BANCO DA PRACA                {}12403202609050700000708500000{}",
            blanks(9),
            blanks(10),
            blanks(69)
        ),
        lot_header("0001", "01"),
        format!(
            "0010001300001A0000000010032170000001234567 JOAO CONCEICAO                {JOAOS_NAME}25032026BRL{}\
             000000000001999{}{}{}{}0{}",
            zeros(15),
            blanks(20),
            zeros(23),
            blanks(40),
            blanks(12),
            blanks(10)
        ),
        segment_b("0001", "000000000001999"),
        lot_trailer("0001", "000000000000001999"),
        lot_header("0002", "41"),
        format!(
            "0010002300001A00001807700492 000000004920  RITA LIMA                     {RITAS_NAME}25032026BRL{}\
             000000000242500{}{}{}  00010     0{}",
            zeros(15),
            blanks(20),
            zeros(23),
            blanks(40),
            blanks(10)
        ),
        segment_b("0002", "000000000242500"),
        lot_trailer("0002", "000000000000242500"),
        format!("00199999{}000002000010000000{}", blanks(9), blanks(205)),
    ];
    let written = remittance();
    assert!(written.is_ascii() && written.ends_with("\r\n"));
    for (line, expected) in written.split_terminator("\r\n").zip(&expected) {
        assert_eq!(line, expected);
        assert_eq!(line.len(), 240);
    }
    assert_eq!(written.split_terminator("\r\n").count(), expected.len());
}

#[test]
fn a_name_leads_back_to_its_id() {
    for (id_text, name) in [
        (RITA, RITAS_NAME),
        (JOAO, JOAOS_NAME),
        ("019d6afe-c505-7fff-bfff-ffffffffffff", "06EPNZP50QZZZZZZZZZZ"),
    ] {
        assert_eq!(name_of(id(id_text)), name);
        let (first, last) = ids_of(name).unwrap();
        assert!(first <= id(id_text) && id(id_text) <= last);
    }
    let (first, last) = ids_of(RITAS_NAME).unwrap();
    assert_eq!(
        (first, last),
        (id("019d6afe-c505-70a9-8df0-d052b5400000"), id("019d6afe-c505-70a9-8df0-d052b57fffff"))
    );
    for wrong in ["", "06EPNZP50M596Z1M2JP", "06EPNZP50M596Z1M2JPNN", "06EPNZP50M596Z1M2JPI", "INVOICE 7"] {
        assert_eq!(ids_of(wrong), None, "{wrong}");
    }
}

/// The segment A says `BRL`, whatever the amount is of.
#[test]
fn another_currency_cannot_stand_in_a_file() {
    let dollars = (Currency::parse("USD").unwrap(), Amount::new(242_500).unwrap());
    let to: BankAccount = read_body(&account("077", "492", "4920", "conta_corrente"));
    assert_eq!(Payment::of(&payer(), id(RITA), dollars, &to), Err(Unwritable::Currency));
}

#[test]
fn who_cannot_stand_in_a_file_is_told() {
    let mut without_bank = account("077", "492", "4920", "conta_corrente");
    without_bank.as_object_mut().unwrap().remove("bank");
    without_bank["ispb"] = json!("00416968");
    assert_eq!(paid_to(&without_bank), Err(Unwritable::Bank));
    for (branch, number, why) in [
        ("123456", "4920", Unwritable::Branch),
        ("49A", "4920", Unwritable::Branch),
        ("492", "1234567890123", Unwritable::Account),
        ("492", "12-34", Unwritable::Account),
    ] {
        assert_eq!(paid_to(&account("077", branch, number, "conta_corrente")), Err(why), "{branch} {number}");
    }
    let mut foreigner = account("077", "492", "4920", "conta_corrente");
    foreigner["holderDocument"] = json!("P123");
    assert_eq!(paid_to(&foreigner), Err(Unwritable::Document));
    let mut contradicts = account("077", "492", "4920-1", "conta_corrente");
    contradicts["accountCheckDigit"] = json!("2");
    assert_eq!(paid_to(&contradicts), Err(Unwritable::Account));
    contradicts["accountCheckDigit"] = json!("1");
    assert!(paid_to(&contradicts).is_ok());
}

#[test]
fn savings_and_accounts_of_the_company_have_lots_of_their_own() {
    let lots = |account: &Value| {
        let heading = Heading { number: 1, made_at: PAY_ON.at(0, 0, 0, 0), pay_on: PAY_ON };
        write(&payer(), &[paid_to(account).unwrap()], heading).lines().nth(1).unwrap()[8..16].to_owned()
    };
    assert_eq!(lots(&account("001", "1", "1", "conta_poupanca")), "C2005044");
    assert_eq!(lots(&account("077", "1", "1", "conta_poupanca")), "C2041044");
    let mut own = account("077", "1", "1", "conta_corrente");
    own["holderDocument"] = json!("12345678000195");
    assert_eq!(lots(&own), "C2043044");
}

#[test]
fn a_return_tells_what_became_of_each_payment() {
    let file = returned(&[(3, 155, "25032026000000000001999"), (3, 231, "00"), (7, 231, "AN")]);
    let ReturnFile { bank, number, entries, others } = read(&file).unwrap();
    assert_eq!((bank.as_str(), number, others.len()), ("001", 7, 0));
    let reason = "AN receiver's account or its check digit is invalid";
    let expected = [
        Entry {
            row: 3,
            name: JOAOS_NAME.to_owned(),
            amount: 1_999,
            paid: Some(1_999),
            paid_on: Some(PAY_ON),
            verdict: Verdict::Paid,
        },
        Entry {
            row: 7,
            name: RITAS_NAME.to_owned(),
            amount: 242_500,
            paid: None,
            paid_on: None,
            verdict: Verdict::Refused(reason.to_owned()),
        },
    ];
    assert_eq!(entries, expected);
    // Line ends of another system, and the end of file of an old one.
    assert_eq!(read(&(file.replace("\r\n", "\n") + "\u{1A}")).unwrap().entries, expected);
}

#[test]
fn codes_decide_only_what_they_say() {
    assert_eq!(verdict("000", "00ZA"), Verdict::Paid);
    assert_eq!(verdict("700", "00"), Verdict::Paid);
    assert_eq!(verdict("000", "BD"), Verdict::Scheduled);
    let two = "AG branch, account or check digit is invalid; HF the company's account has not enough money";
    assert_eq!(verdict("000", "AGHF"), Verdict::Refused(two.to_owned()));
    assert_eq!(verdict("333", "  "), Verdict::Returned("33 returned by the clearing house".to_owned()));
    for (movement, codes) in [
        // Nothing, something unknown, a title, a loan, a notice alone, and what contradicts itself.
        ("000", "  "),
        ("000", "QQ"),
        ("000", "00QQ"),
        ("000", "CA"),
        ("000", "BN"),
        ("000", "ZA"),
        ("000", "00AG"),
        ("000", "BD00"),
        // What no file of ours asks for, and a reversal of another kind.
        ("999", "BF"),
        ("519", "BE"),
        ("300", "00"),
    ] {
        let found = verdict(movement, codes);
        assert!(matches!(found, Verdict::Undecided(_)), "{movement} {codes}: {found:?}");
    }
    let of_lot = one(&returned(&[(2, 231, "HA")]), JOAOS_NAME).verdict;
    assert_eq!(
        of_lot,
        Verdict::Undecided("it has no code, and its lot has HA lot is not accepted".to_owned())
    );
}

#[test]
fn a_file_that_is_not_whole_is_not_read() {
    let whole = returned(&[(3, 231, "00"), (7, 231, "00")]);
    let lines: Vec<&str> = whole.lines().collect();
    for kept in 1..lines.len() {
        assert_eq!(read(&lines[..kept].join("\r\n")), Err(Unreadable::Truncated), "{kept} lines");
    }
    assert_eq!(read(""), Err(Unreadable::Empty));
    assert_eq!(read(&remittance()), Err(Unreadable::NoReturn));
    assert_eq!(read("hello"), Err(Unreadable::Columns { row: 1, columns: 5 }));
    assert_eq!(read(&whole[..whole.len() - 12]), Err(Unreadable::Columns { row: 10, columns: 230 }));
    let without = |row: usize| {
        let kept = (1..).zip(&lines).filter(|(of, _)| *of != row).map(|(_, line)| *line);
        read(&kept.collect::<Vec<_>>().join("\r\n"))
    };
    // A lot without its header, its payment, its trailer.
    assert_eq!(without(2), Err(Unreadable::Misplaced { row: 2 }));
    assert_eq!(without(3), Err(Unreadable::Count { row: 4 }));
    assert_eq!(without(5), Err(Unreadable::Misplaced { row: 5 }));
    for (change, why) in [
        ((3, 134, "8"), Unreadable::Sum { row: 5 }),
        ((3, 134, "x"), Unreadable::NoNumber { row: 3 }),
        ((5, 23, "5"), Unreadable::Count { row: 5 }),
        ((5, 41, "8"), Unreadable::Sum { row: 5 }),
        ((10, 23, "3"), Unreadable::Count { row: 10 }),
        ((10, 29, "1"), Unreadable::Count { row: 10 }),
        ((7, 3, "2"), Unreadable::OtherBank { row: 7 }),
        ((6, 8, "7"), Unreadable::Misplaced { row: 6 }),
    ] {
        assert_eq!(read(&returned(&[change])), Err(why), "{change:?}");
    }
    assert_eq!(read(&(whole.clone() + lines[9])), Err(Unreadable::Misplaced { row: 11 }));
}

/// More than any number holds, and than the 18 columns of the trailer.
#[test]
fn a_sum_that_no_trailer_has_is_wrong() {
    let whole = returned(&[(3, 120, "999999999999999")]);
    let lines: Vec<&str> = whole.lines().collect();
    let payments = vec![lines[2]; 9_300];
    let trailer = lines[4].replacen("000004", "009302", 1);
    let file = [&lines[..2], &payments, &[trailer.as_str()]].concat().join("\r\n");
    assert_eq!(read(&file), Err(Unreadable::Sum { row: 9_303 }));
}

#[test]
fn lines_that_are_not_about_payments_are_listed() {
    let file = returned(&[(3, 231, "00"), (4, 14, "Z")]);
    let ReturnFile { entries, others, .. } = read(&file).unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!((others[0].row, others[0].what.as_str()), (4, "segment Z"));
    // One byte is one column, whatever it is.
    let bytes: Vec<u8> = file.bytes().map(|byte| if byte == b'J' { 0xC7 } else { byte }).collect();
    assert_eq!(read(&decoded(&bytes)).unwrap().number, 7);
}
