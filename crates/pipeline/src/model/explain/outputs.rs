//! The outputs of a model: targets in their units, or probabilities of classes.

use crate::classes::Classes;
use crate::model::Model;
use crate::target::{Target, in_units};
use nystrom::faer::{Mat, MatRef};
use std::ops::Range;

impl Model {
    /// The classes, and the range of those that are outputs: of two classes only the second.
    fn output_classes(&self) -> Option<(&Classes, Range<usize>)> {
        let classes = self.classes()?;
        let count = classes.names.len();
        Some((classes, usize::from(count == 2)..count))
    }

    /// The names of the outputs: of targets, of quantiles with their shares after the target, or of
    /// classes, of two classes only the second.
    pub fn output_names(&self) -> Vec<String> {
        match self.output_classes() {
            Some((classes, range)) => classes.names[range].to_vec(),
            None => self.targets.iter().map(Target::label).collect(),
        }
    }

    /// The outputs for standardised values of f, n × t.
    pub(super) fn outputs(&self, f: Mat<f64>) -> Mat<f64> {
        let values = in_units(f, &self.targets);
        match self.output_classes() {
            Some((classes, range)) => {
                let p = classes.probabilities(values.as_ref());
                Mat::from_fn(p.nrows(), range.len(), |i, k| p[(i, range.start + k)])
            }
            None => values,
        }
    }

    /// The slopes of each output, n × d, from the slopes of f along d features, n × (d·t) with the
    /// d columns of a target side by side.
    pub(super) fn output_slopes(&self, f: Mat<f64>, g: MatRef<'_, f64>, d: usize) -> Vec<Mat<f64>> {
        let targets = &self.targets;
        let of_target =
            |i: usize, k: usize, j: usize| targets[j].slope(f[(i, j)]) * g[(i, k + d * j)];
        let n = g.nrows();
        let Some((classes, range)) = self.output_classes() else {
            let of = |j: usize| Mat::from_fn(n, d, |i, k| of_target(i, k, j));
            return (0..targets.len()).map(of).collect();
        };
        let a = classes.calibration.slope;
        let p = classes.probabilities(in_units(f.clone(), targets).as_ref());
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
