//! Reads what a wallet has handed out (`docs/interface/charges.md#wallets`).

use regente_domain::text::chars_max;
use regente_engine::card_data::wallets::Wallet;
use regente_engine::charges::WalletMethod;
use regente_providers::request::ClickToPayCheckout;
use regente_wallets::apple_pay::{Header, Token};
use serde_json::{Value, json};

use super::source::WALLET_SOURCE;
use crate::api::fields::Fields;

/// How a wallet pays: with a credit card in it.
const CREDIT: &str = "credit";
/// Characters of one member of a token. A signature has about 4,000.
const TOKEN_CHARS_MAX: usize = 16 * 1024;

/// Reads the source of a method that is paid by wallet.
pub(super) fn read_wallet(fields: &Fields<'_>, method: &WalletMethod) -> Option<Wallet> {
    fields.required("sourceType").one_of(&[(WALLET_SOURCE, ())])?;
    match method {
        WalletMethod::ApplePay(_) => {
            fields.optional("walletPayment").one_of(&[(CREDIT, ())]);
            fields.required("paymentData").object(read_token).map(Wallet::ApplePay)
        }
        WalletMethod::ClickToPay(_) => {
            fields.required("walletPayment").one_of(&[(CREDIT, ())]);
            fields.required("walletClickToPay").object(read_checkout).map(Wallet::ClickToPay)
        }
    }
}

/// The source as answers repeat it, beside its type. What the wallet has encrypted stays encrypted.
pub(super) fn shown(wallet: &Wallet) -> Value {
    match wallet {
        Wallet::ApplePay(token) => json!({ "walletPayment": CREDIT, "paymentData": token }),
        Wallet::ClickToPay(checkout) => {
            let ClickToPayCheckout { dpa_id, correlation_id, flow_id, merchant_transaction_id } = checkout;
            let checkout = json!({
                "dpaId": dpa_id, "correlationId": correlation_id, "flowId": flow_id,
                "merchantTransactionId": merchant_transaction_id,
            });
            json!({ "walletPayment": CREDIT, "walletClickToPay": checkout })
        }
    }
}

fn read_token(fields: &Fields<'_>) -> Option<Token> {
    let text = |name| fields.required(name).verbatim().non_empty_text(TOKEN_CHARS_MAX);
    let (data, signature, version) = (text("data"), text("signature"), text("version"));
    let header = fields.required("header").object(|header| {
        let ephemeral_public_key =
            header.required("ephemeralPublicKey").verbatim().non_empty_text(chars_max::LINE);
        let [public_key_hash, transaction_id, application_data] =
            ["publicKeyHash", "transactionId", "applicationData"]
                .map(|name| header.optional(name).verbatim().text(chars_max::LINE));
        let ephemeral_public_key = ephemeral_public_key?;
        Some(Header { ephemeral_public_key, public_key_hash, transaction_id, application_data })
    });
    Some(Token { data: data?, signature: signature?, header: header?, version: version? })
}

fn read_checkout(fields: &Fields<'_>) -> Option<ClickToPayCheckout> {
    let [dpa_id, correlation_id, flow_id, merchant_transaction_id] =
        ["dpaId", "correlationId", "flowId", "merchantTransactionId"]
            .map(|name| fields.required(name).verbatim().non_empty_text(chars_max::LINE));
    Some(ClickToPayCheckout {
        dpa_id: dpa_id?,
        correlation_id: correlation_id?,
        flow_id: flow_id?,
        merchant_transaction_id: merchant_transaction_id?,
    })
}
