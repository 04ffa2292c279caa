//! Data sets of the UCI Machine Learning Repository.

use std::io::Read;

use super::entry::{Entry, File, NOTHING};
use crate::{Csv, Encoding, Libsvm, Result, Table};

/// Fields that most of the entries share.
pub(super) const UCI: Entry =
    Entry { licence: "CC BY 4.0, as the UCI ML Repository lists it.", ..NOTHING };

const GAS_DRIFT: Entry = Entry {
    columns: 130,
    features: 128,
    target: "concentration",
    licence: "Listed by UCI as CC BY 4.0, but its page also says research only, no commercial use; \
              cite Vergara et al. 2012 and Rodriguez-Lujan et al. 2014.",
    note: "Target: concentration in ppmv; the class of the gas is dropped (load_table keeps it).",
    read: gas_drift,
    prepare: concentration,
    ..NOTHING
};

fn gas_drift(file: &mut dyn Read, name: &str) -> Result<Table> {
    let format = Libsvm::new().features(128).label_parts(';', ["class", "concentration"]);
    format.read(file, name)
}

/// Drops the class of the gas, which is the other target of the set and not a feature.
fn concentration(table: Table) -> Result<Table> {
    table.drop_columns(["class"])
}

fn sex_one_hot(table: Table) -> Result<Table> {
    table.encode("Sex", Encoding::OneHot)
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "gas-drift-batch2",
        aliases: &["gas2"],
        title: "Gas sensor array drift, batch 2",
        files: &[File::gzip(
            "gas-drift/batch2.dat.gz",
            1244,
            "1cf129576d799a9ee2e3e730dd17cd49f4e8d0e8e4a4d5e380e4af16c4291836",
            "4ea9490068457badf9efd0c22f359fbfce12c208cdd440526b97ac91d31b9002",
        )],
        rows: 1244,
        identity: Some("f29a649feddc12939095c3360a18d806fd8e74fda5bf021362228927f0ced9db"),
        source: "UCI ML Repository id 270 (Gas Sensor Array Drift at Different Concentrations). \
                 The checksum is that of \
                 github.com/Sufwan-Masood/Gas-Sensor-Array-Drift-at-Different-Concentrations, \
                 batch2.dat at commit 21a4a6facb10",
        ..GAS_DRIFT
    },
    Entry {
        name: "gas-drift-batch3",
        aliases: &["gas3"],
        title: "Gas sensor array drift, batch 3",
        files: &[File::gzip(
            "gas-drift/batch3.dat.gz",
            1586,
            "bead15207f22cbda59115bccfc276c5577337d4fd169ab9ce1d4eeff38f61495",
            "aabf06bf8b8200740156235dc59458e06d99aa8faba4d6764a22c6b6c2674ff4",
        )],
        rows: 1586,
        identity: Some("83abf1339536a463b5b476343a226a6262811b3a0180e9f99b6b3271f965e334"),
        source: "UCI ML Repository id 270 (Gas Sensor Array Drift at Different Concentrations). \
                 The checksum is that of \
                 github.com/Sufwan-Masood/Gas-Sensor-Array-Drift-at-Different-Concentrations, \
                 batch3.dat at commit 21a4a6facb10",
        ..GAS_DRIFT
    },
    Entry {
        name: "query-analytics",
        aliases: &["rqc", "query-analytics-rqc"],
        title: "Query analytics: counts in disks (RQC)",
        files: &[File::plain(
            "query-analytics/Radius-Queries-Count.csv",
            10000,
            "2069a9f9cdb87d221114ffb01229f14712fe29cf2ba6eff44c967a1fa44f5031",
        )],
        columns: 4,
        rows: 10000,
        features: 3,
        identity: Some("d113b0ac2e3f7bfe7287769fc9d5d94851e8715d230c19367cf9877abcd3345c"),
        target: "count",
        source: "UCI ML Repository id 493 (Query Analytics Workloads). The checksum is that of \
                 github.com/Rahulm0106/Query-analytics, data/raw/Radius-Queries-Count.csv at \
                 commit 13ac8ee2ee1c",
        read: |file, name| Csv::new().names(["x", "y", "radius", "count"]).read(file, name),
        ..UCI
    },
    Entry {
        name: "htru2",
        aliases: &["HTRU_2"],
        title: "HTRU2: pulsar candidates",
        files: &[File::gzip(
            "htru2/HTRU_2.csv.gz",
            17898,
            "7ee730045ac496daa003471742f074650ab3cc7fcd8277da8d3d0de4cf7658a1",
            "19b47bc7feb15f30b48ae622a6d3665d740a162417b43986c6493989b6529254",
        )],
        columns: 9,
        rows: 17898,
        features: 8,
        identity: Some("25c693b51b9e032cc203f40733a2d0ec4f481d5418a24edc3b9174003f5c03cc"),
        target: "Class",
        source: "UCI ML Repository id 372 (HTRU2). The checksum is that of \
                 github.com/zc-zhai/DecisionTree, HTRU_2.csv at commit 95c3ef2b3437",
        note: "Target: 1 for the 1639 pulsars, 0 for the rest.",
        read: |file, name| Csv::new().read(file, name),
        ..UCI
    },
    Entry {
        name: "ccpp",
        title: "Combined cycle power plant",
        files: &[File::plain(
            "ccpp/Folds5x2_pp.csv",
            9568,
            "2f8b2a73ec72f066865fa630019d8e63e2687be4c3ad0b0a6c0eeb44a398fb82",
        )],
        columns: 5,
        rows: 9568,
        features: 4,
        identity: Some("9b94be301352a662c15eb98403cec2dd3ed38c55d1b7a2a046065c144b171ea8"),
        target: "EP",
        source: "UCI ML Repository id 294 (Combined Cycle Power Plant). The checksum is that of \
                 github.com/olin-shipstead/extreme-gradient-boosting, Folds5x2_pp.csv at commit \
                 71c21397fb08",
        note: "41 rows are duplicates, as in the original. The target EP is called PE at UCI.",
        read: |file, name| Csv::new().read(file, name),
        ..UCI
    },
    Entry {
        name: "casp",
        title: "CASP: protein tertiary structure",
        files: &[File::gzip(
            "casp/CASP.csv.gz",
            45730,
            "c0103f625db151b16989556b0afd4e6156bc82cb90226641afe9724e9802b7f6",
            "8fcf017f793db0b8ee68c58ad2ad448b2a0d8b565dff41712c516a87b5992635",
        )],
        columns: 10,
        rows: 45730,
        features: 9,
        identity: Some("a7ed86204a92a9b20d3a26c5138f3244fdd1dc1a0c0f3adf2a39e5f1e422d6fb"),
        target: "y",
        source: "UCI ML Repository id 265 (Physicochemical Properties of Protein Tertiary \
                 Structure). The checksum is that of \
                 github.com/iamani123/ML1819--task-104--team-15, CASP.csv at commit f7251178dc17",
        note: "Target: RMSD. 1711 rows are duplicates.",
        read: |file, name| Csv::new().read(file, name),
        ..UCI
    },
    Entry {
        name: "abalone",
        title: "Abalone",
        files: &[File::plain(
            "abalone/abalone.data",
            4177,
            "2ee5eba41412f8c500d063dfc511d9e22dc4eb5d786f95408060d941228deb86",
        )],
        columns: 9,
        rows: 4177,
        features: 10,
        identity: Some("b2c9cce4a6ae555e07156b11bfb9ed97d9d2fd550cad444a881fbf6dea8d456c"),
        target: "Rings",
        source: "UCI ML Repository id 1 (Abalone). The checksum is that of \
                 github.com/zhichaoluo/DataAnalysis, data/abalone.data at commit 96fa8d724d88",
        note: "Sex (F, I, M) is coded one-hot, so that 8 columns give 10 features; load_table \
               leaves it as text.",
        read: |file, name| Csv::new().text(["Sex"]).read(file, name),
        prepare: sex_one_hot,
        ..UCI
    },
];
