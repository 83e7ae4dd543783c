//! Bindings of ciphertexts: purpose, client and row. A ciphertext does not open for another binding.

use std::fmt;

use regente_domain::id::ClientId;
use uuid::Uuid;

/// The purpose of a ciphertext. Two purposes never share a key, not even within one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `cards.pan`, by the id of the card.
    CardNumber,
    /// `cards.private`: the holder's name and other personal data, by the id of the card.
    CardHolder,
    /// `tokens.sealed`, by the id of the token, which is not in the row.
    TokenContents,
    /// `providers.credentials`, by the id of the provider.
    ProviderCredentials,
    /// `customers.private`, by the id of the customer.
    CustomerData,
    /// `customer_aliases.private`, by the id of the alias.
    CustomerAliasData,
    /// `vendors.private`, by the id of the vendor.
    VendorData,
    /// `charges.private`: fraud analysis data, by the id of the charge.
    ChargeData,
    /// `purchases.private`: data sent by the merchant, by the id of the purchase.
    PurchaseData,
    /// `sessions.private`: what the merchant says of persons, by the id of the session.
    SessionData,
    /// `sellers.private`, by the id of the seller.
    SellerData,
    /// `seller_documents.file`, by the id of the file.
    SellerDocument,
    /// `registration_reviews.answer`, by the id of the review.
    RegistrationAnswer,
    /// `reports.private`: the key of the files and who gets the mail, by the id of the report.
    ReportData,
    /// `payout_accounts.private`, by the id of the account, or of the seller.
    PayoutAccount,
    /// `receipts.file`, by the id of the issue.
    ReceiptFile,
    /// `webhooks.private_key`, by the id of the webhook.
    WebhookKey,
    /// `webhooks.next_private_key`, by the id of the webhook.
    NextWebhookKey,
    /// `idempotency.body`, by the digest of the row.
    AnswerBody,
    /// `clients.secret`, by the id of the client.
    ClientSecret,
    /// `members.private`, by the id of the member.
    MemberData,
    /// `member_keys.secret`, by the id of the row.
    MemberKey,
    /// `held_security_codes.sealed`, by the id of the charge.
    SecurityCode,
    /// `provider_notifications.body`, by the id of the notification.
    ProviderNotification,
}

impl Purpose {
    /// The word in the associated data. Changing it makes all ciphertexts of the purpose unreadable.
    const fn word(self) -> &'static str {
        match self {
            Self::CardNumber => "card_number",
            Self::CardHolder => "card_holder",
            Self::TokenContents => "token_contents",
            Self::ProviderCredentials => "provider_credentials",
            Self::CustomerData => "customer_data",
            Self::CustomerAliasData => "customer_alias_data",
            Self::VendorData => "vendor_data",
            Self::ChargeData => "charge_data",
            Self::PurchaseData => "purchase_data",
            Self::SessionData => "session_data",
            Self::SellerData => "seller_data",
            Self::SellerDocument => "seller_document",
            Self::RegistrationAnswer => "registration_answer",
            Self::ReportData => "report_data",
            Self::PayoutAccount => "payout_account",
            Self::ReceiptFile => "receipt_file",
            Self::WebhookKey => "webhook_key",
            Self::NextWebhookKey => "next_webhook_key",
            Self::AnswerBody => "answer_body",
            Self::ClientSecret => "client_secret",
            Self::MemberData => "member_data",
            Self::MemberKey => "member_key",
            Self::SecurityCode => "security_code",
            Self::ProviderNotification => "provider_notification",
        }
    }
}

/// The only place where a ciphertext opens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// What is sealed.
    pub purpose: Purpose,
    /// The client that the data belongs to.
    pub client_id: ClientId,
    /// The row's id; for [`Purpose::TokenContents`] the token id itself, not its digest.
    pub id: Uuid,
}

impl Binding {
    /// The binding of the row with this id.
    pub fn new(purpose: Purpose, client_id: ClientId, id: Uuid) -> Self {
        Self { purpose, client_id, id }
    }

    /// The binding in bytes. The word has a length prefix and all other parts have fixed lengths, so different bindings
    /// give different bytes.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let word = self.purpose.word().as_bytes();
        let mut bytes = Vec::with_capacity(1 + word.len() + 16 + 16);
        bytes.extend(u8::try_from(word.len()));
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(self.client_id.uuid().as_bytes());
        bytes.extend_from_slice(self.id.as_bytes());
        bytes
    }
}

/// Omits the row: a token's id is half of what opens it.
impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Binding({:?} of client {})", self.purpose, self.client_id)
    }
}
