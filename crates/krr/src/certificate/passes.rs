//! The certificate of a fit to rows that are read in passes.

use super::dual::{centered, has_constant};
use super::report::Lengths;
use super::{Certificate, CertificateReport, POINTS};
use crate::features::Whitener;
use crate::iterative::same_rows;
use crate::state::{CenterProducts, DrawnResidual, ResidualRows, RowSums, drawn};
use crate::{KrrModel, RowPasses};
use faer::Mat;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Scalar, Streams, validate};
use rand::Rng;

impl Certificate {
    /// As [`certify`](Self::certify), for rows that are read in three passes, which compute
    ///
    /// 1. Cᵀα, from which Lα follows;
    /// 2. tr E and all norms, and draw rows in proportion to E_ii;
    /// 3. Kα at the rows drawn.
    ///
    /// # Cost
    /// (3m + s)n + m² kernel values and nm² + m³/3 flops. Memory: 3m² numbers, s rows, and a tile
    /// of 1024 rows. The bits depend on the rows, their numbers and the order of merges.
    ///
    /// # Departures
    /// Rows are drawn with the probabilities of [`certify`](Self::certify), but by other random
    /// numbers.
    ///
    /// # Randomness
    /// One key.
    ///
    /// # Errors
    /// As [`certify`](Self::certify), and those of the passes; [`Shape`] if rows are missing when
    /// they are read again.
    ///
    /// [`Shape`]: nystrom_linalg_core::Error::Shape
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{Certificate, Closeness, NystromKrr, Problem};
    /// use nystrom_linalg_core::Ridge;
    /// use rand::SeedableRng;
    /// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
    /// let x: Vec<f64> = (0..2000).map(|i| i as f64 / 200.0).collect();
    /// let y = Mat::from_fn(2000, 1, |i, _| x[i].sin() + if i % 2 == 0 { 0.1 } else { -0.1 });
    /// let centers: Vec<f64> = (0..20).map(|j| j as f64 / 2.0).collect();
    /// let mut rows = Problem::from((Points::from_slice(&x), &y)); // or files: any RowSource
    /// let krr = NystromKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-4));
    /// let model = krr.fit((Points::from_slice(&x), &y), Points::from_slice(&centers))?;
    /// let report = Certificate::default().certify_passes(&model, &mut rows, rng)?;
    /// assert_eq!(report.closeness(), Closeness::Close);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn certify_passes<T: Scalar, K: Kernel<T> + Clone, P: RowPasses<T>>(
        &self,
        model: &KrrModel<K, T>,
        rows: &mut P,
        rng: &mut dyn Rng,
    ) -> Result<CertificateReport> {
        self.check_options()?;
        let (n, m, t) = (model.report().n, model.centers().len(), model.intercept().len());
        let (s, streams) = (self.rows, Streams::from_rng(rng));
        // W + δI = RRᵀ
        let whitener = Whitener::new(model.kernel().gram(model.centers()).as_ref(), false)?;
        let sums = rows.pass(CenterProducts::of_residuals(model, None))?;
        validate::same_size(POINTS, n, sums.rows() as usize)?;
        let ((totals, matrix), mu) = (sums.finish()?, model.report().ridge);
        let weight = totals[0];
        let mean = |sum: &f64| if has_constant(model) { sum / weight } else { 0.0 };
        let means: Vec<f64> = totals[1..].iter().map(mean).collect();
        let Ca = centered(&matrix, &means, mu); //                           Cᵀα
        let theta = whitener.solve(Ca); //                                        Lα = Cθ
        let (known, draws) = ((theta, means.clone()), ((s < n).then_some(s), streams));
        let empty = ResidualRows::new(model, whitener, known, draws);
        let (sums, draws) = same_rows(n as u64, rows.pass(empty)?)?.finish()?;
        let (drawn, trace) = (drawn(&draws, t), sums[0]);
        let (at, place) = points_of(&drawn, model.centers().dim());
        let K_alpha = if drawn.is_empty() {
            Mat::zeros(0, t)
        } else {
            let empty = CenterProducts::of_residuals(model, Some(at));
            centered(&same_rows(n as u64, rows.pass(empty)?)?.finish()?.1, &means, mu)
        };
        let target = |j: usize| {
            let of = |(row, &place): (&DrawnResidual<'_>, &usize)| {
                let rho = row.root_weight * (K_alpha[(place, j)] - row.fitted[j]); // (Eα)_i
                [rho, row.gap[j], row.diagonal / trace]
            };
            let rows = drawn.iter().zip(&place).map(of).collect();
            // ‖γ‖ and ‖√w(Lα − f)‖
            let lengths = [1 + 2 * j, 2 + 2 * j].map(|place| sums[place].sqrt());
            (Lengths::of(lengths, means[j], (trace, mu, weight)), rows)
        };
        let entries = ((3 * n + m) * m + K_alpha.nrows() * n) as u64;
        self.report([n, t], [mu, trace], entries, target)
    }
}

/// The rows drawn, each once, d × p; and where each is among them.
fn points_of<T: Scalar>(drawn: &[DrawnResidual<'_>], d: usize) -> (Mat<T>, Vec<usize>) {
    let mut rows: Vec<(u64, &[f64])> = drawn.iter().map(|of| (of.row, of.x)).collect();
    rows.sort_unstable_by_key(|(row, _)| *row);
    rows.dedup_by_key(|(row, _)| *row);
    let place = |of: &DrawnResidual<'_>| rows.partition_point(|(row, _)| *row < of.row);
    let at = Mat::from_fn(d, rows.len(), |k, p| T::lit(rows[p].1[k]));
    (at, drawn.iter().map(place).collect())
}
