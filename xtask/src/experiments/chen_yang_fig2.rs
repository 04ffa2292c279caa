//! Figure 2 of Chen & Yang 2021: true against SA rescaled leverage scores on the line, for three designs, as n grows.

use nystrom::kernels::{KernelMatrix, Matern, Points};
use nystrom::leverage::{Density, Guard, KernelDensity, SpectralAnalysis, exact_scores};
use nystrom::linalg_core::Ridge;
use rand::{Rng, RngExt};

use super::bimodal_problem::BimodalDesign;
use super::{
    papers,
    statistics::{fitted_exponent, mean_and_error, quantile},
};
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};

pub const EXPERIMENT: Experiment = Experiment {
    name: "chen-yang-fig2",
    paper: &papers::CHEN_YANG_2021,
    figure: "Figure 2",
    says: "On the line, SA scores follow the true ones closely for a uniform design; for Beta and bimodal designs the error is larger where points are sparse \
        (the small cluster, the ends of the Beta design), and it falls as n grows. Theorem: at interior points the relative error goes to 0.",
    data: &[],
    revision: 2,
    run,
};

/// Smoothness ν, and λ = c·n^{−e}.
struct Config {
    key: &'static str,
    nu: f64,
    lambda: (f64, f64),
}

const CONFIGS: [Config; 2] = [
    Config { key: "nu-3-2", nu: 1.5, lambda: (0.45, 0.8) },
    Config { key: "nu-1-2", nu: 0.5, lambda: (0.3, 2.0 / 3.0) },
];

#[derive(Debug, Clone, Copy)]
enum Design {
    Uniform,
    Beta,
    Bimodal,
}

const DESIGNS: [(Design, &str); 3] =
    [(Design::Uniform, "uniform"), (Design::Beta, "beta"), (Design::Bimodal, "bimodal")];

impl Design {
    /// n points in increasing order with their true density.
    fn draw(self, n: usize, rng: &mut dyn Rng) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = match self {
            Design::Uniform => (0..n).map(|_| (rng.random(), 1.0)).collect(),
            Design::Beta => (0..n).map(|_| beta(rng)).collect(),
            Design::Bimodal => {
                let drawn = BimodalDesign { n, dim: 1, gamma: 0.4 }.draw(rng);
                (0..n).map(|i| (drawn.points().coordinate(i, 0), drawn.density[i])).collect()
            }
        };
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    /// Well inside, where the density is high; at the edge or where it is low; or neither.
    fn region(self, (x, p): (f64, f64)) -> Option<Region> {
        let inside = |low: f64, high: f64| (low..high).contains(&x);
        match self {
            Design::Uniform if inside(0.2, 0.8) => Some(Region::Interior),
            Design::Uniform if !inside(0.02, 0.98) => Some(Region::Edge),
            Design::Beta if p > 2.0 && x < 0.95 => Some(Region::Interior),
            Design::Beta if p < 0.5 => Some(Region::Edge),
            Design::Bimodal if inside(0.2, 0.8) => Some(Region::Interior),
            Design::Bimodal if x > 1.5 => Some(Region::Edge),
            _ => None,
        }
    }

