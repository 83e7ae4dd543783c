//! Ranges of hours and the spans that make them up.

use regente_store::spans::{LENGTHS, cover};

/// The longest span.
const LONGEST: i64 = LENGTHS[LENGTHS.len() - 1];

#[test]
fn a_range_is_covered_once_by_few_spans() {
    let edges = [0, 1, 7, 8, 9, 63, 64, 65, 511, 512, 4095, LONGEST, 472_222, 480_982, 489_743, 2 * LONGEST];
    for (at, from) in edges.iter().enumerate() {
        for to in &edges[at..] {
            let runs = cover(*from, *to);
            let mut next = *from;
            for run in &runs {
                assert_eq!(run.from_hour, next, "{runs:?}");
                assert!(run.hours == 1 || LENGTHS.contains(&run.hours), "{runs:?}");
                assert_eq!((run.from_hour % run.hours, run.to_hour % run.hours), (0, 0), "{runs:?}");
                assert!((run.to_hour - run.from_hour) / run.hours < 15, "{runs:?}");
                next = run.to_hour;
            }
            assert_eq!(next, *to, "{runs:?}");
            assert!(runs.len() <= 13, "{runs:?}");
        }
    }
}
