//! Maps a transaction request to and from its row.

use std::time::Duration;

use regente_domain::charge::analysis::Analysed;
use regente_domain::charge::attempt::{
    Approval, OpenReason, Outcome, RequestType, ToldBy, TransactionRequest,
};
use regente_domain::charge::instructions::Pending;
use regente_domain::decline::Decline;
use regente_domain::id::TransactionRequestId;
use regente_domain::money::Amount;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::Timestamp;

use super::{ObjectKind, StoredRequest, json};
use crate::row::Row;
use crate::value::Args;
use crate::{StoreError, args};

/// The arguments for the end of a request.
pub(super) fn known_args(ended: &TransactionRequest) -> Args {
    let reference = ended.reference().cloned().unwrap_or_default();
    args! {
        object_id: ended.object_id,
        ordinal: ended.ordinal,
        client_id: ended.client_id,
        status: Status::of(&ended.outcome).word(),
        transaction_id: ended.transaction_id().map(str::to_owned),
        authorization_code: reference.authorization_code,
        authorization_nsu: reference.authorization_nsu,
        network_authorization_code: reference.network_authorization_code,
        network_response_code: reference.network_response_code,
        response_code: reference.response_code,
        duration_ms: millis(ended),
        updated_at: ended.updated_at,
    }
}

/// Whether an answer has what few have.
pub(super) fn has_rare_facts(ended: &TransactionRequest) -> bool {
    let of_reference =
        |reference: &Approval| reference.network_transaction_id.is_some() || reference.paid_as.is_some();
    ended.occurred_at.is_some()
        || ended.open_reason.is_some()
        || ended.told_by.is_some()
        || ended.authenticated.is_some()
        || ended.reference().is_some_and(of_reference)
}

/// Adds what few answers have.
pub(super) fn with_rare_facts(args: Args, ended: &TransactionRequest) -> Result<Args, StoreError> {
    let reference = ended.reference();
    let network_transaction_id = reference.and_then(|reference| reference.network_transaction_id.clone());
    let paid_as = reference.and_then(|reference| reference.paid_as.as_deref()).map(json).transpose()?;
    let authentication = ended.authenticated.as_deref().map(json).transpose()?;
    Ok(args
        .with("network_transaction_id", network_transaction_id)
        .with("paid_as", paid_as)
        .with("authentication", authentication)
        .with("open_reason", ended.open_reason.map(OpenReason::word))
        .with("told_by", ended.told_by.map(ToldBy::word)))
}

/// How long the call took.
pub(super) fn millis(ended: &TransactionRequest) -> Option<i64> {
    ended.duration.map(|duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

pub(crate) fn from_rows(rows: Vec<Row>) -> Result<Vec<StoredRequest>, StoreError> {
    rows.iter().map(from_row).collect()
}

pub(super) fn from_row(row: &Row) -> Result<StoredRequest, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("transaction_requests.{what}"));
    let provider_type: String = row.get("provider_type")?;
    let request_type: String = row.get("request_type")?;
    let object_kind: String = row.get("object_kind")?;
    let id: TransactionRequestId = row.get("id")?;
    Ok(StoredRequest {
        request: TransactionRequest {
            id,
            client_id: row.get("client_id")?,
            object_id: row.get("object_id")?,
            ordinal: row.get("ordinal")?,
            provider_id: row.get("provider_id")?,
            provider_type: ProviderType::parse(&provider_type).ok_or_else(|| corrupt("provider_type"))?,
            request_type: RequestType::parse(&request_type).ok_or_else(|| corrupt("request_type"))?,
            amount: Amount::new(row.get("amount")?).ok_or_else(|| corrupt("amount"))?,
            follows: row.get("follows")?,
            undone_transaction_id: row.get("undone_transaction_id")?,
            delay_to_compose: row
                .get::<Option<i64>>("delay_to_compose")?
                .and_then(|days| days.try_into().ok()),
            outcome: outcome(row)?,
            authenticated: row
                .get::<Option<String>>("authentication")?
                .map(|text| serde_json::from_str(&text).map_err(|_| corrupt("authentication")))
                .transpose()?,
            duration: row
                .get::<Option<i64>>("duration_ms")?
                .and_then(|millis| u64::try_from(millis).ok())
                .map(Duration::from_millis),
            occurred_at: row.get("occurred_at")?,
            open_reason: row
                .get::<Option<String>>("open_reason")?
                .map(|word| OpenReason::parse(&word).ok_or_else(|| corrupt("open_reason")))
                .transpose()?,
            told_by: row
                .get::<Option<String>>("told_by")?
                .map(|word| ToldBy::parse(&word).ok_or_else(|| corrupt("told_by")))
                .transpose()?,
            sent_at: row.get::<Option<Timestamp>>("sent_at")?.unwrap_or_else(|| id.created_at()),
            updated_at: row.get("updated_at")?,
        },
        object_kind: ObjectKind::parse(&object_kind).ok_or_else(|| corrupt("object_kind"))?,
        card_id: row.get("card_id")?,
        due_at: row.get("due_at")?,
        probes: row.get("probes")?,
        given_up_at: row.get("given_up_at")?,
    })
}

