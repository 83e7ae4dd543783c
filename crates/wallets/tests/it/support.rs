//! One merchant, one device, one purchase, and a clock that stands still.

use std::time::Duration;

use regente_wallets::apple_pay::test_keys::{self, Device, Purchase, TestKeys};
use regente_wallets::apple_pay::{DevicePayment, MerchantKey, MerchantKeys, Token, TokenError, TrustedRoots};

pub(crate) const NOW: Duration = Duration::from_secs(1_790_000_000);
pub(crate) const LONGEST_AGE: Duration = Duration::from_secs(300);
pub(crate) const DEVICE_ACCOUNT_NUMBER: &str = "4895370012003478";

pub(crate) struct Shop {
    pub(crate) keys: TestKeys,
    pub(crate) merchant: String,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let merchant = test_keys::merchant("merchant.com.example", NOW).unwrap();
        Self { keys: TestKeys::generate(NOW).unwrap(), merchant }
    }

    /// A token that this shop's merchant can open now.
    pub(crate) fn token(&self) -> Token {
        self.token_at(NOW)
    }

    pub(crate) fn token_at(&self, time: Duration) -> Token {
        let device = Device::from_pem(&self.keys.device).unwrap();
        device.pay(&self.merchant, &purchase(), time).unwrap()
    }

    pub(crate) fn open(&self, token: &Token) -> Result<DevicePayment, TokenError> {
        self.open_at(token, NOW)
    }

    pub(crate) fn open_at(&self, token: &Token, now: Duration) -> Result<DevicePayment, TokenError> {
        open(token, &self.keys.root, &[&self.merchant], now)
    }
}

pub(crate) fn open(
    token: &Token,
    root: &str,
    merchants: &[&str],
    now: Duration,
) -> Result<DevicePayment, TokenError> {
    let roots = TrustedRoots::from_pem(root).unwrap();
    let keys: Vec<MerchantKey> = merchants.iter().map(|pem| MerchantKey::from_pem(pem).unwrap()).collect();
    MerchantKeys { roots: &roots, keys: &keys, longest_age: LONGEST_AGE }.open(token, now)
}

pub(crate) fn purchase() -> Purchase<'static> {
    Purchase {
        device_account_number: DEVICE_ACCOUNT_NUMBER,
        expiration_year: 2031,
        expiration_month: 7,
        currency_number: 986,
        amount: 1500,
        transaction_id: [7; 32],
    }
}

/// Why a token was refused.
#[track_caller]
pub(crate) fn refusal(result: Result<DevicePayment, TokenError>) -> TokenError {
    result.err().expect("the token is refused")
}
