//! Draws a [`Plot`] as SVG, by the crate plotters. The legend is separate: see
//! [`legend`](crate::legend).

use plotters::prelude::*;

use crate::plot::{Direction, Kind, Plot, Point, Series};
use crate::scale::Scale;
use crate::style::{self, INK, Look, Style};

/// Width of a drawing, in units of the page.
pub const WIDTH: f64 = 520.0;
/// Height of a drawing without its legend, in units of the page.
pub const HEIGHT: f64 = 360.0;
/// Pixels per unit of the page. plotters rounds to whole pixels; this resolution keeps curves
/// smooth.
const PIXELS_PER_UNIT: f64 = 8.0;
/// Up to this many points of a series are drawn. Of more points, only every second or fewer.
const MOST_POINTS: usize = 1500;
/// Above this number of points, a series is drawn as small dots instead of its markers.
const CLOUD: usize = 100;
/// Radius of a marker, in units of the page.
pub const RADIUS: f64 = 4.0;

/// A plot as SVG.
#[derive(Debug)]
pub struct Drawing {
    /// The content of an `<svg>` element with the [`view_box`] of height [`HEIGHT`].
    pub body: String,
    /// Sentences about points that are not drawn.
    pub notes: Vec<String>,
}

/// The `viewBox` of a drawing with this height in units of the page.
pub fn view_box(height: f64) -> String {
    format!("0 0 {} {}", WIDTH * PIXELS_PER_UNIT, height * PIXELS_PER_UNIT)
}

/// Converts units of the page to pixels.
pub fn px(size: f64) -> f64 {
    size * PIXELS_PER_UNIT
}

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Scale, Scale>>;

/// The error of a plot that could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("plot `{plot}`: {why}")]
pub struct NotDrawn {
    plot: String,
    why: String,
}

/// Draws a plot.
///
/// # Errors
/// [`NotDrawn`] if plotters' SVG backend fails. It writes to memory, so no failure is known.
///
/// ```
/// use nystrom_page::draw::draw;
/// use nystrom_page::plot::{Axis, Plot, Point};
/// use nystrom_page::style::{Style, UNKNOWN};
/// let mut plot = Plot::new("p", "A line", Axis::linear("x"), Axis::linear("y"));
/// plot.line("all of it", "key", [Point::new(0.0, 0.0), Point::new(1.0, 2.0)]);
/// assert!(draw(&plot, |_| UNKNOWN)?.body.contains("<polyline"));
/// # Ok::<(), nystrom_page::draw::NotDrawn>(())
/// ```
pub fn draw(plot: &Plot, look: Look) -> Result<Drawing, NotDrawn> {
    let (x, y) = scales(plot);
    let shown: Vec<Shown> = plot.series.iter().map(|series| Shown::of(series, &x, &y)).collect();
    let mut svg = String::new();
    render(plot, &shown, (x, y), look, &mut svg)
        .map_err(|why| NotDrawn { plot: plot.id.clone(), why: why.to_string() })?;
    Ok(Drawing { body: body(&svg), notes: notes(plot, &shown) })
}

/// The scales of x and y, which cover the series, their error bars, the reference lines and
/// [`Plot::room`].
pub fn scales(plot: &Plot) -> (Scale, Scale) {
    (Scale::over(abscissae(plot), plot.x.log), Scale::over(ordinates(plot), plot.y.log))
}

/// The points of a series that are drawn.
struct Shown<'a> {
    series: &'a Series,
    points: Vec<Point>,
    /// The number of points at NaN or ∞, or ≤ 0 on a logarithmic axis.
    left_out: usize,
    /// One in `every` of the other points is drawn.
    every: usize,
}

impl<'a> Shown<'a> {
    fn of(series: &'a Series, x: &Scale, y: &Scale) -> Self {
        let all: Vec<Point> =
            series.points.iter().copied().filter(|p| x.shows(p.x) && y.shows(p.y)).collect();
        let every = all.len().div_ceil(MOST_POINTS).max(1);
        let left_out = series.points.len() - all.len();
        Shown { series, points: all.into_iter().step_by(every).collect(), left_out, every }
    }
}

