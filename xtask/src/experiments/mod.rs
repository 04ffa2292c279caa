//! The registry: every experiment, in the order of the papers and of their figures.
//!
//! To add one, write `experiments/<paper>_<figure>.rs` with a function from the context to the
//! outcome, and `docs/experiments/<name>.md` with what the paper says and the notes of the report;
//! figures of one paper on one problem share a file. Add a row to the registry beside the others of
//! its paper. Run `cargo xtask reproduce --smoke --only NAME`, then `cargo xtask docs`.

mod accumulation_figs1_and_2;
mod accumulation_figs3_to_5;
mod alaoui_mahoney_scores;
mod alaoui_mahoney_synthetic;
mod alaoui_mahoney_table1;
mod bimodal;
mod chen_yang_figs1_and_3;
mod chen_yang_scores;
mod chen_yang_table1;
mod counting;
mod k_dpp_at_scale;
mod leverage_summary;
mod li_chain;
mod li_fig6;
mod li_figs1_and_3;
mod li_problem;
mod squeak_problem;
mod squeak_stream;
mod squeak_table;
mod truth;
mod zhang_duchi_wainwright;

use crate::experiment::{Experiment, Paper};
use crate::pages::page;
use accumulation_figs3_to_5::{CASP, GAS, RQA, figs3_to_5};

macro_rules! registry {
    ($(($short:literal, $url:literal, $full:literal) {
        $($name:literal, $figure:literal, $data:expr, $run:expr;)*
    })*) => {
        /// Every experiment there is.
        pub const ALL: &[Experiment] = &[$($(Experiment {
            name: $name,
            paper: &Paper { short: $short, full: $full, url: $url },
            figure: $figure,
            page: page!($name),
            data: $data,
            run: $run,
        }),*),*];
    };
}

