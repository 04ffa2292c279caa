//! Data sets of the UCI Machine Learning Repository with many rows or several files.

use std::io::Read;

use super::entry::{Entry, File};
use super::uci::UCI;
use crate::{Column, Csv, Result, Table};

const GAS_TURBINE: [&str; 11] =
    ["AT", "AP", "AH", "AFDP", "GTEP", "TIT", "TAT", "TEY", "CDP", "CO", "NOX"];

/// Drops CO, which is the other target of the set and not a feature.
fn nox(table: Table) -> Result<Table> {
    table.drop_columns(["CO"])
}

/// The problem of predicting PM2.5 from the weather: rows without missing values among the six
/// columns.
fn pm25_from_weather(table: Table) -> Result<Table> {
    Ok(table.select_columns(["TEMP", "PRES", "DEWP", "RAIN", "WSPM", "PM2.5"])?.drop_missing_rows())
}

/// Changes the classes: 1 (skin) becomes +1, 2 (not skin) becomes −1.
fn skin_sign(table: Table) -> Result<Table> {
    let sign = table.numbers("SKIN")?.iter().map(|class| 3.0 - 2.0 * class).collect();
    let mut columns = table.drop_columns(["SKIN"])?.columns;
    columns.push(Column::numbers("SKIN", sign));
    Table::new("skin-segmentation", columns)
}

/// The problem of predicting the count from the query rectangle.
fn count_from_rectangle(table: Table) -> Result<Table> {
    table.select_columns(["x", "y", "x_range", "y_range", "count"])
}

