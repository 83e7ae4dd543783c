//! Tests of the interval of a median, against the published ranks of order statistics.

use super::Samples;

/// The ranks of the interval of the median of so many values.
fn ranks(count: u32) -> Option<(f64, f64)> {
    let mut samples = Samples::default();
    (1..=count).rev().for_each(|value| samples.add(f64::from(value)));
    samples.interval()
}

#[test]
fn the_interval_of_a_median_has_the_published_ranks() {
    assert_eq!(ranks(0), None);
    assert_eq!(ranks(5), None);
    assert_eq!(ranks(6), Some((1.0, 6.0)));
    assert_eq!(ranks(10), Some((2.0, 9.0)));
    assert_eq!(ranks(20), Some((6.0, 15.0)));
    assert_eq!(ranks(40), Some((14.0, 27.0)));
}

#[test]
fn few_values_are_shown_without_an_interval() {
    let mut samples = Samples::default();
    (1..=5).for_each(|value| samples.add(f64::from(value)));
    assert_eq!(samples.show_with_interval(0), "3 (1–5)");
    samples.add(6.0);
    assert_eq!(samples.show_with_interval(1), "3.5 (1.0–6.0); median within 1.0–6.0");
}
