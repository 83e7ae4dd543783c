//! Card data between the wire, the vault and the provider. Only this module seals and opens it.

pub mod wallets;

use std::borrow::Cow;
use std::time::Duration;

use regente_domain::card::record::{Card, CardFace, CardState};
use regente_domain::card::{CardNumber, Cvv, Expiry, InlineCard, SentNumber, in_text};
use regente_domain::decline::DeclinedCode;
use regente_domain::id::{CardId, ClientId, TokenId};
use regente_domain::time::Timestamp;
use regente_providers::request::{CardDetails, Instrument, NetworkToken, PayerDetails, WalletDetails};
use regente_store::cards::CardWithNumber;
use regente_store::sealed::Sealed;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use zeroize::Zeroizing;

use crate::app::App;
use crate::error::Error;
use crate::vault::{Binding, Purpose, VaultError};

/// The sealed parts of a card, both under one data key.
pub struct SealedCard {
    /// The number.
    pub number: Sealed,
    /// The holder's name.
    pub holder: Sealed,
}

/// The contents of a token.
pub enum TokenContents {
    /// A card.
    Card(CardDetails),
    /// The security code of a stored card.
    Cvv(Cvv),
}

/// Where the money of a charge comes from, before a provider is called.
pub enum FundingSource {
    /// A card that was sent with the charge.
    NewCard(Box<NewCard>),
    /// A stored card.
    StoredCard {
        /// The card with its sealed number.
        found: Box<CardWithNumber>,
        /// The security code, when the buyer is present.
        cvv: Option<Cvv>,
    },
    /// A payer, who gets instructions.
    Payer(Box<PayerDetails>),
    /// What a wallet has handed out. It is never stored in the clear or under a key of the vault: it pays once.
    Wallet(Box<WalletFunding>),
}

/// A wallet's payment, opened and checked.
pub struct WalletFunding {
    /// What the provider is given.
    pub details: WalletDetails,
    /// What tells this payment from all others: it pays one charge.
    pub payment_digest: [u8; 32],
    /// How long it is remembered.
    pub kept_for: Duration,
}

/// The card; an error when its check digit is wrong or it has expired, both answered as a declined card
/// (`docs/interface/tokens-and-cards.md#tokens`).
///
/// # Errors
/// [`Error::CardDeclined`].
pub fn checked(card: InlineCard, now: Timestamp) -> Result<CardDetails, Error> {
    let InlineCard { number: SentNumber(number), holder_name, expiry, cvv } = card;
    let declined = |code, message: &'static str| Error::CardDeclined { code, message: message.into() };
    let number = number.ok_or_else(|| declined(DeclinedCode::InvalidNumber, "invalid card number"))?;
    if expiry.is_past(now) {
        return Err(declined(DeclinedCode::ExpiredCard, "expired card"));
    }
    Ok(CardDetails { number, holder_name, expiry, cvv })
}

/// A card that is stored together with its first charge.
pub struct NewCard {
    /// The card.
    pub card: Card,
    /// Its number and holder's name for its row.
    pub sealed: SealedCard,
    /// Its data for the provider.
    pub details: CardDetails,
}

/// A funding source in the clear.
pub struct OpenedSource {
    /// What the provider is given.
    pub instrument: Instrument,
    /// The record that the outcome of the charge updates, when the source is a card.
    pub card: Option<Card>,
}

impl FundingSource {
    /// The card that pays, where one does.
    pub const fn card(&self) -> Option<&Card> {
        match self {
            Self::NewCard(new) => Some(&new.card),
            Self::StoredCard { found, .. } => Some(&found.stored.card),
            Self::Payer(_) | Self::Wallet(_) => None,
        }
    }

    /// Opens the source for the provider. A stored card is opened only after the intent of the charge is written, which
    /// records the opening.
    pub async fn open(self, app: &App) -> Result<OpenedSource, VaultError> {
        let (details, card) = match self {
            Self::NewCard(new) => (new.details, new.card),
            Self::StoredCard { found, cvv } => (open_card(app, &found, cvv).await?, found.stored.card),
            Self::Payer(payer) => {
                return Ok(OpenedSource { instrument: Instrument::Payer(payer), card: None });
            }
            Self::Wallet(wallet) => {
                return Ok(OpenedSource {
                    instrument: Instrument::Wallet(Box::new(wallet.details)),
                    card: None,
                });
            }
        };
        Ok(OpenedSource { instrument: Instrument::Card(details), card: Some(card) })
    }
}

