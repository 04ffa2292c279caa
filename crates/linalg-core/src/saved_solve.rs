//! The saved state of a conjugate gradient run, from which the run can be resumed.

use crate::cg::{ConjugateGradients, LinearSystem, State, dots, norms};
use crate::{Error, Result, validate};
use faer::{Mat, MatRef};

/// The state of [`ConjugateGradients`] after an iteration: 3nt numbers, and two numbers for each
/// iteration and column.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SavedSolve(pub(crate) State);

impl ConjugateGradients {
    /// Continues a saved run, for the same system and right-hand side. M⁻¹ is applied once: the
    /// bits of ρ = rᵀM⁻¹r must be those saved, which identify the preconditioner, and those of ‖b‖.
    ///
    /// # Errors
    /// [`Incompatible`](crate::Error::Incompatible) if the state belongs to another preconditioner,
    /// right-hand side or instruction set, or is damaged.
    pub fn resume(
        saved: &SavedSolve,
        system: &mut dyn LinearSystem,
        b: MatRef<'_, f64>,
    ) -> Result<Self> {
        validate::finite("right-hand side", b)?;
        let (n, t) = (b.nrows(), b.ncols());
        saved.check(n, t)?;
        let (at, mut z, q) = (saved.0.clone(), Mat::zeros(n, t), Mat::zeros(n, t));
        system.precondition(z.as_mut(), at.r.as_ref());
        let rho = dots(at.r.as_ref(), z.as_ref());
        let ours = norms(b).into_iter().chain(rho).map(f64::to_bits);
        if !ours.eq(at.b_norm.iter().chain(&at.rho).map(|x| x.to_bits())) {
            return Err(wrong(
                "it was saved with other data, ridge, preconditioner, seed or instruction set; \
                 resume with those it was saved with, or start a new run",
            ));
        }
        if at.fell_back {
            system.fall_back();
        }
        let residuals = at.relative();
        Ok(ConjugateGradients { at, z, q, residuals, is_true: false })
    }
}

impl SavedSolve {
    /// Checks that the state is that of a run with X n × t, and that its numbers are finite: what
    /// [`ConjugateGradients::resume`] checks that needs no system.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if it is not.
    ///
    /// ```
    /// # use faer::{MatMut, MatRef, mat};
    /// # use nystrom_linalg_core::{ConjugateGradients, LinearSystem, Result};
    /// # struct Twice;
    /// # impl LinearSystem for Twice {
    /// #     fn apply(
    /// #         &mut self,
    /// #         mut out: MatMut<'_, f64>,
    /// #         x: MatRef<'_, f64>,
    /// #         _: bool,
    /// #     ) -> Result<()> {
    /// #         out.copy_from(faer::Scale(2.0) * x);
    /// #         Ok(())
    /// #     }
    /// #     fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
    /// #         out.copy_from(r);
    /// #     }
    /// # }
    /// let b = mat![[1.0], [2.0]];
    /// let saved = ConjugateGradients::start(&mut Twice, b.as_ref(), None)?.save();
    /// assert!(saved.check(2, 1).is_ok() && saved.check(1, 2).is_err());
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn check(&self, n: usize, t: usize) -> Result<()> {
        let matrices = [&self.0.x, &self.0.r, &self.0.p];
        let lists = [self.0.rho.len(), self.0.b_norm.len(), self.0.steps.len()];
        if matrices.iter().any(|matrix| matrix.shape() != (n, t)) || lists != [t; 3] {
            return Err(wrong(
                "its sizes are not those of this problem; resume with the data it was saved with, \
                 or start a new run",
            ));
        }
        let numbers = self.0.rho.iter().chain(&self.0.b_norm).chain(&self.0.history);
        let finite = matrices.iter().all(|matrix| matrix.is_all_finite())
            && numbers.chain(&self.0.verified).all(|x| x.is_finite())
            && self.0.steps.iter().flatten().all(|(a, b)| a.is_finite() && b.is_finite())
            && self.0.condition >= 1.0;
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
    /// use nystrom_linalg_core::{ConjugateGradients, LinearSystem, Result, SavedSolve};
    /// struct Twice;
    /// impl LinearSystem for Twice {
    ///     fn apply(
    ///         &mut self,
    ///         mut out: MatMut<'_, f64>,
    ///         x: MatRef<'_, f64>,
    ///         _: bool,
    ///     ) -> Result<()> {
    ///         out.copy_from(faer::Scale(2.0) * x);
    ///         Ok(())
    ///     }
    ///     fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
    ///         out.copy_from(r);
    ///     }
    /// }
    /// let b = mat![[1.0], [2.0]];
    /// let mut cg = ConjugateGradients::start(&mut Twice, b.as_ref(), None)?;
    /// cg.run(&mut Twice, b.as_ref(), 1e-8, 100, &mut |_| None)?;
    /// let saved = cg.save();
    /// assert_eq!(SavedSolve::from_bytes(&saved.to_bytes())?, saved);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let lengths = self.0.steps.iter().map(Vec::len);
        let sizes =
            [self.0.x.nrows(), self.0.x.ncols(), self.0.history.len()].into_iter().chain(lengths);
        let of_matrices = [&self.0.x, &self.0.r, &self.0.p]
            .into_iter()
            .flat_map(|matrix| matrix.col_iter().flat_map(|column| column.iter().copied()));
        let lists = [&self.0.rho, &self.0.b_norm, &self.0.history].into_iter().flatten().copied();
        let steps = self.0.steps.iter().flatten().flat_map(|&(a, b)| [a, b]);
        // NaN stands for None: a verified residual is finite
        let verified = self.0.verified.unwrap_or(f64::NAN);
        let ends = [self.0.condition, verified, f64::from(u8::from(self.0.fell_back))];
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
            Mat::from_fn(n, t, |i, j| entries[j * n + i])
        });
        let (rho, b_norm, history) = (list(t), list(t), list(count));
        let pairs = |numbers: Vec<f64>| numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let steps = lengths.iter().map(|length| pairs(list(2 * length))).collect();
        let ends = list(3);
        let (condition, fell_back) = (ends[0], ends[2] == 1.0);
        let verified = Some(ends[1]).filter(|verified| !verified.is_nan());
        let state = State { x, r, p, rho, b_norm, steps, condition, history, verified, fell_back };
        Ok(SavedSolve(state))
    }
}

fn wrong(problem: &str) -> Error {
    Error::Incompatible { what: "state of conjugate gradients", problem: problem.into() }
}
