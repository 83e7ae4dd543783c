//! Lists charges: every filter of `docs/interface/charges.md#listing`, any page, exact totals.
//!
//! Where counters cover the filter, they also tell which hours hold its charges. A page is read from those hours
//! only, so that a rare status or page 100,000 does not scan the whole account.

use regente_domain::id::{ChargeId, ClientId, Id, SessionId, SubscriptionId, of};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use super::{StoredCharge, columns, from_row};
use crate::counters::{self, Count, CounterFilter, is_counted};
use crate::spans::{Direction, END_OF_TIME};
use crate::value::{Args, Json};
use crate::{Store, StoreError, args, sql};

/// Up to this many rows are skipped by reading them, which costs less than reading the counters.
const SKIPPED_ROWS_MAX: i64 = 1000;

// Casts: see `is_counted`.
macro_rules! filter {
    () => {
        concat!(
            " AND (CAST(:ids AS JSONB) IS NULL OR id IN EACH_UUID(:ids)) \
               AND (CAST(:order_ids AS JSONB) IS NULL OR order_id IN EACH_TEXT(:order_ids)) \
               AND (CAST(:amounts AS JSONB) IS NULL OR CAST(original_amount AS TEXT) IN EACH_TEXT(:amounts)) \
               AND (CAST(:divided AS BIGINT) = 0 OR doc -> 'split' IS NOT NULL)",
            is_counted!()
        )
    };
}

// All charges of a span of time, by the index of creation.
macro_rules! by_time {
    () => {
        " FROM charges WHERE client_id = :client_id AND id >= :from_id AND id < :to_id"
    };
}

// Found by their own index, then sorted: in one step SQLite would read the whole account in the order of the list.
// `IS TRUE` keeps SQLite from using the index of the time span, which may match the whole account.
macro_rules! of_order {
    () => {
        "id IN (SELECT o.id FROM charges o WHERE o.client_id = :client_id AND o.order_id IN EACH_TEXT(:order_ids))"
    };
}
macro_rules! of_session {
    () => {
        "id IN (SELECT p.charge_id FROM session_payments p \
           WHERE p.client_id = :client_id AND p.session_id IN EACH_UUID(:sessions))"
    };
}
macro_rules! of_subscription {
    () => {
        "id IN (SELECT s.charge_id FROM subscription_charges s \
           WHERE s.client_id = :client_id AND s.subscription_id IN EACH_UUID(:subscriptions))"
    };
}
macro_rules! by {
    ($condition:expr) => {
        concat!(
            " FROM charges WHERE client_id = :client_id \
               AND (id >= :from_id) IS TRUE AND (id < :to_id) IS TRUE AND ",
            $condition
        )
    };
}

macro_rules! page {
    ($from:expr, $direction:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            $from,
            filter!(),
            " ORDER BY id ",
            $direction,
            " LIMIT :limit OFFSET :offset"
        )
    };
}
macro_rules! count {
    ($from:expr) => {
        concat!("SELECT COUNT(*) AS n", $from, filter!())
    };
}

