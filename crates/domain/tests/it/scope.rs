use proptest::prelude::*;
use regente_domain::merchant::MerchantStatus;
use regente_domain::scope::{Scope, Scopes};
use serde_json::{Value, json};

#[test]
fn the_words_are_those_of_the_wire() {
    let words: Vec<&str> = Scope::ALL.into_iter().map(Scope::word).collect();
    assert_eq!(
        words.join(" "),
        "customers cards tokens charges webhooks sessions auth flows sellers providers subscriptions reports"
    );
    for scope in Scope::ALL {
        assert_eq!(Scope::parse(scope.word()), Some(scope));
        assert_eq!(serde_json::to_value(scope).unwrap(), scope.word());
    }
}

#[test]
fn three_forms_are_read_and_shown_back() {
    for (sent, shown) in [
        (json!("*"), json!("*")),
        (json!("tokens"), json!(["tokens"])),
        (json!(["tokens", "cards"]), json!(["tokens", "cards"])),
        (json!(["tokens", "tokens"]), json!(["tokens"])),
    ] {
        let scopes: Scopes = serde_json::from_value(sent).unwrap();
        assert_eq!(serde_json::to_value(&scopes).unwrap(), shown);
    }
    for wrong in [
        json!([]),
        json!(""),
        json!("Tokens"),
        json!(["tokens", "purchases"]),
        json!(["*", "x"]),
        Value::Null,
    ] {
        assert!(serde_json::from_value::<Scopes>(wrong.clone()).is_err(), "{wrong}");
    }
}

fn any_scopes() -> impl Strategy<Value = Scopes> {
    prop_oneof![
        Just(Scopes::All),
        prop::collection::vec(prop::sample::select(Scope::ALL.to_vec()), 1..6).prop_map(Scopes::of),
    ]
}

proptest! {
    #[test]
    fn within_means_that_nothing_is_added(child in any_scopes(), parent in any_scopes()) {
        if child.is_within(&parent) {
            for scope in Scope::ALL {
                prop_assert!(!child.contains(scope) || parent.contains(scope));
            }
        } else {
            prop_assert!(child == Scopes::All || Scope::ALL.into_iter().any(|scope| child.contains(scope) && !parent.contains(scope)));
        }
    }
}

#[test]
fn all_is_more_than_every_single_scope() {
    assert!(!Scopes::All.is_within(&Scopes::of(Scope::ALL)));
    assert!(Scopes::of(Scope::ALL).is_within(&Scopes::All));
}

#[test]
fn merchant_states_have_words() {
    for (status, word) in [
        (MerchantStatus::Active, "active"),
        (MerchantStatus::Deleted, "deleted"),
        (MerchantStatus::Pending, "pending"),
    ] {
        assert_eq!((status.word(), MerchantStatus::parse(word)), (word, Some(status)));
        assert_eq!(serde_json::to_value(status).unwrap(), word);
    }
    assert_eq!(MerchantStatus::parse("Active"), None);
}
