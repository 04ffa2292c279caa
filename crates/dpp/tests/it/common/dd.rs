//! Numbers of about 32 digits as sums of two `f64`: the truth for conditions up to 1e20.

use faer::{Mat, MatRef};
use std::ops::{Add, Div, Mul, Sub};

#[derive(Debug, Clone, Copy)]
pub struct Dd(pub f64, pub f64);

fn two_sum(a: f64, b: f64) -> Dd {
    let s = a + b;
    let t = s - a;
    Dd(s, (a - (s - t)) + (b - t))
}

impl Add for Dd {
    type Output = Dd;
    fn add(self, o: Dd) -> Dd {
        let (s, t) = (two_sum(self.0, o.0), two_sum(self.1, o.1));
        let u = two_sum(s.0, s.1 + t.0);
        two_sum(u.0, u.1 + t.1)
    }
}

impl Sub for Dd {
    type Output = Dd;
    fn sub(self, o: Dd) -> Dd {
        self + Dd(-o.0, -o.1)
    }
}

impl Mul for Dd {
    type Output = Dd;
    fn mul(self, o: Dd) -> Dd {
        let p = self.0 * o.0;
        let e = self.0.mul_add(o.0, -p);
        two_sum(p, e + self.0 * o.1 + self.1 * o.0)
    }
}

impl Div for Dd {
    type Output = Dd;
    fn div(self, o: Dd) -> Dd {
        let q = Dd(self.0 / o.0, 0.0);
        let r = self - q * o;
        let q = q + Dd(r.0 / o.0, 0.0);
        let r = self - q * o;
        q + Dd(r.0 / o.0, 0.0)
    }
}

impl Dd {
    pub fn sqrt(self) -> Dd {
        let x = Dd(self.0.sqrt(), 0.0);
        let r = self - x * x;
        x + Dd(r.0 / (2.0 * x.0), 0.0)
    }
}

/// A⁻¹ and ln det A, by Cholesky, correct to the last bits as long as cond(A) stays below 1e14 or
/// so.
pub fn inverse(a: MatRef<'_, f64>) -> (Mat<f64>, f64) {
    let n = a.nrows();
    let zero = Dd(0.0, 0.0);
    let mut L = vec![vec![zero; n]; n];
    let mut log_det = 0.0;
    for j in 0..n {
        for i in j..n {
            let sum = L[i][..j]
                .iter()
                .zip(&L[j][..j])
                .fold(Dd(a[(i, j)], 0.0), |sum, (x, y)| sum - *x * *y);
            L[i][j] = if i == j { sum.sqrt() } else { sum / L[j][j] };
        }
        log_det += 2.0 * L[j][j].0.ln();
    }
    let mut out = Mat::zeros(n, n);
    for e in 0..n {
        let mut x: Vec<Dd> = (0..n).map(|i| Dd(if i == e { 1.0 } else { 0.0 }, 0.0)).collect();
        for i in 0..n {
            for k in 0..i {
                x[i] = x[i] - L[i][k] * x[k];
            }
            x[i] = x[i] / L[i][i];
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                x[i] = x[i] - L[k][i] * x[k];
            }
            x[i] = x[i] / L[i][i];
            out[(i, e)] = x[i].0;
        }
    }
    (out, log_det)
}
