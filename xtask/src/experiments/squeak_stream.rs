//! Streams through SQUEAK at several q̄, looked at as they go: what the experiments on its theorems
//! share.

use nystrom::kernels::Gaussian;
use nystrom::leverage::{ExactSpectrum, Squeak, SqueakParams};
use nystrom::rand::Rng;

use super::squeak_problem::{self, GAMMA, SqueakProblem};
use crate::experiment::Context;
use crate::lab::Draw;
use crate::method::{LEVEL_1, LEVEL_2, LEVEL_3, LEVEL_4, LEVEL_6, Method};

pub const EPSILON: f64 = 0.5;
pub const DELTA: f64 = 0.1;
/// The one setting of the grids.
pub const STREAM: &str = "one stream";
/// Copies a point, q̄, from a few to the theorem's.
pub const METHODS: [Method; 5] =
    [LEVEL_1.called("q̄ = 2"), LEVEL_2.called("q̄ = 5"), TEN, LEVEL_4.called("q̄ = 40"), THEOREM];
pub const TEN: Method = LEVEL_3.called("q̄ = 10");
pub const THEOREM: Method = LEVEL_6.called("q̄ of Theorem 1");

/// The stream and the moments at which it is looked at.
pub struct Stream {
    pub problem: SqueakProblem,
    /// Numbers of points, increasing.
    pub times: &'static [usize],
    /// The spectrum of the first t points, for each t.
    pub spectra: Vec<ExactSpectrum<f64>>,
}

impl Stream {
    /// The stream at this scale.
    pub fn new(ctx: &Context) -> anyhow::Result<Self> {
        let times: &[usize] = ctx.pick(
            &[20, 40, 80],
            &[50, 100, 200, 400, 800, 1600],
            &[50, 100, 200, 400, 800, 1600, 3200, 6400],
        );
        let problem = SqueakProblem::new(times[times.len() - 1], &mut ctx.rng("points"));
        let spectra = times.iter().map(|&t| Ok(ExactSpectrum::new(&problem.matrix(t)?)?));
        let spectra = spectra.collect::<anyhow::Result<_>>()?;
        Ok(Stream { problem, times, spectra })
    }

    /// Its length.
    pub fn n(&self) -> usize {
        self.problem.f_star.len()
    }

    /// q̄ of a method.
    pub fn copies(&self, method: Method) -> anyhow::Result<u32> {
        Ok(match METHODS.iter().position(|m| *m == method) {
            Some(i) if i < 4 => [2, 5, 10, 40][i],
            _ => SqueakParams::copies_for(self.n(), EPSILON, DELTA)?,
        })
    }

    /// Every q̄ on this draw of random numbers; `look` sees SQUEAK at every moment, with its number.
    ///
    /// At the theorem's q̄ every point stays, and a stream costs n³; one is enough, as nothing
    /// varies.
    pub fn along(
        &self,
        draw: &mut Draw<'_, &'static str>,
        look: impl Fn(
            &mut Draw<'_, &'static str>,
            Method,
            usize,
            &Squeak<Gaussian, f64>,
            &mut dyn Rng,
        ) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let first = draw.repetition == 0;
        for method in METHODS.into_iter().filter(|m| *m != THEOREM || first) {
            let rng = &mut draw.rng(method.key);
            let params = SqueakParams {
                epsilon: EPSILON,
                max_dictionary: usize::MAX,
                ..SqueakParams::new(self.copies(method)?)
            };
            let mut squeak = Squeak::new(squeak_problem::kernel()?, 2, GAMMA, params)?;
            for (moment, &t) in self.times.iter().enumerate() {
                let seen = squeak.n_seen() as usize;
                squeak.push(self.problem.first(t).slice(seen..t), rng)?;
                look(draw, method, moment, &squeak, rng)?;
            }
        }
        Ok(())
    }

    /// What the reports say of the sizes.
    pub fn scale_note(&self, repetitions: usize) -> String {
        format!(
            "n = {}, {repetitions} streams for each practical q̄, one at the theorem's; sizes are \
             ours",
            self.n()
        )
    }

    /// What the reports say of the theorem's q̄.
    pub fn theorem(&self) -> anyhow::Result<String> {
        Ok(format!(
            "The theorem's q̄ = 39α ln(2n/δ)/ε² is {} here, at ε = {EPSILON}, δ = {DELTA} and α = \
             (1 + 3ε)/(1 − ε). At this q̄ copies are dropped but hardly \
             a point (it stays with probability 1 − (1 − p̃)^q̄): as a guarantee the theorem is \
             real, as compression it is empty at such n.",
            self.copies(THEOREM)?
        ))
    }
}
