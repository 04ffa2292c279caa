//! The saved state of a conjugate gradient run, from which the run can be resumed.

use crate::cg::{ConjugateGradients, LinearSystem, dots, norms};
use crate::{Error, Result, Scalar, validate};
use faer::{Mat, MatRef};

/// The state of a [`Solve`](crate::Solve) after an iteration: 3nt numbers, and two numbers for each
/// iteration and column.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "T: Scalar + serde::Serialize",
        deserialize = "T: Scalar + serde::de::DeserializeOwned"
    ))
)]
pub struct SavedSolve<T> {
    #[cfg_attr(feature = "serde", serde(with = "crate::serialize::matrix"))]
    pub(super) x: Mat<T>,
    #[cfg_attr(feature = "serde", serde(with = "crate::serialize::matrix"))]
    pub(super) r: Mat<T>,
    #[cfg_attr(feature = "serde", serde(with = "crate::serialize::matrix"))]
    pub(super) p: Mat<T>,
    pub(super) rho: Vec<f64>,
    pub(super) b_norm: Vec<f64>,
    pub(super) steps: Vec<Vec<(f64, f64)>>,
    pub(super) condition: f64,
    pub(super) history: Vec<f64>,
    pub(super) verified: Option<f64>,
    pub(super) fell_back: bool,
}

impl<T: Scalar> SavedSolve<T> {
    /// The recurrence, if the saved state belongs to this system and right-hand side: the bits of
    /// ρ = rᵀM⁻¹r identify the preconditioner, those of ‖b‖ the right-hand side.
    pub(super) fn resume(
        &self,
        system: &mut dyn LinearSystem<T>,
        b: MatRef<'_, T>,
    ) -> Result<ConjugateGradients<T>> {
        validate::finite("right-hand side", b)?;
        let (n, t) = (b.nrows(), b.ncols());
        self.check(n, t)?;
        let (mut z, q) = (Mat::zeros(n, t), Mat::zeros(n, t));
        system.precondition(z.as_mut(), self.r.as_ref());
        let rho = dots(self.r.as_ref(), z.as_ref());
        let ours = norms(b).into_iter().chain(rho).map(f64::to_bits);
        if !ours.eq(self.b_norm.iter().chain(&self.rho).map(|x| x.to_bits())) {
            return Err(wrong(
                "it was saved with other data, ridge, preconditioner, seed or instruction set; \
                 resume with those it was saved with, or start a new run",
            ));
        }
        let mut cg = ConjugateGradients {
            x: self.x.clone(),
            r: self.r.clone(),
            z,
            p: self.p.clone(),
            q,
            rho: self.rho.clone(),
            b_norm: self.b_norm.clone(),
            residuals: vec![],
            steps: self.steps.clone(),
            condition: self.condition,
        };
        cg.residuals = cg.relative();
        Ok(cg)
    }

    /// Checks that the state is that of a run with X n × t, and that its numbers are finite: what
    /// [`Solve::resume`](crate::Solve::resume) checks that needs no system.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if it is not.
    ///
    /// ```
    /// # use faer::{MatMut, MatRef, mat};
    /// # use nystrom_linalg_core::{LinearSystem, Result, Solve};
    /// # struct Twice;
    /// # impl LinearSystem<f64> for Twice {
    /// #     fn apply(&mut self, mut out: MatMut<'_, f64>, x: MatRef<'_, f64>) -> Result<()> {
    /// #         out.copy_from(faer::Scale(2.0) * x);
    /// #         Ok(())
    /// #     }
    /// #     fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
    /// #         out.copy_from(r);
    /// #     }
    /// # }
    /// let saved = Solve::start(&mut Twice, mat![[1.0], [2.0]].as_ref(), None)?.save();
    /// assert!(saved.check(2, 1).is_ok() && saved.check(1, 2).is_err());
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn check(&self, n: usize, t: usize) -> Result<()> {
        let matrices = [&self.x, &self.r, &self.p];
        let lists = [self.rho.len(), self.b_norm.len(), self.steps.len()];
        if matrices.iter().any(|matrix| matrix.shape() != (n, t)) || lists != [t; 3] {
            return Err(wrong(
                "its sizes are not those of this problem; resume with the data it was saved with, \
                 or start a new run",
            ));
        }
        let numbers = self.rho.iter().chain(&self.b_norm).chain(&self.history);
        let finite = matrices.iter().all(|matrix| matrix.is_all_finite())
            && numbers.chain(&self.verified).all(|x| x.is_finite())
            && self.steps.iter().flatten().all(|(a, b)| a.is_finite() && b.is_finite())
            && self.condition >= 1.0;
        if finite {
            Ok(())
        } else {
            Err(wrong("some numbers are not finite: it is damaged; start a new run"))
        }
    }

