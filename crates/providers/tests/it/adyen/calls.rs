//! Calls to the provider, with the parts that matter.

use std::collections::BTreeMap;

use regente_domain::boleto::LateCharges;
use regente_domain::capture_mode::CaptureMode;
use regente_domain::charge::{Boleto, PayerSource, PaymentMethod, Pix};
use regente_domain::country::Country;
use regente_domain::currency::Currency;
use regente_domain::customer::{Address, Document};
use regente_domain::id::Id;
use regente_domain::money::Amount;
use regente_domain::payment_type::PaymentType;
use regente_domain::provider_type::ProviderType;
use regente_domain::time::parse_date;
use regente_providers::authentication::{Browser, CardHolderData, ThreeDSecure};
use regente_providers::http_client::Incoming;
use regente_providers::request::{
    Authorization, Call, Credentials, FollowUp, Held, Inquiry, Instrument, Operation, PayerDetails,
    VendorDetails, Verification,
};
use serde_json::json;
use uuid::Uuid;

use crate::support::{self, authorization, card, key, object};

/// A number of the provider's test environment.
pub(super) const NUMBER: &str = "4111111111111111";
/// The key of notifications that the provider publishes in an example.
pub(super) const HMAC_KEY: &str = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";
/// The provider's id of the payment.
pub(super) const PSP: &str = "993617895204576J";

/// The charge of all calls.
pub(super) fn charge_id() -> Uuid {
    key(9)
}

pub(super) fn credentials() -> Credentials {
    Credentials::new(object(json!({
        "type": "ADYEN", "apiKey": "adyen-secret", "merchantAccount": "TestMerchant", "liveUrlPrefix": "1797a841fbb37ca7-Shop",
        "webhookHmacKey": HMAC_KEY,
    })))
}

pub(super) fn call(key: Uuid, operation: Operation) -> Call {
    Call {
        object_id: charge_id(),
        provider_type: ProviderType::Adyen,
        credentials: credentials(),
        ..support::call(key, operation)
    }
}

pub(super) fn by_card() -> Authorization {
    authorization(NUMBER, Some("737"))
}

pub(super) fn vendor() -> VendorDetails {
    let data = json!({
        "identityType": "CNPJ", "identity": "12.345.678/0001-99", "mcc": "812",
        "name": "Empresa Exemplo de Nome Longo Ltda", "email": "contato@example.com",
        "website": "https://www.example.com",
        "address": { "country": "BR", "state": "SP", "city": "Sao Paulo", "district": "Centro",
            "zipCode": "01001-000", "street": "Avenida Paulista", "streetNumber": "1000" },
    });
    VendorDetails {
        reference_id: "12345".to_owned(),
        payment_facilitator_id: Some("999".to_owned()),
        data: serde_json::from_value(data).unwrap(),
    }
}

pub(super) fn charge(authorization: Authorization) -> Call {
    call(key(1), Operation::Authorize(authorization))
}

pub(super) fn reservation() -> Call {
    charge(Authorization { capture: CaptureMode::Manual, ..by_card() })
}

pub(super) fn verification() -> Call {
    let card = card(NUMBER, Some("737"));
    call(key(1), Operation::VerifyCard(Verification { currency: Currency::BRL, card, merchant_mcc: None }))
}

pub(super) fn follow_up(amount: i64, held: Held) -> FollowUp {
    FollowUp {
        authorization_key: key(1),
        transaction_id: Some(PSP.to_owned()),
        payment_type: PaymentType::Credit,
        amount: Amount::new(amount).unwrap(),
        currency: Currency::BRL,
        held,
        delay_to_compose: None,
        division: None,
    }
}

pub(super) fn reserved(amount: i64) -> Held {
    Held::Reserved(Amount::new(amount).unwrap())
}

pub(super) fn taken(amount: i64) -> Held {
    Held::Taken(Amount::new(amount).unwrap())
}

pub(super) fn capture(amount: i64) -> Call {
    call(key(2), Operation::Capture(follow_up(amount, reserved(1500))))
}

pub(super) fn void(amount: i64, held: Held) -> Call {
    call(key(2), Operation::Void(follow_up(amount, held)))
}

pub(super) fn payer() -> PayerDetails {
    PayerDetails {
        name: "Jose Bonifacio de Andrada".to_owned(),
        email: Some("jose@example.com".to_owned()),
        phone_number: "21988899990".to_owned(),
        document: Document {
            kind: "cpf".to_owned(),
            number: "729.120.530-13".to_owned(),
            country: Country::BR,
        },
        address: Some(Address {
            country: Some(Country::BR),
            state: Some("SP".to_owned()),
            city: Some("Santos".to_owned()),
            district: Some("Centro".to_owned()),
            zip_code: Some("11010150".to_owned()),
            street: Some("Rua XV de Novembro".to_owned()),
            street_number: Some("12B".to_owned()),
            complement: None,
        }),
    }
}

pub(super) fn payer_source() -> PayerSource {
    PayerSource { customer_id: Id::new(Uuid::nil()) }
}

pub(super) fn pix() -> Call {
    let method = Pix { source: payer_source(), expires_in: 3600, additional_info: Vec::new(), items: None };
    let instrument = Instrument::Payer(Box::new(payer()));
    charge(Authorization { method: PaymentMethod::Pix(method), instrument, ..by_card() })
}

pub(super) fn boleto() -> Boleto {
    Boleto {
        source: payer_source(),
        due: parse_date("2026-01-15").unwrap(),
        instructions: Some("Pay at any bank".to_owned()),
        late_charges: LateCharges::default(),
        items: None,
    }
}

pub(super) fn by_boleto(boleto: Boleto) -> Call {
    let instrument = Instrument::Payer(Box::new(payer()));
    charge(Authorization { method: PaymentMethod::Boleto(Box::new(boleto)), instrument, ..by_card() })
}

/// What a merchant sends for an authentication by the provider.
pub(super) fn three_d_secure() -> ThreeDSecure {
    ThreeDSecure {
        browser: Some(Browser {
            accept_header: "text/html".to_owned(),
            color_depth: 24,
            java_enabled: false,
            java_script_enabled: Some(true),
            language: "pt-BR".to_owned(),
            screen_height: 1080,
            screen_width: 1920,
            time_zone_offset: "180".to_owned(),
            user_agent: "Mozilla/5.0".to_owned(),
            ip: "203.0.113.7".to_owned(),
            accept_browser_value: None,
            accept_content: None,
        }),
        card_holder: Some(CardHolderData { email: "holder@example.com".to_owned(), mobile_phone: None }),
        ..ThreeDSecure::default()
    }
}

pub(super) fn inquiry(returned: &[(&str, &str)]) -> Inquiry {
    let returned = returned.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Inquiry {
        reference: Some("JLCMPCQ8HXSKGK82".to_owned()),
        returned: returned.collect::<BTreeMap<_, _>>(),
        provider_type: ProviderType::Adyen,
        credentials: credentials(),
        ..support::inquiry(key(1))
    }
}

/// A recorded answer.
pub(super) fn incoming(status: u16, body: &str) -> Incoming {
    Incoming {
        status: http::StatusCode::from_u16(status).unwrap(),
        headers: http::HeaderMap::new(),
        body: body.as_bytes().to_vec(),
    }
}
