//! Merges file, environment and flags into one configuration, and keeps the source of each value. All problems are
//! reported at once, each with its setting and source.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use ::config::{ConfigError as SourceError, File, FileFormat, Map, Source, Value, ValueKind};

use super::{Config, WrittenIn, WrittenSecret, card_testing};

/// The prefix of environment variables; `REGENTE_SERVER__LISTEN` is `server.listen`.
const PREFIX: &str = "REGENTE_";
/// Variables with the prefix that are no settings: the file's name, and the values that `regente dev` writes for
/// shells.
const OTHER_VARIABLES: [&str; 6] = [
    "REGENTE_CONFIG",
    "REGENTE_URL",
    "REGENTE_CLIENT_ID",
    "REGENTE_API_KEY",
    "REGENTE_MERCHANT_ID",
    "REGENTE_FALLBACK_MERCHANT_ID",
];
/// Pairs of settings for the same value; the one from the stronger source counts.
const EITHER_OR: [(&str, &str); 5] = [
    ("database.url", "database.url_file"),
    ("vault.kek", "vault.kek_file"),
    ("sandbox.key", "sandbox.key_file"),
    ("smtp.password", "smtp.password_file"),
    ("reports.s3_secret_key", "reports.s3_secret_key_file"),
];

/// The defaults that are others in production. The limits are off in sandbox mode, where tests make many requests from one
/// address.
const PRODUCTION_DEFAULTS: [(&str, &str); 1] = [("limits.failed_authentications_per_minute", "60")];
/// The settings whose values are secrets; an address of a database is one when it has a password.
const SECRETS: [&str; 5] =
    ["vault.kek", "database.url", "sandbox.key", "smtp.password", "reports.s3_secret_key"];

/// The sources of a configuration. Of the machine's files only `file` is read.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The TOML file.
    pub file: Option<PathBuf>,
    /// All environment variables, also those of other programs. An empty value counts as not set.
    pub environment: Vec<(String, String)>,
    /// The flags; a later one is stronger.
    pub flags: Vec<Flag>,
}

/// A setting that was given as a flag.
#[derive(Clone, Debug)]
pub struct Flag {
    /// The flag as written, such as `--listen`.
    pub name: String,
    /// The setting.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// The problems of a configuration, one on each line.
#[derive(Clone, Debug)]
pub struct ConfigError(Vec<String>);

impl ConfigError {
    /// One problem.
    pub fn one(problem: impl Into<String>) -> Self {
        Self(vec![problem.into()])
    }

    /// The problems.
    pub fn problems(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [problem] => write!(f, "the configuration is wrong: {problem}"),
            problems => {
                f.write_str("the configuration is wrong:")?;
                problems.iter().try_for_each(|problem| write!(f, "\n  - {problem}"))
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// The precedence of a source; the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Default,
    File,
    Environment,
    Flag,
}

/// A value from a source, or a default that depends on other values.
#[derive(Clone, Debug)]
struct SettingValue {
    weight: Weight,
    origin: String,
    value: ValueKind,
}

/// A valid configuration.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The effective values.
    pub config: Config,
    /// The sources of all values that are no fixed defaults, by setting.
    pub(super) origins: BTreeMap<String, String>,
}

impl Loaded {
    /// Reads and merges the sources.
    ///
    /// # Errors
    /// Every problem: an unknown name, a value of the wrong type or out of bounds, an unreadable file.
    pub fn read(sources: &Sources) -> Result<Self, ConfigError> {
        let mut reader = Reader { known: known_keys(), given: BTreeMap::new(), problems: Vec::new() };
        reader.read_file(sources);
        reader.read_environment(sources);
        reader.read_flags(sources);
        reader.add_dependent_defaults();
        reader.choose_either_or();
        reader.check_types();
        reader.finish()
    }

