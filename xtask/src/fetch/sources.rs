//! Where each data set comes from, and how it is packed there.
//!
//! The addresses are those that public programs use for the same sets; none could be tried while
//! this was written. A set whose numbers are known is recognised by them, whatever its packing. A
//! publisher's copy may not be there, or turn out to be another set. The copy then comes that the
//! catalogue's checksum was computed from.

/// A data set and the ways to it, the publisher's own first.
pub struct Source {
    /// Its name in the catalogue.
    pub set: &'static str,
    /// Tried in this order.
    pub ways: &'static [Way],
}

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
pub fn of(set: &str) -> Option<&'static Source> {
    SOURCES.iter().find(|source| source.set == set)
}

const fn archive(address: &'static str, files: &'static [&'static str], layout: Layout) -> Way {
    Way { from: From::Archive(address), files, layout }
}

const fn torgo(address: &'static str, files: &'static [&'static str]) -> Way {
    archive(address, files, Layout::TargetLast)
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

const GAS_DRIFT: &str = "https://archive.ics.uci.edu/static/public/270/gas+sensor+array+drift+dataset+at+different+concentrations.zip";

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

/// In the order of the catalogue.
pub const SOURCES: &[Source] = &[
    Source {
        set: "pumadyn-32nh",
        ways: &[
            torgo(
                "https://www.dcc.fc.up.pt/~ltorgo/Regression/puma32H.tgz",
                &["puma32H.data", "puma32H.test"],
            ),
            genyang(&["puma32H.arff"]),
        ],
    },
    Source {
        set: "pumadyn-32fm",
        ways: &[copy(
            "https://github.com/libfann/fann/raw/1783cbf6239a/datasets/",
            &["pumadyn-32fm.train", "pumadyn-32fm.test"],
        )],
    },
    Source {
        set: "pumadyn-32fh",
        ways: &[catalogue(
            "https://www.cs.toronto.edu/pub/neuron/delve/data/tarfiles/pumadyn-family/pumadyn-32fh.tar.gz",
            &["Dataset.data"],
        )],
    },
    Source {
        set: "ailerons",
        ways: &[
            torgo(
                "https://www.dcc.fc.up.pt/~ltorgo/Regression/ailerons.tgz",
                &["ailerons.data", "ailerons.test"],
            ),
            genyang(&["ailerons.arff"]),
        ],
    },
    Source {
        set: "elevators",
        ways: &[
            torgo(
                "https://www.dcc.fc.up.pt/~ltorgo/Regression/elevators.tgz",
                &["elevators.data", "elevators.test"],
            ),
            genyang(&["elevators.arff"]),
        ],
    },
    Source {
        set: "cpu-act",
        ways: &[
            torgo("https://www.dcc.fc.up.pt/~ltorgo/Regression/compact.tar.gz", &["cpu_act.data"]),
            genyang(&["cpu_act.arff"]),
        ],
    },
    Source {
        set: "cpu-small",
        ways: &[
            torgo(
                "https://www.dcc.fc.up.pt/~ltorgo/Regression/compact.tar.gz",
                &["cpu_small.data"],
            ),
            genyang(&["cpu_small.arff"]),
        ],
    },
    Source {
        set: "bank32nh",
        ways: &[
            torgo(
                "https://www.dcc.fc.up.pt/~ltorgo/Regression/bank32NH.tgz",
                &["bank32nh.data", "bank32nh.test"],
            ),
            genyang(&["bank32NH.arff"]),
        ],
    },
    Source {
        set: "bank8fm",
        ways: &[
            torgo(
                "https://www.dcc.fc.up.pt/~ltorgo/Regression/bank8FM.tgz",
                &["bank8FM.data", "bank8FM.test"],
            ),
            genyang(&["bank8FM.arff"]),
        ],
    },
    Source {
        set: "california-housing",
        ways: &[
            torgo(
                "https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.tgz",
                &["cal_housing.data"],
            ),
            genyang(&["california_housing.arff"]),
        ],
    },
    Source {
        set: "gas-drift-batch2",
        ways: &[catalogue(GAS_DRIFT, &["batch2.dat"]), gas_drift_copy(&["batch2.dat"])],
    },
    Source {
        set: "gas-drift-batch3",
        ways: &[catalogue(GAS_DRIFT, &["batch3.dat"]), gas_drift_copy(&["batch3.dat"])],
    },
    Source {
        set: "casp",
        ways: &[
            archive(
                "https://archive.ics.uci.edu/static/public/265/physicochemical+properties+of+protein+tertiary+structure.zip",
                &["CASP.csv"],
                Layout::Columns(&["y", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9"]),
            ),
            copy(
                "https://github.com/iamani123/ML1819--task-104--team-15/raw/f7251178dc17/",
                &["CASP.csv"],
            ),
        ],
    },
    Source {
        set: "gas-turbine",
        ways: &[
            archive(
                "https://archive.ics.uci.edu/static/public/551/gas+turbine+co+and+nox+emission+data+set.zip",
                YEARS,
                Layout::Columns(&[
                    "AT", "AP", "AH", "AFDP", "GTEP", "TIT", "TAT", "TEY", "CDP", "CO", "NOX",
                ]),
            ),
            copy("https://github.com/StudentDaNewb/SP-Assignment-5/raw/19b30ec309c2/", YEARS),
        ],
    },
    Source {
        set: "beijing-air",
        ways: &[
            catalogue(
                "https://archive.ics.uci.edu/static/public/501/beijing+multi+site+air+quality+data.zip",
                STATIONS,
            ),
            copy(
                "https://github.com/Peiris94-dev/Beijing-Multi-Site-Air-Quality-Analysis/raw/\
                 0aa46c055fcca7da49ebac9329435ffe674b74c3/",
                STATIONS,
            ),
        ],
    },
    Source {
        set: "skin-segmentation",
        ways: &[
            archive(
                "https://archive.ics.uci.edu/static/public/229/skin+segmentation.zip",
                &["Skin_NonSkin.txt"],
                Layout::Columns(&["B", "G", "R", "SKIN"]),
            ),
            copy(
                "https://github.com/aperezn298/DatasetsPUJC/raw/959701addcc6/",
                &["Skin_NonSkin.txt"],
            ),
        ],
    },
    Source {
        set: "query-analytics-rqa",
        ways: &[catalogue(
            "https://archive.ics.uci.edu/static/public/493/query+analytics+workloads+dataset.zip",
            &["Range-Queries-Aggregates.csv"],
        )],
    },
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
        let known = |set| catalog::find(set).is_ok_and(|entry| entry.name == set);
        assert!(SOURCES.iter().all(|source| known(source.set)));
    }

    #[test]
    fn a_copy_with_the_catalogues_checksums_is_the_last_way_wherever_there_is_one() {
        for source in SOURCES {
            let entry = catalog::find(source.set).unwrap();
            let last = source.ways.last().unwrap();
            assert_eq!(
                matches!(last.from, From::Folder(_)),
                entry.checksums_known(),
                "{}",
                source.set
            );
        }
    }

    #[test]
    fn addresses_are_secure_and_layouts_fit_the_catalogue() {
        for source in SOURCES {
            let entry = catalog::find(source.set).unwrap();
            for way in source.ways {
                let (From::Archive(address) | From::Folder(address)) = way.from;
                assert!(address.starts_with("https://") && !address.contains(' '), "{address}");
                match way.layout {
                    Layout::Catalogue => {
                        assert_eq!(way.files.len(), entry.files.len(), "{}", source.set)
                    }
                    Layout::Columns(names) => {
                        assert_eq!(names.len(), entry.columns, "{}", source.set)
                    }
                    Layout::TargetLast => {
                        assert_eq!(entry.columns, entry.features + 1, "{}", source.set)
                    }
                }
            }
        }
    }
}
