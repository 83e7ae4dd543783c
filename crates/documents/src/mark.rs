//! The mark of documents that nobody is to pay.

/// Whether a document can be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It can: no mark.
    None,
    /// It is of the sandbox: `SANDBOX` is written on it.
    Sandbox,
}

/// `SANDBOX` in pixels, for pictures without a font.
pub(crate) const SANDBOX_PIXELS: [&str; 7] = [
    ".###...##..#...#.###..###...##..#...#",
    "#.....#..#.##..#.#..#.#..#.#..#.#...#",
    "#.....#..#.##..#.#..#.#..#.#..#..#.#.",
    ".##...####.#.#.#.#..#.###..#..#...#..",
    "...#..#..#.#..##.#..#.#..#.#..#..#.#.",
    "...#..#..#.#..##.#..#.#..#.#..#.#...#",
    "###...#..#.#...#.###..###...##..#...#",
];
