//! Kernel principal components, spectral embedding and kernel k-means.

use crate::measure::{alone, every, holds, measure, problem};
use nystrom::prelude::*;
use nystrom::sketch::{KernelKMeans, KernelPca, SpectralEmbedding};

/// Their documentation; none keeps the features of the rows, 8nm = 32 MB.
#[test]
fn embeddings_keep_no_features_of_the_rows() {
    alone(|| {
        let (n, m) = (20_000, 200);
        let (x, _) = problem(n);
        let points = Points::from_rows(x.as_ref());
        let k = KernelMatrix::new(Gaussian::new(1.0).unwrap(), points).unwrap();
        let landmarks = every(n, m);
        let (rows, m) = (n as f64, m as f64);
        let whitened = 2.0 * rows * m * m + 9.0 * m.powi(3);
        let bytes = 8.0 * (8.0 * m * m + 4.0 * 1024.0 * m + 2.0 * rows);

        let (_, pca) = measure(|| KernelPca::default().fit(&k, &landmarks).unwrap());
        holds("components: flops", pca.flops, whitened, 0.9..=1.1);
        holds("components: values", pca.entries, rows * m + m * m, 1.0..=1.0);
        holds("components: bytes", pca.bytes, bytes, 0.2..=1.0);

        let (_, graph) = measure(|| SpectralEmbedding::default().fit(&k, &landmarks).unwrap());
        holds("graph: flops", graph.flops, whitened + 4.0 * rows * m, 0.9..=1.1);
        holds("graph: values", graph.entries, 2.0 * rows * m + m * m, 1.0..=1.0);
        holds("graph: bytes", graph.bytes, bytes, 0.2..=1.0);

        let how = KernelKMeans { clusters: 5, starts: 3, iterations: 4 };
        let rng = &mut Pcg64::seed_from_u64(0);
        let (found, clusters) = measure(|| how.fit(&k, &landmarks, rng).unwrap());
        assert_eq!(found.iterations(), 4); // as the others, most likely
        let (q, s) = (15.0, 3.0);
        let flops = rows * m * m + (4.0 * 4.0 * q + 4.0 * 2.0 * s) * rows * m;
        holds("clusters: flops", clusters.flops, flops, 0.9..=1.1);
        holds("clusters: values", clusters.entries, 9.0 * rows * m, 1.0..=1.01);
        let bytes =
            8.0 * (4.0 * m * m + 6.0 * m * q + 2.0 * 1024.0 * (m + q)) + (16.0 * s + 24.0) * rows;
        holds("clusters: bytes", clusters.bytes, bytes, 0.2..=1.0);
    });
}
