//! Stores the requests to providers: written before the call, completed after it, never deleted. A row is also the
//! audit record of the decryption of its card.

mod probing;
mod row;

use regente_domain::actor::Actor;
use regente_domain::charge::analysis::Verdict;
use regente_domain::charge::attempt::{Outcome, TransactionRequest};
use regente_domain::charge::instructions::Pending;
use regente_domain::decline::Decline;
use regente_domain::id::{CardId, ClientId, ProviderId, TransactionRequestId};
use regente_domain::time::Timestamp;
use uuid::Uuid;

pub use self::probing::{
    Claim, Unknown, claim, clients_with_due, due, find_given_up, give_up, given_up, insert_given_up,
    next_due, note_open, open, open_at_provider, resume, unknown,
};
pub(crate) use self::probing::{not_under_way, under_way};
pub(crate) use self::row::from_rows;
use self::row::{Status, from_row, has_rare_facts, known_args, millis, with_rare_facts};
use crate::batch::Batch;
use crate::value::{Args, Json};
use crate::{Sql, Store, StoreError, args, sql};

macro_rules! columns {
    () => {
        "object_id, ordinal, client_id, id, object_kind, card_id, provider_id, provider_type, request_type, \
         status, amount, transaction_id, authorization_code, authorization_nsu, network_authorization_code, \
         network_response_code, response_code, network_transaction_id, paid_as, decline, duration_ms, follows, \
         undone_transaction_id, delay_to_compose, sent_at, instructions, expires_at, authentication, analysis, due_at, \
         probes, open_reason, told_by, given_up_at, actor, occurred_at, updated_at"
    };
}
use columns;

sql! {
    /// Begins a request that follows no other. Most do, and a database server works for each column.
    pub INSERT_TRANSACTION_REQUEST = "
        INSERT INTO transaction_requests (object_id, ordinal, client_id, id, object_kind, card_id, provider_id,
            provider_type, request_type, status, amount, due_at, probes, actor, updated_at)
        VALUES (:object_id, :ordinal, :client_id, :id, :object_kind, :card_id, :provider_id,
            :provider_type, :request_type, :status, :amount, :due_at, 0, :actor, :updated_at)";
    /// Begins a request that follows another one.
    pub INSERT_FOLLOWING_TRANSACTION_REQUEST = "
        INSERT INTO transaction_requests (object_id, ordinal, client_id, id, object_kind, card_id, provider_id,
            provider_type, request_type, status, amount, follows, undone_transaction_id, delay_to_compose, due_at,
            probes, actor, occurred_at, updated_at)
        VALUES (:object_id, :ordinal, :client_id, :id, :object_kind, :card_id, :provider_id,
            :provider_type, :request_type, :status, :amount, :follows, :undone_transaction_id, :delay_to_compose,
            :due_at, 0, :actor, :occurred_at, :updated_at)";
    /// Ends a request; a request ends once. An accepted one and a denied one keep a due date: the provider is asked about
    /// them again.
    pub END_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET status = :status, amount = :amount, transaction_id = :transaction_id,
            authorization_code = :authorization_code, authorization_nsu = :authorization_nsu,
            network_authorization_code = :network_authorization_code,
            network_response_code = :network_response_code, response_code = :response_code,
            decline = :decline, duration_ms = :duration_ms, due_at = :due_at,
            given_up_at = NULL, updated_at = :updated_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND status = 'running'";
    /// The same with what few requests have.
    pub END_TRANSACTION_REQUEST_IN_FULL = "
        UPDATE transaction_requests SET status = :status, amount = :amount, transaction_id = :transaction_id,
            authorization_code = :authorization_code, authorization_nsu = :authorization_nsu,
            network_authorization_code = :network_authorization_code,
            network_response_code = :network_response_code, response_code = :response_code, paid_as = :paid_as,
            network_transaction_id = :network_transaction_id,
            decline = :decline, authentication = :authentication, duration_ms = :duration_ms, due_at = :due_at,
            open_reason = COALESCE(:open_reason, open_reason), told_by = :told_by,
            given_up_at = NULL, occurred_at = :occurred_at, updated_at = :updated_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND status = 'running'";
    /// Ends a request with instructions for the payer; the provider is probed from time to time.
    pub INSTRUCT_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET status = :status, transaction_id = :transaction_id,
            authorization_code = :authorization_code, authorization_nsu = :authorization_nsu,
            network_authorization_code = :network_authorization_code,
            network_response_code = :network_response_code, response_code = :response_code, paid_as = :paid_as,
            network_transaction_id = :network_transaction_id,
            instructions = :instructions, expires_at = :expires_at, authentication = :authentication,
            open_reason = COALESCE(:open_reason, open_reason), told_by = :told_by,
            duration_ms = :duration_ms, due_at = :due_at, given_up_at = NULL, updated_at = :updated_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND status = 'running'";
    /// Ends a risk analysis with what it found; a pending one keeps a due date: the provider is asked for the verdict.
    pub ANALYSE_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET status = :status, transaction_id = :transaction_id, analysis = :analysis,
            duration_ms = :duration_ms, due_at = :due_at, given_up_at = NULL, updated_at = :updated_at
        WHERE object_id = :object_id AND ordinal = :ordinal AND client_id = :client_id AND status = 'running'";
    /// Stops probing a request with instructions, an accepted one, a denied or refused one or a pending analysis: its outcome
    /// is known, or the schedule is over. SQLite would build a table for an `IN` of so many words each time.
    pub STOP_PROBING_TRANSACTION_REQUEST = "
        UPDATE transaction_requests SET due_at = NULL, given_up_at = NULL
        WHERE object_id = :object_id AND id = :id AND client_id = :client_id
          AND (status = 'awaiting_payer' OR status = 'processing' OR status = 'timeout' OR status = 'failed'
            OR status = 'analysed')";
    /// Every request of one object, oldest first.
    pub TRANSACTION_REQUESTS_OF = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE object_id = :object_id AND client_id = :client_id ORDER BY ordinal");
    /// The requests of the objects of a page, oldest first for each.
    pub TRANSACTION_REQUESTS_OF_MANY = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE object_id IN EACH_UUID(:object_ids) AND client_id = :client_id ORDER BY object_id, ordinal");
    /// The newest request that a provider answered with this id of its own. Of the simulator, which names its calls, those
    /// alone that gave a payer instructions.
    pub TRANSACTION_REQUEST_BY_REFERENCE = concat!("SELECT ", columns!(), " FROM transaction_requests
        WHERE client_id = :client_id AND provider_id = :provider_id AND transaction_id = :transaction_id
          AND (instructions IS NOT NULL OR provider_type <> 'SANDBOX')
        ORDER BY id DESC LIMIT 1");
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
    /// asked about the payer's action; for a denied or refused one, when the provider is asked whether it still says so; for a
    /// pending analysis, when it is asked for the verdict.
    pub due_at: Option<Timestamp>,
    /// Number of probes.
    pub probes: i64,
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
            let (statement, args) = end_of(request, None)?;
            batch.push(statement, args);
        }
    }
    Ok(())
}

