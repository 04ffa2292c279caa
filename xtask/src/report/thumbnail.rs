//! Small pictures for the gallery: the curves of a plot without its words, or the shape of a table.

use std::fmt::Write;

use nystrom_page::draw;
use nystrom_page::scale::Scale;

use crate::method;
use crate::plot::{Direction, Kind, Plot, Series};
use crate::table::{Cell, Table};

const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 100.0;
/// More points than this in a series are thinned.
const MOST_POINTS: usize = 500;
/// More rows or columns than this of a table are left out.
const MOST_CELLS: usize = 8;

/// The curves of a plot.
pub fn of_plot(plot: &Plot) -> String {
    let (x, y) = draw::scales(plot);
    let mut body = String::new();
    for line in &plot.lines {
        let ends = match line.direction {
            Direction::Horizontal if y.shows(line.at) => {
                [(0.0, y.fraction(line.at)), (1.0, y.fraction(line.at))]
            }
            Direction::Vertical if x.shows(line.at) => {
                [(x.fraction(line.at), 0.0), (x.fraction(line.at), 1.0)]
            }
            _ => continue,
        };
        body += &path(&ends, "#808080", 0.8);
    }
    for series in &plot.series {
        body += &curve(series, &x, &y);
    }
    framed(&body)
}

fn curve(series: &Series, x: &Scale, y: &Scale) -> String {
    let style = method::look(&series.method);
    let colour = style.ink();
    let shown: Vec<_> = series.points.iter().filter(|p| x.shows(p.x) && y.shows(p.y)).collect();
    let every = shown.len().div_ceil(MOST_POINTS).max(1);
    let at: Vec<(f64, f64)> =
        shown.into_iter().step_by(every).map(|p| (x.fraction(p.x), y.fraction(p.y))).collect();
    if series.kind == Kind::Points || at.len() == 1 {
        // strokes without length: their round ends are the dots
        let dots: String =
            at.iter().map(|&p| place(p)).map(|(x, y)| format!("M{x:.1},{y:.1}h0")).collect();
        return format!(
            r#"<path d="{dots}" stroke="{colour}" stroke-width="3" stroke-linecap="round"/>"#
        );
    }
    path(&at, &colour, 1.8)
}

/// Rows and columns as bars: words are long, numbers short.
pub fn of_table(table: &Table) -> String {
    let columns = table.columns.len().clamp(1, MOST_CELLS);
    let (width, height) = (WIDTH / columns as f64, 11.0);
    let mut body = String::new();
    for (i, row) in table.rows.iter().take(MOST_CELLS).enumerate() {
        for (j, cell) in row.iter().take(columns).enumerate() {
            let (share, colour) = match cell {
                Cell::Text(_) => (0.8, "currentColor"),
                Cell::Number(_) => (0.5, "#808080"),
                Cell::Missing => continue,
            };
            let (x, y) = (j as f64 * width + 3.0, i as f64 * height + 8.0);
            let bar = share * width;
            let _ = write!(
                body,
                r#"<rect x="{x:.1}" y="{y:.1}" width="{bar:.1}" height="4" fill="{colour}"/>"#
            );
        }
    }
    framed(&body)
}

/// A crossed frame, where there is nothing to show.
pub fn of_nothing() -> String {
    framed(
        &[[(0.0, 0.0), (1.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)]]
            .map(|ends| path(&ends, "#808080", 0.8))
            .concat(),
    )
}

fn place((x, y): (f64, f64)) -> (f64, f64) {
    (x.clamp(0.0, 1.0) * WIDTH, (1.0 - y.clamp(0.0, 1.0)) * HEIGHT)
}

fn path(through: &[(f64, f64)], colour: &str, width: f64) -> String {
    let corners: Vec<String> =
        through.iter().map(|&p| place(p)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    format!(
        r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="{width}"/>"#,
        corners.join(" ")
    )
}

fn framed(body: &str) -> String {
    format!(
        r#"<svg class="thumbnail" aria-hidden="true" viewBox="-2 -2 {} {}">{body}</svg>"#,
        WIDTH + 4.0,
        HEIGHT + 4.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Axis, Point};
    use crate::testing::record;

    #[test]
    fn thumbnails_are_small_and_finite() {
        let outcome = record().outcome;
        let mut long = Plot::new("p", "P", Axis::linear("x"), Axis::log("y"));
        long.line("many", "uniform", (-5..5000).map(|i| Point::new(f64::from(i), f64::from(i))));
        long.horizontal("nowhere", -1.0);
        let plots = outcome.plots.iter().chain([&long]).map(of_plot);
        for picture in plots.chain(outcome.tables.iter().map(of_table)) {
            assert!(
                picture.len() < 10_000 && !picture.contains("NaN") && !picture.contains("inf"),
                "{picture}"
            );
        }
    }

    #[test]
    fn a_reference_line_beyond_the_points_has_its_own_place() {
        let mut plot = Plot::new("p", "P", Axis::linear("x"), Axis::linear("y"));
        plot.line("low", "uniform", [(0.0, 0.0), (1.0, 1.0)].map(|(x, y)| Point::new(x, y)));
        plot.horizontal("high", 3.0);
        let heights = of_plot(&plot);
        let of = |i: usize| {
            heights.split("points=\"").nth(i).unwrap().split('"').next().unwrap().to_owned()
        };
        let (line, curve) = (of(1), of(2));
        let y = |points: &str, i: usize| {
            points.split(' ').nth(i).unwrap().split(',').nth(1).unwrap().parse::<f64>().unwrap()
        };
        assert!(y(&curve, 1) > y(&line, 0) + HEIGHT / 2.0, "{heights}");
    }
}
