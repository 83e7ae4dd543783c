//! Makes an account with charges of the past hours, by the product itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use regente_domain::time::Timestamp;
use regente_engine::clock::Clock;
use serde_json::json;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::bench::figures::number;
use crate::bench::seeded::first_refuses;
use crate::place::{Account, Inside, Place, one_simulator, uuid};

/// The charges are made in this time, which has just ended: nothing of them is old enough to be purged while a report is made.
const HOURS: u32 = 20;
const HOUR: Duration = Duration::from_secs(3600);
/// And a little before: the command shows what there was some seconds ago.
const MINUTE: Duration = Duration::from_secs(60);
/// Charges in flight at once, which share a commit.
const AT_ONCE: usize = 512;
/// After this many charges the simulator's transaction log, which is in memory, is emptied.
const PART: u64 = 250_000;
/// Of so many charges, one goes on to a second provider, and one is declined.
pub(super) const OF_EACH: u64 = 10;
/// A card that the simulator approves, and one that it declines.
const APPROVED: (&str, &str) = ("4916745120294124", "560");
const REFUSED: (&str, &str) = ("5171407375927752", "300");

/// An account with charges.
pub(super) struct Filled {
    /// It.
    pub(super) account: Account,
    /// How many charges it has.
    pub(super) charges: u64,
    /// All charges were created from then on,
    pub(super) from: Timestamp,
    /// and until then.
    pub(super) to: Timestamp,
}

impl Filled {
    /// Whole hours, which its charges lie between.
    pub(super) fn hours(&self) -> (Timestamp, Timestamp) {
        (Timestamp::of_hour(self.from.hour()), Timestamp::of_hour(self.to.hour() + 1))
    }
}

/// The merchants of the account.
struct Merchants {
    account: Account,
    /// Its first provider refuses everything, and its second one does not.
    fallback: String,
}

#[allow(clippy::disallowed_methods, reason = "what is measured is the machine's time")]
pub(super) async fn fill(place: &Place, charges: u64) -> Outcome<Filled> {
    let begun = Instant::now();
    let from = Clock::system().deployment() - HOUR * HOURS - MINUTE;
    let clock = Clock::manual(from);
    let inside = place.open(clock.clone()).await?;
    let account = inside.make_account("Shop".to_owned(), &one_simulator()).await?;
    let fallback = inside.make_merchant(&account, &first_refuses()).await?;
    inside.close().await;
    let merchants = Arc::new(Merchants { account, fallback });
    let step = HOUR * HOURS / u32::try_from(charges)?;
    let mut made = 0;
    while made < charges {
        let end = charges.min(made + PART);
        part(place, (&clock, step), &merchants, made..end).await?;
        made = end;
        let rate = made as f64 / begun.elapsed().as_secs_f64();
        println!("reports: {made} of {charges} charges, {} a second", number(rate, 0));
    }
    Ok(Filled { account: merchants.account.clone(), charges, from, to: clock.deployment() })
}

/// Makes the charges of these numbers, many at once, and does what falls due.
async fn part(
    place: &Place,
    (clock, step): (&Clock, Duration),
    merchants: &Arc<Merchants>,
    numbers: std::ops::Range<u64>,
) -> Outcome {
    let inside = place.open(clock.clone()).await?;
    let next = Arc::new(AtomicU64::new(numbers.start));
    let mut making = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (inside, merchants, next, clock) =
            (inside.clone(), merchants.clone(), next.clone(), clock.clone());
        making.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= numbers.end {
                    return Ok::<(), String>(());
                }
                clock.advance(step);
                charge(&inside, &merchants, number).await.map_err(|error| error.to_string())?;
            }
        });
    }
    while let Some(made) = making.join_next().await {
        made??;
    }
    inside.work_off(clock).await?;
    inside.close().await;
    Ok(())
}

async fn charge(inside: &Inside, merchants: &Merchants, charge: u64) -> Outcome {
    let Merchants { account, fallback } = merchants;
    let (merchant_id, (number, cvv)) = match charge % OF_EACH {
        0 => (fallback, APPROVED),
        1 => (&account.merchant_id, REFUSED),
        _ => (&account.merchant_id, APPROVED),
    };
    let body = json!({
        "merchantId": merchant_id, "amount": 150, "currency": "BRL", "capture": true,
        "orderId": "order", "description": "two shoes", "statementDescriptor": "LOJA JOAO",
        "paymentMethod": { "paymentType": "credit", "installments": 1 },
        "paymentSource": { "sourceType": "card", "card": {
            "cardHolderName": "JOAO DA SILVA", "cardNumber": number, "cardCvv": cvv,
            "cardExpirationDate": "12/2030" } },
    });
    inside.post(account, "/v1/charges", &uuid(), &body).await.map(drop)
}
