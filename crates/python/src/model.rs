//! The search for the best fit of a table and its model, both the same as on the command line.

use crate::array::to_array;
use crate::error::Problem;
use crate::report::Report;
use crate::run::{Stop, leave, run, run_owned};
use crate::table::{Given, table};
use nystrom::prelude::*;
use nystrom_page::FitPage;
use nystrom_pipeline::{
    ClassWeights, ColumnOptions, Effort, Event, Fit, Meter, Missing, Note, Progress, Split,
    TargetScale, Task,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

type Any<'py> = Bound<'py, PyAny>;

/// A fitted pipeline.
#[pyclass(frozen, module = "nystrom._native")]
pub struct Model(pub nystrom_pipeline::Model);

/// The options of a search.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    effort: String,
    work: Option<f64>,
    memory: Option<u64>,
    weights: Option<String>,
    classes: bool,
    balanced: bool,
    class_weights: Vec<(String, f64)>,
    calibrate: Option<String>,
    deviations: bool,
    target_scale: Option<String>,
    loss: String,
    group: Option<String>,
    time: Option<String>,
    seed: u64,
}

/// The options about columns.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ColumnsGiven {
    standardize: bool,
    scale: Vec<(String, f64)>,
    missing: String,
    categorical: Vec<String>,
    numeric: Vec<String>,
    not_missing: Vec<String>,
    features: Vec<String>,
    day_first: bool,
}

fn unknown(what: &str, given: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{what} = {given:?} is unknown; use one of {known}"))
}

impl ColumnsGiven {
    pub fn options(self) -> PyResult<ColumnOptions> {
        Ok(ColumnOptions {
            standardize: self.standardize,
            scale: self.scale,
            missing: match self.missing.as_str() {
                "fill" => Missing::Fill,
                "drop" => Missing::DropRows,
                "refuse" => Missing::Refuse,
                other => return Err(unknown("missing", other, "'fill', 'drop', 'refuse'")),
            },
            categorical: self.categorical,
            numeric: self.numeric,
            not_missing: self.not_missing,
            features: self.features,
            day_first: self.day_first,
            ..ColumnOptions::default()
        })
    }
}

impl Options {
    fn fit(&self, columns: ColumnsGiven) -> PyResult<Fit> {
        let efforts = [Effort::Quick, Effort::Default, Effort::Thorough];
        let effort = efforts.into_iter().find(|e| e.name() == self.effort);
        let effort = effort
            .ok_or_else(|| unknown("effort", &self.effort, "'quick', 'default', 'thorough'"))?;
        let calibrate = self.calibrate.as_deref().map(str::parse);
        let scale = |given: &str| {
            let found = TargetScale::ALL.into_iter().find(|scale| scale.name() == given);
            found.ok_or_else(|| unknown("target_scale", given, "'plain', 'log', 'root'"))
        };
        Ok(Fit {
            effort,
            work: self.work,
            memory: self.memory,
            columns: columns.options()?,
            weights: self.weights.clone(),
            task: if self.classes { Task::Classification } else { Task::Regression },
            class_weights: match &self.class_weights[..] {
                _ if self.balanced => ClassWeights::Balanced,
                [] => ClassWeights::Equal,
                given => ClassWeights::Given(given.to_vec()),
            },
            calibrate: calibrate.transpose().map_err(Problem::from)?,
            deviations: self.deviations,
            split: match (&self.group, &self.time) {
                (Some(column), _) => Split::Group(column.clone()),
                (None, Some(column)) => Split::Time(column.clone()),
                (None, None) => Split::Random,
            },
            target_scale: self.target_scale.as_deref().map(scale).transpose()?,
            loss: self.loss.parse().map_err(Problem::from)?,
            device: None,
        })
    }
}

/// Reports every step of a search to Python, by `tell(what, done, best)`, and checks `stop`.
struct Watch {
    stop: Stop,
    tell: Option<Py<PyAny>>,
}

impl Progress for Watch {
    fn told(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self.stop.check();
        if let Some(tell) = &self.tell {
            let best = event.best.map(|trial| trial.error);
            // `None` if the interpreter is shutting down
            let told = Python::try_attach(|py| tell.call1(py, (event.what, event.done, best)));
            told.transpose().map(drop).unwrap_or_else(|error| leave(error));
        }
        ControlFlow::Continue(())
    }

    fn meter(&self) -> Option<Meter> {
        let stop = self.stop.clone();
        Some(Arc::new(move |_| stop.check()))
    }
}

/// The number of operations that a search does on this machine in `seconds` seconds.
#[pyfunction]
#[pyo3(signature = (seconds, n_jobs=None))]
#[expect(clippy::disallowed_methods, reason = "time= needs the clock")]
pub fn work_in(py: Python<'_>, seconds: f64, n_jobs: Option<isize>) -> PyResult<f64> {
    let start = Instant::now();
    run(py, n_jobs, |_| Ok(nystrom_pipeline::work_in(seconds, || start.elapsed().as_secs_f64())?))
}

