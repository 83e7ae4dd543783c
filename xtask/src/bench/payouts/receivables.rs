//! Receivables that are due on one day, written by SQL as copies of what the product makes of one charge of each account.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_domain::business_days::Calendar;
use regente_domain::local_day;
use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use regente_store::DatabaseKind;
use serde_json::{Value, json};

use crate::Outcome;
use crate::place::payouts::{Shop, WORKING_NUMBER};
use crate::place::{Account, Inside, Place, uuid};

/// Sellers of each account.
pub(super) const SELLERS: usize = 10;
/// Who is paid: the sellers, and the account itself. Each has one batch.
pub(super) const RECEIVERS: u64 = SELLERS as u64 + 1;
/// The percentage of the charge that each seller has.
const PERCENTAGE: u8 = 9;
/// Accounts that are made at once.
const AT_ONCE: usize = 16;
/// When banks work on the day of payment.
const NOON: i8 = 12;
/// Longer than the term of credit cards with every holiday: 30 days, and then the next business day.
const TERM: Duration = Duration::from_secs(40 * 86_400);

/// Accounts of which something is due.
pub(super) struct Filled {
    /// The first one has half of it.
    pub(super) accounts: Vec<Account>,
    /// How much.
    pub(super) receivables: u64,
    /// All of it is due by then.
    pub(super) due_at: Timestamp,
}

/// Writes so many receivables of these many accounts and of one more, which has half of them.
pub(super) async fn fill(place: &Place, accounts: usize, receivables: u64) -> Outcome<Filled> {
    let today = local_day::day_of(Clock::system().deployment());
    let due_at = local_day::hour_of(Calendar::default().on_or_after(today), NOON);
    let clock = Clock::manual(due_at - TERM);
    let inside = place.open(clock.clone()).await?;
    let numbers = [WORKING_NUMBER; SELLERS];
    let making = (0..=accounts).map(|number| inside.make_shop(format!("Shop {number}"), &numbers));
    let accounts: Vec<Shop> = stream::iter(making).buffered(AT_ONCE).try_collect().await?;
    // The own provider takes the sellers.
    inside.work_off(&clock).await?;
    stream::iter(&accounts)
        .map(|shop| charge(&inside, shop))
        .buffer_unordered(AT_ONCE)
        .try_collect::<Vec<()>>()
        .await?;
    inside.work_off(&clock).await?;
    let accounts: Vec<Account> = accounts.into_iter().map(|shop| shop.account).collect();
    let first = accounts.first().ok_or("no account was made")?;
    let others = accounts.len() as u64 - 1;
    let half = receivables / 2;
    let copies = [
        Copies { is_first: true, of: RECEIVERS, more: half.saturating_sub(RECEIVERS), head: "01900000" },
        Copies {
            is_first: false,
            of: RECEIVERS * others,
            more: (receivables - half).saturating_sub(RECEIVERS * others),
            head: "01910000",
        },
    ];
    let kind = inside.database_kind();
    for copies in &copies {
        inside.run_script(&copies.script(kind, &first.client_id)).await?;
    }
    match kind {
        DatabaseKind::Sqlite => {}
        DatabaseKind::Postgres => inside.run_script("VACUUM ANALYZE").await?,
    }
    inside.close().await;
    let receivables = copies.iter().map(|copies| copies.of + copies.more).sum();
    Ok(Filled { accounts, receivables, due_at })
}

/// A card payment that is divided between all sellers of an account and its merchant.
async fn charge(inside: &Inside, shop: &Shop) -> Outcome {
    let rules: Vec<Value> =
        shop.sellers.iter().map(|seller| json!({ "sellerId": seller, "percentage": PERCENTAGE })).collect();
    let body = json!({
        "merchantId": shop.account.merchant_id, "amount": 100_000, "currency": "BRL", "capture": true,
        "statementDescriptor": "LOJA JOAO", "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": {
            "cardHolderName": "JOAO DA SILVA", "cardNumber": "4916745120294124", "cardCvv": "560",
            "cardExpirationDate": "12/2032" } },
        "splitRules": rules,
    });
    let made = inside.post(&shop.account, "/v1/charges", &uuid(), &body).await?;
    if made["status"] == "authorized" { Ok(()) } else { Err(format!("no payment: {made}").into()) }
}

/// Copies of the receivables of the first account, or of the others.
struct Copies {
    is_first: bool,
    /// Receivables that are copied.
    of: u64,
    /// How many are added.
    more: u64,
    /// What their ids begin with.
    head: &'static str,
}

impl Copies {
    fn script(&self, kind: DatabaseKind, first: &str) -> String {
        let Self { is_first, of, more, head } = self;
        let (numbers, id, first) = match kind {
            DatabaseKind::Sqlite => (
                format!(
                    "(WITH RECURSIVE up(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM up WHERE n + 1 < {more}) SELECT n FROM up) up"
                ),
                format!("unhex(printf('{head}000070008000%012x', n))"),
                format!("unhex('{}')", first.replace('-', "")),
            ),
            DatabaseKind::Postgres => (
                format!("generate_series(0, {more} - 1) n"),
                format!("('{head}-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid"),
                format!("'{first}'::uuid"),
            ),
        };
        let is = if *is_first { "=" } else { "<>" };
        // Each copy is of a charge of its own, and up to ten reais more.
        format!(
            "CREATE TEMPORARY TABLE copied AS
                 SELECT row_number() OVER (ORDER BY client_id, id) - 1 AS place, payout_orders.* FROM payout_orders
                 WHERE client_id {is} {first};
             CREATE UNIQUE INDEX copied_by_place ON copied (place);
             INSERT INTO payout_orders (id, client_id, charge_id, ordinal, step, receiver, merchant_id, order_type,
                 installment, total_installments, gross, fee, currency, method, arrangement, scheduled_at, updated_at)
             SELECT {id}, client_id, {id}, ordinal, step, receiver, merchant_id, order_type, installment,
                 total_installments, gross + n % 1000, fee, currency, method, arrangement, scheduled_at, updated_at
             FROM {numbers} JOIN copied ON place = n % {of} WHERE {more} > 0;
             DROP TABLE copied;"
        )
    }
}
