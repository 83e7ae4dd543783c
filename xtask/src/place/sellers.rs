//! Bodies of sellers, and of where they are paid.

use serde_json::{Value, json};

use super::Account;

/// The body of a seller of the account's merchant.
pub(crate) fn seller(account: &Account, document: &str) -> Value {
    json!({
        "merchantId": account.merchant_id, "mcc": 5651,
        "owner": {
            "name": "Rita Lima", "email": "rita@example.com", "phoneNumber": "21988899909", "birthdate": "1995-01-27",
            "document": { "type": "cpf", "number": document },
            "address": { "street": "Av Geraldo Cardoso", "streetNumber": "205", "zipCode": "25650011", "country": "BR",
                "state": "RJ", "city": "Rio de Janeiro", "district": "Leblon" },
        },
        "bankAccount": bank_account(document, "4929"),
    })
}

/// The bank account of a seller or of an account, with this number: its last digit says what the bank does.
pub(crate) fn bank_account(document: &str, number: &str) -> Value {
    json!({
        "holderName": "Rita Lima", "holderDocument": document, "bank": "077", "branchNumber": "492",
        "accountNumber": number, "type": "conta_corrente",
    })
}

/// A number of nine digits with its check digits.
pub(crate) fn cpf(number: u64) -> String {
    let mut digits: Vec<u64> =
        format!("{:09}", 362_433_190 + number).bytes().map(|digit| u64::from(digit - b'0')).collect();
    for _ in 0..2 {
        let weights = (2..=digits.len() as u64 + 1).rev();
        let sum: u64 = digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum();
        digits.push((sum * 10) % 11 % 10);
    }
    digits.iter().map(ToString::to_string).collect()
}
