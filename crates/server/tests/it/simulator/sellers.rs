//! Sellers are registered over HTTP as in the same process, and their data stay with the client.

use regente_domain::provider_type::ProviderType;
use regente_domain::seller::LinkStatus;
use regente_domain::seller::data::SellerData;
use regente_providers::request::{Credentials, Mode};
use regente_providers::seller::{SellerAnswer, SellerAsks, SellerCall};
use regente_providers::staged::{Staged, StagedEvent};
use serde_json::{Map, json};

use super::{Listening, at, key};

fn data(account: &str) -> Box<SellerData> {
    let address = json!({ "street": "A", "streetNumber": "1", "zipCode": "1", "country": "BR", "state": "SP",
        "city": "B", "district": "C" });
    let data = json!({
        "mcc": "5651",
        "owner": { "name": "Rita", "email": "rita@example.com", "phoneNumber": "1", "birthdate": "1995-01-27",
            "document": { "type": "cpf", "number": "36243319067", "country": "BR" }, "address": address },
        "bankAccount": { "holderName": "Rita", "holderDocument": "1", "bank": "001", "branchNumber": "1",
            "accountNumber": account, "type": "conta_corrente" },
    });
    Box::new(serde_json::from_value(data).unwrap())
}

#[tokio::test]
async fn sellers_are_registered_once_for_each_key() {
    let simulator = Listening::start().await;
    let providers = simulator.providers();
    let ask = |number: u128, asks: SellerAsks| {
        providers.ask_about_seller(SellerCall {
            key: key(number),
            seller_id: key(90),
            notify: None,
            at: at(number),
            provider_type: ProviderType::Sandbox,
            credentials: Credentials::new(Map::new()),
            options: Map::new(),
            mode: Mode::Sandbox,
            external_id: None,
            asks,
        })
    };
    let status = |answer: SellerAnswer| match answer {
        SellerAnswer::Stands(standing) => (standing.status, standing.external_id),
        other @ (SellerAnswer::Reviewed(_)
        | SellerAnswer::Unknown
        | SellerAnswer::Unanswered
        | SellerAnswer::NotSupported) => panic!("{other:?}"),
    };
    assert_eq!(ask(1, SellerAsks::Status).await, SellerAnswer::Unknown);
    let (active, id) = status(ask(1, SellerAsks::Register(data("1"))).await);
    assert_eq!(active, LinkStatus::Active);
    // A repetition finds what is there, whatever it says.
    assert_eq!(status(ask(1, SellerAsks::Register(data("1000003"))).await), (LinkStatus::Active, id.clone()));
    assert_eq!(status(ask(1, SellerAsks::Update(data("1000003"))).await), (LinkStatus::Inactive, id.clone()));
    let what = Staged::Seller { status: LinkStatus::Blocked };
    let event = StagedEvent { key: key(1), at: at(2), what };
    providers.stage(ProviderType::Sandbox, event).await.unwrap();
    assert_eq!(status(ask(1, SellerAsks::Status).await), (LinkStatus::Blocked, id));
    let unknown = StagedEvent { key: key(3), ..event };
    assert!(providers.stage(ProviderType::Sandbox, unknown).await.is_err());
    assert!(simulator.books.seller(key(1)).await.unwrap().is_some());
}
