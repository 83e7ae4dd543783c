//! Scopes: the groups of routes that a public key may call (`docs/interface/auth.md#scopes`). The router knows which
//! route belongs to which group.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A group of routes that a client token may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// `/v1/customers*`
    Customers,
    /// `/v1/cards*`
    Cards,
    /// `POST /v1/tokens`
    Tokens,
    /// `/v1/charges*`
    Charges,
    /// `/v1/webhooks*`
    Webhooks,
    /// `/v1/sessions*`
    Sessions,
    /// `POST /v1/auth`
    Auth,
    /// `/v1/flows*`
    Flows,
    /// `/v1/sellers*`
    Sellers,
    /// `/v1/providers*`
    Providers,
    /// `/v1/subscriptions*`
    Subscriptions,
    /// `/v1/reports*`
    Reports,
}

impl Scope {
    /// Every scope, in the order of `docs/interface/auth.md#scopes`.
    pub const ALL: [Self; 12] = [
        Self::Customers,
        Self::Cards,
        Self::Tokens,
        Self::Charges,
        Self::Webhooks,
        Self::Sessions,
        Self::Auth,
        Self::Flows,
        Self::Sellers,
        Self::Providers,
        Self::Subscriptions,
        Self::Reports,
    ];

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Customers => "customers",
            Self::Cards => "cards",
            Self::Tokens => "tokens",
            Self::Charges => "charges",
            Self::Webhooks => "webhooks",
            Self::Sessions => "sessions",
            Self::Auth => "auth",
            Self::Flows => "flows",
            Self::Sellers => "sellers",
            Self::Providers => "providers",
            Self::Subscriptions => "subscriptions",
            Self::Reports => "reports",
        }
    }

    /// Parses a scope, exactly as on the wire.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }
}

/// Everything that a key may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scopes {
    /// `"*"`: every route of every scope, with its lists.
    All,
    /// These scopes, each once, in the order given, as answers show them.
    Some(Vec<Scope>),
}

impl Scopes {
    /// The word that stands for all scopes.
    pub const ALL_WORD: &'static str = "*";

    /// These scopes, without repetitions.
    pub fn of(scopes: impl IntoIterator<Item = Scope>) -> Self {
        let mut kept = Vec::new();
        for scope in scopes {
            if !kept.contains(&scope) {
                kept.push(scope);
            }
        }
        Self::Some(kept)
    }

    /// Parses the words of a request; `"*"` among them means all. `None` for an unknown word or an empty list.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut everything = false;
        let mut scopes = Vec::new();
        for word in words {
            if word == Self::ALL_WORD {
                everything = true;
            } else {
                scopes.push(Scope::parse(word)?);
            }
        }
        match (everything, scopes.is_empty()) {
            (true, _) => Some(Self::All),
            (false, true) => None,
            (false, false) => Some(Self::of(scopes)),
        }
    }

    /// Whether the routes of `scope` may be called.
    pub fn contains(&self, scope: Scope) -> bool {
        match self {
            Self::All => true,
            Self::Some(scopes) => scopes.contains(&scope),
        }
    }

    /// Whether `self` allows nothing that `parent` does not: a token must not create a more powerful one.
    pub fn is_within(&self, parent: &Self) -> bool {
        match (self, parent) {
            (_, Self::All) => true,
            (Self::All, Self::Some(_)) => false,
            (Self::Some(scopes), Self::Some(_)) => scopes.iter().all(|scope| parent.contains(*scope)),
        }
    }
}

impl Serialize for Scopes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => serializer.serialize_str(Self::ALL_WORD),
            Self::Some(scopes) => scopes.serialize(serializer),
        }
    }
}
impl<'de> Deserialize<'de> for Scopes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Word(String),
            Words(Vec<String>),
        }
        let scopes = match Form::deserialize(deserializer)? {
            Form::Word(word) => Self::parse([word.as_str()]),
            Form::Words(words) => Self::parse(words.iter().map(String::as_str)),
        };
        scopes.ok_or_else(|| de::Error::custom("scope must contain only known values"))
    }
}