/// Adds a request that begins.
pub fn insert(batch: &mut Batch, request: &TransactionRequest, beginning: Beginning<'_>) {
    let args = args! {
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
        due_at: beginning.due_at,
        actor: beginning.actor.to_string(),
        updated_at: request.updated_at,
    };
    let TransactionRequest { follows, undone_transaction_id, delay_to_compose, occurred_at, .. } = request;
    let has_rare_facts =
        undone_transaction_id.is_some() || delay_to_compose.is_some() || occurred_at.is_some();
    if follows.is_none() && !has_rare_facts {
        batch.push(&INSERT_TRANSACTION_REQUEST, args);
        return;
    }
    let args = args
        .with("follows", *follows)
        .with("undone_transaction_id", undone_transaction_id.clone())
        .with("delay_to_compose", delay_to_compose.map(i64::from))
        .with("occurred_at", *occurred_at);
    batch.push(&INSERT_FOLLOWING_TRANSACTION_REQUEST, args);
}

/// Ends a request. Guards the batch: refused when it has already ended.
pub fn end(batch: &mut Batch, ended: &TransactionRequest) -> Result<(), StoreError> {
    let (statement, args) = end_of(ended, None)?;
    batch.guard(statement, args);
    Ok(())
}

/// Ends a request about which the provider is asked again at `due_at`: it has accepted it and reports the result later, or has
/// refused what a payer may still pay. Guards the batch.
pub fn end_watched(
    batch: &mut Batch,
    ended: &TransactionRequest,
    due_at: Timestamp,
) -> Result<(), StoreError> {
    let (statement, args) = end_of(ended, Some(due_at))?;
    batch.guard(statement, args);
    Ok(())
}

fn end_of(ended: &TransactionRequest, due_at: Option<Timestamp>) -> Result<(&'static Sql, Args), StoreError> {
    // The provider's id has a column.
    let decline = ended.decline().map(|decline| json(&Decline { transaction_id: None, ..decline.clone() }));
    let decline = decline.transpose()?;
    // A payer may have paid another amount than was asked of them.
    let amount = ended.amount.minor_units();
    let args = known_args(ended).with("amount", amount).with("decline", decline).with("due_at", due_at);
    Ok(match has_rare_facts(ended) {
        true => {
            let args = with_rare_facts(args, ended)?.with("occurred_at", ended.occurred_at);
            (&END_TRANSACTION_REQUEST_IN_FULL, args)
        }
        false => (&END_TRANSACTION_REQUEST, args),
    })
}

/// Ends a request with instructions for the payer; its probe is due at `due_at`. Guards the batch.
pub fn instruct(
    batch: &mut Batch,
    ended: &TransactionRequest,
    pending: &Pending,
    due_at: Timestamp,
) -> Result<(), StoreError> {
    let args = with_rare_facts(known_args(ended), ended)?
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
        transaction_id: ended.transaction_id().map(str::to_owned),
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

/// Ends probing of a request with instructions, of an accepted one, of a denied or refused one or of a pending analysis.
/// Guards the batch.
pub fn stop_probing(batch: &mut Batch, client_id: ClientId, object_id: Uuid, id: TransactionRequestId) {
    batch.guard(&STOP_PROBING_TRANSACTION_REQUEST, args! { object_id, id, client_id });
}

fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Programming(error.to_string()))
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

/// The newest request that a provider answered with this id of its own; of the simulator, the one that gave a payer
/// instructions.
pub async fn by_reference(
    store: &Store,
    client_id: ClientId,
    provider_id: ProviderId,
    transaction_id: &str,
) -> Result<Option<StoredRequest>, StoreError> {
    let args = args! { client_id, provider_id, transaction_id: transaction_id.to_owned() };
    store.row(&TRANSACTION_REQUEST_BY_REFERENCE, args).await?.as_ref().map(from_row).transpose()
}
