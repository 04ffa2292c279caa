//! The papers, once each.

use crate::experiment::Paper;

/// Where λ-ridge leverage scores enter kernel ridge regression.
pub const ALAOUI_MAHONEY_2015: Paper = Paper {
    short: "Alaoui & Mahoney 2015",
    full: "A. Alaoui and M. W. Mahoney, Fast Randomized Kernel Ridge Regression with Statistical \
           Guarantees, NIPS 28, 2015",
    url: "https://arxiv.org/abs/1411.0306",
};

/// Leverage scores of stationary kernels by spectral analysis.
pub const CHEN_YANG_2021: Paper = Paper {
    short: "Chen & Yang 2021",
    full: "Y. Chen and Y. Yang, Fast Statistical Leverage Score Approximation in Kernel Ridge \
           Regression, AISTATS 2021",
    url: "https://arxiv.org/abs/2103.05238",
};

/// Streaming and distributed dictionaries.
pub const CALANDRIELLO_2017: Paper = Paper {
    short: "Calandriello, Lazaric & Valko 2017",
    full: "D. Calandriello, A. Lazaric and M. Valko, Distributed Adaptive Sampling for Kernel \
           Matrix Approximation, AISTATS 2017",
    url: "https://arxiv.org/abs/1803.10172",
};

/// k-DPP landmarks by a swap chain.
pub const LI_2016: Paper = Paper {
    short: "Li, Jegelka & Sra 2016",
    full: "C. Li, S. Jegelka and S. Sra, Fast DPP Sampling for Nyström with Application to Kernel \
           Methods, ICML 2016",
    url: "https://arxiv.org/abs/1603.06052",
};

/// Sketches between Nyström and Gaussian.
pub const ACCUMULATIONS_2021: Paper = Paper {
    short: "Chen & Yang 2021 (accumulations)",
    full: "Y. Chen and Y. Yang, Accumulations of Projections: a Unified Framework for Random \
           Sketches in Kernel Ridge Regression, AISTATS 2021",
    url: "https://arxiv.org/abs/2103.04031",
};

/// Exact regression on parts of the data, averaged.
pub const ZHANG_DUCHI_WAINWRIGHT_2013: Paper = Paper {
    short: "Zhang, Duchi & Wainwright 2013",
    full: "Y. Zhang, J. Duchi and M. Wainwright, Divide and Conquer Kernel Ridge Regression, COLT \
           2013",
    url: "https://arxiv.org/abs/1305.5029",
};

/// What no paper shows: figures of this workspace's own.
pub const OURS: Paper = Paper {
    short: "Beyond the papers",
    full: "Figures of our own, about all methods of this workspace",
    url: "../README.md",
};
