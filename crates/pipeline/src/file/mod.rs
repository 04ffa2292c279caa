//! The model file: a JSON head followed by binary numbers.
//!
//! ```text
//! "NYSTROM\n"   8 bytes
//! format        u32      all integers and numbers little endian
//! length        u64      of the head
//! length        u64      of the payload
//! head          JSON     columns, targets, kernel, sizes, how it was made
//! payload       f64      map, centres, coefficients, intercepts; each by columns; the same of the
//!                        sizes of residuals, and the calibration scores, if rows were set aside;
//!                        coefficients and residuals of models that leave rows out; centres and
//!                        factor of the variance
//! checksum      32 bytes SHA-256 of all before
//! ```
//!
//! Centres that are sparse are three lists: the number of stored coordinates of each, the places
//! of these from 0, and their values.

mod head;

use crate::error::{Error, Result};
use crate::intervals::{Conformal, Plus, ResidualSizes, Uncertainty, Variances};
use crate::kernel::AnyKernel;
use crate::model::Model;
use head::{ConformalHead, ModelHead, UncertaintyHead};
use nystrom::faer::{Mat, MatRef};
use nystrom::kernels::{PointSet, SparseRows};
use nystrom::krr::{FitReport, Posterior};
use nystrom::prelude::*;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fmt::Display;

/// Version of the layout of model files, raised whenever the layout changes.
pub const MODEL_FILE_FORMAT: u32 = 5;

const MAGIC: &[u8; 8] = b"NYSTROM\n";
/// Bytes before the head.
const FRONT: usize = 8 + 4 + 8 + 8;
const CHECKSUM: usize = 32;
/// Largest number of rows or columns of an empty matrix, which the payload's length does not bound.
const MOST_ROWS_OR_COLUMNS: usize = 1 << 26;

impl Model {
    /// The bytes of the model file; the same model gives the same bytes.
    ///
    /// # Errors
    /// [`Error::File`] if a number of the head is not finite.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let head = serde_json::to_vec(&ModelHead::of(self))
            .map_err(|error| damaged(format!("cannot be written: {error}")))?;
        let mut numbers: Vec<f64> = self.map.iter().flat_map(|map| entries(map.as_ref())).collect();
        numbers.extend(of_regression(&self.regression));
        if let Some(Conformal { sizes, scores }) = &self.conformal {
            numbers.extend(of_regression(&sizes.regression));
            numbers.extend(scores.iter().flatten());
        }
        if let Some(Plus { models, residuals }) = &self.plus {
            numbers.extend(entries(models.coefficients()));
            numbers.extend(residuals.iter().flatten().flatten());
        }
        if let Some(Uncertainty { posterior, .. }) = &self.uncertainty {
            numbers.extend(of_points(posterior.centers()));
            numbers.extend(entries(posterior.factor()));
        }
        let payload: Vec<u8> = numbers.into_iter().flat_map(f64::to_le_bytes).collect();
        let mut bytes = Vec::with_capacity(FRONT + head.len() + payload.len() + CHECKSUM);
        bytes.extend(MAGIC);
        bytes.extend(MODEL_FILE_FORMAT.to_le_bytes());
        bytes.extend((head.len() as u64).to_le_bytes());
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(head);
        bytes.extend(payload);
        let checksum = Sha256::digest(&bytes);
        bytes.extend(checksum);
        Ok(bytes)
    }

    /// Reads a model that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::File`] for bytes that are not a model, that are damaged or that have another
    /// layout, and for a model that no fit could have made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        let model = if bytes.starts_with(MAGIC) { binary(bytes)? } else { no_model(bytes)? };
        match model.problem() {
            Some(problem) => Err(damaged(problem)),
            None => Ok(model),
        }
    }
}