    fn edge(self) -> &'static str {
        match self {
            Design::Uniform => "within 0.02 of the boundary",
            Design::Beta => "where p < 1/2",
            Design::Bimodal => "in the small cluster",
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Region {
    Interior,
    Edge,
}

/// Beta(15, 2) with its density 240 x¹⁴(1 − x), by rejection.
fn beta(rng: &mut dyn Rng) -> (f64, f64) {
    let density = |x: f64| 240.0 * x.powi(14) * (1.0 - x);
    loop {
        let (x, u): (f64, f64) = (rng.random(), rng.random());
        if 6.0 * u < density(x) {
            return (x, density(x)); // the density is below 5.9
        }
    }
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[usize] = ctx.pick(&[100, 200], &[200, 500, 1000, 2000], &[200, 500, 1000, 2000, 5000]);
    let repetitions = ctx.pick(2, 10, 30);
    let stage = ctx.progress.begin("designs", CONFIGS.len() * DESIGNS.len() * sizes.len() * repetitions);
    let mut out = Outcome::default();
    let mut table = Table::new(
        "errors",
        "Median of |K̃/G − 1| over the points of a region, mean over repetitions",
        ["ν", "design", "n", "interior, true density", "interior, estimated", "edge, true density", "edge, estimated"]
            .map(Column::new),
    );
    for config in &CONFIGS {
        for (design, name) in DESIGNS {
            let mut curves = [const { Vec::new() }; 4]; // as the columns of the table
            for &n in sizes {
                let mut errors = [const { Vec::new() }; 4];
                for repetition in 0..repetitions {
                    let sample = Sample::new(ctx, config, (design, name), n, repetition)?;
                    if repetition == 0 && config.nu > 1.0 && (n == sizes[0] || n == sizes[sizes.len() - 1]) {
                        out.plots.push(sample.plot(design, name));
                    }
                    errors.iter_mut().zip(sample.errors(design)).for_each(|(all, one)| all.extend(one));
                    stage.inc(1);
                }
                let means = errors.map(|errors| mean_and_error(&errors));
                let cells = [Cell::from(config.nu), name.into(), n.into()].into_iter();
                table.push(cells.chain(means.map(|(mean, _)| Cell::from(mean))));
                curves.iter_mut().zip(means).for_each(|(curve, mean)| curve.push((n as f64, mean)));
            }
            out.plots.push(error_plot(config, name, design, &curves));
            out.claims.extend(claims(config, name, design, &curves));
        }
    }
    out.tables.push(table);
    out.scale_note = format!("n = {sizes:?}; {repetitions} repetitions (30, and n = 5000 too, in a full run)");
    out.notes = vec![
        "Not legible in the paper, chosen here: Beta(15, 2), γ = 0.4 for the bimodal design, Matérn ν = 3/2 (ℓ = 1) with λ = 0.45 n^(−0.8) and ν = 1/2 with λ = 0.3 \
         n^(−2/3). The density is estimated with the library's default, or given."
            .into(),
        "The boundary of the support is not seen by the method: next to it the true score is about 2 (ν = 1/2) or 4 (ν = 3/2) times the interior's, at every n; see \
         chen-yang-boundary."
            .into(),
    ];
    Ok(out)
}

/// One data set: points, true rescaled scores, and SA's with the true and the estimated density.
struct Sample {
    points: Vec<(f64, f64)>,
    exact: Vec<f64>,
    with_truth: Vec<f64>,
    estimated: Vec<f64>,
}

impl Sample {
    fn new(
        ctx: &Context,
        config: &Config,
        (design, name): (Design, &str),
        n: usize,
        repetition: usize,
    ) -> anyhow::Result<Self> {
        let rng = &mut ctx.rng(&format!("{name}, n = {n}, repetition {repetition}"));
        let points = design.draw(n, rng);
        let (x, p): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let ridge = Ridge::PerSample(config.lambda.0 * (n as f64).powf(-config.lambda.1));
        let kernel = Matern::new(config.nu, 1.0)?;
        let exact = exact_scores(&KernelMatrix::new(kernel, Points::from_slice(&x))?, ridge)?;
        let spectral = |density| {
            let analysis = SpectralAnalysis { density, guard: Guard::None };
            Ok::<_, nystrom::Error>(analysis.scores(&kernel, Points::from_slice(&x), ridge)?.rescaled)
        };
        Ok(Sample {
            exact: exact.scores.iter().map(|l| n as f64 * l).collect(),
            with_truth: spectral(Density::Given(&p))?,
            estimated: spectral(Density::Estimated(KernelDensity::default()))?,
            points,
        })
    }

    /// Median errors as the columns of the table; none if no point lies in the region.
    fn errors(&self, design: Design) -> [Option<f64>; 4] {
        let median = |found: &[f64], region: Region| {
            let of_point = |i: usize| (found[i] / self.exact[i] - 1.0).abs();
            let within = |i: &usize| design.region(self.points[*i]) == Some(region);
            let mut errors: Vec<f64> = (0..self.points.len()).filter(within).map(of_point).collect();
            errors.sort_by(f64::total_cmp);
            (!errors.is_empty()).then(|| quantile(&errors, 0.5))
        };
        let regions = [Region::Interior, Region::Edge];
        let [[a, b], [c, d]] = regions.map(|region| [&self.with_truth, &self.estimated].map(|f| median(f, region)));
        [a, b, c, d]
    }

    fn plot(&self, design: Design, name: &str) -> Plot {
        let n = self.points.len();
        let title = format!("Rescaled scores, {name} design, n = {n}, ν = 3/2");
        let mut plot = Plot::new(
            &format!("{name}-{n}"),
            &title,
            Axis::linear("design point x"),
            Axis::log("rescaled score n·l(x)"),
        );
        let step = n.div_ceil(250);
        let curve = |scores: &[f64]| {
            let shown = |i: &usize| i.is_multiple_of(step) || design.region(self.points[*i]) == Some(Region::Edge);
            (0..n).filter(shown).map(|i| Point::new(self.points[i].0, scores[i])).collect::<Vec<_>>()
        };
        plot.points("true", "exact", curve(&self.exact));
        plot.line("SA, density estimated", "spectral", curve(&self.estimated));
        plot.line("SA, true density", "spectral-true", curve(&self.with_truth));
        plot
    }
}

type Curve = Vec<(f64, (f64, f64))>;

fn error_plot(config: &Config, name: &str, design: Design, curves: &[Curve; 4]) -> Plot {
    let title = format!("Median relative error, {name} design, ν = {}; the edge is {}", config.nu, design.edge());
    let mut plot = Plot::new(
        &format!("error-{name}-{}", config.key),
        &title,
        Axis::log("number of points n"),
        Axis::log("median of |K̃/G − 1|"),
    );
    let series = ["interior, true density", "interior, estimated", "edge, true density", "edge, estimated"];
    let styles = ["spectral-true", "spectral", "spectral-true-edge", "spectral-edge"];
    for ((name, style), curve) in series.iter().zip(styles).zip(curves) {
        let bars = curve.iter().filter(|(_, (mean, _))| mean.is_finite());
        plot.line_and_points(name, style, bars.map(|&(n, (m, e))| Point::with_range(n, m, m - e, m + e)));
    }
    plot
}

fn claims(config: &Config, name: &str, design: Design, curves: &[Curve; 4]) -> Vec<Claim> {
    let what = format!("ν = {}, {name}", config.nu);
    let first = |curve: &Curve| curve[0].1.0;
    let last = |curve: &Curve| curve[curve.len() - 1].1.0;
    let exponent = |curve: &Curve| fitted_exponent(&curve.iter().map(|&(n, (m, _))| (n, m)).collect::<Vec<_>>());
    let mut claims = vec![
        Claim::at_most(
            &format!("{what}: exponent of n in the interior error, true density"),
            "goes to 0",
            exponent(&curves[0]),
            -0.2,
        ),
        Claim::at_most(
            &format!("{what}: interior error at the largest n over that at the smallest, density estimated"),
            "falls",
            last(&curves[1]) / first(&curves[1]),
            1.0,
        ),
        Claim::at_least(
            &format!("{what}: error {} over that of the interior, density estimated, largest n", design.edge()),
            "larger",
            last(&curves[3]) / last(&curves[1]),
            1.0,
        ),
    ];
    if let Design::Uniform = design {
        let close = last(&curves[1]);
        claims.push(Claim::at_most(
            &format!("{what}: interior error at the largest n"),
            "excellent (picture)",
            close,
            0.1,
        ));
    } else {
        let edge = last(&curves[3]) / first(&curves[3]);
        let text =
            format!("{what}: error {} at the largest n over that at the smallest, density estimated", design.edge());
        claims.push(Claim::at_most(&text, "falls", edge, 1.0));
    }
    claims
}
