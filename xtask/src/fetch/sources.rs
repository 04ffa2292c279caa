//! Where each data set comes from, and how it is packed there.
//!
//! The addresses are those that public programs use for the same sets; none could be tried while
//! this was written. A set whose numbers are known is recognised by them, whatever its packing. A
//! publisher's copy may not be there, or turn out to be another set. The copy then comes that the
//! catalogue's checksum was computed from.

use Contents::{Catalogue, Columns, TargetLast};

/// One way to a data set.
pub struct Way {
    /// The beginning of its address.
    pub site: &'static str,
    /// The rest: an archive, or a folder, ending in `/`, that has every file by itself.
    pub path: &'static str,
    /// What is in the archive or folder.
    pub contents: Contents,
}

/// Files with their columns.
pub enum Contents {
    /// The files of the catalogue.
    Catalogue,
    /// Files with the names of the catalogue's, which are tables of numbers with these columns.
    Columns(&'static [&'static str]),
    /// Files with these names, which are tables of numbers: the target is the last column, the
    /// others have no names.
    TargetLast(&'static [&'static str]),
}

const fn uci(path: &'static str, contents: Contents) -> Way {
    Way { site: "https://archive.ics.uci.edu/static/public/", path, contents }
}

/// Luis Torgo's collection.
const fn torgo(path: &'static str, files: &'static [&'static str]) -> Way {
    let site = "https://www.dcc.fc.up.pt/~ltorgo/Regression/";
    Way { site, path, contents: TargetLast(files) }
}

/// The copy that the catalogue's checksums were computed from.
const fn github(path: &'static str) -> Way {
    Way { site: "https://github.com/", path, contents: Catalogue }
}

/// The copies of Torgo's sets that the catalogue's checksums were computed from.
const GENYANG: Way = github("genyang/datasets/raw/9cf25ea6e5b376a5a2a98092cb6ab8b03f05adcf/");

const GAS_DRIFT: &[Way] = &[
    uci("270/gas+sensor+array+drift+dataset+at+different+concentrations.zip", Catalogue),
    github(
        "Sufwan-Masood/Gas-Sensor-Array-Drift-at-Different-Concentrations/raw/\
         21a4a6facb104ffcd9b8df4fb56723a296ab39c9/",
    ),
];

const CASP: &[&str] = &["y", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9"];

const GAS_TURBINE: &[&str] =
    &["AT", "AP", "AH", "AFDP", "GTEP", "TIT", "TAT", "TEY", "CDP", "CO", "NOX"];

/// Data sets by name, in the catalogue's order, each with the ways to it. These are tried in turn,
/// the publisher's own first.
pub const SOURCES: &[(&str, &[Way])] = &[
    ("pumadyn-32nh", &[torgo("puma32H.tgz", &["puma32H.data", "puma32H.test"]), GENYANG]),
    ("pumadyn-32fm", &[github("libfann/fann/raw/1783cbf6239a/datasets/")]),
    (
        "pumadyn-32fh",
        &[Way {
            site: "https://www.cs.toronto.edu/pub/neuron/delve/",
            path: "data/tarfiles/pumadyn-family/pumadyn-32fh.tar.gz",
            contents: Catalogue,
        }],
    ),
    ("ailerons", &[torgo("ailerons.tgz", &["ailerons.data", "ailerons.test"]), GENYANG]),
    ("elevators", &[torgo("elevators.tgz", &["elevators.data", "elevators.test"]), GENYANG]),
    ("cpu-act", &[torgo("compact.tar.gz", &["cpu_act.data"]), GENYANG]),
    ("cpu-small", &[torgo("compact.tar.gz", &["cpu_small.data"]), GENYANG]),
    ("bank32nh", &[torgo("bank32NH.tgz", &["bank32nh.data", "bank32nh.test"]), GENYANG]),
    ("bank8fm", &[torgo("bank8FM.tgz", &["bank8FM.data", "bank8FM.test"]), GENYANG]),
    ("california-housing", &[torgo("cal_housing.tgz", &["cal_housing.data"]), GENYANG]),
    ("gas-drift-batch2", GAS_DRIFT),
    ("gas-drift-batch3", GAS_DRIFT),
    (
        "casp",
        &[
            uci("265/physicochemical+properties+of+protein+tertiary+structure.zip", Columns(CASP)),
            github("iamani123/ML1819--task-104--team-15/raw/f7251178dc17/"),
        ],
    ),
    (
        "gas-turbine",
        &[
            uci("551/gas+turbine+co+and+nox+emission+data+set.zip", Columns(GAS_TURBINE)),
            github("StudentDaNewb/SP-Assignment-5/raw/19b30ec309c2/"),
        ],
    ),
    (
        "beijing-air",
        &[
            uci("501/beijing+multi+site+air+quality+data.zip", Catalogue),
            github(
                "Peiris94-dev/Beijing-Multi-Site-Air-Quality-Analysis/raw/\
                 0aa46c055fcca7da49ebac9329435ffe674b74c3/",
            ),
        ],
    ),
    (
        "skin-segmentation",
        &[
            uci("229/skin+segmentation.zip", Columns(&["B", "G", "R", "SKIN"])),
            github("aperezn298/DatasetsPUJC/raw/959701addcc6/"),
        ],
    ),
    ("query-analytics-rqa", &[uci("493/query+analytics+workloads+dataset.zip", Catalogue)]),
];

/// The ways to the data set called `set`; `None` for those that are embedded.
pub fn of(set: &str) -> Option<&'static [Way]> {
    SOURCES.iter().find(|(name, _)| *name == set).map(|(_, ways)| *ways)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_data::catalog::{self, embedded};

    #[test]
    fn the_table_fits_the_catalogue() {
        for entry in catalog::entries() {
            let inside = embedded::entries().any(|set| set.name == entry.name);
            assert_eq!(of(entry.name).is_none(), inside, "{}", entry.name);
        }
        for (set, ways) in SOURCES {
            let entry = catalog::find(set).unwrap();
            // the copy with the catalogue's checksums comes last, wherever there is one
            let last = ways.last().unwrap();
            assert_eq!(last.path.ends_with('/'), entry.checksums_known(), "{set}");
            for way in *ways {
                assert!(way.site.starts_with("https://") && !way.path.contains(' '), "{set}");
                match way.contents {
                    Columns(names) => assert_eq!(names.len(), entry.columns, "{set}"),
                    TargetLast(_) => assert_eq!(entry.columns, entry.features + 1, "{set}"),
                    Catalogue => {}
                }
            }
        }
    }
}
