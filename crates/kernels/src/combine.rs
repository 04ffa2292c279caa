//! Sums, products and positive multiples of kernels, with their gradients.

use crate::dot_product::representable;
use crate::load::saved_kernel;
use crate::{DifferentiableKernel, Kernel, Points, tile};
use faer::{ColMut, Mat, MatMut, MatRef, unzip, zip};
use nystrom_linalg_core::{Result, Scalar, validate};

/// The kernel k₁ + k₂.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sum<A, B> {
    first: A,
    second: B,
}

/// The kernel k₁·k₂, which is positive semi-definite by Schur's product theorem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Product<A, B> {
    first: A,
    second: B,
}

/// The kernel c·k with c > 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled<K> {
    kernel: K,
    factor: f64,
}

saved_kernel! {
    [A: (crate::SavedKernel), B: (crate::SavedKernel)] Sum<A, B> = "sum".into(),
    {} of { first: A, second: B }, |s| Ok(Sum::new(s.first.0?, s.second.0?))
}
saved_kernel! {
    [A: (crate::SavedKernel), B: (crate::SavedKernel)] Product<A, B> = "product".into(),
    {} of { first: A, second: B }, |s| Ok(Product::new(s.first.0?, s.second.0?))
}
saved_kernel! {
    [K: (crate::SavedKernel)] Scaled<K> = "scaled".into(),
    { factor: f64 } of { kernel: K }, |s| Scaled::new(s.kernel.0?, s.factor)
}

impl<A, B> Sum<A, B> {
    /// The kernel `first` + `second`.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, Kernel, Linear, Points, Sum};
    /// let k =
    ///     Sum::new(Gaussian::new(1.0)?, Linear::new()).gram(Points::from_slice(&[0.0, 2.0_f64]));
    /// assert_eq!(k[(1, 1)], 5.0);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn new(first: A, second: B) -> Self {
        Sum { first, second }
    }

    /// The first kernel.
    pub fn first(&self) -> &A {
        &self.first
    }

    /// The second kernel.
    pub fn second(&self) -> &B {
        &self.second
    }
}

impl<A, B> Product<A, B> {
    /// The kernel `first` · `second`.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, Kernel, Linear, Points, Product};
    /// let k = Product::new(Gaussian::new(1.0)?, Linear::new())
    ///     .gram(Points::from_slice(&[0.0, 2.0_f64]));
    /// assert_eq!((k[(0, 1)], k[(1, 1)]), (0.0, 4.0));
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn new(first: A, second: B) -> Self {
        Product { first, second }
    }

    /// The first kernel.
    pub fn first(&self) -> &A {
        &self.first
    }

    /// The second kernel.
    pub fn second(&self) -> &B {
        &self.second
    }
}

impl<K> Scaled<K> {
    /// The kernel `factor` · `kernel`.
    ///
    /// # Errors
    /// `InvalidParameter` unless `factor` is positive and finite.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, Kernel, Points, Scaled};
    /// let k = Scaled::new(Gaussian::new(1.0)?, 3.0)?.gram(Points::from_slice(&[0.0, 2.0_f64]));
    /// assert_eq!(k[(1, 1)], 3.0);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn new(kernel: K, factor: f64) -> Result<Self> {
        validate::positive("factor of a kernel", factor)?;
        Ok(Scaled { kernel, factor })
    }

    /// The kernel k.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The factor c.
    pub fn factor(&self) -> f64 {
        self.factor
    }
}

macro_rules! entrywise {
    ($combination:ident, $op:tt) => {
        impl<T: Scalar, A: Kernel<T>, B: Kernel<T>> Kernel<T> for $combination<A, B> {
            fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
                tile::for_each_tile(out, |mut tile, rows, cols| {
                    let (x, y) = (x.slice(rows), y.slice(cols));
                    self.first.eval_into(tile.rb_mut(), x, y);
                    let second = self.second.eval(x, y);
                    zip!(tile, second.as_ref()).for_each(|unzip!(a, b)| *a $op *b);
                });
            }
            fn diag_into(&self, mut out: ColMut<'_, T>, x: Points<'_, T>) {
                self.first.diag_into(out.rb_mut(), x);
                let mut second = vec![T::zero(); x.len()];
                self.second.diag_into(ColMut::from_slice_mut(&mut second), x);
                for (i, b) in second.into_iter().enumerate() {
                    out[i] $op b;
                }
            }
            fn check_dim(&self, d: usize) -> Result<()> {
                self.first.check_dim(d)?;
                self.second.check_dim(d)
            }
            fn check_points(&self, x: Points<'_, T>) -> Result<()> {
                self.first.check_points(x)?;
                self.second.check_points(x)
            }
            fn gram_into(&self, out: MatMut<'_, T>, x: Points<'_, T>) {
                tile::for_each_lower_tile(out, |mut tile, rows, cols| {
                    let mut second = Mat::zeros(rows.len(), cols.len());
                    if rows == cols {
                        self.first.gram_into(tile.rb_mut(), x.slice(rows.clone()));
                        self.second.gram_into(second.as_mut(), x.slice(rows));
                    } else {
                        self.first.eval_into(tile.rb_mut(), x.slice(rows.clone()),
                            x.slice(cols.clone()));
                        self.second.eval_into(second.as_mut(), x.slice(rows), x.slice(cols));
                    }
                    zip!(tile, second.as_ref()).for_each(|unzip!(a, b)| *a $op *b);
                });
            }
        }
    };
}
entrywise!(Sum, +=);
entrywise!(Product, *=);

