//! Stores the requests to providers: written before the call, completed after it, never deleted. A row is also the
//! audit record of the decryption of its card.

mod row;

use regente_domain::actor::Actor;
use regente_domain::charge::analysis::Verdict;
use regente_domain::charge::attempt::{OpenReason, Outcome, TransactionRequest};
use regente_domain::charge::instructions::Pending;
use regente_domain::decline::Decline;
use regente_domain::id::{CardId, ClientId, ProviderId, TransactionRequestId};
use regente_domain::time::Timestamp;
use uuid::Uuid;

pub(crate) use self::row::from_rows;
use self::row::{Status, from_row, known_args, millis};
use crate::batch::Batch;
use crate::value::{Args, Json};
use crate::{Sql, Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "object_id, ordinal, client_id, id, object_kind, card_id, provider_id, provider_type, request_type, \
         status, amount, transaction_id, authorization_code, authorization_nsu, network_authorization_code, \
         network_response_code, response_code, decline, duration_ms, follows, undone_transaction_id, sent_at, instructions, expires_at, \
         authentication, analysis, due_at, probes, open_reason, given_up_at, actor, updated_at"
    };
}

sql! {
    /// Begins a request.
    pub INSERT_TRANSACTION_REQUEST = "
        INSERT INTO transaction_requests (object_id, ordinal, client_id, id, object_kind, card_id, provider_id,
            provider_type, request_type, status, amount, follows, undone_transaction_id, due_at, probes, actor,
            updated_at)
        VALUES (:object_id, :ordinal, :client_id, :id, :object_kind, :card_id, :provider_id,
            :provider_type, :request_type, :status, :amount, :follows, :undone_transaction_id, :due_at, 0, :actor,
            :updated_at)";
    /// Ends a request; a request ends once. An accepted one and a denied one keep a due date: the provider is asked about
    /// them again.
    pub END_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET status = :status, transaction_id = :transaction_id,
            authorization_code = :authorization_code, authorization_nsu = :authorization_nsu,
            network_authorization_code = :network_authorization_code,
            network_response_code = :network_response_code, response_code = :response_code,
            decline = :decline, authentication = :authentication, duration_ms = :duration_ms, due_at = :due_at,
            given_up_at = NULL, updated_at = :updated_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND status = 'running'";
    /// Ends a request with instructions for the payer; the provider is probed from time to time.
    pub INSTRUCT_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET status = :status, transaction_id = :transaction_id,
            authorization_code = :authorization_code, authorization_nsu = :authorization_nsu,
            network_authorization_code = :network_authorization_code,
            network_response_code = :network_response_code, response_code = :response_code,
            instructions = :instructions, expires_at = :expires_at, authentication = :authentication,
            duration_ms = :duration_ms, due_at = :due_at, given_up_at = NULL, updated_at = :updated_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND status = 'running'";
    /// Ends a risk analysis with what it found; a pending one keeps a due date: the provider is asked for the verdict.
    pub ANALYSE_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET status = :status, transaction_id = :transaction_id, analysis = :analysis,
            duration_ms = :duration_ms, due_at = :due_at, given_up_at = NULL, updated_at = :updated_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND status = 'running'";
    /// Stops probing a request with instructions, an accepted one, a denied one or a pending analysis: its outcome is
    /// known, or the schedule is over.
    pub STOP_PROBING_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET due_at = NULL, given_up_at = NULL
        WHERE object_id = :object_id AND id = :id AND client_id = :client_id
          AND status IN ('awaiting_payer', 'processing', 'timeout', 'analysed')";
    /// Every request of one object, oldest first.
    pub TRANSACTION_REQUESTS_OF = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE object_id = :object_id AND client_id = :client_id ORDER BY ordinal");
    /// The requests of the objects of a page, oldest first for each.
    pub TRANSACTION_REQUESTS_OF_MANY = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE object_id IN EACH_UUID(:object_ids) AND client_id = :client_id ORDER BY object_id, ordinal");
    /// The request to a provider that was answered with instructions and this id of the provider.
    pub INSTRUCTED_TRANSACTION_REQUEST = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE client_id = :client_id AND provider_id = :provider_id AND transaction_id = :transaction_id
          AND instructions IS NOT NULL
        ORDER BY id DESC LIMIT 1");
    /// Clients with requests whose probe is due.
    pub CLIENTS_WITH_DUE_REQUESTS = "
        SELECT DISTINCT client_id FROM transaction_requests
        WHERE due_at IS NOT NULL AND due_at <= :now AND client_id >= :from
        ORDER BY client_id LIMIT :limit";
    /// The due requests of one client, longest waiting first.
    pub DUE_TRANSACTION_REQUESTS = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE client_id = :client_id AND due_at IS NOT NULL AND due_at <= :now ORDER BY due_at LIMIT :limit");
    /// When the next probe is due.
    pub NEXT_DUE_TRANSACTION_REQUEST = "
        SELECT client_id, MIN(due_at) AS due_at FROM transaction_requests
        WHERE due_at IS NOT NULL GROUP BY client_id";
    /// Claims a due request: the node that moves its due date asks the provider.
    pub CLAIM_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET due_at = :next_due_at, probes = probes + 1
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND due_at = :due_at";
    /// Claims a request that is sent again.
    pub CLAIM_TRANSACTION_REQUEST_TO_SEND = "
        UPDATE transaction_requests SET due_at = :next_due_at, probes = probes + 1, sent_at = :sent_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND due_at = :due_at";
    /// Counts the requests with an unknown outcome that are still probed, and finds the oldest.
    pub UNKNOWN_TRANSACTION_REQUESTS = "
        SELECT COUNT(*) AS n, MIN(updated_at) AS oldest FROM transaction_requests
        WHERE due_at IS NOT NULL AND status = 'running'
          AND (due_at <= :now OR probes > 0 OR open_reason IS NOT NULL)";
    /// Counts the requests with an unknown outcome whose probing ended.
    pub UNKNOWN_FOR_GOOD = "
        SELECT COUNT(*) AS n, MIN(updated_at) AS oldest FROM transaction_requests WHERE given_up_at IS NOT NULL";
    /// Records why a request is still open, when it was last sent, and when its probe is due.
    pub NOTE_OPEN_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET open_reason = :open_reason, sent_at = :sent_at, due_at = :due_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND status = 'running'";
    /// Ends probing of an open request until an operator resumes it.
    pub GIVE_UP_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET due_at = NULL, given_up_at = :given_up_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND due_at = :due_at";
    /// Restarts the probe schedule of a request.
    pub RESUME_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET due_at = :due_at, given_up_at = NULL, probes = 0
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id
          AND given_up_at IS NOT NULL";
    /// Requests with an unknown outcome that are still probed, longest waiting first.
    pub OPEN_TRANSACTION_REQUESTS = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE due_at IS NOT NULL AND status = 'running'
          AND (due_at <= :now OR probes > 0 OR open_reason IS NOT NULL)
        ORDER BY due_at LIMIT :limit");
    /// Requests with an unknown outcome whose probing ended, longest waiting first.
    pub GIVEN_UP_TRANSACTION_REQUESTS = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE given_up_at IS NOT NULL ORDER BY given_up_at LIMIT :limit");
    /// One of them; for operators, who name only the request.
    pub FIND_GIVEN_UP_TRANSACTION_REQUEST = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE given_up_at IS NOT NULL AND id = :id");
}

