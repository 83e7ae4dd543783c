//! Accounts whose receivers the platform's own provider pays, and what they have been paid, in this process.

use futures_util::{StreamExt, TryStreamExt, stream};
use regente::access::set_prepayment;
use regente_domain::actor::Actor;
use regente_domain::payout::BatchStatus;
use regente_domain::percentage::Percentage;
use regente_domain::prepayment::Rates;
use regente_domain::wire;
use regente_engine::audit::Author;
use regente_engine::bank::{Answer, Found};
use regente_engine::payouts::{self, account, statement};
use regente_engine::plans;
use regente_store::charges::Direction;
use regente_store::payouts::BatchFilter;
use regente_store::payouts::batches::PaymentBatch;
use regente_store::simulated_transfers::{self, SimulatedTransfer};
use serde_json::{Map, Value, json};

use super::sellers::{bank_account, cpf, seller};
use super::{Account, Inside, uuid};
use crate::Outcome;

/// The number of a bank account to which the bank pays at once.
pub(crate) const WORKING_NUMBER: &str = "4920";
/// Batches of one account that one query reads.
const BATCHES_AT_ONCE: i64 = 1_000;
/// Accounts that are asked at once.
const AT_ONCE: usize = 8;

/// What was paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Paid {
    /// Batches.
    pub(crate) batches: u64,
    /// Their orders.
    pub(crate) orders: u64,
    /// What they pay, in cents.
    pub(crate) amount: i64,
}

impl Paid {
    const fn plus(self, other: Self) -> Self {
        Self {
            batches: self.batches + other.batches,
            orders: self.orders + other.orders,
            amount: self.amount + other.amount,
        }
    }
}

/// An account with sellers.
pub(crate) struct Shop {
    pub(crate) account: Account,
    /// Their ids.
    pub(crate) sellers: Vec<String>,
}

impl Inside {
    /// An account with a plan, a bank account that works, a merchant of the own provider, and a seller for each of these numbers of
    /// bank accounts.
    pub(crate) async fn make_shop(&self, name: String, numbers: &[&str]) -> Outcome<Shop> {
        let own = json!([{
            "name": "Own", "priority": 1, "credentials": { "type": "PLATFORM", "apiKey": "any-api-key-1234" },
        }]);
        let account = self.make_account(name, &own).await?;
        let plan = json!({
            "name": "Standard",
            "policies": [{ "paymentMethod": "credit", "payoutTermDays": 30, "payoutRecurrence": "daily" }],
            "fees": [
                { "paymentMethod": "credit", "percentage": 3, "fixedAmount": 39 },
                { "paymentMethod": "pix", "percentage": 1 },
            ],
        });
        self.make_plan(&account, members(plan)).await?;
        self.set_bank_account(&account, members(bank_account("36243319067", WORKING_NUMBER))).await?;
        let mut sellers = Vec::new();
        for (person, number) in (0..).zip(numbers) {
            let document = cpf(person);
            let mut body = seller(&account, &document);
            body["bankAccount"] = bank_account(&document, number);
            body["owner"]["email"] = json!(format!("seller{person}@example.com"));
            let made = self.post(&account, "/v1/sellers", &uuid(), &body).await?;
            sellers.push(made["id"].as_str().ok_or("no id of a seller")?.to_owned());
        }
        Ok(Shop { account, sellers })
    }

    /// Lets an account have receivables paid early, at the rates of the published example.
    pub(crate) async fn enable_prepayment(&self, account: &Account) -> Outcome {
        let rates = Rates {
            monthly_rate: Percentage::from_hundredths(150),
            markup: Percentage::from_hundredths(200),
        };
        Ok(set_prepayment(&self.app, account.client_id.parse()?, Some(rates), Actor::Operator).await?)
    }

    /// The transfers that the simulated bank has of an account.
    pub(crate) async fn transfers(&self, account: &Account) -> Outcome<Vec<SimulatedTransfer>> {
        Ok(simulated_transfers::list(&self.app.store, account.client_id.parse()?).await?)
    }

