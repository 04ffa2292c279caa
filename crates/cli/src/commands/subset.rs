//! What a subset must be, for `nystrom sample`: the quality of rows, rows to include, quotas.

use crate::args::{DataArgs, Sample, list};
use crate::failure::{Result, data, usage};
use crate::input::{Beside, Data, Source, points_beside};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::linalg_core::Indices;
use nystrom::prelude::*;
use nystrom_data::{Column, Libsvm, Values};
use serde_json::{Map, Value};
use std::path::Path;

/// The constraints of a subset, of the rows that are used.
pub struct Wanted {
    pub quality: Option<Vec<f64>>,
    /// The rows to include, numbered among the rows used.
    pub given: Vec<usize>,
    pub quotas: Option<Quotas>,
    /// The names of the groups.
    names: Vec<String>,
}

/// The column and the sizes of `--quota COLUMN[:GROUP=N,…]`.
struct QuotaSpec<'a> {
    column: &'a str,
    sizes: Vec<(String, usize)>,
}

impl Wanted {
    /// Reads the table and the rows of --given.
    pub fn read(args: &Sample, session: &Session<'_>) -> Result<(Data, Wanted)> {
        let quota = args.quota.as_deref().map(quota_spec).transpose()?;
        let quality = args.quality.as_deref().map(|name| Beside { name, as_text: false });
        let group = quota.as_ref().map(|quota| Beside { name: quota.column, as_text: true });
        let others: Vec<Beside<'_>> = quality.into_iter().chain(group).collect();
        let (table, columns) = points_beside(&args.of, args.rows.sparse, &others, session)?;
        let mut columns = columns.iter();
        let mut next = |is_there: bool| if is_there { columns.next() } else { None };
        let quality = next(quality.is_some()).map(|column| weights(column, &table)).transpose()?;
        let groups = next(group.is_some()).map(|column| groups(column, &table)).transpose()?;
        let given = args.given.as_deref().map(|file| given(file, args, &table)).transpose()?;
        let (names, groups) = groups.unwrap_or_default();
        let quotas = quota.map(|quota| quota.quotas(&names, groups, args.size)).transpose()?;
        Ok((table, Wanted { quality, given: given.unwrap_or_default(), quotas, names }))
    }

    /// Describes the constraints.
    pub fn describe(&self, args: &Sample, rows: &Data, summary: &mut Summary) {
        if let Some(column) = &args.quality {
            summary.line("quality", format!("column {column:?}"));
            summary.value("quality", column);
        }
        if !self.given.is_empty() {
            let count = text::count(self.given.len(), "row");
            summary.line("included", format!("{count} of --given, in every subset"));
            summary.value("given", rows.at(self.given.iter().copied()).0);
        }
        if let Some(quotas) = &self.quotas {
            let pairs = || self.names.iter().zip(quotas.quotas());
            let shown: Vec<String> =
                pairs().map(|(name, quota)| format!("{name} {quota}")).collect();
            summary.line("quotas", shown.join(", "));
            let all: Map<String, Value> =
                pairs().map(|(name, quota)| (name.clone(), (*quota).into())).collect();
            summary.value("quotas", all);
        }
    }

    /// An error of the library with the row in the table and the name of the group.
    pub fn named(&self, error: Error, rows: &Data) -> anyhow::Error {
        match error {
            Error::Dependent { index, .. } => usage(format!(
                "--given: row {} (line {}) is a copy of rows before it, or determined by them, so \
                 that no subset with all of them has a volume; leave it out",
                rows.rows[index], rows.lines[index]
            )),
            error => with_name(error, &self.names),
        }
    }
}

/// An error of the library with the name of the group.
fn with_name(error: Error, names: &[String]) -> anyhow::Error {
    match error {
        Error::Quota { group, quota, found, problem } => usage(format!(
            "--quota: the quota of group {:?} is {quota}, but {found} {problem}",
            names[group]
        )),
        error => error.into(),
    }
}

/// The quality of the rows that are used.
fn weights(column: &Column, table: &Data) -> Result<Vec<f64>> {
    let name = &column.name;
    let Values::Numbers(values) = &column.values else {
        return Err(data(format!("--quality: column {name:?} is not a column of numbers")));
    };
    let all: Vec<f64> = table.rows.iter().map(|&row| values[row]).collect();
    if let Some(i) = all.iter().position(|q| !(*q > 0.0 && q.is_finite())) {
        let value = if all[i].is_nan() { "missing".into() } else { format!("{:?}", all[i]) };
        return Err(data(format!(
            "--quality: column {name:?} is {value} in line {}; every value must be positive: \
             remove the rows that must not be drawn from the table",
            table.lines[i]
        )));
    }
    Ok(all)
}

