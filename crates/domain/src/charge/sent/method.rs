//! How a charge is paid, as it is sent (`docs/interface/charges.md#payment-methods`). What it is paid with is [`super::source`]'s.

mod redirects;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use jiff::civil::Date;
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

pub(crate) use redirects::{Delay, Recipients};
pub use redirects::{DripBrowser, NewDripPayment, NewNupayPayment, NewPicpayPayment, NupayRecipient};

use super::items::{ItemOrItems, Items, item_or_items, kept, kept_as_several};
use super::late_charge::{LateCharge, SentLateCharge};
use super::{FREE_FORM_BYTES_MAX, FreeForm, ITEMS_MAX, bounded_as_sent};
use crate::boleto::{Fine, Interest, LateCharges, usual_due_date};
use crate::charge::{AdditionalInfo, Boleto, EXPIRES_IN_SECONDS_MAX, PayerSource, Recurrence};
use crate::payment_type::{INSTALLMENTS_MAX, PaymentType};
use crate::problems::Problems;
use crate::tagged_schema;
use crate::text::chars_max;
use crate::wire::tagged::{members, tag_of, variant};
use crate::wire::{Integer, List, Text, integer_from, refused, within};

/// The member that says which method it is.
const PAYMENT_TYPE: &str = "paymentType";
/// Texts that the payer's bank shows.
const ADDITIONAL_INFO_MAX: usize = 50;

/// Number of installments.
pub(crate) type Installments = Integer<1, { INSTALLMENTS_MAX as i64 }>;
/// Texts that the payer's bank shows.
pub(crate) type AdditionalInfos = List<AdditionalInfo, 0, ADDITIONAL_INFO_MAX>;
/// What a boleto tells its payer.
pub(crate) type Instructions = Text<1, { chars_max::LINE }>;
type FreeItems = List<FreeForm, 0, ITEMS_MAX>;

/// How it is paid.
pub enum NewPaymentMethod {
    /// By credit card.
    Credit(NewCreditPayment),
    /// By debit card.
    Debit(NewDebitPayment),
    /// By meal or food voucher.
    Voucher(NewVoucherPayment),
    /// By Pix.
    Pix(NewPixPayment),
    /// By NuPay.
    Nupay(NewNupayPayment),
    /// By Drip.
    Drip(NewDripPayment),
    /// By PicPay.
    Picpay(NewPicpayPayment),
    /// By Apple Pay.
    ApplePay(NewApplePayPayment),
    /// By Click to Pay.
    ClickToPay(NewClickToPayPayment),
    /// By boleto.
    Boleto(NewBoletoPayment),
}

tagged_schema!(NewPaymentMethod, "How it is paid.", by "paymentType" {
    PaymentType::Credit.word() => NewCreditPayment,
    PaymentType::Debit.word() => NewDebitPayment,
    PaymentType::Voucher.word() => NewVoucherPayment,
    PaymentType::Pix.word() => NewPixPayment,
    PaymentType::Nupay.word() => NewNupayPayment,
    PaymentType::Drip.word() => NewDripPayment,
    PaymentType::Picpay.word() => NewPicpayPayment,
    PaymentType::ApplePay.word() => NewApplePayPayment,
    PaymentType::ClickToPay.word() => NewClickToPayPayment,
    PaymentType::Boleto.word() => NewBoletoPayment,
});

/// The methods in the order in which a problem names them.
const METHODS: [(&str, PaymentType); 10] = {
    const fn named(payment_type: PaymentType) -> (&'static str, PaymentType) {
        (payment_type.word(), payment_type)
    }
    [
        named(PaymentType::Credit),
        named(PaymentType::Debit),
        named(PaymentType::Voucher),
        named(PaymentType::Pix),
        named(PaymentType::Nupay),
        named(PaymentType::Drip),
        named(PaymentType::Picpay),
        named(PaymentType::ApplePay),
        named(PaymentType::ClickToPay),
        named(PaymentType::Boleto),
    ]
};

