//! The style sheet and the script of the page. They stand in the page itself: on a slow network a second request for them
//! would take longer than all of their bytes. The script is published as well, under its own hash, so that the list of
//! scripts has it and anybody can compare.

use std::sync::LazyLock;

use crate::api::scripts::LIBRARY;
use crate::http::files::{Asset, AssetKind};
use crate::http::html::policy_source;

macro_rules! joined {
    ($($file:literal),* $(,)?) => {
        concat!($(include_str!(concat!("../../../assets/checkout/script/", $file))),*)
    };
}

/// The script as it is written.
pub(super) const SOURCE: &str = joined!(
    "1-base.js",
    "2-calls.js",
    "3-payer.js",
    "4-card.js",
    "5-views.js",
    "6-live.js",
    "7-human.js",
    "7-other-card.js",
    "8-main.js",
);

/// The work of the human check, which the frames of the card fields do as well.
const PROOF: &str = include_str!("../../../../../clients/js/fields/proof.js");

/// The script of the page that a bank leads back to, inside of the frame.
const RETURNED: &str = "parent.postMessage(\"checkout:returned\",location.origin);";

const STYLE_SOURCE: &str = include_str!("../../../assets/checkout/checkout.css");

/// A script or style sheet with what security policies say of it.
pub(super) struct Inline {
    pub(super) text: String,
    /// `'sha256-…'`.
    pub(super) source: String,
}

impl Inline {
    pub(super) fn of(text: String) -> Self {
        Self { source: policy_source(&text), text }
    }
}

/// What browsers are sent: the library with the card fields, the work of the human check, and the script of the page. No
/// module: that would wait for the page to be painted, which takes a phone as long as the whole script.
static SENT: LazyLock<String> = LazyLock::new(|| {
    let source = without_comments(&[LIBRARY.text(), PROOF, SOURCE].concat());
    // The braces keep its names from the names of the page.
    format!("\"use strict\";{{\n{source}\n}}")
});

/// The script of the page.
pub(in crate::api) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| published("checkout", &SENT));

/// The script of the page that a bank leads back to.
pub(in crate::api) static RETURNED_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| published("returned", RETURNED));

fn published(name: &str, text: &'static str) -> Asset {
    Asset::under_its_hash(&format!("/pay/assets/{name}"), AssetKind::Script, text)
}

pub(super) static STYLE: LazyLock<Inline> = LazyLock::new(|| Inline::of(STYLE_SOURCE.trim().to_owned()));

/// The lines without indentation, and without those that are comments as a whole. No text of the script goes over several
/// lines, so nothing else is lost.
fn without_comments(source: &str) -> String {
    let is_comment = |line: &str| line.starts_with("//") || (line.starts_with("/**") && line.ends_with("*/"));
    let lines = source.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line));
    lines.collect::<Vec<_>>().join("\n")
}
