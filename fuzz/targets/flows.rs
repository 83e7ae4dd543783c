//! Flows of routing: the body, and the tree in it. A tree that is published names providers of the merchant alone, is read to the
//! same when a charge takes it, and leads each charge to a provider.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use regente_domain::card::Brand;
use regente_domain::currency::Currency;
use regente_domain::flow::{Draws, Facts, Flow, Member, NewFlow};
use regente_domain::id::ProviderId;
use regente_domain::provider_type::ProviderType;
use regente_domain::wire;
use regente_fuzz::{body, is_answer};

static MEMBERS: LazyLock<Vec<Member>> = LazyLock::new(|| {
    let member = |id: &str, provider_type| Member {
        id: id.parse().expect("it is an id"),
        provider_type,
        takes_method: true,
    };
    vec![
        member("72cc1ff1-5f6e-4eb2-9cc5-6a3a85525e4b", ProviderType::Sandbox),
        member("72cc1ff1-5f6e-4eb2-9cc5-6a3a85525e4c", ProviderType::Stripe),
        member("72cc1ff1-5f6e-4eb2-9cc5-6a3a85525e4d", ProviderType::SandboxAntifraud),
    ]
});

fuzz_target!(|data: &[u8]| {
    let Some(sent) = body(data) else { return };
    let flow = match wire::read::<NewFlow>(sent) {
        Ok(flow) => flow,
        Err(problems) => return is_answer(&problems),
    };
    // What cannot be published any more is read as far as it can be.
    walk(&Flow::published(&flow.flow));
    let Ok(published) = Flow::publish(&flow.flow, flow.payment_method, &MEMBERS) else { return };
    assert_eq!(Flow::published(&flow.flow), published);
    let known: Vec<ProviderId> = MEMBERS.iter().map(|member| member.id).collect();
    assert!(published.providers().iter().all(|id| known.contains(id)));
    assert!(walk(&published));
});

/// Takes some charges through the tree; whether each comes to a provider.
fn walk(flow: &Flow) -> bool {
    let metadata =
        regente_fuzz::members(serde_json::json!({ "shop": "a", "items": 3, "weight": 1.5, "is_gift": true }));
    let facts = |amount| Facts {
        amount,
        currency: Currency::BRL,
        installments: Some(3),
        bin: Some("491674"),
        brand: Some(Brand::Visa),
        metadata: Some(&metadata),
    };
    [0, 1_500, wire::INTEGER_MAX].into_iter().zip(1..).all(|(amount, seed)| {
        let choice = flow.choose(&facts(amount), Draws::seeded(seed));
        assert_eq!(choice, flow.choose(&facts(amount), Draws::seeded(seed)));
        choice.providers().next().is_some()
    })
}

fuzz_mutator!(|data: &mut [u8], size: usize, size_max: usize, seed: u32| {
    regente_fuzz::json::mutate(data, size, size_max, seed, 0)
});