impl Deserr<Problems> for NewPaymentMethod {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent = members(value, at)?;
        Ok(match tag_of(&sent, at, PAYMENT_TYPE, &METHODS)? {
            PaymentType::Credit => Self::Credit(variant(sent, at)?),
            PaymentType::Debit => Self::Debit(variant(sent, at)?),
            PaymentType::Voucher => Self::Voucher(variant(sent, at)?),
            PaymentType::Pix => Self::Pix(variant(sent, at)?),
            PaymentType::Nupay => Self::Nupay(variant(sent, at)?),
            PaymentType::Drip => Self::Drip(variant(sent, at)?),
            PaymentType::Picpay => Self::Picpay(variant(sent, at)?),
            PaymentType::ApplePay => Self::ApplePay(variant(sent, at)?),
            PaymentType::ClickToPay => Self::ClickToPay(variant(sent, at)?),
            PaymentType::Boleto => Self::Boleto(variant(sent, at)?),
        })
    }
}

/// By credit card.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewCreditPayment {
    #[deserr(default = 1, from(Option<Installments>) = count)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 24, default = 1)]
    #[expect(missing_docs, reason = "the name says it")]
    pub installments: u8,
    /// Passed on to providers that take it.
    #[deserr(default)]
    pub recurrence: Option<Recurrence>,
}

/// By debit card, captured at once. `threeDSecure2` is required.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewDebitPayment {
    #[deserr(default = 1, from(Option<Installments>) = count)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 24, default = 1)]
    #[expect(missing_docs, reason = "the name says it")]
    pub installments: u8,
}

/// By meal or food voucher.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewVoucherPayment {
    #[deserr(default)]
    #[schema(ignore)]
    #[expect(dead_code, reason = "checked, and left out: a voucher has none")]
    installments: Option<Installments>,
    #[deserr(default)]
    #[schema(ignore)]
    #[expect(dead_code, reason = "checked, and left out: a voucher has none")]
    recurrence: Option<Recurrence>,
    #[deserr(default, from(Option<FreeItems>) = free_items)]
    #[schema(value_type = Option<Vec<Object>>)]
    #[expect(missing_docs, reason = "the name says it")]
    pub items: Option<Json>,
    /// The buyer.
    #[deserr(default)]
    #[schema(value_type = Option<Object>)]
    pub customer: Option<VoucherBuyer>,
}

/// By Pix. The payer gets a code.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewPixPayment {
    /// How long the payer has, in seconds.
    #[deserr(from(Seconds) = Seconds::get)]
    #[schema(value_type = i64, minimum = 1, maximum = 2_147_483_647)]
    pub expires_in: u32,
    /// Texts that the payer's bank shows.
    #[deserr(default, from(Option<AdditionalInfos>) = several)]
    #[schema(value_type = Option<AdditionalInfos>)]
    pub additional_info: Vec<AdditionalInfo>,
    #[deserr(default, from(Option<Items>) = kept)]
    #[schema(value_type = Option<Items>)]
    #[expect(missing_docs, reason = "the name says it")]
    pub items: Option<Json>,
}

/// By Apple Pay, with a card in the wallet.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewApplePayPayment {
    #[deserr(default = 1, from(Option<Installments>) = count)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 24, default = 1)]
    #[expect(missing_docs, reason = "the name says it")]
    pub installments: u8,
}

/// By Click to Pay, with a card in the wallet.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewClickToPayPayment {
    #[deserr(default = 1, from(Option<Installments>) = count)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 24, default = 1)]
    #[expect(missing_docs, reason = "the name says it")]
    pub installments: u8,
}

