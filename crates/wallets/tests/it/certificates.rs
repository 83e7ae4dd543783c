//! Certificates that must not be trusted: without their marks, under another root, expired.

use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType, IsCa, KeyPair,
    KeyUsagePurpose,
};
use regente_wallets::apple_pay::test_keys::{Device, TestKeys};
use regente_wallets::apple_pay::{Token, TokenError};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;

use crate::support::{NOW, Shop, open, purchase, refusal};

const SIGNER_MARK: &[u64] = &[1, 2, 840, 113_635, 100, 6, 29];
const ISSUER_MARK: &[u64] = &[1, 2, 840, 113_635, 100, 6, 2, 14];
const MERCHANT_IDENTIFIER: &[u64] = &[1, 2, 840, 113_635, 100, 6, 32];
/// NULL in DER.
const NULL: &[u8] = &[5, 0];
const TEN_YEARS: Duration = Duration::from_secs(3650 * 24 * 3600);

/// How a chain of certificates is made.
struct Chain {
    signer_mark: &'static [u64],
    issuer_mark: &'static [u64],
    signer_until: Duration,
    issuer_is: IsCa,
}

const RIGHT: Chain = Chain {
    signer_mark: SIGNER_MARK,
    issuer_mark: ISSUER_MARK,
    signer_until: TEN_YEARS,
    issuer_is: IsCa::Ca(BasicConstraints::Unconstrained),
};

impl Chain {
    /// The root, and what a device holds.
    fn make(self) -> (String, String) {
        let ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = CertifiedIssuer::self_signed(params("Root", ca, None, TEN_YEARS), key()).unwrap();
        let issuer = params("Issuer", self.issuer_is, Some(self.issuer_mark), TEN_YEARS);
        let issuer = CertifiedIssuer::signed_by(issuer, key(), &root).unwrap();
        let device_key = key();
        let device = params("Signer", IsCa::ExplicitNoCa, Some(self.signer_mark), self.signer_until);
        let device = device.signed_by(&device_key, &issuer).unwrap();
        (root.pem(), [device.pem(), issuer.pem(), device_key.serialize_pem()].concat())
    }

    /// What becomes of a token that is signed with this chain.
    fn outcome(self) -> Result<(), TokenError> {
        let shop = Shop::new();
        let (root, device) = self.make();
        open(&signed_by(&device, &shop), &root, &[&shop.merchant], NOW).map(drop)
    }
}

#[test]
fn a_chain_with_both_marks_is_trusted() {
    assert_eq!(RIGHT.outcome(), Ok(()));
}

#[test]
fn a_signer_without_its_mark_is_not_trusted() {
    let chain = Chain { signer_mark: &[1, 2, 840, 113_635, 100, 6, 30], ..RIGHT };
    assert_eq!(chain.outcome(), Err(TokenError::Untrusted));
}

#[test]
fn an_issuer_without_its_mark_is_not_trusted() {
    let chain = Chain { issuer_mark: &[1, 2, 840, 113_635, 100, 6, 2, 15], ..RIGHT };
    assert_eq!(chain.outcome(), Err(TokenError::Untrusted));
}

#[test]
fn an_issuer_that_is_no_authority_is_not_trusted() {
    assert_eq!(Chain { issuer_is: IsCa::ExplicitNoCa, ..RIGHT }.outcome(), Err(TokenError::Untrusted));
}

#[test]
fn an_expired_certificate_is_refused() {
    let chain = Chain { signer_until: Duration::ZERO, ..RIGHT };
    assert_eq!(chain.outcome(), Err(TokenError::CertificateExpired));
}

#[test]
fn another_root_is_not_trusted() {
    let shop = Shop::new();
    let other = TestKeys::generate(NOW).unwrap();
    let refused = open(&shop.token(), &other.root, &[&shop.merchant], NOW);
    assert_eq!(refusal(refused), TokenError::Untrusted);
    let both = [other.root.as_str(), &shop.keys.root].concat();
    assert!(open(&shop.token(), &both, &[&shop.merchant], NOW).is_ok());
}

#[test]
fn a_signer_directly_under_the_root_is_not_trusted() {
    // A marked issuer comes along, but did not issue the signer's certificate.
    let shop = Shop::new();
    let ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = CertifiedIssuer::self_signed(params("Root", ca, None, TEN_YEARS), key()).unwrap();
    let issuer = params("Issuer", ca, Some(ISSUER_MARK), TEN_YEARS);
    let issuer = CertifiedIssuer::signed_by(issuer, key(), &root).unwrap();
    let device_key = key();
    let device = params("Signer", IsCa::ExplicitNoCa, Some(SIGNER_MARK), TEN_YEARS);
    let device = device.signed_by(&device_key, &root).unwrap();
    let device = [device.pem(), issuer.pem(), device_key.serialize_pem()].concat();
    let refused = open(&signed_by(&device, &shop), &root.pem(), &[&shop.merchant], NOW);
    assert_eq!(refusal(refused), TokenError::Untrusted);
}

#[test]
fn a_signature_by_another_key_than_the_certificates_is_refused() {
    let shop = Shop::new();
    let (root, device) = RIGHT.make();
    let certificates = device.split_inclusive("-----END CERTIFICATE-----\n").take(2).collect::<String>();
    let device = certificates + &key().serialize_pem();
    let refused = open(&signed_by(&device, &shop), &root, &[&shop.merchant], NOW);
    assert_eq!(refusal(refused), TokenError::SignatureMismatch);
}

/// A merchant who holds the key of another one, with a certificate for another identifier.
pub(crate) fn merchant_with_the_key_of(merchant: &str, identifier: &str) -> String {
    let key = PrivateKeyDer::from_pem_slice(merchant.as_bytes()).unwrap();
    let key = KeyPair::try_from(&key).unwrap();
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, identifier.as_bytes());
    let text = hex::encode(digest);
    let mut content = vec![0x0C, u8::try_from(text.len()).unwrap()];
    content.extend_from_slice(text.as_bytes());
    let mut certificate = params(identifier, IsCa::ExplicitNoCa, None, TEN_YEARS);
    certificate.custom_extensions = vec![CustomExtension::from_oid_content(MERCHANT_IDENTIFIER, content)];
    [certificate.self_signed(&key).unwrap().pem(), key.serialize_pem()].concat()
}

fn signed_by(device: &str, shop: &Shop) -> Token {
    Device::from_pem(device).unwrap().pay(&shop.merchant, &purchase(), NOW).unwrap()
}

fn key() -> KeyPair {
    KeyPair::generate().unwrap()
}

/// A certificate that is valid until some time after now.
fn params(name: &str, is_ca: IsCa, mark: Option<&[u64]>, until: Duration) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    if matches!(is_ca, IsCa::Ca(_)) {
        params.key_usages.push(KeyUsagePurpose::KeyCertSign);
    }
    params.is_ca = is_ca;
    params.custom_extensions =
        mark.map(|oid| CustomExtension::from_oid_content(oid, NULL.to_vec())).into_iter().collect();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    params.not_before = epoch + NOW - Duration::from_secs(3600);
    params.not_after = epoch + NOW + until - Duration::from_secs(60);
    params
}
