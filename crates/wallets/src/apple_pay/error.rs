//! What is wrong with a token, or with a file of keys. No message repeats what a token contains.

/// Why a token was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Another version than `EC_v1`.
    #[error("must be `EC_v1`: tokens of other versions, such as `RSA_v1`, are not supported")]
    Version,
    /// `data` cannot be decoded.
    #[error("must be base64")]
    DataEncoding,
    /// `header.ephemeralPublicKey` cannot be decoded.
    #[error("must be base64")]
    EphemeralPublicKeyEncoding,
    /// `header.publicKeyHash` cannot be decoded.
    #[error("must be a SHA-256 digest in base64")]
    PublicKeyHashEncoding,
    /// `header.transactionId` cannot be decoded.
    #[error("must be hexadecimal")]
    TransactionIdEncoding,
    /// `header.applicationData` cannot be decoded.
    #[error("must be hexadecimal")]
    ApplicationDataEncoding,
    /// `signature` is not what a device makes.
    #[error("must be a detached CMS signature of one signer, with signed attributes, in base64")]
    SignatureFormat,
    /// A certificate lacks the extension by which Apple marks those of payment tokens, or leads to another root.
    #[error("was not made with a certificate for payment tokens under the trusted root")]
    Untrusted,
    /// A certificate is not valid at this time.
    #[error("was made with a certificate that has expired or is not valid yet")]
    CertificateExpired,
    /// The signature does not belong to the token.
    #[error("does not belong to this token: the token was changed after it was signed")]
    SignatureMismatch,
    /// The token is too old.
    #[error("was made too long ago: a token must be used at once")]
    TooOld,
    /// The token comes from the future.
    #[error("was made at a time that has not come yet")]
    InFuture,
    /// The token was encrypted for a key that is not there.
    #[error("names none of the account's Apple Pay keys: the token was made for another merchant")]
    OtherMerchant,
    /// The ephemeral key is not a point of P-256.
    #[error("must be a public key of the curve P-256")]
    EphemeralPublicKey,
    /// The key agreed upon does not decrypt the payment.
    #[error("cannot be decrypted with the account's Apple Pay key")]
    Undecipherable,
    /// The payment is not card data with a 3-D Secure cryptogram.
    #[error("must contain a payment of type `3DSecure`")]
    PaymentType,
    /// A member of the payment is missing or wrong.
    #[error("must contain a valid `{0}`")]
    Content(&'static str),
}

impl TokenError {
    /// The path of the member that is wrong, within the token.
    pub fn member(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::DataEncoding | Self::Undecipherable | Self::PaymentType | Self::Content(_) => "data",
            Self::EphemeralPublicKeyEncoding | Self::EphemeralPublicKey => "header.ephemeralPublicKey",
            Self::PublicKeyHashEncoding | Self::OtherMerchant => "header.publicKeyHash",
            Self::TransactionIdEncoding => "header.transactionId",
            Self::ApplicationDataEncoding => "header.applicationData",
            Self::SignatureFormat
            | Self::Untrusted
            | Self::CertificateExpired
            | Self::SignatureMismatch
            | Self::TooOld
            | Self::InFuture => "signature",
        }
    }
}

/// Why a file holds no usable keys or certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no certificate.
    #[error("holds no certificate in PEM")]
    NoCertificate,
    /// A certificate cannot be read.
    #[error("holds a certificate that cannot be read")]
    CertificateFormat,
    /// There is no private key.
    #[error("holds no private key in PEM")]
    NoPrivateKey,
    /// The private key is of another kind.
    #[error("holds a private key that is not one of the curve P-256")]
    PrivateKeyFormat,
    /// Key and certificate are not a pair.
    #[error("holds a private key that does not belong to its first certificate")]
    NotAPair,
    /// The certificate is not one for processing payments.
    #[error("holds a certificate without a merchant identifier: it is none for processing payments")]
    NoMerchantIdentifier,
    /// The signer's certificates are not two.
    #[error("must hold two certificates, the signer's and its issuer's")]
    SignerCertificates,
    /// A key or a certificate could not be made.
    #[error("cannot be made")]
    NotMade,
}
