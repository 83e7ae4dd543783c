//! Adds up what became of the money of each receiver, to the cent, and compares it with the ledger.

use std::collections::BTreeMap;

use regente_domain::currency::Currency;
use regente_domain::id::ClientId;
use regente_domain::ledger::Purpose;
use regente_domain::local_day;
use regente_domain::payout::Receiver;
use regente_domain::provider_type::ProviderType;
use regente_store::ledger::{self, AccountFilter};
use regente_store::payouts::statement::{self as rows, Sums};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::Error;

/// Accounts of the ledger that one query reads.
const ACCOUNTS_PER_PAGE: i64 = 500;

/// What became of the money of a receiver, in minor units. `captured` less what payers have back, what is kept and what it has cost to be
/// paid early is what was paid, is on its way, or is still to be paid, less what is owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverStatement {
    /// The seller; nobody for the account itself.
    pub receiver: Receiver,
    /// The code of the currency.
    pub currency: String,
    /// What charges have brought.
    pub captured: i64,
    /// What payers were given back.
    pub refunded: i64,
    /// What payers' banks have taken back.
    pub charged_back: i64,
    /// What the provider keeps.
    pub fees: i64,
    /// What it has cost to be paid early.
    pub prepaid: i64,
    /// What was paid.
    pub paid: i64,
    /// What is on its way.
    pub on_its_way: i64,
    /// What is due and in no batch.
    pub due: i64,
    /// What is due on later days.
    pub later: i64,
    /// What the receiver owes.
    pub debt: i64,
    /// What is still due by the ledger.
    pub ledger: i64,
}

impl ReceiverStatement {
    /// What is still to be paid.
    pub const fn outstanding(&self) -> i64 {
        self.on_its_way + self.due + self.later - self.debt
    }

    /// Whether every cent is named.
    pub const fn adds_up(&self) -> bool {
        let net = self.captured - self.refunded - self.charged_back - self.fees - self.prepaid;
        net == self.paid + self.outstanding()
    }

    /// Whether the ledger says the same.
    pub const fn equals_ledger(&self) -> bool {
        self.outstanding() == self.ledger
    }
}

/// The statement of an account, by receiver. While charges move, their orders may be a moment behind the ledger.
///
/// # Errors
/// [`Error::Unavailable`].
pub async fn of(app: &App, client_id: ClientId) -> Result<Vec<ReceiverStatement>, Error> {
    let today = local_day::day_of(app.clock.of(client_id));
    let sums = rows::statement(&app.store, client_id, today).await?;
    let mut due = due_by_ledger(app, client_id).await?;
    let mut lines: Vec<ReceiverStatement> = sums
        .iter()
        .map(|sums| line(sums, due.remove(&(sums.receiver, sums.currency.code())).unwrap_or(0)))
        .collect();
    // What the ledger has and no order is about.
    for ((receiver, currency), ledger) in due.into_iter().filter(|(_, ledger)| *ledger != 0) {
        let nothing = Sums {
            receiver,
            currency: Currency::parse(currency).unwrap_or(Currency::BRL),
            orders: 0,
            authorized: 0,
            voided: 0,
            charged_back: 0,
            fee: 0,
            discount: 0,
            paid: 0,
            on_its_way: 0,
            due: 0,
            later: 0,
            debt: 0,
        };
        lines.push(line(&nothing, ledger));
    }
    Ok(lines)
}

fn line(sums: &Sums, ledger: i64) -> ReceiverStatement {
    ReceiverStatement {
        receiver: sums.receiver,
        currency: sums.currency.code().to_owned(),
        captured: sums.authorized,
        refunded: sums.voided,
        charged_back: sums.charged_back,
        fees: sums.fee,
        prepaid: sums.discount,
        paid: sums.paid,
        on_its_way: sums.on_its_way,
        due: sums.due,
        later: sums.later,
        debt: sums.debt,
        ledger,
    }
}

/// What is still due to each receiver by the ledger: its parts of charges less fees, anticipations and payouts.
async fn due_by_ledger(
    app: &App,
    client_id: ClientId,
) -> Result<BTreeMap<(Receiver, &'static str), i64>, Error> {
    let filter =
        AccountFilter { provider_types: Some(vec![ProviderType::Platform]), ..AccountFilter::default() };
    let (mut due, mut offset) = (BTreeMap::new(), 0);
    loop {
        let page = ledger::balances(&app.store, client_id, &filter, None, ACCOUNTS_PER_PAGE, offset).await?;
        let Some(read) = i64::try_from(page.len()).ok().filter(|read| *read > 0) else { return Ok(due) };
        offset += read;
        for balance in page {
            let account = balance.account;
            let sign = match account.purpose {
                Purpose::MerchantPayable | Purpose::SellerPayable | Purpose::PlatformFee => 1,
                Purpose::ProviderFee | Purpose::Anticipation | Purpose::Payout => -1,
                Purpose::ProviderReceivable
                | Purpose::SettlementDifference
                | Purpose::Hold
                | Purpose::HoldContra => 0,
            };
            let amount = i64::try_from(balance.amount()).map_err(Error::internal)?;
            *due.entry((account.seller_id, account.currency.code())).or_default() += sign * amount;
        }
    }
}
