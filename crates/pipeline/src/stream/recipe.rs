//! The recipe of a fit to all rows: the model without its coefficients.

use super::class_sample::ClassSample;
use super::sections::{Content, pack, read, unpack, write, wrong};
use super::used_rows::UsedRows;
use super::{StreamFit, TableSurvey};
use crate::cost::sums_work;
use crate::error::Result;
use crate::fit::Fit;
use crate::model::Model;
use crate::target::Target;
use nystrom::faer::{ColRef, Mat, MatRef};
use nystrom::linalg_core::{random, validate};
use nystrom::prelude::*;
use nystrom::sketch::SparseSketch;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// A model without its coefficients: columns, linear map, kernel, centres, and the scales of the
/// targets. A pass over the rows computes the coefficients.
#[derive(Debug, Clone)]
pub struct Recipe {
    pub(super) fit: Fit,
    /// The model of the reservoir.
    pub(super) model: Model,
    pub(super) facts: Facts,
    /// The centres, d × m.
    pub(super) centers: Mat<f64>,
    /// The columns of the sketch in whose span the fit is.
    pub(super) sketch: Option<SketchColumns>,
    /// For classes: the rows of the reservoir on which probabilities are calibrated.
    pub(super) sample: Option<ClassSample>,
    /// The keys of rows that are not fitted.
    pub(super) held: HashSet<u64>,
}

/// The small parts of a recipe.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Facts {
    /// The targets of the model; those that are numbers have the moments of all rows.
    pub targets: Vec<Target>,
    /// The method that chose the centres.
    pub chosen_by: String,
    /// An estimate of the number of different used rows, if rows are copied.
    pub different: Option<f64>,
    pub mean_weight: f64,
    #[serde(flatten)]
    pub used: UsedRows,
}

/// The entries of each column of a sketch: centre and value.
pub(super) type SketchColumns = Vec<Vec<(usize, f64)>>;

/// The number of leaves of [`RowTree::large`](nystrom::linalg_core::RowTree::large).
const LEAVES: usize = 8;

/// The method of centres that are random rows.
pub(super) const UNIFORM: &str = "uniform";
/// The method if every row is a centre.
pub(super) const ALL: &str = "all rows";

impl StreamFit {
    /// The recipe with the kernel, linear map and columns of the model `found` that a
    /// [`search`](Self::search) returned, with the target scales of all rows. The centres are
    /// random rows of the reservoir.
    ///
    /// # Errors
    /// Those of [`Columns::apply`](crate::Columns::apply), which do not occur for the model of this
    /// survey.
    ///
    /// # Randomness
    /// The centres.
    pub fn recipe(&self, survey: &TableSurvey, found: Model, rng: &mut dyn Rng) -> Result<Recipe> {
        let sample = &survey.table;
        let rows = match self.copies(survey)? {
            Some(copies) => copies.first,
            None => (0..sample.rows()).collect(),
        };
        let chosen = random::uniform_subset(rows.len(), self.landmarks.min(rows.len()), rng)?;
        let chosen: Vec<usize> = chosen.into_iter().map(|place| rows[place]).collect();
        let centers = found.points_of(&sample.select_rows(&chosen)?)?;
        self.recipe_at(survey, found, centers.as_ref(), UNIFORM)
    }

    /// Like [`recipe`](Self::recipe), with every row as a centre. Only [`Recipe::iterate_over`] can
    /// fit it.
    ///
    /// # Errors
    /// Those of [`recipe`](Self::recipe).
    pub fn recipe_of_all(&self, survey: &TableSurvey, found: Model) -> Result<Recipe> {
        self.check_level_means(survey, &found)?;
        self.without_centers(survey, found)
    }

    pub(super) fn without_centers(&self, survey: &TableSurvey, found: Model) -> Result<Recipe> {
        let d = found.regression.centers().dim();
        self.made_of(survey, found, Mat::zeros(d, 0), ALL)
    }

    /// The points that the kernel of `found` takes for the rows of the reservoir, r × d, from which
    /// a caller can choose centres.
    ///
    /// # Errors
    /// Those of [`recipe`](Self::recipe).
    pub fn reservoir(&self, survey: &TableSurvey, found: &Model) -> Result<Mat<f64>> {
        found.points_of(&survey.table)
    }

    /// Like [`recipe`](Self::recipe), with these centres (m × d), as points of the kernel;
    /// `chosen_by` is the name of the method that chose them.
    ///
    /// # Errors
    /// [`Shape`](nystrom::Error::Shape) for another number of coordinates,
    /// [`NonFinite`](nystrom::Error::NonFinite), [`Empty`](nystrom::Error::Empty) without centres.
    pub fn recipe_at(
        &self,
        survey: &TableSurvey,
        found: Model,
        centers: MatRef<'_, f64>,
        chosen_by: &str,
    ) -> Result<Recipe> {
        self.check_level_means(survey, &found)?;
        let d = found.regression.centers().dim();
        validate::not_empty("centres (m)", centers.nrows())?;
        validate::same_size("coordinates of the centres", d, centers.ncols())?;
        validate::finite("centres", centers)?;
        self.made_of(survey, found, centers.transpose().to_owned(), chosen_by)
    }

