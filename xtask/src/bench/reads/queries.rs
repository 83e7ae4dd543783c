//! The lists to read: every documented filter, alone and in usual combinations, filters that match many charges, few
//! and none, and pages far from the first.

use regente_domain::time::Timestamp;

use crate::bench::seeded::{Facts, Kind};

/// Charges on a page.
const LIMIT: u64 = 20;
const HOUR_MILLIS: i64 = 3_600_000;
const DAY_HOURS: i64 = 24;

/// A list to read.
pub(super) struct Query {
    /// Its name for readers.
    pub(super) what: String,
    /// Its parameters, without the page size.
    pub(super) query: String,
    /// Its expected total, where it was counted.
    pub(super) total: Option<u64>,
}

impl Query {
    /// Its path.
    pub(super) fn path(&self) -> String {
        format!("/v1/charges?limit={LIMIT}&{}", self.query)
    }
}

/// Every list.
pub(super) fn all(facts: &Facts) -> Vec<Query> {
    let mut list = List { facts, queries: Vec::new() };
    single(&mut list);
    several(&mut list);
    by_time(&mut list);
    deep(&mut list);
    if facts.history_hours > 0 {
        long_ago(&mut list);
    }
    list.queries
}

/// Moments within hours, spread over all the time.
pub(super) fn moments(facts: &Facts) -> Vec<String> {
    let hours = [1, 5 * DAY_HOURS + 7, 12 * DAY_HOURS, 29 * DAY_HOURS + 3];
    hours
        .into_iter()
        .map(|hour| (Timestamp::from_millis((facts.first_hour + hour) * HOUR_MILLIS + 1_234_567)).to_string())
        .collect()
}

struct List<'a> {
    facts: &'a Facts,
    queries: Vec<Query>,
}

impl List<'_> {
    fn add(&mut self, what: &str, query: impl Into<String>, fits: impl Fn(&Kind) -> bool) {
        let total = Some(self.facts.count(fits));
        self.queries.push(Query { what: what.to_owned(), query: query.into(), total });
    }

    fn add_uncounted(&mut self, what: &str, query: impl Into<String>) {
        self.queries.push(Query { what: what.to_owned(), query: query.into(), total: None });
    }

    /// The start of an hour, counted from the oldest charge.
    fn hour(&self, hours: i64) -> (i64, Timestamp) {
        let hour = self.facts.first_hour + hours;
        (hour, Timestamp::from_millis(hour * HOUR_MILLIS))
    }
}

fn single(list: &mut List<'_>) {
    let merchants = list.facts.merchants.clone();
    list.add("none", "sort=DESC", |_| true);
    list.add("none, oldest first", "sort=ASC", |_| true);
    for (what, status) in [
        ("status of most", "authorized"),
        ("status of some", "failed"),
        ("status of few", "voided"),
        ("status of very few, all new", "canceled"),
        ("status of none", "charged_back"),
        ("status that was passed through", "pending"),
    ] {
        list.add(what, format!("status={status}"), |kind| kind.status == status);
    }
    list.add("two statuses", "status=failed,voided", |kind| {
        ["failed", "voided"].contains(&kind.status.as_str())
    });
    for (what, merchant) in
        ["merchant of most", "merchant of some", "merchant of few"].into_iter().zip(&merchants)
    {
        list.add(what, format!("merchantId={merchant}"), |kind| kind.merchant == *merchant);
    }
    for (what, word) in [
        ("payment type of most", "credit"),
        ("payment type of some", "voucher"),
        ("payment type of none", "pix"),
    ] {
        list.add(what, format!("paymentType={word}"), |kind| kind.payment_type == word);
    }
    for (what, code) in [
        ("provider type of most", "SANDBOX"),
        ("provider type of few", "BARTE"),
        ("provider type of none", "ADYEN"),
    ] {
        list.add(what, format!("providerType={code}"), |kind| kind.provider_type == code);
    }
    let step = (list.facts.ids.len() / 20).max(1);
    let ids: Vec<&str> = list.facts.ids.iter().step_by(step).take(20).map(String::as_str).collect();
    let query = format!("id={}", ids.join(","));
    list.add_uncounted("20 ids", query);
    let order = list.facts.order_ids.get(list.facts.order_ids.len() / 3).cloned().unwrap_or_default();
    list.add_uncounted("order id", format!("orderId={order}"));
    list.add_uncounted("order id that is not there", "orderId=no-such-order");
    list.add("session", format!("sessionId={}", crate::place::uuid()), |_| false);
    list.add("split rules", "splitRules=true", |_| false);
}

fn several(list: &mut List<'_>) {
    let merchants = list.facts.merchants.clone();
    let [healthy, fallback, other] = merchants.as_slice() else { return };
    list.add("merchant, status", format!("merchantId={fallback}&status=authorized"), |kind| {
        kind.merchant == *fallback && kind.status == "authorized"
    });
    list.add(
        "merchant, status of none of its charges",
        format!("merchantId={other}&status=authorized"),
        |kind| kind.merchant == *other && kind.status == "authorized",
    );
    list.add("merchant, payment type", format!("merchantId={healthy}&paymentType=voucher"), |kind| {
        kind.merchant == *healthy && kind.payment_type == "voucher"
    });
    list.add("status, payment type", "status=failed&paymentType=voucher", |kind| {
        kind.status == "failed" && kind.payment_type == "voucher"
    });
    list.add("status, payment type of few", "status=canceled&paymentType=voucher", |kind| {
        kind.status == "canceled" && kind.payment_type == "voucher"
    });
    list.add("status, provider type", "status=failed&providerType=BARTE", |kind| {
        kind.status == "failed" && kind.provider_type == "BARTE"
    });
    list.add("payment type, provider type", "paymentType=voucher&providerType=SANDBOX", |kind| {
        kind.payment_type == "voucher" && kind.provider_type == "SANDBOX"
    });
    list.add(
        "merchant, status, payment type, provider type",
        format!("merchantId={healthy}&status=authorized&paymentType=credit&providerType=SANDBOX"),
        |kind| {
            kind.merchant == *healthy
                && kind.status == "authorized"
                && kind.payment_type == "credit"
                && kind.provider_type == "SANDBOX"
        },
    );
    let order = list.facts.order_ids.get(list.facts.order_ids.len() / 2).cloned().unwrap_or_default();
    list.add_uncounted("order id, status", format!("orderId={order}&status=authorized,failed,voided"));
}

