//! A set to start from with det K_YY > 0: what is dependent in a given one is replaced, not
//! refused.

use faer::{Accum, Mat, MatMut, reborrow::*};
use nystrom_linalg_core::{Error, Indices, PsdMatrix, Result, Scalar, ops, validate};

/// A residual K_ii − K_iY K_YY⁻¹ K_Yi of at most this fraction of K_ii cannot be told from 0
/// when |Y| < c.
pub(crate) fn rounding<T: Scalar>(c: usize) -> f64 {
    4.0 * c as f64 * T::EPS
}

/// `c` items with det K_YY > 0, as many of the distinct `wanted` as are independent of one another,
/// in pivot order.
///
/// Among `wanted` by Cholesky with the largest residual first (|wanted|² entries, O(c²) memory);
/// only if that leaves fewer than c, the rest by the same rule among all n items: n·c entries, nc²
/// flops and n·c numbers of memory, once.
///
/// # Errors
/// [`Error::RankDeficient`] with the numerical rank if there are no c independent items,
/// [`Error::NonFinite`], [`Error::InvalidWeight`] for a negative diagonal entry.
pub(crate) fn independent<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    wanted: &[usize],
    c: usize,
) -> Result<Vec<usize>> {
    validate::not_empty("subset (c)", c)?;
    let mut among_wanted = PartialCholesky::new(k, wanted.into(), c)?;
    among_wanted.extend_greedily(c)?;
    if among_wanted.pivots.len() == c {
        return Ok(among_wanted.pivots);
    }
    let mut all = PartialCholesky::new(k, (0..k.dim()).into(), c)?;
    for i in among_wanted.pivots {
        all.take(i)?;
    }
    all.extend_greedily(c)?;
    if all.pivots.len() < c {
        // Close to rounding error the order matters: the largest residuals first from the beginning
        // may find more.
        let mut afresh = PartialCholesky::new(k, (0..k.dim()).into(), c)?;
        afresh.extend_greedily(c)?;
        if afresh.pivots.len() > all.pivots.len() {
            all = afresh;
        }
    }
    let rank = all.pivots.len();
    if rank == c { Ok(all.pivots) } else { Err(Error::RankDeficient { requested: c, rank }) }
}

/// K ≈ GGᵀ on some rows, grown by one pivot at a time: entry (i, ·) of G is a row of K_iY L⁻ᵀ.
pub(crate) struct PartialCholesky<'a, T: Scalar> {
    k: &'a dyn PsdMatrix<T>,
    rows: Indices<'a>,
    G: Mat<T>,
    diagonal: Vec<f64>,
    residual: Vec<f64>, // diagonal of K − GGᵀ on the rows, 0 at the pivots
    rounding: f64,
    pivots: Vec<usize>, // as indices of K
}

impl<'a, T: Scalar> PartialCholesky<'a, T> {
    /// No pivot yet, room for `c`.
    pub fn new(k: &'a dyn PsdMatrix<T>, rows: Indices<'a>, c: usize) -> Result<Self> {
        rows.check(k.dim(), "start")?;
        let mut diagonal = vec![T::zero(); rows.len()];
        k.diag_into(faer::ColMut::from_slice_mut(&mut diagonal), rows.clone());
        for (t, d) in diagonal.iter().enumerate() {
            let (index, value) = (rows.get(t), d.f64());
            if !value.is_finite() {
                return Err(Error::NonFinite { what: "matrix", row: index, col: index, value });
            }
            if value < 0.0 {
                return Err(Error::InvalidWeight { what: "diagonal of the matrix", index, value });
            }
        }
        let diagonal: Vec<f64> = diagonal.into_iter().map(T::f64).collect();
        let G = Mat::zeros(rows.len(), c);
        Ok(PartialCholesky {
            k,
            rows,
            G,
            residual: diagonal.clone(),
            diagonal,
            rounding: rounding::<T>(c),
            pivots: vec![],
        })
    }

    /// The largest residual first, until there are `c` pivots or nothing above rounding error is
    /// left.
    pub fn extend_greedily(&mut self, c: usize) -> Result<()> {
        while self.pivots.len() < c {
            let above = |t: &usize| self.residual[*t] > self.rounding * self.diagonal[*t];
            let largest = (0..self.residual.len()).filter(above).max_by(|&s, &t| {
                self.residual[s].total_cmp(&self.residual[t]).then(t.cmp(&s)) // the first of equals
            });
            let Some(t) = largest else { break };
            self.pivot(t)?;
        }
        Ok(())
    }

    /// Item `i` becomes a pivot, whatever its residual; `rows` are all items.
    fn take(&mut self, i: usize) -> Result<()> {
        self.pivot(i)
    }

    fn pivot(&mut self, t: usize) -> Result<()> {
        let (j, p, n) = (self.pivots.len(), self.rows.get(t), self.rows.len());
        let (done, mut rest) = self.G.as_mut().split_at_col_mut(j);
        let mut g = rest.rb_mut().subcols_mut(0, 1); // g = (K[:,p] − G G_pᵀ)/√residual_p
        self.k.block_into(g.rb_mut(), self.rows.clone(), (&[p]).into());
        check_finite(g.rb_mut(), &self.rows, p)?;
        let row = done.rb().subrows(t, 1).transpose().to_owned();
        ops::matmul(g.rb_mut(), Accum::Add, done.rb(), row.as_ref(), -T::one());
        let root = self.residual[t].sqrt();
        for s in 0..n {
            let value = g[(s, 0)].f64() / root;
            g[(s, 0)] = T::lit(value);
            self.residual[s] = (self.residual[s] - value * value).max(0.0);
        }
        self.residual[t] = 0.0;
        self.pivots.push(p);
        Ok(())
    }
}

fn check_finite<T: Scalar>(g: MatMut<'_, T>, rows: &Indices<'_>, col: usize) -> Result<()> {
    match (0..g.nrows()).find(|&s| !num_traits::Float::is_finite(g[(s, 0)])) {
        None => Ok(()),
        Some(s) => {
            Err(Error::NonFinite { what: "matrix", row: rows.get(s), col, value: g[(s, 0)].f64() })
        }
    }
}
