//! ARFF, the attribute-relation file format of Weka.

mod fields;

use std::io::Read;

use crate::builder::ColumnBuilder;
use crate::column::distinct_names;
use crate::error::{Place, Problem, Result, place::excerpt};
use crate::lines::{Line, Lines};
use crate::table::Table;
use fields::{Field, split_fields, split_name};

/// Reads ARFF files with dense rows, plain or gzip.
///
/// * Attribute types `numeric`, `real` and `integer` give numbers; `string` and lists `{a, b, …}`
///   give categories, the latter in declared order and with no other value allowed.
/// * `?` means "missing". `%` starts a comment line. Keywords may be in upper or lower case. Names
///   and values may be quoted with `'` or `"`, with `\` before a quote that is text.
///
/// ```
/// use nystrom_data::Arff;
///
/// let text = "% two rows\n@RELATION t\n@attribute x real\n@attribute 'wind dir' {N, S}\n\
///     @data\n1.5, S\n?, N\n";
/// let table = Arff::new().read(text.as_bytes(), "t.arff")?;
/// assert_eq!(table.categories("wind dir")?.get(0), Some("S"));
/// assert_eq!(table.drop_missing_rows().rows(), 1);
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arff {
    _private: (),
}

impl Arff {
    /// A reader; the format says everything itself, so that there are no options.
    pub fn new() -> Self {
        Arff::default()
    }

    /// Reads all of `reader`, plain or gzip; `name` stands for the file in errors.
    ///
    /// Time is linear in the text. Memory is that of the table plus one line.
    ///
    /// # Errors
    /// [`DataError::At`](crate::DataError::At) with the line and column of the first thing that is
    /// wrong, [`DataError::Io`](crate::DataError::Io).
    pub fn read(&self, mut reader: impl Read, name: &str) -> Result<Table> {
        let mut lines = Lines::new(&mut reader, name)?;
        let mut columns = read_header(&mut lines)?;
        let mut numbers = Vec::new();
        while let Some(line) = lines.next()? {
            if !is_comment(line.text) {
                push_row(&mut columns, line)?;
                numbers.push(line.number);
            }
        }
        if numbers.is_empty() {
            return Err(Problem::NoRows.at(Place::new(name)));
        }
        Table::with_lines(name, columns.into_iter().map(ColumnBuilder::finish).collect(), numbers)
    }
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('%')
}

/// The declared columns; stops after `@data`.
fn read_header(lines: &mut Lines<'_>) -> Result<Vec<ColumnBuilder>> {
    let mut columns = Vec::new();
    let mut declared_at = Vec::new();
    let mut anything = false;
    while let Some(line) = lines.next()? {
        if is_comment(line.text) {
            continue;
        }
        anything = true;
        let text = line.text.trim();
        let (keyword, rest) = text.split_once(|c: char| c.is_whitespace()).unwrap_or((text, ""));
        match keyword.to_ascii_lowercase().as_str() {
            "@relation" => {}
            "@attribute" => {
                let number = columns.len() + 1;
                columns.push(
                    attribute(rest).map_err(|problem| problem.at(line.place().field(number)))?,
                );
                declared_at.push(line.number);
            }
            "@data" if columns.is_empty() => return Err(Problem::ArffNoAttributes.at(line.place())),
            "@data" => {
                let file = line.file;
                let place = |i: usize| Place::new(file).line(declared_at[i]).field(i + 1);
                distinct_names(columns.iter().map(|column| column.name.as_str()), place)?;
                return Ok(columns);
            }
            _ => return Err(Problem::ArffDeclaration { text: excerpt(text) }.at(line.place())),
        }
    }
    let problem =
        if anything { Problem::ArffNoData } else { Problem::Empty { expected: "an ARFF header" } };
    Err(problem.at(Place::new(lines.file())))
}

/// `name type`, what follows `@attribute`.
fn attribute(text: &str) -> std::result::Result<ColumnBuilder, Problem> {
    let declaration = || Problem::ArffDeclaration { text: excerpt(&format!("@attribute {text}")) };
    let (name, kind) = split_name(text).ok_or_else(declaration)?;
    if let Some(list) = kind.strip_prefix('{') {
        let list =
            list.strip_suffix('}').ok_or_else(|| Problem::ArffType { text: excerpt(kind) })?;
        let mut levels: Vec<String> = Vec::new();
        for Field { text, .. } in split_fields(list)? {
            if text.is_empty() || levels.iter().any(|level| *level == text) {
                return Err(Problem::ArffType { text: excerpt(kind) });
            }
            levels.push(text.into_owned());
        }
        return Ok(ColumnBuilder::declared(name, levels));
    }
    match kind.to_ascii_lowercase().as_str() {
        "numeric" | "real" | "integer" => Ok(ColumnBuilder::numbers(name)),
        "string" => Ok(ColumnBuilder::text(name)),
        "" => Err(declaration()),
        _ => Err(Problem::ArffType { text: excerpt(kind) }),
    }
}

fn push_row(columns: &mut [ColumnBuilder], line: Line<'_>) -> Result<()> {
    if line.text.trim_start().starts_with('{') {
        return Err(Problem::ArffSparse.at(line.place()));
    }
    let fields = split_fields(line.text).map_err(|problem| problem.at(line.place()))?;
    if fields.len() != columns.len() {
        return Err(
            Problem::RaggedRow { expected: columns.len(), found: fields.len() }.at(line.place())
        );
    }
    for (i, (column, field)) in columns.iter_mut().zip(&fields).enumerate() {
        let value = (field.quoted || field.text != "?").then_some(&*field.text);
        column.push(value).map_err(|problem| {
            let better = || {
                "correct it; or write `?` if it is missing; or declare the attribute as string"
                    .to_owned()
            };
            problem.with_remedy(better).at(line.place().field(i + 1).column(&column.name))
        })?;
    }
    Ok(())
}
