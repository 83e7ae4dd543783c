//! Uses the types that oas3-gen generates from openapi.json; it does not compile when the document lacks them.

mod types;

use types::{
    ChargeStatus, DeclinedCode, Event, NewCardSource, NewCharge, NewCreditPayment, NewPaymentMethod,
    NewPaymentSource, PaymentMethod, TransactionEvent, TransactionEventWord,
};

fn main() -> Result<(), serde_json::Error> {
    println!("{}", serde_json::to_string(&new_charge())?);
    for line in std::io::stdin().lines().map_while(Result::ok) {
        match serde_json::from_str::<Event>(&line)? {
            Event::Transaction(event) => println!("{}", is_paid(&event)),
            Event::Purchase(event) => println!("{} cards", event.data.payments.len()),
            _ => {}
        }
    }
    Ok(())
}

fn new_charge() -> NewCharge {
    let credit = NewCreditPayment { installments: Some(2), ..NewCreditPayment::default() };
    let card = NewCardSource { card_id: Some(uuid::Uuid::nil()), ..NewCardSource::default() };
    NewCharge {
        amount: 150,
        payment_method: Box::new(NewPaymentMethod::Credit(credit)),
        payment_source: Box::new(NewPaymentSource::Card(card)),
        ..NewCharge::default()
    }
}

fn is_paid(event: &TransactionEvent) -> bool {
    let last = event.data.transaction_requests.first();
    let refusal = last.and_then(|request| request.provider_error.as_ref());
    let is_final = refusal.is_some_and(|refusal| refusal.declined_code == Some(DeclinedCode::StolenCard));
    event.event == TransactionEventWord::Authorized && event.data.status == ChargeStatus::Authorized && !is_final
}

/// Every way of paying has its own members.
pub fn installments(method: &PaymentMethod) -> i32 {
    if let PaymentMethod::Credit(credit) = method { credit.installments } else { 1 }
}
