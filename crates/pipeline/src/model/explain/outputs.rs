//! What a model is read by: targets in their units, or probabilities of classes.

use crate::model::Model;
use nystrom::faer::{Mat, MatRef};

pub(super) struct Outputs<'a> {
    model: &'a Model,
}

impl<'a> Outputs<'a> {
    pub fn of(model: &'a Model) -> Self {
        Outputs { model }
    }

    /// Of two classes the second stands for both.
    fn classes(&self) -> Option<std::ops::Range<usize>> {
        let count = self.model.classes()?.names.len();
        Some(usize::from(count == 2)..count)
    }

    pub fn names(&self) -> Vec<String> {
        match (self.model.classes(), self.classes()) {
            (Some(classes), Some(range)) => classes.names[range].to_vec(),
            _ => self.model.targets().iter().map(|target| target.name.clone()).collect(),
        }
    }

    /// The outputs where f has these standardised values, n × t.
    pub fn values(&self, f: &Mat<f64>) -> Mat<f64> {
        let values = self.in_units(f);
        match (self.model.classes(), self.classes()) {
            (Some(classes), Some(range)) => {
                let p = classes.probabilities(values.as_ref());
                Mat::from_fn(p.nrows(), range.len(), |i, k| p[(i, range.start + k)])
            }
            _ => values,
        }
    }

    fn in_units(&self, f: &Mat<f64>) -> Mat<f64> {
        let targets = self.model.targets();
        let value = |i, j: usize| targets[j].mean + targets[j].scale * f[(i, j)];
        Mat::from_fn(f.nrows(), f.ncols(), value)
    }

    /// The slopes of the outputs from those of f along d features, n × (d·t), a target's side by
    /// side: for each output n × d.
    pub fn slopes(&self, f: &Mat<f64>, g: MatRef<'_, f64>, d: usize) -> Vec<Mat<f64>> {
        let targets = self.model.targets();
        let of_target = |i: usize, k: usize, j: usize| targets[j].scale * g[(i, k + d * j)];
        let n = g.nrows();
        let (Some(classes), Some(range)) = (self.model.classes(), self.classes()) else {
            let of = |j: usize| Mat::from_fn(n, d, |i, k| of_target(i, k, j));
            return (0..targets.len()).map(of).collect();
        };
        let a = classes.calibration.slope;
        let p = classes.probabilities(self.in_units(f).as_ref());
        // the first of two classes has no function
        let of_class = |i: usize, k: usize, class: usize| match range.start {
            0 => of_target(i, k, class),
            first if class < first => 0.0,
            first => of_target(i, k, class - first),
        };
        // ∂p_c = a p_c (∂f_c − Σ_l p_l ∂f_l)
        let mean = Mat::from_fn(n, d, |i, k| {
            (0..p.ncols()).map(|l| p[(i, l)] * of_class(i, k, l)).sum::<f64>()
        });
        let of = |c: usize| {
            Mat::from_fn(n, d, |i, k| a * p[(i, c)] * (of_class(i, k, c) - mean[(i, k)]))
        };
        range.clone().map(of).collect()
    }
}
