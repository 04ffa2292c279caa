//! Errors and times of several methods as n grows, with their plots and columns: what Figures 1, 3, 4 and 5 of Chen & Yang 2021 (accumulations) share.

use crate::experiment::{Axis, Cell, Column, Plot, Point};
use crate::lab::statistics::{mean_and_error, quantile};

/// Name in the legend and style.
pub type Method = (&'static str, &'static str);

/// Errors and times of every method at one n, one of each per repetition.
pub struct Compared {
    pub n: usize,
    errors: Vec<Vec<f64>>,
    seconds: Vec<Vec<f64>>,
}

/// What the plots say beside the methods' names.
pub struct Captions<'a> {
    /// Behind the plots' file names.
    pub suffix: &'a str,
    /// Before the titles.
    pub prefix: &'a str,
    /// What the error is, in a title and along its axis.
    pub error: [&'a str; 2],
    pub logarithmic: bool,
}

impl Compared {
    /// Nothing measured yet.
    pub fn new(n: usize, methods: usize) -> Self {
        Compared { n, errors: vec![vec![]; methods], seconds: vec![vec![]; methods] }
    }

    /// One repetition of a method.
    pub fn push(&mut self, method: usize, seconds: f64, error: f64) {
        self.seconds[method].push(seconds);
        self.errors[method].push(error);
    }

    /// Repetitions done.
    pub fn repetitions(&self) -> usize {
        self.errors[0].len()
    }

    /// Mean.
    pub fn error(&self, method: usize) -> f64 {
        mean_and_error(&self.errors[method]).0
    }

    /// Median, in seconds.
    pub fn time(&self, method: usize) -> f64 {
        let mut sorted = self.seconds[method].clone();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, 0.5)
    }

    /// Mean error, its standard error and median time of every method, as [`columns`] names them.
    pub fn cells(&self) -> Vec<Cell> {
        let of = |method: usize| {
            let (mean, s) = mean_and_error(&self.errors[method]);
            [mean, s, self.time(method)].map(Cell::from)
        };
        (0..self.errors.len()).flat_map(of).collect()
    }
}

/// Three for each method.
pub fn columns(methods: &[Method]) -> Vec<Column> {
    let of = |(name, _): &Method| {
        [Column::new(&format!("{name}: error")), Column::new("s.e."), Column::with_unit(&format!("{name}: time"), "s")]
    };
    methods.iter().flat_map(of).collect()
}

/// Error against n, time against n, error against time.
pub fn plots(all: &[Compared], methods: &[Method], captions: &Captions<'_>) -> [Plot; 3] {
    let Captions { suffix, prefix, error: [what, error], logarithmic } = *captions;
    let (n, time) = ("number of points n", "time of sketch and fit / s");
    let scale = |name: &str| if logarithmic { Axis::log(name) } else { Axis::linear(name) };
    let plot = |kind: &str, title: &str, x: Axis, y: Axis| {
        Plot::new(&format!("{kind}{suffix}"), &format!("{prefix}{title}"), x, y)
    };
    let mut errors = plot("error", &format!("{what}, mean with standard errors"), Axis::log(n), scale(error));
    let mut times = plot("time", "time of sketch and fit, median", Axis::log(n), Axis::log(time));
    let mut both =
        plot("error-time", &format!("{what} against time, n growing along each line"), Axis::log(time), scale(error));
    for (method, (name, style)) in methods.iter().enumerate() {
        let bar = |at: &Compared| {
            let (mean, s) = mean_and_error(&at.errors[method]);
            Point::with_range(at.n as f64, mean, mean - s, mean + s)
        };
        errors.line_and_points(name, style, all.iter().map(bar));
        times.line_and_points(name, style, all.iter().map(|at| Point::new(at.n as f64, at.time(method))));
        both.line_and_points(name, style, all.iter().map(|at| Point::new(at.time(method), at.error(method))));
    }
    [errors, times, both]
}
