//! Repeated measurements and their text: medians with their spread.

use std::fmt;

/// One value from each round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The median; 0 without values.
    pub(crate) fn median(&self) -> f64 {
        let sorted = self.sorted();
        match (sorted.len(), sorted.len() / 2) {
            (0, _) => 0.0,
            (even, middle) if even % 2 == 0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
            (_, middle) => sorted[middle],
        }
    }

    /// The largest.
    pub(crate) fn max(&self) -> f64 {
        self.sorted().last().copied().unwrap_or(0.0)
    }

    /// Divides pairwise, in the order of measuring.
    pub(crate) fn divided_by(&self, others: &Self) -> Self {
        Self(self.0.iter().zip(&others.0).map(|(one, other)| one / other).collect())
    }

    /// The median and the spread, with this number of decimals.
    pub(crate) fn show(&self, decimals: usize) -> String {
        let sorted = self.sorted();
        match sorted.as_slice() {
            [] => "-".to_owned(),
            [one] => number(*one, decimals),
            [first, .., last] => format!(
                "{} ({}–{})",
                number(self.median(), decimals),
                number(*first, decimals),
                number(*last, decimals)
            ),
        }
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

/// A number with this number of decimals, and a space between thousands.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) =
        text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    match rest {
        Some(rest) => format!("{sign}{grouped}.{rest}"),
        None => format!("{sign}{grouped}"),
    }
}

/// Whether a target was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Reached {
    /// Reached.
    Yes,
    /// Missed.
    No,
}

impl Reached {
    /// `value` must be at least `bound`.
    pub(crate) fn at_least(bound: f64, value: f64) -> Self {
        Self::when(value >= bound)
    }

    /// `value` must be at most `bound`.
    pub(crate) fn at_most(bound: f64, value: f64) -> Self {
        Self::when(value <= bound)
    }

    /// Any other comparison.
    pub(crate) const fn when(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Yes => "yes",
            Self::No => "NO",
        })
    }
}
