//! The rows of a report, a page of charges at a time, in the order in which the charges were created. What can change of a charge is
//! shown as it was at one moment, by the versions of it that are kept ([decision 40](../../../../docs/decisions/0040-a-report-shows-one-moment.md)),
//! so that the same rows come out whenever and however often they are read. Who bought and with which card is shown as it is known when
//! it is read: a person who was erased is in no report.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use csv::{Terminator, WriterBuilder};
use regente_domain::charge::attempt::{Outcome, RequestType, TransactionRequest};
use regente_domain::charge::{Charge, ChargeStatus};
use regente_domain::id::{ChargeId, ClientId};
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::report::{Column, Filters, ReportLanguage, ReportType, Row, Zone, cells};
use regente_domain::time::Timestamp;
use regente_store::charges::StoredCharge;
use regente_store::charges::as_of::{self, InTime};
use regente_store::reports::{ReportCursor, ReportOrder};
use regente_store::transaction_requests;
use uuid::Uuid;

use super::facts::Facts;
use crate::app::App;
use crate::error::Error;

/// Charges that are read at once: what a report holds in memory.
const CHARGES_AT_ONCE: i64 = 500;
/// The precision of times.
const TICK: Duration = Duration::from_millis(1);
/// What tells a spreadsheet that a file is UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Reads the rows of one report.
pub struct Rows {
    client_id: ClientId,
    report_type: ReportType,
    /// In the order of a file.
    columns: Vec<Column>,
    filters: Filters,
    language: ReportLanguage,
    zone: Zone,
    moment: Timestamp,
    from: Timestamp,
    which: InTime,
    facts: Facts,
}

/// Rows as CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The rows.
    pub csv: Vec<u8>,
    /// How many they are.
    pub rows: usize,
    /// Where the next one is.
    pub cursor: ReportCursor,
    /// Whether there is none.
    pub is_last: bool,
}

impl Rows {
    /// The rows of what was asked for, as of `moment`.
    ///
    /// # Errors
    /// [`Error::Internal`] for an order that this release did not take.
    pub fn of(client_id: ClientId, order: &ReportOrder, moment: Timestamp) -> Result<Self, Error> {
        let period = order.filters.period().ok_or_else(|| Error::internal("a report without a period"))?;
        let zone =
            Zone::parse(&order.timezone).ok_or_else(|| Error::internal("a report without a time zone"))?;
        let columns = Column::in_order(&order.columns, order.report_type);
        let filters = order.filters.clone();
        Ok(Self {
            client_id,
            report_type: order.report_type,
            facts: Facts::for_columns(&columns),
            columns,
            language: order.language,
            zone,
            moment,
            from: period.gte,
            which: InTime {
                id: filters.transaction_id,
                merchant_id: filters.transaction_merchant_id,
                payment_types: filters.payment_types(),
                to: period.lte.min(moment) + TICK,
            },
            filters,
        })
    }

    /// The beginning of a file.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub fn header(&self) -> Result<Vec<u8>, Error> {
        let titles: Vec<String> = self.columns.iter().map(|column| column.title(self.language)).collect();
        let mut bytes = BYTE_ORDER_MARK.as_bytes().to_vec();
        bytes.extend(csv_of([titles].into_iter())?);
        Ok(bytes)
    }

    /// The next rows after `cursor`, at most `rows_max`; none where a page of charges has none that match.
    ///
    /// # Errors
    /// The database or the vault fails.
    pub async fn next(&mut self, app: &App, cursor: ReportCursor, rows_max: usize) -> Result<Chunk, Error> {
        let after = cursor.after.unwrap_or_else(|| ChargeId::first_at(self.from));
        let read = as_of::in_time(&app.store, self.client_id, &self.which, after, CHARGES_AT_ONCE).await?;
        let is_end = i64::try_from(read.len()).is_ok_and(|read| read < CHARGES_AT_ONCE);
        let mut requests = self.requests(app, &read).await?;
        let changed: Vec<ChargeId> = read
            .iter()
            .map(|stored| &stored.charge)
            .filter(|charge| charge.updated_at > self.moment)
            .map(|charge| charge.id)
            .collect();
        let versions = as_of::versions_at(&app.store, self.client_id, &changed, self.moment).await?;
        let versions: HashMap<ChargeId, StoredCharge> =
            versions.into_iter().map(|version| (version.charge.id, version)).collect();
        let asked: HashSet<_> = requests.values().flatten().map(|request| request.provider_id).collect();
        self.facts.read(app, self.client_id, &read, &asked).await?;

        let mut records: Vec<Vec<String>> = Vec::new();
        let mut place = cursor;
        for (position, stored) in read.iter().enumerate() {
            let requests = requests.remove(&stored.charge.id.uuid()).unwrap_or_default();
            let then = Then::of(&stored.charge, versions.get(&stored.charge.id), requests, self.moment);
            let of_charge = self.records_of(app, stored, &then).await?;
            let (skip, left) = (place.skip.min(of_charge.len()), rows_max - records.len());
            let taken = of_charge.len().saturating_sub(skip).min(left);
            let is_whole = skip + taken == of_charge.len();
            records.extend(of_charge.into_iter().skip(skip).take(taken));
            if !is_whole {
                place.skip += taken;
                return chunk(records, place, false);
            }
            place = ReportCursor { after: Some(stored.charge.id), skip: place.skip - skip };
            let is_last = is_end && position + 1 == read.len();
            if records.len() == rows_max && !is_last {
                return chunk(records, place, false);
            }
        }
        chunk(records, place, is_end)
    }

    /// The requests of charges as they were at the moment, oldest first of each.
    async fn requests(
        &self,
        app: &App,
        charges: &[StoredCharge],
    ) -> Result<HashMap<Uuid, Vec<TransactionRequest>>, Error> {
        let ids: Vec<Uuid> = charges.iter().map(|stored| stored.charge.id.uuid()).collect();
        let mut found: HashMap<Uuid, Vec<TransactionRequest>> = HashMap::new();
        for stored in transaction_requests::of_objects(&app.store, self.client_id, &ids).await? {
            if stored.request.id.created_at() <= self.moment {
                found.entry(stored.request.object_id).or_default().push(stored.request.as_of(self.moment));
            }
        }
        Ok(found)
    }

    async fn records_of(
        &self,
        app: &App,
        stored: &StoredCharge,
        then: &Then<'_>,
    ) -> Result<Vec<Vec<String>>, Error> {
        let wanted = self.filters.transaction_provider_id;
        let is_asked = |request: &TransactionRequest| wanted.is_none_or(|id| request.provider_id == id);
        if !self.filters.takes(then.status) || !(wanted.is_none() || then.requests.iter().any(is_asked)) {
            return Ok(Vec::new());
        }
        let analysed_customer = self.facts.analysed_customer(app, stored).await?;
        let record = |request: Option<&TransactionRequest>| -> Vec<String> {
            let row = Row {
                charge: then.charge,
                status: then.status,
                amount: then.amount,
                responsible: then.responsible.map(|kind| (then.asked_of(kind), kind)),
                is_disputed: then.is_disputed,
                request,
                paid_as: then
                    .requests
                    .iter()
                    .rev()
                    .find_map(|request| request.reference()?.paid_as.as_deref()),
                buyer: self.facts.buyer(then.charge),
                card: self.facts.card(then.charge),
                merchant_name: self.facts.merchant_name(then.charge),
                provider_name: request.and_then(|request| self.facts.provider_name(request.provider_id)),
                analysed_customer: analysed_customer.as_ref(),
            };
            self.columns.iter().map(|column| cells::cell(*column, &row, &self.zone)).collect()
        };
        Ok(match self.report_type {
            ReportType::Transactions => vec![record(then.of_authorization())],
            ReportType::TransactionsHistory => then
                .requests
                .iter()
                .filter(|request| is_asked(request))
                .map(|request| record(Some(request)))
                .collect(),
        })
    }
}