/// The error for a file of another layout (1 and 2 are JSON) or for a file that is no model.
fn no_model(bytes: &[u8]) -> Result<Model> {
    #[derive(Deserialize)]
    struct Header {
        program: Option<String>,
        format: Option<u32>,
    }
    let problem = match serde_json::from_slice(bytes) {
        Ok(Header { program: Some(program), format: Some(found) }) if program == "nystrom" => {
            return Err(other_format(found));
        }
        Ok(_) => {
            "is JSON, but no model of `nystrom fit`; name the model first, then the data".into()
        }
        Err(error) => format!("is not a whole model file ({error}); fit the model again"),
    };
    Err(Error::File { problem })
}

fn binary(bytes: &[u8]) -> Result<Model> {
    let cut = || damaged("its length differs from the length in its head");
    let number =
        |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
    let format = bytes.get(8..12).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    match format {
        Some(MODEL_FILE_FORMAT) => {}
        Some(found) => return Err(other_format(found)),
        None => return Err(cut()),
    }
    let length = |at| number(at).and_then(|length| usize::try_from(length).ok());
    let (head, payload) = (length(12).ok_or_else(cut)?, length(20).ok_or_else(cut)?);
    let whole = FRONT.checked_add(head).and_then(|sum| sum.checked_add(payload));
    let body =
        whole.filter(|body| body.checked_add(CHECKSUM) == Some(bytes.len())).ok_or_else(cut)?;
    if Sha256::digest(&bytes[..body])[..] != bytes[body..] {
        return Err(damaged("its checksum is wrong"));
    }
    let (head, payload) = (&bytes[FRONT..FRONT + head], &bytes[FRONT + head..body]);
    let head: ModelHead = serde_json::from_slice(head).map_err(damaged)?;
    let mut numbers = Numbers(payload);
    let map = head.map.then(|| numbers.matrix(head.dim, head.dim)).transpose()?;
    let (dim, t) = (head.dim, head.targets.len());
    let points = numbers.points(dim, head.centers, head.stored)?;
    let regression = numbers.regression(points, t, (head.kernel, head.report))?;
    let conformal = head.conformal.map(|head| numbers.conformal(dim, t, head)).transpose()?;
    let plus = head.plus.map(|plus| numbers.plus(&regression, t, &plus.parts)).transpose()?;
    let uncertainty = head.uncertainty.map(|head| numbers.uncertainty(dim, head)).transpose()?;
    if !numbers.0.is_empty() {
        return Err(cut());
    }
    let ModelHead { columns, layout, targets, classes, explanation, made, .. } = head;
    Ok(Model {
        columns,
        layout,
        targets,
        classes,
        map,
        regression,
        conformal,
        plus,
        uncertainty,
        device: None,
        explanation,
        made,
    })
}

/// The numbers of a regression in a file: centres, coefficients, intercepts.
fn of_regression(model: &KrrModel<AnyKernel, f64>) -> impl Iterator<Item = f64> + '_ {
    let theta = entries(model.coefficients());
    of_points(model.centers()).into_iter().chain(theta).chain(model.intercept().to_vec())
}

/// The numbers of points in a file.
fn of_points(points: Points<'_, f64>) -> Vec<f64> {
    if !points.is_sparse() {
        return entries(points.as_cols()).collect();
    }
    let rows: Vec<_> = (0..points.len()).filter_map(|i| points.sparse_row(i)).collect();
    let sizes = rows.iter().map(|(places, _)| places.len() as f64);
    let places = rows.iter().flat_map(|(places, _)| *places).copied().map(f64::from);
    sizes.chain(places).chain(rows.iter().flat_map(|(_, values)| *values).copied()).collect()
}

/// The part of the payload that is not read yet.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    /// The next nrows × ncols numbers, by columns.
    fn matrix(&mut self, nrows: usize, ncols: usize) -> Result<Mat<f64>> {
        let size = nrows.checked_mul(ncols).and_then(|entries| entries.checked_mul(8));
        let size = size.filter(|size| *size > 0 || nrows.max(ncols) <= MOST_ROWS_OR_COLUMNS);
        let Some((bytes, rest)) = size.and_then(|size| self.0.split_at_checked(size)) else {
            return Err(damaged("its payload ends too early"));
        };
        self.0 = rest;
        let (numbers, _) = bytes.as_chunks::<8>();
        Ok(Mat::from_fn(nrows, ncols, |i, j| f64::from_le_bytes(numbers[j * nrows + i])))
    }
}

