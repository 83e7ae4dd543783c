//! Makes a token as a device does: the payment is encrypted for the merchant, and what was encrypted is signed.

use std::time::Duration;

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cms::cert::IssuerAndSerialNumber;
use cms::content_info::CmsVersion;
use cms::signed_data::{SignerIdentifier, SignerInfo};
use rcgen::{KeyPair, SigningKey};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use x509_cert::Certificate;
use x509_cert::attr::Attribute;
use x509_cert::der::asn1::{Any, GeneralizedTime, ObjectIdentifier, OctetString, SetOfVec};
use x509_cert::der::{self, Decode, Encode};
use x509_cert::spki::AlgorithmIdentifierOwned;
use x509_cert::time::Time;

use crate::apple_pay::ber::indefinite;
use crate::apple_pay::device_signature::{
    CONTENT_TYPE, DATA, ECDSA_WITH_SHA256, MESSAGE_DIGEST, SHA256, SIGNED_DATA, SIGNING_TIME,
};
use crate::apple_pay::encryption::encrypt;
use crate::apple_pay::error::KeyError;
use crate::apple_pay::merchant::MerchantCertificate;
use crate::apple_pay::payment::PAYMENT_TYPE;
use crate::apple_pay::token::{VERSION, sha256};
use crate::apple_pay::{Digest, Header, Token};

const SEQUENCE: u8 = 0x30;
const CONTEXT_0: u8 = 0xA0;
/// Bytes of a cryptogram.
const CRYPTOGRAM_BYTES: usize = 20;

/// A device that signs payments.
pub struct Device {
    key: KeyPair,
    certificate: Certificate,
    issuer: Certificate,
}

/// What a payer confirms on the device.
pub struct Purchase<'a> {
    /// The number that stands for the card.
    pub device_account_number: &'a str,
    /// The year in which it expires.
    pub expiration_year: u16,
    /// The month in which it expires.
    pub expiration_month: u8,
    /// The currency's number in ISO 4217.
    pub currency_number: u16,
    /// The amount in the currency's minor unit.
    pub amount: u64,
    /// What tells this payment from all others.
    pub transaction_id: Digest,
}

