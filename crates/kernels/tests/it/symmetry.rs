//! A kernel that is not symmetric is said to be so.

use nystrom_kernels::testing::check_kernel;
use nystrom_kernels::*;
use nystrom_linalg_core::Error;

#[test]
fn an_asymmetric_closure_is_refused() {
    let x: Vec<f64> = (0..300).map(f64::from).collect();
    let refused = |k: f64, f: fn(&[f64], &[f64]) -> f64| {
        let points = Points::from_slice(&x[..k as usize]);
        KernelMatrix::new(FromFn::new(f), points).map(|_| ()).unwrap_err()
    };
    for n in [2.0, 3.0, 40.0, 300.0] {
        assert!(matches!(refused(n, |x, y| x[0] + 2.0 * y[0]), Error::NotSymmetric { .. }), "{n}");
        assert!(
            matches!(refused(n, |x, y| (x[0] - y[0]).exp()), Error::NotSymmetric { .. }),
            "{n}"
        );
    }
    assert!(matches!(refused(300.0, |_, _| f64::NAN), Error::NonFinite { .. }));
    assert!(matches!(refused(300.0, |x, y| -x[0] * y[0] - 1.0), Error::InvalidParameter { .. }));
    let scaled = Scaled::new(FromFn::new(|x: &[f64], y: &[f64]| x[0] - y[0]), 2.0).unwrap();
    assert!(matches!(
        KernelMatrix::new(scaled, Points::from_slice(&x)),
        Err(Error::NotSymmetric { .. })
    ));
    let rounded = FromFn::new(|x: &[f64], y: &[f64]| {
        (x[0] * 0.1 + y[0] * 0.1).cos() + x[0] * 0.3 * y[0] + 2.0
    });
    // symmetric but for rounding
    assert!(KernelMatrix::new(rounded, Points::from_slice(&x)).is_ok());
}

#[test]
fn check_kernel_says_not_symmetric() {
    struct Hidden; // its Gram blocks are symmetric all the same, since they are mirrored
    impl Kernel<f64> for Hidden {
        fn eval_into(
            &self,
            mut out: faer::MatMut<'_, f64>,
            x: Points<'_, f64>,
            y: Points<'_, f64>,
        ) {
            for j in 0..y.len() {
                for i in 0..x.len() {
                    out[(i, j)] = (y.coordinate(j, 0) - 0.9 * x.coordinate(i, 0)).exp();
                }
            }
        }
        fn diag_into(&self, mut out: faer::ColMut<'_, f64>, x: Points<'_, f64>) {
            (0..x.len()).for_each(|i| out[i] = (0.1 * x.coordinate(i, 0)).exp());
        }
    }
    let message = |kernel: &(dyn Kernel<f64> + std::panic::RefUnwindSafe)| {
        let panic =
            std::panic::catch_unwind(|| check_kernel(kernel, Points::from_slice(&[0.0, 1.0, 2.5])));
        panic.unwrap_err().downcast_ref::<String>().unwrap().clone()
    };
    assert!(message(&Hidden).contains("not symmetric"));
    assert!(message(&FromFn::new(|x: &[f64], y: &[f64]| x[0] - y[0])).contains("not symmetric"));
}
