//! The signature of a token: a detached CMS signature of one signer with signed attributes (RFC 5652), and the
//! certificates that come with it. Whom to trust is not decided here.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cms::cert::CertificateChoices;
use cms::content_info::ContentInfo;
use cms::signed_data::{SignedData, SignerIdentifier, SignerInfo};
use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;
use webpki::aws_lc_rs::ECDSA_P256_SHA256;
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, OctetString};
use x509_cert::der::{Decode, Encode};
use x509_cert::time::Time;

use super::ber;
use super::token::{SignedContent, sha256};

pub(super) const SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");
pub(super) const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");
pub(super) const CONTENT_TYPE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.3");
pub(super) const MESSAGE_DIGEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.4");
pub(super) const SIGNING_TIME: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.5");
pub(super) const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
pub(super) const ECDSA_WITH_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");
/// The extension of certificates with which devices sign payment tokens.
pub(super) const SIGNER_MARK: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113635.100.6.29");
/// The extension of certificates that issue those.
pub(super) const ISSUER_MARK: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113635.100.6.2.14");

/// A signature as it came, of the one form that devices make.
pub(super) struct DeviceSignature {
    certificates: Vec<Certificate>,
    signer: SignerInfo,
    signed_digest: OctetString,
    made_at: Duration,
}

impl DeviceSignature {
    /// Reads a signature in base64; `None` for anything but a detached signature of one signer by ECDSA with SHA-256
    /// that says when it was made.
    pub(super) fn parse(base64: &str) -> Option<Self> {
        let der = ber::to_der(&STANDARD.decode(base64).ok()?)?;
        let outer = ContentInfo::from_der(&der).ok().filter(|outer| outer.content_type == SIGNED_DATA)?;
        let SignedData { encap_content_info, certificates, signer_infos, .. } =
            outer.content.decode_as().ok()?;
        let is_detached = encap_content_info.econtent_type == DATA && encap_content_info.econtent.is_none();
        let certificates = certificates?.0.into_vec().into_iter().filter_map(|choice| match choice {
            CertificateChoices::Certificate(certificate) => Some(certificate),
            CertificateChoices::Other(_) => None,
        });
        let mut signers = signer_infos.0.into_vec().into_iter();
        let signer = signers.next().filter(|_| is_detached)?;
        let is_supported =
            signer.digest_alg.oid == SHA256 && signer.signature_algorithm.oid == ECDSA_WITH_SHA256;
        if !is_supported
            || signers.next().is_some()
            || attribute::<ObjectIdentifier>(&signer, CONTENT_TYPE)? != DATA
        {
            return None;
        }
        let signed_digest = attribute(&signer, MESSAGE_DIGEST)?;
        let made_at = attribute::<Time>(&signer, SIGNING_TIME)?.to_unix_duration();
        Some(Self { certificates: certificates.collect(), signer, signed_digest, made_at })
    }

    /// When the signer says it signed, since the Unix epoch.
    pub(super) fn made_at(&self) -> Duration {
        self.made_at
    }

    /// The certificate that the signature names, if it is marked as one for payment tokens.
    pub(super) fn marked_signer(&self) -> Option<CertificateDer<'static>> {
        let named = self.certificates.iter().find(|certificate| match &self.signer.sid {
            SignerIdentifier::IssuerAndSerialNumber(named) => {
                let of = &certificate.tbs_certificate;
                of.issuer == named.issuer && of.serial_number == named.serial_number
            }
            SignerIdentifier::SubjectKeyIdentifier(_) => false,
        });
        named.filter(|certificate| is_marked(certificate, SIGNER_MARK)).and_then(der_of)
    }

    /// The certificates that are marked as issuers of those for payment tokens.
    pub(super) fn marked_issuers(&self) -> Vec<CertificateDer<'static>> {
        let marked = self.certificates.iter().filter(|certificate| is_marked(certificate, ISSUER_MARK));
        marked.filter_map(der_of).collect()
    }

    /// Whether the holder of the certificate has signed exactly this content.
    pub(super) fn is_of(&self, certificate: &EndEntityCert<'_>, content: &SignedContent) -> bool {
        let Some(Ok(attributes)) = self.signer.signed_attrs.as_ref().map(Encode::to_der) else {
            return false;
        };
        let signature = self.signer.signature.as_bytes();
        self.signed_digest.as_bytes() == sha256(&content.bytes())
            && certificate.verify_signature(ECDSA_P256_SHA256, &attributes, signature).is_ok()
    }
}

/// The value of an attribute that is signed, if it has one.
fn attribute<T: for<'a> Decode<'a>>(signer: &SignerInfo, oid: ObjectIdentifier) -> Option<T> {
    let attribute = signer.signed_attrs.as_ref()?.iter().find(|attribute| attribute.oid == oid)?;
    let [value] = attribute.values.as_slice() else { return None };
    T::from_der(&value.to_der().ok()?).ok()
}

fn is_marked(certificate: &Certificate, mark: ObjectIdentifier) -> bool {
    let mut extensions = certificate.tbs_certificate.extensions.iter().flatten();
    extensions.any(|extension| extension.extn_id == mark)
}

fn der_of(certificate: &Certificate) -> Option<CertificateDer<'static>> {
    certificate.to_der().ok().map(CertificateDer::from)
}
