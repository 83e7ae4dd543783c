//! Reads sellers. A change is merged into what is stored, field by field, and then read like a new seller.

use regente_domain::customer::Document;
use regente_domain::id::{MerchantId, SellerDocumentId};
use regente_domain::seller::data::{
    AccountType, Address, BankAccount, Business, HolderType, MetadataEntry, Owner, SellerData,
    TransferInterval, TransferPolicy,
};
use regente_domain::seller::{ReasonType, SellerStatus};
use regente_domain::text::chars_max;
use regente_engine::sellers::documents::OF_SELLER_MAX;
use regente_engine::sellers::{NewSeller, Registers};
use serde_json::{Map, Number, Value};

use super::super::customers::read_document;
use super::super::fields::Fields;

/// The most entries of free data and of agreements.
const ENTRIES_MAX: usize = 100;
/// The most bytes of the value of a free entry.
const VALUE_BYTES_MAX: usize = 4096;
/// The largest number, in hundredths, that callers send as an amount.
const HUNDREDTHS_MAX: i64 = 100_000_000_000_000;
/// Digits of a COMPE code and of an ISPB.
const COMPE_DIGITS: usize = 3;
const ISPB_DIGITS: usize = 8;

/// The members of a change that are not part of what is stored.
const APART: [&str; 6] = ["merchantId", "status", "statusReason", "reasonType", "documentIds", "createAsync"];

/// What a request says besides the data, of a new seller and of a change alike.
pub(super) struct SellerOptions {
    /// Who waits for the providers.
    pub(super) registers: Registers,
    /// Uploaded documents to attach.
    pub(super) document_ids: Vec<SellerDocumentId>,
}

/// Reads a new seller.
pub(super) fn read_new(fields: &Fields<'_>) -> Option<NewSeller> {
    let merchant_id = fields.required("merchantId").id();
    let asked = read_asked(fields);
    let data = read_data(fields);
    let SellerOptions { registers, document_ids } = asked?;
    Some(NewSeller { merchant_id: merchant_id?, data: data?, document_ids, registers })
}

fn read_asked(fields: &Fields<'_>) -> Option<SellerOptions> {
    let registers = match fields.optional("createAsync").boolean() {
        Some(true) => Registers::InBackground,
        Some(false) | None => Registers::Now,
    };
    let document_ids = fields.optional("documentIds").array(0..=OF_SELLER_MAX, |item| item.id());
    Some(SellerOptions { registers, document_ids: document_ids.unwrap_or_default() })
}

/// What a change says besides the data.
pub(super) struct AskedChange {
    /// Documents and who waits.
    pub(super) asked: SellerOptions,
    /// The merchant.
    pub(super) merchant_id: Option<MerchantId>,
    /// The status to set.
    pub(super) status: Option<SellerStatus>,
    /// The reason for the status; null removes it.
    pub(super) status_reason: Option<Option<String>>,
    /// The kind of that reason; null removes it.
    pub(super) reason_type: Option<Option<ReasonType>>,
}

/// Reads what a change says besides the data.
pub(super) fn read_change(fields: &Fields<'_>) -> Option<AskedChange> {
    let status = fields.optional("status").one_of(SellerStatus::WORDS);
    let status_reason = fields.optional("statusReason").text(chars_max::FREE).map(Some);
    let reason_type = fields.optional("reasonType").one_of(ReasonType::WORDS).map(Some);
    let merchant_id = fields.optional("merchantId").id();
    Some(AskedChange {
        asked: read_asked(fields)?,
        merchant_id,
        status,
        status_reason: status_reason.or_else(|| fields.is_null("statusReason").then_some(None)),
        reason_type: reason_type.or_else(|| fields.is_null("reasonType").then_some(None)),
    })
}

/// The members of a seller after a change: objects are merged field by field, and null removes a field (RFC 7396).
pub(super) fn merged(stored: Map<String, Value>, sent: &Map<String, Value>) -> Map<String, Value> {
    let mut merged = Value::Object(stored);
    for (name, value) in sent {
        if !APART.contains(&name.as_str()) {
            merge(&mut merged[name.as_str()], value);
        }
    }
    match merged {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
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
        merge(&mut target[account_member(name)], value);
    }
}

/// A member by the name under which it is stored: one is misspelt on the wire, and also read in its right spelling.
fn account_member(name: &str) -> &str {
    if name == "holderType" { "holdeType" } else { name }
}

