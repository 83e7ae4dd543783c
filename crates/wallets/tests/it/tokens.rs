//! A token is opened by the merchant for whom it was made, as it was made, soon.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regente_wallets::apple_pay::TokenError;
use regente_wallets::apple_pay::test_keys::{self, Device};

use crate::support::{DEVICE_ACCOUNT_NUMBER, LONGEST_AGE, NOW, Shop, open, purchase, refusal};

#[test]
fn a_token_is_opened_by_its_merchant() {
    let shop = Shop::new();
    let payment = shop.open(&shop.token()).ok().unwrap();
    assert_eq!(payment.device_account_number.as_str(), DEVICE_ACCOUNT_NUMBER);
    assert_eq!((payment.expiration_year, payment.expiration_month), (2031, 7));
    assert_eq!((payment.amount, payment.currency_number), (1500, 986));
    assert_eq!(payment.eci.as_deref(), Some("5"));
    assert_eq!(STANDARD.decode(payment.cryptogram.as_str()).unwrap().len(), 20);
    assert!(payment.cardholder_name.is_none());
}

#[test]
fn a_token_that_names_no_key_is_opened_by_the_one_that_fits() {
    let shop = Shop::new();
    let other = test_keys::merchant("merchant.com.other", NOW).unwrap();
    let mut token = shop.token();
    token.header.public_key_hash = None;
    assert!(open(&token, &shop.keys.root, &[&other, &shop.merchant], NOW).is_ok());
    let refused = open(&token, &shop.keys.root, &[&other], NOW);
    assert_eq!(refusal(refused), TokenError::Undecipherable);
    assert_eq!(refusal(open(&token, &shop.keys.root, &[], NOW)), TokenError::OtherMerchant);
}

#[test]
fn a_token_of_another_merchant_is_refused() {
    let shop = Shop::new();
    let other = test_keys::merchant("merchant.com.other", NOW).unwrap();
    let token = Device::from_pem(&shop.keys.device).unwrap().pay(&other, &purchase(), NOW).unwrap();
    assert_eq!(refusal(shop.open(&token)), TokenError::OtherMerchant);
}

#[test]
fn a_key_with_the_certificate_of_another_merchant_identifier_decrypts_nothing() {
    // The same key in a certificate for another identifier: the derived key differs.
    let shop = Shop::new();
    let other = crate::certificates::merchant_with_the_key_of(&shop.merchant, "merchant.com.other");
    let refused = open(&shop.token(), &shop.keys.root, &[&other], NOW);
    assert_eq!(refusal(refused), TokenError::Undecipherable);
}

#[test]
fn only_version_ec_v1_is_opened() {
    let shop = Shop::new();
    for version in ["RSA_v1", "EC_v2", ""] {
        let mut token = shop.token();
        version.clone_into(&mut token.version);
        assert_eq!(refusal(shop.open(&token)), TokenError::Version, "{version}");
    }
}

#[test]
fn nothing_that_is_signed_can_be_changed() {
    let shop = Shop::new();
    let mut token = shop.token();
    token.data = with_another_first_byte(&token.data);
    assert_eq!(refusal(shop.open(&token)), TokenError::SignatureMismatch, "data");

    let mut token = shop.token();
    token.header.ephemeral_public_key = shop.token().header.ephemeral_public_key;
    assert_eq!(refusal(shop.open(&token)), TokenError::SignatureMismatch, "ephemeralPublicKey");

    for transaction_id in [Some("00".repeat(32)), None] {
        let mut token = shop.token();
        token.header.transaction_id = transaction_id;
        assert_eq!(refusal(shop.open(&token)), TokenError::SignatureMismatch, "transactionId");
    }

    let mut token = shop.token();
    token.header.application_data = Some("ab".repeat(32));
    assert_eq!(refusal(shop.open(&token)), TokenError::SignatureMismatch, "applicationData");
}

#[test]
fn the_signature_of_another_token_is_refused() {
    let shop = Shop::new();
    let mut token = shop.token();
    token.signature = shop.token().signature;
    assert_eq!(refusal(shop.open(&token)), TokenError::SignatureMismatch);
}

#[test]
fn a_signature_with_another_time_is_refused() {
    // The digest stays right: only the signature over the attributes tells that the time was changed.
    let shop = Shop::new();
    let mut token = shop.token();
    let mut signature = STANDARD.decode(&token.signature).unwrap();
    let year = signature.windows(5).rposition(|window| window == b"20260").unwrap();
    signature[year + 3] = b'7';
    token.signature = STANDARD.encode(signature);
    assert_eq!(refusal(shop.open(&token)), TokenError::SignatureMismatch);
}

