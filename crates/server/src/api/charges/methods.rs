//! The OpenAPI description of payment methods and sources: sum types told apart by `paymentType` and `sourceType`, with
//! the variants of this release. [`super::request`] reads them from requests, [`super::view`] writes them into answers.

mod redirects;

use regente_domain::card::InlineCard;
use regente_domain::charge::Recurrence;
use regente_domain::payment_type::PaymentType;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Ref, Schema, Type};
use uuid::Uuid;

pub use self::redirects::{DripBrowser, NupayRecipient};
use self::redirects::{NewDripPayment, NewNupayPayment, NewPicpayPayment};
use super::request::{SourceType, WALLET_SOURCE};
use super::view::method::{
    ApplePayPayment, BoletoPayment, ClickToPayPayment, CreditPayment, DebitPayment, PicpayPayment,
    PixPayment, VoucherPayment,
};
use super::view::redirects::{DripPayment, NupayPayment};
use super::view::{CardSource, CustomerSource};
use crate::api::customers::{NewAddressBody, address_or_nothing};
use crate::api::schema::tagged::tagged;
use regente_domain::customer::Document;

tagged! {
    /// How it is paid.
    pub NewPaymentMethod by "paymentType" {
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
    }

    /// With what it is paid.
    pub NewPaymentSource by "sourceType" {
        SourceType::Card.word() => NewCardSource,
        SourceType::Token.word() => NewTokenSource,
        SourceType::Customer.word() => NewCustomerSource,
        WALLET_SOURCE => NewWalletSource,
    }

    /// How a charge is paid.
    pub PaymentMethod by "paymentType" {
        PaymentType::Credit.word() => CreditPayment,
        PaymentType::Debit.word() => DebitPayment,
        PaymentType::Voucher.word() => VoucherPayment,
        PaymentType::Pix.word() => PixPayment,
        PaymentType::Nupay.word() => NupayPayment,
        PaymentType::Drip.word() => DripPayment,
        PaymentType::Picpay.word() => PicpayPayment,
        PaymentType::ApplePay.word() => ApplePayPayment,
        PaymentType::ClickToPay.word() => ClickToPayPayment,
        PaymentType::Boleto.word() => BoletoPayment,
    }

    /// What a charge was paid with.
    pub PaymentSource by "sourceType" {
        SourceType::Card.word() => CardSource,
        SourceType::Customer.word() => CustomerSource,
        WALLET_SOURCE => WalletSource,
    }
}

/// By credit card.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewCreditPayment {
    #[schema(minimum = 1, maximum = 24, default = 1)]
    installments: Option<i64>,
    /// Passed on to providers that take it.
    #[schema(value_type = Option<Recurrence>)]
    recurrence: Option<String>,
}

/// By debit card, captured at once. `threeDSecure2` is required.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewDebitPayment {
    #[schema(minimum = 1, maximum = 24, default = 1)]
    installments: Option<i64>,
}

/// By meal or food voucher.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewVoucherPayment {
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Value>,
    /// The buyer.
    #[schema(value_type = Option<Object>)]
    customer: Option<Value>,
}

/// By Pix. The payer gets a code.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewPixPayment {
    /// How long the payer has, in seconds.
    #[schema(minimum = 1, maximum = 2_147_483_647)]
    expires_in: i64,
    /// Texts that the payer's bank shows.
    #[schema(max_items = 50)]
    additional_info: Option<Vec<AdditionalInfo>>,
    #[schema(max_items = 1000)]
    items: Option<Vec<Item>>,
}

/// By Apple Pay, with a card in the wallet.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewApplePayPayment {
    #[schema(minimum = 1, maximum = 24, default = 1)]
    installments: Option<i64>,
}

/// By Click to Pay, with a card in the wallet.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewClickToPayPayment {
    #[schema(minimum = 1, maximum = 24, default = 1)]
    installments: Option<i64>,
}

/// By boleto, a payment slip. The payer gets a line to type, and the slip.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewBoletoPayment {
    /// When it falls due, in São Paulo: today or later. In 7 days by default.
    #[schema(format = Date)]
    expires_date: Option<String>,
    /// What the slip tells the payer; a line feed begins a line.
    #[schema(min_length = 1, max_length = 255)]
    instructions: Option<String>,
    /// What each day costs a late payer: an `amount`, or a `percentage` of the boleto a month.
    interest: Option<LateCharge>,
    /// What a late payer owes once: an `amount`, or a `percentage` of the boleto.
    fine: Option<LateCharge>,
    /// The items, or one item.
    #[schema(schema_with = item_or_items)]
    items: Option<Vec<Item>>,
}

/// What a late payer owes: an `amount` or a `percentage`, not both. 0 counts as not sent.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
pub struct LateCharge {
    /// The day after the due date from which it is owed: 1 is the day after, and 0 means the same.
    #[schema(minimum = 0, maximum = 365, default = 0)]
    days: Option<i64>,
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    amount: Option<i64>,
    /// In percent, with at most two decimals.
    #[schema(minimum = 0, maximum = 100)]
    percentage: Option<f64>,
}

