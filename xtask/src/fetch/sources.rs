//! Where each data set comes from, and how it is packed there.
//!
//! The addresses are those that public programs use for the same sets; none could be tried while
//! this was written. A set whose numbers are known is recognised by them, whatever its packing. A
//! publisher's copy may not be there, or turn out to be another set. The copy then comes that the
//! catalogue's checksum was computed from.

/// One way to a data set.
#[derive(Clone, Copy)]
pub struct Way {
    /// What is downloaded.
    pub from: From,
    /// The files wanted, by their names in the archive or below the address, in the order of the
    /// catalogue.
    pub files: &'static [&'static str],
    /// What is in them.
    pub layout: Layout,
}

/// What is downloaded.
#[derive(Clone, Copy)]
pub enum From {
    /// One archive, or one file.
    Archive(&'static str),
    /// Every file by itself, below this address.
    Folder(&'static str),
}

/// What the columns of a file are.
#[derive(Clone, Copy)]
pub enum Layout {
    /// The files are those of the catalogue.
    Catalogue,
    /// A table of numbers with these columns; a header is passed over, the delimiter is found out.
    Columns(&'static [&'static str]),
    /// The same with the target last and columns that have no names.
    TargetLast,
}

/// The ways to the data set called `set`; `None` for those that are embedded.
pub fn of(set: &str) -> Option<&'static [Way]> {
    SOURCES.iter().find(|(name, _)| *name == set).map(|(_, ways)| *ways)
}

/// An address of the UCI repository.
macro_rules! uci {
    ($path:literal) => {
        concat!("https://archive.ics.uci.edu/static/public/", $path)
    };
}

/// An archive of Torgo's collection.
macro_rules! torgo {
    ($name:literal, $files:expr) => {
        archive(
            concat!("https://www.dcc.fc.up.pt/~ltorgo/Regression/", $name),
            $files,
            Layout::TargetLast,
        )
    };
}

