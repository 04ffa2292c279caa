//! Inputs from the ends of the numbers: whatever is asked returns soon, and finite input gives no
//! NaN.

use crate::hostile_inputs::{ENDS, of_points, point_sets};
use faer::Mat;
use nystrom_kernels::reference::Reference;
use nystrom_kernels::*;
use nystrom_linalg_core::testing::soon;
use nystrom_linalg_core::{Error, Result, Scalar};

pub type Boxed<T> = Box<dyn Kernel<T>>;

fn boxed<T: Scalar, K: Kernel<T> + 'static>(kernel: Result<K>) -> Option<Boxed<T>> {
    kernel.ok().map(|kernel| Box::new(kernel) as Boxed<T>)
}

/// Every kernel with every parameter at `p`, as far as its constructor lets it.
pub fn kernels<T: Scalar>(p: f64, d: usize) -> Vec<(String, Boxed<T>)> {
    let gaussian = |l: f64| Gaussian::new(l);
    let ard = |l: f64| {
        gaussian(1.0)?
            .with_length_scales(&(0..d).map(|k| if k == 0 { l } else { 1.0 }).collect::<Vec<_>>())
    };
    let all = vec![
        ("gaussian", boxed(gaussian(p))),
        ("gaussian gamma", boxed(Gaussian::from_gamma(p))),
        ("gaussian bandwidth", boxed(Gaussian::from_squared_bandwidth(p))),
        ("ard", boxed(ard(p))),
        ("matern 1/2", boxed(Matern12::new(p))),
        ("matern 3/2", boxed(Matern32::new(p))),
        ("matern 5/2 a", boxed(Matern52::from_a(p))),
        ("matern 4", boxed(Matern::new(4.0, p))),
        ("matern nu", boxed(Matern::new(p, 1.0))),
        ("matern nu a", boxed(Matern::from_a(p, 1.0))),
        ("power exponential", boxed(PowerExponential::new(0.3, p))),
        ("power exponential l1", boxed(PowerExponentialL1::new(0.3, p))),
        ("power exponential l1 q", boxed(PowerExponentialL1::new(p, 1.0))),
        ("power exponential q", boxed(PowerExponential::new(p, 1.0))),
        ("rational quadratic", boxed(RationalQuadratic::new(1.0, p))),
        ("rational quadratic 0.7", boxed(RationalQuadratic::new(0.7, p))),
        ("rational quadratic alpha", boxed(RationalQuadratic::new(p, 1.0))),
        ("laplacian l1", boxed(LaplacianL1::new(p))),
        ("laplacian gamma", boxed(LaplacianL1::from_gamma(p))),
        ("linear", boxed(Linear::with_bias(p))),
        ("polynomial gamma", boxed(Polynomial::new(3, p, 1.0))),
        ("polynomial offset", boxed(Polynomial::new(2, 1.0, p))),
        ("polynomial degree", boxed(Polynomial::new(u32::MAX, 1.0, p))),
        ("periodic", boxed(Periodic::new(p, 1.0))),
        ("periodic scale", boxed(Periodic::new(1.0, p))),
        ("scaled", boxed(gaussian(1.0).and_then(|k| Scaled::new(k, p)))),
        ("sum", boxed(gaussian(p).map(|k| Sum::new(k, Linear::new())))),
        ("product", boxed(gaussian(p).map(|k| Product::new(k, LaplacianL1::new(1.0).unwrap())))),
        ("bernoulli", boxed(Bernoulli::new(2))),
    ];
    all.into_iter()
        .filter_map(|(name, kernel)| Some((format!("{name} at {p:e}"), kernel?)))
        .collect()
}

fn no_nan<T: Scalar>(what: &str, a: &Mat<T>) {
    assert!(a.col_iter().flat_map(|c| c.iter()).all(|k| !k.is_nan()), "{what}: {a:?}");
}

