//! Compiled once, for all development builds: the loops of the kernels that tests and programs use
//! most. Without this every test program would compile them again.

use crate::{
    Ard, DifferentiableKernel, Gaussian, Kernel, LaplacianL1, Linear, Matern, Matern12, Matern32,
    Matern52, Points, Polynomial, PowerExponential, PowerExponentialL1, RationalQuadratic,
    SquaredExponential,
};
use faer::{ColMut, MatMut, MatRef};

/// Blocks, diagonals, Gram matrices, and sums of gradients.
type Loops<K, T> = (
    fn(&K, MatMut<'_, T>, Points<'_, T>, Points<'_, T>),
    fn(&K, ColMut<'_, T>, Points<'_, T>),
    fn(&K, MatMut<'_, T>, Points<'_, T>),
    fn(&K, MatMut<'_, T>, Points<'_, T>, Points<'_, T>, MatRef<'_, T>),
);

macro_rules! instances {
    ($($kernel:ty: $($number:ty),*;)*) => {$($(
        const _: () = {
            #[used]
            static LOOPS: Loops<$kernel, $number> = (
                <$kernel as Kernel<$number>>::eval_into,
                <$kernel as Kernel<$number>>::diag_into,
                <$kernel as Kernel<$number>>::gram_into,
                <$kernel as DifferentiableKernel<$number>>::gradient_into,
            );
        };
    )*)*};
}

instances! {
    Gaussian: f64, f32;
    Ard<SquaredExponential>: f64;
    Matern12: f64, f32;
    Matern32: f64, f32;
    Matern52: f64, f32;
    Matern: f64, f32;
    PowerExponential: f64, f32;
    RationalQuadratic: f64, f32;
    LaplacianL1: f64, f32;
    PowerExponentialL1: f64, f32;
    Linear: f64, f32;
    Polynomial: f64, f32;
}
