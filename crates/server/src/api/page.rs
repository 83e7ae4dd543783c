//! Pages of lists: the requested page, and the envelope of the answer (`docs/interface/conventions.md#lists`).
//!
//! [`super::query`] parses the parameters; the store reads the rows.

use serde::Serialize;
use utoipa::ToSchema;

/// The highest `limit` of a list (`docs/interface/conventions.md#lists`).
pub const LIMIT_MAX: u32 = 100;
/// The `limit` of a list by default (`docs/interface/conventions.md#lists`).
pub const LIMIT_DEFAULT: u32 = 15;
/// The highest `page`. With the highest limit, the offset fits every integer type used here.
pub const PAGE_MAX: u32 = i32::MAX as u32;

/// The requested page: `page` counts from 1, `limit` is the number of entries on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// From 1 to [`PAGE_MAX`].
    pub page: u32,
    /// From 1 to the highest limit of the list.
    pub limit: u32,
}

impl PageRequest {
    /// The number of entries before this page.
    pub fn offset(self) -> i64 {
        i64::from(self.page.saturating_sub(1)) * i64::from(self.limit)
    }
}

/// One page of a list. A page beyond the end has no entries and the real totals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Page<T> {
    /// The entries.
    pub items: Vec<T>,
    /// Where this page stands in the whole list.
    pub meta: Meta,
}

/// Where a page stands in the whole list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "itemCount": 1, "totalItems": 11, "itemsPerPage": 10, "totalPages": 2, "currentPage": 2
}))]
pub struct Meta {
    /// Entries on this page.
    pub item_count: u64,
    /// Entries on all pages.
    pub total_items: u64,
    /// Entries on a full page.
    pub items_per_page: u32,
    /// Pages in all; 0 when there is no entry.
    pub total_pages: u64,
    /// This page, counted from 1.
    pub current_page: u32,
}

impl<T> Page<T> {
    /// The page of `request` with its entries, out of `total_items` in all.
    pub fn new(request: PageRequest, items: Vec<T>, total_items: u64) -> Self {
        let meta = Meta {
            item_count: items.len() as u64,
            total_items,
            items_per_page: request.limit,
            total_pages: total_items.div_ceil(u64::from(request.limit.max(1))),
            current_page: request.page,
        };
        Self { items, meta }
    }

    /// The same page with every entry converted, such as a record into its view.
    pub fn map<U>(self, view: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(view).collect(), meta: self.meta }
    }
}
