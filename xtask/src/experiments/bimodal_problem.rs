//! The bimodal design of Chen & Yang 2021: a cube that holds nearly all points, and a small
//! dense-edged cluster beside it.
//!
//! With probability n/(n + n^γ) a point is uniform on [0, 1]^d; otherwise its coordinates are
//! independent on [2, 2.5] with density 4(5 − 2t). So n^γ points or so, of n, lie where uniform
//! landmarks hardly come. The paper prints the second density as ∏(5 − 2x_j), which integrates to
//! 4^{−d}; it is normalised here.
//!
//! The targets are built from g(t) = 1.6·|(t − 0.4)(t − 0.6)| − t(t − 1)(t − 2) − 0.5; the noise is
//! N(0, 1/4). In the SA paper both are illegible; they are those of the same authors' paper on
//! accumulations of projections (2021), which has this very design.

use nystrom::linalg_core::random;
use nystrom::prelude::*;

/// Variance of the noise.
pub const NOISE: f64 = 0.25;

/// The distribution of the points.
#[derive(Debug, Clone, Copy)]
pub struct BimodalDesign {
    /// n.
    pub n: usize,
    /// d.
    pub dim: usize,
    /// γ: of n points about n^γ are in the small cluster.
    pub gamma: f64,
}

/// Points of the design, d × n, and their true density.
pub struct BimodalPoints {
    x: Mat<f64>,
    /// p(x_i).
    pub density: Vec<f64>,
}

impl BimodalDesign {
    /// n points.
    ///
    /// # Randomness
    /// For every point one uniform for its cluster and d for its coordinates.
    pub fn draw(&self, rng: &mut dyn Rng) -> BimodalPoints {
        let cluster = self.cluster_share();
        let mut x = Mat::zeros(self.dim, self.n);
        let mut density = Vec::with_capacity(self.n);
        for i in 0..self.n {
            let in_cluster = rng.random::<f64>() < cluster;
            let mut p = if in_cluster { cluster } else { 1.0 - cluster };
            for k in 0..self.dim {
                // in (0, 1]: the density is positive at every point drawn
                let u = 1.0 - rng.random::<f64>();
                x[(k, i)] = if in_cluster { 2.5 - 0.5 * u.sqrt() } else { u };
                p *= if in_cluster { 4.0 * u.sqrt() } else { 1.0 }; // 4(5 − 2t) = 4√u
            }
            density.push(p);
        }
        BimodalPoints { x, density }
    }

    /// n^γ/(n + n^γ).
    pub fn cluster_share(&self) -> f64 {
        let n = self.n as f64;
        n.powf(self.gamma) / (n + n.powf(self.gamma))
    }
}

impl BimodalPoints {
    /// The points.
    pub fn points(&self) -> Points<'_, f64> {
        Points::from_cols(self.x.as_ref())
    }

    /// f*(x) = g(‖x‖/d) at the points, n × 1.
    pub fn radial_truth(&self) -> Mat<f64> {
        let d = self.x.nrows() as f64;
        Mat::from_fn(self.x.ncols(), 1, |i, _| g(self.x.col(i).norm_l2() / d))
    }

    /// f*(x) = g(x_1) at the points, n × 1.
    pub fn first_coordinate_truth(&self) -> Mat<f64> {
        Mat::from_fn(self.x.ncols(), 1, |i, _| g(self.x[(0, i)]))
    }
}

/// f* with noise added.
///
/// # Randomness
/// One normal number per value.
pub fn observe(f_star: &Mat<f64>, rng: &mut dyn Rng) -> Mat<f64> {
    f_star
        + nystrom::faer::Scale(NOISE.sqrt())
            * random::standard_normal::<f64>(f_star.nrows(), f_star.ncols(), rng)
}

fn g(t: f64) -> f64 {
    1.6 * ((t - 0.4) * (t - 0.6)).abs() - t * (t - 1.0) * (t - 2.0) - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// The share of the cluster and E[x | cluster] = 2 + 1/6 within five standard errors (false
    /// alarm below 1e-6 each).
    #[test]
    fn the_design_has_the_law_it_states() {
        let design = BimodalDesign { n: 20_000, dim: 2, gamma: 0.8 };
        let drawn = design.draw(&mut rand_pcg::Pcg64::seed_from_u64(1));
        let in_cluster: Vec<usize> = (0..design.n).filter(|&i| drawn.x[(0, i)] > 1.0).collect();
        let (n, share, m) = (design.n as f64, design.cluster_share(), in_cluster.len() as f64);
        assert!((m / n - share).abs() < 5.0 * (share * (1.0 - share) / n).sqrt(), "{m}");
        let mean = in_cluster.iter().map(|&i| drawn.x[(0, i)]).sum::<f64>() / m;
        let deviation = 0.5 * (1.0_f64 / 18.0).sqrt(); // of 2.5 − ½√u
        assert!((mean - 13.0 / 6.0).abs() < 5.0 * deviation / m.sqrt(), "{mean}");
        let i = in_cluster[0];
        let by_formula: f64 = (0..2).map(|k| 4.0 * (5.0 - 2.0 * drawn.x[(k, i)])).product();
        assert!((drawn.density[i] / (share * by_formula) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn g_at_a_few_points() {
        for (t, value) in [(0.0, -0.116), (0.4, -0.884), (0.5, -0.859), (1.0, -0.116), (2.0, 3.084)]
        {
            assert!((g(t) - value).abs() < 1e-14, "{t}");
        }
    }
}
