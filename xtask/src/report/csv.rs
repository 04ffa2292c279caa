//! CSV files: one per table and per plot, with every digit.

use crate::plot::Plot;
use crate::table::{Cell, Column, Table};

/// A table; missing cells are empty, numbers are written so that reading them gives the same bits.
pub fn table(table: &Table) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|column| match column.unit.as_str() {
        "" => column.name.clone(),
        unit => format!("{} ({unit})", column.name),
    }))?;
    for row in &table.rows {
        writer.write_record(row.iter().map(|cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Number(value) => exact(*value),
            Cell::Missing => String::new(),
        }))?;
    }
    Ok(writer.into_inner()?)
}

/// The points of a plot, one per row, including those that are not drawn.
pub fn points(plot: &Plot) -> Table {
    let ends = ["low end of error bar", "high end of error bar"];
    let columns = ["series", &plot.x.label, &plot.y.label, ends[0], ends[1]];
    let mut table = Table::new(&plot.id, &plot.title, columns.map(Column::new));
    for series in &plot.series {
        for point in &series.points {
            let (low, high) = point.range.map(|range| (range.lo, range.hi)).unzip();
            let name = series.name.as_str();
            table.push([name.into(), point.x.into(), point.y.into(), low.into(), high.into()]);
        }
    }
    table
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
        let written = super::table(&record().outcome.tables[0]).unwrap();
        let text = "λ,time (s),d_eff\n\"a, \"\"b\"\"\n<c>\",NaN,\n0.1,inf,1e-300\n";
        assert_eq!(String::from_utf8(written).unwrap(), text);
        for value in [1.0 / 3.0, 1e16 / 3.0, 2e-7 / 3.0, f64::MAX, f64::MIN_POSITIVE] {
            assert_eq!(exact(value).parse(), Ok(value));
        }
    }

    #[test]
    fn a_plot_keeps_even_what_is_not_drawn() {
        let written = super::table(&points(&record().outcome.plots[0])).unwrap();
        let text = "series,x & y,y < z,low end of error bar,high end of error bar\n\
                    some,0,1,,\nsome,1,NaN,0,2\n";
        assert_eq!(String::from_utf8(written).unwrap(), text);
    }
}
