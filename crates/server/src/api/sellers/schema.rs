//! Sellers in the OpenAPI document: what is sent and what is answered.

#![expect(dead_code, reason = "describes bodies for the OpenAPI document")]

use regente_domain::time::Timestamp;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::customers::DocumentBody;
use crate::api::merchants::MccBody;
use crate::api::schema::words;

macro_rules! seller {
    ($(#[$meta:meta])* $name:ident, $(#[$providers_meta:meta])* $providers:ty) => {
        $(#[$meta])*
        pub(super) struct $name {
            id: Uuid,
            $(#[$providers_meta])*
            providers: $providers,
            /// The merchant whose providers have it.
            merchant_id: Uuid,
            /// The account, spelled in lower case.
            clientid: Uuid,
            /// The account.
            client_id: Uuid,
            /// As sent; null when nothing was.
            #[schema(required = true)]
            metadata: Option<Vec<SellerMetadataSchema>>,
            /// The person; of a company, who stands for it. Null in events of a seller that was deleted since.
            #[schema(required = true)]
            owner: Option<SellerOwnerSchema>,
            /// The company; null for a person.
            #[schema(required = true)]
            business: Option<SellerBusinessSchema>,
            /// Where its money goes.
            #[schema(required = true)]
            bank_account: Option<SellerBankAccountSchema>,
            /// When its money goes there.
            #[schema(required = true)]
            transfer_policy: Option<SellerTransferPolicySchema>,
            /// The category code at the acquirer.
            #[schema(required = true)]
            mcc: Option<u16>,
            #[schema(value_type = words::SellerStatus)]
            status: String,
            #[schema(value_type = String, format = DateTime)]
            created_at: Timestamp,
            #[schema(value_type = String, format = DateTime)]
            updated_at: Timestamp,
            #[schema(required = true)]
            plan_id: Option<Uuid>,
            /// The sales plan at a provider, when set.
            sales_plan_id: Option<String>,
            /// Whether it bears processing fees, when set.
            processing_fee: Option<bool>,
            /// Whether it bears chargebacks, when set.
            liable: Option<bool>,
            /// Its MDR in percent, when set.
            fare_mdr: Option<f64>,
            /// Its fixed fee in cents, when set.
            fare_fee: Option<f64>,
            /// Why its status was set by hand, when said.
            status_reason: Option<String>,
            /// The kind of that reason, when said.
            #[schema(value_type = Option<words::SellerReasonType>)]
            reason_type: Option<String>,
        }
    };
}

seller! {
    /// A seller.
    #[derive(ToSchema)]
    #[schema(as = Seller, rename_all = "camelCase")]
    SellerSchema,
    /// The first of its providers; null when its merchant has none that splits payments.
    #[schema(required = true)]
    Option<SellerProviderSchema>
}

seller! {
    /// A seller in lists and events.
    #[derive(ToSchema)]
    #[schema(as = ListedSeller, rename_all = "camelCase")]
    ListedSellerSchema,
    /// Its providers.
    Vec<SellerProviderSchema>
}

/// A seller at a provider.
#[derive(ToSchema)]
#[schema(as = SellerProvider, rename_all = "camelCase")]
pub(super) struct SellerProviderSchema {
    /// The provider.
    id: Uuid,
    #[schema(value_type = words::ProviderType)]
    provider_type: String,
    /// Its id there; null until it is registered.
    #[schema(required = true)]
    external_id: Option<String>,
    /// The provider's own word for the status.
    #[schema(required = true)]
    external_status: Option<String>,
    /// The provider's reason for it.
    #[schema(required = true)]
    external_status_reason: Option<String>,
    #[schema(value_type = words::SellerLinkStatus)]
    status: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// A free entry.
#[derive(ToSchema)]
#[schema(as = SellerMetadata)]
pub(super) struct SellerMetadataSchema {
    #[schema(min_length = 1, max_length = 255)]
    key: String,
    /// At most 4096 bytes.
    value: Value,
}

/// A person.
#[derive(ToSchema)]
#[schema(as = SellerOwner, rename_all = "camelCase")]
pub(super) struct SellerOwnerSchema {
    id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    name: String,
    email: String,
    phone_number: String,
    #[schema(value_type = String, format = DateTime)]
    birthdate: Timestamp,
    annual_revenue: Option<f64>,
    business_category: Option<String>,
    monthly_income: Option<f64>,
    professional_occupation: Option<String>,
    is_business_representative: Option<bool>,
    address: SellerAddressSchema,
    document: SellerDocumentSchema,
}

/// A company.
#[derive(ToSchema)]
#[schema(as = SellerBusiness, rename_all = "camelCase")]
pub(super) struct SellerBusinessSchema {
    id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    name: String,
    phone_number: String,
    email: String,
    #[schema(required = true)]
    website: Option<String>,
    #[schema(required = true)]
    description: Option<String>,
    #[schema(required = true)]
    facebook: Option<String>,
    #[schema(required = true)]
    twitter: Option<String>,
    #[schema(value_type = Option<String>, format = Date, required = true)]
    opening_date: Option<String>,
    corporate_reason: Option<String>,
    annual_revenue: Option<f64>,
    address: SellerAddressSchema,
    document: SellerDocumentSchema,
}

/// An address of a seller.
#[derive(ToSchema)]
#[schema(as = SellerAddress, rename_all = "camelCase")]
pub(super) struct SellerAddressSchema {
    id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = words::Country)]
    country: String,
    street: String,
    street_number: String,
    #[schema(required = true)]
    complement: Option<String>,
    zip_code: String,
    state: String,
    city: String,
    district: String,
}

/// A document of a seller.
#[derive(ToSchema)]
#[schema(as = SellerDocument, rename_all = "camelCase")]
pub(super) struct SellerDocumentSchema {
    id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(rename = "type")]
    kind: String,
    number: String,
    #[schema(value_type = words::Country)]
    country: String,
}

/// The bank account of a seller.
#[derive(ToSchema)]
#[schema(as = SellerBankAccount, rename_all = "camelCase")]
pub(super) struct SellerBankAccountSchema {
    id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    holder_name: String,
    holder_document: String,
    #[schema(required = true)]
    bank: Option<String>,
    #[schema(required = true)]
    ispb: Option<String>,
    branch_number: String,
    #[schema(required = true)]
    branch_check_digit: Option<String>,
    account_number: String,
    #[schema(required = true)]
    account_check_digit: Option<String>,
    #[schema(rename = "type", value_type = words::SellerAccountType)]
    kind: String,
}

/// When the money of a seller is transferred.
#[derive(ToSchema)]
#[schema(as = SellerTransferPolicy, rename_all = "camelCase")]
pub(super) struct SellerTransferPolicySchema {
    id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// An integer or its text, as sent.
    #[schema(required = true)]
    transfer_day: Option<TransferDaySchema>,
    #[schema(required = true)]
    transfer_enabled: Option<bool>,
    #[schema(required = true, value_type = Option<words::SellerTransferInterval>)]
    transfer_interval: Option<String>,
    #[schema(required = true)]
    automatic_anticipation_enabled: Option<bool>,
    #[schema(required = true)]
    anticipatable_volume_percentage: Option<String>,
    #[schema(required = true)]
    automatic_anticipation_type: Option<String>,
    #[schema(required = true)]
    automatic_anticipation_days: Option<String>,
    #[schema(required = true, rename = "automaticAnticipation1025Delay")]
    automatic_anticipation_delay: Option<String>,
}

/// A day within the interval: daily 1 or 0, weekly 1 to 5, monthly 1 to 31.
#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = TransferDay)]
pub(super) enum TransferDaySchema {
    /// As an integer.
    Number(u8),
    /// As its text.
    Text(String),
}

/// A seller to be created.
#[derive(ToSchema)]
#[schema(as = NewSeller, rename_all = "camelCase", example = json!({
    "merchantId": "b1612460-0fef-447d-9590-97825cf60cf6", "mcc": 5651,
    "owner": { "name": "Rita Lima", "email": "rita@example.com", "phoneNumber": "21988899909",
        "birthdate": "1995-01-27", "document": { "type": "cpf", "number": "36243319067", "country": "BR" },
        "address": { "street": "Av Geraldo Cardoso", "streetNumber": "205", "zipCode": "25650011", "country": "BR",
            "state": "RJ", "city": "Rio de Janeiro", "district": "Leblon" } },
    "bankAccount": { "holderName": "Rita Lima", "holderDocument": "36243319067", "bank": "077",
        "branchNumber": "492", "accountNumber": "4929", "type": "conta_corrente" }
}))]
pub(super) struct NewSellerBody {
    /// The merchant whose providers receive the registration.
    merchant_id: Uuid,
    /// The category code at the acquirer.
    mcc: MccBody,
    owner: NewSellerOwnerBody,
    /// The company of a legal entity.
    business: Option<NewSellerBusinessBody>,
    bank_account: NewSellerBankAccountBody,
    transfer_policy: Option<NewTransferPolicyBody>,
    /// Agreements on fees, for one provider.
    #[schema(max_items = 100)]
    rate_agreements: Option<Vec<RateAgreementBody>>,
    /// Uploaded documents to attach.
    #[schema(max_items = 20)]
    document_ids: Option<Vec<Uuid>>,
    /// The sales plan.
    plan_id: Option<Uuid>,
    /// The sales plan at a provider.
    #[schema(max_length = 255)]
    sales_plan_id: Option<String>,
    #[schema(max_items = 100)]
    metadata: Option<Vec<SellerMetadataSchema>>,
    /// Whether it bears processing fees; rules of a split take it over.
    processing_fee: Option<bool>,
    /// Whether it bears chargebacks; rules of a split take it over.
    liable: Option<bool>,
    /// Its MDR in percent, with at most two decimals.
    #[schema(minimum = 0, maximum = 100)]
    fare_mdr: Option<f64>,
    /// Its fixed fee in cents.
    #[schema(minimum = 0)]
    fare_fee: Option<f64>,
    /// The lowest balance that it may have.
    min_negative_balance: Option<f64>,
    /// For how many days its charges may be refunded.
    #[schema(minimum = 0)]
    max_refund_days: Option<f64>,
    /// Whether the answer does not wait for the providers.
    #[schema(default = false)]
    create_async: Option<bool>,
}

