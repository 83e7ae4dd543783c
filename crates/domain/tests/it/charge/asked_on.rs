//! How long a provider is asked about a payer's instructions: as long as somebody can pay them.

use regente_domain::charge::attempt::{Approval, Outcome};
use regente_domain::charge::instructions::{Instructions, Pending};

use regente_domain::charge::reconciliation::is_over;
use regente_domain::charge::{Charge, ChargeState, PayerSource, PaymentMethod, Pix};

use super::{MINUTE, NOW, SANDBOX, approved, authorization, charge, declined, id, of_payer};

fn by_pix() -> Charge {
    let source = PayerSource { customer_id: id(5) };
    let pix = Pix { source, expires_in: 60, additional_info: Vec::new(), items: None };
    let state = ChargeState::Failed { responsible: SANDBOX };
    Charge { method: PaymentMethod::Pix(pix), state, ..charge() }
}

#[test]
fn what_was_withdrawn_is_asked_about_on() {
    for told in [declined(), approved()] {
        assert!(by_pix().is_asked_on(&of_payer(1, told.clone())), "{told:?}");
        let by_card = Charge { method: charge().method, ..by_pix() };
        assert!(!by_card.is_asked_on(&of_payer(1, told)), "a cardholder pays once");
    }
}

/// A payment may be on its way from the payer's bank when the code expires.
#[test]
fn what_was_withdrawn_is_asked_about_to_the_end_of_the_schedule() {
    let instructed = |instructions| {
        let reference = Approval::default();
        let pending = Pending { reference, instructions, expires_at: Some(NOW + MINUTE) };
        authorization(0, Outcome::Pending(Box::new(pending)))
    };
    let code = instructed(Instructions::QrCode { data: "000201".to_owned() });
    assert!(!is_over(&code, &declined(), false, NOW), "it can be paid");
    assert!(!is_over(&code, &declined(), false, NOW + MINUTE), "a bank may take its time");
    assert!(is_over(&code, &declined(), true, NOW + MINUTE));
    assert!(is_over(&code, &approved(), false, NOW + MINUTE), "it was paid");
    let challenge = instructed(Instructions::Challenge {
        step_up_url: String::new(),
        token: String::new(),
        pareq: String::new(),
    });
    assert!(is_over(&challenge, &declined(), false, NOW + MINUTE), "nobody pays a challenge");
}
