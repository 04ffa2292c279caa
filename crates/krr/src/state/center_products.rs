//! Products with the kernel matrix, as sums over rows: those of Falkon and KRILL, and of K with the
//! residuals of a model.

use super::PassInput;
use super::kernel_products::{Buffers, by_rows, entries, fingerprint, values};
use super::tiled::{TileTerm, Tiled};
use crate::algebra::{embed, empty_embedding};
use crate::data::TILE_ROWS;
use crate::{KrrModel, Problem};
use faer::{Accum, Mat};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, Streams, ops, validate};

/// Rows that one thread takes at once.
const CHUNK: usize = 64;

/// The sums of a pass of [`Falkon`](crate::Falkon) or [`Krill`](crate::Krill), by its
/// [`PassInput`]. D is the diagonal matrix of sample weights.
///
/// | input | sum |
/// |---|---|
/// | nothing | K_nmᵀD\[y 1\], m × (t + 1): the right-hand side |
/// | u, m × c | K_nmᵀDK_nm u, m × c: an iteration |
/// | a key | (Ψ√D K_nm)ᵀ, m × 2m: KRILL's embedding |
///
/// [`Falkon::fit_passes`](crate::Falkon::fit_passes) makes and reads them; a program that runs
/// passes needs only [`RowSums`](crate::RowSums). Another process makes them from their
/// [`PassInput`]. Memory: the sum and 64·m numbers for each thread; for an embedding 1024·m
/// numbers.
///
/// In the first and the third pass of a [`Certificate`](crate::Certificate) they are Kᵀ\[α w\] at p
/// points, p × (t + 1), α = w(y − f)/μ for a model f. These points are the model's centres first,
/// and then the rows drawn.
///
/// The columns of Ψ for a tile follow from the key and the number of its first row. So sums must
/// begin [at the number of their first row](crate::RowSums::empty_at): otherwise repeated rows
/// could have equal signs.
pub type CenterProducts<K, T> = Tiled<CenterProduct<K, T>, T>;

/// Marks the fingerprint of sums with residuals.
const OF_RESIDUALS: u64 = 7;

/// The term of a tile in [`CenterProducts`]: Σ w and Σ w y (for a model f: Σ w(y − f)), a matrix.
#[derive(Debug, Clone)]
pub struct CenterProduct<K, T> {
    kernel: K,
    /// d × m.
    centers: Mat<T>,
    targets: usize,
    input: PassInput,
    residuals: Option<Residuals<K, T>>,
}

/// The model f whose residuals take the place of y.
#[derive(Debug, Clone)]
struct Residuals<K, T> {
    model: KrrModel<K, T>,
    theta: Mat<f64>,
    /// Whether the products are not at its centres.
    elsewhere: bool,
}

impl<T: Scalar, K: Kernel<T> + Clone> CenterProducts<K, T> {
    /// Over no rows, for t targets.
    ///
    /// # Errors
    /// Those of the kernel for the centres; [`Empty`](nystrom_linalg_core::Error::Empty) without
    /// centres or targets, [`Shape`](nystrom_linalg_core::Error::Shape) unless u has a row for each
    /// centre.
    ///
    /// [`PassInput`] has an example.
    pub fn new(
        kernel: &K,
        centers: Points<'_, T>,
        targets: usize,
        input: PassInput,
    ) -> Result<Self> {
        validate::not_empty("centres (m)", centers.len())?;
        validate::not_empty("targets", targets)?;
        centers.check_dense()?;
        kernel.check_points(centers)?;
        if let PassInput::Along(u) = &input {
            validate::same_size("rows of u against centres", centers.len(), u.nrows())?;
        }
        let hash = fingerprint(kernel, centers, targets);
        let hash = match &input {
            PassInput::Nothing => hash,
            PassInput::Along(u) => hash.numbers(entries(u.as_ref())),
            PassInput::Embedded(key) => hash.integer(*key),
        };
        let (kernel, sizes) = (kernel.clone(), [centers.dim(), targets]);
        let centers = centers.as_cols().to_owned();
        let term = CenterProduct { kernel, centers, targets, input, residuals: None };
        Ok(Tiled::over_no_rows(term, sizes, hash.value()))
    }

    /// With the residuals of a model, at these points (d × p), or at its centres.
    pub(crate) fn of_residuals(model: &KrrModel<K, T>, at: Option<Mat<T>>) -> Self {
        let theta = ops::widened(model.coefficients(), &mut Mat::new()).to_owned();
        let (kernel, targets, elsewhere) = (model.kernel().clone(), theta.ncols(), at.is_some());
        let centers = at.unwrap_or_else(|| model.centers().as_cols().to_owned());
        let hash = fingerprint(&kernel, Points::from_cols(centers.as_ref()), targets);
        let hash = hash.numbers(entries(theta.as_ref())).integer(OF_RESIDUALS).value();
        let residuals = Some(Residuals { model: model.clone(), theta, elsewhere });
        let (input, sizes) = (PassInput::Nothing, [centers.nrows(), targets]);
        let term = CenterProduct { kernel, centers, targets, input, residuals };
        Tiled::over_no_rows(term, sizes, hash)
    }
}

