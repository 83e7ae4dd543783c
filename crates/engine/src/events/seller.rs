//! A seller as answers and events show it (`docs/interface/sellers.md#record`), and the content of its events.

use jiff::civil::Date;
use regente_domain::country::Country;
use regente_domain::customer::Document;
use regente_domain::id::{ClientId, MerchantId, PlanId, ProviderId, SellerId};
use regente_domain::provider_type::{ProviderType, ShownProviderType};
use regente_domain::seller::data::{
    AccountType, Address, BankAccount, Business, Mark, Marks, Metadata, Owner, SellerData, TransferDay,
    TransferInterval, TransferPolicy,
};
use regente_domain::seller::{Link, LinkStatus, ReasonType, Seller, SellerStatus};
use regente_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::mask_texts;

/// A seller.
#[derive(Serialize, ToSchema)]
#[schema(as = Seller)]
pub struct SellerView<'a> {
    id: SellerId,
    /// The first of its providers; null when its merchant has none that splits payments.
    #[schema(required = true)]
    providers: Option<LinkView<'a>>,
    #[serde(flatten)]
    seller: Members<'a>,
}

/// A seller in lists and events.
#[derive(Serialize, ToSchema)]
#[schema(as = ListedSeller)]
pub struct ListedSellerView<'a> {
    id: SellerId,
    /// Its providers.
    providers: Vec<LinkView<'a>>,
    #[serde(flatten)]
    seller: Members<'a>,
}

/// What both show. Without its data, which a deleted one has lost, what is personal is null.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerMembers)]
struct Members<'a> {
    /// The merchant whose providers have it.
    merchant_id: MerchantId,
    /// The account, spelled in lower case.
    clientid: ClientId,
    /// The account.
    client_id: ClientId,
    /// As sent; null when nothing was.
    #[schema(required = true)]
    metadata: Option<&'a Metadata>,
    /// The person; of a company, who stands for it. Null in events of a seller that was deleted since.
    #[schema(required = true)]
    owner: Option<OwnerView<'a>>,
    /// The company; null for a person.
    #[schema(required = true)]
    business: Option<BusinessView<'a>>,
    /// Where its money goes.
    #[schema(required = true)]
    bank_account: Option<BankAccountView<'a>>,
    /// When its money goes there.
    #[schema(required = true)]
    transfer_policy: Option<TransferPolicyView<'a>>,
    /// The category code at the acquirer.
    #[schema(required = true)]
    mcc: Option<u16>,
    status: SellerStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// The sales plan that it is linked to; without one the default plan counts.
    #[schema(required = true)]
    plan_id: Option<PlanId>,
    /// The sales plan at a provider, when set.
    #[serde(skip_serializing_if = "Option::is_none")]
    sales_plan_id: Option<&'a str>,
    /// Whether it bears processing fees, when set.
    #[serde(skip_serializing_if = "Option::is_none")]
    processing_fee: Option<bool>,
    /// Whether it bears chargebacks, when set.
    #[serde(skip_serializing_if = "Option::is_none")]
    liable: Option<bool>,
    /// Its MDR in percent, when set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    fare_mdr: Option<&'a Number>,
    /// Its fixed fee in cents, when set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    fare_fee: Option<&'a Number>,
    /// Why its status was set by hand, when said.
    #[serde(skip_serializing_if = "Option::is_none")]
    status_reason: Option<&'a str>,
    /// The kind of that reason, when said.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason_type: Option<ReasonType>,
}

impl<'a> SellerView<'a> {
    /// A seller with its data.
    pub fn of(seller: &'a Seller, data: &'a SellerData, marks: &Marks) -> Self {
        let providers = seller.links.first().map(LinkView::of);
        Self { id: seller.id, providers, seller: Members::of(seller, Some((data, marks))) }
    }
}

impl<'a> ListedSellerView<'a> {
    /// A seller, with its data unless it was deleted.
    pub fn of(seller: &'a Seller, private: Option<(&'a SellerData, &Marks)>) -> Self {
        let providers = seller.links.iter().map(LinkView::of).collect();
        Self { id: seller.id, providers, seller: Members::of(seller, private) }
    }
}