    /// Like [`recipe`](Self::recipe), for a fit in the span of a sketch of the reservoir, as in
    /// [`SketchedKrr`](nystrom::krr::SketchedKrr). The rows of the sketch are those of
    /// [`reservoir`](Self::reservoir); the rows in its support become the centres. `chosen_by` is a
    /// description of the sketch.
    ///
    /// # Errors
    /// [`Shape`](nystrom::Error::Shape) unless the sketch has one row for each row of the
    /// reservoir; those of [`recipe`](Self::recipe).
    pub fn recipe_in_span(
        &self,
        survey: &TableSurvey,
        found: Model,
        sketch: &dyn Sketch<f64>,
        chosen_by: &str,
    ) -> Result<Recipe> {
        self.check_level_means(survey, &found)?;
        let rows = survey.table.rows();
        validate::same_size("rows of the sketch against the reservoir", rows, sketch.n())?;
        let centers = found.points_of(&survey.table.select_rows(sketch.support())?)?;
        let span = sketch.expand(Mat::identity(sketch.width(), sketch.width()).as_ref());
        let entries = |column: ColRef<'_, f64>| {
            let entries = column.iter().copied().enumerate();
            entries.filter(|(_, value)| *value != 0.0).collect()
        };
        let sketch = Some(span.col_iter().map(entries).collect());
        let recipe = self.made_of(survey, found, centers.transpose().to_owned(), chosen_by)?;
        Ok(Recipe { sketch, ..recipe })
    }

    /// The recipe with these centres, d × m.
    fn made_of(
        &self,
        survey: &TableSurvey,
        found: Model,
        centers: Mat<f64>,
        chosen_by: &str,
    ) -> Result<Recipe> {
        let exact = |target: &Target| match survey.all.moments.get(&target.name) {
            Some(sums) if found.classes.is_none() => {
                let (mean, scale) = sums.moments();
                Target::plain(&target.name, mean, scale)
            }
            _ => target.clone(),
        };
        let copies = self.copies(survey)?;
        let facts = Facts {
            targets: found.targets.iter().map(exact).collect(),
            chosen_by: chosen_by.to_owned(),
            different: copies.as_ref().map(|copies| copies.different),
            mean_weight: survey.mean_weight,
            used: survey.used_rows(LEAVES),
        };
        let sample = ClassSample::of(&self.fit, survey, &found, copies.is_some())?;
        let (fit, model, held) = (self.fit.clone(), found, HashSet::new());
        Ok(Recipe { fit, model, facts, centers, sketch: None, sample, held })
    }
}

impl Recipe {
    /// The number of centres; n if every row is a centre.
    pub fn landmarks(&self) -> usize {
        if self.is_of_all() { self.facts.used.rows as usize } else { self.centers.ncols() }
    }

    /// The number of coefficients for each target: the number of columns of the sketch, or of
    /// centres.
    pub fn dimensions(&self) -> usize {
        self.sketch.as_ref().map_or_else(|| self.landmarks(), Vec::len)
    }

    /// The sketch of the centres in whose span the fit is.
    pub(super) fn span(&self) -> Result<Option<SparseSketch<f64>>> {
        let of = |columns: &SketchColumns| SparseSketch::new(self.centers.ncols(), columns.clone());
        Ok(self.sketch.as_ref().map(of).transpose()?)
    }

    /// Whether every row is a centre.
    pub(super) fn is_of_all(&self) -> bool {
        self.facts.chosen_by == ALL
    }

    /// The number of used rows.
    pub fn rows(&self) -> u64 {
        self.facts.used.rows
    }

    /// An estimate of the number of different rows, if the reservoir shows that some rows are
    /// copies of others.
    pub fn different_rows(&self) -> Option<f64> {
        self.facts.different
    }

    /// The same recipe with at most this many leaves in the tree of the sums, instead of 8: at most
    /// this many processes can share the sums. The last bits of the model depend on this number.
    #[must_use]
    pub fn with_leaves(mut self, leaves: usize) -> Recipe {
        self.facts.used.leaves = leaves.max(1);
        self
    }

    /// The model of the reservoir.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The operations, as a search counts them, of the second pass over n rows with m centres and d
    /// features.
    pub fn work(n: f64, m: usize, d: usize) -> f64 {
        sums_work(n, m as f64, d)
    }

