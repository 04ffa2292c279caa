//! What a grid measured, and how plots and the values of claims are read off it.

use std::fmt::Display;

use super::{
    Axis, Estimate, Measure, Method, Outcome, PROBLEM, Plot, Point, Sample, Setting, measured,
    number,
};
use crate::claim::Measured;
use crate::datasets::MissingData;
use crate::statistics;

/// One measured value.
#[derive(Debug, Clone)]
pub struct Row {
    pub setting: String,
    pub method: Method,
    pub x: f64,
    pub measure: Measure,
    pub repetition: usize,
    pub value: f64,
}

/// Every value measured, under setting, method, abscissa, measure and repetition.
#[derive(Clone)]
pub struct Results {
    pub(super) rows: Vec<Row>,
    pub(super) sizes: Vec<(usize, usize)>,
    pub(super) plots: Vec<Plot>,
    /// Data sets that were absent.
    pub missing: Vec<MissingData>,
}

impl Results {
    /// The largest size.
    pub fn last(&self) -> usize {
        self.sizes.iter().map(|(size, _)| *size).max().unwrap_or(0)
    }

    /// The settings on which something was measured, in the order given.
    pub fn measured<'s, S: Setting>(&self, settings: &'s [S]) -> Vec<&'s S> {
        settings.iter().filter(|s| self.rows.iter().any(|row| row.setting == s.label())).collect()
    }

    /// What was measured of the problems themselves, in the order it was first put down.
    pub fn facts(&self) -> Vec<Measure> {
        let mut facts: Vec<Measure> = vec![];
        for row in self.rows.iter().filter(|row| row.method == PROBLEM) {
            if !facts.iter().any(|fact| fact.key == row.measure.key) {
                facts.push(row.measure);
            }
        }
        facts
    }

    /// What was measured on one setting.
    pub fn on(&self, setting: &impl Setting) -> On<'_> {
        On { rows: &self.rows, label: setting.label() }
    }

    /// `n = 1000 (12 draws), 2154 (12 draws)`: the sizes and their draws.
    pub fn draws(&self) -> String {
        let each = self.sizes.iter().map(|(size, draws)| {
            format!("{size} ({draws} draw{})", if *draws == 1 { "" } else { "s" })
        });
        format!("n = {}", each.collect::<Vec<_>>().join(", "))
    }

    /// An outcome with the plots that draws have shown and the data that are missing.
    pub fn outcome(&self, scale_note: impl Into<String>) -> Outcome {
        let (plots, missing) = (self.plots.clone(), self.missing.clone());
        Outcome { scale_note: scale_note.into(), plots, missing, ..Outcome::default() }
    }
}

/// What was measured on one setting.
pub struct On<'a> {
    rows: &'a [Row],
    label: String,
}