// name, figure, data sets, function
registry! {
    // Leverage scores of stationary kernels by spectral analysis.
    ("Chen & Yang 2021", "https://arxiv.org/abs/2103.05238",
     "Y. Chen and Y. Yang, Fast Statistical Leverage Score Approximation in Kernel Ridge \
      Regression, AISTATS 2021") {
        "chen-yang-fig1", "Figure 1", &[], chen_yang_figs1_and_3::fig1;
        "chen-yang-table1", "Table 1", &["query-analytics", "htru2", "ccpp"], chen_yang_table1::run;
        "chen-yang-fig2", "Figure 2", &[], chen_yang_scores::fig2;
        "chen-yang-fig3", "Figure 3", &[], chen_yang_figs1_and_3::fig3;
        "chen-yang-boundary", "none: boundary of the support", &[], chen_yang_scores::boundary;
    }

    // Where λ-ridge leverage scores enter kernel ridge regression.
    ("Alaoui & Mahoney 2015", "https://arxiv.org/abs/1411.0306",
     "A. Alaoui and M. W. Mahoney, Fast Randomized Kernel Ridge Regression with Statistical \
      Guarantees, NIPS 28, 2015") {
        "alaoui-mahoney-fig1-left", "Figure 1, left", &[], alaoui_mahoney_synthetic::fig1_left;
        "alaoui-mahoney-fig1-right", "Figure 1, right", &[], alaoui_mahoney_synthetic::fig1_right;
        "alaoui-mahoney-table1", "Table 1",
            &["gas-drift-batch2", "gas-drift-batch3", "pumadyn-32fm", "pumadyn-32fh",
              "pumadyn-32nh"],
            alaoui_mahoney_table1::run;
        "alaoui-mahoney-theorem4", "Theorem 4", &[], alaoui_mahoney_scores::theorem4;
        "alaoui-mahoney-time", "Section 3.5, running time", &[], alaoui_mahoney_scores::time;
        "alaoui-mahoney-divide-and-conquer", "Section 1, against divide and conquer", &[],
            alaoui_mahoney_synthetic::against_divide_and_conquer;
    }

    // Exact regression on parts of the data, averaged.
    ("Zhang, Duchi & Wainwright 2013", "https://arxiv.org/abs/1305.5029",
     "Y. Zhang, J. Duchi and M. Wainwright, Divide and Conquer Kernel Ridge Regression, COLT \
      2013") {
        "zhang-duchi-wainwright-parts", "Simulation, error against the number of parts", &[],
            zhang_duchi_wainwright::run;
    }

    // Sketches between Nyström and Gaussian.
    ("Chen & Yang 2021 (accumulations)", "https://arxiv.org/abs/2103.04031",
     "Y. Chen and Y. Yang, Accumulations of Projections: a Unified Framework for Random Sketches \
      in Kernel Ridge Regression, AISTATS 2021") {
        "accumulation-fig1", "Figure 1", &[], accumulation_figs1_and_2::fig1;
        "accumulation-fig2", "Figure 2", &[], accumulation_figs1_and_2::fig2;
        "accumulation-fig3", "Figure 3", &[RQA.name], |ctx| figs3_to_5(ctx, &[RQA], false);
        "accumulation-fig4", "Figure 4", &[RQA.name, CASP.name, GAS.name],
            |ctx| figs3_to_5(ctx, &[RQA, CASP, GAS], false);
        "accumulation-fig5", "Figure 5", &[RQA.name, CASP.name, GAS.name],
            |ctx| figs3_to_5(ctx, &[RQA, CASP, GAS], true);
    }

    // Streaming and distributed dictionaries.
    ("Calandriello, Lazaric & Valko 2017", "https://arxiv.org/abs/1803.10172",
     "D. Calandriello, A. Lazaric and M. Valko, Distributed Adaptive Sampling for Kernel Matrix \
      Approximation, AISTATS 2017") {
        "squeak-table", "Comparison of methods", &["ccpp"], squeak_table::run;
        "squeak-dictionary-size", "Theorem, dictionary size", &[], squeak_stream::dictionary_size;
        "squeak-anytime-risk", "Risk of the regression at any moment", &[],
            squeak_stream::anytime_risk;
    }

    // k-DPP landmarks by a swap chain.
    ("Li, Jegelka & Sra 2016", "https://arxiv.org/abs/1603.06052",
     "C. Li, S. Jegelka and S. Sra, Fast DPP Sampling for Nyström with Application to Kernel \
      Methods, ICML 2016") {
        "li-fig1", "Figures 1, 2 and 7", &li_problem::NAMES, li_figs1_and_3::fig1;
        "li-fig3", "Figures 3, 4 and 8", &li_problem::NAMES, li_figs1_and_3::fig3;
        "li-fig5", "Figures 5, 9, 10 and 11", &["ailerons", "abalone"], li_chain::fig5;
        "li-fig6", "Figures 6, 12 and 13", &["ailerons", "california-housing", "abalone"],
            li_fig6::run;
        "li-alpha", "Section 6.3, α", &["ailerons", "abalone"], li_chain::alpha;
    }

    // What no paper shows: figures of this workspace's own.
    ("Beyond the papers", "../README.md",
     "Figures of our own, about all methods of this workspace") {
        "leverage-summary", "Leverage scores: accuracy against time", &leverage_summary::SETS,
            leverage_summary::run;
        "k-dpp-at-scale", "k-DPPs at scale", &[], k_dpp_at_scale::run;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{SHARED, paragraphs};

    #[test]
    fn names_are_unique_and_fit_for_files() {
        for (i, experiment) in ALL.iter().enumerate() {
            let name = experiment.name;
            assert!(ALL[..i].iter().all(|other| other.name != name), "`{name}` twice");
            assert!(
                name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
                "`{name}`"
            );
            assert!(!experiment.figure.is_empty(), "`{name}` lacks its figure");
        }
    }

    #[test]
    fn each_has_its_page_and_there_is_no_other() {
        let folder = crate::workspace::root().join("docs/experiments");
        let own = ALL.iter().map(|experiment| (experiment.name, experiment.page));
        let mut pages: Vec<(String, String)> =
            own.chain(SHARED).map(|(name, page)| (format!("{name}.md"), page.into())).collect();
        let files = std::fs::read_dir(folder).unwrap().map(|file| {
            let file = file.unwrap();
            let text = std::fs::read_to_string(file.path()).unwrap();
            (file.file_name().into_string().unwrap(), text)
        });
        let mut files: Vec<_> = files.collect();
        pages.sort();
        files.sort();
        assert_eq!(pages, files);
        for (name, page) in pages {
            let (says, notes) = paragraphs(&page);
            let link = notes.iter().find(|note| note.contains("](")); // to none that is shared
            assert!(!says.is_empty() && link.is_none(), "{name}: {link:?}");
        }
    }

    #[test]
    fn their_data_are_in_the_catalog() {
        for name in ALL.iter().flat_map(|experiment| experiment.data) {
            assert!(nystrom_data::catalog::find(name).is_ok(), "`{name}`");
        }
    }
}
