//! The Pumadyn family: simulated dynamics of a Puma 560 robot arm.

use super::entry::{Entry, File, NOTHING};
use crate::{Arff, Csv, Fann, Format};

/// What most of them have in common.
const DELVE: Entry = Entry {
    rows: 8192,
    target: "class",
    licence: "No explicit licence; freely distributed for benchmarks by Delve, University of \
              Toronto.",
    format: || Format::Arff(Arff::new()),
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
        name: "pumadyn-8nh",
        aliases: &["puma8NH"],
        title: "Pumadyn-8nh: 8 inputs, non-linear, high noise",
        files: &[File::plain(
            "pumadyn-8nh/puma8NH.arff",
            8192,
            "c9dd7482e0a00bcf9688e3d11925cfe72517ce66ac83a9dcdc2581a701313088",
        )],
        columns: 9,
        features: 8,
        identity: Some("e49ab80e27db9d5e63811bd176f15ae873e42793e9391bb70a8964f4bae4af26"),
        source: "Delve (University of Toronto), pumadyn family; also Luis Torgo's regression \
                 collection as puma8NH. The checksum is that of github.com/genyang/datasets, \
                 puma8NH.arff at commit 9cf25ea6e5b3",
        ..DELVE
    },
    Entry {
        name: "pumadyn-32nm",
        aliases: &["pumadyn32nm"],
        title: "Pumadyn-32nm: 32 inputs, non-linear, moderate noise; every column standardised",
        files: &[File::gzip(
            "pumadyn-32nm/pumadyn32nm.data.csv.gz",
            8192,
            "10d1698944e0f6e586f2781e4b62c17c05174d4c6cdb6fb824a3e5a1b3630ae4",
            "bd823e5e87867b4152f62bf8a64b896a272645e319e8373354e15501a5654641",
        )],
        columns: 33,
        features: 32,
        identity: Some("4c0af43d3e0394f788f684a691869df3db2fdf4c83a6d7d5319f522ddf890f8f"),
        target: "c33",
        source: "Delve (University of Toronto), pumadyn family. The checksum is that of \
                 github.com/treforevans/uci_datasets, uci_datasets/pumadyn32nm/data.csv.gz at \
                 commit f0737523712f",
        note: "Every column, the target too, was centred and scaled to about unit variance by the \
               distributor, so noise levels are not those of Delve.",
        format: || Format::Csv(Csv::new().header(false)),
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
        format: || Format::Fann(Fann::new()),
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
        format: || Format::Csv(Csv::new().white_space().header(false)),
        ..DELVE
    },
    Entry {
        name: "pumadyn-32fm-full",
        title: "Pumadyn-32fm: 32 inputs, fairly linear, moderate noise; all 8192 rows",
        files: &[File::unseen("pumadyn-32fm-full/Dataset.data", 8192)],
        columns: 33,
        features: 32,
        target: "c33",
        source: "Delve (University of Toronto), pumadyn family, prototask pumadyn-32fm: \
                 www.cs.toronto.edu/~delve/data/pumadyn/desc.html",
        note: "No public copy was found while this catalog was made; expected as Delve lays its \
               files out: numbers separated by white space, the target last.",
        format: || Format::Csv(Csv::new().white_space().header(false)),
        ..DELVE
    },
];