impl<'a> Members<'a> {
    fn of(seller: &'a Seller, private: Option<(&'a SellerData, &Marks)>) -> Self {
        let data = private.map(|(data, _)| data);
        Self {
            merchant_id: seller.merchant_id,
            clientid: seller.client_id,
            client_id: seller.client_id,
            metadata: data.and_then(|data| data.metadata.as_ref()),
            owner: private.map(|(data, marks)| OwnerView::of(&data.owner, marks)),
            business: private
                .and_then(|(data, marks)| Some(BusinessView::of(data.business.as_ref()?, marks))),
            bank_account: private.map(|(data, marks)| BankAccountView::of(&data.bank_account, marks)),
            transfer_policy: private.and_then(|(data, marks)| {
                Some(TransferPolicyView::of(data.transfer_policy.as_ref()?, marks))
            }),
            mcc: data.and_then(|data| data.mcc.digits().parse().ok()),
            status: seller.status(),
            created_at: seller.id.created_at(),
            updated_at: seller.updated_at,
            plan_id: data.and_then(|data| data.plan_id),
            sales_plan_id: data.and_then(|data| data.sales_plan_id.as_deref()),
            processing_fee: data.and_then(|data| data.processing_fee),
            liable: data.and_then(|data| data.liable),
            fare_mdr: data.and_then(|data| data.fare_mdr.as_deref()),
            fare_fee: data.and_then(|data| data.fare_fee.as_deref()),
            status_reason: seller.status_reason.as_deref(),
            reason_type: seller.reason_type,
        }
    }
}

/// A seller at a provider.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerProvider)]
struct LinkView<'a> {
    /// The provider.
    id: ProviderId,
    provider_type: ShownProviderType,
    /// Its id there; null until it is registered.
    #[schema(required = true)]
    external_id: Option<&'a str>,
    /// The provider's own word for the status.
    #[schema(required = true)]
    external_status: Option<&'a str>,
    /// The provider's reason for it.
    #[schema(required = true)]
    external_status_reason: Option<&'a str>,
    status: LinkStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl<'a> LinkView<'a> {
    fn of(link: &'a Link) -> Self {
        Self {
            id: link.provider_id,
            provider_type: ShownProviderType(link.provider_type),
            external_id: link.external_id.as_deref(),
            external_status: link.external_status.as_deref(),
            external_status_reason: link.external_status_reason.as_deref(),
            status: link.status,
            created_at: link.created_at,
            updated_at: link.updated_at,
        }
    }
}

/// A person.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerOwner)]
struct OwnerView<'a> {
    #[serde(flatten)]
    #[schema(value_type = Mark)]
    mark: Option<Mark>,
    name: &'a str,
    email: &'a str,
    phone_number: &'a str,
    #[schema(value_type = Timestamp)]
    birthdate: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    annual_revenue: Option<&'a Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    business_category: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    monthly_income: Option<&'a Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    professional_occupation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_business_representative: Option<bool>,
    address: AddressView<'a>,
    document: DocumentView<'a>,
}

impl<'a> OwnerView<'a> {
    fn of(owner: &'a Owner, marks: &Marks) -> Self {
        Self {
            mark: marks.owner,
            name: &owner.name,
            email: &owner.email,
            phone_number: &owner.phone_number,
            birthdate: format!("{}T00:00:00.000Z", owner.birthdate),
            annual_revenue: owner.annual_revenue.as_deref(),
            business_category: owner.business_category.as_deref(),
            monthly_income: owner.monthly_income.as_deref(),
            professional_occupation: owner.professional_occupation.as_deref(),
            is_business_representative: owner.is_business_representative,
            address: AddressView::of(&owner.address, marks.owner_address),
            document: DocumentView::of(&owner.document, marks.owner_document),
        }
    }
}