/// Searches for the best fit of a table. Returns the model and the report of the search.
#[pyfunction]
#[pyo3(signature = (columns, targets, options, tell=None, n_jobs=None))]
pub fn fit_table(
    py: Python<'_>,
    columns: Vec<Given<'_>>,
    targets: Vec<String>,
    options: Any<'_>,
    tell: Option<Py<PyAny>>,
    n_jobs: Option<isize>,
) -> PyResult<(Model, Report)> {
    let (given, of_columns) = (options.extract::<Options>()?, options.extract()?);
    let (table, fit, seed) = (table(&columns)?, given.fit(of_columns)?, given.seed);
    let settings = fit.settings(seed);
    let fitted = run_owned(py, n_jobs, move |stop| {
        let rng = &mut Pcg64::seed_from_u64(seed);
        let mut watch = Watch { stop: stop.clone(), tell };
        Ok(fit.table_with(&table, targets, &mut watch, rng)?)
    })?;
    let mut model = fitted.model;
    model.made.seed = Some(seed);
    model.made.settings = settings;
    Ok((Model(model), Report(fitted.report)))
}

#[pymethods]
impl Model {
    /// Reads a model from the bytes of a file of the command line.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let model = nystrom_pipeline::Model::from_bytes(bytes).map_err(Problem::from)?;
        Ok(Model(model))
    }

    /// The bytes of the file that the command line would write.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(Problem::from)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Any<'py>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Model>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    /// Predicted values, probabilities (for classes) and notes.
    #[pyo3(signature = (columns, n_jobs=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Given<'py>>,
        n_jobs: Option<isize>,
    ) -> PyResult<(Any<'py>, Option<Any<'py>>, Vec<String>)> {
        let table = table(&columns)?;
        let found = run(py, n_jobs, |_| Ok(self.0.predict(&table)?))?;
        let array = |a: &Mat<f64>| to_array(py, a.as_ref()).into_any();
        let probabilities = found.probabilities.as_ref().map(array);
        Ok((array(&found.values), probabilities, words(&found.notes)))
    }

    /// The lower and upper ends of prediction intervals of this level, and notes.
    #[pyo3(signature = (columns, level, n_jobs=None))]
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Given<'py>>,
        level: f64,
        n_jobs: Option<isize>,
    ) -> PyResult<(Any<'py>, Any<'py>, Vec<String>)> {
        let table = table(&columns)?;
        let found = run(py, n_jobs, |_| Ok(self.0.intervals(&table, level)?))?;
        let array = |a: &Mat<f64>| to_array(py, a.as_ref()).into_any();
        Ok((array(&found.lower), array(&found.upper), words(&found.notes)))
    }

    /// Standard deviations of new values, and of the function without noise.
    #[pyo3(signature = (columns, n_jobs=None))]
    fn deviations<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Given<'py>>,
        n_jobs: Option<isize>,
    ) -> PyResult<(Any<'py>, Any<'py>)> {
        let table = table(&columns)?;
        let found = run(py, n_jobs, |_| Ok(self.0.deviations(&table)?))?;
        let array = |a: &Mat<f64>| to_array(py, a.as_ref()).into_any();
        Ok((array(&found.of_value), array(&found.of_function)))
    }

    /// The HTML page of the fit. `report` is that of the search, if it is known; `command` repeats
    /// the fit.
    #[pyo3(signature = (report, command))]
    fn html(&self, report: Option<&Report>, command: &str) -> String {
        let (model, command) = (&self.0, Some(command));
        let page = match report {
            Some(report) => FitPage { command, ..FitPage::of(model, &report.0) },
            None => FitPage { model, report: None, validation: None, lambdas: &[], command },
        };
        page.html()
    }

    /// A description of the model.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (model, told) = (&self.0, PyDict::new(py));
        let kernel = model.regression().kernel();
        told.set_item("layout", model.layout())?;
        told.set_item("columns", model.columns().names().collect::<Vec<_>>())?;
        let texts = model.columns().names().filter(|name| model.columns().is_text(name));
        let dropped = model.columns().dropped().iter().map(|dropped| dropped.column.as_str());
        told.set_item("dropped", dropped.collect::<Vec<_>>())?;
        told.set_item("texts", texts.collect::<Vec<_>>())?;
        told.set_item("features", model.columns().features())?;
        told.set_item("targets", model.target_names())?;
        told.set_item("target_scale", model.target_scale().name())?;
        told.set_item("classes", model.classes().map(|classes| classes.names.clone()))?;
        told.set_item("numbers", model.classes().map(|classes| classes.numbers))?;
        told.set_item("kernel", kernel.describe())?;
        told.set_item("length_scale", kernel.bandwidth())?;
        told.set_item("alpha", model.regression().report().ridge)?;
        told.set_item("centers", model.regression().centers().len())?;
        told.set_item("metric", model.map().map(|map| to_array(py, map)))?;
        let columns = model.explanation.iter().flat_map(|found| &found.columns);
        let importance: Vec<(&str, f64)> =
            columns.map(|column| (column.column.as_str(), column.importance())).collect();
        told.set_item("importance", importance)?;
        let made = serde_json::to_string(&model.made);
        told.set_item("made", made.map_err(|error| PyValueError::new_err(error.to_string()))?)?;
        Ok(told)
    }
}

/// Notes as text.
pub fn words(notes: &[Note]) -> Vec<String> {
    notes.iter().map(ToString::to_string).collect()
}
