//! Tests of plots as SVG.

use nystrom_page::draw::draw;
use nystrom_page::legend;
use nystrom_page::plot::{Axis, Plot, Point};
use nystrom_page::style::{BLUE, INK, Marker, SOLID, Style, style};

fn look(key: &str) -> Style {
    style(if key == "exact" { INK } else { BLUE }, Marker::Circle, true, SOLID)
}

fn log_plot() -> Plot {
    Plot::new("p", "P", Axis::log("n"), Axis::log("time / s"))
}

#[test]
fn a_log_axis_leaves_out_what_has_no_logarithm_and_says_so() {
    let mut plot = log_plot();
    let points =
        [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (10.0, 1.0), (f64::NAN, 1.0), (100.0, f64::INFINITY)];
    plot.line_and_points("some", "uniform", points.map(|(x, y)| Point::new(x, y)));
    let drawing = draw(&plot, look).unwrap();
    assert_eq!(
        drawing.notes,
        ["some: 5 of 6 points not drawn (not finite, or not positive on a logarithmic axis)."]
    );
}

#[test]
fn error_bars_that_reach_zero_on_a_log_axis_go_to_the_edge() {
    let mut plot = log_plot();
    plot.line_and_points(
        "bars",
        "leverage",
        [(1.0, 0.0), (10.0, -5.0), (100.0, f64::NAN)]
            .map(|(x, lo)| Point::with_range(x, 1.0, lo, 2.0)),
    );
    let drawing = draw(&plot, look).unwrap();
    assert!(drawing.notes.is_empty() && !drawing.body.contains("NaN"));
}

#[test]
fn no_series_an_empty_series_and_a_single_point_are_drawn() {
    for axis in [Axis::linear, Axis::log] {
        let mut plot = Plot::new("p", "P", axis("x"), axis("y"));
        assert!(draw(&plot, look).unwrap().body.contains("<text"));
        plot.line("empty", "exact", []);
        assert_eq!(draw(&plot, look).unwrap().notes, ["empty: no points."]);
        plot.line("single", "paper", [Point::new(3.0, 3.0)]);
        assert_eq!(draw(&plot, look).unwrap().notes.len(), 1);
        assert!(legend::standalone(&plot, look).unwrap().starts_with("<svg"));
    }
}

#[test]
fn extreme_values_do_not_overflow_the_drawing() {
    let mut plot = Plot::new("p", "P", Axis::linear("x"), Axis::log("y"));
    plot.line("wide", "uniform", [(-1e308, 1e-308), (1e308, 1e308)].map(|(x, y)| Point::new(x, y)));
    plot.horizontal("above", f64::INFINITY);
    draw(&plot, look).unwrap();
}

#[test]
fn long_series_are_thinned_and_say_so() {
    let mut plot = Plot::new("p", "P", Axis::linear("x"), Axis::linear("y"));
    plot.points("many", "exact", (0..4000).map(|i| Point::new(f64::from(i), 0.0)));
    assert_eq!(draw(&plot, look).unwrap().notes, ["many: one in 3 points drawn."]);
}

#[test]
fn drawings_take_the_ink_of_the_page_and_escape_their_labels() {
    let mut plot = Plot::new("p", "P", Axis::linear("a < b & c"), Axis::linear("y"));
    plot.line_and_points("black", "exact", [(0.0, 0.0), (1.0, 1.0)].map(|(x, y)| Point::new(x, y)));
    let body = draw(&plot, look).unwrap().body;
    assert!(!body.contains("#000000") && body.contains("currentColor"));
    assert!(body.contains("a &lt; b &amp; c"));
}
