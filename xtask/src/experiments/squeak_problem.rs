//! The regression problem of the SQUEAK experiments, points that crowd a square and a few far from
//! everything; and the ways to find columns that the papers compare, each with its time, kernel
//! values and memory.
//!
//! The crowd can be described by few points; each of the others only by itself. So d_eff stays
//! small while the largest score, and with it d_mof = n·max l, is near its limit n/(1 + γ). In this
//! case uniform columns fail and leverage scores pay.

use nystrom::leverage::Ink;

use super::counting::Counting;
use crate::lab::*;
use crate::memory::peak_bytes;

/// Points far from everything.
const ISOLATED: usize = 40;
/// γ = μ: the ridge of the scores and of the regression, absolute. Theorem 1 asks for γ > 1.
pub const GAMMA: f64 = 1.25;
pub const RIDGE: Ridge<f64> = Ridge::Absolute(GAMMA);
/// Variance of the noise.
pub const NOISE: f64 = 0.25;

/// Points (n × 2) in random order, and f*.
pub struct SqueakProblem {
    /// n × 2.
    pub x: Mat<f64>,
    /// f*(x_i).
    pub f_star: Vec<f64>,
}

impl SqueakProblem {
    /// n points.
    pub fn new(n: usize, rng: &mut dyn Rng) -> Self {
        let far = ISOLATED.min(n / 2);
        let mut rows: Vec<[f64; 2]> = (0..n)
            .map(|i| {
                let (u, v): (f64, f64) = (rng.random(), rng.random());
                if i < far { [2.0 + 40.0 * u, 2.0 + 40.0 * v] } else { [u, v] }
            })
            .collect();
        for i in (1..n).rev() {
            rows.swap(i, rng.random_range(0..=i)); // Fisher–Yates
        }
        let f_star = rows.iter().map(|[u, v]| (5.0 * u).sin() + (3.0 * v).cos()).collect();
        SqueakProblem { x: Mat::from_fn(n, 2, |i, j| rows[i][j]), f_star }
    }

    /// f* with noise, n × 1.
    pub fn y(&self, rng: &mut dyn Rng) -> Mat<f64> {
        let noise = random::standard_normal::<f64>(self.f_star.len(), 1, rng);
        Mat::from_fn(self.f_star.len(), 1, |i, _| self.f_star[i] + NOISE.sqrt() * noise[(i, 0)])
    }

    /// The first t points.
    pub fn first(&self, t: usize) -> Points<'_, f64> {
        Points::from_rows(self.x.as_ref().subrows(0, t))
    }

    /// The kernel matrix of the first t points.
    pub fn matrix(&self, t: usize) -> anyhow::Result<KernelMatrix<'_, f64, Gaussian>> {
        Ok(KernelMatrix::new(kernel()?, self.first(t))?)
    }
}

/// exp(−r²/(2·0.3²)).
pub fn kernel() -> anyhow::Result<Gaussian> {
    Ok(Gaussian::new(0.3)?)
}

/// q̄.
pub const COPIES: u32 = 10;
/// ε the methods assume.
pub const EPSILON: f64 = 0.5;
/// Shards of DISQUEAK.
const SHARDS: usize = 8;

pub const CHOOSE: Measure = Measure::time("time to choose", "time to choose columns / s");
pub const FIT: Measure = Measure::time("time to fit", "time to fit / s");
pub const TIME: Measure = Measure::time("time", "time / s");
pub const COLUMNS: Measure = Measure::named("columns");
pub const HELD: Measure = Measure::named("points held");
pub const VALUES: Measure = Measure::named("kernel values");
pub const VALUES_TO_CHOOSE: Measure = Measure::named("kernel values to choose");
pub const FLOATS: Measure = Measure::new("floats", "most numbers held at one time").log();

/// How large an n a way is good for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// O(n²) kernel values and O(n²m²) flops.
    Slow,
    /// O(n³) flops, or all columns at once.
    Batch,
    /// One pass.
    Stream,
}

use Reach::{Batch, Slow, Stream};

/// A row of the papers' table with its orders, constants and logarithms left out.
pub struct Way {
    pub method: Method,
    pub reach: Reach,
    /// Time, space, and whether it is incremental.
    pub printed: [&'static str; 3],
}

pub const ALL_COLUMNS: Method = EXACT.called("exact");
pub const D_MOF_COLUMNS: Method = UNIFORM.called("uniform, m = d_mof");
pub const AS_MANY: Method = UNIFORM_FEWER.called("uniform, m of SQUEAK");
const QUARTER: Method = FAST_LEVERAGE.called("Alaoui–Mahoney, p = n/4");
const BY_SHARDS: [&str; 3] =
    ["log n · d_eff³ on enough machines", "d_eff² a machine", "yes, by shards"];
const INK_S: [&str; 3] = ["(λ_max/γ)² n² d_eff²", "(λ_max/γ) n d_eff", "yes, keeps all points"];

/// SQUEAK first: others take as many columns as it did.
pub const WAYS: [Way; 7] = [
    Way { method: SQUEAK, reach: Stream, printed: ["n d_eff³", "d_eff²", "yes"] },
    Way { method: DISQUEAK, reach: Stream, printed: BY_SHARDS },
    Way { method: ALL_COLUMNS, reach: Batch, printed: ["n³", "n²", "no"] },
    Way { method: D_MOF_COLUMNS, reach: Batch, printed: ["n d_mof²", "n d_mof", "no"] },
    Way { method: AS_MANY, reach: Batch, printed: ["n m²", "n m", "no"] },
    Way { method: QUARTER, reach: Batch, printed: ["n p², p = d_eff + tr K/(με)", "n p", "no"] },
    Way { method: INK, reach: Slow, printed: INK_S },
];

/// A problem and what the methods are told about it.
pub struct Task<'a> {
    pub x: Points<'a, f64>,
    pub y: MatRef<'a, f64>,
    kernel: Counting<Gaussian>,
    /// d_eff and d_mof, which uniform sampling and INK-Estimate would have to know; NaN if nobody
    /// asks.
    pub d_eff: f64,
    pub d_mof: f64,
    /// The size of SQUEAK's dictionary, once it has run.
    pub m: usize,
}