/// The outcome of a request, by its word in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Running,
    AwaitingPayer,
    Processing,
    Success,
    Failed,
    Timeout,
    Analysed,
}

impl Status {
    const ALL: [Self; 7] = [
        Self::Running,
        Self::AwaitingPayer,
        Self::Processing,
        Self::Success,
        Self::Failed,
        Self::Timeout,
        Self::Analysed,
    ];

    pub(super) const fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Open => Self::Running,
            Outcome::Pending(_) => Self::AwaitingPayer,
            Outcome::Accepted(_) => Self::Processing,
            Outcome::Approved(_) => Self::Success,
            Outcome::Declined(_) => Self::Failed,
            Outcome::NoEffect(_) => Self::Timeout,
            Outcome::Analysed(_) => Self::Analysed,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::AwaitingPayer => "awaiting_payer",
            Self::Processing => "processing",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Analysed => "analysed",
        }
    }
}

fn outcome(row: &Row) -> Result<Outcome, StoreError> {
    let corrupt = |what: &str| StoreError::Corrupt(format!("transaction_requests.{what}"));
    let word: String = row.get("status")?;
    let status = Status::ALL.into_iter().find(|status| status.word() == word);
    let decline = || -> Result<Decline, StoreError> {
        let text: Option<String> = row.get("decline")?;
        let decline: Option<Decline> = text.and_then(|text| serde_json::from_str(&text).ok());
        let decline = decline.ok_or_else(|| corrupt("decline"))?;
        Ok(Decline { transaction_id: row.get("transaction_id")?, ..decline })
    };
    match status.ok_or_else(|| corrupt("status"))? {
        Status::Running => Ok(Outcome::Open),
        Status::AwaitingPayer => {
            let instructions: Option<String> = row.get("instructions")?;
            let instructions = instructions.and_then(|text| serde_json::from_str(&text).ok());
            Ok(Outcome::Pending(Box::new(Pending {
                reference: reference(row)?,
                instructions: instructions.ok_or_else(|| corrupt("instructions"))?,
                expires_at: row.get("expires_at")?,
            })))
        }
        Status::Processing => reference(row).map(Outcome::Accepted),
        Status::Success => reference(row).map(Outcome::Approved),
        Status::Failed => decline().map(Outcome::Declined),
        Status::Timeout => decline().map(Outcome::NoEffect),
        Status::Analysed => {
            let analysis: Option<String> = row.get("analysis")?;
            let verdict = analysis.and_then(|text| serde_json::from_str(&text).ok());
            let verdict = verdict.ok_or_else(|| corrupt("analysis"))?;
            Ok(Outcome::Analysed(Box::new(Analysed { reference: row.get("transaction_id")?, verdict })))
        }
    }
}

fn reference(row: &Row) -> Result<Approval, StoreError> {
    let corrupt = |_| StoreError::Corrupt("transaction_requests.paid_as".to_owned());
    let paid_as: Option<String> = row.get("paid_as")?;
    Ok(Approval {
        transaction_id: row.get("transaction_id")?,
        authorization_code: row.get("authorization_code")?,
        authorization_nsu: row.get("authorization_nsu")?,
        network_authorization_code: row.get("network_authorization_code")?,
        network_response_code: row.get("network_response_code")?,
        response_code: row.get("response_code")?,
        network_transaction_id: row.get("network_transaction_id")?,
        paid_as: paid_as.map(|text| serde_json::from_str(&text).map_err(corrupt)).transpose()?,
    })
}