    /// Where a setting's value comes from: `default`, a file, a variable or a flag.
    pub fn origin(&self, key: &str) -> &str {
        self.origins.get(key).map_or("default", String::as_str)
    }
}

/// Every setting with its fixed default.
pub(super) fn known_keys() -> BTreeMap<String, serde_json::Value> {
    fn leaves(path: String, value: serde_json::Value, found: &mut BTreeMap<String, serde_json::Value>) {
        if let serde_json::Value::Object(members) = value {
            for (name, value) in members {
                let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                leaves(path, value, found);
            }
        } else {
            found.insert(path, value);
        }
    }
    let mut found = BTreeMap::new();
    leaves(String::new(), serde_json::to_value(Config::default()).unwrap_or_default(), &mut found);
    found
}

struct Reader {
    known: BTreeMap<String, serde_json::Value>,
    given: BTreeMap<String, SettingValue>,
    problems: Vec<String>,
}

impl Reader {
    fn read_file(&mut self, sources: &Sources) {
        let Some(path) = &sources.file else { return };
        let shown = path.display().to_string();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return self.problems.push(format!("{shown}: {error}")),
        };
        match File::from_str(&text, FileFormat::Toml).collect() {
            Ok(table) => self.read_table(&shown, "", table),
            Err(SourceError::FileParse { cause, .. }) => self.problems.push(format!("{shown}: {cause}")),
            Err(error) => self.problems.push(format!("{shown}: {error}")),
        }
    }

    fn read_table(&mut self, file: &str, path: &str, table: Map<String, Value>) {
        for (name, value) in table {
            let key = if path.is_empty() { name } else { format!("{path}.{name}") };
            if self.known.contains_key(&key) {
                self.give(Weight::File, file.to_owned(), key, value.kind);
            } else if let (true, ValueKind::Table(table)) = (self.is_section(&key), value.kind) {
                self.read_table(file, &key, table);
            } else {
                self.unknown(file, &key);
            }
        }
    }

    fn read_environment(&mut self, sources: &Sources) {
        for (variable, value) in &sources.environment {
            let is_ours = variable.starts_with(PREFIX) && !OTHER_VARIABLES.contains(&variable.as_str());
            if !is_ours || value.is_empty() {
                continue;
            }
            let key = variable[PREFIX.len()..].to_lowercase().replace("__", ".");
            let origin = format!("environment variable {variable}");
            self.give_known(Weight::Environment, origin, key, value.clone());
        }
    }

    fn read_flags(&mut self, sources: &Sources) {
        for Flag { name, key, value } in &sources.flags {
            self.give_known(Weight::Flag, format!("flag {name}"), key.clone(), value.clone());
        }
    }

    fn give_known(&mut self, weight: Weight, origin: String, key: String, value: String) {
        if self.known.contains_key(&key) {
            self.give(weight, origin, key, ValueKind::String(value));
        } else {
            self.unknown(&origin, &key);
        }
    }

    fn give(&mut self, weight: Weight, origin: String, key: String, value: ValueKind) {
        self.given.insert(key, SettingValue { weight, origin, value });
    }

    fn is_section(&self, key: &str) -> bool {
        let prefix = format!("{key}.");
        self.known.keys().any(|known| known.starts_with(&prefix))
    }

    fn unknown(&mut self, origin: &str, key: &str) {
        let (section, _) = key.rsplit_once('.').unwrap_or(("", key));
        let section = if self.is_section(section) { section } else { "" };
        let names = self.known.keys().filter_map(|known| match known.rsplit_once('.') {
            Some((of, name)) => (of == section).then_some(name),
            None => section.is_empty().then_some(known.as_str()),
        });
        let names: Vec<&str> = names.collect();
        let place = if section.is_empty() { "at the top".to_owned() } else { format!("in `{section}`") };
        let mut problem =
            format!("{origin}: there is no setting `{key}`; {place} there are {}", names.join(", "));
        if section.is_empty() {
            let sections: std::collections::BTreeSet<&str> =
                self.known.keys().filter_map(|known| Some(known.rsplit_once('.')?.0)).collect();
            let sections: Vec<&str> = sections.into_iter().collect();
            problem.push_str(&format!(" and the sections {}", sections.join(", ")));
        }
        self.problems.push(problem);
    }

