//! What a wallet has handed out, as it is sent (`docs/interface/charges.md#wallets`).

use deserr::Deserr;
use utoipa::ToSchema;

use crate::problems::Problems;
use crate::text::chars_max;
use crate::wire::{Text, Verbatim};
use crate::words::words;

/// Characters of one member of a token. A signature has about 4,000.
const TOKEN_CHARS_MAX: usize = 16 * 1024;

type Part = Verbatim<1, TOKEN_CHARS_MAX>;
type Reference = Verbatim<1, { chars_max::LINE }>;
type Digest = Verbatim<0, { chars_max::LINE }>;
/// What the document says of [`Part`] and [`Reference`].
type ShownPart = Text<0, TOKEN_CHARS_MAX>;
type ShownReference = Text<0, { chars_max::LINE }>;

words! {
    /// How the wallet pays: with a credit card in it.
    WalletPaymentWord {
        /// With a credit card.
        Credit = "credit",
    }
}

/// What a wallet has handed out: `paymentData` for `apple_pay`, `walletClickToPay` for `click_to_pay`.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the types say it")]
pub struct NewWalletSource {
    /// Required for `click_to_pay`.
    #[deserr(default)]
    pub wallet_payment: Option<WalletPaymentWord>,
    #[deserr(default)]
    pub payment_data: Option<PaymentData>,
    #[deserr(default)]
    pub wallet_click_to_pay: Option<WalletClickToPay>,
}

/// An Apple Pay token, as the device has made it.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the type says it")]
pub struct PaymentData {
    /// The encrypted payment, in base64.
    #[schema(value_type = ShownPart)]
    pub data: Part,
    /// The device's signature, in base64.
    #[schema(value_type = ShownPart)]
    pub signature: Part,
    pub header: PaymentDataHeader,
    /// `EC_v1`.
    #[schema(value_type = String)]
    pub version: Part,
}

/// What is needed to verify and to decrypt an Apple Pay token.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
pub struct PaymentDataHeader {
    /// The device's key of this payment, in base64.
    #[schema(value_type = ShownReference)]
    pub ephemeral_public_key: Reference,
    /// Names the merchant's key, in base64.
    #[deserr(default)]
    pub public_key_hash: Option<Digest>,
    /// The device's id of the payment, hexadecimal. Needed when the device has signed one.
    #[deserr(default)]
    pub transaction_id: Option<Digest>,
    /// A digest of the merchant's own data, hexadecimal. Needed when the device has signed one.
    #[deserr(default)]
    pub application_data: Option<Digest>,
}

/// A checkout at Click to Pay.
#[derive(Deserr, ToSchema)]
#[deserr(rename_all = camelCase, error = Problems)]
#[schema(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names of the wallet")]
pub struct WalletClickToPay {
    #[schema(value_type = ShownReference)]
    pub dpa_id: Reference,
    #[schema(value_type = ShownReference)]
    pub correlation_id: Reference,
    #[schema(value_type = ShownReference)]
    pub flow_id: Reference,
    #[schema(value_type = ShownReference)]
    pub merchant_transaction_id: Reference,
}
