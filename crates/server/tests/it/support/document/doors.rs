//! Operations that need no key.

/// Operations without a key.
pub const OPEN_TO_ALL: [&str; 8] = [
    "/health/live",
    "/health/ready",
    NOTIFICATIONS,
    CHALLENGES,
    "/qr/{file}",
    "/boleto/{file}",
    "/v1/settings/assets/{file}",
    "/v1/receipts/{receiptId}/file",
];

/// A link to it that was mailed stands for the key; `reports/mail.rs` has its stories.
pub const KEY_OR_LINK: &str = "/v1/reports/{id}/files/{pageNumber}";

/// It has the provider's signature instead; `notifications.rs` has its stories.
pub const NOTIFICATIONS: &str = "/providers/{providerId}/notifications";

/// It has a signature of its own instead; `three_d_secure.rs` has its stories.
pub const CHALLENGES: &str = "/v1/charges/{id}/3ds-authorization";
