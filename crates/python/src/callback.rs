//! A kernel that Python evaluates block by block, which is slow.

use crate::array::{Number, to_array, view};
use crate::run::leave;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use nystrom::faer::{ColMut, MatMut};
use nystrom::kernels::{Kernel, Points};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The diagonal of a kernel matrix is read from blocks of this many rows and columns.
const DIAGONAL: usize = 32;

/// A kernel defined by a Python function.
pub struct Callback {
    /// `function(X, Y)` returns the kernel matrix between the rows of X and those of Y.
    pub function: Py<PyAny>,
}

impl Callback {
    fn fill<T: Number>(
        &self,
        out: MatMut<'_, T>,
        x: Points<'_, T>,
        y: Points<'_, T>,
    ) -> PyResult<()> {
        Python::attach(|py| {
            let rows = |points: Points<'_, T>| to_array(py, points.as_cols().transpose());
            let block = self.function.call1(py, (rows(x), rows(y)))?;
            let block: PyReadonlyArray2<'_, T> = block.bind(py).extract()?;
            if block.shape() != [x.len(), y.len()] {
                let (found, wanted) = (block.shape(), [x.len(), y.len()]);
                let text =
                    format!("the kernel returned a block of shape {found:?} instead of {wanted:?}");
                return Err(PyValueError::new_err(text));
            }
            let mut out = out;
            out.copy_from(view(&block)?);
            Ok(())
        })
    }
}

impl<T: Number> Kernel<T> for Callback {
    fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
        self.fill(out, x, y).unwrap_or_else(|error| leave(error));
    }

    fn diag_into(&self, mut out: ColMut<'_, T>, x: Points<'_, T>) {
        for start in (0..x.len()).step_by(DIAGONAL) {
            let some = x.slice(start..x.len().min(start + DIAGONAL));
            let block = self.eval(some, some);
            (0..some.len()).for_each(|i| out[start + i] = block[(i, i)]);
        }
    }
}
