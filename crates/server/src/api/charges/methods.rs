//! The OpenAPI description of payment methods and sources: sum types told apart by `paymentType` and `sourceType`, with
//! the variants of this release. [`super::request`] reads them from requests, [`super::view`] writes them into answers.

use regente_domain::charge::PaymentType;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::CardBody;
use super::request::SourceType;
use crate::api::customers::DocumentBody;
use crate::api::schema::tagged::tagged;
use crate::api::schema::words;

tagged! {
    /// How it is paid.
    pub NewPaymentMethod by "paymentType" {
        PaymentType::Credit.word() => NewCreditPayment,
        PaymentType::Voucher.word() => NewVoucherPayment,
    }

    /// With what it is paid.
    pub NewPaymentSource by "sourceType" {
        SourceType::Card.word() => NewCardSource,
        SourceType::Token.word() => NewTokenSource,
        SourceType::Customer.word() => NewCustomerSource,
    }

    /// How a charge is paid.
    pub PaymentMethod by "paymentType" {
        PaymentType::Credit.word() => CreditPayment,
        PaymentType::Voucher.word() => VoucherPayment,
    }

    /// What a charge was paid with.
    pub PaymentSource by "sourceType" {
        SourceType::Card.word() => CardSource,
        SourceType::Customer.word() => CustomerSource,
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
    #[schema(value_type = Option<words::Recurrence>)]
    recurrence: Option<String>,
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

/// A stored card by its `cardId`, or a card as `card`, which is stored. One of both; `cardId` wins.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct NewCardSource {
    card_id: Option<Uuid>,
    card: Option<CardBody>,
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

/// The default card of a customer, who is named by `customerId` or described by `customer`. One of both; `customerId`
/// wins.
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

/// Who pays: the stored customer with this document, or with this e-mail address.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is sent for the OpenAPI document")]
struct Payer {
    #[schema(format = Email, max_length = 254)]
    email: String,
    document: DocumentBody,
}

/// By credit card.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
struct CreditPayment {
    #[schema(example = 1)]
    installments: u8,
    #[schema(value_type = Option<words::Recurrence>)]
    recurrence: Option<String>,
}

/// By meal or food voucher.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
struct VoucherPayment {
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Value>,
    /// The buyer.
    #[schema(value_type = Option<Object>)]
    customer: Option<Value>,
}

/// A stored card.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
struct CardSource {
    card_id: Uuid,
    /// The token that was sent; only in the answer to that request.
    token_id: Option<Uuid>,
}

/// The default card of a customer.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is answered for the OpenAPI document")]
struct CustomerSource {
    customer_id: Uuid,
}
