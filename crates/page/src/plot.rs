//! Plots as data, independent of their drawing. [`draw`](crate::draw::draw) turns a plot into SVG.

use serde::{Deserialize, Serialize};

/// A plot: two axes, series and optional reference lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// An identifier of lower-case letters, digits and `-`: usable as a file name, and unique among
    /// the plots and tables of a page.
    pub id: String,
    /// The caption: the quantity shown and the setting.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, in the order of the legend.
    pub series: Vec<Series>,
    /// Thin grey reference lines, at theoretical values or at values printed in a paper.
    pub lines: Vec<ReferenceLine>,
    /// Ordinates that the vertical axis must include though they are not drawn, so that several
    /// plots have the same scale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub room: Vec<f64>,
}

impl Plot {
    /// A plot without series or reference lines.
    pub fn new(id: &str, title: &str, x: Axis, y: Axis) -> Self {
        Plot {
            id: id.into(),
            title: title.into(),
            x,
            y,
            series: Vec::new(),
            lines: Vec::new(),
            room: Vec::new(),
        }
    }

    /// Adds a series of points joined by a line.
    pub fn line(&mut self, name: &str, method: &str, points: impl IntoIterator<Item = Point>) {
        self.push(name, method, Kind::Line, points);
    }

    /// Adds a series of unjoined points.
    pub fn points(&mut self, name: &str, method: &str, points: impl IntoIterator<Item = Point>) {
        self.push(name, method, Kind::Points, points);
    }

    /// Adds a series of markers joined by a line. This is the usual choice for a few measured
    /// values with error bars.
    pub fn line_and_points(
        &mut self,
        name: &str,
        method: &str,
        points: impl IntoIterator<Item = Point>,
    ) {
        self.push(name, method, Kind::LineAndPoints, points);
    }

    /// Adds a horizontal reference line.
    pub fn horizontal(&mut self, name: &str, y: f64) {
        self.lines.push(ReferenceLine {
            name: name.into(),
            direction: Direction::Horizontal,
            at: y,
        });
    }

    /// Adds a vertical reference line.
    pub fn vertical(&mut self, name: &str, x: f64) {
        self.lines.push(ReferenceLine { name: name.into(), direction: Direction::Vertical, at: x });
    }

    fn push(
        &mut self,
        name: &str,
        method: &str,
        kind: Kind,
        points: impl IntoIterator<Item = Point>,
    ) {
        let points = points.into_iter().collect();
        self.series.push(Series { name: name.into(), method: method.into(), kind, points });
    }
}

/// An axis of a plot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// The quantity and its unit, as in `time / s`.
    pub label: String,
    /// Whether the axis is logarithmic. Values ≤ 0 are then left out of the drawing, and a note
    /// gives their number.
    pub log: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Self {
        Axis { label: label.into(), log: false }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Self {
        Axis { label: label.into(), log: true }
    }
}

/// A named series of points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The key that [`Look`](crate::style::Look) maps to colour, marker and dash.
    pub method: String,
    /// Whether the series has a line, markers or both.
    pub kind: Kind,
    /// The points, in drawing order.
    pub points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A line through the points.
    Line,
    /// A marker at each point.
    Points,
    /// A line through the points, and a marker at each.
    LineAndPoints,
}

/// A point, with or without an error bar.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Abscissa.
    #[serde(with = "crate::number::lossless")]
    pub x: f64,
    /// Ordinate.
    #[serde(with = "crate::number::lossless")]
    pub y: f64,
    /// The error bar, if there is one.
    pub range: Option<Range>,
}

/// The vertical extent of an error bar.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Lower end.
    #[serde(with = "crate::number::lossless")]
    pub lo: f64,
    /// Upper end.
    #[serde(with = "crate::number::lossless")]
    pub hi: f64,
}

impl Point {
    /// A point without an error bar.
    pub fn new(x: f64, y: f64) -> Self {
        Point { x, y, range: None }
    }

    /// A point with an error bar from `lo` to `hi`.
    pub fn with_range(x: f64, y: f64, lo: f64, hi: f64) -> Self {
        Point { x, y, range: Some(Range { lo, hi }) }
    }
}

/// A reference line across the whole plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferenceLine {
    /// The name in the legend.
    pub name: String,
    /// Whether the line is horizontal or vertical.
    pub direction: Direction,
    /// The ordinate of a horizontal line, or the abscissa of a vertical one.
    #[serde(with = "crate::number::lossless")]
    pub at: f64,
}

/// The direction of a reference line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// The line has constant y.
    Horizontal,
    /// The line has constant x.
    Vertical,
}
