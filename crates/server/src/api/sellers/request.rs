//! What is asked of sellers. A change is merged into what is stored, member by member, and then read like a new seller.

use deserr::Deserr;
use regente_domain::id::{MerchantId, SellerDocumentId};
use regente_domain::problems::Problems;
use regente_domain::seller::data::SellerData;
use regente_domain::seller::{ReasonType, SellerStatus};
use regente_domain::wire::{List, Patch, Text, all_optional, read, read_parts};
use regente_engine::sellers::Registers;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Files to attach; [`regente_engine::sellers::documents::OF_SELLER_MAX`] at most.
pub(super) type DocumentIds = List<SellerDocumentId, 0, 20>;

/// A seller to be created.
#[derive(Serialize, ToSchema)]
#[schema(as = NewSeller, example = json!({
    "merchantId": "b1612460-0fef-447d-9590-97825cf60cf6", "mcc": 5651,
    "owner": { "name": "Rita Lima", "email": "rita@example.com", "phoneNumber": "21988899909",
        "birthdate": "1995-01-27", "document": { "type": "cpf", "number": "36243319067", "country": "BR" },
        "address": { "street": "Av Geraldo Cardoso", "streetNumber": "205", "zipCode": "25650011", "country": "BR",
            "state": "RJ", "city": "Rio de Janeiro", "district": "Leblon" } },
    "bankAccount": { "holderName": "Rita Lima", "holderDocument": "36243319067", "bank": "077",
        "branchNumber": "492", "accountNumber": "4929", "type": "conta_corrente" }
}))]
pub(super) struct NewSellerBody {
    #[serde(flatten)]
    pub(super) options: NewSellerOptions,
    #[serde(flatten)]
    pub(super) data: SellerData,
}

/// What is said of a new seller besides its data.
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
pub(super) struct NewSellerOptions {
    /// The merchant whose providers receive the registration.
    pub(super) merchant_id: MerchantId,
    /// Uploaded documents to attach.
    #[deserr(default)]
    pub(super) document_ids: Option<DocumentIds>,
    /// Whether the answer does not wait for the providers.
    #[deserr(default)]
    #[schema(default = false)]
    pub(super) create_async: Option<bool>,
}

/// What is said of a change of a seller besides its data.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub(super) struct SellerChangeOptions {
    /// Only the seller's own merchant.
    #[deserr(default)]
    pub(super) merchant_id: Option<MerchantId>,
    /// Uploaded documents to attach.
    #[deserr(default)]
    pub(super) document_ids: Option<DocumentIds>,
    /// Whether the answer does not wait for the providers.
    #[deserr(default)]
    pub(super) create_async: Option<bool>,
    /// `active` or `inactive`; only providers bring a seller into the others.
    #[deserr(default)]
    pub(super) status: Option<SellerStatus>,
    /// Why the status is set.
    #[deserr(default)]
    #[schema(value_type = Option<Text<0, 2048>>)]
    pub(super) status_reason: Patch<Text<0, 2048>>,
    /// The kind of that reason.
    #[deserr(default)]
    #[schema(value_type = Option<ReasonType>)]
    pub(super) reason_type: Patch<ReasonType>,
}

impl SellerChangeOptions {
    /// The members that are not part of what is stored.
    const NAMES: [&'static str; 6] =
        ["merchantId", "documentIds", "createAsync", "status", "statusReason", "reasonType"];
}

/// Changes of a seller in the OpenAPI document: a seller's own members and those of the options.
pub(super) enum SellerChangesBody {}

impl PartialSchema for SellerChangesBody {
    fn schema() -> RefOr<Schema> {
        let mut changes = all_optional::<SellerData>();
        changes.properties.extend(all_optional::<SellerChangeOptions>().properties);
        changes.description = Some(
            "Changes of a seller; what is absent stays, objects are merged field by field, and null removes a field."
                .to_owned(),
        );
        changes.example = Some(serde_json::json!({ "bankAccount": { "bank": null, "ispb": "60746948" } }));
        changes.into()
    }
}

impl ToSchema for SellerChangesBody {
    fn name() -> std::borrow::Cow<'static, str> {
        std::borrow::Cow::Borrowed("SellerChanges")
    }

    fn schemas(found: &mut Vec<(String, RefOr<Schema>)>) {
        SellerData::schemas(found);
        SellerChangeOptions::schemas(found);
    }
}

/// Which merchant's seller is deleted.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = DeleteSeller, rename_all = "camelCase",
    example = json!({ "merchantId": "b1612460-0fef-447d-9590-97825cf60cf6" }))]
pub(super) struct DeleteSellerBody {
    /// The seller's merchant.
    pub(super) merchant_id: MerchantId,
}

/// Who waits for the providers.
pub(super) fn registers(create_async: Option<bool>) -> Registers {
    if create_async == Some(true) { Registers::InBackground } else { Registers::Now }
}

/// Reads a new seller.
pub(super) fn read_new(sent: &Map<String, Value>) -> Result<NewSellerBody, Problems> {
    let (options, data) = read_parts(&in_known_spelling(sent.clone()))?;
    Ok(NewSellerBody { options, data })
}

/// Reads the data of a seller after a change: objects are merged field by field, and null removes a field (RFC 7396).
pub(super) fn read_changed(
    stored: Map<String, Value>,
    sent: &Map<String, Value>,
) -> Result<SellerData, Problems> {
    let mut merged = Value::Object(stored);
    for (name, value) in in_known_spelling(sent.clone()) {
        if !SellerChangeOptions::NAMES.contains(&name.as_str()) {
            merge(&mut merged[name.as_str()], &value);
        }
    }
    match merged {
        Value::Object(members) => read(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            read(Map::new())
        }
    }
}

/// Reads all data of a seller.
pub(super) fn read_data(members: Map<String, Value>) -> Result<SellerData, Problems> {
    read(in_known_spelling(members))
}

fn merge(target: &mut Value, sent: &Value) {
    let Value::Object(members) = sent else {
        *target = sent.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    for (name, value) in members {
        merge(&mut target[name.as_str()], value);
    }
}

/// The bank account with the spellings that are stored: `holdeType`, which is misspelt on the wire, is read as `holderType`
/// too, and one word has a short form.
fn in_known_spelling(mut sent: Map<String, Value>) -> Map<String, Value> {
    if let Some(account) = sent.get_mut("bankAccount").and_then(Value::as_object_mut) {
        if let Some(holder_type) = account.shift_remove("holderType")
            && (!holder_type.is_null() || !account.contains_key("holdeType"))
        {
            account.insert("holdeType".to_owned(), holder_type);
        }
        if let Some(kind) = account.get_mut("type").filter(|kind| **kind == "poupanca") {
            *kind = "conta_poupanca".into();
        }
    }
    sent
}