/// Items, or one item.
fn item_or_items() -> Schema {
    let item = || Ref::from_schema_name(Item::name());
    OneOfBuilder::new()
        .item(ArrayBuilder::new().items(item()).max_items(Some(1000)))
        .item(item())
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("The items, or one item."))
        .into()
}

/// A text that the payer's bank shows, with its title.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
pub struct AdditionalInfo {
    #[schema(max_length = 255)]
    name: String,
    #[schema(max_length = 255)]
    value: String,
}

/// One item of an order.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
pub struct Item {
    #[schema(max_length = 255)]
    id: Option<String>,
    #[schema(max_length = 255)]
    title: Option<String>,
    /// A number, or its text.
    #[schema(schema_with = number_or_text)]
    unit_price: Option<Value>,
    /// A number, or its text.
    #[schema(schema_with = number_or_text)]
    quantity: Option<Value>,
}

/// A number of 0 or more, or its text.
fn number_or_text() -> Schema {
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::Number).minimum(Some(0)))
        .item(ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[0-9]+([.][0-9]+)?$")))
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("A number of 0 or more, or its text."))
        .into()
}

/// A stored card by its `cardId`, or a card as `card`, which is stored. One of both; `cardId` wins.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewCardSource {
    card_id: Option<Uuid>,
    card: Option<InlineCard>,
    /// Security code of a stored card, when the buyer is present.
    #[schema(pattern = "^[0-9]{3,4}$")]
    card_cvv: Option<String>,
    /// A CVV token instead of `cardCvv`; it wins.
    token_cvv: Option<Uuid>,
}

/// A card token; it is used up.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewTokenSource {
    token_id: Uuid,
}

/// A customer, who is named by `customerId` or described by `customer`. One of both; `customerId` wins. A card charge
/// takes their default card; a method that is paid without a card gives them instructions, and creates the customer where
/// none fits.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewCustomerSource {
    customer_id: Option<Uuid>,
    customer: Option<Payer>,
    /// Security code of the card, when the buyer is present.
    #[schema(pattern = "^[0-9]{3,4}$")]
    card_cvv: Option<String>,
    /// A CVV token instead of `cardCvv`; it wins.
    token_cvv: Option<Uuid>,
}

/// What a wallet has handed out: `paymentData` for `apple_pay`, `walletClickToPay` for `click_to_pay`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewWalletSource {
    /// Required for `click_to_pay`.
    wallet_payment: Option<WalletPaymentWord>,
    payment_data: Option<PaymentData>,
    wallet_click_to_pay: Option<WalletClickToPay>,
}

/// How the wallet pays: with a credit card in it.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
enum WalletPaymentWord {
    Credit,
}

/// An Apple Pay token, as the device has made it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct PaymentData {
    /// The encrypted payment, in base64.
    #[schema(max_length = 16_384)]
    data: String,
    /// The device's signature, in base64.
    #[schema(max_length = 16_384)]
    signature: String,
    header: PaymentDataHeader,
    /// `EC_v1`.
    version: String,
}

/// What is needed to verify and to decrypt an Apple Pay token.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct PaymentDataHeader {
    /// The device's key of this payment, in base64.
    #[schema(max_length = 255)]
    ephemeral_public_key: String,
    /// Names the merchant's key, in base64.
    #[schema(max_length = 255)]
    public_key_hash: Option<String>,
    /// The device's id of the payment, hexadecimal. Needed when the device has signed one.
    #[schema(max_length = 255)]
    transaction_id: Option<String>,
    /// A digest of the merchant's own data, hexadecimal. Needed when the device has signed one.
    #[schema(max_length = 255)]
    application_data: Option<String>,
}

/// A checkout at Click to Pay.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct WalletClickToPay {
    #[schema(max_length = 255)]
    dpa_id: String,
    #[schema(max_length = 255)]
    correlation_id: String,
    #[schema(max_length = 255)]
    flow_id: String,
    #[schema(max_length = 255)]
    merchant_transaction_id: String,
}

/// Who pays: the stored customer with this document, or with this e-mail address.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct Payer {
    #[schema(max_length = 256)]
    name: Option<String>,
    /// Required by methods that are paid without a card; may be blank.
    #[schema(max_length = 30)]
    phone_number: Option<String>,
    #[schema(format = Email, max_length = 254)]
    email: String,
    document: Document,
    /// Where they live. `{}` counts as nothing.
    #[schema(schema_with = address_or_nothing)]
    address: Option<NewAddressBody>,
}

/// What a wallet has handed out, as it was sent; without it when it was erased.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
struct WalletSource {
    wallet_payment: Option<WalletPaymentWord>,
    payment_data: Option<PaymentData>,
    wallet_click_to_pay: Option<WalletClickToPay>,
}