fn by_time(list: &mut List<'_>) {
    let merchants = list.facts.merchants.clone();
    let healthy = merchants.first().cloned().unwrap_or_default();
    let (day, day_at) = list.hour(15 * DAY_HOURS);
    let (old, old_at) = list.hour(3 * DAY_HOURS);
    let (new, new_at) = list.hour(29 * DAY_HOURS);
    let before = |at: Timestamp| Timestamp::from_millis(at.as_millis() - 1);
    let (day_of, week) = (day_at.to_string(), 7 * DAY_HOURS);
    let day_of = day_of.split('T').next().unwrap_or_default().to_owned();
    list.add_uncounted("a day", format!("created={day_of}"));
    list.add("the last day", format!("created.gt={}", before(new_at)), |kind| kind.hour >= new);
    list.add("before the last weeks", format!("created.lt={old_at}"), |kind| kind.hour < old);
    let week_at = Timestamp::from_millis((day + week) * HOUR_MILLIS);
    let range = format!("created.gt={}&created.lt={week_at}", before(day_at));
    let in_range = move |kind: &Kind| (day..day + week).contains(&kind.hour);
    list.add("a week", range.clone(), in_range);
    list.add("a week, status of some", format!("{range}&status=failed"), |kind| {
        in_range(kind) && kind.status == "failed"
    });
    list.add("a week, status of few", format!("{range}&status=voided"), |kind| {
        in_range(kind) && kind.status == "voided"
    });
    list.add("a week, status of none then", format!("{range}&status=canceled"), |kind| {
        in_range(kind) && kind.status == "canceled"
    });
    list.add("a week, merchant, status", format!("{range}&merchantId={healthy}&status=authorized"), |kind| {
        in_range(kind) && kind.merchant == healthy && kind.status == "authorized"
    });
    list.add(
        "a week, merchant, status, payment type, provider type",
        format!("{range}&merchantId={healthy}&status=failed&paymentType=voucher&providerType=SANDBOX"),
        |kind| {
            in_range(kind)
                && kind.merchant == healthy
                && kind.status == "failed"
                && kind.payment_type == "voucher"
                && kind.provider_type == "SANDBOX"
        },
    );
    let cut = Timestamp::from_millis(day_at.as_millis() + 1_234_567);
    list.add_uncounted(
        "after a moment within an hour, status",
        format!("created.gt={cut}&status=authorized"),
    );
}

fn deep(list: &mut List<'_>) {
    let pages = |total: u64| total.div_ceil(LIMIT).max(1);
    let all = pages(list.facts.count(|_| true));
    list.add("none, page in the middle", format!("page={}", all / 2), |_| true);
    list.add("none, last page", format!("page={all}"), |_| true);
    list.add("none, page beyond the end", format!("page={}", all + 1000), |_| true);
    for (what, status) in
        [("status of most, page in the middle", "authorized"), ("status of some, last page", "failed")]
    {
        let of_status = pages(list.facts.count(|kind| kind.status == status));
        let page = if status == "failed" { of_status } else { of_status / 2 };
        list.add(what, format!("status={status}&page={page}"), |kind| kind.status == status);
    }
}

/// Spans of time before the first charge, which begin and end at full hours of no day.
fn long_ago(list: &mut List<'_>) {
    let merchants = list.facts.merchants.clone();
    let healthy = merchants.first().cloned().unwrap_or_default();
    let hours = list.facts.history_hours;
    for (what, first, past) in [
        ("nearly all the years", 5 - hours, -3),
        ("half of the years", 11 - hours * 3 / 4, 13 - hours / 4),
        ("a month of years ago", 7 - hours * 2 / 3, 7 - hours * 2 / 3 + 31 * DAY_HOURS),
    ] {
        let ((first, first_at), (past, past_at)) = (list.hour(first), list.hour(past));
        let last_before = Timestamp::from_millis(first_at.as_millis() - 1);
        let range = format!("created.gt={last_before}&created.lt={past_at}");
        let in_range = move |kind: &Kind| (first..past).contains(&kind.hour);
        list.add(what, range.clone(), in_range);
        list.add(&format!("{what}, status"), format!("{range}&status=voided"), |kind| {
            in_range(kind) && kind.status == "voided"
        });
        let query =
            format!("{range}&merchantId={healthy}&status=failed&paymentType=voucher&providerType=SANDBOX");
        list.add(&format!("{what}, merchant, status, payment type, provider type"), query, |kind| {
            in_range(kind)
                && kind.merchant == healthy
                && kind.status == "failed"
                && kind.payment_type == "voucher"
                && kind.provider_type == "SANDBOX"
        });
    }
}