    /// The state as bytes: 8 little-endian bytes per number, without a checksum.
    ///
    /// ```
    /// use faer::{MatMut, MatRef, mat};
    /// use nystrom_linalg_core::{LinearSystem, Result, SavedSolve, Solve};
    /// struct Twice;
    /// impl LinearSystem<f64> for Twice {
    ///     fn apply(&mut self, mut out: MatMut<'_, f64>, x: MatRef<'_, f64>) -> Result<()> {
    ///         out.copy_from(faer::Scale(2.0) * x);
    ///         Ok(())
    ///     }
    ///     fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
    ///         out.copy_from(r);
    ///     }
    /// }
    /// let b = mat![[1.0], [2.0]];
    /// let mut solve = Solve::start(&mut Twice, b.as_ref(), None)?;
    /// solve.run(&mut Twice, b.as_ref(), 1e-8, 100, &mut |_| None)?;
    /// let saved = solve.save();
    /// assert_eq!(SavedSolve::from_bytes(&saved.to_bytes())?, saved);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let lengths = self.steps.iter().map(Vec::len);
        let sizes = [self.x.nrows(), self.x.ncols(), self.history.len()].into_iter().chain(lengths);
        let of_matrices = [&self.x, &self.r, &self.p].into_iter().flat_map(|matrix| {
            matrix.col_iter().flat_map(|column| column.iter().map(|entry| entry.f64()))
        });
        let lists = [&self.rho, &self.b_norm, &self.history].into_iter().flatten().copied();
        let steps = self.steps.iter().flatten().flat_map(|&(a, b)| [a, b]);
        // NaN stands for None: a verified residual is finite
        let verified = self.verified.unwrap_or(f64::NAN);
        let ends = [self.condition, verified, f64::from(u8::from(self.fell_back))];
        let numbers = of_matrices.chain(lists).chain(steps).chain(ends);
        let sizes = sizes.flat_map(|size| (size as u64).to_le_bytes());
        sizes.chain(numbers.flat_map(f64::to_le_bytes)).collect()
    }

    /// Reads the bytes that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the number of bytes does not fit the sizes stored in them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let cut = || wrong("it is cut off or damaged; start a new run");
        let (words, odd) = bytes.as_chunks::<8>();
        let mut sizes = words.iter().map(|word| usize::try_from(u64::from_le_bytes(*word)).ok());
        let mut size = || sizes.next().flatten().filter(|size| *size <= words.len());
        let (Some(n), Some(t), Some(count)) = (size(), size(), size()) else { return Err(cut()) };
        let lengths = (0..t).map(|_| size()).collect::<Option<Vec<usize>>>().ok_or_else(cut)?;
        // nothing overflows in 128 bits
        let [rows, columns, count_of] = [n, t, count].map(|size| size as u128);
        let steps: u128 = lengths.iter().map(|length| *length as u128).sum();
        let expected = 6 + 3 * rows * columns + 3 * columns + count_of + 2 * steps;
        if !odd.is_empty() || words.len() as u128 != expected {
            return Err(cut());
        }
        let mut rest = words[3 + t..].iter().map(|word| f64::from_le_bytes(*word));
        let mut list = |length: usize| rest.by_ref().take(length).collect::<Vec<f64>>();
        let [x, r, p] = std::array::from_fn(|_| {
            let entries = list(n * t);
            Mat::from_fn(n, t, |i, j| T::lit(entries[j * n + i]))
        });
        let (rho, b_norm, history) = (list(t), list(t), list(count));
        let pairs = |numbers: Vec<f64>| numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let steps = lengths.iter().map(|length| pairs(list(2 * length))).collect();
        let ends = list(3);
        let (condition, fell_back) = (ends[0], ends[2] == 1.0);
        let verified = Some(ends[1]).filter(|verified| !verified.is_nan());
        Ok(SavedSolve { x, r, p, rho, b_norm, steps, condition, history, verified, fell_back })
    }
}

fn wrong(problem: &str) -> Error {
    Error::Incompatible { what: "state of conjugate gradients", problem: problem.into() }
}