    /// Creates a plan of an account, its default one.
    async fn make_plan(&self, account: &Account, plan: Map<String, Value>) -> Outcome {
        let new = wire::read(plan).map_err(|problems| format!("{problems:?}"))?;
        let author = Author::operator(account.client_id.parse()?);
        let made = plans::create(&self.app, author, &new).await.map_err(|error| format!("{error:?}"))?;
        plans::make_default(&self.app, author, made.id).await.map_err(|error| format!("{error:?}"))?;
        Ok(())
    }

    /// Sets the bank account of an account.
    async fn set_bank_account(&self, account: &Account, bank_account: Map<String, Value>) -> Outcome {
        let bank_account = wire::read(bank_account).map_err(|problems| format!("{problems:?}"))?;
        let author = Author::operator(account.client_id.parse()?);
        account::set(&self.app, &author, None, &bank_account).await.map_err(|error| format!("{error:?}"))?;
        Ok(())
    }

    /// What these accounts have been paid.
    pub(crate) async fn paid(&self, accounts: &[Account]) -> Outcome<Paid> {
        let paid = stream::iter(accounts).map(|account| self.paid_of(account)).buffer_unordered(AT_ONCE);
        paid.try_fold(Paid::default(), async |sum: Paid, paid| Ok(sum.plus(paid))).await
    }

    async fn paid_of(&self, account: &Account) -> Outcome<Paid> {
        let paid = self.batches(account, Some(vec![BatchStatus::Paid])).await?;
        Ok(paid.iter().fold(Paid::default(), |sum, batch| {
            let amount = batch.figures.final_balance();
            sum.plus(Paid { batches: 1, orders: batch.orders, amount })
        }))
    }

    /// Compares what these accounts have been paid with the sums of their orders and with the bank.
    ///
    /// # Errors
    /// An order in no batch, a batch that was not paid, one that the bank does not have, a cent too much or too little.
    pub(crate) async fn examine_payday(&self, accounts: &[Account]) -> Outcome<Paid> {
        let examined = stream::iter(accounts).map(|account| self.examine(account)).buffer_unordered(AT_ONCE);
        examined.try_fold(Paid::default(), async |sum: Paid, paid| Ok(sum.plus(paid))).await
    }

    async fn examine(&self, account: &Account) -> Outcome<Paid> {
        let client_id = account.client_id.parse()?;
        let bank = self.app.bank.as_deref().ok_or("no bank in this process")?;
        for batch in self.batches(account, None).await? {
            let found = bank.find(client_id, batch.id, self.app.clock.of(client_id)).await;
            if batch.status != BatchStatus::Paid || found != Found::Told(Answer::Paid) {
                return Err(format!("the bank says {found:?} of {batch:?}").into());
            }
        }
        let paid = self.paid_of(account).await?;
        let lines = statement::of(&self.app, client_id).await.map_err(|error| format!("{error:?}"))?;
        for line in &lines {
            if !line.adds_up() || (line.due, line.later, line.on_its_way, line.debt) != (0, 0, 0, 0) {
                return Err(format!("not everything was paid: {line:?}").into());
            }
        }
        let of_orders: i64 = lines.iter().map(|line| line.captured - line.fees).sum();
        if of_orders != paid.amount {
            return Err(format!("orders of {of_orders} cents were paid with {}", paid.amount).into());
        }
        Ok(paid)
    }

    async fn batches(
        &self,
        account: &Account,
        statuses: Option<Vec<BatchStatus>>,
    ) -> Outcome<Vec<PaymentBatch>> {
        let filter = BatchFilter { statuses, ..BatchFilter::default() };
        let client_id = account.client_id.parse()?;
        let slice = (BATCHES_AT_ONCE, 0);
        let listed = payouts::list_batches(&self.app, client_id, &filter, Direction::Ascending, slice).await;
        // They are counted by a query of its own, and more of them are paid between the two.
        let (found, _counted) = listed.map_err(|error| format!("{error:?}"))?;
        if found.len() as i64 >= BATCHES_AT_ONCE {
            return Err("an account has too many batches".into());
        }
        Ok(found)
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
