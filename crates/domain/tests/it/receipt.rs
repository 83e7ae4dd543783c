//! Documents that prove refunds.

use regente_domain::charge::attempt::Approval;
use regente_domain::id::{ChargeId, Id};
use regente_domain::payment_type::PaymentType;
use regente_domain::receipt::content::{end_to_end_id, masked_document};
use regente_domain::receipt::{
    NewReceipt, ReceiptFormat, ReceiptMethod, ReceiptType, file_name, letter_name,
};
use regente_domain::wire;
use serde_json::{Value, json};
use uuid::Uuid;

const CHARGE: &str = "148d5db0-f1c3-439f-902d-f1f268086e1d";

#[test]
fn which_documents_there_are() {
    use ReceiptType::{CancellationLetter, RefundReceipt};
    let credit = ReceiptMethod::of(PaymentType::Credit).unwrap();
    let pix = ReceiptMethod::of(PaymentType::Pix).unwrap();
    assert!(CancellationLetter.fits(credit) && RefundReceipt.fits(credit) && RefundReceipt.fits(pix));
    assert!(!CancellationLetter.fits(pix));
    for other in [PaymentType::Boleto, PaymentType::Voucher, PaymentType::Debit, PaymentType::Nupay] {
        assert_eq!(ReceiptMethod::of(other), None);
    }
    assert_eq!(CancellationLetter.format(1), ReceiptFormat::Pdf);
    assert_eq!(CancellationLetter.format(2), ReceiptFormat::Zip);
    assert_eq!(RefundReceipt.format(2), ReceiptFormat::Pdf);
}

#[test]
fn files_are_named_after_their_charge() {
    let charge: ChargeId = Id::new(CHARGE.parse::<Uuid>().unwrap());
    let named = |receipt_type, format| file_name(receipt_type, format, charge);
    assert_eq!(
        named(ReceiptType::CancellationLetter, ReceiptFormat::Pdf),
        format!("cancellation-letter-{CHARGE}-1.pdf")
    );
    assert_eq!(
        named(ReceiptType::CancellationLetter, ReceiptFormat::Zip),
        format!("cancellation-letters-{CHARGE}.zip")
    );
    assert_eq!(named(ReceiptType::RefundReceipt, ReceiptFormat::Pdf), format!("refund-receipt-{CHARGE}.pdf"));
    assert_eq!(letter_name(charge, 3), format!("cancellation-letter-{CHARGE}-3.pdf"));
}

#[test]
fn of_a_persons_document_the_middle_is_printed() {
    assert_eq!(masked_document("72912053013"), "***.120.530-**");
    assert_eq!(masked_document("11222333000181"), "11222333000181");
    assert_eq!(masked_document("AB345678901"), "AB345678901");
}

#[test]
fn an_id_that_no_bank_knows_is_no_end_to_end_id() {
    const OF_BANKS: &str = "E00000000202604301200abcdefghijk";
    let found = |transaction_id: &str, network_authorization_code: Option<&str>| {
        let codes = Approval {
            transaction_id: Some(transaction_id.to_owned()),
            network_authorization_code: network_authorization_code.map(str::to_owned),
            ..Approval::default()
        };
        end_to_end_id(&codes).map(str::to_owned)
    };
    assert_eq!(found(OF_BANKS, None).as_deref(), Some(OF_BANKS));
    assert_eq!(found("tx-1", Some(OF_BANKS)).as_deref(), Some(OF_BANKS));
    assert_eq!(found(OF_BANKS, Some("A1")).as_deref(), Some(OF_BANKS));
    for other in ["tx-1", CHARGE, &CHARGE.replace('-', ""), &OF_BANKS[1..], &OF_BANKS.replace('a', "-"), ""] {
        assert_eq!(found(other, None), None, "{other}");
    }
}

#[test]
fn a_body_names_its_charge_and_its_type() {
    let problems = |body: Value| {
        let Value::Object(members) = body else { panic!("an object") };
        match wire::read::<NewReceipt>(members) {
            Ok(new) => panic!("{new:?}"),
            Err(problems) => problems.into_details().join("; "),
        }
    };
    let rule = "type must be one of the following values: cancellation_letter, refund_receipt";
    for body in [
        json!({ "chargeId": CHARGE }),
        json!({ "chargeId": CHARGE, "type": null }),
        json!({ "chargeId": CHARGE, "type": "letter" }),
    ] {
        let said = problems(body.clone());
        assert_eq!(said.matches(rule).count(), 1, "{body}: {said}");
    }
    assert!(problems(json!({ "type": "refund_receipt" })).contains("chargeId"));
}
