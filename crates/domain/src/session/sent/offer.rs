//! The payment methods that a session offers (`docs/interface/sessions.md#payment-methods`). Each is a method of a charge, of which the
//! session keeps what is not left to the buyer.

use std::borrow::Cow;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use jiff::civil::Date;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use serde_with::skip_serializing_none;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::super::OfferedMethod;
use crate::charge::Recurrence;
use crate::charge::sent::{
    Delay, Installments, Instructions, LateCharge, NewPaymentMethod, NupayRecipient, PageAddress, Recipients,
    Seconds, ShownAddress, type_of,
};
use crate::money::Amount;
use crate::payment_type::PaymentType;
use crate::problems::Problems;
use crate::tagged_schema;
use crate::wire::tagged::{Components, members, tag_of, variant};
use crate::wire::{Kept, List, refused};

// Terms are kept as they were sent: `3600.0` stays `3600.0`.
type KeptInstallments = Kept<Installments>;
type KeptSeconds = Kept<Seconds>;
type KeptCharge = Kept<LateCharge>;
type KeptDelay = Kept<Delay>;
type KeptAmount = Kept<Amount>;

const PAYMENT_TYPE: &str = "paymentType";
const INSTALLMENTS: &str = "installments";
const THREE_DS: &str = "threeDS";
const RECIPIENTS: &str = "recipients";

/// What a session may offer, in the order in which a problem names it.
const OFFERS: [(&str, PaymentType); OfferedMethod::TYPES.len()] = {
    const fn named(payment_type: PaymentType) -> (&'static str, PaymentType) {
        (payment_type.word(), payment_type)
    }
    [
        named(PaymentType::Credit),
        named(PaymentType::Pix),
        named(PaymentType::Boleto),
        named(PaymentType::Drip),
        named(PaymentType::Nupay),
        named(PaymentType::ClickToPay),
    ]
};

/// An offered method, and the recipients of a NuPay.
pub struct Offer {
    /// The method, with its terms.
    pub method: OfferedMethod,
    /// They are named nowhere else: they are sealed.
    pub recipients: Option<Vec<NupayRecipient>>,
}

/// Each method at most once.
pub struct Offers(pub Vec<Offer>);

impl Deserr<Problems> for Offers {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let sent: Json = Deserr::<Problems>::deserialize_from_value(value, at)?;
        let is_offered = |payment_type: &PaymentType| OfferedMethod::TYPES.contains(payment_type);
        let type_of = |offer: &Json| offer.as_object().and_then(type_of).filter(is_offered);
        // Of an array that is too long nothing else is said.
        let offers = sent.as_array().filter(|offers| offers.len() <= OFFERS.len());
        let types: Vec<Option<PaymentType>> = offers.into_iter().flatten().map(type_of).collect();
        let mut problems = Problems::new();
        for (index, payment_type) in types.iter().enumerate() {
            if payment_type.is_some() && types.iter().take(index).any(|earlier| earlier == payment_type) {
                let at = at.push_index(index);
                problems.extend(refused(at.push_key(PAYMENT_TYPE), "must not be there twice"));
            }
        }
        let offers = List::<Offer, 1, { OFFERS.len() }>::deserialize_from_value(sent.into_value(), at);
        problems.beside(offers).map(|offers| Self(offers.into_vec()))
    }
}

impl Deserr<Problems> for Offer {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let mut sent = members(value, at)?;
        let payment_type = tag_of(&sent, at, PAYMENT_TYPE, &OFFERS)?;
        let method = lacking(&sent, payment_type, at).beside(variant(sent.clone(), at))?;
        let recipients = match method {
            NewPaymentMethod::Nupay(nupay) => nupay.recipients,
            NewPaymentMethod::Credit(_)
            | NewPaymentMethod::Debit(_)
            | NewPaymentMethod::Voucher(_)
            | NewPaymentMethod::Pix(_)
            | NewPaymentMethod::Drip(_)
            | NewPaymentMethod::Picpay(_)
            | NewPaymentMethod::ApplePay(_)
            | NewPaymentMethod::ClickToPay(_)
            | NewPaymentMethod::Boleto(_) => None,
        };
        // They are sealed, and no term.
        drop(sent.shift_remove(RECIPIENTS));
        let terms = match payment_type {
            PaymentType::Credit => terms::<OfferedCredit>(sent, at),
            PaymentType::Pix => terms::<OfferedPix>(sent, at),
            PaymentType::Boleto => terms::<OfferedBoleto>(sent, at),
            PaymentType::Drip => terms::<OfferedDrip>(sent, at),
            PaymentType::Nupay => terms::<OfferedNupay>(sent, at),
            PaymentType::ClickToPay => terms::<OfferedClickToPay>(sent, at),
            PaymentType::Debit | PaymentType::Voucher | PaymentType::Picpay | PaymentType::ApplePay => {
                Err(refused(at, "is not valid"))
            }
        };
        Ok(Self { method: OfferedMethod { payment_type, terms: terms? }, recipients })
    }
}

