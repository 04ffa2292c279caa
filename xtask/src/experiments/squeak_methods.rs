//! The six ways to find columns that the SQUEAK papers compare, each on a problem, with its time, kernel values and memory.

use std::time::Instant;

use nystrom::faer::{Mat, MatRef};
use nystrom::kernels::{Gaussian, KernelMatrix, Points};
use nystrom::krr::{DictionaryKrr, ExactKrr};
use nystrom::leverage::{
    AlaouiMahoney, Dictionary, Disqueak, Draw, Ink, RidgeLeverage, Squeak, SqueakParams, exact_scores,
};
use nystrom::linalg_core::Ridge;
use rand::Rng;

use super::counting::Counting;
use crate::experiment::Context;
use crate::memory::peak_bytes;

/// q̄.
pub const COPIES: u32 = 10;
/// ε the methods assume; a risk bound follows: (1 + (γ/μ)/(1 − ε))² = 9 for γ = μ.
pub const EPSILON: f64 = 0.5;
/// Shards of DISQUEAK.
const SHARDS: usize = 8;
/// Repetitions of each timing; the fastest counts.
const REPEATS: usize = 2;

/// How large an n a method is good for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// O(n²) kernel values and O(n²m²) flops.
    Slow,
    /// O(n³) flops, or all columns at once.
    Batch,
    /// One pass.
    Stream,
}

/// A row of the table, and the papers' columns beside it: leading orders as far as recalled, constants and logarithms left out.
pub struct Method {
    pub name: &'static str,
    pub key: &'static str,
    pub time: &'static str,
    pub space: &'static str,
    pub incremental: &'static str,
    pub choose: fn(&Setting<'_>, &mut dyn Rng) -> anyhow::Result<Choice>,
    /// The sizes it is run at.
    pub reach: Reach,
}

pub const METHODS: [Method; 7] = [
    Method {
        name: "exact",
        key: "exact",
        time: "n³",
        space: "n²",
        incremental: "no",
        choose: exact,
        reach: Reach::Batch,
    },
    Method {
        name: "uniform, m = d_mof",
        key: "uniform",
        time: "n d_mof²",
        space: "n d_mof",
        incremental: "no",
        choose: uniform_d_mof,
        reach: Reach::Batch,
    },
    Method {
        name: "uniform, m of SQUEAK",
        key: "uniform-fewer",
        time: "n m²",
        space: "n m",
        incremental: "no",
        choose: uniform,
        reach: Reach::Batch,
    },
    Method {
        name: "Alaoui–Mahoney, p = n/4",
        key: "fast-leverage",
        time: "n p², p = d_eff + tr K/(με)",
        space: "n p",
        incremental: "no",
        choose: alaoui_mahoney,
        reach: Reach::Batch,
    },
    Method {
        name: "INK-Estimate",
        key: "ink",
        time: "(λ_max/γ)² n² d_eff²",
        space: "(λ_max/γ) n d_eff",
        incremental: "yes, keeps all points",
        choose: ink,
        reach: Reach::Slow,
    },
    Method {
        name: "SQUEAK",
        key: "squeak",
        time: "n d_eff³",
        space: "d_eff²",
        incremental: "yes",
        choose: squeak,
        reach: Reach::Stream,
    },
    Method {
        name: "DISQUEAK",
        key: "disqueak",
        time: "log n · d_eff³ on enough machines",
        space: "d_eff² a machine",
        incremental: "yes, by shards",
        choose: disqueak,
        reach: Reach::Stream,
    },
];

/// A problem and what the methods are told about it.
pub struct Setting<'a> {
    pub x: Points<'a, f64>,
    pub y: MatRef<'a, f64>,
    pub kernel: Counting<Gaussian>,
    pub ridge: Ridge<f64>,
    /// d_eff and d_mof, which uniform sampling and INK-Estimate would have to know.
    pub d_eff: f64,
    pub d_mof: f64,
    /// The size of SQUEAK's dictionary.
    pub m: usize,
}

/// Columns with weights; none for the exact method, which keeps everything.
pub struct Choice {
    pub dictionary: Option<Dictionary<f64>>,
    /// Scores, from methods with a formula of their own.
    pub scores: Option<Vec<f64>>,
    /// Points that have to stay at hand until the end.
    pub held: usize,
}

fn chosen(dictionary: Dictionary<f64>, held: usize) -> anyhow::Result<Choice> {
    Ok(Choice { dictionary: Some(dictionary), scores: None, held })
}

fn exact(setting: &Setting<'_>, _rng: &mut dyn Rng) -> anyhow::Result<Choice> {
    let scores = exact_scores(&setting.matrix()?, setting.ridge)?.scores;
    Ok(Choice { dictionary: None, scores: Some(scores), held: setting.n() })
}

fn uniform_d_mof(setting: &Setting<'_>, rng: &mut dyn Rng) -> anyhow::Result<Choice> {
    let m = (setting.d_mof.ceil() as usize).min(setting.n());
    chosen(Dictionary::uniform(setting.n(), m, Draw::WithoutReplacement, rng)?, setting.n())
}