impl On<'_> {
    /// A value measured here, with its words after the label of the setting.
    pub fn measured(&self, words: impl Display, value: impl Into<Estimate>) -> Measured {
        measured(format!("{}: {words}", self.label), value)
    }

    /// The abscissae at which a method has values of a measure, increasing.
    pub fn abscissae(&self, method: Method, measure: Measure) -> Vec<f64> {
        abscissae(self.of(measure).filter(|row| row.method == method))
    }

    pub(super) fn of(&self, measure: Measure) -> impl Iterator<Item = &Row> {
        let rows = self.rows.iter().filter(move |row| row.measure.key == measure.key);
        rows.filter(|row| row.setting == self.label)
    }

    /// The draws of one cell; empty if there are none.
    pub fn sample(&self, x: impl Abscissa, method: Method, measure: Measure) -> Sample {
        let x = x.abscissa();
        let here = self.of(measure).filter(|row| row.method == method && row.x == x);
        Sample { draws: here.map(|row| (row.repetition, row.value)).collect(), time: measure.time }
    }

    /// The values of all draws at all abscissae.
    pub fn values(&self, method: Method, measure: Measure) -> Vec<f64> {
        let here = self.of(measure).filter(|row| row.method == method);
        here.map(|row| row.value).collect()
    }

    /// The largest of these; −∞ if there are none.
    pub fn most(&self, method: Method, measure: Measure) -> f64 {
        self.values(method, measure).into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Mean (of times: median) over the draws of one cell; NaN if there are none.
    pub fn get(&self, x: impl Abscissa, method: Method, measure: Measure) -> Estimate {
        self.sample(x, method, measure).estimate()
    }

    /// What [`facts`](super::Trial::facts) put down under this name.
    pub fn fact(&self, x: impl Abscissa, name: &'static str) -> Estimate {
        self.get(x, PROBLEM, Measure::named(name))
    }

    /// The measure of `a` over that of `b` at one place, paired over draws, with its words; `axis`
    /// names x.
    pub fn compare(
        &self,
        (axis, x): (&str, impl Abscissa),
        measure: Measure,
        a: Method,
        b: Method,
    ) -> Measured {
        let (x, sample) = (x.abscissa(), |method| self.sample(x, method, measure));
        let at = if axis.is_empty() { String::new() } else { format!(", {axis} = {}", number(x)) };
        let (label, key) = (&self.label, measure.key);
        let text = format!("{label}{at}: {key} of {} over that of {}", a.name, b.name);
        measured(text, sample(a).over(&sample(b)))
    }

    /// The same at every x at which `a` was measured, in one number: `("mean over n",
    /// geometric_mean)`.
    pub fn compare_all(
        &self,
        (words, summary): (&str, impl Fn(Vec<Estimate>) -> Estimate),
        measure: Measure,
        a: Method,
        b: Method,
    ) -> Measured {
        let at = |x| self.compare(("", x), measure, a, b);
        let text = format!("{}, {words}", at(f64::NAN).text);
        let ratios = self.abscissae(a, measure).into_iter().map(|x| at(x).value);
        measured(text, summary(ratios.collect()))
    }

    /// The fitted exponent of x in a measure of a method.
    pub fn exponent(&self, method: Method, measure: Measure) -> Estimate {
        let at = |x: f64| (x, self.get(x, method, measure));
        let points: Vec<_> = self.abscissae(method, measure).into_iter().map(at).collect();
        statistics::exponent(&points)
    }

    /// A measure of one method against x, means with standard errors.
    pub fn curve(&self, method: Method, y: Measure) -> Vec<Point> {
        let at = |x: f64| point(x, self.get(x, method, y));
        self.abscissae(method, y).into_iter().map(at).collect()
    }

    /// A measure of every method against x, means with standard errors; `None` if nothing was
    /// measured.
    pub fn plot(&self, id: &str, title: &str, x: Axis, y: Measure) -> Option<Plot> {
        self.plot_of(Plot::new(id, title, x, y.axis()), y, |_, x| x)
    }

    /// One measure against another, x growing along each line.
    pub fn plot_against(&self, id: &str, title: &str, x: Measure, y: Measure) -> Option<Plot> {
        let plot = Plot::new(id, title, x.axis(), y.axis());
        self.plot_of(plot, y, |method, size| self.get(size, method, x).value)
    }

    /// The measure y of every method against `across`, of the method and an abscissa.
    fn plot_of(
        &self,
        mut plot: Plot,
        y: Measure,
        across: impl Fn(Method, f64) -> f64,
    ) -> Option<Plot> {
        for method in methods(self.of(y)) {
            let mut points = self.curve(method, y);
            points.iter_mut().for_each(|point| point.x = across(method, point.x));
            points.retain(|point| point.x.is_finite());
            if !points.is_empty() {
                plot.line_and_points(method.name, method.key, points);
            }
        }
        (!plot.series.is_empty()).then_some(plot)
    }

    /// An error against n, a time against n, and the error against the time. `id` stands behind
    /// their names, `title` before their titles.
    pub fn trade_off(&self, [id, title]: [&str; 2], error: Measure, time: Measure) -> Vec<Plot> {
        let n = || Axis::log("number of points n");
        let (name, title) =
            (|kind: &str| format!("{kind}{id}"), |what: &str| format!("{title}{what}"));
        let errors = format!("{}, mean with standard errors", error.key);
        let both = format!("{} against time, n growing along each line", error.key);
        let plots = [
            self.plot(&name("error"), &title(&errors), n(), error),
            self.plot(&name("time"), &title("time, median"), n(), time),
            self.plot_against(&name("error-time"), &title(&both), time, error),
        ];
        plots.into_iter().flatten().collect()
    }
}

/// A place on the horizontal axis: a size or any number.
pub trait Abscissa: Copy {
    /// As a number.
    fn abscissa(self) -> f64;
}

impl Abscissa for usize {
    fn abscissa(self) -> f64 {
        self as f64
    }
}

impl Abscissa for f64 {
    fn abscissa(self) -> f64 {
        self
    }
}

/// The methods of some rows, in the order they were first measured.
pub(super) fn methods<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<Method> {
    let mut methods: Vec<Method> = vec![];
    for row in rows {
        if row.method != PROBLEM && !methods.contains(&row.method) {
            methods.push(row.method);
        }
    }
    methods
}

/// Their abscissae, increasing.
pub(super) fn abscissae<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<f64> {
    let mut all: Vec<f64> = rows.map(|row| row.x).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// A plot with more on it: `.map(with(|plot| plot.horizontal("exact KRR", 1.0)))`.
pub fn with(more: impl FnOnce(&mut Plot)) -> impl FnOnce(Plot) -> Plot {
    |mut plot| {
        more(&mut plot);
        plot
    }
}

/// A mean with its standard error as an error bar; a time without.
pub fn point(x: f64, y: Estimate) -> Point {
    match y.error {
        Some(error) if !y.time => Point::with_range(x, y.value, y.value - error, y.value + error),
        _ => Point::new(x, y.value),
    }
}
