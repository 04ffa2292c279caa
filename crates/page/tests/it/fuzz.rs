//! Drawing a plot, table, report or model that was read from a damaged file does not panic, hang or
//! use much memory. The module `damage` sets the number of cases.

use nystrom::prelude::*;
use nystrom_page::FitPage;
use nystrom_page::figure::{figure, table};
use nystrom_page::legend;
use nystrom_page::plot::{Axis, Plot, Point};
use nystrom_page::style::{BLUE, Marker, SOLID, Style, style};
use nystrom_page::table::{Cell, Column, Table};
use nystrom_pipeline::{Calibrate, Explanation, Fit, Fitted, Model, Report};
use proptest::prelude::*;
use std::sync::OnceLock;

use crate::damage::{cases, guarded};
use crate::damage_json::{Target, damaged_one_of, target};

fn look(_: &str) -> Style {
    style(BLUE, Marker::Circle, true, SOLID)
}

/// A regression with intervals, and a classification.
fn fits() -> &'static [Fitted] {
    static FITS: OnceLock<Vec<Fitted>> = OnceLock::new();
    FITS.get_or_init(|| {
        let a: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 60) / 9.0).collect();
        let y = a.iter().map(|a| a.sin()).collect();
        let kind = a.iter().map(|a| f64::from(u8::from(*a > 3.0))).collect();
        let column = nystrom_data::Column::numbers;
        let columns = vec![column("a", a), column("y", y), column("kind", kind)];
        let all = nystrom_data::Table::new("t", columns).unwrap();
        let fit = Fit { calibrate: Some(Calibrate::Share(0.3)), work: Some(1e6), ..Fit::default() };
        let fitted = |leave: &str, target: &str| {
            let table = all.clone().drop_columns([leave]).unwrap();
            fit.table(&table, [target], &mut Pcg64::seed_from_u64(0)).unwrap()
        };
        vec![fitted("kind", "y"), fitted("y", "kind")]
    })
}

fn plot() -> Plot {
    let mut plot = Plot::new("p", "P", Axis::log("n"), Axis::linear("time / s"));
    plot.line_and_points("some", "uniform", [1.0, 10.0].map(|x| Point::new(x, 2.0 * x)));
    plot.points("bars", "leverage", [Point::with_range(3.0, 1.0, 0.5, f64::INFINITY)]);
    plot.horizontal("level", 2.0);
    plot.vertical("size", 5.0);
    plot.room.push(0.5);
    plot
}

fn rows() -> Table {
    let columns = [Column::with_unit("n", "rows"), Column::new("error"), Column::paper("paper")];
    let mut table = Table::new("t", "T", columns);
    table.push([Cell::from(10_usize), Cell::from(0.25), Cell::Missing]);
    table.push([Cell::from("all"), Cell::from(f64::NAN), Cell::from(1e-9)]);
    table
}

fn page(model: &Model, report: &Report) {
    assert!(!FitPage::of(model, report).html().is_empty());
}

fn targets() -> Vec<Target> {
    let [numbers, kinds] = fits() else { unreachable!("two fits") };
    vec![
        target!(plot() => Plot, |plot: Plot| {
            let _ = figure(&plot, look, &maud::html! {});
            let _ = (legend::list(&plot, look), legend::standalone(&plot, look));
        }),
        target!(rows() => Table, |rows: Table| drop(table(&rows, &maud::html! {}))),
        target!(numbers.report => Report, |report: Report| page(&fits()[0].model, &report)),
        target!(kinds.report => Report, |report: Report| page(&fits()[1].model, &report)),
        target!(numbers.model.explanation => Explanation, explained),
        target!(kinds.model.explanation => Explanation, explained),
    ]
}

fn explained(explanation: Explanation) {
    for Fitted { model, report, .. } in fits() {
        let mut model = model.clone();
        model.explanation = Some(explanation.clone());
        page(&model, report);
    }
}

#[test]
fn the_files_to_be_damaged_are_valid() {
    targets().into_iter().for_each(|(file, load)| load(&file));
}

/// A case found by damaging files: a row that has more cells than there are columns.
#[test]
fn a_table_of_other_rows_than_columns_is_refused() {
    let mut table = serde_json::to_value(rows()).unwrap();
    table["columns"].as_array_mut().unwrap().pop();
    let refused = serde_json::from_value::<Table>(table).unwrap_err().to_string();
    assert!(refused.contains("a row of 3 cells under 2 columns"), "{refused}");
}

/// Cases found by damaging files: a confusion matrix with fewer rows than classes, …
#[test]
fn a_report_whose_parts_do_not_fit_together_is_refused() {
    let refused = |fit: usize, spoil: &dyn Fn(&mut serde_json::Value)| {
        let mut report = serde_json::to_value(&fits()[fit].report).unwrap();
        spoil(&mut report["validation"]);
        serde_json::from_value::<Report>(report).unwrap_err().to_string()
    };
    let pop = |list: &mut serde_json::Value| drop(list.as_array_mut().unwrap().pop().unwrap());
    for problem in [
        refused(1, &|of| pop(&mut of["classes"]["counts"])),
        refused(1, &|of| pop(&mut of["classes"]["counts"][0])),
        refused(1, &|of| pop(&mut of["classes"]["names"])),
        refused(1, &|of| of["classes"]["counts"] = serde_json::json!([[1, 0], [0, u64::MAX]])),
    ] {
        assert!(problem.contains("confusion matrix"), "{problem}");
    }
    // … and predictions of fewer rows than there are
    let problem = refused(0, &|of| pop(&mut of["targets"][0]["predicted"]));
    assert!(problem.contains("predicted values"), "{problem}");
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn what_is_drawn((load, file) in damaged_one_of(targets())) {
        guarded(file, load);
    }
}