/// A person.
#[derive(ToSchema)]
#[schema(as = NewSellerOwner, rename_all = "camelCase")]
pub(super) struct NewSellerOwnerBody {
    #[schema(min_length = 1, max_length = 256)]
    name: String,
    #[schema(format = Email, max_length = 254)]
    email: String,
    #[schema(min_length = 1, max_length = 30)]
    phone_number: String,
    /// `YYYY-MM-DD`; `DD-MM-YYYY` is read too.
    #[schema(value_type = String, format = Date)]
    birthdate: String,
    document: DocumentBody,
    address: NewSellerAddressBody,
    /// Income in a month.
    #[schema(minimum = 0)]
    monthly_income: Option<f64>,
    #[schema(max_length = 255)]
    professional_occupation: Option<String>,
    /// Whether the person may act for the company.
    is_business_representative: Option<bool>,
    /// Revenue in a year.
    #[schema(minimum = 0)]
    annual_revenue: Option<f64>,
    #[schema(max_length = 255)]
    business_category: Option<String>,
}

/// A company.
#[derive(ToSchema)]
#[schema(as = NewSellerBusiness, rename_all = "camelCase")]
pub(super) struct NewSellerBusinessBody {
    #[schema(min_length = 1, max_length = 256)]
    name: String,
    #[schema(min_length = 1, max_length = 30)]
    phone_number: String,
    #[schema(format = Email, max_length = 254)]
    email: String,
    /// The registered name.
    #[schema(max_length = 256)]
    corporate_reason: Option<String>,
    #[schema(max_length = 2048)]
    website: Option<String>,
    #[schema(max_length = 2048)]
    description: Option<String>,
    #[schema(max_length = 2048)]
    facebook: Option<String>,
    #[schema(max_length = 2048)]
    twitter: Option<String>,
    #[schema(value_type = Option<String>, format = Date)]
    opening_date: Option<String>,
    /// Revenue in a year.
    #[schema(minimum = 0)]
    annual_revenue: Option<f64>,
    address: NewSellerAddressBody,
    document: DocumentBody,
}

