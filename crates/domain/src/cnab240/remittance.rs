//! Writes a remittance: a file of payments that a company asks its bank to make. Payments of one form stand in a lot of
//! their own; of each there are the segments A, what is paid to which account, and B, to whom.

use jiff::civil::{Date, DateTime};

use super::FILE_TRAILER;
use super::line::Line;
use super::name::{NAME_COLUMNS, name_of};
use super::parties::{Form, Payer, Payment};

/// Of the file and of its lots (G019, G030).
const FILE_LAYOUT: &str = "085";
const LOT_LAYOUT: &str = "044";
/// A file that a company sends (G015).
const REMITTANCE: i64 = 1;
/// The largest number of a file (G018).
pub const NUMBER_MAX: u32 = 999_999;
/// The clearing of a TED (P001), and its purpose: a credit to an account (P011).
const TED_CLEARING: &str = "018";
const TED_PURPOSE: &str = "00010";
/// The account of the company is debited (P014).
const FROM_ACCOUNT: &str = "01";

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Its number among those that the company has sent to the bank, 1 to [`NUMBER_MAX`].
    pub number: u32,
    /// When it was made, in São Paulo.
    pub made_at: DateTime,
    /// The day on which its payments are made.
    pub pay_on: Date,
}

/// The file of these payments. Lines end with CR LF.
pub fn write(payer: &Payer, payments: &[Payment], heading: Heading) -> String {
    let mut file = file_header(payer, heading);
    let (mut lots, mut lines) = (0_i64, 2_i64);
    for form in Form::ALL {
        let of_form: Vec<&Payment> = payments.iter().filter(|payment| payment.form == form).collect();
        if of_form.is_empty() {
            continue;
        }
        lots += 1;
        lines += lot(&mut file, payer, (lots, form), &of_form, heading.pay_on);
    }
    let trailer = Line::default().digits(&payer.bank, 3).text(FILE_TRAILER, 4).number(9, 1).blanks(9);
    // No accounts are reconciled (G037).
    file += &trailer.number(lots, 6).number(lines, 6).zeros(6).blanks(205).end();
    file
}

fn file_header(payer: &Payer, heading: Heading) -> String {
    let line = Line::default().digits(&payer.bank, 3).zeros(4).number(0, 1).blanks(9);
    let line = company(line, payer).text(&payer.bank_name, 30).blanks(10).number(REMITTANCE, 1);
    let time = heading.made_at.time();
    let line = day(line, heading.made_at.date())
        .number(i64::from(time.hour()), 2)
        .number(i64::from(time.minute()), 2)
        .number(i64::from(time.second()), 2);
    line.number(i64::from(heading.number), 6).digits(FILE_LAYOUT, 3).zeros(5).blanks(20 + 20 + 29).end()
}

/// Writes a lot, and returns the number of its lines.
fn lot(
    file: &mut String,
    payer: &Payer,
    (number, form): (i64, Form),
    payments: &[&Payment],
    pay_on: Date,
) -> i64 {
    let begun = |kind: i64| Line::default().digits(&payer.bank, 3).number(number, 4).number(kind, 1);
    let line = begun(1).text("C", 1).digits(&payer.service, 2).digits(form.code(), 2).digits(LOT_LAYOUT, 3);
    let line = company(line.blanks(1), payer).blanks(40);
    // The address of the company: street, number, complement and city, postal code, state.
    let line = line.blanks(30).zeros(5).blanks(15 + 20).zeros(5).blanks(3 + 2);
    *file += &line.digits(FROM_ACCOUNT, 2).blanks(6 + 10).end();
    let (mut records, mut sum) = (0_i64, 0_i64);
    for payment in payments {
        let amount = payment.amount.minor_units();
        records += 1;
        *file += &segment_a(begun(3).number(records, 5), payment, pay_on);
        records += 1;
        *file += &segment_b(begun(3).number(records, 5), payment, pay_on);
        sum += amount;
    }
    let lines = records + 2;
    *file += &begun(5).blanks(9).number(lines, 6).number(sum, 18).zeros(18 + 6).blanks(165 + 10).end();
    lines
}

fn segment_a(line: Line, payment: &Payment, pay_on: Date) -> String {
    let is_ted = payment.form.is_ted();
    // An inclusion (G060), released at once (G061).
    let line = line.text("A", 1).number(0, 1).zeros(2);
    let line = line.digits(if is_ted { TED_CLEARING } else { "" }, 3).digits(&payment.bank, 3);
    let line = line.digits(&payment.branch.number, 5).text(&payment.branch.digit, 1);
    let line = line.digits(&payment.account.number, 12).text(&payment.account.digit, 1).blanks(1);
    let line = line.text(&payment.person.name, 30).text(&name_of(payment.id), NAME_COLUMNS);
    let line = day(line, pay_on).text("BRL", 3).zeros(15).number(payment.amount.minor_units(), 15);
    // What the bank fills in: its number, the day and the amount of the payment.
    let line = line.blanks(20).zeros(8).zeros(15).blanks(40);
    let line = line.blanks(2).text(if is_ted { TED_PURPOSE } else { "" }, 5).blanks(2 + 3);
    line.number(0, 1).blanks(10).end()
}

fn segment_b(line: Line, payment: &Payment, pay_on: Date) -> String {
    let line = line.text("B", 1).blanks(3).digits(payment.person.document_type, 1);
    let line = line.digits(&payment.person.document, 14);
    // The address: street, number, complement, district and city, postal code, state.
    let line = line.blanks(30).zeros(5).blanks(15 + 15 + 20).zeros(5).blanks(3 + 2);
    let line = day(line, pay_on).number(payment.amount.minor_units(), 15);
    // Abatement, discount, interest and fine; then the receiver's code, no notice, no public account.
    line.zeros(15 * 4).blanks(15).number(0, 1).zeros(6).blanks(8).end()
}

/// Document, agreement, account and name of the company: columns 18 to 102 of both headers.
fn company(line: Line, payer: &Payer) -> Line {
    let line = line.digits(payer.person.document_type, 1).digits(&payer.person.document, 14);
    let line = line.text(&payer.agreement, 20);
    let line = line.digits(&payer.branch.number, 5).text(&payer.branch.digit, 1);
    let line = line.digits(&payer.account.number, 12).text(&payer.account.digit, 1).blanks(1);
    line.text(&payer.person.name, 30)
}

/// Day, month and year.
fn day(line: Line, day: Date) -> Line {
    let (of_month, month) = (i64::from(day.day()), i64::from(day.month()));
    line.number(of_month, 2).number(month, 2).number(i64::from(day.year()), 4)
}
