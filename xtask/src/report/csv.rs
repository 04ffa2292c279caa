//! CSV files: one per table and per plot, with every digit.

use crate::plot::Plot;
use crate::table::{Cell, Table};

/// A table; missing cells are empty, numbers are written so that reading them gives the same bits.
pub fn table(table: &Table) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|column| match column.unit.as_str() {
        "" => column.name.clone(),
        unit => format!("{} ({unit})", column.name),
    }))?;
    for row in &table.rows {
        writer.write_record(row.iter().map(cell))?;
    }
    Ok(writer.into_inner()?)
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(value) => exact(*value),
        Cell::Missing => String::new(),
    }
}

/// A plot's points, one per line; a series without points has no line.
pub fn plot(plot: &Plot) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "series",
        &plot.x.label,
        &plot.y.label,
        "low end of error bar",
        "high end of error bar",
    ])?;
    for series in &plot.series {
        for point in &series.points {
            let (lo, hi) = point
                .range
                .map_or_else(Default::default, |range| (exact(range.lo), exact(range.hi)));
            writer.write_record([&series.name, &exact(point.x), &exact(point.y), &lo, &hi])?;
        }
    }
    Ok(writer.into_inner()?)
}

/// The shortest text that reads back as the same float.
fn exact(value: f64) -> String {
    if value != 0.0 && value.is_finite() && !(1e-5..1e16).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    #[test]
    fn a_table_reads_back_as_it_was() {
        let table = &record().outcome.tables[0];
        let bytes = super::table(table).unwrap();
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        assert_eq!(reader.headers().unwrap(), vec!["λ", "time (s)", "d_eff"]);
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), table.rows.len());
        for (read, row) in rows.iter().zip(&table.rows) {
            for (text, cell) in read.iter().zip(row) {
                match cell {
                    Cell::Text(words) => assert_eq!(text, words),
                    Cell::Number(x) if x.is_nan() => assert!(text.parse::<f64>().unwrap().is_nan()),
                    Cell::Number(x) => {
                        assert_eq!(text.parse::<f64>().unwrap().to_bits(), x.to_bits())
                    }
                    Cell::Missing => assert_eq!(text, ""),
                }
            }
        }
    }

    #[test]
    fn a_plot_keeps_even_what_is_not_drawn() {
        let bytes = plot(&record().outcome.plots[0]).unwrap();
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let rows: Vec<Vec<String>> =
            reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
        assert_eq!(rows, [["some", "0", "1", "", ""], ["some", "1", "NaN", "0", "2"]]);
    }
}
