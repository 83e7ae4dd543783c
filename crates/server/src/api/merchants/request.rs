//! Reads new merchants and changes of stored ones, with the providers in them.

use regente_domain::merchant::{self, AddedProvider, MerchantChanges};
use regente_domain::platform_fee::Fees;
use regente_domain::problems::Problems;
use regente_domain::wire::{OneOrMany, Text};
use regente_engine::merchants::NewMerchant;
use regente_engine::providers::NewProvider;
use regente_store::merchants::MerchantDetails;
use serde_json::{Map, Value};

use super::super::fields::Body;
use super::super::providers::{accepted, look_at};
use crate::app::App;

const PROVIDERS: &str = "providers";

pub(super) fn read_new(body: &Body, app: &App) -> Result<NewMerchant, Problems> {
    let look = |members: &Map<String, Value>, problems: &mut Problems| look_at_all(app, members, problems);
    let sent: merchant::NewMerchant = body.read_as_with(look)?;
    let providers = sent.providers.into_vec().into_iter().map(|new| accepted(app, new));
    let details = MerchantDetails {
        mcc: sent.mcc,
        name: sent.name.map(Text::into_string),
        merchant_name: sent.merchant_name.map(Text::into_string),
        merchant_url: sent.merchant_url.map(Text::into_string),
        platform_fee: Fees::default(),
        unknown: Map::new(),
    };
    Ok(NewMerchant { details, providers: providers.collect::<Result<_, _>>()? })
}

/// The changes, and the providers that are added.
pub(super) fn read_changes(body: &Body, app: &App) -> Result<(MerchantChanges, Vec<NewProvider>), Problems> {
    let look = |members: &Map<String, Value>, problems: &mut Problems| look_at_all(app, members, problems);
    let mut changes: MerchantChanges = body.read_as_with(look)?;
    let entries = changes.providers.take().map(OneOrMany::into_vec).unwrap_or_default();
    let added = entries.into_iter().filter_map(|entry| match entry {
        AddedProvider::Known => None,
        AddedProvider::New(new) => Some(accepted(app, *new)),
    });
    let added = added.collect::<Result<_, _>>()?;
    Ok((changes, added))
}

fn look_at_all(app: &App, members: &Map<String, Value>, problems: &mut Problems) {
    let mut look = |sent: &Value, path: &str| {
        if !AddedProvider::is_known(sent) {
            look_at(app, sent, path, problems);
        }
    };
    match members.get(PROVIDERS) {
        Some(Value::Array(several)) => {
            several.iter().enumerate().for_each(|(index, sent)| look(sent, &format!("{PROVIDERS}[{index}]")));
        }
        Some(one) => look(one, PROVIDERS),
        None => {}
    }
}
