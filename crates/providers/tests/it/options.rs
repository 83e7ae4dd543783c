//! The options of a registration: their form is checked by the type, their meaning by the adapter.

use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ProviderType;
use regente_providers::sandbox::TransactionLog;
use serde_json::{Value, json};

use crate::support::{object, providers};

fn problems(provider_type: ProviderType, options: Value) -> Vec<String> {
    let providers = providers(&TransactionLog::memory());
    match providers.validate_options(provider_type, &object(options), "options") {
        Ok(_) => Vec::new(),
        Err(problems) => problems.into_details(),
    }
}

#[test]
fn the_adapter_and_the_form_complain_once_of_each_member() {
    let wrong = json!({ "type": "STRIPE", "faults": 1, "supports": { "installmentsMax": 99 } });
    assert_eq!(
        problems(ProviderType::Sandbox, wrong),
        [
            "options.faults must be an array",
            "options.supports.installmentsMax must be an integer from 1 to 24",
            "options.type must be one of the following values: SANDBOX",
        ]
    );
    assert!(problems(ProviderType::Sandbox, json!({ "type": "SANDBOX", "faults": [] })).is_empty());
}

#[test]
fn a_type_without_an_adapter_has_the_form_alone() {
    let options = json!({ "type": "NUPAY", "faults": 1, "storeName": null });
    assert!(problems(ProviderType::Nupay, options.clone()).is_empty());
    let providers = providers(&TransactionLog::memory());
    let stored = providers.validate_options(ProviderType::Nupay, &object(options), "options").unwrap();
    assert_eq!(Value::Object(stored), json!({ "type": "NUPAY", "faults": 1 }), "as it is stored");
    assert_eq!(problems(ProviderType::Cielo, json!({ "faults": 1 })), ["options are not supported by CIELO"]);
}

#[test]
fn stored_options_narrow_what_a_provider_can_do() {
    let providers = providers(&TransactionLog::memory());
    let narrowed = |options| providers.narrowed(ProviderType::Sandbox, &object(options));
    let only_credit = json!({ "type": "SANDBOX", "supports": { "paymentTypes": ["credit"] } });
    assert_eq!(narrowed(only_credit.clone()).payment_types, Some(vec![PaymentType::Credit]));
    let broken = json!({ "type": "SANDBOX", "faults": 1, "supports": { "paymentTypes": ["credit"] } });
    assert!(narrowed(broken).payment_types.is_none(), "stored before a rule was added");
    assert!(providers.narrowed(ProviderType::Cielo, &object(only_credit)).payment_types.is_none());
}