fn beijing(file: &mut dyn Read, name: &str) -> Result<Table> {
    Csv::new().missing(["NA"]).text(["wd", "station"]).read(file, name)
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "gas-turbine",
        aliases: &["gas", "PPGasEmission"],
        title: "Gas turbine CO and NOx emission, 2011 to 2015",
        files: &[
            File::plain(
                "gas-turbine/gt_2011.csv",
                7411,
                "ab4b6b905cc261fa62554574ba97b6c4b53c82e6c826cb8f629ee09bf82f9e50",
            ),
            File::plain(
                "gas-turbine/gt_2012.csv",
                7628,
                "216a3bd68d003fa832fb229f37b5ec8a5acae7441118d5f8e7ff08aa18290819",
            ),
            File::plain(
                "gas-turbine/gt_2013.csv",
                7152,
                "20ff9736d776db88cc197c5b32c9745ea3741079f4cfac8a2ab76a76223aa1e6",
            ),
            File::plain(
                "gas-turbine/gt_2014.csv",
                7158,
                "eff8aead04c107c305455b338e128b5ff5382ad81521c3e323bedc98264e126b",
            ),
            File::plain(
                "gas-turbine/gt_2015.csv",
                7384,
                "8c13f655a3e9164c1d192fb756c609190562e04cb110f16add476c4d95b4c615",
            ),
        ],
        columns: 11,
        rows: 36733,
        features: 9,
        identity: Some("0547ddbdfcc15c49756a543c03421f64edc054b0cd177bb87526167d83c53080"),
        target: "NOX",
        source: "UCI ML Repository id 551 (Gas Turbine CO and NOx Emission). The checksums are \
                 those of github.com/StudentDaNewb/SP-Assignment-5, gt_2011.csv to gt_2015.csv at \
                 commit 19b30ec309c2",
        note: "Target: NOX from the nine sensor columns; CO, the other emission, is dropped \
               (load_table keeps it). 7 rows are duplicates. The UCI files have a header line, \
               these have none.",
        read: |file, name| Csv::new().names(GAS_TURBINE).read(file, name),
        prepare: nox,
        ..UCI
    },
    Entry {
        name: "beijing-air",
        aliases: &["prsa", "beijing"],
        title: "Beijing multi-site air quality: 12 stations, hourly",
        files: &[
            File::gzip(
                "beijing-air/PRSA_Data_Aotizhongxin_20130301-20170228.csv.gz",
                35064,
                "28a5b697f46d2e7780a41cf4077e7b60cf3629a9ea90c8084a586ad7dac1a4d5",
                "a94fbcfc71708b6ffdc033360163d91efb7f675e496f6b5860929aa96b96351b",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Changping_20130301-20170228.csv.gz",
                35064,
                "338044e897f877d704fcaf460adb3695721ab26bde5dbb8d5fcb12eb19e07ab1",
                "a2e21402a6d95fb7043f87959e6e3dcbecb957aac356a6f8028a85b047c772e7",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Dingling_20130301-20170228.csv.gz",
                35064,
                "441e0b941e6916df524083c73eb1d2e06cad13cfc1f9ddb6e16bcaca1eb1cee3",
                "3d8dff81f18a80d9f455876a785642bffe1e9b9924ec1e6b7ce8cca790432eeb",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Dongsi_20130301-20170228.csv.gz",
                35064,
                "9143e9bdf9c8cc31fe7c996fed90aa4299f6baed07f5c808b92c930cbecbdedc",
                "9c0020214425e5ee2a64d42f97a1f632e1d8f6b53ad50edd85a686cc7999f27e",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Guanyuan_20130301-20170228.csv.gz",
                35064,
                "8f5f74750038acc13d43e43bb5dff7ec94cad964f0edf4e0a0ef4a24ed4f1ca4",
                "59390fee3b032597b387491f5230e7edb90a8558e30217ebd6d9befbe669fbf9",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Gucheng_20130301-20170228.csv.gz",
                35064,
                "448eec899812080e11380a748a184e9700d5e708c4303be52a9e234df3427ff3",
                "10ae48801ea55869fee56a48b885fb1127859c130551888d71673f34216ba951",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Huairou_20130301-20170228.csv.gz",
                35064,
                "75afaac82fada503bd2c362e27c96658f988bcda14e65e702f7ef9b110700efe",
                "812dcbe848b3ba2c2d25731064797bff803c46eb0c602156a1fa044df136dc26",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Nongzhanguan_20130301-20170228.csv.gz",
                35064,
                "e71a07558749e736fbe8539adbef44befaea597053ff89b8bf8f3f4b22259567",
                "572cf87b65ef543cd55d3a711b28474def224a46b0ec3fc8add8aaf13b67a487",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Shunyi_20130301-20170228.csv.gz",
                35064,
                "a5099a112eea0d8b1df522fa706ce165742986ef6d40781c9cd8e59f95e7349a",
                "520b59e4ead3b0cfe7f1ed673e30275de8441e999db6f413d5172d2277b8c15a",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Tiantan_20130301-20170228.csv.gz",
                35064,
                "5990391e4765a1c788addd4dd5115fc85c39b41d7358eaf5133cd6e174431eed",
                "0743e34799cf1ee36195b73321b91baa5625276532e7263c588f68cdef3b4daa",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Wanliu_20130301-20170228.csv.gz",
                35064,
                "87351fafaaa66944852ee327f9823388795f82990700dee86243e89e1c24ddf6",
                "0b1a6d754a07f0def2f55434ddfa3870dcd0063b7f766a6f66b6c11bb05a377a",
            ),
            File::gzip(
                "beijing-air/PRSA_Data_Wanshouxigong_20130301-20170228.csv.gz",
                35064,
                "a766e89cffb938f71963140037a399b4c7562c8a7b214672ba03bb40e0457b69",
                "ab1d6a356d6997a45f6d657ad47de1e05a4a08d4a7015b38a329a90665ab74d0",
            ),
        ],
        columns: 18,
        rows: 411621,
        features: 5,
        identity: Some("65b895d31903193ecc0455ca22513e22bf39a297bb331fda68829aa6f5b5766f"),
        target: "PM2.5",
        source: "UCI ML Repository id 501 (Beijing Multi-Site Air Quality). The checksums are \
                 those of github.com/Peiris94-dev/Beijing-Multi-Site-Air-Quality-Analysis at \
                 commit 0aa46c055fcc",
        note: "PM2.5 from TEMP, PRES, DEWP, RAIN and WSPM: 411621 of the 420768 hours have all \
               six (load_table keeps every column and row). A time series: say how it was split.",
        read: beijing,
        prepare: pm25_from_weather,
        ..UCI
    },
    Entry {
        name: "skin-segmentation",
        aliases: &["skin"],
        title: "Skin segmentation",
        files: &[File::gzip(
            "skin-segmentation/Skin_NonSkin.txt.gz",
            245057,
            "af83b7144fd9c33998464f5e656915e73b19e0805185e53d9dd0b8bdb50ba725",
            "1262a0ac15fc80e62d700585d2f6b1b24bbbe2b3a01dd331903220583deb6a7e",
        )],
        columns: 4,
        rows: 245057,
        features: 3,
        identity: Some("c0af7dc9b46bce6566cea112e9da5db324471803177244e4d4099a9b1bdca3c5"),
        target: "SKIN",
        source: "UCI ML Repository id 229 (Skin Segmentation). The checksum is that of \
                 github.com/aperezn298/DatasetsPUJC, Skin_NonSkin.txt at commit 959701addcc6",
        note: "Target: +1 for skin (50859 rows), -1 for the rest. Only 51433 of the points are \
               distinct: kernel matrices are singular, and random splits share points.",
        read: |file, name| Csv::new().delimiter(b'\t').read(file, name),
        prepare: skin_sign,
        ..UCI
    },
    Entry {
        name: "query-analytics-rqa",
        aliases: &["rqa"],
        title: "Query analytics: aggregates in rectangles (RQA)",
        files: &[File::unseen("query-analytics/Range-Queries-Aggregates.csv", 200000)],
        columns: 8,
        rows: 200000,
        features: 4,
        target: "count",
        source: "UCI ML Repository id 493 (Query Analytics Workloads), file \
                 Range-Queries-Aggregates.csv",
        note: "No copy was seen while this catalog was made; expected as public descriptions say: \
               a header, an unnamed index column, then x, y, x_range, y_range, count, sum_, avg, \
               the last undefined in 157 rows.",
        read: |file, name| Csv::new().missing(["", "NA", "nan", "NaN"]).read(file, name),
        prepare: count_from_rectangle,
        ..UCI
    },
];
