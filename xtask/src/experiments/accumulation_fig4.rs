//! Figure 4 of Chen & Yang 2021 (accumulations): test error and time on RQA, CASP and GAS.

use super::accumulation_data::{CASP, GAS, RQA};
use super::accumulation_fig3::run_sets;
use super::papers;
use crate::experiment::{Context, Experiment, Outcome};

pub const EXPERIMENT: Experiment = Experiment {
    name: "accumulation-fig4",
    paper: &papers::ACCUMULATIONS_2021,
    figure: "Figure 4",
    says: "As Figure 3, on three data sets: test error of the Gaussian sketch at a time near \
           Nyström's.",
    data: &[RQA.data, CASP.data, GAS.data],
    run,
};

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    run_sets(ctx, &[RQA, CASP, GAS])
}
