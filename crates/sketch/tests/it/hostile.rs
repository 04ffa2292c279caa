//! Every function on matrices and sizes at which arithmetic breaks first.

use crate::common::rng;
use crate::hostile_table::{Raw, check};
use faer::Mat;
use nystrom_linalg_core::{PsdMatrix, Result, Ridge};
use nystrom_sketch::*;

fn selected(k: &Raw, m: usize, selector: &dyn LandmarkSelector<f64>) -> Result<Vec<f64>> {
    let landmarks = selector.select(k, m, &mut rng(0))?;
    assert!(landmarks.len() <= m && landmarks.n() == k.dim());
    Ok(vec![])
}

fn entries(matrix: faer::MatRef<'_, f64>) -> Vec<f64> {
    matrix.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<_>>()).collect()
}

/// Blocks, diagonal and products of an approximation, and its distance from the matrix.
fn looked_at(k: &Raw, l: &dyn PsdMatrix<f64>) -> Result<Vec<f64>> {
    let n = k.dim();
    let mut product = Mat::zeros(n, 1);
    l.mul_into(product.as_mut(), Mat::full(n, 1, 1.0).as_ref());
    let whole = l.block((0..n).into(), (0..n).into());
    let errors = [frobenius_error(k, l).unwrap_or(0.0), trace_error(k, l).unwrap_or(0.0)];
    Ok([entries(whole.as_ref()), l.diag(), entries(product.as_ref()), errors.to_vec()].concat())
}

fn first(k: &Raw, m: usize) -> Result<Landmarks> {
    Landmarks::new(k.dim(), (0..m.min(k.dim() + 1)).collect())
}

fn nystrom(k: &Raw, m: usize, whitening: Whitening) -> Result<Vec<f64>> {
    let l = Nystrom::with_whitening(k, &first(k, m)?, whitening)?;
    let more = [l.jitter(), l.trace_error(k)?];
    Ok([&more[..], &looked_at(k, &l)?].concat())
}

fn regularized(k: &Raw, m: usize, mu: f64) -> Result<Vec<f64>> {
    let dictionary = Dictionary::uniform(k.dim(), m, Draw::WithReplacement, &mut rng(0))?;
    looked_at(k, &Nystrom::regularized(k, &dictionary, Ridge::Absolute(mu))?)
}

fn ensemble(k: &Raw, m: usize, weights: EnsembleWeights<'_>) -> Result<Vec<f64>> {
    let n = k.dim();
    let last: Vec<usize> = (n.saturating_sub(m)..n).collect();
    let l = EnsembleNystrom::new(k, &[first(k, m)?, Landmarks::new(n, last)?], weights)?;
    assert!(!l.weights().iter().any(|mu| *mu < 0.0), "{:?}", l.weights());
    Ok([l.weights(), &looked_at(k, &l)?].concat())
}

fn sketched(k: &Raw, d: usize, law: &dyn SketchDistribution<f64>) -> Result<Vec<f64>> {
    let s = law.draw(k.dim(), d, &mut rng(0))?;
    let sketched = SketchedMatrix::new(k, &*s)?;
    let all = [
        entries(s.to_dense().as_ref()),
        entries(sketched.product().as_ref()),
        entries(sketched.gram().as_ref()),
    ];
    let factor = sketched.factor(Whitening::default()).map_or(vec![], |f| entries(f.as_ref()));
    Ok([all.concat(), factor, sketched.trace_error(k).into_iter().collect()].concat())
}

