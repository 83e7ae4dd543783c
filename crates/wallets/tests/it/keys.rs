//! Files of keys are checked when they are read, not when somebody pays.

use regente_wallets::apple_pay::test_keys::{self, Device, TestKeys};
use regente_wallets::apple_pay::{KeyError, MerchantKey, TrustedRoots};

use crate::support::NOW;

#[test]
fn a_merchant_needs_a_certificate_and_its_key() {
    let keys = TestKeys::generate(NOW).unwrap();
    let [merchant, other] = ["merchant.com.example"; 2].map(|name| test_keys::merchant(name, NOW).unwrap());
    let (certificate, key) = split(&merchant);
    let (other_certificate, _) = split(&other);
    let error = |text: &str| MerchantKey::from_pem(text).err();
    assert_eq!(error(&format!("{key}{certificate}")), None, "in any order, after other text");
    assert_eq!(error(&format!("A note.\n{certificate}{key}")), None);
    assert_eq!(error(""), Some(KeyError::NoCertificate));
    assert_eq!(error(certificate), Some(KeyError::NoPrivateKey));
    assert_eq!(error(key), Some(KeyError::NoCertificate));
    assert_eq!(error(&format!("{other_certificate}{key}")), Some(KeyError::NotAPair));
    assert_eq!(error(&keys.device), Some(KeyError::NoMerchantIdentifier));
    let p384 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap().serialize_pem();
    assert_eq!(error(&format!("{certificate}{p384}")), Some(KeyError::PrivateKeyFormat));
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert_eq!(error(garbage), Some(KeyError::CertificateFormat));
}

#[test]
fn roots_are_certificates() {
    assert_eq!(TrustedRoots::from_pem("").err(), Some(KeyError::NoCertificate));
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert_eq!(TrustedRoots::from_pem(garbage).err(), Some(KeyError::CertificateFormat));
}

#[test]
fn a_device_needs_two_certificates_and_a_key() {
    let keys = TestKeys::generate(NOW).unwrap();
    let merchant = test_keys::merchant("merchant.com.example", NOW).unwrap();
    assert!(Device::from_pem(&keys.device).is_ok());
    assert_eq!(Device::from_pem(&merchant).err(), Some(KeyError::SignerCertificates));
    let certificates = keys.device.split("-----BEGIN PRIVATE").next().unwrap();
    assert_eq!(Device::from_pem(certificates).err(), Some(KeyError::NoPrivateKey));
}

/// The certificate and the key of a merchant.
fn split(merchant: &str) -> (&str, &str) {
    merchant.split_at(merchant.find("-----BEGIN PRIVATE").unwrap())
}