/// What an offer has beyond the method of a charge.
fn lacking(sent: &Map<String, Json>, payment_type: PaymentType, at: ValuePointerRef<'_>) -> Problems {
    let given = |name: &str| sent.get(name).filter(|value| !value.is_null());
    let has_installments = matches!(payment_type, PaymentType::Credit | PaymentType::ClickToPay);
    let mut problems = Problems::new();
    if has_installments && given(INSTALLMENTS).is_none() {
        problems.extend(refused(at.push_key(INSTALLMENTS), "should not be empty"));
    }
    if let Some(demand) = given(THREE_DS).filter(|_| payment_type == PaymentType::Credit) {
        let read = OfferedThreeDs::deserialize_from_value(demand.clone().into_value(), at.push_key(THREE_DS));
        problems.extend(read.err().unwrap_or_default());
    }
    problems
}

/// The terms in the order of the members of a `T`.
fn terms<T: Deserr<Problems> + Serialize>(
    sent: Map<String, Json>,
    at: ValuePointerRef<'_>,
) -> Result<Map<String, Json>, Problems> {
    match serde_json::to_value(variant::<T>(sent, at)?) {
        Ok(Json::Object(terms)) => Ok(terms),
        Ok(_) | Err(_) => Err(refused(at, "is not valid")),
    }
}

/// Tells the methods apart.
enum OfferedMethodSchema {}

tagged_schema!(
    OfferedMethodSchema, "A payment method that a session offers.", by "paymentType" {
    PaymentType::Credit.word() => OfferedCredit,
    PaymentType::Pix.word() => OfferedPix,
    PaymentType::Boleto.word() => OfferedBoleto,
    PaymentType::Drip.word() => OfferedDrip,
    PaymentType::Nupay.word() => OfferedNupay,
    PaymentType::ClickToPay.word() => OfferedClickToPay,
});

impl PartialSchema for Offer {
    fn schema() -> RefOr<Schema> {
        OfferedMethodSchema::schema()
    }
}

impl ToSchema for Offer {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("OfferedMethod")
    }

    fn schemas(found: &mut Components) {
        OfferedMethodSchema::schemas(found);
    }
}

/// By credit card.
#[skip_serializing_none]
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
struct OfferedCredit {
    /// The most that a buyer may choose.
    installments: KeptInstallments,
    #[deserr(default)]
    recurrence: Option<Recurrence>,
    /// Whether cardholders are authenticated.
    #[serde(rename = "threeDS")]
    #[deserr(rename = "threeDS", default)]
    three_ds: Option<OfferedThreeDs>,
}

/// Whether the cardholders of a session are authenticated.
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
struct OfferedThreeDs {
    #[deserr(default, from(Option<bool>) = Option::unwrap_or_default)]
    #[schema(value_type = Option<bool>, default = false)]
    enabled: bool,
    /// Whether a charge without a liability shift is refused.
    #[deserr(default = true, from(Option<bool>) = unless_not)]
    #[schema(value_type = Option<bool>, default = true)]
    liability_shift_required: bool,
}

fn unless_not(sent: Option<bool>) -> bool {
    sent.unwrap_or(true)
}

/// By Pix.
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
struct OfferedPix {
    /// How long a buyer has, in seconds.
    #[schema(value_type = i64, minimum = 1, maximum = 2_147_483_647)]
    expires_in: KeptSeconds,
}

/// By boleto.
#[skip_serializing_none]
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
struct OfferedBoleto {
    /// When it falls due; in 7 days by default.
    #[deserr(default)]
    #[schema(value_type = Option<String>, format = Date)]
    expires_date: Option<Date>,
    /// What the slip tells the payer; a line feed begins a line.
    #[deserr(default)]
    instructions: Option<Instructions>,
    /// What each day costs a late payer.
    #[deserr(default)]
    interest: Option<KeptCharge>,
    /// What a late payer owes once.
    #[deserr(default)]
    fine: Option<KeptCharge>,
}

/// By Drip.
#[skip_serializing_none]
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
struct OfferedDrip {
    #[deserr(default)]
    #[schema(value_type = Option<ShownAddress>)]
    success_redirect_url: Option<PageAddress>,
    #[deserr(default)]
    #[schema(value_type = Option<ShownAddress>)]
    cancel_redirect_url: Option<PageAddress>,
}

/// By NuPay.
#[skip_serializing_none]
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
struct OfferedNupay {
    #[deserr(default)]
    #[schema(value_type = Option<ShownAddress>)]
    order_url: Option<PageAddress>,
    /// In minutes.
    #[deserr(default)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 43_200)]
    delay_to_auto_cancel: Option<KeptDelay>,
    #[deserr(default)]
    #[schema(value_type = Option<ShownAddress>)]
    return_url: Option<PageAddress>,
    #[deserr(default)]
    #[schema(value_type = Option<ShownAddress>)]
    cancel_url: Option<PageAddress>,
    #[deserr(default)]
    tax_value: Option<KeptAmount>,
    /// Who gets a part of the money. Only a secret key is shown them, by the answer to the creation, the session and the list.
    #[deserr(default)]
    recipients: Option<Recipients>,
}

/// By Click to Pay.
#[derive(Serialize, Deserr, ToSchema)]
#[serde(rename_all = "camelCase")]
#[deserr(rename_all = camelCase, error = Problems)]
struct OfferedClickToPay {
    /// The most that a buyer may choose.
    installments: KeptInstallments,
}
