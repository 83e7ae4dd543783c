//! Reads new providers and changes of stored ones. The domain knows how they are sent; what only this deployment knows is looked at
//! here: whether simulators are allowed, and what an adapter demands of its options.

use regente_domain::merchant::{NewCredentials, NewProvider, ProviderChanges};
use regente_domain::problems::Problems;
use regente_domain::provider_type::{ProviderType, stored_spelling};
use regente_domain::wire::{Located, Object, Patch, Text, VerbatimObject};
use regente_engine::providers::{self, merged};
use regente_providers::provider::Providers;
use serde_json::{Map, Value};

use super::super::fields::Body;
use crate::app::App;

/// What a provider needs to be added to a merchant.
///
/// # Errors
/// The deployment refuses its type, or its adapter the options.
pub fn accepted(app: &App, new: Located<NewProvider>) -> Result<providers::NewProvider, Problems> {
    let Located { path, value: NewProvider { name, priority, credentials, options, acquirer } } = new;
    let NewCredentials { provider_type, members: credentials } = credentials;
    let options = stored_options(app, provider_type, options.as_ref().map(Object::members), &path)?;
    Ok(providers::NewProvider {
        path,
        name: name.into_string(),
        priority: priority.get(),
        provider_type,
        credentials,
        options,
        acquirer: acquirer.map(|acquirer| acquirer.0),
    })
}

/// Looks at a new provider as sent for what [`accepted`] refuses, so that it is told with the other problems of the body.
pub fn look_at(app: &App, sent: &Value, path: &str, problems: &mut Problems) {
    if let Some(provider_type) = sent.get("credentials").and_then(NewCredentials::type_in) {
        let options = sent.get("options").and_then(Value::as_object);
        problems.extend(stored_options(app, provider_type, options, path).err().unwrap_or_default());
    }
}

fn stored_options(
    app: &App,
    provider_type: ProviderType,
    sent: Option<&Map<String, Value>>,
    path: &str,
) -> Result<Option<Map<String, Value>>, Problems> {
    if !app.settings.simulators.permit(provider_type) {
        return Err(Problems::one(member(path, "credentials.type"), "must not be a simulator in production"));
    }
    let valid = |sent| app.providers.validate_options(provider_type, sent, &member(path, "options"));
    sent.map(valid).transpose()
}

fn member(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Reads a change of a provider of this type, which has these credentials: what is wrong with both together is told with the
/// other problems of the body.
pub(super) fn read_changes(
    body: &Body,
    provider_type: ProviderType,
    stored: &Map<String, Value>,
    adapters: &Providers,
) -> Result<providers::ProviderChanges, Problems> {
    let spelled = |sent: Map<String, Value>| stored_spelling(provider_type, sent);
    let valid = |options: &Map<String, Value>| adapters.validate_options(provider_type, options, "options");
    let look = |members: &Map<String, Value>, problems: &mut Problems| {
        if let Some(options) = members.get("options").and_then(Value::as_object) {
            problems.extend(valid(options).err().unwrap_or_default());
        }
        if let Some(sent) = members.get("credentials").and_then(Value::as_object) {
            let broken = merged(provider_type, stored, &spelled(sent.clone())).err();
            problems.extend(broken.unwrap_or_default());
        }
    };
    let ProviderChanges { name, priority, credentials, options, acquirer } = body.read_as_with(look)?;
    Ok(providers::ProviderChanges {
        name: name.map(Text::into_string),
        priority: priority.map(|priority| priority.get()),
        options: match options {
            Patch::Leave => None,
            Patch::Remove => Some(None),
            Patch::Set(options) => Some(Some(valid(options.members())?)),
        },
        acquirer: acquirer.map(|acquirer| acquirer.0).into(),
        credentials: credentials.map(VerbatimObject::into_members).map(spelled),
    })
}
