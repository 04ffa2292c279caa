//! What is wrong with the columns of a table, all of it at once, and the options that mend it.

use crate::args::DataArgs;
use crate::failure::Failure;
use crate::text::{count, names};
use nystrom_data::{Doubt, Doubts, Survey, Values};

/// The most complaints that are told one by one.
const SHOWN: usize = 20;

/// Texts that stand for a missing value in most files that hold them.
pub const MARKERS: [&str; 12] =
    ["", "na", "n/a", "nan", "null", "none", "nil", "?", "-", ".", "inf", "-inf"];

/// Different texts in a column of numbers that may all be markers of missing values; with more it
/// holds text.
const FEW: usize = 3;

/// Which columns of the table are used, and what for.
#[derive(Clone, Copy)]
pub struct Use<'a> {
    /// Those that may be left out.
    pub features: &'a [usize],
    /// Those that may not.
    pub needed: &'a [usize],
    /// What helps if a column is needed and of no use.
    pub instead: &'static str,
}

impl Use<'_> {
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.features.iter().chain(self.needed).copied()
    }
}

/// Something wrong with one column.
struct Complaint {
    column: usize,
    text: String,
    remedy: Remedy,
}

enum Remedy {
    Drop,
    /// These texts are missing values, and rows without a value are left out.
    Missing(Vec<String>),
    DecimalComma,
    /// The other way round.
    DecimalPoint,
}

/// Refuses a table that cannot become numbers.
pub fn check(survey: &Survey, used: Use<'_>, args: &DataArgs) -> Result<(), Failure> {
    let commas = !args.decimal_comma && !used.columns().any(|column| has_fractions(survey, column));
    let mut complaints: Vec<Complaint> =
        used.columns().flat_map(|column| complaints(survey, column, used, commas, args)).collect();
    if complaints.is_empty() {
        return Ok(());
    }
    if args.no_header
        && complaints
            .iter()
            .all(|complaint| survey.doubts[complaint.column].all_on(survey.table.line(0)))
    {
        let text = format!("{}: the first line holds names, not numbers", survey.table.source());
        return Err(Failure::Table { text, help: Some("leave out --no-header".into()) });
    }
    complaints.sort_by_key(|complaint| complaint.column);
    drop_rather_than_all_rows(survey, used, &mut complaints);
    let all: Vec<&str> = complaints.iter().map(|complaint| complaint.text.as_str()).collect();
    let (source, shown) = (survey.table.source(), all.len().min(SHOWN));
    let mut text = match all[..] {
        [one] => format!("{source}: {one}"),
        _ => format!(
            "{source}: some columns cannot be used as they are\n  {}",
            all[..shown].join("\n  ")
        ),
    };
    if all.len() > shown {
        text += &format!("\n  and {} more of the kind", all.len() - shown);
    }
    text.extend(numbering(survey, used.features).map(|note| format!("\n{note}")));
    Err(Failure::Table { text, help: help(survey, used, args, &complaints) })
}

/// A note of columns that number the rows in file order, so are features only by mistake. `None` if
/// there are none, or no other features.
pub fn numbering(survey: &Survey, features: &[usize]) -> Option<String> {
    let numbers_rows = |column: &&usize| match &survey.table.columns()[**column].values {
        Values::Numbers(values) => {
            let follows = |pair: &[f64]| pair[1] == pair[0] + 1.0;
            values.len() >= 10 && matches!(values[0], 0.0 | 1.0) && values.windows(2).all(follows)
        }
        Values::Categories(_) => false,
    };
    let found: Vec<usize> = features.iter().filter(numbers_rows).copied().collect();
    if found.len() == features.len() {
        return None; // without them nothing would be left
    }
    let names: Vec<String> = found.iter().map(|&column| called(survey, column)).collect();
    let options = drop_option(survey, &found)?;
    let verb = if found.len() == 1 { "numbers" } else { "number" };
    Some(format!(
        "note: {} {verb} the rows; if that is no feature, say {options}",
        names.join(", ")
    ))
}

/// Whether numbers of a column have digits behind a point: a comma is then not the decimal one.
fn has_fractions(survey: &Survey, column: usize) -> bool {
    match &survey.table.columns()[column].values {
        Values::Numbers(values) => {
            values.iter().any(|value| value.is_finite() && value.fract() != 0.0)
        }
        Values::Categories(_) => false,
    }
}

