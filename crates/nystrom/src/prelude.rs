//! What a program usually needs: `use nystrom::prelude::*;`.
//!
//! Names that `rand_distr` has too stay outside: `nystrom::sketch::Uniform` and
//! `nystrom::kernels::Bernoulli`.

pub use crate::dpp::{
    DownUpWalk, KDpp, KDppChain, KDppWalk, LEnsemble, Rejection, RejectionKDpp, SwapChain, SwapRule,
};
pub use crate::kernels::{
    Bits, Gaussian, KMeans, Kernel, KernelMatrix, LaplacianEuclidean, LaplacianL1, Linear, Matern,
    Matern12, Matern32, Matern52, MinMax, Points, Polynomial, PowerExponential, RationalQuadratic,
    SparseRows, Tanimoto,
};
pub use crate::krr::{
    AutoKrr, Certificate, CrossValidation, DictionaryKrr, DivideAndConquerKrr, ExactKrr, Falkon,
    FullKrr, Krill, KrrModel, LearnedMetric, LogisticKrr, NystromKrr, Problem, SketchedKrr,
    TightCertificate,
};
pub use crate::leverage::{
    AlaouiMahoney, Audit, Bless, BlessR, Disqueak, Exact, FastRankLeverage, LeverageProportional,
    RankLeverage, RecursiveNystrom, RecursiveRls, RidgeLeverage, SpectralAnalysis,
    SpectralLeverage, Squeak, SqueakParams, exact_scores,
};
pub use crate::linalg_core::{
    Counted, Dense, Error, PsdMatrix, Result, Ridge, Scalar, Scaled, SchurComplement,
};
pub use crate::sketch::{
    Accumulation, AdaptiveFull, AdaptivePartial, ColumnNorm, Diagonal, Dictionary,
    DistributedGreedy, Draw, EnsembleNystrom, EnsembleWeights, ErrorNorms, GaussianSketch, Greedy,
    GreedyByGroup, Including, KMeansPlusPlus, LandmarkSelector, Landmarks, ModifiedNystrom,
    Nystrom, Quotas, RpCholesky, Sketch, SketchDistribution, SparseGreedy, SpectralNorm,
    frobenius_error, trace_error,
};
// Pages of others' items would be full of links to pages that are not here.
#[doc(no_inline)]
pub use faer::{Mat, MatRef};
#[doc(no_inline)]
pub use rand::{Rng, RngExt, SeedableRng};
#[doc(no_inline)]
pub use rand_pcg::Pcg64;
