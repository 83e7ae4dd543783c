//! Receivables that are due on one day, written by SQL as copies of what the product makes of one charge of each account.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use regente_store::DatabaseKind;
use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::bench::splits;
use crate::place::{Account, Inside, Place, uuid};

/// Sellers of each account.
pub(super) const SELLERS: u64 = 10;
/// Who is paid: the sellers, and the account itself. Each has one batch.
pub(super) const RECEIVERS: u64 = SELLERS + 1;
/// The percentage of the charge that each seller has.
const PERCENTAGE: u8 = 9;
/// Accounts that are made at once.
const AT_ONCE: usize = 16;
/// Longer than the term of credit cards with every holiday: 30 days, and then the next business day.
const TERM: Duration = Duration::from_secs(40 * 86_400);
/// The last digit of an account number, with which the bank pays at once.
const ACCOUNT_NUMBER: &str = "4920";

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
    let due_at = Clock::system().deployment();
    let clock = Clock::manual(due_at - TERM);
    let inside = place.open(clock.clone()).await?;
    let making = (0..=accounts).map(|number| one_of(&inside, number));
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

/// An account with sellers.
struct Shop {
    account: Account,
    sellers: Vec<String>,
}

/// An account with a plan, a bank account, a merchant of the own provider, and sellers.
async fn one_of(inside: &Inside, number: usize) -> Outcome<Shop> {
    let own = json!([{
        "name": "Own", "priority": 1, "credentials": { "type": "PLATFORM", "apiKey": "any-api-key-1234" },
    }]);
    let account = inside.make_account(format!("Shop {number}"), &own).await?;
    let plan = json!({
        "name": "Standard",
        "policies": [{ "paymentMethod": "credit", "payoutTermDays": 30, "payoutRecurrence": "daily" }],
        "fees": [{ "paymentMethod": "credit", "percentage": 3, "fixedAmount": 39 }],
    });
    inside.make_plan(&account, members(&plan)).await?;
    let bank_account = json!({
        "holderName": "Rita Lima", "holderDocument": "36243319067", "bank": "077", "branchNumber": "492",
        "accountNumber": ACCOUNT_NUMBER, "type": "conta_corrente",
    });
    inside.set_bank_account(&account, members(&bank_account)).await?;
    let mut sellers = Vec::new();
    for seller in 0..SELLERS {
        let mut body = splits::seller(&account, &cpf(seller));
        body["bankAccount"]["accountNumber"] = json!(ACCOUNT_NUMBER);
        body["owner"]["email"] = json!(format!("seller{seller}@example.com"));
        let made = inside.post(&account, "/v1/sellers", &uuid(), &body).await?;
        sellers.push(made["id"].as_str().ok_or("no id of a seller")?.to_owned());
    }
    Ok(Shop { account, sellers })
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

fn members(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// A number of nine digits with its check digits.
fn cpf(number: u64) -> String {
    let mut digits: Vec<u64> =
        format!("{:09}", 362_433_190 + number).bytes().map(|digit| u64::from(digit - b'0')).collect();
    for _ in 0..2 {
        let weights = (2..=digits.len() as u64 + 1).rev();
        let sum: u64 = digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum();
        digits.push((sum * 10) % 11 % 10);
    }
    digits.iter().map(ToString::to_string).collect()
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
