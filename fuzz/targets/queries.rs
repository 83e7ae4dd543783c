//! Queries of lists: pages, orders, filters and times. A page begins within the numbers, and an interval of a parameter that is
//! given once is not turned around.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regente::api::query::{Query, SortOrder};
use regente_domain::id::of;
use regente_fuzz::is_answer;

fuzz_target!(|text: &str| {
    let query = Query::parse(text);
    let read = query.read(|parameters| {
        let page = parameters.page(15);
        assert!((1..=100).contains(&page.limit) && page.offset() >= 0);
        let _ = (
            parameters.sort(),
            parameters.ids::<of::Charge>("id"),
            parameters.id::<of::Merchant>("merchantId"),
        );
        let _ = (parameters.day("day"), parameters.moment("at"), parameters.end("until"));
        let _ =
            (parameters.one_of("order", &SortOrder::LOWER_CASE), parameters.choice("one", &SortOrder::WORDS));
        let _ = (parameters.booleans("flags"), parameters.boolean("force"), parameters.amounts("amount"));
        let _ = (
            parameters.integer("number", 0..=i64::MAX),
            parameters.texts("text", 10),
            parameters.text("q", 10),
        );
        parameters.time_range("createdAt")
    });
    match read {
        Ok(range) => {
            if !text.contains(".gt") && !text.contains(".lt") && !text.contains('%') {
                assert!(range.from <= range.before);
            }
        }
        Err(problems) => is_answer(&problems),
    }
});