sql! {
    /// Newest first.
    CHARGES_DESC = page!(by_time!(), "DESC");
    /// Oldest first.
    CHARGES_ASC = page!(by_time!(), "ASC");
    /// By id, newest first.
    CHARGES_BY_ID_DESC = page!(by!("id IN EACH_UUID(:ids)"), "DESC");
    /// By id, oldest first.
    CHARGES_BY_ID_ASC = page!(by!("id IN EACH_UUID(:ids)"), "ASC");
    /// By the merchant's reference, newest first.
    CHARGES_BY_ORDER_DESC = page!(by!(of_order!()), "DESC");
    /// By the merchant's reference, oldest first.
    CHARGES_BY_ORDER_ASC = page!(by!(of_order!()), "ASC");
    /// By session, newest first.
    CHARGES_BY_SESSION_DESC = page!(by!(of_session!()), "DESC");
    /// By session, oldest first.
    CHARGES_BY_SESSION_ASC = page!(by!(of_session!()), "ASC");
    /// By subscription, newest first.
    CHARGES_BY_SUBSCRIPTION_DESC = page!(by!(of_subscription!()), "DESC");
    /// By subscription, oldest first.
    CHARGES_BY_SUBSCRIPTION_ASC = page!(by!(of_subscription!()), "ASC");
    /// Counts charges that the counters cannot count.
    COUNT_CHARGES = count!(by_time!());
    /// Counts the charges with these ids.
    COUNT_CHARGES_BY_ID = count!(by!("id IN EACH_UUID(:ids)"));
    /// Counts the charges with these references.
    COUNT_CHARGES_BY_ORDER = count!(by!(of_order!()));
    /// Counts the charges of these sessions.
    COUNT_CHARGES_BY_SESSION = count!(by!(of_session!()));
    /// Counts the charges of these subscriptions.
    COUNT_CHARGES_BY_SUBSCRIPTION = count!(by!(of_subscription!()));
}

/// The filter of a list of charges. An absent member means all.
#[derive(Clone, Debug, Default)]
pub struct ChargeFilter {
    /// Ids.
    pub ids: Option<Vec<ChargeId>>,
    /// Sessions.
    pub sessions: Option<Vec<SessionId>>,
    /// Subscriptions.
    pub subscriptions: Option<Vec<SubscriptionId>>,
    /// The merchant's references.
    pub order_ids: Option<Vec<String>>,
    /// Original amounts in minor units.
    pub original_amounts: Option<Vec<i64>>,
    /// Whether they are divided among sellers.
    pub divided: Divided,
    /// Merchants, statuses, payment types and provider types.
    pub counted: CounterFilter,
    /// Created at or after.
    pub from: Option<Timestamp>,
    /// Created before.
    pub to: Option<Timestamp>,
}

/// Whether charges without a division among sellers are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Divided {
    /// They are.
    #[default]
    OrNot,
    /// They are not.
    Only,
}

/// The most selective part of a filter, which decides the index.
#[derive(Clone, Copy)]
enum NarrowestBy {
    Session,
    Subscription,
    Id,
    Order,
    Client,
}

impl ChargeFilter {
    const fn narrowest(&self) -> NarrowestBy {
        if self.sessions.is_some() {
            NarrowestBy::Session
        } else if self.subscriptions.is_some() {
            NarrowestBy::Subscription
        } else if self.ids.is_some() {
            NarrowestBy::Id
        } else if self.order_ids.is_some() {
            NarrowestBy::Order
        } else {
            NarrowestBy::Client
        }
    }

    fn args(&self, client_id: ClientId, from: Option<Timestamp>, to: Option<Timestamp>) -> Args {
        // A charge pays a session or is one of a subscription, never both.
        let ids = match self.sessions.is_some() && self.subscriptions.is_some() {
            true => Some([].as_slice()),
            false => self.ids.as_deref(),
        };
        let args = args! {
            client_id,
            from_id: from.map_or_else(Uuid::nil, |from| Id::<of::Charge>::first_at(from).uuid()),
            to_id: to.map_or_else(Uuid::max, |to| Id::<of::Charge>::first_at(to).uuid()),
            ids: Json::list(ids, ToString::to_string),
            order_ids: Json::list(self.order_ids.as_deref(), Clone::clone),
            amounts: Json::list(self.original_amounts.as_deref(), ToString::to_string),
            divided: i64::from(self.divided == Divided::Only),
        };
        let args = match (self.narrowest(), &self.sessions, &self.subscriptions) {
            (NarrowestBy::Session, Some(sessions), _) => {
                args.with("sessions", Json::list(Some(sessions), ToString::to_string))
            }
            (NarrowestBy::Subscription, _, Some(subscriptions)) => {
                args.with("subscriptions", Json::list(Some(subscriptions), ToString::to_string))
            }
            (
                NarrowestBy::Session
                | NarrowestBy::Subscription
                | NarrowestBy::Id
                | NarrowestBy::Order
                | NarrowestBy::Client,
                _,
                _,
            ) => args,
        };
        self.counted.narrow(args)
    }
}

