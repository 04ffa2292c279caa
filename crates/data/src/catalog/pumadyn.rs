//! The Pumadyn family: simulated dynamics of a Puma 560 robot arm.

use super::entry::{Entry, File, NOTHING};
use super::fann;
use crate::{Arff, Csv};

/// Fields that most of the entries share.
const DELVE: Entry = Entry {
    rows: 8192,
    target: "class",
    licence: "No explicit licence; freely distributed for benchmarks by Delve, University of \
              Toronto.",
    read: |file, name| Arff::new().read(file, name),
    ..NOTHING
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "pumadyn-32nh",
        aliases: &["puma32H", "pumadyn32nh"],
        title: "Pumadyn-32nh: 32 inputs, non-linear, high noise",
        files: &[File::gzip(
            "pumadyn-32nh/puma32H.arff.gz",
            8192,
            "9750b1fcf3250e6b2b0e56cd287abff4b12499cda762961cde8ef524ea5c3cfb",
            "110a77a6685abd358a1c2d9690244c66488eb3607e9bde56864b9b0a4bc6d328",
        )],
        columns: 33,
        features: 32,
        identity: Some("3d84c9c7f88f8900763b81b1719cc2397a3cb81151e0dcc9a5475128685b0f42"),
        source: "Delve (University of Toronto), pumadyn family; also Luis Torgo's regression \
                 collection as puma32H and OpenML id 44981. The checksum is that of \
                 github.com/genyang/datasets, puma32H.arff at commit 9cf25ea6e5b3",
        ..DELVE
    },
    Entry {
        name: "pumadyn-32fm",
        aliases: &["pumadyn-32fm-subset"],
        title: "Pumadyn-32fm: 32 inputs, fairly linear, moderate noise; 1024 of 8192 rows, \
                rescaled",
        files: &[
            File::plain(
                "pumadyn-32fm/pumadyn-32fm.train",
                512,
                "4c4d905a25fc6c646adc5ce7d28e0b082f66a83803a6d5c5beceeda9fc5a9a56",
            ),
            File::plain(
                "pumadyn-32fm/pumadyn-32fm.test",
                512,
                "b4a78eb72bc0bece6771bd515cfe77f41304e0b37a7f80d77bf03a932b7099bd",
            ),
        ],
        columns: 33,
        rows: 1024,
        features: 32,
        identity: Some("be26f66450edc28691da7ecce660bfb7451ed2c8043df4f4079fb1916ec08c17"),
        target: "y",
        source: "Delve (University of Toronto), pumadyn family, as distributed with the FANN \
                 library. The checksums are those of github.com/libfann/fann, \
                 datasets/pumadyn-32fm.train and .test at commit 1783cbf6239a",
        note: "A subset of 1024 of the 8192 rows, affinely rescaled by the distributor (inferred \
               from the ranges) and rounded to six decimals: standardise each column; noise \
               levels are not those of Delve.",
        read: fann::read,
        ..DELVE
    },
    Entry {
        name: "pumadyn-32fh",
        aliases: &["pumadyn32fh"],
        title: "Pumadyn-32fh: 32 inputs, fairly linear, high noise",
        files: &[File::unseen("pumadyn-32fh/Dataset.data", 8192)],
        columns: 33,
        features: 32,
        target: "c33",
        source: "Delve (University of Toronto), pumadyn family, prototask pumadyn-32fh: \
                 www.cs.toronto.edu/~delve/data/pumadyn/desc.html",
        note: "No public copy was found while this catalog was made; expected as Delve lays its \
               files out: numbers separated by white space, the target last.",
        read: |file, name| Csv::new().white_space().header(false).read(file, name),
        ..DELVE
    },
];
