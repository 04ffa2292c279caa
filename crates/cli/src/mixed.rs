//! From a file to a table with texts as texts, which the search and its models take.

use crate::args::DataArgs;
use crate::diagnosis::{self, MARKERS, Use};
use crate::failure::Result;
use crate::input::{Input, Source};
use crate::text;
use nystrom_data::{Format, Survey, Table, Values};

/// Markers of missing values that may also be wrong numbers: they have to be declared.
const DOUBTFUL: [&str; 4] = ["-", ".", "inf", "-inf"];

/// A table, and what was decided about it.
pub struct Mixed {
    pub table: Table,
    /// The lines of its rows, from 1; numbers from 1 in formats without lines.
    pub lines: Vec<usize>,
    pub notes: Vec<String>,
}

/// Which columns of a file are read as what, by position.
pub struct Wanted {
    /// Those that are used.
    pub columns: Vec<usize>,
    /// Those of them that must hold numbers: targets, weights, the numbers of a model.
    pub numbers: Vec<usize>,
    /// Those of them that hold text, whatever it looks like.
    pub texts: Vec<usize>,
    /// What helps if a column must hold numbers and does not.
    pub instead: &'static str,
    /// Whether usual markers are missing values without being declared so.
    pub fills: bool,
}

/// The wanted columns of a file: texts where there is mostly text, numbers elsewhere.
pub fn read(source: &Source, args: &DataArgs, input: Input, wanted: &Wanted) -> Result<Mixed> {
    let survey = input.into_survey();
    let Decided { texts, mut markers, args } = decide(&survey, args, wanted);
    let survey = match crate::format::format(&args, 0)? {
        Format::Csv(csv) if !texts.is_empty() || !markers.is_empty() => {
            source.survey(&Format::Csv(csv.text(texts.iter().copied())))?
        }
        _ => survey,
    };
    check(&survey, &args, wanted)?;
    let table = survey.table;
    let lines = (0..table.rows())
        .map(|row| table.line(row).map_or(row + 1, |line| line as usize))
        .collect();
    let unwanted: Vec<usize> =
        (0..table.columns().len()).filter(|column| !wanted.columns.contains(column)).collect();
    markers.retain(|marker| !marker.is_empty());
    Ok(Mixed { table: table.drop_columns(unwanted)?, lines, notes: note(&markers) })
}

/// What is said of markers.
pub fn note(markers: &[String]) -> Vec<String> {
    let note = || format!("{} are taken for missing values", text::names(markers));
    (!markers.is_empty()).then(note).into_iter().collect()
}

/// What the columns hold.
pub struct Decided {
    /// Columns that hold text.
    pub texts: Vec<usize>,
    /// Texts that are missing values without having been declared so.
    pub markers: Vec<String>,
    /// The arguments that declare them.
    pub args: DataArgs,
}

/// Decides what the wanted columns of a table, of which these may be the first rows, hold.
pub fn decide(survey: &Survey, args: &DataArgs, wanted: &Wanted) -> Decided {
    let mut texts = wanted.texts.clone();
    let mut markers: Vec<String> = Vec::new();
    for &column in &wanted.columns {
        let free = !wanted.numbers.contains(&column) && !texts.contains(&column);
        if free && holds_text(survey, column) {
            texts.push(column);
        }
        if wanted.fills {
            markers.extend(markers_of(survey, column, args));
        }
    }
    if wanted.fills && !texts.is_empty() {
        // an empty text is none
        markers.push(String::new());
    }
    markers.sort();
    markers.dedup();
    let args = DataArgs {
        missing: args.missing_texts().iter().chain(&markers).map(|text| quoted(text)).collect(),
        drop_missing: args.drop_missing || wanted.fills,
        ..args.clone()
    };
    Decided { texts, markers, args }
}

/// Refuses cells that are neither numbers nor missing, where a column is of numbers.
fn check(survey: &Survey, args: &DataArgs, wanted: &Wanted) -> Result<()> {
    let text = |column: &usize| {
        matches!(survey.table.columns()[*column].values, Values::Categories(_))
            && !wanted.numbers.contains(column)
    };
    let columns = wanted.columns.iter().copied().filter(|column| !text(column));
    let (needed, features): (Vec<usize>, Vec<usize>) =
        columns.partition(|column| wanted.numbers.contains(column));
    let used = Use { features: &features, needed: &needed, instead: wanted.instead };
    Ok(diagnosis::check(survey, used, args)?)
}

/// Whether most cells of a column of numbers are texts, and no markers.
pub fn holds_text(survey: &Survey, column: usize) -> bool {
    let Values::Numbers(values) = &survey.table.columns()[column].values else { return true };
    let doubts = &survey.doubts[column];
    let marked: usize =
        doubts.texts.iter().filter(|doubt| is_marker(&doubt.text)).map(|doubt| doubt.cells).sum();
    let numbers = values.iter().filter(|value| !value.is_nan()).count();
    doubts.decimal_commas == 0 && doubts.cells - marked > numbers
}

/// The usual markers of missing values that a column of numbers holds.
fn markers_of(survey: &Survey, column: usize, args: &DataArgs) -> Vec<String> {
    let declared = args.missing_texts();
    let texts = survey.doubts[column].texts.iter().map(|doubt| doubt.text.clone());
    texts.filter(|text| is_marker(text) && !declared.contains(text)).collect()
}

fn is_marker(text: &str) -> bool {
    let text = text.to_lowercase();
    MARKERS.contains(&text.as_str()) && !DOUBTFUL.contains(&text.as_str())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
