//! A mean over seeds, with the interval in which it lies in 95 of 100 cases.

/// The 0.975 quantiles of Student's distribution with 1, 2, … degrees of freedom (NIST/SEMATECH handbook, section 1.3.6.7.2).
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// For more degrees of freedom: that of 30, which is a little too wide.
const STUDENT_BEYOND: f64 = 2.042;

/// A mean, and how far its 95 % interval reaches to both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mean {
    pub(super) mean: f64,
    pub(super) reach: f64,
}

impl Mean {
    /// Of at least two values.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let freedom = values.len().saturating_sub(1);
        let quantile = freedom.checked_sub(1).and_then(|index| STUDENT.get(index)).copied();
        let deviation = (squares / freedom as f64 / count).sqrt();
        Self { mean, reach: quantile.unwrap_or(STUDENT_BEYOND) * deviation }
    }
}

impl std::fmt::Display for Mean {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} ({:.2} to {:.2})", self.mean, self.mean - self.reach, self.mean + self.reach)
    }
}