/// Texts and identifiers of a request by their paths, in which nobody may write the number of the card that pays.
pub type Words<'a> = [(&'static str, Option<&'a str>)];

/// Refuses words that hold the number that pays. A stored card is not opened for this: a candidate has its fingerprint.
///
/// # Errors
/// [`Error::Invalid`] names the first word.
pub async fn must_not_name_source(app: &App, source: &FundingSource, words: &Words<'_>) -> Result<(), Error> {
    match source {
        FundingSource::NewCard(new) => must_not_name(app, &new.card, words).await,
        FundingSource::StoredCard { found, .. } => must_not_name(app, &found.stored.card, words).await,
        FundingSource::Wallet(wallet) => match &wallet.details {
            WalletDetails::NetworkToken(NetworkToken { number, .. }) => {
                let names = |word: &Option<&str>| word.is_some_and(|word| in_text::names(word, number));
                refuse(words.iter().find(|(_, word)| names(word)).map(|(path, _)| *path))
            }
            WalletDetails::ClickToPay(_) => Ok(()),
        },
        FundingSource::Payer(_) => Ok(()),
    }
}

/// As [`must_not_name_source`], of this card.
///
/// # Errors
/// [`Error::Invalid`] names the first word.
pub async fn must_not_name(app: &App, card: &Card, words: &Words<'_>) -> Result<(), Error> {
    let candidates = candidates(words, &card.face.first6digits, &card.face.last4digits);
    if candidates.is_empty() {
        return Ok(());
    }
    let keys = app.vault.client_keys(card.client_id).await?;
    let is_the_card =
        |number: &CardNumber| keys.card_fingerprint(number, card.face.expiry) == card.fingerprint;
    refuse(candidates.into_iter().find(|(_, found)| is_the_card(found)).map(|(path, _)| path))
}

fn candidates(words: &Words<'_>, first6: &str, last4: &str) -> Vec<(&'static str, CardNumber)> {
    let in_word = |(path, word): &(&'static str, Option<&str>)| {
        let found = in_text::numbers_like(word.unwrap_or_default(), first6, last4);
        let path = *path;
        found.into_iter().map(move |number| (path, number))
    };
    words.iter().flat_map(in_word).collect()
}

fn refuse(path: Option<&'static str>) -> Result<(), Error> {
    path.map_or(Ok(()), |path| Err(Error::invalid(path, "must not contain the number of the card")))
}

/// Where the security code of a stored card comes from. If both are given, the token is used.
pub enum CvvSource {
    /// The buyer is not present.
    None,
    /// Sent in the body.
    Inline(Cvv),
    /// A CVV token.
    Token(TokenId),
}

impl CvvSource {
    /// Of what may have been sent.
    pub fn of(token_id: Option<TokenId>, sent: Option<Cvv>) -> Self {
        match (token_id, sent) {
            (Some(token_id), _) => Self::Token(token_id),
            (None, Some(cvv)) => Self::Inline(cvv),
            (None, None) => Self::None,
        }
    }
}

/// Creates a card of an account.
pub async fn new_card(
    app: &App,
    client_id: ClientId,
    details: &CardDetails,
    state: CardState,
) -> Result<Card, Error> {
    let now = app.clock.of(client_id);
    let keys = app.vault.client_keys(client_id).await?;
    Ok(Card {
        id: app.chance.id(now),
        client_id,
        link: None,
        fingerprint: keys.card_fingerprint(&details.number, details.expiry),
        face: CardFace::of(&details.number, details.expiry),
        state,
        cvv_checked: false,
        network_transaction_id: None,
        claim: None,
        unknown_members: Map::new(),
        version: 1,
        updated_at: now,
    })
}