fn chunk(records: Vec<Vec<String>>, cursor: ReportCursor, is_last: bool) -> Result<Chunk, Error> {
    let rows = records.len();
    Ok(Chunk { csv: csv_of(records.into_iter())?, rows, cursor, is_last })
}

/// A charge as it was at a moment.
struct Then<'a> {
    charge: &'a Charge,
    status: ChargeStatus,
    amount: Amount,
    responsible: Option<ProviderType>,
    is_disputed: bool,
    /// As they were then, oldest first.
    requests: Vec<TransactionRequest>,
}

impl<'a> Then<'a> {
    /// `now` is the charge as it is stored, `kept` its last version that is kept from before the moment. While a provider is asked, no
    /// version is kept: the requests tell what was under way.
    fn of(
        now: &'a Charge,
        kept: Option<&'a StoredCharge>,
        requests: Vec<TransactionRequest>,
        moment: Timestamp,
    ) -> Self {
        let known = if now.updated_at <= moment { Some(now) } else { kept.map(|stored| &stored.charge) };
        let Some(charge) = known else {
            let (status, amount) = (ChargeStatus::Pending, now.original_amount);
            return Self { charge: now, status, amount, responsible: None, is_disputed: false, requests };
        };
        let of_version = usize::try_from(charge.requests).unwrap_or(usize::MAX).min(requests.len());
        let under_way = requests[of_version..].iter().find(|request| request.outcome == Outcome::Open);
        let status = match under_way.map(|request| request.request_type) {
            Some(RequestType::Capture) => ChargeStatus::CapturePending,
            Some(RequestType::Void) => ChargeStatus::RefundPending,
            Some(
                RequestType::Authorization
                | RequestType::PreAuthorization
                | RequestType::ZeroDollar
                | RequestType::ChargeBack
                | RequestType::Dispute
                | RequestType::DisputeClosed
                | RequestType::RevertVoid
                | RequestType::AuthenticationSetup
                | RequestType::AuthenticationEnroll
                | RequestType::AuthenticationValidate
                | RequestType::AntiFraud
                | RequestType::AntiFraudFeeding,
            )
            | None => charge.state.status(),
        };
        Self {
            charge,
            status,
            amount: charge.amount,
            responsible: charge.state.responsible(),
            is_disputed: charge.is_disputed(&requests),
            requests,
        }
    }

    /// The request that tells of its authorization: the last one; where there is none, the last of any kind.
    fn of_authorization(&self) -> Option<&TransactionRequest> {
        let authorization = self.requests.iter().rfind(|request| request.request_type.is_authorization());
        authorization.or(self.requests.last())
    }

    /// The provider of this type that was asked last.
    fn asked_of(&self, provider_type: ProviderType) -> Option<regente_domain::id::ProviderId> {
        let asked = self.requests.iter().rfind(|request| request.provider_type == provider_type);
        asked.map(|request| request.provider_id)
    }
}

/// RFC 4180, with the ends of lines that it names.
fn csv_of(records: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>, Error> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    for record in records {
        writer.write_record(&record).map_err(Error::internal)?;
    }
    writer.into_inner().map_err(|error| Error::internal(error.to_string()))
}
