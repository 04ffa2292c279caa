//! A fitted pipeline: from a table to predictions.

mod dimensions;
mod explain;
mod intervals;

pub use explain::{Average, Dependence, Explanation, Grid, Influence};
pub use intervals::{Deviations, Intervals};

use crate::classes::Classes;
use crate::columns::{Columns, Note};
use crate::device::SharedDevice;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::intervals::{Conformal, Plus, Uncertainty};
use crate::kernel::AnyKernel;
use crate::loss::TargetLoss;
use crate::report::SearchErrors;
use crate::target::{Target, TargetScale, in_units};
use nystrom::faer::{Mat, MatRef};
use nystrom::linalg_core::ops;
use nystrom::prelude::*;
use nystrom_data::Table;
use serde::{Deserialize, Serialize};

/// A fitted model: columns → features → linear map → kernel → centres and coefficients → targets in
/// their own units.
///
/// [`Fit`](crate::Fit) makes a model, [`to_bytes`](Self::to_bytes) saves it and
/// [`from_bytes`](Self::from_bytes) loads it, without naming the kernel.
///
/// ```
/// use nystrom::prelude::*;
/// use nystrom_data::{Column, Table};
/// use nystrom_pipeline::{Fit, Model};
/// let a: Vec<f64> = (0..60).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = a.iter().map(|a| a.sin()).collect();
/// let table = Table::new("t", vec![Column::numbers("a", a), Column::numbers("y", y)]).unwrap();
/// let fit = Fit::default().table(&table, ["y"], &mut Pcg64::seed_from_u64(0))?;
/// let loaded = Model::from_bytes(&fit.model.to_bytes()?)?;
/// let new = Table::new("new", vec![Column::numbers("a", vec![1.05])]).unwrap();
/// let prediction = loaded.predict(&new)?;
/// assert!((prediction.values[(0, 0)] - 1.05_f64.sin()).abs() < 1e-2);
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Model {
    pub(crate) columns: Columns,
    /// The names of all columns of the fitted table, in its order. A file without names must have
    /// these columns.
    pub(crate) layout: Vec<String>,
    pub(crate) targets: Vec<Target>,
    /// The classes, if the target has classes: then `targets` are their functions.
    pub(crate) classes: Option<Classes>,
    /// The linear map A, d × d: the kernel takes Ax.
    pub(crate) map: Option<Mat<f64>>,
    pub(crate) regression: KrrModel<AnyKernel, f64>,
    /// The calibration of intervals, if rows were set aside for it.
    pub(crate) conformal: Option<Conformal>,
    /// The calibration of intervals by models that leave rows out.
    pub(crate) plus: Option<Plus>,
    /// The variances for standard deviations.
    pub(crate) uncertainty: Option<Uncertainty>,
    /// Where predictions are computed, unless on the CPU. Not saved.
    pub(crate) device: Option<SharedDevice>,
    /// The importance and effect of each column, from some of the fitted rows. Predictions do not
    /// depend on it.
    pub explanation: Option<Explanation>,
    /// A record of how the model was made. Predictions do not depend on it.
    pub made: Made,
}

/// A record of how a model was made. The record is the same in every run with the same seed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Made {
    /// The version of this crate.
    pub version: String,
    /// The seed, if the caller recorded it.
    pub seed: Option<u64>,
    /// How the centres were chosen, as `METHOD:COUNT` or in words, such as that they are all rows.
    pub centers: String,
    /// λ in K + nλI.
    pub lambda: f64,
    /// For classes: whether the loss is logistic instead of the squared error.
    pub logistic: bool,
    /// What the fit minimised, for numbers.
    pub loss: TargetLoss,
    /// For classes: the number of different rows that an iterative fit left out, on which the
    /// probabilities are calibrated.
    pub held_out: usize,
    /// Root mean square error on the fitted rows.
    pub training_rmse: Option<f64>,
    /// Root mean square error on validation rows, in standard deviations of the target.
    pub validation_error: Option<f64>,
    /// The errors of the search's choice, in the units of the targets.
    pub errors: Option<SearchErrors>,
    /// The options that repeat the fit.
    pub settings: String,
    /// Whether the model stores every training row.
    pub holds_all_rows: bool,
}

/// Predictions for the n rows of a table.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Predictions {
    /// The predictions, n × t, one column for each target. For classes: the values of their
    /// functions, near ±1, or log-odds with logistic loss.
    pub values: Mat<f64>,
    /// For classes: the probabilities, n × K.
    pub probabilities: Option<Mat<f64>>,
    /// Notes about cells that the fitted table did not have.
    pub notes: Vec<Note>,
}

impl Model {
    /// Assembles a model. `map` is the linear map A, d × d, if the kernel takes Ax instead of x.
    ///
    /// # Errors
    /// [`Error::File`] if the sizes of the parts contradict each other or numbers are not finite.
    pub fn new(
        columns: Columns,
        layout: Vec<String>,
        targets: Vec<Target>,
        map: Option<Mat<f64>>,
        regression: KrrModel<AnyKernel, f64>,
        made: Made,
    ) -> Result<Self> {
        Model {
            columns,
            layout,
            targets,
            classes: None,
            map,
            regression,
            conformal: None,
            plus: None,
            uncertainty: None,
            device: None,
            explanation: None,
            made,
        }
        .sound()
    }

