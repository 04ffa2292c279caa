//! What a program usually needs: `use nystrom::prelude::*;`.

pub use crate::kernels::{
    Bernoulli, Gaussian, Kernel, KernelMatrix, LaplacianEuclidean, LaplacianL1, Linear, Matern, Matern12, Matern32,
    Matern52, Points, Polynomial, RationalQuadratic,
};
pub use crate::krr::{DictionaryKrr, ExactKrr, Falkon, FullKrr, Krill, KrrModel, NystromKrr, SketchedKrr};
pub use crate::leverage::{
    AlaouiMahoney, Audit, Bless, BlessR, Disqueak, Exact, FastRankLeverage, LeverageProportional, RankLeverage,
    RecursiveRls, RidgeLeverage, SpectralAnalysis, Squeak, SqueakParams, exact_scores,
};
pub use crate::linalg_core::{Counted, Dense, Error, PsdMatrix, Result, Ridge, Scalar};
pub use crate::sketch::{
    Accumulation, AdaptiveFull, AdaptivePartial, ColumnNorm, Diagonal, Dictionary, Draw, GaussianSketch, Greedy,
    KMeansPlusPlus, LandmarkSelector, Landmarks, Nystrom, RpCholesky, Sketch, SketchDistribution, SparseGreedy,
    Uniform,
};
pub use faer::{Mat, MatRef};
pub use rand::{Rng, RngExt, SeedableRng};
pub use rand_pcg::Pcg64;
