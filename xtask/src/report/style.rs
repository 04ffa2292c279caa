//! How series are drawn; the methods themselves, each with its look, are in `method.rs`. One look
//! per method, in every plot: colour, marker and dash, so that none of them alone has to be told
//! apart.
//!
//! The colours are those of Okabe and Ito (<https://jfly.uni-koeln.de/color/>), which people with
//! colour-blindness can tell apart; yellow is left out, being invisible on white, brown and gold
//! are added. What is no method but one quantity at growing values of a parameter is drawn in
//! shades (`level-1` to `level-6`, `accumulated-2` to `accumulated-32`). Black stands for the ink
//! of the page: the report turns it into its text colour, light in a dark scheme.

/// The ink of the page.
pub const INK: (u8, u8, u8) = (0, 0, 0);
pub const ORANGE: (u8, u8, u8) = (230, 159, 0);
pub const SKY: (u8, u8, u8) = (86, 180, 233);
pub const GREEN: (u8, u8, u8) = (0, 158, 115);
pub const BLUE: (u8, u8, u8) = (0, 114, 178);
pub const RED: (u8, u8, u8) = (213, 94, 0);
pub const PURPLE: (u8, u8, u8) = (204, 121, 167);
pub const GREY: (u8, u8, u8) = (128, 128, 128);
pub const BROWN: (u8, u8, u8) = (140, 86, 40);
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
    Circle,
    Square,
    Diamond,
    Up,
    Down,
    Plus,
    Cross,
}

use Marker::{Circle, Cross, Diamond, Down, Plus, Square, Up};

use crate::method;

pub const SOLID: Option<(f64, f64)> = None;
pub const LONG: Option<(f64, f64)> = Some((10.0, 4.0));
pub const SHORT: Option<(f64, f64)> = Some((5.0, 4.0));
pub const DOTS: Option<(f64, f64)> = Some((2.0, 3.0));

/// A look, for the table of methods.
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

/// The look of a method by its key; grey dots for a key which no method has.
pub fn of(key: &str) -> Style {
    let found = method::ALL.iter().find(|(method, _)| method.key == key);
    found.map_or(style(GREY, Cross, false, DOTS), |&(_, style)| style)
}

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
    use crate::method::Method;

    #[test]
    fn no_two_methods_share_a_line_or_a_marker() {
        for (i, (Method { key, .. }, a)) in method::ALL.iter().enumerate() {
            for (Method { key: other, .. }, b) in &method::ALL[..i] {
                assert_ne!(key, other);
                assert!((a.colour, a.dash) != (b.colour, b.dash), "{key} and {other}: same line");
                assert!(
                    (a.colour, a.marker) != (b.colour, b.marker),
                    "{key} and {other}: same marker"
                );
            }
        }
    }

    /// Contrast as WCAG defines it.
    fn contrast(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
        let channel = |c: u8| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        };
        let luminance = |(r, g, b)| 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
        let (a, b): (f64, f64) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn every_colour_is_seen_on_both_pages() {
        let css = include_str!("html/style.css");
        for (Method { key, .. }, style) in
            method::ALL.iter().filter(|(_, style)| style.colour != INK)
        {
            assert!(contrast(style.colour, (255, 255, 255)) > 2.0, "{key} on white");
            let lightened = ["stroke", "fill"]
                .iter()
                .all(|what| css.contains(&format!("[{what}=\"{}\"]", style.ink())));
            assert!(lightened || contrast(style.colour, (0x14, 0x17, 0x1b)) > 3.0, "{key} on dark");
        }
    }

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