fn finite_points_give_numbers<T: Scalar>() {
    for d in [1, 3, 24] {
        for (set, x) in point_sets::<T>(d) {
            let points = Points::from_rows(x.as_ref());
            for p in ENDS {
                for (name, kernel) in kernels::<T>(p, d) {
                    if kernel.check_points(points).is_err() {
                        continue; // a typed error, before work is done
                    }
                    let what = format!("{name} on {set}, d = {d}, {}", T::NAME);
                    let (gram, block) = (kernel.gram(points), kernel.eval(points, points));
                    no_nan(&what, &gram);
                    no_nan(&what, &block);
                    for i in 0..points.len() {
                        assert!(!gram[(i, i)].is_infinite(), "{what}: k(x, x) is infinite");
                        for j in 0..=i {
                            assert_eq!(block[(i, j)], block[(j, i)], "{what}");
                            if j > 0 && j + 1 < i {
                                continue; // alone: a point with the first, its neighbour, itself
                            }
                            let alone = kernel.eval(points.slice(i..i + 1), points.slice(j..j + 1));
                            assert_eq!(
                                alone[(0, 0)],
                                block[(i, j)],
                                "{what}: other bits alone than in a block"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn finite_points_give_numbers_f64() {
    soon("kernels of f64", finite_points_give_numbers::<f64>);
}

#[test]
fn finite_points_give_numbers_f32() {
    soon("kernels of f32", finite_points_give_numbers::<f32>);
}

/// Points that are no numbers: whatever comes out, it comes out, and entries of other points have
/// the bits that they have without.
#[test]
fn points_that_are_no_numbers_return_and_spoil_no_others() {
    fn check<T: Scalar>() {
        for d in [1, 3, 24] {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let good = of_points::<T>(&[0.0, 1.0, 0.25, 3.0], d);
                let mixed =
                    Mat::from_fn(5, d, |i, k| if i == 4 { T::lit(bad) } else { good[(i, k)] });
                let (good, mixed) =
                    (Points::from_rows(good.as_ref()), Points::from_rows(mixed.as_ref()));
                for (name, kernel) in kernels::<T>(1.0, d) {
                    assert!(matches!(
                        kernel.check_points(mixed),
                        Err(Error::NonFinite { row: 4, .. })
                    ));
                    if name.starts_with("bernoulli") && d > 1 {
                        continue;
                    }
                    let (block, gram) = (kernel.eval(mixed, mixed), kernel.gram(mixed));
                    let (clean, clean_gram) = (kernel.eval(good, good), kernel.gram(good));
                    assert_eq!(
                        block.as_ref().submatrix(0, 0, 4, 4),
                        clean.as_ref(),
                        "{name}, d = {d}, {bad}"
                    );
                    assert_eq!(
                        gram.as_ref().submatrix(0, 0, 4, 4),
                        clean_gram.as_ref(),
                        "{name}, d = {d}, {bad}"
                    );
                }
            }
        }
    }
    soon("points that are no numbers", || {
        check::<f64>();
        check::<f32>();
    });
}

/// A distance that overflows keeps its neighbours in the tile from nothing, in dimensions where
/// distances are expanded.
#[test]
fn a_point_far_beyond_changes_no_bit_of_others() {
    fn check<T: Scalar>(far: f64) {
        let near = of_points::<T>(&[0.0, 1.0, 0.25, 0.26, -0.5, 3.0], 24);
        let x = Mat::from_fn(7, 24, |i, k| {
            if i == 3 { T::lit(far) } else { near[(i - usize::from(i > 3), k)] }
        });
        let (x, near) = (Points::from_rows(x.as_ref()), Points::from_rows(near.as_ref()));
        let scales = [3.0; 24];
        let kernels: [Boxed<T>; 2] = [
            Box::new(Gaussian::new(3.0).unwrap()),
            Box::new(Gaussian::new(3.0).unwrap().with_length_scales(&scales).unwrap()),
        ];
        for kernel in kernels {
            let (with, without) = (kernel.eval(x, x), kernel.eval(near, near));
            for i in 0..6 {
                for j in 0..6 {
                    assert_eq!(
                        with[(i + usize::from(i > 2), j + usize::from(j > 2))],
                        without[(i, j)]
                    );
                }
            }
            assert!((0..7).all(|i| with[(3, i)] == if i == 3 { T::one() } else { T::zero() }));
        }
    }
    check::<f32>(1e19);
    check::<f32>(3e38);
    check::<f64>(1e154);
    check::<f64>(1e300);
}

/// Against the formula with every quotient taken on its own.
#[test]
fn values_at_the_ends_are_those_of_the_formula() {
    fn check<T: Scalar>(tolerance: f64) {
        for d in [1, 3, 24] {
            for (set, x) in point_sets::<T>(d) {
                for l in ENDS {
                    let scales = vec![l; d];
                    let gaussian = Gaussian::new(l).unwrap();
                    let ard = Gaussian::new(1.0).unwrap().with_length_scales(&scales).unwrap();
                    let (matern, l1) = (Matern32::new(l).unwrap(), LaplacianL1::new(l).unwrap());
                    let points = Points::from_rows(x.as_ref());
                    let grams: [Mat<T>; 4] = [
                        gaussian.gram(points),
                        ard.gram(points),
                        matern.gram(points),
                        l1.gram(points),
                    ];
                    for i in 0..x.nrows() {
                        for j in 0..x.nrows() {
                            // halves first: a difference may overflow
                            let u = |k: usize| {
                                (0.5 * x[(i, k)].f64() - 0.5 * x[(j, k)].f64()) / l * 2.0
                            };
                            let (s, t) = (0..d)
                                .fold((0.0, 0.0), |(s, t), k| (s + u(k) * u(k), t + u(k).abs()));
                            let r = (3.0_f64 * s).sqrt();
                            let matern = if r < 1e3 { (1.0 + r) * (-r).exp() } else { 0.0 };
                            let exact = [(-0.5 * s).exp(), (-0.5 * s).exp(), matern, (-t).exp()];
                            for (which, (gram, exact)) in grams.iter().zip(exact).enumerate() {
                                if which == 1 && ard.check_points(points).is_err() {
                                    assert!(l < T::min_positive_value().f64()); // a typed error
                                    continue;
                                }
                                let gap = (gram[(i, j)].f64() - exact).abs();
                                assert!(
                                    gap <= tolerance,
                                    "kernel {which}, l = {l:e}, {set}, d = {d}: {gap:e}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
    check::<f64>(1e-13);
    check::<f32>(1e-4);
}

#[test]
fn tiny_length_scales_keep_the_diagonal() {
    let x = [0.0, 1.0, 1e-200];
    let k = Gaussian::new(1e-200).unwrap().gram(Points::from_slice(&x));
    assert_eq!((k[(0, 0)], k[(0, 1)]), (1.0, 0.0));
    assert!((k[(0, 2)] - (-0.5_f64).exp()).abs() < 1e-15);
    let k = LaplacianL1::new(1e-40).unwrap().gram(Points::from_slice(&[0.0_f32, 1.0, 1e-40]));
    assert_eq!((k[(0, 0)], k[(0, 1)]), (1.0, 0.0));
    assert!((k[(0, 2)] - (-1.0_f32).exp()).abs() < 1e-4, "{}", k[(0, 2)]);
}

/// The differences come before the length scales, and no point of a block is an origin.
#[test]
fn length_scales_per_coordinate_lose_no_digits_to_another_point() {
    for scales in [vec![1.0], vec![0.5, 3.0], vec![1.7; 24]] {
        let d = scales.len();
        let kernel = Gaussian::new(1.0).unwrap().with_length_scales(&scales).unwrap();
        let x = of_points::<f32>(&[1e7, 0.0, 0.5, 0.75, 3.0], d);
        let points = Points::from_rows(x.as_ref());
        let gram = kernel.gram(points);
        for i in 0..5 {
            for j in 0..5 {
                let alone = kernel.eval(points.slice(i..i + 1), points.slice(j..j + 1))[(0, 0)];
                assert_eq!(gram[(i, j)], alone, "({i}, {j}), d = {d}");
                let wide = |i: usize| (0..d).map(|k| f64::from(x[(i, k)])).collect::<Vec<_>>();
                let exact = Reference::value(&kernel, &wide(i), &wide(j));
                assert!((f64::from(alone) - exact).abs() < 1e-6, "{alone} for {exact}, d = {d}");
            }
        }
    }
}

/// However many turns there are: 10¹⁵ = 1 modulo 3.
#[test]
fn a_periodic_kernel_counts_its_turns_exactly() {
    let x = [0.0_f64, 1.0, 1e15, -1e15];
    let k = Periodic::new(3.0, 1.0).unwrap().gram(Points::from_slice(&x));
    assert!((k[(0, 2)] - k[(0, 1)]).abs() < 1e-15 && (k[(1, 2)] - 1.0).abs() < 1e-15);
    assert!((k[(0, 3)] - k[(0, 1)]).abs() < 1e-15);
}
