//! Tables of results: one row for each method (long), or one for each place with the methods side
//! by side (wide).

use super::results::{Row, abscissae, methods};
use super::{Measure, Results, Setting};
use crate::experiment::{Cell, Column, Table};
use crate::method::{Method, PROBLEM};
use crate::statistics::Sample;

type Heading<'a> = Option<&'a str>;
type Key<'a> = (Heading<'a>, fn(&Place<'_>) -> Cell);
type Extra<'a> = (Column, Box<dyn Fn(&Place<'_>) -> Cell + 'a>);

/// What a row of a table is about.
pub struct Place<'a> {
    /// Label of the setting.
    pub setting: &'a str,
    /// Abscissa.
    pub x: f64,
    /// The method of a long table; [`PROBLEM`] in a wide one.
    pub method: Method,
}

/// A table in the making.
pub struct Sheet<'a> {
    results: &'a Results,
    table: Table,
    settings: Vec<String>,
    setting: Heading<'a>,
    x: Heading<'a>,
    method: Heading<'a>,
    facts: Vec<Measure>,
    measures: Vec<Measure>,
    extras: Vec<Extra<'a>>,
}

impl Results {
    /// A table of these settings. Its rows are the places where one of the measures was taken.
    pub fn table<'a, S: Setting + 'a>(
        &'a self,
        id: &str,
        title: &str,
        settings: impl IntoIterator<Item = &'a S>,
        measures: &[Measure],
    ) -> Sheet<'a> {
        Sheet {
            results: self,
            table: Table::new(id, title, []),
            settings: settings.into_iter().map(Setting::label).collect(),
            setting: None,
            x: None,
            method: None,
            facts: vec![],
            measures: measures.to_vec(),
            extras: vec![],
        }
    }
}

impl<'a> Sheet<'a> {
    /// A column with the setting's label.
    pub fn by_setting(self, heading: &'a str) -> Self {
        Sheet { setting: Some(heading), ..self }
    }

    /// A column with the abscissa.
    pub fn by_x(self, heading: &'a str) -> Self {
        Sheet { x: Some(heading), ..self }
    }

    /// One row for each method, not one column.
    pub fn by_method(self, heading: &'a str) -> Self {
        Sheet { method: Some(heading), ..self }
    }

    /// Columns with measures of the problem itself.
    pub fn facts(self, facts: &[Measure]) -> Self {
        Sheet { facts: facts.to_vec(), ..self }
    }

    /// A last column of values from elsewhere: `Column::paper` for what the paper prints.
    pub fn extra<T: Into<Cell>>(
        mut self,
        column: Column,
        value: impl Fn(&Place<'_>) -> T + 'a,
    ) -> Self {
        self.extras.push((column, Box::new(move |place| value(place).into())));
        self
    }

    /// The table; `None` if nothing was measured.
    pub fn build(self) -> Option<Table> {
        let long = self.method.is_some();
        let methods = methods(self.rows());
        let places = self.places(&methods);
        let mut table = self.table.clone();
        table.rows = vec![vec![]; places.len()];
        let mut add = |column: Column, cell: &dyn Fn(&Place<'_>) -> Cell| {
            table.columns.push(column);
            table.rows.iter_mut().zip(&places).for_each(|(row, place)| row.push(cell(place)));
        };
        let keys: [Key<'_>; 3] = [
            (self.setting, |place| place.setting.into()),
            (self.x, |place| place.x.into()),
            (self.method, |place| place.method.name.into()),
        ];
        for (heading, key) in keys {
            if let Some(heading) = heading {
                add(Column::new(heading), &key);
            }
        }
        let sample = |place: &Place<'_>, method, measure| {
            self.results.on(&place.setting).sample(place.x, method, measure)
        };
        let value = |sample: &Sample| {
            Cell::from((!sample.draws.is_empty()).then(|| sample.estimate().value))
        };
        for fact in &self.facts {
            add(heading(fact), &|place| value(&sample(place, PROBLEM, *fact)));
        }
        let heads = if long || methods.is_empty() { vec![PROBLEM] } else { methods };
        for (&head, &measure) in
            heads.iter().flat_map(|h| self.measures.iter().map(move |m| (h, m)))
        {
            let of =
                |place: &Place<'_>| sample(place, if long { place.method } else { head }, measure);
            if places.iter().all(|place| of(place).draws.is_empty()) {
                continue;
            }
            let prefix = if head == PROBLEM { "".into() } else { format!("{}: ", head.name) };
            let name = format!("{prefix}{}", measure.key);
            let error = |place: &Place<'_>| of(place).estimate().error;
            let errors = !measure.time && places.iter().any(|place| error(place).is_some());
            let error_name = format!("{name}, s.e.");
            add(Column { name, ..heading(&measure) }, &|place| value(&of(place)));
            if errors {
                add(Column::new(&error_name), &|place| error(place).into());
            }
        }
        for (column, value) in &self.extras {
            add(column.clone(), value);
        }
        (!table.rows.is_empty()).then_some(table)
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        let wanted = |key: &str| self.measures.iter().any(|measure| measure.key == key);
        let rows = self.results.rows.iter().filter(move |row| wanted(row.measure.key));
        rows.filter(|row| self.settings.contains(&row.setting))
    }

    fn places(&self, methods: &[Method]) -> Vec<Place<'_>> {
        let mut places: Vec<Place<'_>> = vec![];
        for setting in &self.settings {
            let here = || self.rows().filter(move |row| row.setting == *setting);
            for x in abscissae(here()) {
                let there = |m: &Method| here().any(|row| row.x == x && row.method == *m);
                let mut those = vec![PROBLEM];
                if self.method.is_some() {
                    those = methods.iter().copied().filter(there).collect();
                }
                places.extend(those.into_iter().map(|method| Place { setting, x, method }));
            }
        }
        places
    }
}

fn heading(measure: &Measure) -> Column {
    if measure.time { Column::with_unit(measure.key, "s") } else { Column::new(measure.key) }
}
