//! The registry: every experiment, in the order of the papers and of their figures.
//!
//! To add one, write `experiments/<paper>_<figure>.rs` with a `pub const EXPERIMENT: Experiment`,
//! and declare it here; figures of one paper on one problem share a file. Add it to [`ALL`] beside
//! the others of its paper; a new paper goes into `papers`. Run
//! `cargo xtask reproduce --smoke --only NAME`, then `cargo xtask docs`.

mod accumulation_data;
mod accumulation_figs1_and_2;
mod accumulation_figs3_to_5;
mod alaoui_mahoney_columns;
mod alaoui_mahoney_fig1_left;
mod alaoui_mahoney_table1;
mod alaoui_mahoney_theorem4;
mod alaoui_mahoney_time;
mod bernoulli_problem;
mod bimodal_problem;
mod bimodal_regression;
mod chen_yang_boundary;
mod chen_yang_fig1;
mod chen_yang_fig2;
mod chen_yang_fig3;
mod chen_yang_table1;
mod counting;
mod k_dpp_at_scale;
mod leverage_summary;
mod li_alpha;
mod li_fig1;
mod li_fig3;
mod li_fig5;
mod li_fig6;
mod li_methods;
mod li_problem;
pub mod papers;
mod squeak_methods;
mod squeak_problem;
mod squeak_stream;
mod squeak_table;
mod truth;
mod zhang_duchi_wainwright;

use crate::experiment::Experiment;

/// Every experiment there is.
pub const ALL: &[Experiment] = &[
    chen_yang_fig1::EXPERIMENT,
    chen_yang_table1::EXPERIMENT,
    chen_yang_fig2::EXPERIMENT,
    chen_yang_fig3::EXPERIMENT,
    chen_yang_boundary::EXPERIMENT,
    alaoui_mahoney_fig1_left::EXPERIMENT,
    alaoui_mahoney_columns::FIG1_RIGHT,
    alaoui_mahoney_table1::EXPERIMENT,
    alaoui_mahoney_theorem4::EXPERIMENT,
    alaoui_mahoney_time::EXPERIMENT,
    alaoui_mahoney_columns::AGAINST_DIVIDE_AND_CONQUER,
    zhang_duchi_wainwright::EXPERIMENT,
    accumulation_figs1_and_2::FIG1,
    accumulation_figs1_and_2::FIG2,
    accumulation_figs3_to_5::FIG3,
    accumulation_figs3_to_5::FIG4,
    accumulation_figs3_to_5::FIG5,
    squeak_table::EXPERIMENT,
    squeak_stream::DICTIONARY_SIZE,
    squeak_stream::ANYTIME_RISK,
    li_fig1::EXPERIMENT,
    li_fig3::EXPERIMENT,
    li_fig5::EXPERIMENT,
    li_fig6::EXPERIMENT,
    li_alpha::EXPERIMENT,
    leverage_summary::EXPERIMENT,
    k_dpp_at_scale::EXPERIMENT,
];

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
        (pages.sort(), files.sort());
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

    #[test]
    fn experiments_of_one_paper_stand_together() {
        let mut seen: Vec<&str> = Vec::new();
        for experiment in ALL {
            if seen.last() != Some(&experiment.paper.short) {
                assert!(
                    !seen.contains(&experiment.paper.short),
                    "`{}` stands apart from its paper",
                    experiment.name
                );
                seen.push(experiment.paper.short);
            }
        }
    }
}
