//! Tables of results: one row for each method (long), or one for each place with the methods side
//! by side (wide).

use super::results::{Row, abscissae, methods};
use super::{Cell, Column, Measure, Method, PROBLEM, Results, Sample, Setting, Table};

/// What a row of a table is about.
pub struct Place {
    /// Label of the setting.
    pub setting: String,
    /// Abscissa.
    pub x: f64,
    /// The method of a long table; [`PROBLEM`] in a wide one.
    pub method: Method,
}

/// A table in the making; `out.tables.extend(sheet)` takes it, unless it has no rows.
pub struct Sheet {
    table: Table,
    places: Vec<Place>,
}

impl Results {
    /// A table of these settings. Its rows are the places where one of the measures was taken.
    ///
    /// `keys` are the headings of setting, abscissa and method, which say what a row is about; an
    /// empty heading has no column. Without a heading for the method, methods are not rows but
    /// columns. After the keys come `facts`, measures of the problem itself, then the measures.
    pub fn table<'s, S: Setting + 's>(
        &self,
        [id, title]: [&str; 2],
        settings: impl IntoIterator<Item = &'s S>,
        keys: [&str; 3],
        facts: &[Measure],
        measures: &[Measure],
    ) -> Sheet {
        let settings: Vec<String> = settings.into_iter().map(Setting::label).collect();
        let wanted = |row: &&Row| {
            measures.iter().any(|m| m.key == row.measure.key) && settings.contains(&row.setting)
        };
        let rows: Vec<&Row> = self.rows.iter().filter(wanted).collect();
        let (long, methods) = (!keys[2].is_empty(), methods(rows.iter().copied()));
        let mut places = vec![];
        for setting in &settings {
            let here = || rows.iter().copied().filter(move |row| row.setting == *setting);
            for x in abscissae(here()) {
                let there = |m: &Method| here().any(|row| row.x == x && row.method == *m);
                let mut those = vec![PROBLEM];
                if long {
                    those = methods.iter().copied().filter(there).collect();
                }
                let place = |method| Place { setting: setting.clone(), x, method };
                places.extend(those.into_iter().map(place));
            }
        }
        let mut table = Table::new(id, title, []);
        table.rows = vec![vec![]; places.len()];
        let mut sheet = Sheet { table, places };
        let cells: [fn(&Place) -> Cell; 3] = [
            |place| place.setting.as_str().into(),
            |place| place.x.into(),
            |place| place.method.name.into(),
        ];
        for (key, cell) in keys.into_iter().zip(cells).filter(|(key, _)| !key.is_empty()) {
            sheet = sheet.extra(Column::new(key), cell);
        }
        let sample = |place: &Place, method, measure| {
            self.on(&place.setting.as_str()).sample(place.x, method, measure)
        };
        let value = |sample: Sample| (!sample.draws.is_empty()).then(|| sample.estimate().value);
        for fact in facts {
            sheet = sheet.extra(heading(fact), |place| value(sample(place, PROBLEM, *fact)));
        }
        let heads = if long || methods.is_empty() { vec![PROBLEM] } else { methods };
        for (head, measure) in heads.iter().flat_map(|h| measures.iter().map(move |m| (*h, *m))) {
            let of = |place: &Place| sample(place, if long { place.method } else { head }, measure);
            if sheet.places.iter().all(|place| of(place).draws.is_empty()) {
                continue;
            }
            let prefix = if head == PROBLEM { String::new() } else { format!("{}: ", head.name) };
            let name = format!("{prefix}{}", measure.key);
            let error = |place: &Place| of(place).estimate().error;
            let errors = !measure.time && sheet.places.iter().any(|place| error(place).is_some());
            let error_column = Column::new(&format!("{name}, s.e."));
            sheet = sheet.extra(Column { name, ..heading(&measure) }, |place| value(of(place)));
            if errors {
                sheet = sheet.extra(error_column, error);
            }
        }
        sheet
    }
}

impl Sheet {
    /// One more column: of values from elsewhere, `Column::paper` for what the paper prints.
    pub fn extra<T: Into<Cell>>(mut self, column: Column, cell: impl Fn(&Place) -> T) -> Self {
        self.table.columns.push(column);
        for (row, place) in self.table.rows.iter_mut().zip(&self.places) {
            row.push(cell(place).into());
        }
        self
    }
}

impl IntoIterator for Sheet {
    type Item = Table;
    type IntoIter = std::option::IntoIter<Table>;

    fn into_iter(self) -> Self::IntoIter {
        (!self.places.is_empty()).then_some(self.table).into_iter()
    }
}

fn heading(measure: &Measure) -> Column {
    if measure.time { Column::with_unit(measure.key, "s") } else { Column::new(measure.key) }
}
