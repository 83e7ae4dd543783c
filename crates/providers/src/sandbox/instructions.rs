//! What the simulator asks of a payer, by payment method (`docs/interface/sandbox.md#payers`).

use std::time::Duration;

use regente_domain::boleto::{BankCode, Barcode, BarcodeFacts, FreeField, IssuedBoleto};
use regente_domain::br_code::{BrCode, BrCodeError, TXID_CHARS_MAX};
use regente_domain::charge::attempt::PaidAs;
use regente_domain::charge::{Boleto, Drip, Nupay, PaymentMethod, Pix};
use regente_domain::currency::Currency;
use regente_domain::decline::{Decline, DeclinedCode};
use regente_domain::time::Timestamp;

use crate::outcome::{Approval, Instructions, Pending};
use crate::request::Authorization;

use super::draws::Draws;
use super::rules::{Verdict, network_says};

/// Where the payer's bank would read a charge; nothing is there.
const LOCATION: &str = "pix.sandbox.example/v2";
/// Who is paid, so that nobody takes the code for a real one.
const MERCHANT_NAME: &str = "SANDBOX";
const MERCHANT_CITY: &str = "SAO PAULO";
/// The bank that issues boletos. No bank has this number.
const BANK: &str = "999";
const BANK_NAME: &str = "Banco Sandbox";
/// The beneficiary's branch, account with its check digit, and kind of collection at the bank.
const BRANCH: &str = "0001";
const ACCOUNT: &str = "00000001";
const ACCOUNT_CHECK_DIGIT: &str = "9";
const COLLECTION: &str = "17";
/// Digits of the bank's number of a boleto.
const OUR_NUMBER_DIGITS: usize = 11;

const MINUTE: Duration = Duration::from_secs(60);
/// How long the payer of a PicPay has.
const PICPAY_LIFE: Duration = Duration::from_secs(15 * 60);

/// The instructions of a method that is paid without a card; a decline for a method that needs one.
pub(super) fn issue(
    authorization: &Authorization,
    at: Timestamp,
    page: impl FnOnce() -> String,
    draws: &Draws,
) -> Verdict {
    match &authorization.method {
        PaymentMethod::Pix(method) => pix(authorization, method, at, draws),
        PaymentMethod::Boleto(method) => boleto(authorization, method, draws),
        PaymentMethod::Nupay(method) => nupay(authorization, method, at, page, draws),
        PaymentMethod::Drip(method) => drip(authorization, method, at, page, draws),
        PaymentMethod::Picpay(_) => picpay(authorization, at, page, draws),
        PaymentMethod::Credit(_)
        | PaymentMethod::Debit(_)
        | PaymentMethod::Voucher(_)
        | PaymentMethod::ApplePay(_)
        | PaymentMethod::ClickToPay(_) => {
            Verdict::Decline(network_says(Decline::of(DeclinedCode::InvalidData), "sandbox no card"))
        }
    }
}

/// The code of one charge. Its `txid` is the id of the transaction.
fn pix(authorization: &Authorization, method: &Pix, at: Timestamp, draws: &Draws) -> Verdict {
    if authorization.currency != Currency::BRL {
        return refused("sandbox pix is in BRL");
    }
    let txid = txid(draws);
    let Ok(data) = br_code(authorization, &txid, draws) else {
        return too_large("sandbox amount too large for a code");
    };
    Verdict::Wait(Box::new(Pending {
        instructions: Instructions::QrCode { data },
        reference: Approval { transaction_id: Some(txid), ..Approval::default() },
        expires_at: Some(at + Duration::from_secs(method.expires_in.into())),
    }))
}

/// The page of a wallet, where the payer pays from their account, at once and in one installment.
fn nupay(
    authorization: &Authorization,
    method: &Nupay,
    at: Timestamp,
    page: impl FnOnce() -> String,
    draws: &Draws,
) -> Verdict {
    if authorization.currency != Currency::BRL {
        return refused("sandbox nupay is in BRL");
    }
    let paid_as = PaidAs { installments_number: 1, payment_type: "debit".to_owned() };
    let transaction_id = draws.approval().transaction_id;
    Verdict::Wait(Box::new(Pending {
        instructions: Instructions::Redirect { url: page() },
        reference: Approval { transaction_id, paid_as: Some(Box::new(paid_as)), ..Approval::default() },
        expires_at: Some(at + MINUTE * method.delay_to_auto_cancel),
    }))
}

