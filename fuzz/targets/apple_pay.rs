//! Payment tokens of Apple Pay. The first byte picks what is done with the rest: it is the token as JSON; it is what a device has
//! encrypted and signed, which then opens or is refused for its content; or it changes a byte of a right token, which then opens
//! only to the same payment. Keys are made anew by each run.

#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use regente_fuzz::is_stored;
use regente_wallets::apple_pay::test_keys::{Device, Purchase, TestKeys, merchant};
use regente_wallets::apple_pay::{MerchantKey, MerchantKeys, Token, TokenError, TrustedRoots};

const NOW: Duration = Duration::from_secs(1_767_225_600);

struct Shop {
    merchant: String,
    device: Device,
    roots: TrustedRoots,
    keys: [MerchantKey; 1],
    token: Token,
}

static SHOP: LazyLock<Shop> = LazyLock::new(|| {
    let keys = TestKeys::generate(NOW).expect("keys are made");
    let merchant = merchant("merchant.com.example", NOW).expect("a merchant is made");
    let device = Device::from_pem(&keys.device).expect("a device reads its keys");
    let roots = TrustedRoots::from_pem(&keys.root).expect("a root can be read");
    let key = MerchantKey::from_pem(&merchant).expect("a merchant reads its key");
    let purchase = Purchase {
        device_account_number: "4895370012003478",
        expiration_year: 2031,
        expiration_month: 7,
        currency_number: 986,
        amount: 1_500,
        transaction_id: [7; 32],
    };
    let token = device.pay(&merchant, &purchase, NOW).expect("a token is made");
    Shop { merchant, device, roots, keys: [key], token }
});

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let shop = &*SHOP;
    let keys = MerchantKeys { roots: &shop.roots, keys: &shop.keys, longest_age: Duration::from_secs(300) };
    match first % 3 {
        0 => {
            let Ok(token) = serde_json::from_slice::<Token>(rest) else { return };
            is_stored(&token);
            assert!(keys.open(&token, NOW).is_err(), "nobody signs by chance");
        }
        1 => {
            let Ok(content) = serde_json::from_slice(rest) else { return };
            let token =
                shop.device.pay_with(&shop.merchant, &content, [7; 32], NOW).expect("a token is made");
            match keys.open(&token, NOW) {
                Ok(payment) => {
                    assert!((1..=12).contains(&payment.expiration_month));
                    assert!(payment.device_account_number.bytes().all(|byte| byte.is_ascii_digit()));
                }
                Err(TokenError::Content(_) | TokenError::PaymentType) => {}
                Err(error) => panic!("{error}"),
            }
        }
        _ => {
            let [at, low, to, ..] = rest else { return };
            let changed = changed(&shop.token, usize::from(*at) * 256 + usize::from(*low), *to);
            let Ok(token) = serde_json::from_slice::<Token>(&changed) else { return };
            if let Ok(payment) = keys.open(&token, NOW) {
                assert_eq!((payment.amount, payment.currency_number), (1_500, 986));
            }
        }
    }
});

fn changed(token: &Token, at: usize, to: u8) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(token).expect("a token is written");
    let length = bytes.len();
    bytes[at % length] = to;
    bytes
}

fuzz_mutator!(|data: &mut [u8], size: usize, size_max: usize, seed: u32| {
    regente_fuzz::json::mutate(data, size, size_max, seed, 1)
});
