//! Training files of the FANN library, the format in which one data set is published.

use std::io::Read;

use crate::column::Column;
use crate::error::{Place, Problem, Result, place::excerpt};
use crate::lines::{Line, Lines};
use crate::number::number;
use crate::table::Table;

/// The numbers in the first line.
struct Header {
    rows: u64,
    inputs: u64,
    outputs: u64,
}

/// Reads a FANN training file, plain or compressed. Its first line is `rows inputs outputs`. Each
/// row is a line of inputs and a line of outputs, separated by white space. Blank lines are
/// skipped.
///
/// Columns are called `x1`, `x2`, …, and `y`, or `y1`, `y2`, … if there are several outputs. The
/// header is not trusted: memory grows with the lines that are actually there.
pub(super) fn read(reader: &mut dyn Read, name: &str) -> Result<Table> {
    let mut lines = Lines::new(reader, name)?;
    let header = loop {
        match lines.next()? {
            Some(line) if line.text.trim().is_empty() => {}
            Some(line) => break header(line)?,
            None => {
                return Err(Problem::Empty { expected: "a line `rows inputs outputs`" }
                    .at(Place::new(name)));
            }
        }
    };
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let (mut rows, mut half, mut numbers) = (0, false, Vec::new());
    while let Some(line) = lines.next()? {
        if line.text.trim().is_empty() {
            continue;
        }
        if rows == header.rows {
            let found = "more lines follow".to_owned();
            return Err(Problem::FannRows { expected: header.rows, found }.at(line.place()));
        }
        if half {
            push(&mut outputs, "outputs", header.outputs, line)?
        } else {
            numbers.push(line.number);
            push(&mut inputs, "inputs", header.inputs, line)?;
        }
        rows += u64::from(half);
        half = !half;
    }
    if rows < header.rows {
        let found = format!("{rows}{} follow", if half { " and a line of inputs" } else { "" });
        return Err(Problem::FannRows { expected: header.rows, found }.at(Place::new(name)));
    }
    Table::with_lines(name, columns("x", inputs).chain(columns("y", outputs)).collect(), numbers)
}

fn header(line: Line<'_>) -> Result<Header> {
    let wrong = || Problem::FannHeader { text: excerpt(line.text.trim()) }.at(line.place());
    let numbers: Option<Vec<u64>> =
        line.text.split_ascii_whitespace().map(|field| field.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[rows, inputs, outputs]) if rows > 0 && inputs > 0 && outputs > 0 => {
            Ok(Header { rows, inputs, outputs })
        }
        _ => Err(wrong()),
    }
}

/// Appends the values of `line` to `columns`, which are created by the first line.
fn push(
    columns: &mut Vec<Vec<f64>>,
    what: &'static str,
    expected: u64,
    line: Line<'_>,
) -> Result<()> {
    let found = line.text.split_ascii_whitespace().count();
    if found as u64 != expected {
        return Err(Problem::FannValues { what, expected, found }.at(line.place()));
    }
    columns.resize(found, Vec::new());
    for (i, (field, column)) in line.text.split_ascii_whitespace().zip(columns).enumerate() {
        column.push(number(field).map_err(|problem| problem.at(line.place().field(i + 1)))?);
    }
    Ok(())
}

fn columns(prefix: &'static str, values: Vec<Vec<f64>>) -> impl Iterator<Item = Column> {
    let single = prefix == "y" && values.len() == 1;
    values.into_iter().enumerate().map(move |(i, values)| {
        let name = if single { prefix.to_owned() } else { format!("{prefix}{}", i + 1) };
        Column::numbers(name, values)
    })
}