    /// The same model, with targets that are the functions of these classes; `None` for a
    /// regression.
    ///
    /// # Errors
    /// [`Error::File`] if the number of targets is not the number of functions of the classes.
    pub fn with_classes(self, classes: Option<Classes>) -> Result<Self> {
        Model { classes, ..self }.sound()
    }

    /// The same model, whose [`predict`](Self::predict) computes on this device; `None`: on the
    /// CPU.
    pub fn on(self, device: Option<SharedDevice>) -> Self {
        Model { device, ..self }
    }

    fn sound(self) -> Result<Self> {
        match self.problem() {
            Some(problem) => Err(Error::File { problem }),
            None => Ok(self),
        }
    }

    /// Predictions for the rows of `table`, whose columns are matched by name.
    ///
    /// # Cost
    /// n·m kernel values, n·d² flops for the linear map.
    ///
    /// # Errors
    /// Those of [`KrrModel::predict`], and of [`Columns::apply`] about the cells of the table.
    /// Sparse rows are predicted only by a model of sparse rows, and other rows only by others.
    pub fn predict(&self, table: &Table) -> Result<Predictions> {
        let (model, x, notes) = self.at(table)?;
        let values = model.values(x.points())?;
        let classes = self.classes.as_ref();
        let probabilities = classes.map(|classes| classes.probabilities(values.as_ref()));
        Ok(Predictions { values, probabilities, notes })
    }

    /// The scale on which the targets were fitted.
    pub fn target_scale(&self) -> TargetScale {
        self.targets.first().map_or(TargetScale::Plain, |target| target.curve.scale())
    }

    /// The predictions at mapped features, in the units of the targets.
    pub(crate) fn values(&self, x: Points<'_, f64>) -> Result<Mat<f64>> {
        let f = match &self.device {
            // points of a device are dense
            Some(device) if !x.is_sparse() => self.regression.predict_on(&**device, x)?,
            _ => self.regression.predict(x)?,
        };
        Ok(in_units(f, &self.targets))
    }

    /// The probabilities of the classes, n × K in the order of [`classes`](Self::classes).
    ///
    /// # Cost
    /// That of [`predict`](Self::predict).
    ///
    /// # Errors
    /// [`Error::NoClasses`] for a regression; those of [`predict`](Self::predict).
    ///
    /// ```
    /// use nystrom::prelude::*;
    /// use nystrom_data::{Column, Table};
    /// use nystrom_pipeline::Fit;
    /// let a: Vec<f64> = (0..60).map(|i| f64::from(i * 7 % 60)).collect();
    /// let y: Vec<f64> = a.iter().map(|a| f64::from(u8::from(*a > 30.0))).collect();
    /// let table = vec![Column::numbers("a", a), Column::numbers("y", y)];
    /// let table = Table::new("t", table).unwrap();
    /// let fit = Fit { work: Some(1e8), ..Fit::default() };
    /// let model = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(0))?.model;
    /// assert_eq!(model.classes().unwrap().names, ["0", "1"]);
    /// let new = Table::new("new", vec![Column::numbers("a", vec![2.0, 58.0])]).unwrap();
    /// let p = model.probabilities(&new)?;
    /// assert!(p[(0, 0)] > 0.9 && p[(1, 1)] > 0.9);
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn probabilities(&self, table: &Table) -> Result<Mat<f64>> {
        let classes = self.tells_apart()?;
        Ok(classes.probabilities(self.predict(table)?.values.as_ref()))
    }

    /// The classes that the model predicts; `None` for a regression.
    pub fn classes(&self) -> Option<&Classes> {
        self.classes.as_ref()
    }

    /// Like [`classes`](Self::classes), with an error for a regression.
    ///
    /// # Errors
    /// [`Error::NoClasses`] for a regression.
    pub fn tells_apart(&self) -> Result<&Classes> {
        let target = || self.targets.first().map_or_else(String::new, |target| target.name.clone());
        self.classes.as_ref().ok_or_else(|| Error::NoClasses { target: target() })
    }

    /// The columns that a table needs for predictions, and their features.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The names of all columns of the fitted table, in its order.
    pub fn layout(&self) -> &[String] {
        &self.layout
    }

    /// The targets. For classes: one for each function, all with the name of the one target column.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The names of the target columns.
    pub fn target_names(&self) -> Vec<&str> {
        // classes and quantiles are several functions of one target
        let mut names: Vec<&str> = self.targets.iter().map(|target| &target.name[..]).collect();
        names.dedup();
        names
    }

