//! Who may sign payment tokens: holders of a certificate that is marked for it, issued by a certificate that is marked
//! for issuing it, under a trusted root. How long ago they may have signed.

use std::time::Duration;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, SignatureVerificationAlgorithm, TrustAnchor, UnixTime};
use webpki::aws_lc_rs::{ECDSA_P256_SHA256, ECDSA_P256_SHA384, ECDSA_P384_SHA256, ECDSA_P384_SHA384};
use webpki::{EndEntityCert, Error, ExtendedKeyUsageValidator, KeyPurposeIdIter, anchor_from_trusted_cert};

use super::device_signature::DeviceSignature;
use super::error::{KeyError, TokenError};
use super::token::SignedContent;

/// How certificates may be signed.
const ALGORITHMS: [&dyn SignatureVerificationAlgorithm; 4] =
    [ECDSA_P256_SHA256, ECDSA_P256_SHA384, ECDSA_P384_SHA256, ECDSA_P384_SHA384];
/// How far a device's clock may be ahead.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// The certificates to which every signature must lead.
pub struct TrustedRoots(Vec<TrustAnchor<'static>>);

impl TrustedRoots {
    /// Reads all certificates in a text of PEM blocks.
    ///
    /// # Errors
    /// There is none, or one cannot be read.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let certificates: Result<Vec<CertificateDer<'_>>, _> =
            CertificateDer::pem_slice_iter(text.as_bytes()).collect();
        let certificates = certificates.map_err(|_| KeyError::CertificateFormat)?;
        if certificates.is_empty() {
            return Err(KeyError::NoCertificate);
        }
        let anchors = certificates.iter().map(|der| Ok(anchor_from_trusted_cert(der)?.to_owned()));
        anchors.collect::<Result<_, Error>>().map(Self).map_err(|_| KeyError::CertificateFormat)
    }

    /// Checks that a trusted device has signed the content, at most `longest_age` ago.
    pub(super) fn verify(
        &self,
        signature: &str,
        content: &SignedContent,
        now: Duration,
        longest_age: Duration,
    ) -> Result<(), TokenError> {
        let signature = DeviceSignature::parse(signature).ok_or(TokenError::SignatureFormat)?;
        let certificate = signature.marked_signer().ok_or(TokenError::Untrusted)?;
        let certificate = EndEntityCert::try_from(&certificate).map_err(|_| TokenError::Untrusted)?;
        self.check_chain(&certificate, &signature.marked_issuers(), now)?;
        if !signature.is_of(&certificate, content) {
            return Err(TokenError::SignatureMismatch);
        }
        if signature.made_at() > now + CLOCK_TOLERANCE {
            return Err(TokenError::InFuture);
        }
        if signature.made_at() + longest_age < now {
            return Err(TokenError::TooOld);
        }
        Ok(())
    }

    fn check_chain(
        &self,
        signer: &EndEntityCert<'_>,
        issuers: &[CertificateDer<'_>],
        now: Duration,
    ) -> Result<(), TokenError> {
        let time = UnixTime::since_unix_epoch(now);
        let path = signer
            .verify_for_usage(&ALGORITHMS, &self.0, issuers, time, AnyUsage, None, None)
            .map_err(untrusted)?;
        // A root that had signed the signer's certificate itself would go around the issuer's mark.
        if path.intermediate_certificates().count() == 1 { Ok(()) } else { Err(TokenError::Untrusted) }
    }
}

/// The certificates of payment tokens are told by their marks instead of an extended key usage.
struct AnyUsage;

impl ExtendedKeyUsageValidator for AnyUsage {
    fn validate(&self, _: KeyPurposeIdIter<'_, '_>) -> Result<(), Error> {
        Ok(())
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "a list of another library, which grows")]
fn untrusted(error: Error) -> TokenError {
    match error {
        Error::CertExpired { .. } | Error::CertNotValidYet { .. } => TokenError::CertificateExpired,
        _ => TokenError::Untrusted,
    }
}