/// A complete address.
#[derive(ToSchema)]
#[schema(as = NewSellerAddress, rename_all = "camelCase")]
pub(super) struct NewSellerAddressBody {
    #[schema(min_length = 1, max_length = 255)]
    street: String,
    #[schema(min_length = 1, max_length = 255)]
    street_number: String,
    #[schema(min_length = 1, max_length = 255)]
    zip_code: String,
    #[schema(value_type = words::Country)]
    country: String,
    #[schema(min_length = 1, max_length = 255)]
    state: String,
    #[schema(min_length = 1, max_length = 255)]
    city: String,
    #[schema(min_length = 1, max_length = 255)]
    district: String,
    #[schema(max_length = 255)]
    complement: Option<String>,
    /// What it is close to; answers do not show it.
    #[schema(max_length = 255)]
    reference_point: Option<String>,
}

/// A bank account; `bank` or `ispb` is needed.
#[derive(ToSchema)]
#[schema(as = NewSellerBankAccount, rename_all = "camelCase")]
pub(super) struct NewSellerBankAccountBody {
    #[schema(min_length = 1, max_length = 256)]
    holder_name: String,
    #[schema(min_length = 1, max_length = 40)]
    holder_document: String,
    /// Who holds it; read as `holderType` too.
    #[schema(rename = "holdeType", value_type = Option<words::SellerHolderType>)]
    holder_type: Option<String>,
    /// COMPE code.
    #[schema(pattern = "^[0-9]{3}$")]
    bank: Option<String>,
    /// ISPB; wins over `bank`.
    #[schema(pattern = "^[0-9]{8}$")]
    ispb: Option<String>,
    #[schema(min_length = 1, max_length = 255)]
    branch_number: String,
    #[schema(max_length = 255)]
    branch_check_digit: Option<String>,
    #[schema(min_length = 1, max_length = 255)]
    account_number: String,
    #[schema(max_length = 255)]
    account_check_digit: Option<String>,
    #[schema(max_length = 255)]
    pix_key: Option<String>,
    #[schema(rename = "type", value_type = words::SellerAccountType)]
    kind: String,
}