/// The kind of object that a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A charge.
    Charge,
    /// A card that is being checked.
    Card,
}

impl ObjectKind {
    /// The word in the database and in lists.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Card => "card",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        match word {
            "charge" => Some(Self::Charge),
            "card" => Some(Self::Card),
            _ => None,
        }
    }
}

/// A stored request, with the facts that only recovery needs.
#[derive(Clone, Debug)]
pub struct StoredRequest {
    /// The request.
    pub request: TransactionRequest,
    /// The kind of its object.
    pub object_kind: ObjectKind,
    /// The card whose number was decrypted for it.
    pub card_id: Option<CardId>,
    /// When its probe is due; absent once the outcome is known. For a request with instructions, when the provider is
    /// asked about the payer's action; for a denied one, when the provider is asked whether it still denies it; for a
    /// pending analysis, when it is asked for the verdict.
    pub due_at: Option<Timestamp>,
    /// Number of probes.
    pub probes: i64,
    /// Why the outcome is unknown, once it was probed.
    pub open_reason: Option<OpenReason>,
    /// When probing ended without an outcome.
    pub given_up_at: Option<Timestamp>,
}

/// The facts of a request that begins.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// The kind of its object.
    pub object_kind: ObjectKind,
    /// The card whose number is decrypted for it; a follow-up needs none.
    pub card_id: Option<CardId>,
    /// When its probe is due if no answer is stored until then.
    pub due_at: Timestamp,
    /// Who caused it.
    pub actor: &'a Actor,
}