fn abscissae(plot: &Plot) -> impl Iterator<Item = f64> {
    let lines =
        plot.lines.iter().filter(|line| line.direction == Direction::Vertical).map(|line| line.at);
    plot.series.iter().flat_map(|series| &series.points).map(|point| point.x).chain(lines)
}

fn ordinates(plot: &Plot) -> impl Iterator<Item = f64> {
    let lines = plot
        .lines
        .iter()
        .filter(|line| line.direction == Direction::Horizontal)
        .map(|line| line.at);
    let ends =
        |point: &Point| point.range.map_or([point.y; 3], |range| [point.y, range.lo, range.hi]);
    plot.series
        .iter()
        .flat_map(|series| &series.points)
        .flat_map(ends)
        .chain(lines)
        .chain(plot.room.iter().copied())
}

fn notes(plot: &Plot, shown: &[Shown]) -> Vec<String> {
    let log = plot.x.log || plot.y.log;
    let reason =
        if log { "not finite, or not positive on a logarithmic axis" } else { "not finite" };
    let mut notes = Vec::new();
    for Shown { series, points, left_out, every } in shown {
        let name = &series.name;
        match (left_out, points.len()) {
            (0, 0) => notes.push(format!("{name}: no points.")),
            (0, _) => {}
            (n, _) => notes.push(format!(
                "{name}: {n} of {} points not drawn ({reason}).",
                series.points.len()
            )),
        }
        if *every > 1 {
            notes.push(format!("{name}: one in {every} points drawn."));
        }
    }
    notes
}

fn render(
    plot: &Plot,
    shown: &[Shown],
    (x, y): (Scale, Scale),
    look: Look,
    svg: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let root =
        SVGBackend::with_string(svg, (px(WIDTH) as u32, px(HEIGHT) as u32)).into_drawing_area();
    let lines: Vec<_> = plot.lines.iter().map(|line| (line.direction, line.at)).collect();
    let (x_range, y_range) = (x.range(), y.range());
    let mut chart = ChartBuilder::on(&root)
        .margin(px(10.0) as u32)
        // half of the last label lies beyond the end of the axis
        .margin_right(px((5.5 * x.widest_label() as f64 - 12.0).max(10.0)) as u32)
        .x_label_area_size(px(58.0) as u32)
        .y_label_area_size(px(38.0 + 11.0 * y.widest_label().max(4) as f64) as u32)
        .build_cartesian_2d(x.clone(), y.clone())?;
    axes(plot, &mut chart)?;
    for (i, (direction, at)) in lines.into_iter().enumerate() {
        let ends = match direction {
            Direction::Horizontal if y.shows(at) => vec![(x_range.start, at), (x_range.end, at)],
            Direction::Vertical if x.shows(at) => vec![(at, y_range.start), (at, y_range.end)],
            _ => continue,
        };
        path(ends, stroke((128, 128, 128), 1.5), style::reference(i), &mut chart)?;
    }
    for one in shown {
        series(one, &look(&one.series.method), &y, &mut chart)?;
    }
    drop(chart);
    root.present()?;
    Ok(())
}

fn axes(plot: &Plot, chart: &mut Chart) -> Result<(), Box<dyn std::error::Error>> {
    let text =
        |size: f64| ("sans-serif", px(size)).into_font().color(&RGBColor(INK.0, INK.1, INK.2));
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(128, 128, 128).mix(0.25).stroke_width(px(1.0) as u32))
        .axis_style(stroke(INK, 1.0))
        .label_style(text(20.0))
        .axis_desc_style(text(title_size(plot)))
        .x_desc(plot.x.label.as_str())
        .y_desc(plot.y.label.as_str())
        .set_all_tick_mark_size(px(4.0) as u32)
        .draw()?;
    Ok(())
}

/// Font size of the axis titles, chosen so that both titles fit beside their axes.
fn title_size(plot: &Plot) -> f64 {
    let fits = |label: &str, length: f64| length / (0.42 * label.chars().count().max(1) as f64);
    fits(&plot.x.label, WIDTH - 110.0).min(fits(&plot.y.label, HEIGHT - 78.0)).clamp(12.0, 21.0)
}

