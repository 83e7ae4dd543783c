use regente_domain::mcc::Mcc;

#[test]
fn the_list_has_291_codes_in_order() {
    let listed: Vec<u16> = Mcc::listed().collect();
    assert_eq!(listed.len(), 291);
    assert!(listed.is_sorted_by(|one, next| one < next));
    assert!(listed.into_iter().all(|code| Mcc::parse_digits(&code.to_string()).unwrap().is_listed()));
}

#[test]
fn codes_outside_the_list_are_taken_as_they_are() {
    for (digits, listed) in
        [("5812", true), ("742", true), ("0742", true), ("9950", true), ("4040", false), ("1", false)]
    {
        let mcc = Mcc::parse_digits(digits).unwrap();
        assert_eq!((mcc.digits(), mcc.is_listed()), (digits, listed));
        assert_eq!(serde_json::to_value(&mcc).unwrap(), digits);
    }
}

#[test]
fn a_code_is_one_to_four_digits() {
    for wrong in ["", "58123", "58a", "-581", "+58", "５８", " 581"] {
        assert_eq!(Mcc::parse_digits(wrong), None, "{wrong}");
        assert!(serde_json::from_value::<Mcc>(wrong.into()).is_err());
    }
}