/// What is wrong with one column; `commas` says whether a comma may be the decimal one.
fn complaints(
    survey: &Survey,
    column: usize,
    used: Use<'_>,
    commas: bool,
    args: &DataArgs,
) -> Vec<Complaint> {
    let complaint = |what: String, remedy| Complaint {
        column,
        text: format!("{} {what}", called(survey, column)),
        remedy,
    };
    let values = match &survey.table.columns()[column].values {
        Values::Numbers(values) => values,
        Values::Categories(text) => {
            let row = text.codes.iter().position(Option::is_some).unwrap_or(0);
            let example = text.get(row).unwrap_or_default();
            return vec![complaint(
                format!("holds text, such as {example:?} in {}", place(survey, row)),
                Remedy::Drop,
            )];
        }
    };
    let missing = values.iter().filter(|value| value.is_nan()).count();
    let doubts = undeclared(&survey.doubts[column], args);
    let decimal_commas = if commas { doubts.decimal_commas } else { 0 };
    let declared = missing - doubts.cells;
    let gaps = missing - decimal_commas;
    // rather the column goes than most of the rows
    let mostly = 2 * gaps > values.len() + FEW && !used.needed.contains(&column);
    let gaps = |remedy| if mostly { Remedy::Drop } else { remedy };
    let mut found = Vec::new();
    let (commas, others): (Vec<&Doubt>, Vec<&Doubt>) =
        doubts.texts.iter().partition(|doubt| decimal_commas > 0 && doubt.text.contains(','));
    if let Some(Doubt { text, line, .. }) = commas.first() {
        found.push(complaint(
            format!("has a decimal comma: {text:?} in {}", line_of(survey, *line)),
            Remedy::DecimalComma,
        ));
    }
    if let Some(Doubt { text, line, .. }) = others.first() {
        let known =
            others.iter().all(|doubt| MARKERS.contains(&doubt.text.to_lowercase().as_str()));
        let numbers = values.len() - missing + decimal_commas;
        let example = format!("{text:?} in {}", line_of(survey, *line));
        let texts: Vec<String> = others.iter().map(|doubt| doubt.text.clone()).collect();
        found.push(if args.decimal_comma && text.parse::<f64>().is_ok_and(f64::is_finite) {
            complaint(format!("has a decimal point: {example}"), Remedy::DecimalPoint)
        } else if !known
            && (numbers == 0 || texts.len() > FEW || !texts.iter().all(|text| can_be_said(text)))
        {
            complaint(format!("holds text, such as {example}"), Remedy::Drop)
        } else if numbers == 0 {
            complaint(format!("holds no number, but {example}"), Remedy::Drop)
        } else {
            let cells: usize = others.iter().map(|doubt| doubt.cells).sum();
            let what = match cells {
                1 => format!("has a cell that is not a number: {example}"),
                _ => format!("has {cells} cells that are not numbers: {example}{}", listed(&texts)),
            };
            complaint(what, gaps(Remedy::Missing(texts)))
        });
    }
    if declared > 0 && !args.drop_missing {
        let first = values.iter().position(|value| value.is_nan()).filter(|_| doubts.cells == 0);
        let first =
            first.map_or_else(String::new, |row| format!(", the first in {}", place(survey, row)));
        let what = format!("has {}{first}", count(declared, "missing value"));
        found.push(complaint(what, gaps(Remedy::Missing(Vec::new()))));
    }
    found
}

/// The doubts that `--missing` does not settle. In CSV the reader has done so; elsewhere only NaN
/// and infinities are in doubt.
fn undeclared(doubts: &Doubts, args: &DataArgs) -> Doubts {
    let declared = args.missing_texts();
    let number = |text: &str| text.parse::<f64>().ok().map(f64::to_bits);
    let settled = |doubt: &Doubt| {
        declared.iter().any(|text| {
            *text == doubt.text || (number(text).is_some() && number(text) == number(&doubt.text))
        })
    };
    let mut left = doubts.clone();
    left.texts.retain(|doubt| !settled(doubt));
    left.cells -=
        doubts.texts.iter().filter(|doubt| settled(doubt)).map(|doubt| doubt.cells).sum::<usize>();
    left
}

/// If leaving out rows would leave out all of them, features with gaps are left out instead. With
/// decimal commas to be read there is no telling yet.
fn drop_rather_than_all_rows(survey: &Survey, used: Use<'_>, complaints: &mut [Complaint]) {
    let dropped = |complaints: &[Complaint], column| {
        complaints
            .iter()
            .any(|other| other.column == column && matches!(other.remedy, Remedy::Drop))
    };
    let columns: Vec<usize> =
        used.columns().filter(|&column| !dropped(complaints, column)).collect();
    let unknown =
        complaints.iter().any(|complaint| matches!(complaint.remedy, Remedy::DecimalComma));
    if unknown || complete_rows(survey, &columns).next().is_some() {
        return;
    }
    for complaint in complaints {
        if matches!(complaint.remedy, Remedy::Missing(_))
            && !used.needed.contains(&complaint.column)
        {
            complaint.remedy = Remedy::Drop;
        }
    }
}

/// The rows in which none of these columns misses its value, from 0.
pub fn complete_rows(survey: &Survey, columns: &[usize]) -> impl Iterator<Item = usize> {
    let all = survey.table.columns();
    let complete = move |row: &usize| {
        columns.iter().all(|&column| match &all[column].values {
            Values::Numbers(values) => !values[*row].is_nan(),
            Values::Categories(text) => text.codes[*row].is_some(),
        })
    };
    (0..survey.table.rows()).filter(complete)
}

