//! Searches whose device is lost.

use crate::fit::{fitted, table};
use nystrom::faer::{Accum, Mat, MatMut, MatRef};
use nystrom::krr::{Device, KernelProduct};
use nystrom::linalg_core::ops;
use nystrom::prelude::*;
use nystrom_pipeline::{AnyKernel, Fit, SharedDevice};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A device that stores matrices, and is lost after some of them.
struct Mortal {
    lifetime: usize,
    matrices: AtomicUsize,
}

struct Stored(Mat<f64>);

impl KernelProduct for Stored {
    fn product(
        &mut self,
        out: MatMut<'_, f64>,
        alpha: MatRef<'_, f64>,
        _: bool,
    ) -> nystrom::Result<()> {
        ops::matmul(out, Accum::Replace, self.0.as_ref(), alpha, 1.0);
        Ok(())
    }
}

fn lost() -> nystrom::Error {
    nystrom::Error::Device { problem: "it was unplugged".into() }
}

impl Device<AnyKernel, f64> for Mortal {
    fn matrix<'a>(
        &self,
        kernel: &'a AnyKernel,
        x: Points<'a, f64>,
        _: usize,
        _: &mut dyn Rng,
    ) -> nystrom::Result<Box<dyn KernelProduct + 'a>> {
        if self.matrices.fetch_add(1, Relaxed) >= self.lifetime {
            return Err(lost());
        }
        Ok(Box::new(Stored(kernel.gram(x))))
    }

    fn times(
        &self,
        kernel: &AnyKernel,
        [x, z]: [Points<'_, f64>; 2],
        v: MatRef<'_, f64>,
    ) -> nystrom::Result<Mat<f64>> {
        if self.matrices.load(Relaxed) > self.lifetime {
            return Err(lost());
        }
        Ok(kernel.eval(x, z) * v)
    }
}

#[test]
fn a_search_continues_without_its_device() {
    let limits = Fit { work: Some(4e9), memory: Some(1 << 28), ..Fit::default() };
    let (table, fit) = (table(1000, 3), limits);
    let by_cpu = fitted(&fit, &table, "y").unwrap();
    for lifetime in [0, 2, usize::MAX] {
        let device = Arc::new(Mortal { lifetime, matrices: AtomicUsize::new(0) });
        let fit = Fit { device: Some(SharedDevice::new(device.clone())), ..fit.clone() };
        let found = fitted(&fit, &table, "y").unwrap();
        let calls = device.matrices.load(Relaxed);
        assert!(calls > 2, "{calls}");
        let notes: Vec<&String> =
            found.report.notes.iter().filter(|note| note.contains("unplugged")).collect();
        match lifetime {
            0 => assert_eq!(found.model, by_cpu.model),
            _ => {
                assert!((found.report.chosen.error / by_cpu.report.chosen.error - 1.0).abs() < 0.05)
            }
        }
        let expected = (lifetime < calls).then(|| format!("{} fits", calls - lifetime));
        assert_eq!(notes.len(), usize::from(expected.is_some()), "{notes:?}");
        assert!(expected.is_none_or(|text| notes[0].contains(&text)), "{notes:?}");
    }
}
