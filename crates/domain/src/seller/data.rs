//! What a client has said of a seller, with the member names of the interface. All of it is personal, or belongs to
//! somebody's bank; it is stored as one sealed value.

mod agreement;
mod transfers;

use deserr::Deserr;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;
use uuid::Uuid;

pub use agreement::{
    AgreementType, ArrangementBrand, ArrangementProduct, DiscountRate, DiscountRates, PaymentArrangement,
    RateAgreement,
};
use transfers::SentTransferPolicy;
pub use transfers::{TransferDay, TransferInterval, TransferPolicy};

use crate::country::Country;
use crate::customer::Document;
use crate::id::PlanId;
use crate::mcc::Mcc;
use crate::percentage::{Percent, Percentage};
use crate::problems::Problems;
use crate::seller::Transfers;
use crate::split::{Bears, FareFee, Fee};
use crate::time::Timestamp;
use crate::wire::{
    AsSent, Decimal, Digits, EmailAddress, Json, List, NOT_A_DATE, OfMember, Rule, Text, Verbatim, day,
};
use crate::words::words;

/// An amount, or another number that callers send.
pub type Sum = Decimal<0, SUM_MAX>;
/// An amount that may be owed.
pub type Balance = Decimal<{ -SUM_MAX }, SUM_MAX>;

/// Agreements on fees, as sent.
pub type RateAgreements = List<AsSent<RateAgreement>, 0, 100>;
/// Free entries.
pub type Metadata = List<MetadataEntry, 0, 100>;

/// The largest number, in hundredths, that callers send.
const SUM_MAX: i64 = 100_000_000_000_000;

/// The data of a seller.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
pub struct SellerData {
    /// The category code at the acquirer.
    pub mcc: Mcc,
    /// The person; of a company, who stands for it.
    pub owner: Owner,
    /// The company.
    #[deserr(default)]
    pub business: Option<Business>,
    /// Where its money goes.
    pub bank_account: BankAccount,
    /// When its money goes there.
    #[deserr(default, from(Option<SentTransferPolicy>) = policy_of)]
    pub transfer_policy: Option<TransferPolicy>,
    /// Agreements on fees, as sent.
    #[deserr(default)]
    pub rate_agreements: Option<RateAgreements>,
    /// The sales plan of the platform's own provider: an active one. Without it the default plan counts.
    #[deserr(default)]
    pub plan_id: Option<PlanId>,
    /// The sales plan at a provider.
    #[deserr(default)]
    pub sales_plan_id: Option<Verbatim<0, 255>>,
    /// Free entries, as sent.
    #[deserr(default)]
    pub metadata: Option<Metadata>,
    /// Whether the seller bears processing fees.
    #[deserr(default)]
    pub processing_fee: Option<bool>,
    /// Whether the seller bears chargebacks.
    #[deserr(default)]
    pub liable: Option<bool>,
    /// Its MDR in percent.
    #[deserr(default)]
    pub fare_mdr: Option<Percent>,
    /// Its fixed fee in cents.
    #[deserr(default)]
    pub fare_fee: Option<Fee>,
    /// The lowest balance that it may have.
    #[deserr(default)]
    pub min_negative_balance: Option<Balance>,
    /// For how many days its charges may be refunded.
    #[deserr(default)]
    pub max_refund_days: Option<Sum>,
}

/// A person.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSellerOwner)]
pub struct Owner {
    /// Name.
    pub name: Text<1, 256>,
    /// E-mail address.
    pub email: EmailAddress,
    /// Phone number.
    pub phone_number: Verbatim<1, 30>,
    /// Date of birth: `YYYY-MM-DD`; `DD-MM-YYYY` is read too.
    #[deserr(try_from(Verbatim<0, 255>) = parse_birthdate -> Rule)]
    pub birthdate: Date,
    /// Document.
    #[deserr(try_from(Document) = that_exists -> OfMember)]
    pub document: Document,
    /// Home address.
    pub address: Address,
    /// Income in a month.
    #[deserr(default)]
    pub monthly_income: Option<Sum>,
    /// Occupation.
    #[deserr(default)]
    pub professional_occupation: Option<Text<0, 255>>,
    /// Whether the person may act for the company.
    #[deserr(default)]
    pub is_business_representative: Option<bool>,
    /// Revenue in a year.
    #[deserr(default)]
    pub annual_revenue: Option<Sum>,
    /// What the person trades with.
    #[deserr(default)]
    pub business_category: Option<Text<0, 255>>,
}

