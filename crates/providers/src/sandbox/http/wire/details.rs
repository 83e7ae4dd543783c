//! What an operator's own processor is told of a call beyond what the simulator uses: whose call it is, and what is on the
//! order. The simulator reads nothing of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regente_domain::customer::{Address, Document};
use regente_domain::seller::data::SellerData;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;
use zeroize::Zeroize;

use crate::request::{Authorization, Call, Credentials, Instrument, Operation, PayerDetails};
use crate::seller::{ReviewAnswer, SellerAsks, SellerCall};

/// The details of a call.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Details {
    /// The credentials of the registration, without `type`.
    credentials: CredentialsMessage,
    /// The charge or card.
    object_id: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    holder_name: Option<String>,
    /// The payer, or the customer who pays by card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    buyer: Option<BuyerMessage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    statement_descriptor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_reference_key: Option<String>,
    /// The merchant's category code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mcc: Option<String>,
}

/// The details of a question about a seller.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SellerDetails {
    /// The credentials of the registration, without `type`.
    credentials: CredentialsMessage,
    seller_id: Uuid,
    /// The processor's own id of the seller, once it has told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    external_id: Option<String>,
    /// Of a registration and a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Box<SellerData>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<FileMessage>,
    /// The answer to a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<AnswerMessage>,
}

/// A file that shows who a seller is, wiped afterwards.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileMessage {
    id: Uuid,
    /// In base64.
    content: String,
}

impl Drop for FileMessage {
    fn drop(&mut self) {
        self.content.zeroize();
    }
}

/// What a seller has answered to a review.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AnswerMessage {
    /// The processor's key of the review.
    key: Uuid,
    /// Which answer of the review it is, from 1.
    attempt: u32,
    values: Map<String, Value>,
}

/// Credentials on their way, wiped afterwards.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct CredentialsMessage(Map<String, Value>);

impl Drop for CredentialsMessage {
    fn drop(&mut self) {
        for value in self.0.values_mut() {
            if let Value::String(text) = value {
                text.zeroize();
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BuyerMessage {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    phone_number: String,
    document: Document,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<Address>,
}

impl Details {
    pub(super) fn of(call: &Call) -> Self {
        let holder_name = call.operation.card().map(|card| card.holder_name.clone());
        let bare = Self {
            credentials: CredentialsMessage::of(&call.credentials),
            object_id: call.object_id,
            holder_name,
            buyer: None,
            statement_descriptor: None,
            order_id: None,
            description: None,
            provider_reference_key: None,
            mcc: None,
        };
        match &call.operation {
            Operation::Authorize(authorization) => Self {
                buyer: buyer(authorization).map(BuyerMessage::of),
                statement_descriptor: authorization.statement_descriptor.clone(),
                order_id: authorization.order_id.clone(),
                description: authorization.description.clone(),
                provider_reference_key: authorization.provider_reference_key.clone(),
                mcc: authorization.merchant_mcc.as_ref().map(|mcc| mcc.digits().to_owned()),
                ..bare
            },
            Operation::VerifyCard(verification) => {
                Self { mcc: verification.merchant_mcc.as_ref().map(|mcc| mcc.digits().to_owned()), ..bare }
            }
            Operation::Capture(_) | Operation::Void(_) => bare,
        }
    }
}

impl SellerDetails {
    pub(super) fn of(call: &SellerCall) -> Self {
        let bare = Self {
            credentials: CredentialsMessage::of(&call.credentials),
            seller_id: call.seller_id,
            external_id: call.external_id.clone(),
            data: None,
            file: None,
            answer: None,
        };
        match &call.asks {
            SellerAsks::Register(data) | SellerAsks::Update(data) => {
                Self { data: Some(data.clone()), ..bare }
            }
            SellerAsks::File(file) => {
                let content = STANDARD.encode(&*file.bytes);
                Self { file: Some(FileMessage { id: file.id, content }), ..bare }
            }
            SellerAsks::Review(answer) => {
                let ReviewAnswer { key, attempt, values, .. } = &**answer;
                let answer = AnswerMessage { key: *key, attempt: *attempt, values: values.clone() };
                Self { answer: Some(answer), ..bare }
            }
            SellerAsks::Status => bare,
        }
    }
}

fn buyer(authorization: &Authorization) -> Option<&PayerDetails> {
    match &authorization.instrument {
        Instrument::Payer(payer) => Some(payer),
        Instrument::Card(_) | Instrument::Wallet(_) => authorization.buyer.as_deref(),
    }
}

impl CredentialsMessage {
    fn of(credentials: &Credentials) -> Self {
        let texts = credentials.texts().filter(|(name, _)| *name != "type");
        Self(texts.map(|(name, text)| (name.to_owned(), text.into())).collect())
    }
}

impl BuyerMessage {
    fn of(payer: &PayerDetails) -> Self {
        let PayerDetails { name, email, phone_number, document, address } = payer.clone();
        Self { name, email, phone_number, document, address }
    }
}
