use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::subscription::{AfterRetries, BillingRules, PolicyRefusal, RetryPolicy, is_tried_again};
use serde_json::json;

#[test]
fn a_rising_list_counts_from_the_first_attempt_and_others_from_the_one_before() {
    let cases: [(&[u8], &[u8]); 7] = [
        (&[1, 4, 9, 16], &[0, 1, 4, 9, 16]),
        (&[5], &[0, 5]),
        (&[1, 3, 5], &[0, 1, 3, 5]),
        (&[3, 3, 3], &[0, 3, 6, 9]),
        (&[7, 2, 1], &[0, 7, 9, 10]),
        (&[1, 2, 2], &[0, 1, 3, 5]),
        (&[5, 10, 15, 20, 25, 30], &[0, 5, 10, 15, 20, 25, 30]),
    ];
    for (rules, days) in cases {
        let policy = RetryPolicy::new(rules.to_vec()).unwrap();
        assert_eq!(policy.days(), days, "{rules:?}");
        assert_eq!(policy.rules(), rules, "shown as given");
        let gaps: Vec<u8> = days.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let found: Vec<u8> = (1..=gaps.len()).map(|attempts| policy.gap_after(attempts).unwrap()).collect();
        assert_eq!(found, gaps, "{rules:?}");
        assert_eq!(policy.gap_after(gaps.len() + 1), None);
        assert_eq!(policy.gap_after(0), None, "nothing was tried");
    }
}

#[test]
fn a_policy_has_one_to_six_rules_within_thirty_days() {
    let cases: [(&[u8], PolicyRefusal); 7] = [
        (&[], PolicyRefusal::Count),
        (&[1, 2, 3, 4, 5, 6, 7], PolicyRefusal::Count),
        (&[0], PolicyRefusal::Days(0)),
        (&[1, 31], PolicyRefusal::Days(1)),
        (&[15, 15, 1], PolicyRefusal::Window),
        (&[30, 1], PolicyRefusal::Window),
        (&[30, 30, 30, 30, 30, 30], PolicyRefusal::Window),
    ];
    for (rules, refusal) in cases {
        assert_eq!(RetryPolicy::new(rules.to_vec()), Err(refusal), "{rules:?}");
        assert!(serde_json::from_value::<RetryPolicy>(json!(rules)).is_err(), "{rules:?}");
    }
    assert!(RetryPolicy::new(vec![15, 15]).is_ok());
    assert!(RetryPolicy::new(vec![1, 2, 3, 4, 5, 30]).is_ok());
}

#[test]
fn the_rules_of_an_account_that_has_set_none() {
    let rules = BillingRules::default();
    assert_eq!(rules.retry_policy.days(), [0, 1, 4, 9, 16]);
    assert_eq!((rules.after_retries, rules.statement_descriptor.as_ref()), (AfterRetries::Unpaid, None));
    let text = json!({ "retryPolicy": [1, 4, 9, 16], "afterRetries": "unpaid" });
    assert_eq!(serde_json::to_value(&rules).unwrap(), text);
    assert_eq!(serde_json::from_value::<BillingRules>(text).unwrap(), rules);
}

/// Which refusals are tried again by themselves.
#[test]
fn a_card_that_is_lost_or_expired_is_not_tried_again_by_itself() {
    let tried = [
        "fraud_suspect",
        "generic",
        "insufficient_funds",
        "invalid_cvv",
        "invalid_installment",
        "issuer_not_available",
        "not_permitted",
        "security_violation",
        "try_again",
    ];
    for code in DeclinedCode::all() {
        let decline = Decline::of(code);
        assert_eq!(is_tried_again(&decline), tried.contains(&code.code()), "{}", code.code());
        let refused_for_good = Decline { retryable: false, ..decline.clone() };
        assert!(!is_tried_again(&refused_for_good), "{}: the provider's no counts", code.code());
    }
    let stolen = Decline { retryable: true, ..Decline::of(DeclinedCode::StolenCard) };
    assert!(!is_tried_again(&stolen), "a provider's yes does not bring the card back");
}