fn uniform(setting: &Setting<'_>, rng: &mut dyn Rng) -> anyhow::Result<Choice> {
    chosen(Dictionary::uniform(setting.n(), setting.m, Draw::WithoutReplacement, rng)?, setting.n())
}

/// Approximate scores from p columns, then as many draws by them as SQUEAK keeps points.
fn alaoui_mahoney(setting: &Setting<'_>, rng: &mut dyn Rng) -> anyhow::Result<Choice> {
    let scores = AlaouiMahoney { columns: setting.n() / 4 }.scores(&setting.matrix()?, setting.ridge, rng)?;
    let dictionary = Dictionary::with_replacement(&scores, setting.m, rng)?;
    Ok(Choice { dictionary: Some(dictionary), scores: Some(scores), held: setting.n() })
}

/// Its p̃_i = τ̃_i/d̃ divide by a d̃ that adds up α·τ̃ of each point at its arrival and ends near 4 d_eff here: with 4q̄·d_eff copies in all, a
/// point gets about q̄·τ of them, as with SQUEAK. (With q̄·d_eff the dictionary starves: poor scores raise d̃, which thins it further.)
fn ink(setting: &Setting<'_>, rng: &mut dyn Rng) -> anyhow::Result<Choice> {
    let copies = 4.0 * f64::from(COPIES) * setting.d_eff;
    let mut ink = Ink::new(&setting.kernel, setting.x.dim(), setting.gamma()?, copies.ceil() as u32, EPSILON)?;
    ink.push(setting.x, rng)?;
    chosen(ink.dictionary()?, setting.n())
}

fn squeak(setting: &Setting<'_>, rng: &mut dyn Rng) -> anyhow::Result<Choice> {
    let mut squeak = Squeak::new(&setting.kernel, setting.x.dim(), setting.gamma()?, SqueakParams::new(COPIES))?;
    squeak.push(setting.x, rng)?;
    let dictionary = squeak.into_dictionary(rng)?;
    chosen(dictionary.by_rows()?, dictionary.len())
}

fn disqueak(setting: &Setting<'_>, rng: &mut dyn Rng) -> anyhow::Result<Choice> {
    let disqueak = Disqueak::new(SqueakParams::new(COPIES), SHARDS);
    let dictionary = disqueak.of_points(&setting.kernel, setting.x, setting.gamma()?, rng)?;
    chosen(dictionary.by_rows()?, dictionary.len())
}

/// One method on one problem.
pub struct Measured {
    pub choose: f64,
    pub fit: f64,
    pub columns: usize,
    pub held: usize,
    /// Kernel values of choosing, and of fitting.
    pub values: [u64; 2],
    /// Most numbers held while choosing, and while fitting.
    pub floats: [f64; 2],
    pub choice: Choice,
}

impl Setting<'_> {
    pub fn n(&self) -> usize {
        self.x.len()
    }

    pub fn gamma(&self) -> anyhow::Result<f64> {
        Ok(self.ridge.absolute(self.n())?)
    }

    pub fn matrix(&self) -> anyhow::Result<KernelMatrix<'_, f64, &Counting<Gaussian>>> {
        Ok(KernelMatrix::new(&self.kernel, self.x)?)
    }

    /// Time, kernel values and memory of choosing columns and of the regression through them.
    pub fn measure(&self, method: &Method, ctx: &Context) -> anyhow::Result<Measured> {
        let mut best: Option<Measured> = None;
        let repeats = if method.reach == Reach::Slow { 1 } else { REPEATS };
        for _ in 0..repeats {
            let rng = &mut ctx.rng(&format!("{}, n = {}", method.name, self.n()));
            self.kernel.take();
            let start = Instant::now();
            let (choice, floats) = peak_bytes(|| (method.choose)(self, rng));
            let (choice, choose) = (choice?, start.elapsed().as_secs_f64());
            let values = self.kernel.take();
            let start = Instant::now();
            let (fitted, more) = peak_bytes(|| self.fit(choice.dictionary.as_ref()));
            fitted?;
            let fit = start.elapsed().as_secs_f64();
            let (choose_best, fit_best) =
                best.as_ref().map_or((choose, fit), |b| (b.choose.min(choose), b.fit.min(fit)));
            best = Some(Measured {
                choose: choose_best,
                fit: fit_best,
                columns: choice.dictionary.as_ref().map_or(self.n(), Dictionary::len),
                held: choice.held,
                values: [values, self.kernel.take()],
                floats: [floats, more].map(|bytes| bytes as f64 / 8.0),
                choice,
            });
        }
        Ok(best.expect("at least one repetition"))
    }

    fn fit(&self, dictionary: Option<&Dictionary<f64>>) -> anyhow::Result<()> {
        let Some(dictionary) = dictionary else {
            ExactKrr::new(&self.kernel, self.ridge).fit(self.x, self.y)?;
            return Ok(());
        };
        let rows = dictionary.indices();
        let centers = Mat::from_fn(rows.len(), self.x.dim(), |t, j| self.x.coordinate(rows[t], j));
        let krr = DictionaryKrr { kernel: &self.kernel, gamma: self.ridge, ridge: self.ridge };
        krr.fit(self.x, self.y, Points::from_rows(centers.as_ref()), dictionary.weights())?;
        Ok(())
    }
}
