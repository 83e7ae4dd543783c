//! What a client has said of a seller, with the member names of the interface. All of it is personal, or belongs to
//! somebody's bank; it is stored as one sealed value.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use uuid::Uuid;

use crate::country::Country;
use crate::customer::Document;
use crate::mcc::Mcc;
use crate::percentage::Percentage;
use crate::split::{Bears, FareFee};
use crate::time::Timestamp;
use crate::words::words;

/// The data of a seller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SellerData {
    /// The category code at the acquirer.
    pub mcc: Mcc,
    /// The person; of a company, who stands for it.
    pub owner: Owner,
    /// The company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub business: Option<Business>,
    /// Where its money goes.
    pub bank_account: BankAccount,
    /// When its money goes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_policy: Option<TransferPolicy>,
    /// Agreements on fees, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_agreements: Option<Vec<Value>>,
    /// The sales plan of the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<Uuid>,
    /// The sales plan at a provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sales_plan_id: Option<String>,
    /// Free entries, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Vec<MetadataEntry>>,
    /// Whether the seller bears processing fees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processing_fee: Option<bool>,
    /// Whether the seller bears chargebacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liable: Option<bool>,
    /// Its MDR in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fare_mdr: Option<Number>,
    /// Its fixed fee in cents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fare_fee: Option<Number>,
    /// The lowest balance that it may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_negative_balance: Option<Number>,
    /// For how many days its charges may be refunded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_refund_days: Option<Number>,
}

/// A person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// Name.
    pub name: String,
    /// E-mail address.
    pub email: String,
    /// Phone number.
    pub phone_number: String,
    /// Date of birth.
    pub birthdate: Date,
    /// Document.
    pub document: Document,
    /// Home address.
    pub address: Address,
    /// Income in a month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_income: Option<Number>,
    /// Occupation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub professional_occupation: Option<String>,
    /// Whether the person may act for the company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_business_representative: Option<bool>,
    /// Revenue in a year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annual_revenue: Option<Number>,
    /// What the person trades with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub business_category: Option<String>,
}

/// A company.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Business {
    /// The name that customers know.
    pub name: String,
    /// Phone number.
    pub phone_number: String,
    /// E-mail address.
    pub email: String,
    /// The registered name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corporate_reason: Option<String>,
    /// Address of its web site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its page there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facebook: Option<String>,
    /// Its page there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twitter: Option<String>,
    /// Since when it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_date: Option<Date>,
    /// Revenue in a year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annual_revenue: Option<Number>,
    /// Address.
    pub address: Address,
    /// Document.
    pub document: Document,
}

/// A complete address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// Country.
    pub country: Country,
    /// Street.
    pub street: String,
    /// Number in the street.
    pub street_number: String,
    /// Apartment, floor and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complement: Option<String>,
    /// What it is close to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_point: Option<String>,
    /// Postal code.
    pub zip_code: String,
    /// State or province.
    pub state: String,
    /// City.
    pub city: String,
    /// District.
    pub district: String,
}

/// A bank account. Its bank has a COMPE code or an ISPB, or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BankAccount {
    /// Who holds it.
    pub holder_name: String,
    /// Number of the holder's document.
    pub holder_document: String,
    /// Whether a person or a company holds it; misspelt on the wire.
    #[serde(default, rename = "holdeType", skip_serializing_if = "Option::is_none")]
    pub holder_type: Option<HolderType>,
    /// COMPE code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank: Option<String>,
    /// ISPB; wins over the COMPE code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ispb: Option<String>,
    /// Branch.
    pub branch_number: String,
    /// Check digit of the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_check_digit: Option<String>,
    /// Account.
    pub account_number: String,
    /// Check digit of the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_check_digit: Option<String>,
    /// Pix key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pix_key: Option<String>,
    /// Kind of account.
    #[serde(rename = "type")]
    pub kind: AccountType,
}

words! {
    /// `bankAccount.holdeType`.
    HolderType {
        /// A person.
        Individual = "individual",
        /// A company.
        Company = "company",
    }
}

words! {
    /// `bankAccount.type`.
    AccountType {
        /// Of one holder.
        Checking = "conta_corrente",
        /// Savings of one holder.
        Savings = "conta_poupanca",
        /// Of several holders.
        JointChecking = "conta_corrente_conjunta",
        /// Savings of several holders.
        JointSavings = "conta_poupanca_conjunta",
    }
}

