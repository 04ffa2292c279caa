//! Figure 3 of Chen & Yang 2021 (accumulations): test error and time on RQA and CASP.

use super::accumulation_data;
use super::accumulation_split::Case;
use super::papers;
use crate::experiment::{Context, Experiment, Lookup, Outcome};

pub const EXPERIMENT: Experiment = Experiment {
    name: "accumulation-fig3",
    paper: &papers::ACCUMULATIONS_2021,
    figure: "Figure 3",
    says: "On real data an accumulation with m = 4 has the test error of the Gaussian sketch at a time near Nyström's; very sparse random projections lie between.",
    data: &["query-analytics-rqa", "casp"],
    run,
};

/// Data set and label.
const SETS: [(&str, &str); 2] = [("query-analytics-rqa", "RQA"), ("casp", "CASP")];

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    run_sets(ctx, &SETS)
}

/// The experiment on the given data sets; those that are missing are reported as missing.
pub fn run_sets(ctx: &Context, sets: &[(&str, &str)]) -> anyhow::Result<Outcome> {
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(200, 2), (400, 2)],
        &[(1000, 15), (2000, 10), (4000, 6), (8000, 5), (15_000, 4)],
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (15_000, 30)],
    );
    let mut out = Outcome::default();
    for &(name, label) in sets {
        match ctx.dataset(name)? {
            Lookup::Found(data) => {
                accumulation_data::run(&Case { label, id: name, data: &data, sizes }, ctx, &mut out)?
            }
            Lookup::Missing(missing) => out.missing.push(missing.needed_for(format!("plots and row {label}"))),
        }
    }
    let splits: Vec<String> = sizes.iter().map(|(n, r)| format!("{r} at n = {n}")).collect();
    out.scale_note =
        format!("Random splits: {}. The paper: 30 each, n from 1000 to 15,000 (a full run)", splits.join(", "));
    out.notes = vec![
        accumulation_data::choices(),
        "Which of the paper's three data sets stands in which figure is not legible; RQA and CASP are taken for Figure 3 and GAS for Figure 4. The paper \
         counts ten features of GAS; here they are its nine sensors, and NOx is the target."
            .into(),
    ];
    Ok(out)
}