    /// The true values of each target in a table, read in the notation of the fitted table; NaN
    /// where missing. `None` for a target that the table lacks, and for classes.
    ///
    /// # Cost
    /// O(n) for each target.
    ///
    /// # Errors
    /// [`Error::Values`] for a target whose cells cannot be read in the notation of the fitted
    /// table.
    ///
    /// ```
    /// use nystrom::prelude::*;
    /// use nystrom_data::{Column, Csv, Table};
    /// use nystrom_pipeline::Fit;
    /// let rows: Vec<String> = (1..41).map(|i| format!("{i}.5,\"{i},{:03}\"\n", i * 7)).collect();
    /// let text = format!("a,y\n{}", rows.concat());
    /// let table = Csv::new().text(["y"]).read(text.as_bytes(), "t.csv").unwrap();
    /// let fit = Fit { work: Some(1e8), ..Fit::default() };
    /// let model = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(0))?.model;
    /// assert_eq!(model.actual(&table)?[0].as_ref().unwrap()[1], 2014.0);
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn actual(&self, table: &Table) -> Result<Vec<Option<Vec<f64>>>> {
        if self.classes.is_some() {
            return Ok(vec![None]);
        }
        self.targets.iter().map(|target| self.columns.actual(table, &target.name)).collect()
    }

    /// The linear map A, d × d, if the fit learnt one.
    pub fn map(&self) -> Option<MatRef<'_, f64>> {
        self.map.as_ref().map(Mat::as_ref)
    }

    /// Kernel, centres and coefficients, in the space of the mapped features.
    pub fn regression(&self) -> &KrrModel<AnyKernel, f64> {
        &self.regression
    }

    /// The mapped features of the rows of a table without sparse rows, n × d.
    pub(crate) fn points_of(&self, table: &Table) -> Result<Mat<f64>> {
        Ok(self.mapped(self.columns.apply(table)?.x))
    }

    /// The mapped features of the rows of a table.
    pub(crate) fn features_of(&self, table: &Table) -> Result<Features> {
        Ok(self.columns.features_of(table, None)?.0.mapped(self.map.as_ref()))
    }

    pub(crate) fn mapped(&self, x: Mat<f64>) -> Mat<f64> {
        match &self.map {
            Some(map) => mapped(x.as_ref(), map.as_ref()),
            None => x,
        }
    }

    /// The centres of each of its regressions.
    fn all_centers(&self) -> impl Iterator<Item = Points<'_, f64>> {
        let conformal = self.conformal.iter().map(|of| of.sizes.regression.centers());
        let plus = self.plus.iter().map(|of| of.models.centers());
        let uncertainty = self.uncertainty.iter().map(|of| of.posterior.centers());
        [self.regression.centers()].into_iter().chain(conformal).chain(plus).chain(uncertainty)
    }

    /// A description of what is wrong, if no fit makes this model.
    pub(crate) fn problem(&self) -> Option<String> {
        let (d, t) = (self.columns.dim(), self.regression.coefficients().ncols());
        let sides = self.map.as_ref().map_or((d, d), |map| (map.nrows(), map.ncols()));
        let finite = |map: &Mat<f64>| map.col_iter().all(|col| col.iter().all(|v| v.is_finite()));
        let found = self.regression.centers().dim();
        if sides != (d, d) || found != d {
            return Some(format!("it has {d} features, its centres have {found}"));
        }
        if self.map.as_ref().is_some_and(|map| !finite(map)) {
            return Some("its linear map is not finite".into());
        }
        let is_sparse = self.columns.sparse().is_some();
        if self.all_centers().any(|centers| centers.is_sparse() != is_sparse) {
            return Some("its centres and its features have different forms".into());
        }
        if is_sparse && self.map.is_some() {
            return Some("it has a linear map of sparse rows".into());
        }
        if self.regression.kernel().family().takes_bits() != self.columns.fingerprint().is_some() {
            return Some("its kernel does not fit its features".into());
        }
        let names = self.targets.len();
        if names != t {
            return Some(format!("it names {names} targets, its coefficients have {t}"));
        }
        let classes = self.classes.as_ref().and_then(|classes| classes.problem(t));
        let conformal = || self.conformal.as_ref().and_then(|conformal| conformal.problem(d, t));
        let plus = || self.plus.as_ref().and_then(|plus| plus.problem(d, t));
        let uncertainty = || self.uncertainty.as_ref().and_then(|u| u.problem(d, t));
        let part = classes.or_else(conformal).or_else(plus).or_else(uncertainty);
        if part.is_some() {
            return part;
        }
        if let Some(target) = self.targets.iter().find(|target| !target.is_sound()) {
            return Some(format!("its target {:?} has no finite scale", target.name));
        }
        let needed = self.columns.names().chain(self.targets.iter().map(|t| t.name.as_str()));
        if let Some(name) = needed.into_iter().find(|name| !self.layout.iter().any(|n| n == name)) {
            return Some(format!("{name:?} is not among its columns"));
        }
        self.columns.columns.iter().find_map(crate::columns::Treated::problem)
    }
}

/// The rows Ax_i as rows: X Aᵀ.
pub(crate) fn mapped(x: MatRef<'_, f64>, map: MatRef<'_, f64>) -> Mat<f64> {
    ops::times(x, map.transpose())
}
