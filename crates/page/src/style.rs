//! The look of a series: colour, marker and dash together, so that series differ by more than
//! colour. A [`Look`] maps the key of a series to its style, so that the same method looks the same
//! in every plot.
//!
//! The colours are those of Okabe and Ito (<https://jfly.uni-koeln.de/color/>), which people with
//! colour blindness can distinguish. Yellow is left out because it is invisible on white. Brown and
//! gold are added. Black is replaced by the text colour of the page, which is light in the dark
//! colour scheme.

/// Black, which a page replaces by its text colour.
pub const INK: (u8, u8, u8) = (0, 0, 0);
/// Orange.
pub const ORANGE: (u8, u8, u8) = (230, 159, 0);
/// Sky.
pub const SKY: (u8, u8, u8) = (86, 180, 233);
/// Green.
pub const GREEN: (u8, u8, u8) = (0, 158, 115);
/// Blue.
pub const BLUE: (u8, u8, u8) = (0, 114, 178);
/// Red.
pub const RED: (u8, u8, u8) = (213, 94, 0);
/// Purple.
pub const PURPLE: (u8, u8, u8) = (204, 121, 167);
/// Grey.
pub const GREY: (u8, u8, u8) = (128, 128, 128);
/// Brown.
pub const BROWN: (u8, u8, u8) = (140, 86, 40);
/// Gold.
pub const GOLD: (u8, u8, u8) = (166, 118, 29);

/// The look of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Colour of line and marker, as red, green and blue.
    pub colour: (u8, u8, u8),
    /// The shape of the marker.
    pub marker: Marker,
    /// Whether the marker is filled.
    pub filled: bool,
    /// Lengths of dash and gap, in units of the page. `None` for a solid line.
    pub dash: Option<(f64, f64)>,
}

/// The shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A square standing on a corner.
    Diamond,
    /// A triangle that points up.
    Up,
    /// A triangle that points down.
    Down,
    /// A plus sign.
    Plus,
    /// A diagonal cross.
    Cross,
}

use Marker::{Circle, Cross, Diamond, Down, Plus, Square, Up};

/// A solid line.
pub const SOLID: Option<(f64, f64)> = None;
/// Long dashes.
pub const LONG: Option<(f64, f64)> = Some((10.0, 4.0));
/// Short dashes.
pub const SHORT: Option<(f64, f64)> = Some((5.0, 4.0));
/// Dots.
pub const DOTS: Option<(f64, f64)> = Some((2.0, 3.0));

/// Builds a [`Style`], in constant expressions too.
pub const fn style(
    colour: (u8, u8, u8),
    marker: Marker,
    filled: bool,
    dash: Option<(f64, f64)>,
) -> Style {
    Style { colour, marker, filled, dash }
}

/// The dash of reference line number `at`, from 0. It repeats after four lines.
pub fn reference(at: usize) -> Option<(f64, f64)> {
    [SOLID, LONG, DOTS, SHORT][at % 4]
}

/// Maps the key of a series ([`Series::method`](crate::plot::Series::method)) to its style.
pub type Look = fn(&str) -> Style;

/// The style for a series whose key is not known.
pub const UNKNOWN: Style = style(GREY, Cross, false, DOTS);

impl Style {
    /// The colour as an SVG value: `#RRGGBB`, or `currentColor` for black.
    pub fn ink(&self) -> String {
        let (r, g, b) = self.colour;
        if self.colour == INK { "currentColor".into() } else { format!("#{r:02X}{g:02X}{b:02X}") }
    }
}

impl Marker {
    /// The corners of the marker around the origin. Its radius is about 1, and all markers have
    /// about the same area.
    pub fn outline(self) -> Vec<(f64, f64)> {
        match self {
            Circle => {
                (0..24).map(|i| (f64::from(i) / 24.0 * std::f64::consts::TAU).sin_cos()).collect()
            }
            Square => vec![(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
            Diamond => vec![(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            Up => vec![(0.0, -1.3), (1.25, 0.95), (-1.25, 0.95)],
            Down => vec![(0.0, 1.3), (1.25, -0.95), (-1.25, -0.95)],
            Plus => bars(|x, y| (x, y)),
            Cross => bars(|x, y| ((x - y) * 0.71, (x + y) * 0.71)),
        }
    }
}

/// The outline of two crossed bars, each corner transformed by `turn`.
fn bars(turn: impl Fn(f64, f64) -> (f64, f64)) -> Vec<(f64, f64)> {
    let (long, thin) = (1.35, 0.35);
    let arm = [(thin, -long), (thin, -thin), (long, -thin)];
    let quarter = |i: i32, (x, y): (f64, f64)| match i {
        0 => (x, y),
        1 => (-y, x),
        2 => (-x, -y),
        _ => (y, -x),
    };
    (0..4).flat_map(|i| arm.map(|corner| quarter(i, corner))).map(|(x, y)| turn(x, y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_closed_shapes_of_similar_size() {
        for marker in [Circle, Square, Diamond, Up, Down, Plus, Cross] {
            let corners = marker.outline();
            let next = corners.iter().cycle().skip(1);
            let area =
                corners.iter().zip(next).map(|(a, b)| a.0 * b.1 - a.1 * b.0).sum::<f64>().abs()
                    / 2.0;
            assert!((1.5..3.6).contains(&area), "{marker:?}: area {area}");
        }
    }
}
