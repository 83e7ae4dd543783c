//! Rates of approval: what is counted (`regente_domain::rates`) added up for a question, and compared with the requests.

use std::collections::BTreeMap;

use regente_domain::charge::attempt::TransactionRequest;
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::rates::{self, Counted, Interval, bucket_end};
use regente_store::rates::{Dimension, Group, RateFilter, Tries, read};
use regente_store::{StoreError, cards, charges, transaction_requests};
use uuid::Uuid;

use crate::app::App;
use crate::error::Error;

/// Most sums that one question reads.
const SUMS_MAX: i64 = 20_000;
/// Charges that one query of a comparison reads.
const CHARGES_PER_PAGE: i64 = 200;

/// What became of tries. `tried` is `approved + declined + failed + unpaid + waiting`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// What the tries have in common.
    pub group: Group,
    /// Tries that were answered or whose outcome was found.
    pub tried: i64,
    /// Approved by the provider.
    pub approved: i64,
    /// Declined by the provider.
    pub declined: i64,
    /// Not reached, or without effect.
    pub failed: i64,
    /// Instructions that the payer did not follow.
    pub unpaid: i64,
    /// Instructions of which nothing is known yet.
    pub waiting: i64,
    /// Tries among them whose outcome was unknown for a while.
    pub unknown: i64,
    /// Refusals by their code.
    pub declines: BTreeMap<String, i64>,
    /// Calls by the bucket of how long they took.
    latencies: BTreeMap<i64, i64>,
}

impl Rates {
    fn add(&mut self, tries: &Tries) {
        let n = tries.n;
        let of_answer = match Counted::parse(&tries.counted) {
            Some(Counted::Approved) => &mut self.approved,
            Some(Counted::Declined) => &mut self.declined,
            Some(Counted::Failed) => &mut self.failed,
            Some(Counted::Instructed) => &mut self.waiting,
            Some(ended @ (Counted::Paid | Counted::Refused | Counted::Unpaid)) => {
                self.waiting -= n;
                self.tried -= n;
                match ended {
                    Counted::Paid => &mut self.approved,
                    Counted::Refused => &mut self.declined,
                    Counted::Unpaid
                    | Counted::Approved
                    | Counted::Declined
                    | Counted::Failed
                    | Counted::Instructed => &mut self.unpaid,
                }
            }
            None => return,
        };
        *of_answer += n;
        self.tried += n;
        if tries.known != 0 {
            self.unknown += n;
        }
        if !tries.code.is_empty() {
            *self.declines.entry(tries.code.clone()).or_default() += n;
        }
        if tries.latency >= 0 {
            *self.latencies.entry(tries.latency).or_default() += n;
        }
    }

    /// How many of the tries that have ended were approved, with the interval of it; `None` when none has ended.
    pub fn approval(&self) -> Option<Interval> {
        Interval::of(self.approved, self.tried - self.waiting)
    }

    /// The duration in milliseconds below which at least `percent` of 100 calls ended: the end of a bucket, so at most
    /// twice as long as it was. `None` without calls.
    pub fn latency(&self, percent: i64) -> Option<i64> {
        let calls: i64 = self.latencies.values().sum();
        let mut ended = 0;
        let found = self.latencies.iter().find(|(_, n)| {
            ended += **n;
            ended * 100 >= calls * percent
        });
        found.map(|(bucket, _)| bucket_end(*bucket))
    }
}

/// The rates of a client's tries, by groups in order; `None` when there are too many groups to answer.
///
/// # Errors
/// [`StoreError`].
pub async fn of(
    app: &App,
    client_id: ClientId,
    filter: &RateFilter,
    by: &[Dimension],
) -> Result<Option<Vec<Rates>>, StoreError> {
    let sums = read(&app.store, client_id, filter, by, SUMS_MAX + 1).await?;
    if i64::try_from(sums.len()).is_ok_and(|sums| sums > SUMS_MAX) {
        return Ok(None);
    }
    let mut found: Vec<Rates> = Vec::new();
    for tries in sums {
        match found.last_mut().filter(|last| last.group == tries.group) {
            Some(last) => last.add(&tries),
            None => {
                let mut rates = Rates { group: tries.group.clone(), ..Rates::default() };
                rates.add(&tries);
                found.push(rates);
            }
        }
    }
    Ok(Some(found))
}

/// A sum of the rates that is not what the requests say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which one.
    pub of: String,
    /// What is kept.
    pub kept: i64,
    /// What the requests say.
    pub counted: i64,
}

/// Counts all requests of a client anew and compares the hours, providers, payment types, bands, outcomes, codes and latencies with
/// what is kept. Cards may have been deleted since, so brands and BINs are left out, and so are hours past the retention. Nothing may
/// change meanwhile.
///
/// # Errors
/// [`Error`] when the database cannot be read.
pub async fn compare(app: &App, client_id: ClientId) -> Result<Vec<Difference>, Error> {
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let mut after = ChargeId::new(Uuid::nil());
    let first_hour = (app.clock.of(client_id) - app.settings.rates_retention).hour();
    loop {
        let page = charges::after(&app.store, client_id, after, CHARGES_PER_PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.charge.id;
        for stored in &page {
            let charge = &stored.charge;
            let requests = transaction_requests::of_object(&app.store, client_id, charge.id.uuid()).await?;
            let requests: Vec<TransactionRequest> =
                requests.into_iter().map(|stored| stored.request).collect();
            let card = match charge.method.card_id() {
                Some(card_id) => cards::find(&app.store, client_id, card_id).await?,
                None => None,
            };
            for key in rates::recount(charge, card.as_ref().map(|stored| &stored.card.face), &requests) {
                let hour = key.hour;
                if hour < first_hour {
                    continue;
                }
                let name = format!(
                    "{hour} {} {} {} {} {} {} {} {} {}",
                    key.merchant_id,
                    key.provider_id,
                    key.provider_type,
                    key.payment_type,
                    key.currency,
                    key.band,
                    key.counted.word(),
                    key.code,
                    format_args!("{} {}", key.latency, key.known.number()),
                );
                sums.entry(name).or_default().1 += 1;
            }
        }
    }
    let by = [
        Dimension::Hour,
        Dimension::Merchant,
        Dimension::Provider,
        Dimension::ProviderType,
        Dimension::PaymentType,
        Dimension::AmountBand,
    ];
    let all = RateFilter { hours: first_hour..i64::MAX, ..RateFilter::default() };
    for Tries { group, counted, code, latency, known, n } in
        read(&app.store, client_id, &all, &by, i64::MAX).await?
    {
        let name = format!(
            "{} {} {} {} {} {} {} {counted} {code} {latency} {known}",
            group.hour.unwrap_or_default(),
            group.merchant_id.map(|id| id.to_string()).unwrap_or_default(),
            group.provider_id.map(|id| id.to_string()).unwrap_or_default(),
            group.provider_type.unwrap_or_default(),
            group.payment_type.unwrap_or_default(),
            group.currency.unwrap_or_default(),
            group.band.unwrap_or_default(),
        );
        sums.entry(name).or_default().0 += n;
    }
    let differ = |(of, (kept, counted)): (String, (i64, i64))| {
        (kept != counted).then_some(Difference { of, kept, counted })
    };
    Ok(sums.into_iter().filter_map(differ).collect())
}
