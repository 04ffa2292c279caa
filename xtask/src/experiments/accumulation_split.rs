//! Regression on a real data set as in Figures 3, 4 and 5 of Chen & Yang 2021 (accumulations): splits, settings and sketches.

use nystrom::faer::Mat;
use nystrom::kernels::{KernelMatrix, Matern32, Points};
use nystrom::leverage::{Bless, Projector};
use nystrom::linalg_core::{Ridge, random};
use nystrom::sketch::{Accumulation, Dictionary, GaussianSketch, SketchDistribution, Subsampling, VerySparse};
use nystrom_data::Dataset;
use rand::Rng;

use super::accumulation_compared::Method;

/// m of the accumulation.
const SUMMANDS: usize = 4;
/// Share of the rows held out.
const TEST_SHARE: f64 = 0.2;
/// The methods of the figures.
pub const METHODS: [Method; 4] = [
    ("Gaussian sketch", "gaussian-sketch"),
    ("very sparse (VSRP)", "very-sparse"),
    ("Nyström, BLESS", "bless"),
    ("accumulation, m = 4", "accumulated"),
];
pub const GAUSSIAN: usize = 0;
pub const VERY_SPARSE: usize = 1;
pub const BLESS: usize = 2;
pub const ACCUMULATION: usize = 3;

/// What the experiments say about their settings.
pub const CHOICES: &str = "Features scaled to variance 1; 20 % of the rows held out at random, n of the others drawn for the fit. Matérn kernel with ν = 3/2 and ℓ = 1 (the \
    paper leaves ℓ open), λ = 0.9·n^(−(3+p)/(3+2p)) and d = ⌊1.5·n^(p/(3+2p))⌋ columns for p features. Nyström's rows are drawn in proportion to scores \
    against the last dictionary on BLESS's path that has at most ⌊3·n^(p/(3+2p))⌋ rows, with unit weights, for they are fewer than d_eff; these scores are \
    part of its time. Rows of the accumulation are drawn uniformly. The target is centred. Times are medians, of the sketch and the fit, on all threads.";

/// One data set and what is run on it.
pub struct Case<'a> {
    /// Name in titles.
    pub label: &'a str,
    /// Name in file names.
    pub id: &'a str,
    pub data: &'a Dataset,
    /// n and repetitions.
    pub sizes: &'a [(usize, usize)],
}

/// λ and d at one n.
pub struct Setting {
    /// Columns of the sketch.
    pub d: usize,
    pub lambda: f64,
    /// Most rows of BLESS's dictionary.
    bless_size: usize,
}

/// A split of the data: n rows to fit, the held-out ones to test.
pub struct Split {
    x: Mat<f64>,
    pub y: Mat<f64>,
    x_test: Mat<f64>,
    pub y_test: Mat<f64>,
}

impl Setting {
    /// For n points with p features.
    pub fn new(n: usize, p: usize) -> Self {
        let power = |numerator: f64| (n as f64).powf(numerator / (3.0 + 2.0 * p as f64));
        let p = p as f64;
        Setting { d: (1.5 * power(p)) as usize, lambda: 0.9 / power(3.0 + p), bless_size: (3.0 * power(p)) as usize }
    }

    pub fn ridge(&self) -> Ridge<f64> {
        Ridge::PerSample(self.lambda)
    }

    /// # Errors
    /// None: ℓ = 1.
    pub fn kernel(&self) -> anyhow::Result<Matern32> {
        Ok(Matern32::new(1.0)?)
    }

    /// The law of a method's sketch; for Nyström the scores are computed here.
    ///
    /// # Errors
    /// Those of the scores.
    pub fn law(
        &self,
        method: usize,
        x: Points<'_, f64>,
        rng: &mut dyn Rng,
    ) -> anyhow::Result<Box<dyn SketchDistribution<f64>>> {
        Ok(match method {
            GAUSSIAN => Box::new(GaussianSketch),
            VERY_SPARSE => Box::new(VerySparse::default()),
            BLESS => Box::new(Subsampling::proportional(self.bless_scores(x, rng)?)),
            _ => Box::new(Accumulation::uniform(SUMMANDS)),
        })
    }

    /// Scores of all rows against the last dictionary on BLESS's path that is small enough, its weights set to 1.
    fn bless_scores(&self, x: Points<'_, f64>, rng: &mut dyn Rng) -> anyhow::Result<Vec<f64>> {
        let k = KernelMatrix::new(self.kernel()?, x)?;
        let path = Bless { max_size: self.bless_size, ..Bless::default() }.path(&k, self.ridge(), rng)?;
        let last = path.levels.last().filter(|level| !level.dictionary.is_empty());
        let Some(level) = last else { return Ok(vec![1.0; x.len()]) };
        let rows = level.dictionary.indices().to_vec();
        let unit = Dictionary::new(x.len(), rows.clone(), vec![1.0; rows.len()])?;
        Ok(Projector::new(&k, &unit, self.ridge())?.scores(&k, (0..x.len()).into())?)
    }
}

impl Split {
    /// n rows to fit and a fifth of all to test, disjoint; `x` are the features of all rows, scaled.
    ///
    /// # Errors
    /// None while there are rows.
    pub fn new(data: &Dataset, x: &Mat<f64>, n: usize, rng: &mut dyn Rng) -> anyhow::Result<Self> {
        let rows = x.nrows();
        let test = (TEST_SHARE * rows as f64) as usize;
        let order = random::uniform_subset(rows, (test + n).min(rows), rng)?;
        let mean = data.y.iter().sum::<f64>() / rows as f64;
        let features = |rows: &[usize]| Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)]);
        let target = |rows: &[usize]| Mat::from_fn(rows.len(), 1, |i, _| data.y[rows[i]] - mean);
        let (held_out, fitted) = order.split_at(test);
        Ok(Split { x: features(fitted), y: target(fitted), x_test: features(held_out), y_test: target(held_out) })
    }

    /// The points to fit.
    pub fn points(&self) -> Points<'_, f64> {
        Points::from_rows(self.x.as_ref())
    }

    /// The points to test at.
    pub fn test_points(&self) -> Points<'_, f64> {
        Points::from_rows(self.x_test.as_ref())
    }
}

/// The geometric mean over n of a ratio.
pub fn mean_ratio(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = ratios.len() as f64;
    (ratios.map(f64::ln).sum::<f64>() / count).exp()
}