#[test]
fn a_token_must_be_used_at_once() {
    let shop = Shop::new();
    let token = shop.token();
    assert!(shop.open_at(&token, NOW + LONGEST_AGE).is_ok());
    let late = shop.open_at(&token, NOW + LONGEST_AGE + Duration::from_secs(1));
    assert_eq!(refusal(late), TokenError::TooOld);
    assert!(shop.open_at(&token, NOW - Duration::from_secs(60)).is_ok());
    let early = shop.open_at(&token, NOW - Duration::from_secs(61));
    assert_eq!(refusal(early), TokenError::InFuture);
}

#[test]
fn members_that_cannot_be_decoded_are_named() {
    let shop = Shop::new();
    let mut token = shop.token();
    token.data = "%".to_owned();
    assert_eq!(refusal(shop.open(&token)).member(), "data");
    let mut token = shop.token();
    token.signature = STANDARD.encode(b"no signature");
    assert_eq!(refusal(shop.open(&token)).member(), "signature");
    let mut token = shop.token();
    token.header.ephemeral_public_key = "%".to_owned();
    assert_eq!(refusal(shop.open(&token)).member(), "header.ephemeralPublicKey");
    let mut token = shop.token();
    token.header.public_key_hash = Some(STANDARD.encode([0; 31]));
    assert_eq!(refusal(shop.open(&token)).member(), "header.publicKeyHash");
    let mut token = shop.token();
    token.header.transaction_id = Some("no digits".to_owned());
    assert_eq!(refusal(shop.open(&token)).member(), "header.transactionId");
    let mut token = shop.token();
    token.header.application_data = Some("no digits".to_owned());
    assert_eq!(refusal(shop.open(&token)).member(), "header.applicationData");
}

#[test]
fn every_byte_of_a_signature_can_be_wrong_without_harm() {
    let shop = Shop::new();
    let token = shop.token();
    let signature = STANDARD.decode(&token.signature).unwrap();
    for index in 0..signature.len() {
        let mut changed = signature.clone();
        changed[index] ^= 0x40;
        let mut token = token.clone();
        token.signature = STANDARD.encode(&changed);
        // Bytes that nothing depends on, such as the version, may differ; what the token says is the same then.
        if let Ok(payment) = shop.open(&token) {
            assert_eq!(payment.amount, 1500);
        }
        token.signature = STANDARD.encode(&signature[..index]);
        assert_eq!(refusal(shop.open(&token)), TokenError::SignatureFormat, "cut at {index}");
    }
}

#[test]
fn a_signature_that_brings_its_content_is_refused() {
    let shop = Shop::new();
    let mut token = shop.token();
    let mut signature = STANDARD.decode(&token.signature).unwrap();
    // After the content's type, before its end: [0] { OCTET STRING of one byte }.
    let data_type = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01\x00\x00";
    let start = signature.windows(data_type.len()).position(|window| window == data_type).unwrap();
    let end = start + data_type.len() - 2;
    signature.splice(end..end, *b"\xa0\x03\x04\x01\x00");
    token.signature = STANDARD.encode(signature);
    assert_eq!(refusal(shop.open(&token)), TokenError::SignatureFormat);
}

#[test]
fn a_signature_of_two_signers_is_refused() {
    let shop = Shop::new();
    let mut token = shop.token();
    let signature = STANDARD.decode(&token.signature).unwrap();
    // The signers are a set of definite length, before the ends of three layers.
    let (body, ends) = signature.split_at(signature.len() - 6);
    let start = (0..body.len() - 4)
        .find(|start| match body[*start..] {
            [0x31, 0x82, high, low, ..] => {
                start + 4 + usize::from(u16::from_be_bytes([high, low])) == body.len()
            }
            _ => false,
        })
        .unwrap();
    let signer = &body[start + 4..];
    let mut other = signer.to_vec();
    *other.last_mut().unwrap() ^= 1;
    let mut signers = [signer, &other];
    signers.sort();
    let length = u16::try_from(2 * signer.len()).unwrap().to_be_bytes();
    let changed = [&body[..start], &[0x31, 0x82], &length, signers[0], signers[1], ends].concat();
    token.signature = STANDARD.encode(changed);
    assert_eq!(refusal(shop.open(&token)), TokenError::SignatureFormat);
}

#[test]
fn a_payment_is_known_by_what_was_signed() {
    let shop = Shop::new();
    let token = shop.token();
    let digest = |token| shop.open(token).ok().unwrap().digest;
    let mut again = token.clone();
    again.header.public_key_hash = None;
    assert_eq!(digest(&token), digest(&again));
    assert_ne!(digest(&token), digest(&shop.token()));
}

fn with_another_first_byte(base64: &str) -> String {
    let mut bytes = STANDARD.decode(base64).unwrap();
    bytes[0] ^= 1;
    STANDARD.encode(bytes)
}
