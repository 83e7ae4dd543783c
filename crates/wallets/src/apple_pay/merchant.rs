//! A merchant's key for processing payments, with its certificate.

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, Utf8StringRef};
use x509_cert::der::{Decode, Encode};

use super::error::KeyError;
use super::payment::Digest;
use super::token::sha256;

/// The extension that holds the digest of the merchant identifier, as 64 hexadecimal digits.
pub(super) const MERCHANT_IDENTIFIER: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113635.100.6.32");

/// A private key for which devices encrypt payments, and what its certificate says. Never printed.
pub struct MerchantKey {
    private_key: PrivateKey,
    public_key_hash: Digest,
    identifier_hash: Digest,
}

/// What a merchant's certificate says.
pub(super) struct MerchantCertificate {
    /// The public key, X.509.
    pub(super) public_key: Vec<u8>,
    pub(super) identifier_hash: Digest,
}

impl MerchantKey {
    /// Reads the first certificate and the private key in a text of PEM blocks, in any order.
    ///
    /// # Errors
    /// One is missing, cannot be read, or does not belong to the other.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let MerchantCertificate { public_key, identifier_hash } = MerchantCertificate::from_pem(text)?;
        let key = PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| KeyError::NoPrivateKey)?;
        let private_key = PrivateKey::from_private_key_der(&ECDH_P256, key.secret_der())
            .map_err(|_| KeyError::PrivateKeyFormat)?;
        let computed = private_key.compute_public_key().map_err(|_| KeyError::PrivateKeyFormat)?;
        let computed: PublicKeyX509Der<'_> = computed.as_der().map_err(|_| KeyError::PrivateKeyFormat)?;
        if computed.as_ref() != public_key {
            return Err(KeyError::NotAPair);
        }
        Ok(Self { private_key, public_key_hash: sha256(&public_key), identifier_hash })
    }

    /// The digest by which tokens name this key.
    pub fn public_key_hash(&self) -> Digest {
        self.public_key_hash
    }

    pub(super) fn private_key(&self) -> &PrivateKey {
        &self.private_key
    }

    pub(super) fn identifier_hash(&self) -> &Digest {
        &self.identifier_hash
    }
}

impl MerchantCertificate {
    /// Reads the first certificate in a text of PEM blocks.
    pub(super) fn from_pem(text: &str) -> Result<Self, KeyError> {
        let der = CertificateDer::from_pem_slice(text.as_bytes()).map_err(|_| KeyError::NoCertificate)?;
        let certificate = Certificate::from_der(&der).map_err(|_| KeyError::CertificateFormat)?;
        let public_key = certificate.tbs_certificate.subject_public_key_info.to_der();
        let identifier_hash = identifier_hash(&certificate).ok_or(KeyError::NoMerchantIdentifier)?;
        Ok(Self { public_key: public_key.map_err(|_| KeyError::CertificateFormat)?, identifier_hash })
    }
}

fn identifier_hash(certificate: &Certificate) -> Option<Digest> {
    let mut extensions = certificate.tbs_certificate.extensions.iter().flatten();
    let extension = extensions.find(|extension| extension.extn_id == MERCHANT_IDENTIFIER)?;
    let digits = Utf8StringRef::from_der(extension.extn_value.as_bytes()).ok()?;
    let mut digest = Digest::default();
    hex::decode_to_slice(digits.as_str(), &mut digest).ok()?;
    Some(digest)
}