/// When the money of a seller is transferred.
#[derive(ToSchema)]
#[schema(as = NewTransferPolicy, rename_all = "camelCase")]
pub(super) struct NewTransferPolicyBody {
    transfer_day: Option<TransferDaySchema>,
    transfer_enabled: Option<bool>,
    #[schema(value_type = Option<words::SellerTransferInterval>)]
    transfer_interval: Option<String>,
    automatic_anticipation_enabled: Option<bool>,
    #[schema(max_length = 255)]
    anticipatable_volume_percentage: Option<String>,
    #[schema(max_length = 255)]
    automatic_anticipation_type: Option<String>,
    #[schema(max_length = 255)]
    automatic_anticipation_days: Option<String>,
    #[schema(max_length = 255, rename = "automaticAnticipation1025Delay")]
    automatic_anticipation_delay: Option<String>,
}

/// An agreement on fees.
#[derive(ToSchema)]
#[schema(as = RateAgreement, rename_all = "camelCase")]
pub(super) struct RateAgreementBody {
    /// `GlobalRate` or `FeePaymentMethod`.
    #[schema(rename = "type", pattern = "^(GlobalRate|FeePaymentMethod)$")]
    kind: Option<String>,
    #[schema(minimum = 0, maximum = 100)]
    percent: Option<f64>,
    /// Fixed fee in cents.
    #[schema(minimum = 0)]
    fee: f64,
    #[schema(value_type = Option<Vec<Object>>, max_items = 100)]
    merchant_discount_rates: Option<Vec<Value>>,
}

/// Changes of a seller; what is absent stays, objects are merged field by field, and null removes a field.
#[derive(ToSchema)]
#[schema(as = SellerChanges, rename_all = "camelCase",
    example = json!({ "bankAccount": { "bank": null, "ispb": "60746948" } }))]
pub(super) struct SellerChangesBody {
    /// Only the seller's own merchant.
    merchant_id: Option<Uuid>,
    mcc: Option<MccBody>,
    #[schema(value_type = Option<Object>)]
    owner: Option<Value>,
    #[schema(value_type = Option<Object>)]
    business: Option<Value>,
    #[schema(value_type = Option<Object>)]
    bank_account: Option<Value>,
    #[schema(value_type = Option<Object>)]
    transfer_policy: Option<Value>,
    #[schema(max_items = 100)]
    rate_agreements: Option<Vec<RateAgreementBody>>,
    #[schema(max_items = 20)]
    document_ids: Option<Vec<Uuid>>,
    plan_id: Option<Uuid>,
    #[schema(max_length = 255)]
    sales_plan_id: Option<String>,
    #[schema(max_items = 100)]
    metadata: Option<Vec<SellerMetadataSchema>>,
    processing_fee: Option<bool>,
    liable: Option<bool>,
    #[schema(minimum = 0, maximum = 100)]
    fare_mdr: Option<f64>,
    #[schema(minimum = 0)]
    fare_fee: Option<f64>,
    min_negative_balance: Option<f64>,
    #[schema(minimum = 0)]
    max_refund_days: Option<f64>,
    create_async: Option<bool>,
    /// `active` or `inactive`; only providers bring a seller into the others.
    #[schema(value_type = Option<words::SellerStatus>)]
    status: Option<String>,
    #[schema(max_length = 2048)]
    status_reason: Option<String>,
    #[schema(value_type = Option<words::SellerReasonType>)]
    reason_type: Option<String>,
}

/// Which merchant's seller is deleted.
#[derive(ToSchema)]
#[schema(as = DeleteSeller, rename_all = "camelCase",
    example = json!({ "merchantId": "b1612460-0fef-447d-9590-97825cf60cf6" }))]
pub(super) struct DeleteSellerBody {
    /// The seller's merchant.
    merchant_id: Uuid,
}

/// What an event of a seller tells.
#[derive(ToSchema)]
#[schema(as = SellerNews)]
pub struct SellerNewsSchema {
    /// The provider whose answer led to it, or else the first one; null without any.
    #[schema(required = true)]
    origin: Option<SellerOriginSchema>,
    /// The seller. Its data are as of the moment of sending.
    seller: ListedSellerSchema,
}

/// A provider of a seller.
#[derive(ToSchema)]
#[schema(as = SellerOrigin, rename_all = "camelCase")]
pub(super) struct SellerOriginSchema {
    #[schema(value_type = words::ProviderType)]
    provider: String,
    provider_id: Uuid,
    /// Where the seller stands there.
    #[schema(value_type = words::SellerLinkStatus)]
    status: String,
}