impl Numbers<'_> {
    /// The next points; sparse ones if there is a number of stored coordinates.
    fn points(&mut self, dim: usize, count: usize, stored: Option<usize>) -> Result<PointSet<f64>> {
        let Some(stored) = stored else { return Ok(self.matrix(dim, count)?.into()) };
        let sizes = self.matrix(count, 1)?;
        let [places, values] = [self.matrix(stored, 1)?, self.matrix(stored, 1)?];
        let is_whole = |value: &f64| *value >= 0.0 && value.fract() == 0.0;
        if !sizes.col(0).iter().chain(places.col(0).iter()).all(is_whole) {
            return Err(damaged("its sparse centres have places that are no whole numbers"));
        }
        let ends = sizes.col(0).iter().scan(0_usize, |end, size| {
            *end = end.saturating_add(*size as usize);
            Some(*end)
        });
        let starts = [0].into_iter().chain(ends).collect();
        let columns = places.col(0).iter().map(|place| *place as u32).collect();
        let values = values.col(0).iter().copied().collect();
        Ok(SparseRows::new(dim, starts, columns, values).map_err(damaged)?.into())
    }

    fn regression(
        &mut self,
        points: PointSet<f64>,
        targets: usize,
        (kernel, report): (AnyKernel, FitReport),
    ) -> Result<KrrModel<AnyKernel, f64>> {
        let coefficients = self.matrix(points.points().len(), targets)?;
        let intercept = self.matrix(targets, 1)?.col(0).iter().copied().collect();
        KrrModel::new(kernel, points, coefficients, intercept, report).map_err(damaged)
    }

    fn conformal(&mut self, dim: usize, targets: usize, head: ConformalHead) -> Result<Conformal> {
        let ConformalHead { centers, stored, kernel, report, ranges, rows } = head;
        let points = self.points(dim, centers, stored)?;
        let regression = self.regression(points, targets, (kernel, report))?;
        let scores = self.matrix(rows, targets)?;
        let scores = scores.col_iter().map(|col| col.iter().copied().collect()).collect();
        Ok(Conformal { sizes: ResidualSizes { regression, ranges }, scores })
    }
}

impl Numbers<'_> {
    fn plus(
        &mut self,
        one: &KrrModel<AnyKernel, f64>,
        targets: usize,
        parts: &[usize],
    ) -> Result<Plus> {
        let columns = parts.len().saturating_mul(targets);
        let theta = self.matrix(one.centers().len(), columns)?;
        let mut of_part = |&rows: &usize| {
            self.matrix(rows, 1).map(|residuals| residuals.col(0).iter().copied().collect())
        };
        let mut residuals = Vec::new();
        for _ in 0..targets {
            residuals.push(parts.iter().map(&mut of_part).collect::<Result<_>>()?);
        }
        Plus::of(one, theta, residuals).map_err(damaged)
    }

    fn uncertainty(&mut self, dim: usize, head: UncertaintyHead) -> Result<Uncertainty> {
        let UncertaintyHead { kernel, centers, stored, columns, mu, noise, function, rates } = head;
        let points = self.points(dim, centers, stored)?;
        let factor = self.matrix(centers, columns)?;
        let posterior = Posterior::new(kernel, points, factor, rates, mu).map_err(damaged)?;
        Ok(Uncertainty { posterior, variances: Variances { function, noise } })
    }
}

fn entries(a: MatRef<'_, f64>) -> impl Iterator<Item = f64> + '_ {
    (0..a.ncols()).flat_map(move |j| (0..a.nrows()).map(move |i| a[(i, j)]))
}

fn damaged(problem: impl Display) -> Error {
    Error::File { problem: format!("is damaged ({problem}); fit the model again") }
}

fn other_format(found: u32) -> Error {
    Error::File {
        problem: format!(
            "has layout {found}, this program reads layout {MODEL_FILE_FORMAT}; fit the model \
             again, or use the version that wrote it"
        ),
    }
}
