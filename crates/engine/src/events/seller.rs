//! A seller as answers and events show it (`docs/interface/sellers.md#record`), and the content of its events.

use regente_domain::customer::Document;
use regente_domain::provider_type::ProviderType;
use regente_domain::seller::data::{
    Address, BankAccount, Business, Mark, Marks, Owner, SellerData, TransferPolicy,
};
use regente_domain::seller::{Link, LinkStatus, Seller};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::mask_texts;

/// How many of its providers a seller is shown with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Providers {
    /// The first one, as an object: answers about one seller.
    First,
    /// All of them, as an array: lists and events.
    All,
}

/// A seller. Without its data, which a deleted one has lost, what is personal is null.
pub fn view(seller: &Seller, private: Option<(&SellerData, &Marks)>, providers: Providers) -> Value {
    let links: Vec<Value> = seller.links.iter().map(link).collect();
    let providers = match providers {
        Providers::First => links.into_iter().next().unwrap_or(Value::Null),
        Providers::All => Value::Array(links),
    };
    let mut view = json!({
        "id": seller.id,
        "providers": providers,
        "merchantId": seller.merchant_id,
        "clientid": seller.client_id,
        "clientId": seller.client_id,
        "metadata": private.and_then(|(data, _)| data.metadata.as_ref()),
        "owner": private.map(|(data, marks)| owner(&data.owner, marks)),
        "business": private.and_then(|(data, marks)| Some(business(data.business.as_ref()?, marks))),
        "bankAccount": private.map(|(data, marks)| bank_account(&data.bank_account, marks)),
        "transferPolicy":
            private.and_then(|(data, marks)| Some(transfer_policy(data.transfer_policy.as_ref()?, marks))),
        "mcc": private.and_then(|(data, _)| data.mcc.digits().parse::<u16>().ok()),
        "status": seller.status(),
        "createdAt": seller.id.created_at(),
        "updatedAt": seller.updated_at,
        "planId": private.and_then(|(data, _)| data.plan_id),
    });
    let data = private.map(|(data, _)| data);
    let set = [
        ("salesPlanId", private.and_then(|(data, _)| data.sales_plan_id.as_ref()).map(|id| json!(id))),
        ("processingFee", data.and_then(|data| data.processing_fee).map(Value::from)),
        ("liable", data.and_then(|data| data.liable).map(Value::from)),
        ("fareMdr", data.and_then(|data| data.fare_mdr.clone()).map(Value::from)),
        ("fareFee", data.and_then(|data| data.fare_fee.clone()).map(Value::from)),
        ("statusReason", seller.status_reason.clone().map(Value::from)),
        ("reasonType", seller.reason_type.map(|kind| json!(kind))),
    ];
    add(&mut view, set);
    view
}

fn link(link: &Link) -> Value {
    json!({
        "id": link.provider_id,
        "providerType": link.provider_type.shown(),
        "externalId": link.external_id,
        "externalStatus": link.external_status,
        "externalStatusReason": link.external_status_reason,
        "status": link.status,
        "createdAt": link.created_at,
        "updatedAt": link.updated_at,
    })
}

fn owner(owner: &Owner, marks: &Marks) -> Value {
    let mut view = marked(marks.owner);
    add(
        &mut view,
        [
            ("name", Some(json!(owner.name))),
            ("email", Some(json!(owner.email))),
            ("phoneNumber", Some(json!(owner.phone_number))),
            ("birthdate", Some(json!(format!("{}T00:00:00.000Z", owner.birthdate)))),
            ("annualRevenue", owner.annual_revenue.clone().map(Value::from)),
            ("businessCategory", owner.business_category.clone().map(Value::from)),
            ("monthlyIncome", owner.monthly_income.clone().map(Value::from)),
            ("professionalOccupation", owner.professional_occupation.clone().map(Value::from)),
            ("isBusinessRepresentative", owner.is_business_representative.map(Value::from)),
            ("address", Some(address(&owner.address, marks.owner_address))),
            ("document", Some(document(&owner.document, marks.owner_document))),
        ],
    );
    view
}

