//! Makes keys and tokens for tests and sandboxes: certificates under a root of their own, marked as Apple's are, and
//! tokens of the same form. A deployment that trusts Apple's root refuses them.

mod device;

use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType, IsCa, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384,
};
use x509_cert::der::Encode;
use x509_cert::der::asn1::{Null, ObjectIdentifier, Utf8StringRef};

use super::device_signature::{ISSUER_MARK, SIGNER_MARK};
use super::error::KeyError;
use super::merchant::MERCHANT_IDENTIFIER;
use super::token::sha256;

pub use device::{Device, Purchase};

/// How long the certificates are valid.
const VALID_FOR: Duration = Duration::from_secs(3650 * 24 * 3600);
/// How long they have been valid when they are made, for machines whose clocks differ.
const VALID_SINCE: Duration = Duration::from_secs(24 * 3600);

/// Those who sign the tokens of a sandbox, each text in PEM.
pub struct TestKeys {
    /// The root to trust.
    pub root: String,
    /// What a [`Device`] holds: its certificate, its issuer's, and its private key.
    pub device: String,
}

impl TestKeys {
    /// Makes a root, an issuer and a signer.
    ///
    /// # Errors
    /// The machine gives no random numbers.
    pub fn generate(now: Duration) -> Result<Self, KeyError> {
        Self::try_generate(now).map_err(|_| KeyError::NotMade)
    }

    fn try_generate(now: Duration) -> Result<Self, rcgen::Error> {
        let authority = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = CertifiedIssuer::self_signed(
            certificate("Test Root CA", authority, &[], now),
            KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384)?,
        )?;
        let issuer_mark = extension(ISSUER_MARK, Null.to_der());
        let issuer = CertifiedIssuer::signed_by(
            certificate("Test Payment Token CA", authority, &[issuer_mark], now),
            KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?,
            &root,
        )?;
        let device_key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let signer_mark = extension(SIGNER_MARK, Null.to_der());
        let device = certificate("Test Payment Token Signer", IsCa::ExplicitNoCa, &[signer_mark], now)
            .signed_by(&device_key, &issuer)?;
        Ok(Self {
            root: root.pem(),
            device: [device.pem(), issuer.pem(), device_key.serialize_pem()].concat(),
        })
    }
}

/// Makes what a merchant with this identifier, such as `merchant.com.example`, holds: a certificate for processing
/// payments and its private key, in PEM. Nobody asks who has signed it.
///
/// # Errors
/// The machine gives no random numbers.
pub fn merchant(identifier: &str, now: Duration) -> Result<String, KeyError> {
    let identifier_hash = hex::encode_upper(sha256(identifier.as_bytes()));
    let mark = Utf8StringRef::new(&identifier_hash).and_then(|text| text.to_der());
    let made = || {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mark = extension(MERCHANT_IDENTIFIER, mark);
        let certificate = certificate(identifier, IsCa::ExplicitNoCa, &[mark], now).self_signed(&key)?;
        Ok([certificate.pem(), key.serialize_pem()].concat())
    };
    made().map_err(|_: rcgen::Error| KeyError::NotMade)
}

fn certificate(name: &str, is_ca: IsCa, extensions: &[CustomExtension], now: Duration) -> CertificateParams {
    let mut certificate = CertificateParams::default();
    certificate.distinguished_name.remove(DnType::CommonName);
    certificate.distinguished_name.push(DnType::CommonName, name);
    certificate.key_usages.push(match &is_ca {
        IsCa::Ca(_) => KeyUsagePurpose::KeyCertSign,
        IsCa::NoCa | IsCa::ExplicitNoCa => KeyUsagePurpose::DigitalSignature,
    });
    certificate.is_ca = is_ca;
    certificate.custom_extensions = extensions.to_vec();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    certificate.not_before = epoch + now.saturating_sub(VALID_SINCE);
    certificate.not_after = epoch + now + VALID_FOR;
    certificate
}

fn extension<E>(oid: ObjectIdentifier, content: Result<Vec<u8>, E>) -> CustomExtension {
    let arcs: Vec<u64> = oid.arcs().map(u64::from).collect();
    // The values are two fixed shapes, which always encode.
    CustomExtension::from_oid_content(&arcs, content.unwrap_or_default())
}