impl<T: Scalar, K: Kernel<T>> Kernel<T> for Scaled<K> {
    fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
        let factor = T::lit(self.factor);
        tile::for_each_tile(out, |mut tile, rows, cols| {
            self.kernel.eval_into(tile.rb_mut(), x.slice(rows), y.slice(cols));
            zip!(tile).for_each(|unzip!(a)| *a *= factor);
        });
    }
    fn diag_into(&self, mut out: ColMut<'_, T>, x: Points<'_, T>) {
        self.kernel.diag_into(out.rb_mut(), x);
        for i in 0..x.len() {
            out[i] *= T::lit(self.factor);
        }
    }
    fn check_dim(&self, d: usize) -> Result<()> {
        self.kernel.check_dim(d)
    }
    fn check_points(&self, x: Points<'_, T>) -> Result<()> {
        representable::<T>("factor of a kernel", self.factor)?;
        self.kernel.check_points(x)
    }
    fn gram_into(&self, mut out: MatMut<'_, T>, x: Points<'_, T>) {
        self.kernel.gram_into(out.rb_mut(), x);
        let factor = T::lit(self.factor);
        tile::for_each_tile(out, |tile, _, _| zip!(tile).for_each(|unzip!(a)| *a *= factor));
    }
}

impl<T, A, B> DifferentiableKernel<T> for Sum<A, B>
where
    T: Scalar,
    A: DifferentiableKernel<T>,
    B: DifferentiableKernel<T>,
{
    fn gradient_into(
        &self,
        mut out: MatMut<'_, T>,
        x: Points<'_, T>,
        z: Points<'_, T>,
        weights: MatRef<'_, T>,
    ) {
        let mut second = Mat::zeros(out.nrows(), out.ncols());
        self.first.gradient_into(out.rb_mut(), x, z, weights);
        self.second.gradient_into(second.as_mut(), x, z, weights);
        zip!(out, &second).for_each(|unzip!(a, b)| *a += *b);
    }
}

impl<T, A, B> DifferentiableKernel<T> for Product<A, B>
where
    T: Scalar,
    A: DifferentiableKernel<T>,
    B: DifferentiableKernel<T>,
{
    /// By the product rule, Σ_j w_ij ∇(k₁k₂) = Σ_j (w_ij k₂)∇k₁ + Σ_j (w_ij k₁)∇k₂.
    fn gradient_into(
        &self,
        mut out: MatMut<'_, T>,
        x: Points<'_, T>,
        z: Points<'_, T>,
        weights: MatRef<'_, T>,
    ) {
        tile::gradient_sums(&out, x, z, weights);
        let times = |block: Mat<T>| {
            let m = block.ncols();
            Mat::from_fn(weights.nrows(), weights.ncols(), |i, j| {
                weights[(i, j)] * block[(i, j % m)]
            })
        };
        let mut second = Mat::zeros(out.nrows(), out.ncols());
        let (by_first, by_second) = (times(self.first.eval(x, z)), times(self.second.eval(x, z)));
        self.first.gradient_into(out.rb_mut(), x, z, by_second.as_ref());
        self.second.gradient_into(second.as_mut(), x, z, by_first.as_ref());
        zip!(out, &second).for_each(|unzip!(a, b)| *a += *b);
    }
}

impl<T: Scalar, K: DifferentiableKernel<T>> DifferentiableKernel<T> for Scaled<K> {
    fn gradient_into(
        &self,
        mut out: MatMut<'_, T>,
        x: Points<'_, T>,
        z: Points<'_, T>,
        weights: MatRef<'_, T>,
    ) {
        self.kernel.gradient_into(out.rb_mut(), x, z, weights);
        let factor = T::lit(self.factor);
        zip!(out).for_each(|unzip!(a)| *a *= factor);
    }
}

use faer::reborrow::*;
