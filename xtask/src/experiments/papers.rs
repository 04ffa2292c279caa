//! The papers, once each.

use crate::experiment::Paper;

/// Where λ-ridge leverage scores enter kernel ridge regression.
pub const ALAOUI_MAHONEY_2015: Paper = Paper {
    short: "Alaoui & Mahoney 2015",
    full: "A. Alaoui and M. W. Mahoney, Fast Randomized Kernel Ridge Regression with Statistical Guarantees, NIPS 28, 2015",
    url: "https://arxiv.org/abs/1411.0306",
};

/// Leverage scores of stationary kernels by spectral analysis.
pub const CHEN_YANG_2021: Paper = Paper {
    short: "Chen & Yang 2021",
    full: "Y. Chen and Y. Yang, Fast Statistical Leverage Score Approximation in Kernel Ridge Regression, AISTATS 2021",
    url: "https://arxiv.org/abs/2103.05238",
};