/// One page of the charges of a client.
pub async fn page(
    store: &Store,
    client_id: ClientId,
    filter: &ChargeFilter,
    direction: Direction,
    limit: i64,
    offset: i64,
) -> Result<Vec<StoredCharge>, StoreError> {
    let sql = match (filter.narrowest(), direction) {
        (NarrowestBy::Session, Direction::Descending) => &CHARGES_BY_SESSION_DESC,
        (NarrowestBy::Session, Direction::Ascending) => &CHARGES_BY_SESSION_ASC,
        (NarrowestBy::Subscription, Direction::Descending) => &CHARGES_BY_SUBSCRIPTION_DESC,
        (NarrowestBy::Subscription, Direction::Ascending) => &CHARGES_BY_SUBSCRIPTION_ASC,
        (NarrowestBy::Id, Direction::Descending) => &CHARGES_BY_ID_DESC,
        (NarrowestBy::Id, Direction::Ascending) => &CHARGES_BY_ID_ASC,
        (NarrowestBy::Order, Direction::Descending) => &CHARGES_BY_ORDER_DESC,
        (NarrowestBy::Order, Direction::Ascending) => &CHARGES_BY_ORDER_ASC,
        (NarrowestBy::Client, Direction::Descending) => &CHARGES_DESC,
        (NarrowestBy::Client, Direction::Ascending) => &CHARGES_ASC,
    };
    let args = filter.args(client_id, filter.from, filter.to).with("limit", limit).with("offset", offset);
    store.rows(sql, args).await?.iter().map(from_row).collect()
}

/// A page, with the total number of charges.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The page.
    pub charges: Vec<StoredCharge>,
    /// Number of charges that match the filter, exact.
    pub total: i64,
}

/// A page of the charges of a client, with the total.
pub async fn list(
    store: &Store,
    client_id: ClientId,
    filter: &ChargeFilter,
    direction: Direction,
    limit: i64,
    offset: i64,
) -> Result<Listed, StoreError> {
    let sql = match filter.narrowest() {
        NarrowestBy::Session => &COUNT_CHARGES_BY_SESSION,
        NarrowestBy::Subscription => &COUNT_CHARGES_BY_SUBSCRIPTION,
        NarrowestBy::Id => &COUNT_CHARGES_BY_ID,
        NarrowestBy::Order => &COUNT_CHARGES_BY_ORDER,
        NarrowestBy::Client if filter.original_amounts.is_some() || filter.divided == Divided::Only => {
            &COUNT_CHARGES
        }
        NarrowestBy::Client => {
            let listing = Listing { store, client_id, filter, direction };
            return listing.by_hours(limit, offset).await;
        }
    };
    let charges = page(store, client_id, filter, direction, limit, offset).await?;
    let total = count_rows(store, sql, filter.args(client_id, filter.from, filter.to)).await?;
    Ok(Listed { charges, total })
}

/// A list whose filter the counters cover.
struct Listing<'a> {
    store: &'a Store,
    client_id: ClientId,
    filter: &'a ChargeFilter,
    direction: Direction,
}

/// A span of time with the number of matching charges in it.
struct Span {
    from: Timestamp,
    to: Timestamp,
    n: i64,
}

/// A page that is being filled.
struct Filling {
    charges: Vec<StoredCharge>,
    /// Number of charges before the page.
    skip: i64,
    /// Number of charges still missing on the page.
    left: i64,
}