fn business(business: &Business, marks: &Marks) -> Value {
    let mut view = marked(marks.business);
    add(
        &mut view,
        [
            ("name", Some(json!(business.name))),
            ("phoneNumber", Some(json!(business.phone_number))),
            ("email", Some(json!(business.email))),
            ("website", Some(json!(business.website))),
            ("description", Some(json!(business.description))),
            ("facebook", Some(json!(business.facebook))),
            ("twitter", Some(json!(business.twitter))),
            ("openingDate", Some(json!(business.opening_date))),
            ("corporateReason", business.corporate_reason.clone().map(Value::from)),
            ("annualRevenue", business.annual_revenue.clone().map(Value::from)),
            ("address", Some(address(&business.address, marks.business_address))),
            ("document", Some(document(&business.document, marks.business_document))),
        ],
    );
    view
}

fn bank_account(account: &BankAccount, marks: &Marks) -> Value {
    let mut view = marked(marks.bank_account);
    add(
        &mut view,
        [
            ("holderName", Some(json!(account.holder_name))),
            ("holderDocument", Some(json!(account.holder_document))),
            ("bank", Some(json!(account.bank))),
            ("ispb", Some(json!(account.ispb))),
            ("branchNumber", Some(json!(account.branch_number))),
            ("branchCheckDigit", Some(json!(account.branch_check_digit))),
            ("accountNumber", Some(json!(account.account_number))),
            ("accountCheckDigit", Some(json!(account.account_check_digit))),
            ("type", Some(json!(account.kind))),
        ],
    );
    view
}

fn transfer_policy(policy: &TransferPolicy, marks: &Marks) -> Value {
    let mut view = marked(marks.transfer_policy);
    add(
        &mut view,
        [
            ("transferDay", Some(json!(policy.transfer_day))),
            ("transferEnabled", Some(json!(policy.transfer_enabled))),
            ("transferInterval", Some(json!(policy.transfer_interval))),
            ("automaticAnticipationEnabled", Some(json!(policy.automatic_anticipation_enabled))),
            ("anticipatableVolumePercentage", Some(json!(policy.anticipatable_volume_percentage))),
            ("automaticAnticipationType", Some(json!(policy.automatic_anticipation_type))),
            ("automaticAnticipationDays", Some(json!(policy.automatic_anticipation_days))),
            ("automaticAnticipation1025Delay", Some(json!(policy.automatic_anticipation_delay))),
        ],
    );
    view
}

fn address(address: &Address, mark: Option<Mark>) -> Value {
    let mut view = marked(mark);
    add(
        &mut view,
        [
            ("country", Some(json!(address.country))),
            ("street", Some(json!(address.street))),
            ("streetNumber", Some(json!(address.street_number))),
            ("complement", Some(json!(address.complement))),
            ("zipCode", Some(json!(address.zip_code))),
            ("state", Some(json!(address.state))),
            ("city", Some(json!(address.city))),
            ("district", Some(json!(address.district))),
        ],
    );
    view
}

fn document(document: &Document, mark: Option<Mark>) -> Value {
    let mut view = marked(mark);
    add(
        &mut view,
        [
            ("type", Some(json!(document.kind))),
            ("number", Some(json!(document.number))),
            ("country", Some(json!(document.country))),
        ],
    );
    view
}

fn marked(mark: Option<Mark>) -> Value {
    mark.map_or_else(
        || Value::Object(Map::new()),
        |mark| json!({ "id": mark.id, "createdAt": mark.created_at, "updatedAt": mark.updated_at }),
    )
}

/// Adds the members that have a value.
fn add<const N: usize>(view: &mut Value, members: [(&str, Option<Value>); N]) {
    for (name, value) in members {
        if let Some(value) = value {
            view[name] = value;
        }
    }
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
    pub fn data(&self, private: Option<(&SellerData, &Marks)>) -> Value {
        let origin = self.origin.as_ref().map(|origin| {
            let Origin { provider, provider_id, status } = origin;
            json!({ "provider": provider.shown(), "providerId": provider_id, "status": status })
        });
        let mut seller = view(&self.seller, private, Providers::All);
        for name in ["metadata", "owner", "business", "bankAccount", "salesPlanId", "statusReason"] {
            if let Some(value) = seller.get_mut(name) {
                mask_texts(value);
            }
        }
        json!({ "origin": origin, "seller": seller })
    }
}
