//! How the series of a fit's page look.

use crate::style::Marker::{Circle, Diamond, Down, Square, Up};
use crate::style::{
    BLUE, DOTS, GREEN, GREY, INK, LONG, ORANGE, PURPLE, RED, SHORT, SOLID, Style, UNKNOWN, style,
};

/// One row of the table, or one trial.
pub const ROW: &str = "row";
/// What the fit gives.
pub const FIT: &str = "fit";
/// What would be perfect.
pub const IDEAL: &str = "ideal";

/// Of the first, second, … of several.
pub fn nth(at: usize) -> &'static str {
    ["0", "1", "2", "3", "4"][at % 5]
}

/// The look of a series.
pub fn look(key: &str) -> Style {
    match key {
        ROW => style(BLUE, Circle, true, SOLID),
        FIT | "0" => style(BLUE, Circle, true, SOLID),
        IDEAL => style(INK, Circle, false, SHORT),
        "1" => style(RED, Square, true, LONG),
        "2" => style(GREEN, Diamond, true, SHORT),
        "3" => style(PURPLE, Up, true, DOTS),
        "4" => style(ORANGE, Down, true, SOLID),
        "faint" => style(GREY, Circle, false, DOTS),
        _ => UNKNOWN,
    }
}
