//! Every colour a merchant may choose leaves the page readable.

use regente::api::checkout::colours::{Chosen, Colour, EDGE_CONTRAST, TEXT_CONTRAST};

/// The value of a variable in light and in dark.
fn read(css: &str, name: &str) -> [Colour; 2] {
    let values: Vec<Colour> = css
        .split(&format!("--{name}:"))
        .skip(1)
        .map(|rest| Colour::parse(&rest[..7]).expect("a colour of six digits"))
        .collect();
    values.try_into().expect("one value for each scheme")
}

#[test]
fn text_can_be_read_on_every_colour_that_a_merchant_may_choose() {
    let some =
        ["#000", "#fff", "#FFFF00", "#00FF00", "#808080", "#344383", "#FF000080", "#0a0a0a", "#767676"];
    for colour in some {
        let chosen = Some(colour.to_owned());
        let css = Chosen {
            main: chosen.clone(),
            secondary: chosen.clone(),
            attention: chosen.clone(),
            error: chosen.clone(),
            success: chosen.clone(),
            background: chosen,
        }
        .variables();
        let pairs = [
            ("on-main", "main", TEXT_CONTRAST),
            ("on-bg", "bg", TEXT_CONTRAST),
            ("accent", "surface", TEXT_CONTRAST),
            ("accent", "field", TEXT_CONTRAST),
            ("danger", "surface", TEXT_CONTRAST),
            ("danger", "field", TEXT_CONTRAST),
            ("ok", "surface", TEXT_CONTRAST),
            ("warn", "surface", TEXT_CONTRAST),
            ("text", "surface", TEXT_CONTRAST),
            ("text", "field", TEXT_CONTRAST),
            ("muted", "surface", TEXT_CONTRAST),
            ("main-edge", "surface", EDGE_CONTRAST),
            ("edge", "surface", EDGE_CONTRAST),
            ("edge", "field", EDGE_CONTRAST),
        ];
        for (front, behind, least) in pairs {
            for (front_colour, behind_colour) in read(&css, front).into_iter().zip(read(&css, behind)) {
                let found = front_colour.contrast(behind_colour);
                assert!(found >= least, "{colour}: {front} on {behind} has a contrast of {found}");
            }
        }
    }
}

#[test]
fn what_is_no_colour_does_not_reach_the_style_sheet() {
    for text in ["red", "#12", "#12345", "#}body{", "#ggg", "", "#１２３"] {
        let chosen = Chosen { main: Some(text.to_owned()), ..Chosen::default() };
        assert_eq!(chosen.variables(), Chosen::default().variables(), "{text:?}");
    }
}