/// Reads all data of a seller.
pub(super) fn read_data(fields: &Fields<'_>) -> Option<SellerData> {
    let mcc = fields.required("mcc").mcc();
    let owner = fields.required("owner").object(read_owner);
    let business = fields.optional("business").object(read_business);
    let bank_account = fields.required("bankAccount").object(read_bank_account);
    let transfer_policy = fields.optional("transferPolicy").object(read_transfer_policy);
    let agreements = fields.optional("rateAgreements");
    let rate_agreements = agreements.array(0..=ENTRIES_MAX, |item| item.object(read_agreement));
    let plan_id = fields.optional("planId").uuid();
    let sales_plan_id = fields.optional("salesPlanId").verbatim().text(chars_max::LINE);
    let metadata = fields.optional("metadata").array(0..=ENTRIES_MAX, |item| {
        item.object(|entry| {
            let key = entry.required("key").non_empty_text(chars_max::LINE);
            let value = entry.required("value").raw(VALUE_BYTES_MAX);
            Some(MetadataEntry { key: key?, value: value? })
        })
    });
    let processing_fee = fields.optional("processingFee").boolean();
    let liable = fields.optional("liable").boolean();
    let fare_mdr = number(fields, "fareMdr", 0..=10_000);
    let fare_fee = number(fields, "fareFee", 0..=i64::from(u32::MAX));
    let min_negative_balance = number(fields, "minNegativeBalance", -HUNDREDTHS_MAX..=HUNDREDTHS_MAX);
    let max_refund_days = number(fields, "maxRefundDays", 0..=HUNDREDTHS_MAX);
    Some(SellerData {
        mcc: mcc?,
        owner: owner?,
        business,
        bank_account: bank_account?,
        transfer_policy,
        rate_agreements,
        plan_id,
        sales_plan_id,
        metadata,
        processing_fee,
        liable,
        fare_mdr,
        fare_fee,
        min_negative_balance,
        max_refund_days,
    })
}