/// A company.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerBusiness)]
struct BusinessView<'a> {
    #[serde(flatten)]
    #[schema(value_type = Mark)]
    mark: Option<Mark>,
    name: &'a str,
    phone_number: &'a str,
    email: &'a str,
    #[schema(required = true)]
    website: Option<&'a str>,
    #[schema(required = true)]
    description: Option<&'a str>,
    #[schema(required = true)]
    facebook: Option<&'a str>,
    #[schema(required = true)]
    twitter: Option<&'a str>,
    #[schema(required = true)]
    opening_date: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corporate_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    annual_revenue: Option<&'a Number>,
    address: AddressView<'a>,
    document: DocumentView<'a>,
}

impl<'a> BusinessView<'a> {
    fn of(business: &'a Business, marks: &Marks) -> Self {
        Self {
            mark: marks.business,
            name: &business.name,
            phone_number: &business.phone_number,
            email: &business.email,
            website: business.website.as_deref(),
            description: business.description.as_deref(),
            facebook: business.facebook.as_deref(),
            twitter: business.twitter.as_deref(),
            opening_date: business.opening_date,
            corporate_reason: business.corporate_reason.as_deref(),
            annual_revenue: business.annual_revenue.as_deref(),
            address: AddressView::of(&business.address, marks.business_address),
            document: DocumentView::of(&business.document, marks.business_document),
        }
    }
}

/// An address of a seller.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerAddress)]
struct AddressView<'a> {
    #[serde(flatten)]
    #[schema(value_type = Mark)]
    mark: Option<Mark>,
    country: Country,
    street: &'a str,
    street_number: &'a str,
    #[schema(required = true)]
    complement: Option<&'a str>,
    zip_code: &'a str,
    state: &'a str,
    city: &'a str,
    district: &'a str,
}

impl<'a> AddressView<'a> {
    fn of(address: &'a Address, mark: Option<Mark>) -> Self {
        Self {
            mark,
            country: address.country,
            street: &address.street,
            street_number: &address.street_number,
            complement: address.complement.as_deref(),
            zip_code: &address.zip_code,
            state: &address.state,
            city: &address.city,
            district: &address.district,
        }
    }
}

/// A document of a seller.
#[derive(Serialize, ToSchema)]
#[schema(as = SellerDocument)]
struct DocumentView<'a> {
    #[serde(flatten)]
    #[schema(value_type = Mark)]
    mark: Option<Mark>,
    #[serde(rename = "type")]
    kind: &'a str,
    number: &'a str,
    country: Country,
}

impl<'a> DocumentView<'a> {
    fn of(document: &'a Document, mark: Option<Mark>) -> Self {
        Self { mark, kind: &document.kind, number: &document.number, country: document.country }
    }
}

/// The bank account of a seller.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerBankAccount)]
struct BankAccountView<'a> {
    #[serde(flatten)]
    #[schema(value_type = Mark)]
    mark: Option<Mark>,
    holder_name: &'a str,
    holder_document: &'a str,
    #[schema(required = true)]
    bank: Option<&'a str>,
    #[schema(required = true)]
    ispb: Option<&'a str>,
    branch_number: &'a str,
    #[schema(required = true)]
    branch_check_digit: Option<&'a str>,
    account_number: &'a str,
    #[schema(required = true)]
    account_check_digit: Option<&'a str>,
    #[serde(rename = "type")]
    kind: AccountType,
}

impl<'a> BankAccountView<'a> {
    fn of(account: &'a BankAccount, marks: &Marks) -> Self {
        Self {
            mark: marks.bank_account,
            holder_name: &account.holder_name,
            holder_document: &account.holder_document,
            bank: account.bank.as_deref(),
            ispb: account.ispb.as_deref(),
            branch_number: &account.branch_number,
            branch_check_digit: account.branch_check_digit.as_deref(),
            account_number: &account.account_number,
            account_check_digit: account.account_check_digit.as_deref(),
            kind: account.kind,
        }
    }
}

