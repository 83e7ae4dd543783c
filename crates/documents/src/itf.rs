//! Interleaved 2 of 5, the bar code of boletos (ISO/IEC 16390; FEBRABAN: narrow to wide 1 : 3, 103 mm by 13 mm).

/// Width of a wide element in narrow ones.
const WIDE: u8 = 3;
/// The elements of each digit, wide ones as 1.
const DIGITS: [[u8; 5]; 10] = [
    [0, 0, 1, 1, 0],
    [1, 0, 0, 0, 1],
    [0, 1, 0, 0, 1],
    [1, 1, 0, 0, 0],
    [0, 0, 1, 0, 1],
    [1, 0, 1, 0, 0],
    [0, 1, 1, 0, 0],
    [0, 0, 0, 1, 1],
    [1, 0, 0, 1, 0],
    [0, 1, 0, 1, 0],
];

/// The widths of bars and spaces in turn, in narrow elements, beginning and ending with a bar. Two digits share ten
/// elements: the first has the bars, the second the spaces. Other signs than digits, and a last digit without a partner,
/// are left out.
pub(crate) fn elements(digits: &str) -> Vec<u8> {
    let values: Vec<usize> =
        digits.bytes().filter(u8::is_ascii_digit).map(|digit| usize::from(digit - b'0')).collect();
    let mut elements = vec![1, 1, 1, 1];
    for pair in values.chunks_exact(2) {
        for (bar, space) in DIGITS[pair[0]].into_iter().zip(DIGITS[pair[1]]) {
            elements.extend([bar, space].map(|wide| if wide == 1 { WIDE } else { 1 }));
        }
    }
    elements.extend([WIDE, 1, 1]);
    elements
}