/// A number with at most two decimals, kept as sent; `range` is in hundredths.
fn number(fields: &Fields<'_>, name: &str, range: std::ops::RangeInclusive<i64>) -> Option<Number> {
    fields.optional(name).hundredths(range)?;
    match fields.members().get(name)? {
        Value::Number(number) => Some(number.clone()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn read_owner(fields: &Fields<'_>) -> Option<Owner> {
    let name = fields.required("name").non_empty_text(chars_max::NAME);
    let email = fields.required("email").email();
    let phone_number = fields.required("phoneNumber").verbatim().non_empty_text(chars_max::PHONE);
    let birthdate =
        fields.required("birthdate").text_as("must be a valid ISO 8601 date string", parse_birthdate);
    let document = fields.required("document").object(|document| document_of(document, "owner.document"));
    let address = fields.required("address").object(read_address);
    let monthly_income = number(fields, "monthlyIncome", 0..=HUNDREDTHS_MAX);
    let professional_occupation = fields.optional("professionalOccupation").text(chars_max::LINE);
    let is_business_representative = fields.optional("isBusinessRepresentative").boolean();
    let annual_revenue = number(fields, "annualRevenue", 0..=HUNDREDTHS_MAX);
    let business_category = fields.optional("businessCategory").text(chars_max::LINE);
    Some(Owner {
        name: name?,
        email: email?,
        phone_number: phone_number?,
        birthdate: birthdate?,
        document: document?,
        address: address?,
        monthly_income,
        professional_occupation,
        is_business_representative,
        annual_revenue,
        business_category,
    })
}

/// `YYYY-MM-DD`, `DD-MM-YYYY` as old integrations send it, or the midnight that answers show.
fn parse_birthdate(text: &str) -> Option<jiff::civil::Date> {
    use super::super::fields::readers::date;
    let text = text.strip_suffix("T00:00:00.000Z").unwrap_or(text);
    let parts: Vec<&str> = text.split('-').collect();
    match parts.as_slice() {
        [day, month, year] if year.len() == 4 => date(&format!("{year}-{month}-{day}")),
        _ => date(text),
    }
}

fn document_of(fields: &Fields<'_>, path: &str) -> Option<Document> {
    let document = read_document(fields, path)?;
    if document.is_absent() {
        fields.problem("type", "must be that of a document");
        return None;
    }
    Some(document)
}

fn read_business(fields: &Fields<'_>) -> Option<Business> {
    let name = fields.required("name").non_empty_text(chars_max::NAME);
    let phone_number = fields.required("phoneNumber").verbatim().non_empty_text(chars_max::PHONE);
    let email = fields.required("email").email();
    let corporate_reason = fields.optional("corporateReason").text(chars_max::NAME);
    let website = fields.optional("website").text(chars_max::FREE);
    let description = fields.optional("description").text(chars_max::FREE);
    let facebook = fields.optional("facebook").text(chars_max::FREE);
    let twitter = fields.optional("twitter").text(chars_max::FREE);
    let opening_date = fields.optional("openingDate").date();
    let annual_revenue = number(fields, "annualRevenue", 0..=HUNDREDTHS_MAX);
    let address = fields.required("address").object(read_address);
    let document = fields.required("document").object(|document| document_of(document, "business.document"));
    Some(Business {
        name: name?,
        phone_number: phone_number?,
        email: email?,
        corporate_reason,
        website,
        description,
        facebook,
        twitter,
        opening_date,
        annual_revenue,
        address: address?,
        document: document?,
    })
}

fn read_address(fields: &Fields<'_>) -> Option<Address> {
    let country = fields.required("country").country();
    let street = fields.required("street").non_empty_text(chars_max::LINE);
    let street_number = fields.required("streetNumber").non_empty_text(chars_max::LINE);
    let zip_code = fields.required("zipCode").non_empty_text(chars_max::LINE);
    let state = fields.required("state").non_empty_text(chars_max::LINE);
    let city = fields.required("city").non_empty_text(chars_max::LINE);
    let district = fields.required("district").non_empty_text(chars_max::LINE);
    let complement = fields.optional("complement").text(chars_max::LINE);
    let reference_point = fields.optional("referencePoint").text(chars_max::LINE);
    Some(Address {
        country: country?,
        street: street?,
        street_number: street_number?,
        complement,
        reference_point,
        zip_code: zip_code?,
        state: state?,
        city: city?,
        district: district?,
    })
}

fn read_bank_account(fields: &Fields<'_>) -> Option<BankAccount> {
    let holder_name = fields.required("holderName").non_empty_text(chars_max::NAME);
    let holder_document =
        fields.required("holderDocument").verbatim().non_empty_text(chars_max::DOCUMENT_NUMBER);
    let spelling = if fields.has("holderType") { "holderType" } else { "holdeType" };
    let holder_type = fields.optional(spelling).one_of(HolderType::WORDS);
    let bank = fields.optional("bank").text_as("must have 3 digits", |text| digits(text, COMPE_DIGITS));
    let ispb = fields.optional("ispb").text_as("must have 8 digits", |text| digits(text, ISPB_DIGITS));
    let branch_number = fields.required("branchNumber").verbatim().non_empty_text(chars_max::LINE);
    let branch_check_digit = fields.optional("branchCheckDigit").text(chars_max::LINE);
    let account_number = fields.required("accountNumber").verbatim().non_empty_text(chars_max::LINE);
    let account_check_digit = fields.optional("accountCheckDigit").text(chars_max::LINE);
    let pix_key = fields.optional("pixKey").verbatim().text(chars_max::LINE);
    let kind = fields.required("type").read(|value| {
        let word = value.as_str().map(|word| if word == "poupanca" { "conta_poupanca" } else { word });
        word.and_then(AccountType::parse)
            .ok_or_else(|| super::super::fields::readers::not_one_of(AccountType::WORDS))
    });
    Some(BankAccount {
        holder_name: holder_name?,
        holder_document: holder_document?,
        holder_type,
        bank,
        ispb,
        branch_number: branch_number?,
        branch_check_digit,
        account_number: account_number?,
        account_check_digit,
        pix_key,
        kind: kind?,
    })
}

fn digits(text: &str, count: usize) -> Option<String> {
    let fits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.to_owned())
}

fn read_transfer_policy(fields: &Fields<'_>) -> Option<TransferPolicy> {
    let transfer_interval = fields.optional("transferInterval").one_of(TransferInterval::WORDS);
    let days = match transfer_interval {
        Some(TransferInterval::Daily) => 0..=1,
        Some(TransferInterval::Weekly) => 1..=5,
        Some(TransferInterval::Monthly) => 1..=31,
        None => 0..=31,
    };
    let transfer_day = fields.optional("transferDay").lenient_integer(days);
    let text = |name| fields.optional(name).text(chars_max::LINE);
    Some(TransferPolicy {
        transfer_day: transfer_day.and_then(|_| fields.members().get("transferDay").cloned()),
        transfer_enabled: fields.optional("transferEnabled").boolean(),
        transfer_interval,
        automatic_anticipation_enabled: fields.optional("automaticAnticipationEnabled").boolean(),
        anticipatable_volume_percentage: text("anticipatableVolumePercentage"),
        automatic_anticipation_type: text("automaticAnticipationType"),
        automatic_anticipation_days: text("automaticAnticipationDays"),
        automatic_anticipation_delay: text("automaticAnticipation1025Delay"),
    })
}

/// Checks an agreement on fees, and keeps it as sent.
fn read_agreement(fields: &Fields<'_>) -> Option<Value> {
    const TYPES: [(&str, ()); 2] = [("GlobalRate", ()), ("FeePaymentMethod", ())];
    const PRODUCTS: [(&str, ()); 2] = [("CreditCard", ()), ("DebitCard", ())];
    const BRANDS: [(&str, ()); 6] =
        [("Visa", ()), ("Master", ()), ("Amex", ()), ("Elo", ()), ("Diners", ()), ("Hipercard", ())];
    const INSTALLMENTS: std::ops::RangeInclusive<i64> = 1..=12;
    fields.optional("type").one_of(&TYPES);
    fields.optional("percent").hundredths(0..=10_000);
    let fee = fields.required("fee").hundredths(0..=HUNDREDTHS_MAX);
    let rates = fields.optional("merchantDiscountRates").array(0..=ENTRIES_MAX, |item| {
        item.object(|rate| {
            rate.optional("paymentArrangement").object(|arrangement| {
                arrangement.optional("product").one_of(&PRODUCTS);
                arrangement.optional("brand").one_of(&BRANDS);
                Some(())
            });
            rate.optional("initialInstallmentNumber").integer(INSTALLMENTS);
            rate.optional("finalInstallmentNumber").integer(INSTALLMENTS);
            rate.optional("percent").hundredths(0..=10_000);
            Some(())
        })
    });
    let (_, _) = (fee?, rates);
    Some(Value::Object(fields.taken()))
}
