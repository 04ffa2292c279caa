//! Plots as data: what is drawn, not how. [`draw`](crate::draw::draw) turns one into SVG.

use serde::{Deserialize, Serialize};

/// A plot: two axes, some series, perhaps reference lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// Fit for a file name and unique beside others: lower case letters, digits, `-`.
    pub id: String,
    /// The caption: what is shown, for which setting.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
    /// Thin grey lines that say where a theoretical or printed value lies.
    pub lines: Vec<ReferenceLine>,
    /// Ordinates for which there is room, drawn or not: so that several plots have one scale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub room: Vec<f64>,
}

impl Plot {
    /// A plot without series.
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

    /// Adds a series of markers joined by a line, the usual choice for a few measured values with
    /// error bars.
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

/// One axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// What it shows, with its unit: `time / s`.
    pub label: String,
    /// Logarithmic if true. Values ≤ 0 are then left out of the drawing, with a note that says how
    /// many.
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
    /// Its name in the legend.
    pub name: String,
    /// The key of its [`Look`](crate::style::Look): colour, marker and dash.
    pub method: String,
    /// Line, points or both.
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
    /// Both.
    LineAndPoints,
}

/// A point, perhaps with an error bar from `y_lo` to `y_hi`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Abscissa.
    #[serde(with = "crate::number::lossless")]
    pub x: f64,
    /// Ordinate.
    #[serde(with = "crate::number::lossless")]
    pub y: f64,
    /// Lower and upper end of the error bar.
    pub range: Option<Range>,
}

/// An error bar.
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
    /// A point without error bar.
    pub fn new(x: f64, y: f64) -> Self {
        Point { x, y, range: None }
    }

    /// A point with an error bar from `lo` to `hi`.
    pub fn with_range(x: f64, y: f64, lo: f64, hi: f64) -> Self {
        Point { x, y, range: Some(Range { lo, hi }) }
    }
}

/// A reference line right across the plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferenceLine {
    /// Its name in the legend.
    pub name: String,
    /// Which way it runs.
    pub direction: Direction,
    /// Its ordinate (horizontal) or abscissa (vertical).
    #[serde(with = "crate::number::lossless")]
    pub at: f64,
}

/// Which way a reference line runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// At a constant y.
    Horizontal,
    /// At a constant x.
    Vertical,
}
