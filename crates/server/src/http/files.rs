//! Scripts and style sheets that are part of the program and that browsers load: their integrity hashes, and answers with them,
//! compressed where the browser takes that.

use std::io::Write;
use std::sync::OnceLock;

use aws_lc_rs::digest::{SHA256, SHA384, digest};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Characters of the hash in a path.
const HASH_CHARS: usize = 16;

/// A file under an address at which nothing else will ever be: pages may keep it for good, and name its hash.
#[derive(Debug)]
pub struct Asset {
    /// The path, with the version or a hash in it.
    pub path: String,
    kind: AssetKind,
    text: &'static str,
    compressed: OnceLock<Bytes>,
}

/// What browsers take a file for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssetKind {
    /// JavaScript.
    Script,
    /// CSS.
    Style,
}

impl AssetKind {
    const fn extension(self) -> &'static str {
        match self {
            Self::Script => "js",
            Self::Style => "css",
        }
    }

    const fn content_type(self) -> HeaderValue {
        match self {
            Self::Script => HeaderValue::from_static("text/javascript; charset=utf-8"),
            Self::Style => HeaderValue::from_static("text/css; charset=utf-8"),
        }
    }
}

/// The headers of every file. Pages of any origin may load it, also those that demand an integrity hash.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::VARY, HeaderValue::from_static("accept-encoding")),
];

impl Asset {
    /// A file at a path that has its version.
    pub fn at(path: impl Into<String>, kind: AssetKind, text: &'static str) -> Self {
        Self { path: path.into(), kind, text, compressed: OnceLock::new() }
    }

    /// A file that may be another one in each release: its path is `stem` and its own hash.
    pub fn under_its_hash(stem: &str, kind: AssetKind, text: &'static str) -> Self {
        let hash = hex::encode(digest(&SHA256, text.as_bytes()));
        Self::at(format!("{stem}-{}.{}", &hash[..HASH_CHARS], kind.extension()), kind, text)
    }

    /// What is in it.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// What `integrity` says of it in a page (W3C Subresource Integrity).
    pub fn integrity(&self) -> String {
        format!("sha384-{}", STANDARD.encode(digest(&SHA384, self.text.as_bytes())))
    }

    /// The answer to a request with these headers.
    pub fn answer(&self, asked: &HeaderMap) -> Response {
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        headers.extend(HEADERS);
        headers.insert(header::CONTENT_TYPE, self.kind.content_type());
        *response.body_mut() = if takes_gzip(asked) {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            Body::from(self.compressed.get_or_init(|| gzip(self.text.as_bytes())).clone())
        } else {
            Body::from(self.text)
        };
        response
    }
}

/// The bytes compressed as far as can be, which is worth it for what is kept.
pub fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // A vector takes everything.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default().into()
}

/// Whether `Accept-Encoding` names gzip, and not with a weight of zero (RFC 9110 §12.5.3).
pub fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let is_zero =
            weight.trim().strip_prefix("q=").is_some_and(|q| q.trim_end_matches(['0', '.']).is_empty());
        name.trim().eq_ignore_ascii_case("gzip") && !is_zero
    })
}