fn series(
    shown: &Shown,
    style: &Style,
    y: &Scale,
    chart: &mut Chart,
) -> Result<(), Box<dyn std::error::Error>> {
    let at: Vec<(f64, f64)> = shown.points.iter().map(|point| (point.x, point.y)).collect();
    if shown.series.kind != Kind::Points && at.len() > 1 {
        path(at.clone(), stroke(style.colour, 2.0), style.dash, chart)?;
    }
    for point in &shown.points {
        error_bar(point, style, y, chart)?;
    }
    if shown.series.kind != Kind::Line || at.len() == 1 {
        if at.len() > CLOUD {
            return cloud(at, style, chart);
        }
        for &centre in &at {
            marker(centre, style, chart)?;
        }
    }
    Ok(())
}

fn path(
    through: Vec<(f64, f64)>,
    line: ShapeStyle,
    dash: Option<(f64, f64)>,
    chart: &mut Chart,
) -> Result<(), Box<dyn std::error::Error>> {
    match dash {
        None => chart.draw_series(std::iter::once(PathElement::new(through, line)))?,
        Some((dash, gap)) => chart.draw_series(DashedLineSeries::new(
            through,
            px(dash) as u32,
            px(gap) as u32,
            line,
        ))?,
    };
    Ok(())
}

/// Draws an error bar. Ends outside the axis, such as ≤ 0 on a logarithmic one, are moved to its
/// edge.
fn error_bar(
    point: &Point,
    style: &Style,
    y: &Scale,
    chart: &mut Chart,
) -> Result<(), Box<dyn std::error::Error>> {
    let Some(range) = point.range else { return Ok(()) };
    if range.lo.is_nan() || range.hi.is_nan() {
        return Ok(());
    }
    let edge = y.range();
    let inside = |end: f64| end.clamp(edge.start, edge.end);
    let (lo, hi) = ((point.x, inside(range.lo)), (point.x, inside(range.hi)));
    let line = stroke(style.colour, 1.2);
    chart.draw_series(std::iter::once(PathElement::new(vec![lo, hi], line)))?;
    let half = px(3.0) as i32;
    let caps = [lo, hi]
        .map(|end| EmptyElement::at(end) + PathElement::new(vec![(-half, 0), (half, 0)], line));
    chart.draw_series(caps)?;
    Ok(())
}

/// Draws small half-transparent dots.
fn cloud(
    at: Vec<(f64, f64)>,
    style: &Style,
    chart: &mut Chart,
) -> Result<(), Box<dyn std::error::Error>> {
    let (r, g, b) = style.colour;
    let ink = RGBColor(r, g, b).mix(0.5).filled();
    let dot = |centre| plotters::element::Circle::new(centre, px(RADIUS * 0.55) as i32, ink);
    chart.draw_series(at.into_iter().map(dot))?;
    Ok(())
}

fn marker(
    centre: (f64, f64),
    style: &Style,
    chart: &mut Chart,
) -> Result<(), Box<dyn std::error::Error>> {
    let corner = |(x, y): (f64, f64)| ((x * px(RADIUS)) as i32, (y * px(RADIUS)) as i32);
    let mut outline: Vec<(i32, i32)> = style.marker.outline().into_iter().map(corner).collect();
    if style.filled {
        let (r, g, b) = style.colour;
        chart.draw_series(std::iter::once(
            EmptyElement::at(centre) + Polygon::new(outline, RGBColor(r, g, b).filled()),
        ))?;
    } else {
        outline.extend_from_within(..1);
        let line = stroke(style.colour, 1.5);
        chart.draw_series(std::iter::once(
            EmptyElement::at(centre) + PathElement::new(outline, line),
        ))?;
    }
    Ok(())
}

fn stroke((r, g, b): (u8, u8, u8), width: f64) -> ShapeStyle {
    RGBColor(r, g, b).stroke_width(px(width) as u32)
}

/// The content of the `<svg>` element, with black replaced by `currentColor`.
fn body(svg: &str) -> String {
    let start =
        svg.find("<svg").and_then(|at| svg[at..].find('>').map(|end| at + end + 1)).unwrap_or(0);
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    svg[start..end].trim().replace("#000000", "currentColor")
}