#[test]
fn selectors() {
    const WITH: Draw = Draw::WithReplacement;
    check(&[
        ("Uniform", |k, m| selected(k, m, &Uniform::default())),
        ("Uniform with replacement", |k, m| selected(k, m, &Uniform { draw: WITH })),
        ("Diagonal", |k, m| selected(k, m, &Diagonal::default())),
        ("Diagonal with replacement", |k, m| selected(k, m, &Diagonal { draw: WITH })),
        ("ColumnNorm", |k, m| selected(k, m, &ColumnNorm::default())),
        ("ColumnNorm with replacement", |k, m| selected(k, m, &ColumnNorm { draw: WITH })),
        ("Proportional", |k, m| {
            selected(k, m, &Proportional { scores: k.diagonal(), draw: Draw::default() })
        }),
        ("AdaptiveFull", |k, m| selected(k, m, &AdaptiveFull::default())),
        ("AdaptivePartial", |k, m| selected(k, m, &AdaptivePartial::default())),
        ("AdaptivePartial, batches of any size", |k, m| {
            selected(k, m.min(3), &AdaptivePartial { batch: Some(m), rank_fraction: Some(0.0) })
        }),
        ("KMeansPlusPlus", |k, m| selected(k, m, &KMeansPlusPlus)),
        ("Greedy", |k, m| selected(k, m, &Greedy::default())),
        ("SparseGreedy", |k, m| selected(k, m, &SparseGreedy::default())),
        ("SparseGreedy, any candidates", |k, m| selected(k, 2, &SparseGreedy { candidates: m })),
        ("RpCholesky", |k, m| selected(k, m, &RpCholesky::default())),
        ("RpCholesky, any proposals", |k, m| {
            selected(k, 2, &RpCholesky { proposals: Some(m.min(1 << 12)), tolerance: 0.0 })
        }),
        ("rp_cholesky", |k, m| {
            let f = rp_cholesky(k, m, &mut rng(0))?;
            Ok([&entries(f.factor())[..], f.residual(), f.traces(), &[f.trace_error()]].concat())
        }),
        ("factor of RpCholesky", |k, m| {
            let f = RpCholesky::default().factor(k, m, &mut rng(0))?;
            Ok([&looked_at(k, &f)?[..], f.residual(), f.traces(), &[f.trace_error()]].concat())
        }),
    ]);
}

#[test]
fn approximations() {
    check(&[
        ("Nystrom", |k, m| nystrom(k, m, Whitening::default())),
        ("Nystrom without shift", |k, m| nystrom(k, m, Whitening::Cholesky)),
        ("Nystrom by eigenvalues", |k, m| nystrom(k, m, Whitening::eigen())),
        ("regularised, 5e-324", |k, m| regularized(k, m, 5e-324)),
        ("regularised, 1e-300", |k, m| regularized(k, m, 1e-300)),
        ("regularised, 1", |k, m| regularized(k, m, 1.0)),
        ("regularised, 1e300", |k, m| regularized(k, m, 1e300)),
        ("modified", |k, m| looked_at(k, &ModifiedNystrom::new(k, &first(k, m)?)?)),
        ("uniform ensemble", |k, m| ensemble(k, m, EnsembleWeights::Uniform)),
        ("exponential ensemble", |k, m| {
            ensemble(k, m, EnsembleWeights::Exponential { eta: 1e300, held_out: &[0] })
        }),
        ("ridge ensemble", |k, m| {
            ensemble(k, m, EnsembleWeights::Ridge { lambda: 1e-300, held_out: &[0, 1] })
        }),
        ("stream", |k, m| {
            let stream = NystromStream::new(k, &first(k, m)?, Whitening::default())?;
            Ok([
                entries(stream.gram_lower()?.as_ref()),
                stream.diag()?,
                vec![stream.trace_error()?],
            ]
            .concat())
        }),
    ]);
}

