//! Options of the search for the best fit.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use nystrom_pipeline::{Calibrate, ClassWeights, Effort, TargetLoss, TargetScale, Task};

const EFFORTS: [Effort; 3] = [Effort::Quick, Effort::Default, Effort::Thorough];

#[derive(Args)]
pub struct SearchArgs {
    /// Limit of the work of the search: quick, default and thorough take about ten seconds, one
    /// minute and ten minutes on two cores
    #[arg(long, help_heading = "Search",
        value_parser = PossibleValuesParser::new(EFFORTS.map(Effort::name)).map(effort))]
    pub effort: Option<Effort>,
    /// Approximate time limit of the search, such as 90s, 5min or 1h. The matching operation count
    /// is printed, for use with --work
    #[arg(long, value_name = "TIME", value_parser = super::units::seconds,
        conflicts_with = "effort", help_heading = "Search")]
    pub time: Option<f64>,
    /// Limit the search to this many floating-point operations
    #[arg(long, value_name = "OPERATIONS", value_parser = super::lambda::positive,
        conflicts_with_all = ["effort", "time"], help_heading = "Search")]
    pub work: Option<f64>,
    /// Columns to predict from, by name or number [default: all but the target, weight, group and
    /// time columns]
    #[arg(long, value_name = "COLUMN,…", allow_hyphen_values = true, help_heading = "Data")]
    pub features: Vec<String>,
    /// Columns whose cells are categories although they look like numbers: codes, years, shop
    /// numbers
    #[arg(long, value_name = "COLUMN,…", allow_hyphen_values = true, help_heading = "Data")]
    pub categorical: Vec<String>,
    /// Columns to read as numbers; a cell that is not a number counts as missing
    #[arg(long, value_name = "COLUMN,…", allow_hyphen_values = true, help_heading = "Data")]
    pub numeric: Vec<String>,
    /// Read dates such as 03/04/2019 as 3 April if the other cells of the column do not decide
    #[arg(long, help_heading = "Data")]
    pub day_first: bool,
    /// Multiply this column's features by FACTOR after standardising; may be given several times
    #[arg(long, value_name = "COLUMN=FACTOR", value_parser = factor, help_heading = "Data")]
    pub scale: Vec<(String, f64)>,
    /// Column with the weight of each row
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub weights: Option<String>,
    /// Whether the target is a number or a class [default: classes if the target is text or has at
    /// most ten different whole numbers]
    #[arg(long, value_name = "TASK", help_heading = "Data",
        value_parser = PossibleValuesParser::new(["regression", "classification"]).map(task))]
    pub task: Option<Task>,
    /// Weight of the rows of each class: `balanced` gives all classes the same total weight; a
    /// class that a list leaves out has weight 1
    #[arg(long, value_name = "balanced|CLASS=WEIGHT,…", value_parser = class_weights,
        help_heading = "Data")]
    pub class_weights: Option<ClassWeights>,
    /// Scale on which the target is fitted; predictions are in its own units all the same [default:
    /// validation chooses for targets that are not negative]
    #[arg(long, value_name = "SCALE", help_heading = "Fit",
        value_parser = PossibleValuesParser::new(TargetScale::ALL.map(TargetScale::name))
            .map(target_scale))]
    pub target_scale: Option<TargetScale>,
    /// What the final fit minimises, and so what it predicts: `squares` means, `absolute` medians,
    /// `huber` means that hardly depend on outliers, `quantile:0.9` the value that nine tenths of
    /// the targets are below; several quantiles are several predictions [default: squares]
    #[arg(long, value_name = "LOSS", help_heading = "Fit",
        value_parser = |text: &str| text.parse::<TargetLoss>())]
    pub loss: Option<TargetLoss>,
    /// Keep rows with the same value in this column together when rows are set aside for validation
    #[arg(long, value_name = "COLUMN", conflicts_with = "time_column", help_heading = "Data")]
    pub group: Option<String>,
    /// Set aside the last rows by this column (numbers or dates) for validation, not random rows
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub time_column: Option<String>,
    /// Calibrate `predict --interval`, or the probabilities of classes, on this share of the rows,
    /// kept out of search and fit (1000 rows are enough). Intervals can also be calibrated by
    /// cross-validation (`cv:10`) or, for few rows, by leave-one-out (`loo`)
    #[arg(long, value_name = "SHARE|cv:K|loo", help_heading = "Fit")]
    pub calibrate: Option<Calibrate>,
    /// Store in the model what `predict --std` needs: the variances of a Gaussian process
    #[arg(long, help_heading = "Fit")]
    pub std: bool,
    /// Treat missing values of features as an error. Without this option, a missing number becomes
    /// the median, and one more feature marks the rows where it was missing
    #[arg(long, conflicts_with = "drop_missing", help_heading = "Data")]
    pub refuse_missing: bool,
}

impl SearchArgs {
    /// The first option given that only a search accepts.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--effort", self.effort.is_some()),
            ("--time", self.time.is_some()),
            ("--work", self.work.is_some()),
            ("--task classification", self.task == Some(Task::Classification)),
            ("--class-weights", self.class_weights.is_some()),
            ("--target-scale", self.target_scale.is_some()),
            ("--loss", self.loss.is_some()),
            ("--calibrate", self.calibrate.is_some()),
            ("--std", self.std),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }
}

/// The effort of this name.
fn effort(name: String) -> Effort {
    EFFORTS.into_iter().find(|effort| effort.name() == name).unwrap_or_default()
}

fn target_scale(name: String) -> TargetScale {
    TargetScale::ALL.into_iter().find(|scale| scale.name() == name).unwrap_or_default()
}

fn task(name: String) -> Task {
    if name == "regression" { Task::Regression } else { Task::Classification }
}

fn class_weights(text: &str) -> Result<ClassWeights, String> {
    if text == "balanced" {
        return Ok(ClassWeights::Balanced);
    }
    let weights = super::list(text).iter().map(|item| factor(item)).collect::<Result<_, _>>();
    weights.map(ClassWeights::Given).map_err(|_| {
        format!("{text:?} is neither `balanced` nor a list of CLASS=WEIGHT, such as no=1,yes=5")
    })
}

fn factor(text: &str) -> Result<(String, f64), String> {
    let expected = || format!("{text:?} is not COLUMN=FACTOR, such as age=2");
    let (column, factor) = text.rsplit_once('=').ok_or_else(expected)?;
    Ok((column.to_owned(), super::lambda::positive(factor).map_err(|_| expected())?))
}

#[cfg(test)]
mod tests {
    use super::{class_weights, factor};
    use nystrom_pipeline::ClassWeights;

    #[test]
    fn weights_and_factors() {
        assert_eq!(factor("a=b=2"), Ok(("a=b".into(), 2.0)));
        let given = ClassWeights::Given(vec![("a, b".into(), 2.0), ("c".into(), 0.5)]);
        assert_eq!(class_weights("\"a, b\"=2,c=0.5"), Ok(given));
        assert!(class_weights("even").is_err() && class_weights("a=0").is_err());
        assert!(factor("a").is_err() && factor("a=0").is_err());
    }
}
