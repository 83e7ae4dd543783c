//! A merchant with an Apple Pay key, and a device that pays them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use regente_engine::apple_pay::{ApplePayKeys, TOKEN_AGE_MAX};
use regente_engine::clock::Clock;
use regente_wallets::apple_pay::test_keys::{Device, Purchase, TestKeys};
use regente_wallets::apple_pay::{MerchantKey, TrustedRoots, test_keys};
use serde_json::{Value, json};

use crate::support::app::TestApp;

/// The number that stands for the card. By its last digit a card would be declined.
pub const DEVICE_ACCOUNT_NUMBER: &str = "4895370012000052";
/// The number of BRL in ISO 4217.
const BRL: u16 = 986;

/// What a device needs to pay the account.
pub struct Shop {
    device: Device,
    merchant: String,
}

/// The deployment with a key for its account; tokens are good for five minutes.
pub async fn open_shop(app: TestApp) -> (TestApp, Arc<Shop>) {
    with_token_age(app, Duration::from_secs(300)).await
}

/// The same with tokens that are good for a day.
pub async fn open_patient_shop(app: TestApp) -> (TestApp, Arc<Shop>) {
    with_token_age(app, TOKEN_AGE_MAX).await
}

async fn with_token_age(app: TestApp, longest_age: Duration) -> (TestApp, Arc<Shop>) {
    let now = since_epoch(&app.clock);
    let TestKeys { root, device } = TestKeys::generate(now).unwrap();
    let merchant = test_keys::merchant("merchant.com.example", now).unwrap();
    let key = MerchantKey::from_pem(&merchant).unwrap();
    let merchants = BTreeMap::from([(app.client_id(), vec![key])]);
    let keys = ApplePayKeys::new(TrustedRoots::from_pem(&root).unwrap(), merchants, longest_age).unwrap();
    let shop = Arc::new(Shop { device: Device::from_pem(&device).unwrap(), merchant });
    (app.with_apple_pay(keys, Arc::clone(&shop)).await, shop)
}

impl Shop {
    /// The token for a payment in BRL that a payer confirms now.
    pub fn token(&self, app: &TestApp, amount: u64) -> Value {
        self.token_for(app, &purchase(app, amount))
    }

    pub fn token_for(&self, app: &TestApp, purchase: &Purchase<'_>) -> Value {
        let token = self.device.pay(&self.merchant, purchase, since_epoch(&app.clock)).unwrap();
        serde_json::to_value(token).unwrap()
    }

    /// The body of a charge of 150 by Apple Pay.
    pub fn charge(&self, app: &TestApp, merchant: &str) -> Value {
        by_apple_pay(merchant, self.token(app, 150))
    }
}

/// A purchase in BRL with an id of its own.
pub fn purchase(app: &TestApp, amount: u64) -> Purchase<'static> {
    Purchase {
        device_account_number: DEVICE_ACCOUNT_NUMBER,
        expiration_year: 2030,
        expiration_month: 12,
        currency_number: BRL,
        amount,
        transaction_id: app.app.chance.bytes(),
    }
}

/// The body of a charge of 150 with this token.
pub fn by_apple_pay(merchant: &str, token: Value) -> Value {
    json!({
        "merchantId": merchant, "amount": 150, "currency": "BRL", "capture": true,
        "paymentMethod": { "paymentType": "apple_pay", "installments": 1 },
        "paymentSource": { "sourceType": "wallet", "walletPayment": "credit", "paymentData": token }
    })
}

/// The body of a charge of 150 by Click to Pay, with a checkout of its own.
pub fn by_click_to_pay(merchant: &str) -> Value {
    static CHECKOUTS: AtomicU32 = AtomicU32::new(0);
    let correlation_id = format!("34f4a04b-{}", CHECKOUTS.fetch_add(1, Ordering::Relaxed));
    json!({
        "merchantId": merchant, "amount": 150, "currency": "BRL", "capture": true,
        "paymentMethod": { "paymentType": "click_to_pay", "installments": 2 },
        "paymentSource": {
            "sourceType": "wallet", "walletPayment": "credit",
            "walletClickToPay": {
                "dpaId": "dpa-1", "correlationId": correlation_id, "flowId": "flow-2",
                "merchantTransactionId": "order-3",
            }
        }
    })
}

fn since_epoch(clock: &Clock) -> Duration {
    Duration::from_millis(u64::try_from(clock.deployment().as_millis()).unwrap())
}