#[test]
fn measures() {
    check(&[
        ("norms of the error", |k, m| {
            let l =
                Raw(Mat::from_fn(
                    k.dim(),
                    k.dim(),
                    |i, j| if i.max(j) < m { k.0[(i, j)] } else { 0.0 },
                ));
            let exact = ErrorNorms::exact(k, &l)?;
            Ok(vec![
                exact.frobenius,
                exact.spectral,
                exact.trace,
                frobenius_error(k, &l)?,
                trace_error(k, &l)?,
            ])
        }),
        ("spectral norm", |k, m| {
            let zero = Raw(Mat::zeros(k.dim(), k.dim()));
            let found = SpectralNorm { block: m, ..SpectralNorm::default() }.estimate(
                k,
                &zero,
                &mut rng(0),
            )?;
            Ok(vec![found.value, found.residual])
        }),
        ("diagnostics", |k, d| {
            let found = SketchDiagnostics::new(k)?;
            let sketch = Subsampling::default().sample::<f64>(k.dim(), d, &mut rng(0))?;
            let mut all = found.eigenvalues().to_vec();
            for delta in [5e-324, 1e-300, 1.0, 1e300] {
                let fit = found.satisfiability::<f64>(&sketch, delta)?;
                all.extend([
                    found.statistical_dimension(delta)?,
                    found.incoherence(delta, None)?,
                    fit.head,
                    fit.tail,
                ]);
                let size = found.accumulation_size(delta, None, 0.1, SizeConstants::default())?;
                all.push(size.incoherence);
            }
            Ok(all)
        }),
        ("sample size", |k, _| {
            k.diagonal()
                .into_iter()
                .map(|d_eff| Ok(risk_sample_size(k.dim(), d_eff, 5e-324, 5e-324)? as f64))
                .collect()
        }),
    ]);
}

#[test]
fn sketches() {
    check(&[
        ("GaussianSketch", |k, d| sketched(k, d, &GaussianSketch)),
        ("Rademacher", |k, d| sketched(k, d, &Rademacher)),
        ("SparseSign", |k, d| sketched(k, d, &SparseSign::default())),
        ("SparseSign, any number a row", |k, m| sketched(k, 1, &SparseSign { per_row: m })),
        ("VerySparse", |k, d| sketched(k, d, &VerySparse::default())),
        ("VerySparse, any sparsity", |k, m| {
            sketched(k, 1, &VerySparse { sparsity: Some(m as f64) })
        }),
        ("Localized", |k, d| sketched(k, d, &Localized::contiguous(2))),
        ("Localized, any blocks", |k, m| sketched(k, 2, &Localized::shuffled(m))),
        ("Subsampling", |k, d| sketched(k, d, &Subsampling::default())),
        ("Subsampling by weights", |k, d| sketched(k, d, &Subsampling::proportional(k.diagonal()))),
        ("Accumulation", |k, d| sketched(k, d, &Accumulation::proportional(3, k.diagonal()))),
        ("Accumulation, any number", |k, m| sketched(k, 2, &Accumulation::uniform(m))),
        ("SparseSketch", |k, j| {
            let column: Vec<(usize, f64)> = k.diagonal().into_iter().enumerate().collect();
            let s =
                SparseSketch::<f64>::new(k.dim(), vec![column.clone(), vec![(j, 1.0)], column])?;
            Ok(entries(s.to_dense().as_ref()))
        }),
        ("DenseSketch", |k, _| {
            Ok(entries(DenseSketch::from_matrix(k.0.clone())?.to_dense().as_ref()))
        }),
    ]);
}

#[test]
fn draws_and_dictionaries() {
    check(&[
        ("draws", |k, m| {
            let dictionary = Dictionary::with_replacement(&k.diagonal(), m, &mut rng(0))?;
            Ok([dictionary.weights(), &[dictionary.total_weight()]].concat())
        }),
        ("uniform draws", |k, m| {
            Ok(vec![
                Dictionary::<f64>::uniform(k.dim(), m, Draw::WithReplacement, &mut rng(0))?
                    .total_weight(),
            ])
        }),
        ("uniform subset", |k, m| {
            Ok(vec![
                Dictionary::<f64>::uniform(k.dim(), m, Draw::WithoutReplacement, &mut rng(0))?
                    .total_weight(),
            ])
        }),
        ("coins", |k, _| Ok(Dictionary::bernoulli(&k.diagonal(), &mut rng(0))?.weights().to_vec())),
        ("given", |k, m| {
            Ok(Dictionary::new(k.dim(), (0..m.min(9)).collect(), k.diagonal())?.weights().to_vec())
        }),
        ("landmarks by weight", |k, m| {
            let landmarks = Landmarks::draw(&k.diagonal(), m, Draw::WithReplacement, &mut rng(0))?;
            Ok(vec![landmarks.len() as f64])
        }),
    ]);
}
