//! Writes payment batches into a file for a bank, where none is connected. In the same change each batch is written down as
//! one that may have been sent, and the number of the file as used: two who export at once do not write the same payment
//! twice.

use jiff::civil::Date;
use regente_domain::cnab240::parties::{Company, Payer, Payment};
use regente_domain::cnab240::remittance::{Heading, NUMBER_MAX, write};
use regente_domain::id::{ClientId, PaymentBatchId};
use regente_domain::local_day;
use regente_domain::money::Amount;
use regente_domain::payout::transfer::Sending;
use regente_domain::time::{Timestamp, later_of};
use regente_store::payouts::batches::{self, PaymentBatch};
use regente_store::payouts::files::{self as rows, PayoutFile};
use regente_store::{Batch, Store};
use uuid::Uuid;

use super::transfers::NO_ACCOUNT;
use super::{account, receivers};
use crate::app::App;
use crate::audit::Author;
use crate::error::Error;
use crate::races::{self, Changed};

/// Payments of one file; the next file has those that follow.
pub const PAYMENTS_MAX: usize = 500;
/// Batches that one look finds.
const PAGE: usize = 500;
/// Why a batch is left out whose receiver may not be paid.
const HELD: &str = "the receiver may not be paid now";
/// Why nothing is paid by hand.
pub const BANK_IS_CONNECTED: &str = "a bank is connected, and pays by itself";

/// Which batches are written into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that are in none.
    New,
    /// Those too that are in one already.
    Again,
}

/// A file of payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The file, its number and its sum; `None` where there is nothing to pay.
    pub file: Option<ExportedFile>,
    /// Batches that cannot stand in a file, and why.
    pub left_out: Vec<(PaymentBatchId, String)>,
    /// Batches that are in a file already, and are not in this one.
    pub in_a_file: usize,
    /// Whether there are more than one file takes.
    pub more: bool,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    /// Its text, in ASCII.
    pub text: String,
    /// Its number.
    pub number: u32,
    /// The batches that it pays.
    pub batches: Vec<PaymentBatchId>,
    /// How much, in cents.
    pub amount: i64,
}

/// Writes what is pending and due by a day into a file that pays it on that day, and writes down that it is in one.
///
/// # Errors
/// [`Error::Impossible`] where a bank is connected, the company cannot stand in a file, or the day is past;
/// [`Error::Unavailable`].
pub async fn export(
    app: &App,
    author: &Author<'_>,
    company: &Company,
    day: Date,
    which: Which,
) -> Result<Export, Error> {
    must_pay_by_hand(app)?;
    let payer = Payer::of(company).map_err(|why| Error::impossible(format!("of the company, {why}")))?;
    let client_id = author.client_id;
    if day < local_day::day_of(app.clock.of(client_id)) {
        return Err(Error::impossible(format!("{day} is past")));
    }
    races::change(|| async {
        let now = app.clock.of(client_id);
        let Drawn { mut export, payments, mut change, amount } =
            draw(app, author, &payer, (day, which), now).await?;
        if payments.is_empty() {
            return Ok(Changed::Already(export));
        }
        let number = next_number(&app.store, client_id, payer.bank()).await?;
        let (ids, payments): (Vec<PaymentBatchId>, Vec<Payment>) = payments.into_iter().unzip();
        let file = PayoutFile {
            bank: payer.bank(),
            number: i64::from(number),
            payments: i64::try_from(payments.len()).unwrap_or(i64::MAX),
            amount,
            made_at: now,
        };
        rows::insert(&mut change, &file);
        let text = write(&payer, &payments, heading(number, now, day));
        export.file = Some(ExportedFile { text, number, batches: ids, amount });
        let _admission = app.store.admit_waiting().await?;
        Ok(Changed::Written(app.store.apply(change).await?, export))
    })
    .await
}

impl Export {
    const fn nothing() -> Self {
        Self { file: None, left_out: Vec::new(), in_a_file: 0, more: false }
    }
}

/// Files are for those who pay by hand.
pub(super) fn must_pay_by_hand(app: &App) -> Result<(), Error> {
    if app.bank.is_some() { Err(Error::impossible(BANK_IS_CONNECTED)) } else { Ok(()) }
}

fn heading(number: u32, now: Timestamp, pay_on: Date) -> Heading {
    Heading { number, made_at: local_day::civil_of(now), pay_on }
}

/// What a file pays, and the change that writes it down.
struct Drawn {
    export: Export,
    payments: Vec<(PaymentBatchId, Payment)>,
    change: Batch,
    amount: i64,
}

async fn draw(
    app: &App,
    author: &Author<'_>,
    payer: &Payer,
    (day, which): (Date, Which),
    now: Timestamp,
) -> Result<Drawn, Error> {
    let client_id = author.client_id;
    let change = Batch::new(client_id);
    let mut drawn = Drawn { export: Export::nothing(), payments: Vec::new(), change, amount: 0 };
    let mut after = PaymentBatchId::new(Uuid::nil());
    loop {
        let limit = i64::try_from(PAGE).unwrap_or(i64::MAX);
        let page = batches::pending(&app.store, client_id, after, limit).await?;
        after = page.last().map_or(after, |batch| batch.id);
        for batch in &page {
            match (batch.transfer, which) {
                _ if batch.payment_date > day => continue,
                (Sending::Unsent, _) | (Sending::Sent, Which::Again) => {}
                (Sending::Sent, Which::New) => {
                    drawn.export.in_a_file += 1;
                    continue;
                }
            }
            match payment(app, payer, batch).await? {
                Err(why) => drawn.export.left_out.push((batch.id, why)),
                Ok(_) if drawn.payments.len() == PAYMENTS_MAX => {
                    drawn.export.more = true;
                    return Ok(drawn);
                }
                Ok(payment) => {
                    drawn.amount += payment.amount().minor_units();
                    let updated_at = later_of(now, batch.updated_at);
                    let sent = PaymentBatch { transfer: Sending::Sent, updated_at, ..batch.clone() };
                    batches::update(&mut drawn.change, &sent);
                    author.record(app, &mut drawn.change, "payment_batch.exported", batch.id.uuid());
                    drawn.payments.push((batch.id, payment));
                }
            }
        }
        if page.len() < PAGE {
            return Ok(drawn);
        }
    }
}

/// What a batch pays to whom, or why it cannot stand in a file.
async fn payment(app: &App, payer: &Payer, batch: &PaymentBatch) -> Result<Result<Payment, String>, Error> {
    let (client_id, receiver) = (batch.client_id, batch.group.owner.receiver);
    if !receivers::is_paid_now(app, client_id, receiver).await? {
        return Ok(Err(HELD.to_owned()));
    }
    let Some(to) = account::of(app, client_id, receiver).await? else {
        return Ok(Err(NO_ACCOUNT.to_owned()));
    };
    let amount = Amount::new(batch.figures.final_balance())
        .ok_or_else(|| Error::internal(format!("payment batch {} pays less than nothing", batch.id)))?;
    let money = (batch.group.owner.currency, amount);
    Ok(Payment::of(payer, batch.id, money, &to).map_err(|why| why.to_string()))
}

/// The number of the next file: one more than the last one.
async fn next_number(store: &Store, client_id: ClientId, bank: &str) -> Result<u32, Error> {
    let last = rows::last(store, client_id, bank).await?;
    let next = u32::try_from(last.saturating_add(1)).ok().filter(|next| *next <= NUMBER_MAX);
    next.ok_or_else(|| {
        Error::impossible(format!("there are {NUMBER_MAX} files for the bank, which is the most"))
    })
}