/// When the money of a seller is transferred.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerTransferPolicy)]
struct TransferPolicyView<'a> {
    #[serde(flatten)]
    #[schema(value_type = Mark)]
    mark: Option<Mark>,
    /// An integer or its text, as sent.
    #[schema(required = true)]
    transfer_day: Option<&'a TransferDay>,
    #[schema(required = true)]
    transfer_enabled: Option<bool>,
    #[schema(required = true)]
    transfer_interval: Option<TransferInterval>,
    #[schema(required = true)]
    automatic_anticipation_enabled: Option<bool>,
    #[schema(required = true)]
    anticipatable_volume_percentage: Option<&'a str>,
    #[schema(required = true)]
    automatic_anticipation_type: Option<&'a str>,
    #[schema(required = true)]
    automatic_anticipation_days: Option<&'a str>,
    #[serde(rename = "automaticAnticipation1025Delay")]
    #[schema(required = true)]
    automatic_anticipation_delay: Option<&'a str>,
}

impl<'a> TransferPolicyView<'a> {
    fn of(policy: &'a TransferPolicy, marks: &Marks) -> Self {
        Self {
            mark: marks.transfer_policy,
            transfer_day: policy.transfer_day.as_ref(),
            transfer_enabled: policy.transfer_enabled,
            transfer_interval: policy.transfer_interval,
            automatic_anticipation_enabled: policy.automatic_anticipation_enabled,
            anticipatable_volume_percentage: policy.anticipatable_volume_percentage.as_deref(),
            automatic_anticipation_type: policy.automatic_anticipation_type.as_deref(),
            automatic_anticipation_days: policy.automatic_anticipation_days.as_deref(),
            automatic_anticipation_delay: policy.automatic_anticipation_delay.as_deref(),
        }
    }
}

/// What an event of a seller tells.
#[derive(Serialize, ToSchema)]
#[schema(as = SellerNews)]
pub struct SellerNewsView<'a> {
    /// The provider whose answer led to it, or else the first one; null without any.
    #[schema(required = true)]
    origin: Option<OriginView>,
    /// The seller. Its data are as of the moment of sending.
    seller: ListedSellerView<'a>,
}

/// A provider of a seller.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerOrigin)]
struct OriginView {
    provider: ShownProviderType,
    provider_id: Uuid,
    /// Where the seller stands there.
    status: LinkStatus,
}

/// What an event of a seller says, as stored with it: nothing personal, and no free text. [`News::data`] and
/// [`News::takes_reasons_of`] add that when the event is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct News {
    origin: Option<Origin>,
    seller: Seller,
}

/// The provider of an event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Origin {
    provider: ProviderType,
    provider_id: Uuid,
    /// Where the seller stands there.
    status: LinkStatus,
}

impl News {
    /// Of a seller as it has become. `origin` is the link whose change led to it.
    pub fn of(seller: &Seller, origin: Option<&Link>) -> Self {
        let origin = origin.or(seller.links.first()).map(|link| Origin {
            provider: link.provider_type,
            provider_id: link.provider_id.uuid(),
            status: link.status,
        });
        Self { origin, seller: seller.without_words() }
    }

    /// Takes over the reasons that are given for its status now.
    pub fn takes_reasons_of(&mut self, seller: &Seller) {
        self.seller.take_words_of(seller);
    }

    /// The seller that it is about, as it had become.
    pub fn seller(&self) -> &Seller {
        &self.seller
    }

    /// `data` of the event.
    ///
    /// # Errors
    /// The view is no JSON.
    pub fn data(&self, private: Option<(&SellerData, &Marks)>) -> serde_json::Result<Value> {
        let origin = self.origin.as_ref().map(|origin| {
            let Origin { provider, provider_id, status } = *origin;
            OriginView { provider: ShownProviderType(provider), provider_id, status }
        });
        let seller = ListedSellerView::of(&self.seller, private);
        let mut data = serde_json::to_value(SellerNewsView { origin, seller })?;
        for name in ["metadata", "owner", "business", "bankAccount", "salesPlanId", "statusReason"] {
            if let Some(value) = data.pointer_mut(&format!("/seller/{name}")) {
                mask_texts(value);
            }
        }
        Ok(data)
    }
}
