//! Tables of results: one row for each method (long), or one for each place with the methods side
//! by side (wide).

use super::results::{Row, abscissae, methods};
use super::{Measure, Results, Setting};
use crate::experiment::{Cell, Column, Table};
use crate::method::{Method, PROBLEM};

type Heading<'a> = Option<&'a str>;
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
        let mut table = self.table.clone();
        let methods = methods(self.rows());
        let places = self.places(&methods);
        let blocks: Vec<(Method, Measure, bool)> = self.blocks(&methods, &places);
        let headings = [self.setting, self.x, self.method].into_iter().flatten().map(Column::new);
        let facts = self.facts.iter().map(heading);
        let measured = blocks.iter().flat_map(|(method, measure, errors)| {
            let of =
                if method.name.is_empty() { String::new() } else { format!("{}: ", method.name) };
            let column = Column { name: format!("{of}{}", measure.key), ..heading(measure) };
            let error = errors.then(|| Column::new(&format!("{of}{}, s.e.", measure.key)));
            [column].into_iter().chain(error)
        });
        let extras = self.extras.iter().map(|(column, _)| column.clone());
        table.columns = headings.chain(facts).chain(measured).chain(extras).collect();
        for place in &places {
            table.push(self.row(place, &blocks));
        }
        (!table.rows.is_empty()).then_some(table)
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        let wanted = |key: &str| self.measures.iter().any(|measure| measure.key == key);
        self.results
            .rows
            .iter()
            .filter(move |row| wanted(row.measure.key) && self.settings.contains(&row.setting))
    }

    fn places(&self, methods: &[Method]) -> Vec<Place<'_>> {
        let mut places: Vec<Place<'_>> = vec![];
        for setting in &self.settings {
            let here = || self.rows().filter(move |row| row.setting == *setting);
            for x in abscissae(here()) {
                let there = |method: Method| here().any(|row| row.x == x && row.method == method);
                match self.method {
                    None => places.push(Place { setting, x, method: PROBLEM }),
                    Some(_) => {
                        let those = methods.iter().filter(|method| there(**method));
                        places.extend(those.map(|&method| Place { setting, x, method }));
                    }
                }
            }
        }
        places
    }

    /// The columns of measures: for which method (of a wide table), and whether a standard error
    /// stands beside.
    fn blocks(&self, methods: &[Method], places: &[Place<'_>]) -> Vec<(Method, Measure, bool)> {
        let mut heads = if self.method.is_some() { vec![PROBLEM] } else { methods.to_vec() };
        if self.method.is_none() && heads.is_empty() {
            heads.push(PROBLEM);
        }
        let mut blocks = vec![];
        for head in heads {
            for &measure in &self.measures {
                let samples = places.iter().map(|place| {
                    let method = if self.method.is_some() { place.method } else { head };
                    self.results.sample_of(place.setting, place.x, method, measure)
                });
                let samples: Vec<_> = samples.filter(|sample| !sample.draws.is_empty()).collect();
                if !samples.is_empty() {
                    let errors = !measure.time
                        && samples.iter().any(|sample| sample.estimate().error.is_some());
                    blocks.push((head, measure, errors));
                }
            }
        }
        blocks
    }

    fn row(&self, place: &Place<'_>, blocks: &[(Method, Measure, bool)]) -> Vec<Cell> {
        let Place { setting, x, method } = *place;
        let mut row: Vec<Cell> = vec![];
        row.extend(self.setting.map(|_| Cell::from(setting)));
        row.extend(self.x.map(|_| Cell::from(x)));
        row.extend(self.method.map(|_| Cell::from(method.name)));
        let shown = |value: f64, there: bool| Cell::from(there.then_some(value));
        for fact in &self.facts {
            let sample = self.results.sample_of(setting, x, PROBLEM, *fact);
            row.push(shown(sample.estimate().value, !sample.draws.is_empty()));
        }
        for &(head, measure, errors) in blocks {
            let of = if self.method.is_some() { method } else { head };
            let sample = self.results.sample_of(setting, x, of, measure);
            let (estimate, there) = (sample.estimate(), !sample.draws.is_empty());
            row.push(shown(estimate.value, there));
            if errors {
                row.push(Cell::from(estimate.error));
            }
        }
        row.extend(self.extras.iter().map(|(_, value)| value(place)));
        row
    }
}

fn heading(measure: &Measure) -> Column {
    if measure.time { Column::with_unit(measure.key, "s") } else { Column::new(measure.key) }
}