words! {
    /// `transferPolicy.transferInterval`.
    TransferInterval {
        /// Each day.
        Daily = "daily",
        /// Each week.
        Weekly = "weekly",
        /// Each month.
        Monthly = "monthly",
    }
}

/// When a seller's money is transferred.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferPolicy {
    /// The day within the interval: an integer or its text, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_day: Option<Value>,
    /// Whether transfers are made by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_enabled: Option<bool>,
    /// How often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_interval: Option<TransferInterval>,
    /// Whether receivables are anticipated by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic_anticipation_enabled: Option<bool>,
    /// How much of them, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anticipatable_volume_percentage: Option<String>,
    /// How, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic_anticipation_type: Option<String>,
    /// On which days, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automatic_anticipation_days: Option<String>,
    /// With which delay, as sent.
    #[serde(default, rename = "automaticAnticipation1025Delay", skip_serializing_if = "Option::is_none")]
    pub automatic_anticipation_delay: Option<String>,
}

/// A free entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataEntry {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Value,
}

impl SellerData {
    /// The document that the seller is registered under: that of the company, else that of the person.
    pub fn document(&self) -> &Document {
        self.business.as_ref().map_or(&self.owner.document, |business| &business.document)
    }

    /// What rules of a split take from the seller.
    pub fn bears(&self) -> Bears {
        Bears {
            processing_fee: self.processing_fee,
            liable: self.liable,
            fare_mdr: self.fare_mdr.as_ref().and_then(|mdr| Percentage::parse(&mdr.to_string())),
            fare_fee: self.fare_fee.as_ref().and_then(|fee| FareFee::parse(&fee.to_string())),
            ..Bears::default()
        }
    }
}

/// Id and times of a part of a seller that answers show as a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// Its id.
    pub id: Uuid,
    /// When it was first given.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

/// The marks of the parts of a seller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Marks {
    /// Of `owner`.
    pub owner: Option<Mark>,
    /// Of `owner.address`.
    pub owner_address: Option<Mark>,
    /// Of `owner.document`.
    pub owner_document: Option<Mark>,
    /// Of `business`.
    pub business: Option<Mark>,
    /// Of `business.address`.
    pub business_address: Option<Mark>,
    /// Of `business.document`.
    pub business_document: Option<Mark>,
    /// Of `bankAccount`.
    pub bank_account: Option<Mark>,
    /// Of `transferPolicy`.
    pub transfer_policy: Option<Mark>,
}

impl Marks {
    /// The marks after the data became `after`. `before` is absent for a new seller; `new_id` makes ids.
    #[must_use]
    pub fn of(
        &self,
        before: Option<&SellerData>,
        after: &SellerData,
        now: Timestamp,
        mut new_id: impl FnMut() -> Uuid,
    ) -> Self {
        let mut mark = Marking { now, new_id: &mut new_id };
        let owner = before.map(|before| &before.owner);
        let business = before.and_then(|before| before.business.as_ref());
        let new_business = after.business.as_ref();
        Self {
            bank_account: mark.part(
                self.bank_account,
                before.map(|before| &before.bank_account),
                Some(&after.bank_account),
            ),
            transfer_policy: mark.part(
                self.transfer_policy,
                before.and_then(|before| before.transfer_policy.as_ref()),
                after.transfer_policy.as_ref(),
            ),
            business: mark.part(self.business, business, new_business),
            business_address: mark.part(
                self.business_address,
                business.map(|known| &known.address),
                new_business.map(|new| &new.address),
            ),
            business_document: mark.part(
                self.business_document,
                business.map(|known| &known.document),
                new_business.map(|new| &new.document),
            ),
            owner: mark.part(self.owner, owner, Some(&after.owner)),
            owner_address: mark.part(
                self.owner_address,
                owner.map(|known| &known.address),
                Some(&after.owner.address),
            ),
            owner_document: mark.part(
                self.owner_document,
                owner.map(|known| &known.document),
                Some(&after.owner.document),
            ),
        }
    }
}

struct Marking<'a, NewId> {
    now: Timestamp,
    new_id: &'a mut NewId,
}

impl<NewId: FnMut() -> Uuid> Marking<'_, NewId> {
    fn part<T: PartialEq>(
        &mut self,
        known: Option<Mark>,
        before: Option<&T>,
        after: Option<&T>,
    ) -> Option<Mark> {
        after?;
        Some(match known {
            None => Mark { id: (self.new_id)(), created_at: self.now, updated_at: self.now },
            Some(known) if before == after => known,
            Some(known) => Mark { updated_at: self.now.max(known.updated_at), ..known },
        })
    }
}
