//! The ways to find columns that the SQUEAK papers compare, each on a problem, with its time,
//! kernel values and memory.

use std::time::Instant;

use nystrom::leverage::{Dictionary, Draw as With, Ink};
use nystrom::prelude::*;

use super::counting::Counting;
use crate::lab::{Draw, Measure};
use crate::memory::peak_bytes;
use crate::method::{self, DISQUEAK, INK, Method, SQUEAK};

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

pub const EXACT: Method = method::EXACT.called("exact");
pub const D_MOF_COLUMNS: Method = method::UNIFORM.called("uniform, m = d_mof");
pub const AS_MANY: Method = method::UNIFORM_FEWER.called("uniform, m of SQUEAK");
const QUARTER: Method = method::FAST_LEVERAGE.called("Alaoui–Mahoney, p = n/4");
const BY_SHARDS: [&str; 3] =
    ["log n · d_eff³ on enough machines", "d_eff² a machine", "yes, by shards"];
const INK_S: [&str; 3] = ["(λ_max/γ)² n² d_eff²", "(λ_max/γ) n d_eff", "yes, keeps all points"];

/// SQUEAK first: others take as many columns as it did.
pub const WAYS: [Way; 7] = [
    Way { method: SQUEAK, reach: Stream, printed: ["n d_eff³", "d_eff²", "yes"] },
    Way { method: DISQUEAK, reach: Stream, printed: BY_SHARDS },
    Way { method: EXACT, reach: Batch, printed: ["n³", "n²", "no"] },
    Way { method: D_MOF_COLUMNS, reach: Batch, printed: ["n d_mof²", "n d_mof", "no"] },
    Way { method: AS_MANY, reach: Batch, printed: ["n m²", "n m", "no"] },
    Way { method: QUARTER, reach: Batch, printed: ["n p², p = d_eff + tr K/(με)", "n p", "no"] },
    Way { method: INK, reach: Slow, printed: INK_S },
];

/// A problem and what the methods are told about it.
pub struct Problem<'a> {
    pub x: Points<'a, f64>,
    pub y: MatRef<'a, f64>,
    pub kernel: Counting<Gaussian>,
    pub ridge: Ridge<f64>,
    /// d_eff and d_mof, which uniform sampling and INK-Estimate would have to know; NaN if nobody
    /// asks.
    pub d_eff: f64,
    pub d_mof: f64,
    /// The size of SQUEAK's dictionary, once it has run.
    pub m: usize,
}

/// Columns with weights; none for the exact method, which keeps everything.
#[derive(Default)]
pub struct Choice {
    pub dictionary: Option<Dictionary<f64>>,
    /// Scores, from methods with a formula of their own.
    pub scores: Option<Vec<f64>>,
}

impl<'a> Problem<'a> {
    /// A problem; `told` says whether somebody asks for d_eff and d_mof, which cost n³.
    pub fn new(
        x: Points<'a, f64>,
        y: &'a Mat<f64>,
        kernel: Gaussian,
        ridge: Ridge<f64>,
        told: bool,
    ) -> anyhow::Result<Self> {
        let (mut d_eff, mut d_mof) = (f64::NAN, f64::NAN);
        if told {
            let exact = exact_scores(&KernelMatrix::new(kernel, x)?, ridge)?;
            (d_eff, d_mof) = (exact.d_eff(), exact.d_mof());
        }
        Ok(Problem { x, y: y.as_ref(), kernel: Counting::new(kernel), ridge, d_eff, d_mof, m: 0 })
    }

    pub fn n(&self) -> usize {
        self.x.len()
    }

