//! Pictures of data by Nyström features: kernel principal components, spectral embedding and kernel
//! k-means, without an n × n matrix and without the n × r matrix of features.
//!
//! A fitted object is a function of the m kernel values k_J(x) of a point, so that it also maps new
//! points.

mod cluster_sums;
mod clusters;
mod k_means;
mod moments;
mod pca;
mod spectral;
mod weights;

pub use cluster_sums::ClusterSums;
pub use clusters::KernelClusters;
pub use k_means::KernelKMeans;
pub use moments::FeatureMoments;
pub use pca::{KernelPca, PrincipalComponents};
pub use spectral::{SpectralEmbedding, SpectralMap, SpectralSums};