impl<T: Scalar, K: Kernel<T>> CenterProduct<K, T> {
    fn centers(&self) -> Points<'_, T> {
        Points::from_cols(self.centers.as_ref())
    }

    /// For a few rows, on this thread: what their kernel values are multiplied by, and the product.
    fn of(&self, rows: Problem<'_, T>, buffer: &mut Mat<T>) -> [Mat<f64>; 2] {
        let (n, t, mut wide) = (rows.x.len(), self.targets, Mat::new());
        let (kernel, w) = (&self.kernel, |i: usize| rows.weight(i));
        let of = self.residuals.as_ref();
        let from = of.map_or(self.centers(), |of| of.model.centers());
        let k = values(kernel, from, rows.x, buffer, &mut wide); //              m × rows
        let right = if let PassInput::Along(u) = &self.input {
            let mut f = Mat::zeros(n, u.ncols());
            ops::matmul_here(f.as_mut(), Accum::Replace, k.transpose(), u.as_ref(), 1.0);
            Mat::from_fn(n, u.ncols(), |i, j| w(i) * f[(i, j)])
        } else {
            let b = |j: usize| of.map_or(0.0, |of| of.model.intercept()[j].f64());
            let mut f = Mat::from_fn(n, t, |_, j| b(j));
            if let Some(Residuals { theta, .. }) = of {
                ops::matmul_here(f.as_mut(), Accum::Add, k.transpose(), theta.as_ref(), 1.0);
            }
            let residual = |i: usize, j: usize| rows.y[(i, j)].f64() - f[(i, j)];
            Mat::from_fn(n, t + 1, |i, j| w(i) * if j < t { residual(i, j) } else { 1.0 })
        };
        let mu = of.map_or(1.0, |of| of.model.report().ridge);
        let scaled = |i: usize, j: usize| right[(i, j)] / if j < t { mu } else { 1.0 };
        let scaled = Mat::from_fn(n, right.ncols(), scaled);
        let k = match of {
            Some(Residuals { elsewhere: true, .. }) => {
                values(kernel, self.centers(), rows.x, buffer, &mut wide)
            }
            _ => k,
        };
        let mut out = Mat::zeros(k.nrows(), right.ncols());
        ops::matmul_here(out.as_mut(), Accum::Replace, k, scaled.as_ref(), 1.0);
        [right, out]
    }
}

impl<T: Scalar, K: Kernel<T>> TileTerm<T> for CenterProduct<K, T> {
    const KIND: u8 = 3;
    const MISMATCH: &'static str = "another vector, key or model, another kernel or other centres";
    type Sums = (Vec<f64>, Mat<f64>);
    type Scratch = Buffers<T>;

    fn input(&self) -> &PassInput {
        &self.input
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.kernel
    }

    fn zeros(&self) -> Self::Sums {
        let m = self.centers.ncols();
        let matrix = match &self.input {
            PassInput::Nothing => Mat::zeros(m, self.targets + 1),
            PassInput::Along(u) => Mat::zeros(m, u.ncols()),
            PassInput::Embedded(_) => empty_embedding(m),
        };
        (vec![0.0; 1 + self.targets], matrix)
    }

    fn add(
        &self,
        (totals, out): &mut Self::Sums,
        tile: Problem<'_, T>,
        first: u64,
        buffers: &mut Buffers<T>,
    ) -> Result<()> {
        let m = self.centers.ncols();
        if let PassInput::Embedded(key) = self.input {
            buffers.lend((m, TILE_ROWS), |buffer| {
                let mut wide = Mat::new();
                // m × rows
                let Kt = values(&self.kernel, self.centers(), tile.x, buffer, &mut wide);
                embed(out.as_mut(), Kt, tile, &mut Streams::from_key(key).stream(first));
            });
            return Ok(());
        }
        let height = self.residuals.as_ref().map_or(m, |of| m.max(of.theta.nrows()));
        let parts = by_rows(tile, (height, CHUNK), buffers, |rows, buffer| self.of(rows, buffer));
        for [right, part] in parts {
            *out += part;
            if self.residuals.is_some() {
                let sum = |j: usize| right.col(j).iter().sum::<f64>();
                totals[0] += sum(self.targets);
                (0..self.targets).for_each(|j| totals[1 + j] += sum(j));
            }
        }
        if self.residuals.is_none() {
            let w = |i: usize| tile.weight(i);
            totals[0] += (0..tile.x.len()).map(w).sum::<f64>();
            for (j, sum) in totals[1..].iter_mut().enumerate() {
                *sum += (0..tile.x.len()).map(|i| w(i) * tile.y[(i, j)].f64()).sum::<f64>();
            }
        }
        Ok(())
    }
}