impl Listing<'_> {
    /// Counts whole hours by the counters, and hours that the filter cuts row by row.
    async fn by_hours(&self, limit: i64, offset: i64) -> Result<Listed, StoreError> {
        let from = self.filter.from.unwrap_or(Timestamp::EPOCH);
        let to = self.filter.to.unwrap_or(END_OF_TIME);
        let (first_whole, last_whole) = (hour_at_or_after(from), hour_at_or_before(to));
        if first_whole >= last_whole {
            let cut = self.cut(from, to).await?;
            let mut filling = Filling { charges: Vec::new(), skip: offset, left: limit };
            self.fill(&mut filling, &cut).await?;
            return Ok(Listed { charges: filling.charges, total: cut.n });
        }
        let count = Count { store: self.store, client_id: self.client_id, filter: &self.filter.counted };
        let spans = count.spans(first_whole..last_whole).await?;
        let n = spans.iter().map(|span| span.n).sum();
        let whole = Span { from: first_whole, to: last_whole, n };
        let (early, late) = (self.cut(from, first_whole).await?, self.cut(last_whole, to).await?);
        let total = early.n + whole.n + late.n;
        if !self.filter.counted.is_narrow() && offset <= SKIPPED_ROWS_MAX {
            let filter = self.filter;
            let charges = page(self.store, self.client_id, filter, self.direction, limit, offset).await?;
            return Ok(Listed { charges, total });
        }
        let (first, last) = match self.direction {
            Direction::Ascending => (early, late),
            Direction::Descending => (late, early),
        };
        let mut filling = Filling { charges: Vec::new(), skip: offset, left: limit };
        self.fill(&mut filling, &first).await?;
        self.fill_from_hours(&mut filling, &whole, &count, spans).await?;
        self.fill(&mut filling, &last).await?;
        Ok(Listed { charges: filling.charges, total })
    }

    /// A part of an hour.
    async fn cut(&self, from: Timestamp, to: Timestamp) -> Result<Span, StoreError> {
        let n = if from < to {
            let args = self.filter.args(self.client_id, Some(from), Some(to));
            count_rows(self.store, &COUNT_CHARGES, args).await?
        } else {
            0
        };
        Ok(Span { from, to, n })
    }

    async fn fill_from_hours(
        &self,
        filling: &mut Filling,
        whole: &Span,
        count: &Count<'_>,
        spans: Vec<counters::Span>,
    ) -> Result<(), StoreError> {
        if filling.skip >= whole.n {
            filling.skip -= whole.n;
            return Ok(());
        }
        if filling.left == 0 {
            return Ok(());
        }
        let (after, up_to) = (filling.skip, filling.skip + filling.left);
        let hours = count.hours(spans, self.direction, after..up_to).await?;
        for hour in hours {
            filling.skip = (after - hour.preceding).max(0);
            let to = Timestamp::of_hour(hour.from.hour() + 1);
            self.fill(filling, &Span { from: hour.from, to, n: hour.n }).await?;
        }
        Ok(())
    }

    /// Reads from a span the charges that the page still needs.
    async fn fill(&self, filling: &mut Filling, span: &Span) -> Result<(), StoreError> {
        if filling.left == 0 {
            return Ok(());
        }
        if filling.skip >= span.n {
            filling.skip -= span.n;
            return Ok(());
        }
        let within = ChargeFilter { from: Some(span.from), to: Some(span.to), ..self.filter.clone() };
        let (limit, offset) = (filling.left, filling.skip);
        let found = page(self.store, self.client_id, &within, self.direction, limit, offset).await?;
        filling.left -= i64::try_from(found.len()).unwrap_or(filling.left);
        filling.skip = 0;
        filling.charges.extend(found);
        Ok(())
    }
}

const fn hour_at_or_before(time: Timestamp) -> Timestamp {
    Timestamp::of_hour(time.hour())
}

fn hour_at_or_after(time: Timestamp) -> Timestamp {
    let before = hour_at_or_before(time);
    if before == time { time } else { Timestamp::of_hour(time.hour() + 1) }
}

async fn count_rows(store: &Store, sql: &'static crate::sql::Sql, args: Args) -> Result<i64, StoreError> {
    store.row(sql, args).await?.map_or(Ok(0), |row| row.get("n"))
}
