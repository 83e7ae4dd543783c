//! Limits and checks for text that callers send.

/// Lengths in characters (`docs/interface/conventions.md#lengths`).
pub mod chars_max {
    /// A person's or a provider's name.
    pub const NAME: usize = 256;
    /// An e-mail address (RFC 5321 §4.5.3.1).
    pub const EMAIL: usize = 254;
    /// A phone number.
    pub const PHONE: usize = 30;
    /// A line of an address, or another short text.
    pub const LINE: usize = 255;
    /// Free text, such as the description of a charge.
    pub const FREE: usize = 2048;
    /// A document number.
    pub const DOCUMENT_NUMBER: usize = 40;
}

/// Whether `text` looks like an e-mail address: one `@`, something before it, a dotted domain after it, no white
/// space. It may still not exist.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let labels_are_right = domain.split('.').all(|label| {
        !label.is_empty()
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    });
    !local.is_empty()
        && !local.contains('@')
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
        && domain.contains('.')
        && labels_are_right
        && text.chars().count() <= chars_max::EMAIL
}

/// The last four characters of a long number; empty for a shorter text.
pub fn last_four(text: &str) -> &str {
    let start = text.char_indices().rev().nth(3).map_or(text.len(), |(index, _)| index);
    if start == 0 { "" } else { &text[start..] }
}