    pub fn matrix(&self) -> anyhow::Result<KernelMatrix<'_, f64, &Counting<Gaussian>>> {
        Ok(KernelMatrix::new(&self.kernel, self.x)?)
    }

    /// The columns of a method.
    fn choose(&self, method: Method, rng: &mut dyn Rng) -> anyhow::Result<Choice> {
        let (n, dim, params) = (self.n(), self.x.dim(), SqueakParams::new(COPIES));
        let gamma = self.ridge.absolute(n)?;
        let mut choice = Choice::default();
        if method == SQUEAK {
            let mut squeak = Squeak::new(&self.kernel, dim, gamma, params)?;
            squeak.push(self.x, rng)?;
            choice.dictionary = Some(squeak.into_dictionary(rng)?.by_rows()?);
        } else if method == DISQUEAK {
            let kept = Disqueak::new(params, SHARDS).of_points(&self.kernel, self.x, gamma, rng)?;
            choice.dictionary = Some(kept.by_rows()?);
        } else if method == EXACT {
            choice.scores = Some(exact_scores(&self.matrix()?, self.ridge)?.scores);
        } else if method == QUARTER {
            // approximate scores from p columns, then as many draws by them as SQUEAK keeps points
            let fast = AlaouiMahoney { columns: n / 4 };
            let scores = fast.scores(&self.matrix()?, self.ridge, rng)?;
            choice.dictionary = Some(Dictionary::with_replacement(&scores, self.m, rng)?);
            choice.scores = Some(scores);
        } else if method == INK {
            // Its p̃_i = τ̃_i/d̃ divide by a d̃ that adds up α·τ̃ of each point at its arrival and ends
            // near 4 d_eff here. With 4q̄·d_eff copies in all, a point gets about q̄·τ of them, as
            // with SQUEAK. (With q̄·d_eff the dictionary shrinks away: poor scores raise d̃, which
            // thins it further.)
            let copies = (4.0 * f64::from(COPIES) * self.d_eff).ceil() as u32;
            let mut ink = Ink::new(&self.kernel, dim, gamma, copies, EPSILON)?;
            ink.push(self.x, rng)?;
            choice.dictionary = Some(ink.dictionary()?);
        } else {
            let m = if method == AS_MANY { self.m } else { self.d_mof.ceil() as usize };
            let dictionary = Dictionary::uniform(n, m.min(n), With::WithoutReplacement, rng)?;
            choice.dictionary = Some(dictionary);
        }
        Ok(choice)
    }

    /// Time, kernel values and memory of choosing columns and of the regression through them.
    pub fn measure(&self, method: Method, draw: &mut Draw<'_>) -> anyhow::Result<Choice> {
        let rng = &mut draw.rng(method.key);
        self.kernel.take();
        let start = Instant::now();
        let (choice, bytes) = peak_bytes(|| self.choose(method, rng));
        let (choice, choose) = (choice?, start.elapsed().as_secs_f64());
        let values = self.kernel.take();
        let start = Instant::now();
        let (fitted, more) = peak_bytes(|| self.fit(choice.dictionary.as_ref()));
        fitted?;
        let fit = start.elapsed().as_secs_f64();
        let columns = choice.dictionary.as_ref().map_or(self.n(), Dictionary::len);
        // the points that have to stay at hand until the end
        let held = if [SQUEAK, DISQUEAK].contains(&method) { columns } else { self.n() };
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
        draw.put_all(draw.size, method, values);
        Ok(choice)
    }

    fn fit(&self, dictionary: Option<&Dictionary<f64>>) -> anyhow::Result<()> {
        let Some(dictionary) = dictionary else {
            drop(ExactKrr::new(&self.kernel, self.ridge).fit((self.x, self.y))?);
            return Ok(());
        };
        let rows = dictionary.indices();
        let centers = Mat::from_fn(rows.len(), self.x.dim(), |t, j| self.x.coordinate(rows[t], j));
        let krr = DictionaryKrr { kernel: &self.kernel, gamma: self.ridge, ridge: self.ridge };
        let centers = Points::from_rows(centers.as_ref());
        drop(krr.fit((self.x, self.y), (centers, dictionary.weights()))?);
        Ok(())
    }
}
