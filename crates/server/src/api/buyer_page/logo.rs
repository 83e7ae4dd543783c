//! The logo of a merchant on the pages that people see.

use url::Url;

use crate::api::settings::SettingsView;
use crate::http::html::escape;

/// What a logo stands on whose merchant has chosen nothing.
const PLATE: &str = "#fff";

/// A logo and what it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::api) struct Logo {
    /// The address of the picture.
    url: String,
    /// The colour that it was drawn for: what can be seen on it may not be on a dark page.
    plate: String,
}

impl Logo {
    /// Of these settings, where they have one.
    pub(in crate::api) fn of(settings: &SettingsView) -> Option<Self> {
        let url = settings.logo.clone().filter(|url| is_on_the_web(url))?;
        let plate = settings.background_color.clone().filter(|colour| is_colour(colour));
        Some(Self { url, plate: plate.unwrap_or_else(|| PLATE.to_owned()) })
    }

    /// The picture; `name` is whose it is.
    pub(in crate::api) fn picture(&self, name: &str) -> String {
        format!("<p><img class=\"logo\" src=\"{}\" alt=\"{}\"></p>", escape(&self.url), escape(name))
    }

    /// Its style.
    pub(super) fn style(&self) -> String {
        let plate = &self.plate;
        format!(
            ".logo{{display:block;max-width:12.75rem;max-height:3.75rem;object-fit:contain;padding:.375rem;\
             border-radius:.4rem;background:{plate}}}"
        )
    }

    /// Where it comes from, as a source of a policy.
    pub(super) fn source(&self) -> String {
        origin_of(Some(&self.url))
    }
}

/// Nothing else becomes a part of a style sheet.
fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// A link of any other kind could run a script.
pub(in crate::api) fn is_on_the_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// The origin of a picture on another host, as a source of a policy, after a space.
pub(in crate::api) fn origin_of(url: Option<&str>) -> String {
    let origin = url.and_then(|url| Url::parse(url).ok()).map(|url| url.origin());
    match origin {
        Some(origin) if origin.is_tuple() => format!(" {}", origin.ascii_serialization()),
        Some(_) | None => String::new(),
    }
}