/// The page where the payer agrees to the installments.
fn drip(
    authorization: &Authorization,
    method: &Drip,
    at: Timestamp,
    page: impl FnOnce() -> String,
    draws: &Draws,
) -> Verdict {
    if authorization.currency != Currency::BRL {
        return refused("sandbox drip is in BRL");
    }
    let transaction_id = draws.approval().transaction_id;
    Verdict::Wait(Box::new(Pending {
        instructions: Instructions::Redirect { url: page() },
        reference: Approval { transaction_id, ..Approval::default() },
        expires_at: method.minutes_to_expire.map(|minutes| at + MINUTE * minutes),
    }))
}

/// A code that leads to the page: whoever scans it pays or refuses there.
fn picpay(
    authorization: &Authorization,
    at: Timestamp,
    page: impl FnOnce() -> String,
    draws: &Draws,
) -> Verdict {
    if authorization.currency != Currency::BRL {
        return refused("sandbox picpay is in BRL");
    }
    let transaction_id = draws.approval().transaction_id;
    Verdict::Wait(Box::new(Pending {
        instructions: Instructions::QrCode { data: page() },
        reference: Approval { transaction_id, ..Approval::default() },
        expires_at: Some(at + PICPAY_LIFE),
    }))
}

/// The boleto of one charge, which can be paid with Pix as well. The bank's number is the id of the transaction.
fn boleto(authorization: &Authorization, method: &Boleto, draws: &Draws) -> Verdict {
    if authorization.currency != Currency::BRL {
        return refused("sandbox boleto is in BRL");
    }
    let our_number = draws.digits::<OUR_NUMBER_DIGITS>("our number");
    let Some(barcode) = barcode(authorization, method, &our_number) else {
        return too_large("sandbox amount too large for a boleto");
    };
    Verdict::Wait(Box::new(Pending {
        instructions: Instructions::Boleto(Box::new(IssuedBoleto {
            barcode,
            bank_name: BANK_NAME.to_owned(),
            beneficiary_code: format!("{BRANCH} / {ACCOUNT}-{ACCOUNT_CHECK_DIGIT}"),
            our_number: format!("{COLLECTION}/{our_number}"),
            due: method.due,
            late_charges: method.late_charges,
            pix_code: br_code(authorization, &txid(draws), draws).ok(),
        })),
        reference: Approval { transaction_id: Some(our_number), ..Approval::default() },
        expires_at: None,
    }))
}

fn barcode(authorization: &Authorization, method: &Boleto, our_number: &str) -> Option<Barcode> {
    Barcode::new(BarcodeFacts {
        bank: BankCode::parse(BANK)?,
        due: Some(method.due),
        amount: authorization.amount,
        free_field: FreeField::parse(&format!("{BRANCH}{COLLECTION}{our_number}{ACCOUNT}"))?,
    })
}

fn txid(draws: &Draws) -> String {
    let mut txid = draws.letters_and_digits("txid");
    txid.truncate(TXID_CHARS_MAX);
    txid
}

fn br_code(authorization: &Authorization, txid: &str, draws: &Draws) -> Result<String, BrCodeError> {
    let code = BrCode {
        location: &format!("{LOCATION}/{}", draws.call_key().simple()),
        merchant_name: MERCHANT_NAME,
        merchant_city: MERCHANT_CITY,
        category: authorization.merchant_mcc.clone(),
        amount: authorization.amount,
        txid,
    };
    code.encode()
}

fn too_large(reason: &str) -> Verdict {
    Verdict::Decline(network_says(Decline::of(DeclinedCode::InvalidAmount), reason))
}

fn refused(reason: &str) -> Verdict {
    Verdict::Decline(network_says(Decline::of(DeclinedCode::TransactionNotAllowed), reason))
}