/// Seals the number and the holder's name of a card for its row.
pub fn seal_card(app: &App, client_id: ClientId, card_id: CardId, details: &CardDetails) -> SealedCard {
    let sealer = app.vault.sealer();
    let binding = |purpose| Binding::new(purpose, client_id, card_id.uuid());
    SealedCard {
        number: sealer.seal(binding(Purpose::CardNumber), details.number.expose_digits().as_bytes()),
        holder: sealer.seal(binding(Purpose::CardHolder), details.holder_name.as_bytes()),
    }
}

async fn open_card(app: &App, found: &CardWithNumber, cvv: Option<Cvv>) -> Result<CardDetails, VaultError> {
    let card = &found.stored.card;
    let binding = Binding::new(Purpose::CardNumber, card.client_id, card.id.uuid());
    let plain = app.vault.open(binding, &found.number).await?;
    let digits = std::str::from_utf8(&plain).map_err(|_| VaultError::DoesNotOpen)?;
    let number = CardNumber::parse(digits).map_err(|_| VaultError::DoesNotOpen)?;
    let holder_name = match &found.stored.holder {
        Some(holder) => open_holder(app, card.client_id, card.id, holder).await?,
        None => String::new(),
    };
    Ok(CardDetails { number, holder_name, expiry: card.face.expiry, cvv })
}

/// Opens the holder's name.
pub async fn open_holder(
    app: &App,
    client_id: ClientId,
    card_id: CardId,
    holder: &Sealed,
) -> Result<String, VaultError> {
    let plain = app.vault.open(Binding::new(Purpose::CardHolder, client_id, card_id.uuid()), holder).await?;
    String::from_utf8(plain.to_vec()).map_err(|_| VaultError::DoesNotOpen)
}

/// The contents of a token before sealing. Borrowed, so that no copy of the number remains in memory.
#[derive(Serialize, Deserialize)]
struct Text<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    number: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    holder: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expiry: Option<Expiry>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    cvv: Option<Cow<'a, str>>,
}

/// Seals a token under a key derived from its id, which is not in the row.
pub fn seal_token(
    app: &App,
    client_id: ClientId,
    token_id: TokenId,
    contents: &TokenContents,
) -> Result<Sealed, VaultError> {
    let text = match contents {
        TokenContents::Card(card) => Text {
            number: Some(card.number.expose_digits().into()),
            holder: Some(card.holder_name.as_str().into()),
            expiry: Some(card.expiry),
            cvv: card.cvv.as_ref().map(|cvv| cvv.expose().into()),
        },
        TokenContents::Cvv(cvv) => {
            Text { number: None, holder: None, expiry: None, cvv: Some(cvv.expose().into()) }
        }
    };
    let plain = Zeroizing::new(serde_json::to_vec(&text).map_err(|_| VaultError::DoesNotOpen)?);
    Ok(app.vault.seal(token_binding(client_id, token_id), &plain))
}

/// Opens a token by its id.
pub async fn open_token(
    app: &App,
    client_id: ClientId,
    token_id: TokenId,
    sealed: &Sealed,
) -> Result<TokenContents, VaultError> {
    let plain = app.vault.open(token_binding(client_id, token_id), sealed).await?;
    let text: Text<'_> = serde_json::from_slice(&plain).map_err(|_| VaultError::DoesNotOpen)?;
    let cvv = text.cvv.as_deref().and_then(Cvv::parse);
    match (text.number, text.expiry, cvv) {
        (Some(number), Some(expiry), cvv) => {
            let number = CardNumber::parse(&number).map_err(|_| VaultError::DoesNotOpen)?;
            let holder_name = text.holder.unwrap_or_default().into_owned();
            Ok(TokenContents::Card(CardDetails { number, holder_name, expiry, cvv }))
        }
        (None, None, Some(cvv)) => Ok(TokenContents::Cvv(cvv)),
        (Some(_), None, _) | (None, Some(_), _) | (None, None, None) => Err(VaultError::DoesNotOpen),
    }
}

fn token_binding(client_id: ClientId, token_id: TokenId) -> Binding {
    Binding::new(Purpose::TokenContents, client_id, token_id.uuid())
}