/// Adds a request that is not sent: it begins and ends here.
pub fn insert_ended(
    batch: &mut Batch,
    request: &TransactionRequest,
    object_kind: ObjectKind,
    actor: &Actor,
) -> Result<(), StoreError> {
    let begun = TransactionRequest { outcome: Outcome::Open, ..request.clone() };
    let beginning = Beginning { object_kind, card_id: None, due_at: request.updated_at, actor };
    insert(batch, &begun, beginning);
    match &request.outcome {
        Outcome::Analysed(analysed) => {
            batch.push(&ANALYSE_TRANSACTION_REQUEST, analysed_args(request, &analysed.verdict, None)?);
        }
        Outcome::Open
        | Outcome::Pending(_)
        | Outcome::Accepted(_)
        | Outcome::Approved(_)
        | Outcome::Declined(_)
        | Outcome::NoEffect(_) => {
            batch.push(&END_TRANSACTION_REQUEST, end_args(request, None)?);
        }
    }
    Ok(())
}

/// Adds a request that begins.
pub fn insert(batch: &mut Batch, request: &TransactionRequest, beginning: Beginning<'_>) {
    batch.push(
        &INSERT_TRANSACTION_REQUEST,
        args! {
            object_id: request.object_id,
            ordinal: request.ordinal,
            client_id: request.client_id,
            id: request.id,
            object_kind: beginning.object_kind.word(),
            card_id: beginning.card_id,
            provider_id: request.provider_id,
            provider_type: request.provider_type.code(),
            request_type: request.request_type.word(),
            status: Status::of(&request.outcome).word(),
            amount: request.amount.minor_units(),
            follows: request.follows,
            undone_transaction_id: request.undone_transaction_id.as_deref(),
            due_at: beginning.due_at,
            actor: beginning.actor.to_string(),
            updated_at: request.updated_at,
        },
    );
}

/// Adds a request that is not sent until an operator resumes it.
pub fn insert_given_up(batch: &mut Batch, request: &TransactionRequest, beginning: Beginning<'_>) {
    insert(batch, request, beginning);
    let due_at = beginning.due_at;
    batch.push(&GIVE_UP_TRANSACTION_REQUEST, give_up_args(request, due_at, due_at));
}

/// Ends a request. Guards the batch: refused when it has already ended.
pub fn end(batch: &mut Batch, ended: &TransactionRequest) -> Result<(), StoreError> {
    batch.guard(&END_TRANSACTION_REQUEST, end_args(ended, None)?);
    Ok(())
}

/// Ends a request that the provider has denied; the provider is asked about it again at `due_at`. Guards the batch.
pub fn end_denied(
    batch: &mut Batch,
    ended: &TransactionRequest,
    due_at: Timestamp,
) -> Result<(), StoreError> {
    batch.guard(&END_TRANSACTION_REQUEST, end_args(ended, Some(due_at))?);
    Ok(())
}

/// Ends a request that the provider has accepted; the provider is asked about its result at `due_at`. Guards the batch.
pub fn end_accepted(
    batch: &mut Batch,
    ended: &TransactionRequest,
    due_at: Timestamp,
) -> Result<(), StoreError> {
    batch.guard(&END_TRANSACTION_REQUEST, end_args(ended, Some(due_at))?);
    Ok(())
}

fn end_args(ended: &TransactionRequest, due_at: Option<Timestamp>) -> Result<Args, StoreError> {
    // The provider's id has a column.
    let decline = ended.decline().map(|decline| json(&Decline { transaction_id: None, ..decline.clone() }));
    let decline = decline.transpose()?;
    Ok(known_args(ended)?.with("decline", decline).with("due_at", due_at))
}

/// Ends a request with instructions for the payer; its probe is due at `due_at`. Guards the batch.
pub fn instruct(
    batch: &mut Batch,
    ended: &TransactionRequest,
    pending: &Pending,
    due_at: Timestamp,
) -> Result<(), StoreError> {
    let args = known_args(ended)?
        .with("instructions", json(&pending.instructions)?)
        .with("expires_at", pending.expires_at)
        .with("due_at", due_at);
    batch.guard(&INSTRUCT_TRANSACTION_REQUEST, args);
    Ok(())
}

/// Ends a risk analysis with what it found; the provider of a pending one is asked for the verdict at `due_at`. Guards
/// the batch.
pub fn analysed(
    batch: &mut Batch,
    ended: &TransactionRequest,
    verdict: &Verdict,
    due_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    batch.guard(&ANALYSE_TRANSACTION_REQUEST, analysed_args(ended, verdict, due_at)?);
    Ok(())
}

