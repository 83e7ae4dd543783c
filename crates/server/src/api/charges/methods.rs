//! The OpenAPI description of payment methods and sources in answers: sum types told apart by `paymentType` and `sourceType`, with
//! the variants of this release. [`super::view`] writes them.

use regente_domain::charge::sent::{PaymentData, SourceType, WalletClickToPay, WalletPaymentWord};
use regente_domain::payment_type::PaymentType;
use utoipa::ToSchema;

use super::view::method::{
    ApplePayPayment, BoletoPayment, ClickToPayPayment, CreditPayment, DebitPayment, PicpayPayment,
    PixPayment, VoucherPayment,
};
use super::view::redirects::{DripPayment, NupayPayment};
use super::view::{CardSource, CustomerSource};
use crate::api::schema::tagged::tagged;

tagged! {
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
        SourceType::Wallet.word() => WalletSource,
    }
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