/// A company.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSellerBusiness)]
pub struct Business {
    /// The name that customers know.
    pub name: Text<1, 256>,
    /// Phone number.
    pub phone_number: Verbatim<1, 30>,
    /// E-mail address.
    pub email: EmailAddress,
    /// The registered name.
    #[deserr(default)]
    pub corporate_reason: Option<Text<0, 256>>,
    /// Address of its web site.
    #[deserr(default)]
    pub website: Option<Text<0, 2048>>,
    /// What it does.
    #[deserr(default)]
    pub description: Option<Text<0, 2048>>,
    /// Its page there.
    #[deserr(default)]
    pub facebook: Option<Text<0, 2048>>,
    /// Its page there.
    #[deserr(default)]
    pub twitter: Option<Text<0, 2048>>,
    /// Since when it exists.
    #[deserr(default)]
    pub opening_date: Option<Date>,
    /// Revenue in a year.
    #[deserr(default)]
    pub annual_revenue: Option<Sum>,
    /// Address.
    pub address: Address,
    /// Document.
    #[deserr(try_from(Document) = that_exists -> OfMember)]
    pub document: Document,
}

/// A complete address.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSellerAddress)]
pub struct Address {
    /// Country.
    pub country: Country,
    /// Street.
    pub street: Text<1, 255>,
    /// Number in the street.
    pub street_number: Text<1, 255>,
    /// Apartment, floor and the like.
    #[deserr(default)]
    pub complement: Option<Text<0, 255>>,
    /// What it is close to.
    #[deserr(default)]
    pub reference_point: Option<Text<0, 255>>,
    /// Postal code.
    pub zip_code: Text<1, 255>,
    /// State or province.
    pub state: Text<1, 255>,
    /// City.
    pub city: Text<1, 255>,
    /// District.
    pub district: Text<1, 255>,
}

/// A bank account. Its bank has a COMPE code or an ISPB, or both.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(as = NewSellerBankAccount)]
pub struct BankAccount {
    /// Who holds it.
    pub holder_name: Text<1, 256>,
    /// Number of the holder's document.
    pub holder_document: Verbatim<1, 40>,
    /// Whether a person or a company holds it; misspelt on the wire.
    #[serde(rename = "holdeType")]
    #[deserr(rename = "holdeType", default)]
    pub holder_type: Option<HolderType>,
    /// COMPE code.
    #[deserr(default)]
    pub bank: Option<Digits<3>>,
    /// ISPB; wins over the COMPE code.
    #[deserr(default)]
    pub ispb: Option<Digits<8>>,
    /// Branch.
    pub branch_number: Verbatim<1, 255>,
    /// Check digit of the branch.
    #[deserr(default)]
    pub branch_check_digit: Option<Text<0, 255>>,
    /// Account.
    pub account_number: Verbatim<1, 255>,
    /// Check digit of the account.
    #[deserr(default)]
    pub account_check_digit: Option<Text<0, 255>>,
    /// Pix key.
    #[deserr(default)]
    pub pix_key: Option<Verbatim<0, 255>>,
    /// Kind of account.
    #[serde(rename = "type")]
    #[deserr(rename = "type")]
    pub kind: AccountType,
}

words! {
    /// Who holds a bank account.
    #[schema(as = SellerHolderType)]
    HolderType {
        /// A person.
        Individual = "individual",
        /// A company.
        Company = "company",
    }
}

words! {
    /// The kind of a bank account.
    #[schema(as = SellerAccountType)]
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

/// A free entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[deserr(error = Problems)]
#[schema(as = SellerMetadata)]
pub struct MetadataEntry {
    /// Its name.
    pub key: Text<1, 255>,
    /// Its value.
    pub value: Json<4096>,
}

/// `YYYY-MM-DD`, `DD-MM-YYYY` as old integrations send it, or the midnight that answers show.
fn parse_birthdate(text: Verbatim<0, 255>) -> Result<Date, Rule> {
    let text = text.strip_suffix("T00:00:00.000Z").unwrap_or(&text);
    let parts: Vec<&str> = text.split('-').collect();
    let parsed = match parts.as_slice() {
        [of_month, month, year] if year.len() == 4 => day(&format!("{year}-{month}-{of_month}")),
        _ => day(text),
    };
    parsed.ok_or(Rule::Borrowed(NOT_A_DATE))
}

fn policy_of(sent: Option<SentTransferPolicy>) -> Option<TransferPolicy> {
    sent.map(|SentTransferPolicy(policy)| policy)
}

/// A seller has a document.
fn that_exists(document: Document) -> Result<Document, OfMember> {
    if document.is_absent() {
        return Err(OfMember("type", "must be that of a document".into()));
    }
    Ok(document)
}

impl SellerData {
    /// The document that the seller is registered under: that of the company, else that of the person.
    pub fn document(&self) -> &Document {
        self.business.as_ref().map_or(&self.owner.document, |business| &business.document)
    }

    /// Whether the seller's money is transferred to it: unless it says otherwise.
    pub fn transfers(&self) -> Transfers {
        match self.transfer_policy.as_ref().and_then(|policy| policy.transfer_enabled) {
            Some(false) => Transfers::Held,
            Some(true) | None => Transfers::Made,
        }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SellerPart)]
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
