//! The look of the series on the page of a fit.

use crate::style::Marker::{Circle, Diamond, Down, Square, Up};
use crate::style::{
    BLUE, DOTS, GREEN, GREY, INK, LONG, ORANGE, PURPLE, RED, SHORT, SOLID, Style, UNKNOWN, style,
};

/// The key of series in which each point is a row of the table.
pub const ROW: &str = "row";
/// The key of results of the fit.
pub const FIT: &str = "fit";
/// The key of the line that a perfect fit would follow.
pub const IDEAL: &str = "ideal";

/// The key of series number `at`, from 0, in a plot with several. It repeats after five series.
pub fn nth(at: usize) -> &'static str {
    ["0", "1", "2", "3", "4"][at % 5]
}

/// The style of the series with this key.
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
