//! What pays an order, from the method and the source that were sent. Members that name people are not part of the method: they are
//! sealed, each under a name of its own.

use regente_domain::charge::WalletPayment;
use regente_domain::charge::sent::{
    NewCardSource, NewCustomerSource, NewPaymentMethod, NewPaymentSource, NewTokenSource, NewWalletSource,
    PaymentData, PaymentDataHeader, WalletClickToPay,
};
use regente_domain::customer::NewCustomer;
use regente_domain::wire::Verbatim;
use regente_providers::request::ClickToPayCheckout;
use regente_wallets::apple_pay::{Header, Token};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::method::{CardMethod, PayerMethod, WalletMethod};
use super::order::PaidBy;
use super::source::{CardOwner, OrderedCard, OrderedPayer};
use crate::card_data::CvvSource;
use crate::card_data::wallets::Wallet;

/// The sealed buyer of a voucher.
pub const VOUCHER_CUSTOMER: &str = "voucherCustomer";
/// The sealed recipients of a NuPay.
pub const NUPAY_RECIPIENTS: &str = "nupayRecipients";
/// The sealed browser of the payer of a Drip.
pub const DRIP_BROWSER: &str = "dripBrowser";
/// The sealed data that a wallet has handed out, as answers repeat them.
pub const WALLET: &str = "wallet";

/// How a wallet pays: with a credit card in it.
const CREDIT: &str = "credit";

/// How an order is paid, and what of that is sealed; `None` where the source is not one of the method.
pub fn paid_by(method: NewPaymentMethod, source: NewPaymentSource) -> Option<(PaidBy, Map<String, Value>)> {
    let mut private = Map::new();
    let paid_by = match method {
        NewPaymentMethod::Credit(credit) => {
            let (installments, recurrence) = (credit.installments, credit.recurrence);
            PaidBy::Card(CardMethod::Credit { installments, recurrence }, card(source)?)
        }
        NewPaymentMethod::Debit(debit) => {
            PaidBy::Card(CardMethod::Debit { installments: debit.installments }, card(source)?)
        }
        NewPaymentMethod::Voucher(voucher) => {
            let customer = voucher.customer.map(|customer| Value::Object(customer.0));
            private.extend(customer.map(|customer| (VOUCHER_CUSTOMER.to_owned(), customer)));
            PaidBy::Card(CardMethod::Voucher { items: voucher.items }, card(source)?)
        }
        NewPaymentMethod::Pix(pix) => PaidBy::Payer(PayerMethod::Pix(pix), payer(source)?),
        NewPaymentMethod::Boleto(boleto) => PaidBy::Payer(PayerMethod::Boleto(boleto), payer(source)?),
        NewPaymentMethod::Nupay(mut nupay) => {
            seal(&mut private, NUPAY_RECIPIENTS, nupay.recipients.take().as_ref())?;
            PaidBy::Payer(PayerMethod::Nupay(nupay), payer(source)?)
        }
        NewPaymentMethod::Drip(mut drip) => {
            seal(&mut private, DRIP_BROWSER, drip.browser.take().as_ref())?;
            PaidBy::Payer(PayerMethod::Drip(Box::new(drip)), payer(source)?)
        }
        NewPaymentMethod::Picpay(_) => PaidBy::Payer(PayerMethod::Picpay, payer(source)?),
        NewPaymentMethod::ApplePay(payment) => {
            let wallet = Wallet::ApplePay(token(wallet(source)?.payment_data?));
            private.insert(WALLET.to_owned(), shown(&wallet));
            let method = WalletMethod::ApplePay(WalletPayment { installments: payment.installments });
            PaidBy::Wallet(method, wallet)
        }
        NewPaymentMethod::ClickToPay(payment) => {
            let wallet = Wallet::ClickToPay(checkout(wallet(source)?.wallet_click_to_pay?));
            private.insert(WALLET.to_owned(), shown(&wallet));
            let method = WalletMethod::ClickToPay(WalletPayment { installments: payment.installments });
            PaidBy::Wallet(method, wallet)
        }
    };
    Some((paid_by, private))
}

/// `None` only for what cannot be written as JSON.
fn seal(private: &mut Map<String, Value>, name: &str, data: Option<&impl Serialize>) -> Option<()> {
    if let Some(data) = data {
        private.insert(name.to_owned(), serde_json::to_value(data).ok()?);
    }
    Some(())
}

fn card(source: NewPaymentSource) -> Option<OrderedCard> {
    match source {
        NewPaymentSource::Token(NewTokenSource { token_id }) => Some(OrderedCard::Token(token_id)),
        NewPaymentSource::Card(NewCardSource { card_id: Some(card_id), card_cvv, token_cvv, .. }) => {
            Some(OrderedCard::Stored { card_id, cvv: CvvSource::of(token_cvv, card_cvv) })
        }
        NewPaymentSource::Card(NewCardSource { card_id: None, card, .. }) => card.map(OrderedCard::Inline),
        NewPaymentSource::Customer(source) => {
            let NewCustomerSource { customer_id, customer, card_cvv, token_cvv } = *source;
            let described = || {
                customer.map(|owner| CardOwner::Described { email: owner.email, document: owner.document })
            };
            let owner = customer_id.map(CardOwner::Stored).or_else(described)?;
            Some(OrderedCard::Default { owner, cvv: CvvSource::of(token_cvv, card_cvv) })
        }
        NewPaymentSource::Wallet(_) => None,
    }
}

fn payer(source: NewPaymentSource) -> Option<OrderedPayer> {
    let NewPaymentSource::Customer(source) = source else { return None };
    let NewCustomerSource { customer_id, customer, card_cvv: _, token_cvv: _ } = *source;
    if let Some(customer_id) = customer_id {
        return Some(OrderedPayer::Stored(customer_id));
    }
    let payer = customer?;
    Some(OrderedPayer::Described(Box::new(NewCustomer {
        name: payer.name,
        email: payer.email,
        phone_number: payer.phone_number?,
        document: payer.document,
        address: payer.address,
        billing_address: payer.billing_address,
        delivery_address: payer.delivery_address,
    })))
}

fn wallet(source: NewPaymentSource) -> Option<NewWalletSource> {
    match source {
        NewPaymentSource::Wallet(source) => Some(*source),
        NewPaymentSource::Card(_) | NewPaymentSource::Token(_) | NewPaymentSource::Customer(_) => None,
    }
}

fn token(sent: PaymentData) -> Token {
    let PaymentData { data, signature, header, version } = sent;
    let PaymentDataHeader { ephemeral_public_key, public_key_hash, transaction_id, application_data } =
        header;
    Token {
        data: data.into_string(),
        signature: signature.into_string(),
        header: Header {
            ephemeral_public_key: ephemeral_public_key.into_string(),
            public_key_hash: Verbatim::given(public_key_hash),
            transaction_id: Verbatim::given(transaction_id),
            application_data: Verbatim::given(application_data),
        },
        version: version.into_string(),
    }
}

fn checkout(sent: WalletClickToPay) -> ClickToPayCheckout {
    ClickToPayCheckout {
        dpa_id: sent.dpa_id.into_string(),
        correlation_id: sent.correlation_id.into_string(),
        flow_id: sent.flow_id.into_string(),
        merchant_transaction_id: sent.merchant_transaction_id.into_string(),
    }
}

/// The source of a wallet as answers repeat it, beside its type. What the wallet has encrypted stays encrypted.
fn shown(wallet: &Wallet) -> Value {
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
