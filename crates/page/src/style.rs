//! How series are drawn: colour, marker and dash, so that none of them alone has to be told apart.
//! Each drawing has its own table of looks ([`Look`]): one look for what is the same, in every
//! plot.
//!
//! The colours are those of Okabe and Ito (<https://jfly.uni-koeln.de/color/>), which people with
//! colour-blindness can tell apart. Yellow is left out, being invisible on white. Brown and gold
//! are added. Black stands for the ink of the page: a page turns it into its text colour, light in
//! a dark scheme.

/// The ink of the page.
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

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Colour of line and marker.
    pub colour: (u8, u8, u8),
    /// Shape of the marker.
    pub marker: Marker,
    /// Whether the marker is filled.
    pub filled: bool,
    /// Lengths of dash and gap; none for a solid line.
    pub dash: Option<(f64, f64)>,
}

/// Shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle, its top up.
    Up,
    /// A triangle, its top down.
    Down,
    /// A plus sign.
    Plus,
    /// A cross.
    Cross,
}

use Marker::{Circle, Cross, Diamond, Down, Plus, Square, Up};

/// No dash.
pub const SOLID: Option<(f64, f64)> = None;
/// Long dashes.
pub const LONG: Option<(f64, f64)> = Some((10.0, 4.0));
/// Short dashes.
pub const SHORT: Option<(f64, f64)> = Some((5.0, 4.0));
/// Dots.
pub const DOTS: Option<(f64, f64)> = Some((2.0, 3.0));

/// A look, for a table of them.
pub const fn style(
    colour: (u8, u8, u8),
    marker: Marker,
    filled: bool,
    dash: Option<(f64, f64)>,
) -> Style {
    Style { colour, marker, filled, dash }
}

/// Dash of the reference line at this place in the list, so that several can be told apart.
pub fn reference(at: usize) -> Option<(f64, f64)> {
    [SOLID, LONG, DOTS, SHORT][at % 4]
}

/// The look of a series by its key.
pub type Look = fn(&str) -> Style;

/// Of a series that no table of looks has.
pub const UNKNOWN: Style = style(GREY, Cross, false, DOTS);

impl Style {
    /// The colour as SVG writes it; the page's own for black.
    pub fn ink(&self) -> String {
        let (r, g, b) = self.colour;
        if self.colour == INK { "currentColor".into() } else { format!("#{r:02X}{g:02X}{b:02X}") }
    }
}

impl Marker {
    /// Corners of the marker around the origin, about one unit in radius; all markers have about
    /// the same area.
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

/// Two crossed bars, turned.
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