fn analysed_args(
    ended: &TransactionRequest,
    verdict: &Verdict,
    due_at: Option<Timestamp>,
) -> Result<Args, StoreError> {
    Ok(args! {
        object_id: ended.object_id,
        ordinal: ended.ordinal,
        client_id: ended.client_id,
        status: Status::of(&ended.outcome).word(),
        transaction_id: ended.transaction_id(),
        analysis: json(verdict)?,
        duration_ms: millis(ended),
        due_at,
        updated_at: ended.updated_at,
    })
}

/// Whether the provider is asked again about a request with instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probing {
    /// The outcome is final.
    Ends,
    /// The payer may still pay, although the charge has expired: the due date of the request stays.
    GoesOn,
}

/// Records what became of `awaited`, a request with instructions or an accepted one, as a request of its own. Guards the
/// batch if probing ends.
pub fn tell(
    batch: &mut Batch,
    awaited: TransactionRequestId,
    told: &TransactionRequest,
    probing: Probing,
    actor: &Actor,
) -> Result<(), StoreError> {
    match probing {
        Probing::Ends => stop_probing(batch, told.client_id, told.object_id, awaited),
        Probing::GoesOn => {}
    }
    insert_ended(batch, told, ObjectKind::Charge, actor)
}

/// Ends probing of a request with instructions, of an accepted one, of a denied one or of a pending analysis. Guards the
/// batch.
pub fn stop_probing(batch: &mut Batch, client_id: ClientId, object_id: Uuid, id: TransactionRequestId) {
    batch.guard(&STOP_PROBING_TRANSACTION_REQUEST, args! { object_id, id, client_id });
}

fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Programming(error.to_string()))
}

/// Records why a request is still open, when it was last sent, and when its probe is due. Guards the batch: refused when
/// it has ended.
pub fn note_open(batch: &mut Batch, request: &TransactionRequest, reason: OpenReason, due_at: Timestamp) {
    batch.guard(
        &NOTE_OPEN_TRANSACTION_REQUEST,
        args! {
            object_id: request.object_id,
            ordinal: request.ordinal,
            client_id: request.client_id,
            open_reason: reason.word(),
            sent_at: request.sent_at,
            due_at,
        },
    );
}

/// Ends probing of a request that was due at `due_at`. Guards the batch.
pub fn give_up(batch: &mut Batch, request: &TransactionRequest, due_at: Timestamp, now: Timestamp) {
    batch.guard(&GIVE_UP_TRANSACTION_REQUEST, give_up_args(request, due_at, now));
}

fn give_up_args(request: &TransactionRequest, due_at: Timestamp, given_up_at: Timestamp) -> Args {
    args! {
        object_id: request.object_id,
        ordinal: request.ordinal,
        client_id: request.client_id,
        due_at,
        given_up_at,
    }
}

/// Restarts the probe schedule of a request. Guards the batch: refused when probing had not ended.
pub fn resume(batch: &mut Batch, request: &TransactionRequest, due_at: Timestamp) {
    batch.guard(
        &RESUME_TRANSACTION_REQUEST,
        args! {
            object_id: request.object_id,
            ordinal: request.ordinal,
            client_id: request.client_id,
            due_at,
        },
    );
}

/// What the node that claims a due request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Probes the outcome.
    ToProbe,
    /// Sends the request again.
    ToSend {
        /// When it is sent.
        at: Timestamp,
    },
}

/// Claims a due request until `next_due_at`; the batch is refused when another node has claimed it.
pub fn claim(batch: &mut Batch, stored: &StoredRequest, claim: Claim, next_due_at: Timestamp) {
    let args = args! {
        object_id: stored.request.object_id,
        ordinal: stored.request.ordinal,
        client_id: stored.request.client_id,
        due_at: stored.due_at,
        next_due_at,
    };
    match claim {
        Claim::ToProbe => batch.guard(&CLAIM_TRANSACTION_REQUEST, args),
        Claim::ToSend { at } => batch.guard(&CLAIM_TRANSACTION_REQUEST_TO_SEND, args.with("sent_at", at)),
    };
}

/// Every request of one object, oldest first.
pub async fn of_object(
    store: &Store,
    client_id: ClientId,
    object_id: Uuid,
) -> Result<Vec<StoredRequest>, StoreError> {
    let (sql, args) = query_of_object(client_id, object_id);
    from_rows(store.rows(sql, args).await?)
}

