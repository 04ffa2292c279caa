//! Target means by level over all rows, from one more pass.

use super::processes::share_of;
use super::{Ranks, Recipe, StreamFit, TableSource, TableSurvey};
use crate::columns::{Known, LevelSums, MOST_LEVELS};
use crate::error::{Error, Result};
use crate::model::Model;
use nystrom_data::Table;

impl StreamFit {
    /// Replaces the target means by level of the reservoir in a model of [`search`](Self::search)
    /// by those of all rows. This takes one more pass if the model uses such means, and none
    /// otherwise. If a category has more than 65,536 levels, only the levels in the reservoir have
    /// a mean. Process 0 passes the survey and the model and receives the new model; the other
    /// processes pass and receive `None`.
    ///
    /// In a fit, the feature of a row is then the mean of its level without the target of that row.
    ///
    /// # Cost
    /// About 100 bytes for each level and target.
    ///
    /// # Errors
    /// Those of the source, and errors for rows that differ from those of the first pass.
    pub fn level_means_over(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        found: Option<(&TableSurvey, Model)>,
    ) -> Result<Option<Model>> {
        let own = match &found {
            Some((survey, model)) if model.columns.has_means() => {
                Some(self.without_centers(survey, model.clone())?)
            }
            _ => None,
        };
        let bytes = own.as_ref().map_or(Ok(Vec::new()), |recipe| recipe.to_bytes(PASS))?;
        let bytes = ranks.broadcast(bytes);
        let recipe = match own {
            Some(recipe) => recipe,
            None if bytes.is_empty() => return Ok(found.map(|(_, model)| model)),
            None => Recipe::from_bytes(&self.fit, PASS, &bytes)?,
        };
        let merge = |all: &mut Vec<LevelSums>, later: Vec<LevelSums>| {
            for ((all, later), of) in
                all.iter_mut().zip(&later).zip(recipe.model.columns.level_means())
            {
                all.merge(later);
                all.limit(MOST_LEVELS, of);
            }
        };
        let sums = ranks.merge(recipe.level_sums(ranks, source)?, merge)?;
        let Some(((_, mut model), sums)) = found.zip(sums) else { return Ok(None) };
        let t = recipe.facts.targets.len();
        model.columns.set_level_means(sums.iter().map(|sums| sums.means(t)));
        Ok(Some(model))
    }

    /// Refuses a model whose means by level are not those of all rows.
    pub(super) fn check_level_means(&self, survey: &TableSurvey, found: &Model) -> Result<()> {
        let rows = survey.all.used as f64;
        let is_of_all = |of: f64| (of / rows - 1.0).abs() < 1e-6;
        if found.columns.level_means().all(|means| is_of_all(means.rows())) {
            return Ok(());
        }
        let problem = "the means by level are those of the sample; make the pass of \
                       `level_means_over` first";
        Err(Error::Option { option: "recipe", problem: problem.into() })
    }
}

/// The identity of the recipe that is sent for this pass.
const PASS: &str = "means by level";

impl Recipe {
    /// The sums by level of the rows of this process, which follow those of the process before.
    fn level_sums(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
    ) -> Result<Vec<LevelSums>> {
        let columns = &self.model.columns;
        let mut sums = vec![LevelSums::default(); columns.level_means().count()];
        let used = &self.facts.used;
        let prepare = |block: &Table| self.targets_of(block);
        used.read(source, share_of(ranks, used.rows), prepare, |_, (_, of), (_, rows)| {
            let known = Known { y: of.y.as_ref(), weights: of.weights.as_deref() };
            columns.add_to_levels(&of.table, known, rows, &mut sums)
        })?;
        Ok(sums)
    }
}
