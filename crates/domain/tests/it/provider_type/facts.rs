//! Every fact of every type, word by word: what a change of the tables changes is seen here.

use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::{Ability, Capabilities, CredentialFields, ProviderType, Refund};

#[test]
fn the_facts_of_every_type() {
    let mut facts = String::new();
    for one in ProviderType::all() {
        let lines = abilities(one.capabilities()).into_iter().chain(credentials(one));
        facts.push_str(&format!("{one}\n"));
        for (what, words) in lines.filter(|(_, words)| !words.is_empty()) {
            facts.push_str(&format!("  {what}: {}\n", words.join(" ")));
        }
    }
    insta::assert_snapshot!(facts);
}

fn abilities(can: &Capabilities) -> Vec<(&'static str, Vec<&'static str>)> {
    let (given_back, refund) = match can.refund {
        Refund::No => ("gives back", &[][..]),
        Refund::FullOnly(types) => ("gives back everything", types),
        Refund::Partial(types) => ("gives back any part", types),
    };
    let switches = [
        ("pix_installments", can.pix_installments),
        ("three_ds", can.three_ds),
        ("zero_dollar", can.zero_dollar),
        ("recurrence", can.recurrence),
        ("multi_currency", can.multi_currency),
        ("own_anti_fraud", can.own_anti_fraud),
        ("network_tokens", can.network_tokens),
        ("dispute_notice", can.dispute_notice),
        ("chargeback_notice", can.chargeback_notice),
        ("vendors", can.vendors),
    ];
    let risk =
        can.anti_fraud.map(|risk| [("real_time", risk.real_time), ("asynchronous", risk.asynchronous)]);
    let brands = can.zero_dollar_brands.unwrap_or_default().iter().map(|brand| brand.name());
    vec![
        ("charges", words(can.payment_types)),
        ("reserves", words(can.pre_authorization)),
        ("captures a part", words(can.partial_capture)),
        (given_back, words(refund)),
        ("splits", words(can.split)),
        ("can", given(&switches)),
        ("checks only", brands.collect()),
        ("analyses risk", risk.map(|risk| given(&risk)).unwrap_or_default()),
        ("installments", if can.installments_max == 24 { vec!["24"] } else { vec!["other"] }),
    ]
}

fn words(types: &[PaymentType]) -> Vec<&'static str> {
    types.iter().map(|payment_type| payment_type.word()).collect()
}

fn given(abilities: &[(&'static str, Ability)]) -> Vec<&'static str> {
    abilities.iter().filter(|(_, ability)| ability.is_yes()).map(|(name, _)| *name).collect()
}

fn credentials(one: ProviderType) -> Vec<(&'static str, Vec<&'static str>)> {
    match one.credential_fields() {
        CredentialFields::Known { required, optional } => {
            vec![("needs", required.to_vec()), ("takes", optional.to_vec())]
        }
        CredentialFields::AnyText => vec![("takes", vec!["any text"])],
    }
}