/// The column with the most values missing: why no row is complete.
pub fn emptiest(survey: &Survey, used: Use<'_>) -> Failure {
    let gaps = |column: usize| survey.table.rows() - complete_rows(survey, &[column]).count();
    let worst = used.columns().max_by_key(|&column| gaps(column)).unwrap_or(0);
    let (name, rows) = (called(survey, worst), survey.table.rows());
    let text = format!(
        "{}: no rows are left, as each misses a value; {name} misses {} of {rows}",
        survey.table.source(),
        gaps(worst)
    );
    let help = if used.needed.contains(&worst) {
        Some(used.instead.to_owned())
    } else if used.features.len() == 1 {
        Some(no_feature(survey))
    } else {
        drop_option(survey, &[worst]).map(|option| format!("add {option}"))
    };
    Failure::Table { text, help }
}

fn help(
    survey: &Survey,
    used: Use<'_>,
    args: &DataArgs,
    complaints: &[Complaint],
) -> Option<String> {
    let mut drops: Vec<usize> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    let (mut rows, mut comma, mut point, mut text, mut hopeless) =
        (false, false, false, false, None);
    for complaint in complaints {
        match &complaint.remedy {
            Remedy::Drop if used.needed.contains(&complaint.column) => {
                hopeless = Some(complaint.column)
            }
            Remedy::Drop => {
                text |= complaint.text.contains("holds text");
                drops.push(complaint.column);
            }
            Remedy::Missing(texts) => {
                rows = !args.drop_missing; // which may be said once only
                missing.extend(
                    texts
                        .iter()
                        .filter(|text| !missing.contains(text))
                        .cloned()
                        .collect::<Vec<_>>(),
                );
            }
            Remedy::DecimalComma => comma = true,
            Remedy::DecimalPoint => point = true,
        }
    }
    drops.dedup();
    if hopeless.is_none() && !drops.is_empty() && drops.len() == used.features.len() {
        return Some(no_feature(survey));
    }
    if point {
        return Some(
            "leave out --decimal-comma, or write every number of the file with a comma".into(),
        );
    }
    let mut options: Vec<String> = Vec::new();
    options.extend(drop_option(survey, &drops));
    options.extend(comma.then(|| "--decimal-comma".into()));
    if !missing.is_empty() {
        let texts = shell(&listed_items(&missing));
        options.push(format!("--missing{}{texts}", if texts.starts_with('-') { '=' } else { ' ' }));
    }
    options.extend(rows.then(|| "--drop-missing".into()));
    let why = if text { " (text is not encoded by this program)" } else { "" };
    let target = hopeless
        .map(|column| format!("{} must hold numbers: {}", called(survey, column), used.instead));
    match (options.is_empty(), target) {
        (true, target) => target,
        (false, None) => Some(format!("add {}{why}", options.join(" "))),
        (false, Some(target)) => Some(format!("{target}; and add {}{why}", options.join(" "))),
    }
}

/// What helps if no column holds numbers.
fn no_feature(survey: &Survey) -> String {
    match survey.table.columns().len() {
        1 => "there is one column; --delimiter says what separates fields".into(),
        _ => "no feature would be left without them; write text as numbers first, which this \
             program does not do"
            .into(),
    }
}

/// Whether a text can be given on a command line.
fn can_be_said(text: &str) -> bool {
    !text.ends_with('…') && !text.chars().any(|c| c.is_control() || c == '\u{feff}')
}

/// `--drop` of these columns, by name; by number where a name would not survive the command line.
pub fn drop_option(survey: &Survey, columns: &[usize]) -> Option<String> {
    let names: Vec<String> = columns
        .iter()
        .map(|&column| match survey.table.columns()[column].name.as_str() {
            name if name.is_empty() || !can_be_said(name) => (column + 1).to_string(),
            name => name.to_owned(),
        })
        .collect();
    (!names.is_empty()).then(|| format!("--drop {}", shell(&listed_items(&names))))
}

/// Items of a list on the command line.
fn listed_items(items: &[String]) -> String {
    let item = |item: &String| {
        if item.contains([',', '"']) {
            format!("\"{}\"", item.replace('"', "\"\""))
        } else {
            item.clone()
        }
    };
    items.iter().map(item).collect::<Vec<_>>().join(",")
}

/// A word as a shell takes it.
pub fn shell(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,+:/%@=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn listed(texts: &[String]) -> String {
    match texts {
        [_] => String::new(),
        _ => format!(" ({})", names(texts)),
    }
}

/// `column 3 ("rooms")`.
pub fn called(survey: &Survey, column: usize) -> String {
    let name: String = survey.table.columns()[column].name.chars().take(40).collect();
    format!("column {} ({name:?})", column + 1)
}

/// `line 7`, or `row 6` in formats without lines.
fn place(survey: &Survey, row: usize) -> String {
    survey.table.line(row).map_or_else(|| format!("row {}", row + 1), |line| format!("line {line}"))
}

fn line_of(survey: &Survey, line: u64) -> String {
    let unit = if survey.table.line(0).is_some() { "line" } else { "row" };
    format!("{unit} {line}")
}
