//! Merchants with sellers, and charges that are divided among them.

pub mod books;

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::bodies::{APPROVED, Charge};
use crate::support::charges::single_merchant;
use crate::support::sellers::made;

/// A person who sells; each number is another person. The simulator blocks accounts with the number 1000004.
pub fn seller_body(merchant: &str, number: u32, account: &str) -> Value {
    let cpf = cpf(number);
    json!({
        "merchantId": merchant, "mcc": 5651,
        "owner": {
            "name": "Rita Lima", "email": format!("rita{number}@example.com"), "phoneNumber": "21988899909",
            "birthdate": "1995-01-27", "document": { "type": "cpf", "number": cpf },
            "address": { "street": "Av Geraldo Cardoso", "streetNumber": "205", "zipCode": "25650011", "country": "BR",
                "state": "RJ", "city": "Rio de Janeiro", "district": "Leblon" },
        },
        "bankAccount": {
            "holderName": "Rita Lima", "holderDocument": cpf, "bank": "077", "branchNumber": "492",
            "accountNumber": account, "type": "conta_corrente",
        },
    })
}

/// Nine digits with their check digits.
pub fn cpf(number: u32) -> String {
    let mut digits: Vec<u32> =
        format!("{:09}", 362_433_190 + number).bytes().map(|digit| u32::from(digit - b'0')).collect();
    for _ in 0..2 {
        let weights = (2..=u32::try_from(digits.len()).unwrap() + 1).rev();
        let sum: u32 = digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum();
        digits.push((sum * 10) % 11 % 10);
    }
    digits.iter().map(ToString::to_string).collect()
}

/// A seller of a merchant that every provider takes.
pub async fn seller(app: &TestApp, merchant: &str, number: u32) -> Value {
    made(app, &seller_body(merchant, number, "4929")).await
}

/// A merchant with two sellers.
pub async fn shop(app: &TestApp) -> (String, [Value; 2]) {
    let merchant = single_merchant(app).await;
    let sellers = [seller(app, &merchant, 1).await, seller(app, &merchant, 2).await];
    (merchant, sellers)
}

/// A charge that is divided so.
pub fn divided(merchant: &str, amount: i64, rules: &Value) -> Value {
    Charge::by_card(merchant, APPROVED).amount(amount).with("splitRules", rules.clone()).body()
}