/// The names of the groups, sorted, and the group of each row that is used.
fn groups(column: &Column, table: &Data) -> Result<(Vec<String>, Vec<usize>)> {
    let text = |i: usize| {
        let row = table.rows[i];
        let text = match &column.values {
            Values::Categories(texts) => texts.get(row).map(str::to_owned),
            Values::Numbers(values) => (!values[row].is_nan()).then(|| values[row].to_string()),
            Values::Sparse(_) => None,
        };
        text.ok_or_else(|| {
            data(format!(
                "--quota: column {:?} is missing in line {}; fill it in, or remove the row",
                column.name, table.lines[i]
            ))
        })
    };
    let texts = (0..table.rows.len()).map(text).collect::<Result<Vec<String>>>()?;
    let mut names = texts.clone();
    names.sort();
    names.dedup();
    let groups = texts.iter().map(|text| names.partition_point(|name| name < text)).collect();
    Ok((names, groups))
}

fn quota_spec(spec: &str) -> Result<QuotaSpec<'_>> {
    let Some((column, sizes)) = spec.rsplit_once(':').filter(|(_, sizes)| sizes.contains('='))
    else {
        return Ok(QuotaSpec { column: spec, sizes: Vec::new() });
    };
    let size = |item: &String| {
        let pair = item
            .rsplit_once('=')
            .and_then(|(name, size)| Some((name.trim().to_owned(), size.trim().parse().ok()?)));
        pair.ok_or_else(|| {
            usage(format!("--quota: {item:?} is not GROUP=NUMBER, such as Paris=20"))
        })
    };
    Ok(QuotaSpec { column, sizes: list(sizes).iter().map(size).collect::<Result<_>>()? })
}

impl QuotaSpec<'_> {
    /// The quotas of these groups, for `size` rows in all.
    fn quotas(&self, names: &[String], groups: Vec<usize>, size: usize) -> Result<Quotas> {
        if self.sizes.is_empty() {
            return Ok(Quotas::proportional(groups, size)?);
        }
        let mut quotas = vec![0; names.len()];
        for (name, quota) in &self.sizes {
            let Ok(group) = names.binary_search(name) else {
                let known: Vec<&str> = names.iter().take(10).map(String::as_str).collect();
                let more = if names.len() > known.len() { ", …" } else { "" };
                return Err(usage(format!(
                    "--quota: there is no group {name:?}; the groups are {}{more}",
                    known.join(", ")
                )));
            };
            quotas[group] = *quota;
        }
        let sum: usize = quotas.iter().sum();
        if sum != size {
            return Err(usage(format!(
                "--quota: the numbers add up to {sum}, and --size is {size}; make them equal"
            )));
        }
        Quotas::new(groups, quotas).map_err(|error| with_name(error, names))
    }
}

/// The rows of --given, numbered among the rows that are used.
fn given(file: &Path, args: &Sample, table: &Data) -> Result<Vec<usize>> {
    let shown = file.display();
    let own = DataArgs {
        data: file.to_owned(),
        format: None,
        no_header: false,
        delimiter: None,
        decimal_comma: false,
        missing: Vec::new(),
        not_missing: Vec::new(),
        drop: Vec::new(),
        ..args.of.data.clone()
    };
    let input = Source::of(&own, Libsvm::new())?.input(&own)?;
    let columns = input.table.columns();
    let named = columns.iter().find(|column| column.name == "row");
    let only = columns.first().filter(|_| columns.len() == 1 && !input.named);
    let Some(Values::Numbers(rows)) = named.or(only).map(|column| &column.values) else {
        let text = "there is no column `row` with the numbers of rows, counted from 0; write one, \
                    as `nystrom landmarks` does";
        return Err(data(format!("--given {shown}: {text}")));
    };
    let position = |&row: &f64| {
        let whole = Some(row as usize).filter(|_| row.fract() == 0.0 && row >= 0.0);
        let known = whole.and_then(|row| table.rows.binary_search(&row).ok());
        known.ok_or_else(|| {
            let last = table.rows.last().copied().unwrap_or_default();
            data(format!(
                "--given {shown}: there is no row {row} among the rows used, which are numbered \
                 from 0 to {last}"
            ))
        })
    };
    let given = rows.iter().map(position).collect::<Result<Vec<usize>>>()?;
    let repeated = Indices::from(&given).check_distinct(table.rows.len(), "rows");
    if let Err(Error::DuplicateIndex { index, .. }) = repeated {
        return Err(data(format!(
            "--given {shown}: row {} is there more than once; remove the repetition",
            table.rows[index]
        )));
    }
    Ok(given)
}
