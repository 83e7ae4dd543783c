use proptest::prelude::*;
use regente_domain::id::{ChargeId, TokenId};
use regente_domain::time::Timestamp;
use uuid::{Builder, Uuid};

/// Milliseconds that a version 7 id can hold.
const MILLIS_MAX: i64 = (1 << 48) - 1;

fn version_7(millis: i64, chance: [u8; 10]) -> ChargeId {
    ChargeId::new(Builder::from_unix_timestamp_millis(millis.unsigned_abs(), &chance).into_uuid())
}

#[test]
fn the_id_of_a_known_moment_tells_it() {
    // RFC 9562, appendix A.6.
    let id: ChargeId = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F".parse().unwrap();
    assert_eq!(id.created_at().to_string(), "2022-02-22T19:22:22.000Z");
}

#[test]
fn an_id_of_another_version_tells_no_time() {
    let id: TokenId = "cc0b1e41-2936-45c5-947f-93995ffcdc00".parse().unwrap();
    assert_eq!(id.created_at(), Timestamp::EPOCH);
}

#[test]
fn an_id_is_its_uuid_on_the_wire() {
    let text = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    let id: ChargeId = text.parse().unwrap();
    assert_eq!(id.to_string(), text);
    assert_eq!(format!("{id:?}"), text);
    assert_eq!(serde_json::to_value(id).unwrap(), text);
    assert_eq!(serde_json::from_value::<ChargeId>(text.into()).unwrap(), id);
    assert_eq!(id.uuid(), Uuid::try_parse(text).unwrap());
    assert!("not-an-id".parse::<ChargeId>().is_err());
}

proptest! {
    #[test]
    fn creation_time_comes_back(millis in 0..=MILLIS_MAX, chance in any::<[u8; 10]>()) {
        prop_assert_eq!(version_7(millis, chance).created_at(), Timestamp::from_millis(millis));
    }

    #[test]
    fn first_at_divides_before_from_after(
        at in 0..=MILLIS_MAX, millis in 0..=MILLIS_MAX, near in -2_i64..=2, chance in any::<[u8; 10]>()
    ) {
        let bound = ChargeId::first_at(Timestamp::from_millis(at));
        for millis in [millis, (at + near).clamp(0, MILLIS_MAX)] {
            prop_assert_eq!(version_7(millis, chance) >= bound, millis >= at);
        }
    }
}
