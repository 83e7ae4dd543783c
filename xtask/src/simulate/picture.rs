//! The picture of a simulated market: the true approval rates of the providers, and below them the shares that a balance that
//! learns gave them.

use std::fmt::Write;

use super::market::{Hour, PROVIDERS};

/// Told apart by everybody, also printed in grey (Okabe and Ito).
const COLOURS: [&str; PROVIDERS] = ["#0072b2", "#e69f00", "#009e73"];
const NAMES: [&str; PROVIDERS] = ["provider A", "provider B", "provider C"];
const WIDTH: f64 = 960.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
/// Where each of the two charts begins, and how high it is.
const RATES_TOP: f64 = 64.0;
const SHARES_TOP: f64 = 324.0;
const HIGH: f64 = 200.0;
const HEIGHT: f64 = 568.0;
/// The lowest rate that is shown.
const RATE_LEAST: f64 = 0.3;

/// An SVG of the hours.
pub(super) fn of(hours: &[Hour]) -> String {
    let x = |hour: usize| LEFT + (WIDTH - LEFT - RIGHT) * hour as f64 / hours.len().max(1) as f64;
    let mut svg = String::new();
    let mut line = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    line(format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="14" role="img">"#
    ));
    line("<title>Three providers whose approval rates drift, and the shares a balance that learns gives them</title>".into());
    line(format!(r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>"##));
    line(text(
        LEFT,
        24.0,
        "start",
        "True approval rate of each provider, hour by hour (the balance does not know it)",
    ));
    for (provider, (colour, name)) in COLOURS.iter().zip(NAMES).enumerate() {
        let left = LEFT + 120.0 * provider as f64;
        line(format!(r#"<rect x="{left}" y="36" width="14" height="14" fill="{colour}"/>"#));
        line(text(left + 20.0, 48.0, "start", name));
    }
    let rate_y =
        |rate: f64| RATES_TOP + HIGH * (1.0 - (rate.max(RATE_LEAST) - RATE_LEAST) / (1.0 - RATE_LEAST));
    for percent in [40, 60, 80, 100] {
        line(rule(rate_y(f64::from(percent) / 100.0), percent));
    }
    for (provider, colour) in COLOURS.iter().enumerate() {
        let points = hours.iter().enumerate().map(|(hour, at)| (x(hour), rate_y(at.rates[provider])));
        line(format!(
            r#"<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{}"/>"#,
            joined(points)
        ));
    }
    line(text(LEFT, SHARES_TOP - 12.0, "start", "Share of the charges that the balance gives each of them"));
    let share_y = |share: f64| SHARES_TOP + HIGH * (1.0 - share);
    for (provider, colour) in COLOURS.iter().enumerate() {
        let below = |at: &Hour| at.shares[..provider].iter().sum::<f64>();
        let upper =
            hours.iter().enumerate().map(|(hour, at)| (x(hour), share_y(below(at) + at.shares[provider])));
        let lower = hours.iter().enumerate().rev().map(|(hour, at)| (x(hour), share_y(below(at))));
        line(format!(r#"<polygon fill="{colour}" points="{}"/>"#, joined(upper.chain(lower))));
    }
    for percent in [0, 25, 50, 75, 100] {
        line(rule(share_y(f64::from(percent) / 100.0), percent));
    }
    for hour in (0..=hours.len()).step_by((hours.len() / 5).max(1)) {
        line(text(x(hour), SHARES_TOP + HIGH + 20.0, "middle", &hour.to_string()));
    }
    line(text(WIDTH - RIGHT, HEIGHT - 8.0, "end", "hours"));
    svg.push_str("</svg>\n");
    svg
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    format!(r##"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" fill="#222222">{words}</text>"##)
}

/// A line across a chart, with what it stands for.
fn rule(y: f64, percent: u32) -> String {
    let right = WIDTH - RIGHT;
    let line = format!(
        r##"<line x1="{LEFT}" x2="{right}" y1="{y:.1}" y2="{y:.1}" stroke="#888888" stroke-width="0.5" stroke-dasharray="2 3"/>"##
    );
    format!("{line}\n{}", text(LEFT - 8.0, y + 5.0, "end", &format!("{percent} %")))
}

fn joined(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut text = String::new();
    for (x, y) in points {
        let _ = write!(text, "{x:.1},{y:.1} ");
    }
    text.truncate(text.trim_end().len());
    text
}