    /// Adds the defaults that depend on other values.
    fn add_dependent_defaults(&mut self) {
        let text = |key: &str| {
            let Some(SettingValue { value: ValueKind::String(text), .. }) = self.given.get(key) else {
                return None;
            };
            Some(text.clone())
        };
        let data_dir = text("data_dir").map_or_else(|| Config::default().data_dir, PathBuf::from);
        let place = |name: &str| data_dir.join(name).display().to_string();
        let mut defaults = vec![
            ("database.url", format!("sqlite:{}", place("regente.db"))),
            ("sandbox.books", place("sandbox-books.db")),
            ("reports.folder", place("reports")),
        ];
        if text("mode").as_deref() == Some("production") {
            let others = PRODUCTION_DEFAULTS.into_iter().chain(card_testing::PRODUCTION_DEFAULTS);
            defaults.extend(others.map(|(key, value)| (key, value.to_owned())));
        } else {
            defaults.push(("fields.legacy_pages", true.to_string()));
            defaults.push(("outbound.allow_http", true.to_string()));
            defaults.push(("vault.kek_file", place("kek")));
        }
        for (key, value) in defaults {
            if !self.given.contains_key(key) {
                self.give(Weight::Default, "default".to_owned(), key.to_owned(), ValueKind::String(value));
            }
        }
    }

    fn choose_either_or(&mut self) {
        for (one, other) in EITHER_OR {
            let (Some(first), Some(second)) = (self.given.get(one), self.given.get(other)) else { continue };
            match first.weight.cmp(&second.weight) {
                std::cmp::Ordering::Less => drop(self.given.remove(one)),
                std::cmp::Ordering::Greater => drop(self.given.remove(other)),
                std::cmp::Ordering::Equal => self.problems.push(format!(
                    "`{one}` ({}) and `{other}` ({}) say the same: set one of them",
                    first.origin, second.origin
                )),
            }
        }
    }

    /// Checks each value by itself, so that all wrong ones are reported.
    fn check_types(&mut self) {
        let wrong: Vec<String> = self
            .given
            .iter()
            .filter_map(|(key, given)| match deserialize([(key, given)]) {
                Ok(_) => None,
                Err(error) => Some(format!("{}: `{key}` {}", given.origin, type_rule(error))),
            })
            .collect();
        self.problems.extend(wrong);
    }

    fn finish(mut self) -> Result<Loaded, ConfigError> {
        if !self.problems.is_empty() {
            return Err(ConfigError(self.problems));
        }
        let mut config: Config =
            deserialize(&self.given).map_err(|error| ConfigError::one(error.to_string()))?;
        config.written_secrets = self.written_secrets(&config);
        let origins: BTreeMap<String, String> =
            self.given.into_iter().map(|(key, given)| (key, given.origin)).collect();
        let loaded = Loaded { config, origins };
        for (key, rule) in super::check::problems(&loaded.config) {
            self.problems.push(format!("{}: `{key}` {rule}", loaded.origin(key)));
        }
        if self.problems.is_empty() { Ok(loaded) } else { Err(ConfigError(self.problems)) }
    }
}

impl Reader {
    fn written_secrets(&self, config: &Config) -> Vec<WrittenSecret> {
        let is_secret = |key: &str| key != "database.url" || config.has_password();
        let written = SECRETS.into_iter().filter(|key| is_secret(key)).filter_map(|key| {
            let given = self.given.get(key)?;
            let place = match given.weight {
                Weight::Default => return None,
                Weight::File => WrittenIn::File(PathBuf::from(&given.origin)),
                Weight::Environment => WrittenIn::Environment,
                Weight::Flag => WrittenIn::CommandLine,
            };
            Some(WrittenSecret { key, place })
        });
        written.collect()
    }
}

fn deserialize<'a>(
    given: impl IntoIterator<Item = (&'a String, &'a SettingValue)>,
) -> Result<Config, SourceError> {
    let mut builder = ::config::Config::builder();
    for (key, SettingValue { value, .. }) in given {
        builder = builder.set_override(key, Value::new(None, value.clone()))?;
    }
    builder.build()?.try_deserialize()
}

/// The rule for the type. The value is not repeated, since it may be a secret.
fn type_rule(error: SourceError) -> String {
    if let SourceError::Type { expected, .. } = error {
        format!("must be {expected}")
    } else if let SourceError::At { error, .. } = error {
        type_rule(*error)
    } else {
        error.to_string()
    }
}