/// Columns with weights, none for the exact method, which keeps everything; and scores from methods
/// with a formula of their own.
pub type Choice = (Option<Dictionary<f64>>, Option<Vec<f64>>);

impl<'a> Task<'a> {
    /// A problem; `told` says whether somebody asks for d_eff and d_mof, which cost n³.
    pub fn new(x: Points<'a, f64>, y: &'a Mat<f64>, kernel: Gaussian, told: bool) -> Result<Self> {
        let (mut d_eff, mut d_mof) = (f64::NAN, f64::NAN);
        if told {
            let exact = exact_scores(&KernelMatrix::new(kernel, x)?, RIDGE)?;
            (d_eff, d_mof) = (exact.d_eff(), exact.d_mof());
        }
        Ok(Task { x, y: y.as_ref(), kernel: Counting::new(kernel), d_eff, d_mof, m: 0 })
    }

    pub fn matrix(&self) -> anyhow::Result<KernelMatrix<'_, f64, &Counting<Gaussian>>> {
        Ok(KernelMatrix::new(&self.kernel, self.x)?)
    }

    /// The columns of a method.
    fn choose(&self, method: Method, rng: &mut dyn Rng) -> anyhow::Result<Choice> {
        let (n, dim, params) = (self.x.len(), self.x.dim(), SqueakParams::new(COPIES));
        let dictionary = if method == SQUEAK {
            let mut squeak = Squeak::new(&self.kernel, dim, GAMMA, params)?;
            squeak.push(self.x, rng)?;
            squeak.into_dictionary(rng)?.by_rows()?
        } else if method == DISQUEAK {
            let disqueak = Disqueak::new(params, SHARDS);
            disqueak.of_points(&self.kernel, self.x, GAMMA, rng)?.by_rows()?
        } else if method == ALL_COLUMNS {
            return Ok((None, Some(exact_scores(&self.matrix()?, RIDGE)?.scores)));
        } else if method == QUARTER {
            // approximate scores from p columns, then as many draws by them as SQUEAK keeps points
            let fast = AlaouiMahoney { columns: n / 4 };
            let scores = fast.scores(&self.matrix()?, RIDGE, rng)?;
            return Ok((Some(Dictionary::with_replacement(&scores, self.m, rng)?), Some(scores)));
        } else if method == INK {
            // Its p̃_i = τ̃_i/d̃ divide by a d̃ that adds up α·τ̃ of each point at its arrival and ends
            // near 4 d_eff here. With 4q̄·d_eff copies in all, a point gets about q̄·τ of them, as
            // with SQUEAK. (With q̄·d_eff the dictionary shrinks away: poor scores raise d̃, which
            // thins it further.)
            let copies = (4.0 * f64::from(COPIES) * self.d_eff).ceil() as u32;
            let mut ink = Ink::new(&self.kernel, dim, GAMMA, copies, EPSILON)?;
            ink.push(self.x, rng)?;
            ink.dictionary()?
        } else {
            let m = if method == AS_MANY { self.m } else { self.d_mof.ceil() as usize };
            Dictionary::uniform(n, m.min(n), Draw::WithoutReplacement, rng)?
        };
        Ok((Some(dictionary), None))
    }

    /// Time, kernel values and memory of choosing columns and of the regression through them.
    pub fn measure(&self, method: Method, trial: &mut Trial<'_>) -> anyhow::Result<Choice> {
        let (n, rng) = (self.x.len(), &mut trial.rng(method.key));
        self.kernel.take();
        let ((choice, bytes), choose) = timed(|| peak_bytes(|| self.choose(method, rng)));
        let (choice, values) = (choice?, self.kernel.take());
        let ((fitted, more), fit) = timed(|| peak_bytes(|| self.fit(choice.0.as_ref())));
        fitted?;
        let columns = choice.0.as_ref().map_or(n, Dictionary::len);
        // the points that have to stay at hand until the end
        let held = if [SQUEAK, DISQUEAK].contains(&method) { columns } else { n };
        let values = [
            (CHOOSE, choose),
            (FIT, fit),
            (TIME, choose + fit),
            (COLUMNS, columns as f64),
            (HELD, held as f64),
            (VALUES_TO_CHOOSE, values as f64),
            (VALUES, (values + self.kernel.take()) as f64),
            (FLOATS, bytes.max(more) as f64 / 8.0),
        ];
        trial.put_all(trial.size, method, values);
        Ok(choice)
    }

    fn fit(&self, dictionary: Option<&Dictionary<f64>>) -> anyhow::Result<()> {
        let Some(dictionary) = dictionary else {
            let _ = ExactKrr::new(&self.kernel, RIDGE).fit((self.x, self.y))?;
            return Ok(());
        };
        let rows = dictionary.indices();
        let centers = Mat::from_fn(rows.len(), self.x.dim(), |t, j| self.x.coordinate(rows[t], j));
        let krr = DictionaryKrr { kernel: &self.kernel, gamma: RIDGE, ridge: RIDGE };
        let centers = Points::from_rows(centers.as_ref());
        let _ = krr.fit((self.x, self.y), (centers, dictionary.weights()))?;
        Ok(())
    }
}
