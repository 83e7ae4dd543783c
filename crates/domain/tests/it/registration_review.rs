//! Reviews of registrations: what is asked for, and what each answer makes of them.

use regente_domain::id::Id;
use regente_domain::provider_type::ProviderType;
use regente_domain::seller::data::SellerData;
use regente_domain::seller::review::fields::Field;
use regente_domain::seller::review::{Demand, Rejection, Review, ReviewStatus, Verdict};
use regente_domain::time::Timestamp;
use serde_json::json;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_millis(1_774_278_758_379);

fn person() -> SellerData {
    let address = json!({ "street": "A", "streetNumber": "1", "zipCode": "1", "country": "BR", "state": "SP",
        "city": "B", "district": "C" });
    let data = json!({
        "mcc": "5651",
        "owner": { "name": "Rita", "email": "rita@example.com", "phoneNumber": "1", "birthdate": "1995-01-27",
            "document": { "type": "cpf", "number": "36243319067", "country": "BR" }, "address": address },
        "bankAccount": { "holderName": "Rita", "holderDocument": "1", "bank": "001", "branchNumber": "1",
            "accountNumber": "1", "type": "conta_corrente" },
    });
    serde_json::from_value(data).unwrap()
}

fn demand(fields: &[(&str, bool)]) -> Demand {
    let fields =
        fields.iter().map(|(name, required)| Field { name: (*name).to_owned(), required: *required });
    Demand { key: Uuid::nil(), reason: None, fields: fields.collect(), deadline_at: later(30) }
}

fn later(days: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + days * 24 * 60 * 60 * 1000)
}

fn refusal(deadline_at: Option<Timestamp>) -> Verdict {
    let rejection = Rejection {
        field: "owner.phoneNumber".to_owned(),
        message: "no".to_owned(),
        is_free_of_answers: false,
    };
    Verdict::Refused { rejections: vec![rejection], deadline_at }
}

#[test]
fn each_refusal_is_an_attempt_and_each_answer_is_kept() {
    let (id, of) = (Uuid::nil(), Id::new(Uuid::nil()));
    let asked = demand(&[("owner.phoneNumber", true)]);
    let provider = (Id::new(id), ProviderType::Sandbox);
    let (mut review, _) = Review::open((Id::new(id), of), (Id::new(id), Id::new(id)), provider, asked);
    let refusals = [(1, Some(later(7)), ReviewStatus::Open), (2, None, ReviewStatus::Rejected)];
    for (day, deadline_at, status) in refusals {
        review = review.submitted(later(day), later(day)).unwrap().0;
        review = review.judged(&refusal(deadline_at), later(day)).unwrap().0;
        assert_eq!((review.status, i64::from(review.attempt)), (status, 1 + day));
    }
    review = review.passed(later(8)).unwrap().0;
    review = review.submitted(later(9), later(9)).unwrap().0;
    let before: Vec<Timestamp> =
        review.answered_before.iter().map(|answered| answered.collected_at).collect();
    assert_eq!((before, review.answered.unwrap().collected_at), (vec![later(1), later(2)], later(9)));
    assert_eq!(review.judged(&Verdict::Accepted, later(10)).unwrap().0.attempt, 3);
}

#[test]
fn a_seller_is_asked_for_what_it_can_answer() {
    let known = ("owner.phoneNumber", true);
    let named = |demand: Demand| {
        demand
            .for_seller(&person())
            .map(|demand| demand.fields.into_iter().map(|field| field.name).collect::<Vec<_>>())
    };
    assert_eq!(named(demand(&[known])), Ok(vec![known.0.to_owned()]));
    let optional = [("owner.shoeSize", false), known, ("business.name", false)];
    assert_eq!(named(demand(&optional)), Ok(vec![known.0.to_owned()]));
    let required = [("owner.shoeSize", true), known, ("business.name", true)];
    assert_eq!(named(demand(&required)), Err(vec!["owner.shoeSize".to_owned(), "business.name".to_owned()]));
    assert_eq!(named(demand(&[("owner.shoeSize", false)])), Err(Vec::new()), "nothing is left");
}

#[test]
fn a_sentence_that_repeats_an_answer_is_known() {
    let answer = json!({
        "owner.name": "Rita de Lima", "owner.document": { "number": "362.433.190-67" }, "owner.monthlyIncome": 21000,
        "owner.isBusinessRepresentative": true, "business.name": "B",
    });
    let is_free = |message: &str| {
        let rejection = Rejection {
            field: "owner.name".to_owned(),
            message: message.to_owned(),
            is_free_of_answers: true,
        };
        let refused = Verdict::Refused { rejections: vec![rejection], deadline_at: None };
        match refused.on(answer.as_object().unwrap()) {
            Verdict::Refused { rejections, .. } => rejections[0].is_free_of_answers,
            verdict @ (Verdict::Accepted | Verdict::Pending) => panic!("{verdict:?}"),
        }
    };
    for free in ["could not be confirmed", "must be true: B", ""] {
        assert!(is_free(free), "{free}");
    }
    for repeats in
        ["RITA DE LIMA is unknown", "no lima there", "36243319067 is of another person", "21,000 is too much"]
    {
        assert!(!is_free(repeats), "{repeats}");
    }
}
