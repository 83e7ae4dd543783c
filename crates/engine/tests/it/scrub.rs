//! Card numbers in lines of a log.

use regente_engine::scrub::scrub;

#[test]
fn what_is_left_of_a_long_group_is_looked_at_again() {
    let scrubbed = scrub(b"491674512029412401100-41331234567003");
    assert_eq!(String::from_utf8_lossy(&scrubbed), "[card 491674\u{2026}4124][card 011004\u{2026}7003]");
    assert_eq!(scrub(&scrubbed), scrubbed);
}
