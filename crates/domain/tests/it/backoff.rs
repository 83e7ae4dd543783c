use std::time::Duration;

use regente_domain::backoff::{JOBS, Retry};

#[test]
fn waits_double_up_to_the_longest() {
    for (attempts, seconds) in [
        (i64::MIN, 5),
        (0, 5),
        (1, 5),
        (2, 10),
        (3, 20),
        (9, 1_280),
        (10, 2_560),
        (11, 3_600),
        (20, 3_600),
        (33, 3_600),
        (i64::MAX, 3_600),
    ] {
        assert_eq!(JOBS.wait(attempts).as_secs(), seconds, "{attempts}");
    }
    let odd = Retry { first: Duration::from_secs(7), longest: Duration::from_secs(15), attempts_max: 3 };
    assert_eq!([1, 2, 3].map(|attempts| odd.wait(attempts).as_secs()), [7, 14, 15]);
}

#[test]
fn work_is_given_up_after_so_many_failures() {
    assert_eq!([0, 19, 20, 21].map(|attempts| JOBS.is_over(attempts)), [false, false, true, true]);
}
