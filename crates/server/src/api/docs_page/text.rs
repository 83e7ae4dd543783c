//! Texts of the document as HTML. Whatever the document says comes to the page through here or is escaped by a template, so that
//! nothing in it becomes a tag.

use std::fmt::{self, Display, Formatter};

use askama::filters::HtmlSafe;

use crate::http::html::escape;

/// HTML that is well formed and has no text in it that was not escaped.
#[derive(Clone, Debug, Default)]
pub(super) struct Html(String);

impl Display for Html {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Html {}

impl Html {
    /// A text as it is.
    pub(super) fn text(text: &str) -> Self {
        Self(escape(text))
    }

    /// A word of the interface.
    pub(super) fn code(text: &str) -> Self {
        Self(format!("<code>{}</code>", escape(text)))
    }

    /// A place of an example where a value of the reader stands. `text` is what it says without one.
    pub(super) fn own_value(text: &str) -> Self {
        Self(format!("<var>{}</var>", escape(text)))
    }

    /// A link to a place of the page.
    pub(super) fn link(id: &str, text: &str) -> Self {
        Self(format!("<a href=\"#{}\">{}</a>", escape(id), escape(text)))
    }

    /// A line of Markdown. The document has code between backquotes and nothing else.
    pub(super) fn line(markdown: &str) -> Self {
        let mut html = Self::default();
        let mut rest = markdown;
        while let Some((before, code, after)) = split_code(rest) {
            html = html.and(Self::text(before)).and(Self::code(code));
            rest = after;
        }
        html.and(Self::text(rest))
    }

    /// Paragraphs of such lines.
    pub(super) fn paragraphs(markdown: &str) -> Self {
        let paragraphs = markdown.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty());
        Self(paragraphs.map(|paragraph| format!("<p>{}</p>", Self::line(paragraph.trim()))).collect())
    }

    /// This, and what comes after it.
    #[must_use]
    pub(super) fn and(mut self, next: Self) -> Self {
        self.0.push_str(&next.0);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// All of them, with a text in between.
pub(super) fn joined(parts: impl IntoIterator<Item = Html>, between: &str) -> Html {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |html, part| html.and(Html::text(between)).and(part))
}

fn split_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}
