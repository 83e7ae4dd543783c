//! Repeated measurements and their text: medians with their spread.

#[cfg(test)]
mod tests;

use std::fmt;

/// The chance with which an interval may miss what it is about.
const OUTSIDE_MAX: f64 = 0.05;

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

    /// The same, with the interval of the median.
    pub(crate) fn show_with_interval(&self, decimals: usize) -> String {
        match self.interval() {
            Some(_) => format!("{}; median within {}", self.show(decimals), self.show_interval(decimals)),
            None => self.show(decimals),
        }
    }

    /// The interval in which the median of all possible values lies in 95 of 100 cases, where there are enough to tell.
    pub(crate) fn show_interval(&self, decimals: usize) -> String {
        match self.interval() {
            Some((from, to)) => format!("{}–{}", number(from, decimals), number(to, decimals)),
            None => "-".to_owned(),
        }
    }

    /// The interval of the median by order statistics, which supposes nothing of how the values are distributed: each of them is
    /// above it or below it with the same chance. There is one from six values on.
    fn interval(&self) -> Option<(f64, f64)> {
        let sorted = self.sorted();
        let count = sorted.len();
        // Of `count` tosses of a coin: the chance of no more heads than so many, from none on.
        let (mut one, mut at_most, mut outside) = (0.5_f64.powi(i32::try_from(count).ok()?), 0.0, 0);
        for heads in 0..count {
            at_most += one;
            if at_most > OUTSIDE_MAX / 2.0 {
                break;
            }
            outside = heads + 1;
            one *= (count - heads) as f64 / (heads + 1) as f64;
        }
        let from = outside.checked_sub(1)?;
        Some((*sorted.get(from)?, *sorted.get(count - 1 - from)?))
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
