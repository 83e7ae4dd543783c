//! Prints the effective configuration as TOML that can be read back, each value with its source, secrets hidden.

use serde_json::{Map, Value, json};

use super::secret::HIDDEN;
use super::{Config, Loaded};

/// The column of the sources, where the value is short enough.
const ORIGIN_COLUMN: usize = 56;

impl Loaded {
    /// The configuration as TOML, with the source in a comment after each value.
    pub fn to_toml(&self) -> String {
        let mut text = String::from("# The effective configuration, and where each value comes from.\n");
        let mut section = "";
        let values = self.values();
        // Settings without a section come first: after a section's head they would belong to it.
        let (top, sections): (Vec<_>, Vec<_>) = values.iter().partition(|(key, _)| !key.contains('.'));
        for (key, value) in top.into_iter().chain(sections) {
            let (of, name) = key.rsplit_once('.').unwrap_or(("", key));
            if of != section {
                section = of;
                text.push_str(&format!("\n[{section}]\n"));
            }
            let line = if value.is_null() {
                format!("# {name} is not set")
            } else if value == HIDDEN {
                format!("# {name} = {HIDDEN}")
            } else {
                format!("{name} = {value}")
            };
            let origin = self.origin(key);
            text.push_str(&format!("{line:<ORIGIN_COLUMN$}  # {origin}\n"));
        }
        text
    }

    /// The configuration as JSON: `{"server.listen": {"value": …, "origin": …}}`.
    pub fn to_json(&self) -> Value {
        let members = self.values().into_iter().map(|(key, value)| {
            let described = json!({ "value": value, "origin": self.origin(&key) });
            (key, described)
        });
        Value::Object(members.collect::<Map<_, _>>())
    }

    /// Every setting with its effective value. Secrets are hidden; an address is shown without its password.
    fn values(&self) -> Vec<(String, Value)> {
        let shown = serde_json::to_value(&self.config).unwrap_or_default();
        let keys = super::layers::known_keys().into_keys();
        let value_of = |key: &str| {
            let pointer = format!("/{}", key.replace('.', "/"));
            shown.pointer(&pointer).cloned().unwrap_or_default()
        };
        keys.map(|key| {
            let value = match (key.as_str(), database_url(&self.config)) {
                ("database.url", Some(url)) => Value::String(url),
                _ => value_of(&key),
            };
            (key, value)
        })
        .collect()
    }
}

impl Config {
    /// Whether the address of the database has a password.
    pub(super) fn has_password(&self) -> bool {
        database_url(self).is_some_and(|shown| shown.contains(HIDDEN))
    }
}

/// The database's address without its password.
fn database_url(config: &Config) -> Option<String> {
    let url = config.database.url.as_ref()?.expose();
    let Some((scheme, rest)) = url.split_once("://") else { return Some(url.to_owned()) };
    // A password may stand before the last `@` of the authority, or among the parameters.
    let (authority, path) = match rest.find(['/', '?']) {
        Some(end) => rest.split_at(end),
        None => (rest, ""),
    };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user = match user.split_once(':') {
        Some((name, _password)) => format!("{name}:{HIDDEN}@"),
        None if user.is_empty() => String::new(),
        None => format!("{user}@"),
    };
    let (path, parameters) = path.split_once('?').map_or((path, None), |(path, rest)| (path, Some(rest)));
    let parameters = parameters.map_or_else(String::new, |parameters| {
        let shown = parameters.split('&').map(|parameter| match parameter.split_once('=') {
            Some((name, _)) if name.contains("password") => format!("{name}={HIDDEN}"),
            Some(_) | None => parameter.to_owned(),
        });
        format!("?{}", shown.collect::<Vec<_>>().join("&"))
    });
    Some(format!("{scheme}://{user}{host}{path}{parameters}"))
}