impl Device {
    /// Reads what [`super::TestKeys`] writes.
    ///
    /// # Errors
    /// A certificate or the key is missing, or cannot be read.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let certificates: Result<Vec<CertificateDer<'_>>, _> =
            CertificateDer::pem_slice_iter(text.as_bytes()).collect();
        let certificates = certificates.map_err(|_| KeyError::CertificateFormat)?;
        let read =
            |der: &CertificateDer<'_>| Certificate::from_der(der).map_err(|_| KeyError::CertificateFormat);
        let [certificate, issuer] = certificates.as_slice() else { return Err(KeyError::SignerCertificates) };
        let key = PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| KeyError::NoPrivateKey)?;
        let key = KeyPair::try_from(&key).map_err(|_| KeyError::PrivateKeyFormat)?;
        Ok(Self { key, certificate: read(certificate)?, issuer: read(issuer)? })
    }

    /// Makes a token for the merchant whose certificate is the first one in `merchant`, a text in PEM. `now` is the time
    /// since the Unix epoch.
    ///
    /// # Errors
    /// The certificate cannot be read.
    pub fn pay(&self, merchant: &str, purchase: &Purchase<'_>, now: Duration) -> Result<Token, KeyError> {
        self.pay_with(merchant, &purchase.content(), purchase.transaction_id, now)
    }

    /// Makes a token with any content, also one that is no payment.
    ///
    /// # Errors
    /// The certificate cannot be read.
    pub fn pay_with(
        &self,
        merchant: &str,
        content: &Value,
        transaction_id: Digest,
        now: Duration,
    ) -> Result<Token, KeyError> {
        let MerchantCertificate { public_key, identifier_hash } = MerchantCertificate::from_pem(merchant)?;
        let ephemeral = PrivateKey::generate(&ECDH_P256).map_err(|_| KeyError::NotMade)?;
        let ephemeral_public_key = ephemeral.compute_public_key().map_err(|_| KeyError::NotMade)?;
        let ephemeral_public_key: PublicKeyX509Der<'_> =
            ephemeral_public_key.as_der().map_err(|_| KeyError::NotMade)?;
        let data = encrypt(&ephemeral, &public_key, &identifier_hash, content.to_string().as_bytes())
            .ok_or(KeyError::CertificateFormat)?;
        let signed = [ephemeral_public_key.as_ref(), data.as_slice(), &transaction_id].concat();
        let signature = self.sign(&sha256(&signed), now).map_err(|_| KeyError::NotMade)?;
        Ok(Token {
            data: STANDARD.encode(&data),
            signature: STANDARD.encode(signature),
            header: Header {
                ephemeral_public_key: STANDARD.encode(ephemeral_public_key.as_ref()),
                public_key_hash: Some(STANDARD.encode(sha256(&public_key))),
                transaction_id: Some(hex::encode(transaction_id)),
                application_data: None,
            },
            version: VERSION.to_owned(),
        })
    }

    /// The signature, its outer layers of indefinite length as devices write them.
    fn sign(&self, digest: &Digest, now: Duration) -> der::Result<Vec<u8>> {
        let algorithms = SetOfVec::try_from(vec![algorithm(SHA256)])?.to_der()?;
        let content = indefinite(SEQUENCE, &[DATA.to_der()?]);
        let certificates = indefinite(CONTEXT_0, &[self.certificate.to_der()?, self.issuer.to_der()?]);
        let signers = SetOfVec::try_from(vec![self.signer(digest, now)?])?.to_der()?;
        let version = CmsVersion::V1.to_der()?;
        let signed = indefinite(SEQUENCE, &[version, algorithms, content, certificates, signers]);
        Ok(indefinite(SEQUENCE, &[SIGNED_DATA.to_der()?, indefinite(CONTEXT_0, &[signed])]))
    }

    fn signer(&self, digest: &Digest, now: Duration) -> der::Result<SignerInfo> {
        let made_at = Time::GeneralTime(GeneralizedTime::from_unix_duration(now)?);
        let attributes = SetOfVec::try_from(vec![
            attribute(CONTENT_TYPE, Any::encode_from(&DATA)?)?,
            attribute(SIGNING_TIME, Any::encode_from(&made_at)?)?,
            attribute(MESSAGE_DIGEST, Any::encode_from(&OctetString::new(digest.as_slice())?)?)?,
        ])?;
        let signature = self.key.sign(&attributes.to_der()?).map_err(|_| der::ErrorKind::Failed)?;
        let certificate = &self.certificate.tbs_certificate;
        Ok(SignerInfo {
            version: CmsVersion::V1,
            sid: SignerIdentifier::IssuerAndSerialNumber(IssuerAndSerialNumber {
                issuer: certificate.issuer.clone(),
                serial_number: certificate.serial_number.clone(),
            }),
            digest_alg: algorithm(SHA256),
            signed_attrs: Some(attributes),
            signature_algorithm: algorithm(ECDSA_WITH_SHA256),
            signature: OctetString::new(signature)?,
            unsigned_attrs: None,
        })
    }
}

impl Purchase<'_> {
    /// What a device encrypts.
    pub fn content(&self) -> Value {
        let (year, month) = (self.expiration_year % 100, self.expiration_month);
        json!({
            "applicationPrimaryAccountNumber": self.device_account_number,
            "applicationExpirationDate": format!("{year:02}{month:02}28"),
            "currencyCode": format!("{:03}", self.currency_number),
            "transactionAmount": self.amount,
            "deviceManufacturerIdentifier": "040010030273",
            "paymentDataType": PAYMENT_TYPE,
            "paymentData": {
                "onlinePaymentCryptogram": STANDARD.encode(&sha256(&self.transaction_id)[..CRYPTOGRAM_BYTES]),
                "eciIndicator": "5",
            },
        })
    }
}

fn algorithm(oid: ObjectIdentifier) -> AlgorithmIdentifierOwned {
    AlgorithmIdentifierOwned { oid, parameters: None }
}

fn attribute(oid: ObjectIdentifier, value: Any) -> der::Result<Attribute> {
    Ok(Attribute { oid, values: SetOfVec::try_from(vec![value])? })
}
