//! Data sets of Luis Torgo's regression collection.

use super::entry::{Entry, File, NOTHING};
use crate::Arff;

/// Fields that most of the entries share.
const TORGO: Entry = Entry {
    target: "class",
    licence: "No explicit licence; freely distributed in Luis Torgo's regression collection.",
    read: |file, name| Arff::new().read(file, name),
    ..NOTHING
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "ailerons",
        title: "Ailerons of an F16",
        files: &[File::gzip(
            "ailerons/ailerons.arff.gz",
            13750,
            "ceccde9ed0d5a4fde994321037666e18330aaa021b0a4b87090827c6135e48ca",
            "77b7264208ce3d831d3c640c2fb8d4202981bd9adc2bc2cb446b5854ffb4dc7f",
        )],
        columns: 41,
        rows: 13750,
        features: 40,
        identity: Some("7d2cd494e2a6fe48c6b121275cf081fbe5e24980f0e5927286ef0f0f3b273eda"),
        source: "Luis Torgo's regression collection (R. Camacho). The checksum is that of \
                 github.com/genyang/datasets, ailerons.arff at commit 9cf25ea6e5b3",
        note: "Training and test part of the original are joined; which row came from which is \
               not recorded.",
        ..TORGO
    },
    Entry {
        name: "elevators",
        title: "Elevators of an F16",
        files: &[File::gzip(
            "elevators/elevators.arff.gz",
            16599,
            "512d74850c23182f3f1fd644a0656311b16988fe239798bff909f80a96064cdb",
            "f8f958b49d6e2f124516105707771541fb59643b20b669e61877545759b33df5",
        )],
        columns: 19,
        rows: 16599,
        features: 18,
        identity: Some("918254ba4fdfd593ef91148f5a3e0b06e8e9fbe1f50dc3d62ab0a469074f4b85"),
        source: "Luis Torgo's regression collection (R. Camacho). The checksum is that of \
                 github.com/genyang/datasets, elevators.arff at commit 9cf25ea6e5b3",
        note: "Training and test part of the original are joined; which row came from which is \
               not recorded.",
        ..TORGO
    },
    Entry {
        name: "cpu-act",
        aliases: &["cpu_act", "CompAct"],
        title: "CompAct: computer activity, all measures",
        files: &[File::gzip(
            "cpu-act/cpu_act.arff.gz",
            8192,
            "8492267016babaf07ade08e032237d6c1c913afa636ff72d883e2ce37a31fe49",
            "31c4adcefafaef48d89a285602c5f6df3d9463e176bacdaf9df82c249fb0ed9b",
        )],
        columns: 22,
        rows: 8192,
        features: 21,
        identity: Some("cf024ea82f7b63eb61deeebdb39f4e7f62b9e1cc59ee3ab6590dd059024ed3fd"),
        source: "Luis Torgo's regression collection (Delve comp-activ). The checksum is that of \
                 github.com/genyang/datasets, cpu_act.arff at commit 9cf25ea6e5b3",
        ..TORGO
    },
    Entry {
        name: "cpu-small",
        aliases: &["cpu_small", "CompAct(s)"],
        title: "CompAct(s): computer activity without paging",
        files: &[File::plain(
            "cpu-small/cpu_small.arff",
            8192,
            "f708c80eb24661ced8a5197036482d07e35899c4ece4abd9a040c7cfefc1ff03",
        )],
        columns: 13,
        rows: 8192,
        features: 12,
        identity: Some("59c43b5bca727ffbb0c40177579beba01e5a4f956eddd8dcbadce2d2032288f6"),
        source: "Luis Torgo's regression collection (Delve comp-activ). The checksum is that of \
                 github.com/genyang/datasets, cpu_small.arff at commit 9cf25ea6e5b3",
        ..TORGO
    },
    Entry {
        name: "bank32nh",
        title: "Bank32NH: simulated bank queues, non-linear, high noise",
        files: &[File::gzip(
            "bank32nh/bank32NH.arff.gz",
            8192,
            "ac008fa29d9dd3285adaa984d00f4accd4740716db0b3a73802edc7b3618a485",
            "41dbf7700f195569f3a95d5f60186c17ab51b3f982831f8ae38dd9eb08611ebe",
        )],
        columns: 33,
        rows: 8192,
        features: 32,
        identity: Some("00f35bcd1413e1a627a56721421a1a5f45553754819d945c15da5a6e72ee3a05"),
        source: "Luis Torgo's regression collection (Delve bank family). The checksum is that of \
                 github.com/genyang/datasets, bank32NH.arff at commit 9cf25ea6e5b3",
        ..TORGO
    },
    Entry {
        name: "bank8fm",
        title: "Bank8FM: simulated bank queues, fairly linear, moderate noise",
        files: &[File::plain(
            "bank8fm/bank8FM.arff",
            8192,
            "f59e5e3b21a128cf806068e0f782242337f9e2408f48cf7e17829f3a358fb5b9",
        )],
        columns: 9,
        rows: 8192,
        features: 8,
        identity: Some("414a4924d43a08169f138414aefc4eacd0728f6d74158155ea05f3d3238a7aee"),
        source: "Luis Torgo's regression collection (Delve bank family). The checksum is that of \
                 github.com/genyang/datasets, bank8FM.arff at commit 9cf25ea6e5b3",
        ..TORGO
    },
    Entry {
        name: "california-housing",
        aliases: &["cal_housing", "california_housing"],
        title: "California housing: median house value per block group",
        files: &[File::gzip(
            "california-housing/california_housing.arff.gz",
            20640,
            "6f3d73a0edbd184b871c175b7e358935be109d973e5eda78f54170b6394b7d14",
            "0348328eb8f53cd7ec65cdda17573a99f974d81677e6e25dbeab5dddbb423afc",
        )],
        columns: 9,
        rows: 20640,
        features: 8,
        identity: Some("3609a1f6b686593cffd1f150897f6c133e2fac8e62b34f98446160a3591a02b7"),
        source: "Luis Torgo's regression collection (StatLib, Pace & Barry 1997). The checksum is \
                 that of github.com/genyang/datasets, california_housing.arff at commit \
                 9cf25ea6e5b3",
        licence: "Public (StatLib), no explicit licence.",
        ..TORGO
    },
];
