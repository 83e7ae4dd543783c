//! The codes by which a bank tells what became of a payment (G059): up to five of two columns each.

/// Columns of a code.
const CODE_COLUMNS: usize = 2;

/// What a code says of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// It was made.
    Paid,
    /// The bank has taken it and makes it later.
    Scheduled,
    /// It was not made, and will not be.
    Refused,
    /// Something that decides nothing, such as another account of the same receiver.
    Notice,
}

/// The codes that are about transfers, with what they mean. Those of titles, of loans and of pensions, and those by which a
/// bank answers to changes that no file of ours asks for, are not here: what is not here decides nothing.
const CODES: &[(&str, Says, &str)] = &[
    ("00", Says::Paid, "paid"),
    ("BD", Says::Scheduled, "scheduled"),
    ("01", Says::Refused, "the company's account has not enough money"),
    ("02", Says::Refused, "cancelled by the payer or the receiver"),
    ("AA", Says::Refused, "control columns are invalid"),
    ("AB", Says::Refused, "type of operation is invalid"),
    ("AC", Says::Refused, "type of service is invalid"),
    ("AD", Says::Refused, "form of transfer is invalid"),
    ("AE", Says::Refused, "type or number of the company's document is invalid"),
    ("AF", Says::Refused, "code of the agreement is invalid"),
    ("AG", Says::Refused, "branch, account or check digit is invalid"),
    ("AH", Says::Refused, "sequence number in the lot is invalid"),
    ("AI", Says::Refused, "code of the segment is invalid"),
    ("AJ", Says::Refused, "type of movement is invalid"),
    ("AK", Says::Refused, "code of the clearing house is invalid"),
    ("AL", Says::Refused, "code of the receiver's bank is invalid"),
    ("AM", Says::Refused, "branch of the receiver's account is invalid"),
    ("AN", Says::Refused, "receiver's account or its check digit is invalid"),
    ("AO", Says::Refused, "receiver's name is missing"),
    ("AP", Says::Refused, "day of the payment is invalid"),
    ("AQ", Says::Refused, "type or quantity of the currency is invalid"),
    ("AR", Says::Refused, "amount is invalid"),
    ("AS", Says::Refused, "notice to the receiver is invalid"),
    ("AT", Says::Refused, "type or number of the receiver's document is invalid"),
    ("AU", Says::Refused, "receiver's street is missing"),
    ("AV", Says::Refused, "receiver's street number is missing"),
    ("AW", Says::Refused, "receiver's city is missing"),
    ("AX", Says::Refused, "receiver's postal code is invalid"),
    ("AY", Says::Refused, "receiver's state is invalid"),
    ("AZ", Says::Refused, "code or name of the depositary bank is invalid"),
    ("BA", Says::Refused, "code or name of the depositary branch is missing"),
    ("BB", Says::Refused, "the company's number of the payment is invalid"),
    ("BC", Says::Refused, "the bank's number of the payment is invalid"),
    ("BG", Says::Refused, "branch or account is barred by law"),
    ("HA", Says::Refused, "lot is not accepted"),
    ("HB", Says::Refused, "the company's document is not that of the agreement"),
    ("HC", Says::Refused, "agreement does not exist or does not allow it"),
    ("HD", Says::Refused, "the company's account does not exist or is not that of the agreement"),
    ("HE", Says::Refused, "type of service is not that of the agreement"),
    ("HF", Says::Refused, "the company's account has not enough money"),
    ("HG", Says::Refused, "lot is out of sequence"),
    ("HH", Says::Refused, "lot is invalid"),
    ("HI", Says::Refused, "file is not accepted"),
    ("HJ", Says::Refused, "type of record is invalid"),
    ("HK", Says::Refused, "file is no remittance"),
    ("HL", Says::Refused, "version of the layout is invalid"),
    ("H1", Says::Refused, "file has no trailer"),
    ("TA", Says::Refused, "lot is not accepted, since its totals differ"),
    ("ZA", Says::Notice, "branch and account of the receiver were replaced"),
    ("ZB", Says::Notice, "receiver's name differs from that of the tax authority"),
];

/// What the codes of a payment come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was made.
    Paid,
    /// It is made later.
    Scheduled,
    /// It was not made, and why.
    Refused(String),
    /// It came back, and why.
    Returned(String),
    /// The file does not say what became of it, and why not.
    Undecided(String),
}

/// The codes in the ten columns of occurrences.
pub(super) fn codes(columns: &str) -> Vec<String> {
    let signs: Vec<char> = columns.chars().collect();
    let codes = signs.chunks(CODE_COLUMNS).map(|code| code.iter().collect::<String>());
    codes.filter(|code| !code.trim().is_empty()).collect()
}

/// What these codes come to: what they say must be known of each, and be one thing.
pub(super) fn verdict(codes: &[String]) -> Verdict {
    let mut said: Vec<Says> = Vec::new();
    for code in codes {
        match find(code) {
            None => return Verdict::Undecided(format!("the code {code} is not one of a transfer")),
            Some((Says::Notice, _)) => {}
            Some((says, _)) if said.contains(&says) => {}
            Some((says, _)) => said.push(says),
        }
    }
    match said.as_slice() {
        [] => Verdict::Undecided("it has no code that decides".to_owned()),
        [Says::Paid] => Verdict::Paid,
        [Says::Scheduled] => Verdict::Scheduled,
        [Says::Refused] => Verdict::Refused(text(codes)),
        [Says::Notice] | [_, _, ..] => {
            Verdict::Undecided(format!("its codes contradict each other: {}", text(codes)))
        }
    }
}

/// Codes with what they mean.
pub(super) fn text(codes: &[String]) -> String {
    let texts = codes.iter().map(|code| match find(code) {
        Some((_, meaning)) => format!("{code} {meaning}"),
        None => code.clone(),
    });
    texts.collect::<Vec<_>>().join("; ")
}

fn find(code: &str) -> Option<(Says, &'static str)> {
    CODES.iter().find(|(known, _, _)| *known == code).map(|(_, says, meaning)| (*says, *meaning))
}