/// By boleto, a payment slip. The payer gets a line to type, and the slip.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct NewBoletoPayment {
    /// When it falls due, in São Paulo: today or later. In 7 days by default.
    #[deserr(default)]
    #[schema(value_type = Option<String>, format = Date)]
    pub expires_date: Option<Date>,
    /// What the slip tells the payer; a line feed begins a line.
    #[deserr(default, from(Option<Instructions>) = Text::given)]
    #[schema(value_type = Option<Instructions>)]
    pub instructions: Option<String>,
    /// What each day costs a late payer: an `amount`, or a `percentage` of the boleto a month.
    #[deserr(default, from(Option<SentLateCharge>) = LateCharge::interest)]
    #[schema(value_type = Option<LateCharge>)]
    pub interest: Option<Interest>,
    /// What a late payer owes once: an `amount`, or a `percentage` of the boleto.
    #[deserr(default, from(Option<SentLateCharge>) = LateCharge::fine)]
    #[schema(value_type = Option<LateCharge>)]
    pub fine: Option<Fine>,
    /// The items, or one item.
    #[deserr(default, from(Option<ItemOrItems>) = kept_as_several)]
    #[schema(schema_with = item_or_items)]
    pub items: Option<Json>,
}

impl NewBoletoPayment {
    /// The boleto with its resolved payer, on this day.
    pub fn paid_by(self, source: PayerSource, today: Date) -> Boleto {
        let Self { expires_date, instructions, interest, fine, items } = self;
        Boleto {
            source,
            due: expires_date.unwrap_or_else(|| usual_due_date(today)),
            instructions,
            late_charges: LateCharges { interest, fine },
            items: items.map(Box::new),
        }
    }
}

/// The buyer of a voucher: any members, of which those that are known are checked.
pub struct VoucherBuyer(pub Map<String, Json>);

type Name = Text<0, { chars_max::NAME }>;

#[derive(Deserr)]
#[deserr(rename_all = camelCase, error = Problems)]
#[expect(dead_code, reason = "what is sent is checked by it, and kept as it is")]
struct KnownMembers {
    #[deserr(default)]
    name: Option<Name>,
    #[deserr(default)]
    email: Option<Name>,
    #[deserr(default)]
    phone: Option<Name>,
    #[deserr(default)]
    identity_type: Option<Name>,
    #[deserr(default)]
    identity: Option<Name>,
    #[deserr(default)]
    billing_address: Option<FreeForm>,
}

impl Deserr<Problems> for VoucherBuyer {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent = Json::Object(members(value, at)?);
        bounded_as_sent::<KnownMembers>(sent, at, FREE_FORM_BYTES_MAX).map(Self)
    }
}

/// How long the payer of a Pix has. What is no number at all is told by another sentence, which clients in use know.
pub(crate) struct Seconds(u32);

impl Seconds {
    const fn get(self) -> u32 {
        self.0
    }
}

impl Deserr<Problems> for Seconds {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        match value {
            Value::Boolean(_) | Value::String(_) | Value::Sequence(_) | Value::Map(_) => {
                return Err(refused(at, "must be a number"));
            }
            Value::Null | Value::Integer(_) | Value::NegativeInteger(_) | Value::Float(_) => {}
        }
        let seconds = within(integer_from(value, at)?, 1..=i64::from(EXPIRES_IN_SECONDS_MAX));
        let seconds = seconds.map_err(|rule| refused(at, rule))?;
        u32::try_from(seconds).map(Self).map_err(|_| refused(at, "is not valid"))
    }
}

/// Number of installments, 1 where nobody says so.
pub(super) fn count(sent: Option<Installments>) -> u8 {
    sent.map_or(1, in_full)
}

fn in_full(sent: Installments) -> u8 {
    u8::try_from(sent.get()).unwrap_or(INSTALLMENTS_MAX)
}

fn several(sent: Option<AdditionalInfos>) -> Vec<AdditionalInfo> {
    sent.map(List::into_vec).unwrap_or_default()
}

fn free_items(sent: Option<FreeItems>) -> Option<Json> {
    let items = sent?.into_vec().into_iter().map(|item| Json::Object(item.into_members()));
    Some(Json::Array(items.collect()))
}