const fn archive(address: &'static str, files: &'static [&'static str], layout: Layout) -> Way {
    Way { from: From::Archive(address), files, layout }
}

const fn catalogue(address: &'static str, files: &'static [&'static str]) -> Way {
    archive(address, files, Layout::Catalogue)
}

/// The copy that the catalogue's checksums were computed from.
const fn copy(folder: &'static str, files: &'static [&'static str]) -> Way {
    Way { from: From::Folder(folder), files, layout: Layout::Catalogue }
}

/// A copy in the collection whose checksums the catalogue has for Torgo's sets.
const fn genyang(files: &'static [&'static str]) -> Way {
    copy("https://github.com/genyang/datasets/raw/9cf25ea6e5b376a5a2a98092cb6ab8b03f05adcf/", files)
}

const fn gas_drift_copy(files: &'static [&'static str]) -> Way {
    copy(
        "https://github.com/Sufwan-Masood/Gas-Sensor-Array-Drift-at-Different-Concentrations/raw/\
         21a4a6facb104ffcd9b8df4fb56723a296ab39c9/",
        files,
    )
}

const GAS_DRIFT: &str = uci!("270/gas+sensor+array+drift+dataset+at+different+concentrations.zip");

const YEARS: &[&str] = &["gt_2011.csv", "gt_2012.csv", "gt_2013.csv", "gt_2014.csv", "gt_2015.csv"];

const STATIONS: &[&str] = &[
    "PRSA_Data_Aotizhongxin_20130301-20170228.csv",
    "PRSA_Data_Changping_20130301-20170228.csv",
    "PRSA_Data_Dingling_20130301-20170228.csv",
    "PRSA_Data_Dongsi_20130301-20170228.csv",
    "PRSA_Data_Guanyuan_20130301-20170228.csv",
    "PRSA_Data_Gucheng_20130301-20170228.csv",
    "PRSA_Data_Huairou_20130301-20170228.csv",
    "PRSA_Data_Nongzhanguan_20130301-20170228.csv",
    "PRSA_Data_Shunyi_20130301-20170228.csv",
    "PRSA_Data_Tiantan_20130301-20170228.csv",
    "PRSA_Data_Wanliu_20130301-20170228.csv",
    "PRSA_Data_Wanshouxigong_20130301-20170228.csv",
];

/// Data sets by name, in the catalogue's order, each with the ways to it. These are tried in turn,
/// the publisher's own first.
pub const SOURCES: &[(&str, &[Way])] = &[
    (
        "pumadyn-32nh",
        &[torgo!("puma32H.tgz", &["puma32H.data", "puma32H.test"]), genyang(&["puma32H.arff"])],
    ),
    (
        "pumadyn-32fm",
        &[copy(
            "https://github.com/libfann/fann/raw/1783cbf6239a/datasets/",
            &["pumadyn-32fm.train", "pumadyn-32fm.test"],
        )],
    ),
    (
        "pumadyn-32fh",
        &[catalogue(
            "https://www.cs.toronto.edu/pub/neuron/delve/data/tarfiles/pumadyn-family/pumadyn-32fh.tar.gz",
            &["Dataset.data"],
        )],
    ),
    (
        "ailerons",
        &[torgo!("ailerons.tgz", &["ailerons.data", "ailerons.test"]), genyang(&["ailerons.arff"])],
    ),
    (
        "elevators",
        &[
            torgo!("elevators.tgz", &["elevators.data", "elevators.test"]),
            genyang(&["elevators.arff"]),
        ],
    ),
    ("cpu-act", &[torgo!("compact.tar.gz", &["cpu_act.data"]), genyang(&["cpu_act.arff"])]),
    ("cpu-small", &[torgo!("compact.tar.gz", &["cpu_small.data"]), genyang(&["cpu_small.arff"])]),
    (
        "bank32nh",
        &[torgo!("bank32NH.tgz", &["bank32nh.data", "bank32nh.test"]), genyang(&["bank32NH.arff"])],
    ),
    (
        "bank8fm",
        &[torgo!("bank8FM.tgz", &["bank8FM.data", "bank8FM.test"]), genyang(&["bank8FM.arff"])],
    ),
    (
        "california-housing",
        &[torgo!("cal_housing.tgz", &["cal_housing.data"]), genyang(&["california_housing.arff"])],
    ),
    ("gas-drift-batch2", &[catalogue(GAS_DRIFT, &["batch2.dat"]), gas_drift_copy(&["batch2.dat"])]),
    ("gas-drift-batch3", &[catalogue(GAS_DRIFT, &["batch3.dat"]), gas_drift_copy(&["batch3.dat"])]),
    (
        "casp",
        &[
            archive(
                uci!("265/physicochemical+properties+of+protein+tertiary+structure.zip"),
                &["CASP.csv"],
                Layout::Columns(&["y", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9"]),
            ),
            copy(
                "https://github.com/iamani123/ML1819--task-104--team-15/raw/f7251178dc17/",
                &["CASP.csv"],
            ),
        ],
    ),
    (
        "gas-turbine",
        &[
            archive(
                uci!("551/gas+turbine+co+and+nox+emission+data+set.zip"),
                YEARS,
                Layout::Columns(&[
                    "AT", "AP", "AH", "AFDP", "GTEP", "TIT", "TAT", "TEY", "CDP", "CO", "NOX",
                ]),
            ),
            copy("https://github.com/StudentDaNewb/SP-Assignment-5/raw/19b30ec309c2/", YEARS),
        ],
    ),
    (
        "beijing-air",
        &[
            catalogue(uci!("501/beijing+multi+site+air+quality+data.zip"), STATIONS),
            copy(
                "https://github.com/Peiris94-dev/Beijing-Multi-Site-Air-Quality-Analysis/raw/\
                 0aa46c055fcca7da49ebac9329435ffe674b74c3/",
                STATIONS,
            ),
        ],
    ),
    (
        "skin-segmentation",
        &[
            archive(
                uci!("229/skin+segmentation.zip"),
                &["Skin_NonSkin.txt"],
                Layout::Columns(&["B", "G", "R", "SKIN"]),
            ),
            copy(
                "https://github.com/aperezn298/DatasetsPUJC/raw/959701addcc6/",
                &["Skin_NonSkin.txt"],
            ),
        ],
    ),
    (
        "query-analytics-rqa",
        &[catalogue(
            uci!("493/query+analytics+workloads+dataset.zip"),
            &["Range-Queries-Aggregates.csv"],
        )],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_data::catalog::{self, embedded};

    #[test]
    fn every_set_is_embedded_or_has_a_way() {
        for entry in catalog::entries() {
            let inside = embedded::entries().any(|set| set.name == entry.name);
            assert_eq!(of(entry.name).is_none(), inside, "{}", entry.name);
        }
        let known = |set: &str| catalog::find(set).is_ok_and(|entry| entry.name == set);
        assert!(SOURCES.iter().all(|(set, _)| known(set)));
    }

    #[test]
    fn a_copy_with_the_catalogues_checksums_is_the_last_way_wherever_there_is_one() {
        for (set, ways) in SOURCES {
            let known = catalog::find(set).unwrap().checksums_known();
            assert_eq!(matches!(ways.last().unwrap().from, From::Folder(_)), known, "{set}");
        }
    }

    #[test]
    fn addresses_are_secure_and_layouts_fit_the_catalogue() {
        for (set, ways) in SOURCES {
            let entry = catalog::find(set).unwrap();
            for way in *ways {
                let (From::Archive(address) | From::Folder(address)) = way.from;
                assert!(address.starts_with("https://") && !address.contains(' '), "{address}");
                match way.layout {
                    Layout::Catalogue => assert_eq!(way.files.len(), entry.files.len(), "{set}"),
                    Layout::Columns(names) => assert_eq!(names.len(), entry.columns, "{set}"),
                    Layout::TargetLast => assert_eq!(entry.columns, entry.features + 1, "{set}"),
                }
            }
        }
    }
}