pub(crate) fn query_of_object(client_id: ClientId, object_id: Uuid) -> (&'static Sql, Args) {
    (&TRANSACTION_REQUESTS_OF, args! { object_id, client_id })
}

/// The requests of many objects, by object, oldest first.
pub async fn of_objects(
    store: &Store,
    client_id: ClientId,
    object_ids: &[Uuid],
) -> Result<Vec<StoredRequest>, StoreError> {
    if object_ids.is_empty() {
        return Ok(Vec::new());
    }
    let object_ids = Json::list(Some(object_ids), Uuid::to_string);
    from_rows(store.rows(&TRANSACTION_REQUESTS_OF_MANY, args! { object_ids, client_id }).await?)
}

/// The request to a provider that was answered with instructions for the payer and this id of the provider.
pub async fn instructed(
    store: &Store,
    client_id: ClientId,
    provider_id: ProviderId,
    transaction_id: &str,
) -> Result<Option<StoredRequest>, StoreError> {
    let args = args! { client_id, provider_id, transaction_id };
    store.row(&INSTRUCTED_TRANSACTION_REQUEST, args).await?.as_ref().map(from_row).transpose()
}

/// Clients with probes due at `now`, by id, from one on.
pub async fn clients_with_due(
    store: &Store,
    now: Timestamp,
    from: ClientId,
    limit: i64,
) -> Result<Vec<ClientId>, StoreError> {
    let rows = store.rows(&CLIENTS_WITH_DUE_REQUESTS, args! { now, from, limit }).await?;
    rows.iter().map(|row| row.get("client_id")).collect()
}

/// The requests of a client whose probe is due at `now`.
pub async fn due(
    store: &Store,
    client_id: ClientId,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<StoredRequest>, StoreError> {
    from_rows(store.rows(&DUE_TRANSACTION_REQUESTS, args! { client_id, now, limit }).await?)
}

/// When the next request is due, if any is.
pub async fn next_due(store: &Store) -> Result<Vec<(ClientId, Timestamp)>, StoreError> {
    let rows = store.rows(&NEXT_DUE_TRANSACTION_REQUEST, args! {}).await?;
    rows.iter().map(|row| Ok((row.get("client_id")?, row.get("due_at")?))).collect()
}

/// Requests of all clients that were probed in vain or are overdue, longest waiting first.
pub async fn open(store: &Store, now: Timestamp, limit: i64) -> Result<Vec<StoredRequest>, StoreError> {
    from_rows(store.rows(&OPEN_TRANSACTION_REQUESTS, args! { now, limit }).await?)
}

/// Requests of all clients whose probing ended, longest waiting first.
pub async fn given_up(store: &Store, limit: i64) -> Result<Vec<StoredRequest>, StoreError> {
    from_rows(store.rows(&GIVEN_UP_TRANSACTION_REQUESTS, args! { limit }).await?)
}

/// Counts of requests of all clients with an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Number of requests.
    pub open: u64,
    /// When the oldest began.
    pub oldest: Option<Timestamp>,
    /// Number of them whose probing ended.
    pub given_up: u64,
}

/// Counts what [`open`] and [`given_up`] list.
pub async fn unknown(store: &Store, now: Timestamp) -> Result<Unknown, StoreError> {
    let count = async |sql, args| -> Result<(u64, Option<Timestamp>), StoreError> {
        let row = store.row(sql, args).await?;
        let row = row.ok_or_else(|| StoreError::Corrupt("a count without a row".to_owned()))?;
        Ok((row.get::<i64>("n")?.try_into().unwrap_or(0), row.get("oldest")?))
    };
    let (asked_for, oldest) = count(&UNKNOWN_TRANSACTION_REQUESTS, args! { now }).await?;
    let (given_up, oldest_given_up) = count(&UNKNOWN_FOR_GOOD, args! {}).await?;
    let oldest = [oldest, oldest_given_up].into_iter().flatten().min();
    Ok(Unknown { open: asked_for + given_up, oldest, given_up })
}

/// A request of any client whose probing ended. Only for operators.
pub async fn find_given_up(
    store: &Store,
    id: TransactionRequestId,
) -> Result<Option<StoredRequest>, StoreError> {
    let row = store.row(&FIND_GIVEN_UP_TRANSACTION_REQUEST, args! { id }).await?;
    row.as_ref().map(from_row).transpose()
}