    /// The peak memory, in bytes, of the second pass and the end of a fit with m centres, this many
    /// [leaves](Self::with_leaves) and this many folds, 1 without cross-validation. Each doubling
    /// of the leaves beyond 8 takes the memory of one more partial sum; each partial sum has a part
    /// for each fold.
    pub fn bytes(m: usize, leaves: usize, folds: usize) -> u64 {
        let (m, folds) = (m as u64, folds as u64);
        let levels = u64::from(leaves.max(LEAVES).next_power_of_two().ilog2());
        // R, four partial sums of half a square each, and one that is read back; then the square
        // that is decomposed, its vectors and their workspace
        let once = 80 * m * m + 8 * 1024 * 4 * m;
        let more_levels = levels - u64::from(LEAVES.ilog2());
        once + 4 * m * m * (more_levels + (2 + levels) * folds.saturating_sub(1))
    }

    /// The bytes in addition to [`bytes`](Self::bytes) for a sketch with m columns and u centres:
    /// the sketch, and the kernel values of a tile.
    pub fn bytes_of_sketch(m: usize, u: usize) -> u64 {
        8 * u as u64 * (m as u64 + 2 * 1024)
    }

    /// The peak memory, in bytes, of [`iterate_over`](Self::iterate_over) with m centres and a few
    /// targets. Unless the centres are `uniform`, KRILL also holds its embedding of 2m² numbers, up
    /// to six times while leaves are merged.
    pub fn bytes_iterating(m: usize, uniform: bool) -> u64 {
        // two factors, a panel, vectors, and a tile
        let (m, embedding) = (m as u64, if uniform { 0 } else { 12 });
        8 * ((2 + embedding) * m * m + (256 + 100 + 1024) * m)
    }

    /// The recipe as bytes. `identity` identifies the data and options.
    ///
    /// # Errors
    /// Those of [`Model::to_bytes`].
    pub fn to_bytes(&self, identity: &str) -> Result<Vec<u8>> {
        let head = (identity, self.centers.nrows(), &self.facts);
        let head = serde_json::to_vec(&head).map_err(wrong)?;
        let numbers = self.centers.col_iter().flat_map(|col| col.iter());
        let numbers: Vec<u8> = numbers.flat_map(|x| x.to_le_bytes()).collect();
        let parts = [head, self.model.to_bytes()?, numbers, write(&self.sketch)?];
        Ok(pack(Content::Recipe, &[&parts[..], &[write(&self.sample)?]].concat()))
    }

    /// Reads a recipe that [`to_bytes`](Self::to_bytes) wrote for the same data and options.
    ///
    /// # Errors
    /// [`Error::Checkpoint`](crate::Error::Checkpoint) for damaged bytes, and for a recipe of other
    /// data, other options or another version.
    pub fn from_bytes(fit: &Fit, identity: &str, bytes: &[u8]) -> Result<Recipe> {
        let sections = unpack(Content::Recipe, bytes)?;
        let [head, model, numbers, sketch, sample] = sections[..] else {
            return Err(wrong("it has another number of sections"));
        };
        let (found, d, facts): (String, usize, Facts) =
            serde_json::from_slice(head).map_err(wrong)?;
        if found != identity {
            return Err(wrong(format!(
                "it is of other data or options ({found}, not {identity}); name another folder, or \
                 remove it"
            )));
        }
        let (numbers, _) = numbers.as_chunks::<8>();
        let model = Model::from_bytes(model)?;
        let m = numbers.len() / d.max(1);
        if d != model.regression.centers().dim() || numbers.len() != d * m {
            return Err(wrong("its centres are not those of its model: it is damaged"));
        }
        let centers = Mat::from_fn(d, m, |k, j| f64::from_le_bytes(numbers[j * d + k]));
        let (sketch, sample) = (read(sketch)?, read(sample)?);
        let (fit, held) = (fit.clone(), HashSet::new());
        let recipe = Recipe { fit, model, facts, centers, sketch, sample, held };
        recipe.check()?;
        Ok(recipe)
    }

    /// Refuses a recipe that no survey and search can give.
    fn check(&self) -> Result<()> {
        let (d, of_all) = (self.model.regression.centers().dim(), self.is_of_all());
        let facts = &self.facts;
        let positive = |number: f64| number.is_finite() && number > 0.0;
        let is_target = |target: &Target| target.is_sound() && positive(target.scale);
        let targets =
            facts.targets.len() == self.model.targets.len() && facts.targets.iter().all(is_target);
        let centers = (self.centers.ncols() == 0) == of_all;
        let classes = self.model.classes.as_ref().map(|classes| classes.names.len());
        let sample = match (&self.sample, classes) {
            (Some(sample), Some(classes)) => sample.is_sound(d, classes),
            (None, None) => true,
            _ => false,
        };
        let numbers = positive(facts.mean_weight) && facts.different.is_none_or(positive);
        validate::finite("centres", self.centers.as_ref())?;
        self.span()?;
        if targets && centers && sample && numbers && facts.used.is_sound() {
            return Ok(());
        }
        Err(wrong("its parts contradict one another: it is damaged"))
    }

    /// The names of the target columns.
    pub(super) fn names(&self) -> Vec<String> {
        self.model.target_names().into_iter().map(str::to_owned).collect()
    }
}
