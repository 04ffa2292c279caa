//! Time against size on logarithmic axes, with the fitted exponent of each curve in the legend.

use std::collections::BTreeMap;

use super::rows::Growth;
use crate::plot::{Axis, Plot, Point};
use crate::statistics::exponent;

/// Draws a curve for each bench that was run at three sizes or more.
pub fn plot(growth: &Growth, seconds: &BTreeMap<String, f64>) -> Plot {
    let Growth { id, title, x, y, curves } = growth;
    let mut plot = Plot::new(id, title, Axis::log(x), Axis::log(y));
    for curve in curves {
        let size = |name: &str| name.strip_prefix(&curve.bench)?.strip_prefix('/')?.parse().ok();
        let points = seconds.iter().filter_map(|(name, &seconds)| Some((size(name)?, seconds)));
        let mut points: Vec<(f64, f64)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points.len() >= 3 {
            let name = format!("{}: exponent {:.2}", curve.name, exponent(&points).value);
            let points = points.into_iter().map(|(x, y)| Point::new(x, y));
            plot.line_and_points(&name, &curve.look, points);
        }
    }
    plot
}
