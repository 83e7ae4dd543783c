//! Query strings of clients that do not percent-encode.

#![allow(clippy::unwrap_used)]

use regente::api::page::{Page, PageRequest};
use regente::api::query::{Parameters, Query, SortOrder, TimeRange, VALUES_MAX};
use regente_domain::id::of;
use regente_domain::time::Timestamp;

fn read<T>(query: &str, reader: impl FnOnce(&Parameters<'_>) -> T) -> T {
    Query::parse(query).read(reader).unwrap()
}

fn refused<T: std::fmt::Debug>(query: &str, reader: impl FnOnce(&Parameters<'_>) -> T) -> Vec<String> {
    Query::parse(query).read(reader).unwrap_err().into_details()
}

#[test]
fn texts_are_read_as_they_come() {
    let table: [(&str, &[&str]); 16] = [
        ("a=x", &["x"]),
        ("a=x,y", &["x", "y"]),
        ("a=x&b=1&a=y", &["x", "y"]),
        ("a=x%2Cy", &["x", "y"]),
        ("a=", &[]),
        ("a", &[]),
        ("a=,", &[]),
        ("", &[]),
        ("&&=&a=x&", &["x"]),
        ("a=x=y", &["x=y"]),
        ("a=x+y", &["x+y"]),
        ("a=x%20y", &["x y"]),
        ("a=100%&b=1", &["100%"]),
        ("a=%zz%4", &["%zz%4"]),
        ("a=%ff", &["%ff"]),
        ("a=%C3%A7a%2b", &["ça+"]),
    ];
    for (query, values) in table {
        assert_eq!(read(query, |parameters| parameters.texts("a", 10)), values, "{query}");
    }
    assert_eq!(read("document%2Enumber=1", |parameters| parameters.texts("document.number", 10)), ["1"]);
    assert_eq!(read("A=x", |parameters| parameters.texts("a", 10)), [""; 0]);
    assert_eq!(read("a=x,y", |parameters| parameters.text("a", 10)), Some("x,y".to_owned()));
}

#[test]
fn pages_have_bounds() {
    let page = |query: &str| read(query, |parameters| parameters.page(15));
    assert_eq!(page(""), PageRequest { page: 1, limit: 15 });
    assert_eq!(page("page=&limit="), PageRequest { page: 1, limit: 15 });
    assert_eq!(page("limit=100&page=2147483647").offset(), 214_748_364_600);
    assert_eq!(page("page=3&limit=10").offset(), 20);
    assert_eq!(page("page=2&page=2").page, 2);
    let table = [
        ("page=0", "page must not be less than 1"),
        ("page=-1", "page must not be less than 1"),
        ("page=2147483648", "page must not be greater than 2147483647"),
        ("page=99999999999999999999999", "page must not be greater than 2147483647"),
        ("page=1.5", "page must be an integer number"),
        ("page=x", "page must be an integer number"),
        ("page=1&page=2", "page must be given once"),
        ("limit=0", "limit must not be less than 1"),
        ("limit=101", "limit must not be greater than 100"),
    ];
    for (query, problem) in table {
        assert_eq!(refused(query, |parameters| parameters.page(15)), [problem]);
    }
    assert_eq!(
        refused("limit=51", |parameters| parameters.page_up_to(10, 50)),
        ["limit must not be greater than 50"]
    );
}

#[test]
fn all_problems_come_together() {
    let problems =
        refused("page=0&limit=x&sort=UP&id=1&status=paid&created=soon&on=1&sum=-1&sum2=1.5", |parameters| {
            parameters.page(10);
            parameters.sort();
            parameters.ids::<of::Charge>("id");
            parameters.one_of("status", &[("failed", 0), ("authorized", 1)]);
            parameters.time_range("created");
            parameters.booleans("on");
            parameters.amounts("sum");
            parameters.amounts("sum2");
        });
    assert_eq!(
        problems,
        [
            "page must not be less than 1",
            "limit must be an integer number",
            "sort must be one of the following values: ASC, DESC",
            "id must be a UUID",
            "status must be one of the following values: failed, authorized",
            "created must be a valid ISO 8601 date string",
            "on must be a boolean",
            "sum must not be less than 0",
            "sum2 must be an integer number",
        ]
    );
}

#[test]
fn filters_mean_or() {
    let table = [("failed", 0), ("authorized", 1)];
    assert_eq!(read("status=authorized,failed", |parameters| parameters.one_of("status", &table)), [1, 0]);
    assert_eq!(read("type=CPF", |parameters| parameters.one_of_any_case("type", &[("cpf", 7)])), [7]);
    assert_eq!(read("on=true,false", |parameters| parameters.booleans("on")), [true, false]);
    assert_eq!(read("force=true", |parameters| parameters.boolean("force")), Some(true));
    let amounts = read("sum=100,250", |parameters| parameters.amounts("sum"));
    assert_eq!(amounts.iter().map(|amount| amount.minor_units()).collect::<Vec<_>>(), [100, 250]);
    let ids =
        read("id=cc0b1e41-2936-45c5-947f-93995ffcdc00,CC0B1E41-2936-45C5-947F-93995FFCDC01", |parameters| {
            parameters.ids::<of::Charge>("id")
        });
    assert_eq!(ids.len(), 2);
    let many = format!("id={}", "x,".repeat(VALUES_MAX + 1));
    assert_eq!(
        refused(&many, |parameters| parameters.texts("id", 5)),
        [format!("id must contain no more than {VALUES_MAX} elements")]
    );
    assert_eq!(
        refused("a=%00", |parameters| parameters.texts("a", 5)),
        ["a must not contain the character U+0000"]
    );
    assert_eq!(
        refused("a=toolong", |parameters| parameters.text("a", 5)),
        ["a must be shorter than or equal to 5 characters"]
    );
}

#[test]
fn sorting_is_newest_first_unless_asked() {
    for (query, order) in [
        ("", SortOrder::Descending),
        ("sort=asc", SortOrder::Ascending),
        ("sort=ASC", SortOrder::Ascending),
        ("sort=Desc", SortOrder::Descending),
    ] {
        assert_eq!(read(query, |parameters| parameters.sort()), order, "{query}");
    }
}

#[test]
fn times_are_days_seconds_or_open_ends() {
    let at = |text: &str| Timestamp::parse(text);
    let range = |from: &str, before: &str| TimeRange { from: at(from), before: at(before) };
    let table = [
        ("", TimeRange::default()),
        ("created=2023-12-26", range("2023-12-26", "2023-12-27")),
        ("created=2023-12-26T03:00:00.700Z", range("2023-12-26T03:00:00Z", "2023-12-26T03:00:01Z")),
        ("created.gt=2023-12-26T03:00:00.000Z", range("2023-12-26T03:00:00.001Z", "-")),
        ("created.lt=2023-12-26T03:00:00.000Z", range("-", "2023-12-26T03:00:00Z")),
        ("created.lt=2023-12-26T03:00:00+00:00", range("-", "2023-12-26T03:00:00Z")),
        ("created.lt=2023-12-26T03:00:00%2B01:00", range("-", "2023-12-26T02:00:00Z")),
        ("created.lt=2023-12-26T03:00:00%2001:00", range("-", "2023-12-26T02:00:00Z")),
        (
            "created.gt=2023-12-26T00:00:00Z&created.lt=2023-12-27T00:00:00Z",
            range("2023-12-26T00:00:00.001Z", "2023-12-27"),
        ),
        (
            "created=2023-12-26&created.gt=2023-12-26T12:00:00Z&created.lt=2024-01-01",
            range("2023-12-26T12:00:00.001Z", "2023-12-27"),
        ),
    ];
    for (query, expected) in table {
        assert_eq!(read(query, |parameters| parameters.time_range("created")), expected, "{query}");
    }
    for wrong in ["created.gt=x", "created.gt=2023-12-26T03:00:0%C3%A7Z", "created.gt=2023-13-01"] {
        assert_eq!(
            refused(wrong, |parameters| parameters.time_range("created")),
            ["created.gt must be a valid ISO 8601 date string"]
        );
    }
}

#[test]
fn a_page_tells_where_it_stands() {
    let page = Page::new(PageRequest { page: 2, limit: 10 }, vec!["x"], 11);
    assert_eq!(
        serde_json::to_string(&page.map(str::to_uppercase)).unwrap(),
        r#"{"items":["X"],"meta":{"itemCount":1,"totalItems":11,"itemsPerPage":10,"totalPages":2,"currentPage":2}}"#
    );
    let none = Page::<u8>::new(PageRequest { page: 1, limit: 15 }, Vec::new(), 0);
    assert_eq!((none.meta.total_pages, none.meta.item_count), (0, 0));
}
