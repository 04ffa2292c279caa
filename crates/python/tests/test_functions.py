"""Leverage scores, landmarks, k-DPPs and certificates."""

import itertools
import pickle

import numpy as np
import pytest

import nystrom as ny

SCORES = ["exact", "fast", "recursive", "bless", "bless-r", "squeak", "sa"]
LANDMARKS = [
    "uniform", "rpcholesky", "greedy", "sparse-greedy", "kmeans++", "adaptive", "diagonal",
    "leverage", "leverage-exact", "leverage-fast", "bless", "bless-r", "squeak", "sa", "kdpp",
    "kdpp-exact",
]  # fmt: skip


def exact_scores(K, alpha):
    return np.diag(K @ np.linalg.inv(K + alpha * np.eye(len(K))))


@pytest.mark.parametrize("method", SCORES)
def test_scores_are_near_the_exact_ones(method, waves):
    X, _ = waves
    kernel, alpha = ny.Gaussian(0.5), 1.0
    scores = ny.leverage_scores(X, kernel, alpha, method=method, random_state=0)
    exact = exact_scores(kernel(X), alpha)
    within = 1e-10 if method == "exact" else 0.6
    assert np.abs(scores - exact).max() < within
    assert abs(np.mean(scores / exact) - 1) < (1e-10 if method == "exact" else 1.0)


@pytest.mark.parametrize("method", LANDMARKS)
def test_landmarks_are_distinct_rows(method, waves):
    X, _ = waves
    rows = ny.landmarks(X, ny.Gaussian(0.5), 15, method=method, alpha=0.1, random_state=0)
    assert len(set(rows.tolist())) == len(rows) == 15
    assert rows.min() >= 0 and rows.max() < len(X)
    again = ny.landmarks(
        X, ny.Gaussian(0.5), 15, method=method, alpha=0.1, random_state=0, n_jobs=1
    )
    assert np.array_equal(rows, again)


def test_rp_cholesky_is_a_factor(waves):
    X, _ = waves
    K = ny.Gaussian(0.5)(X)
    found = ny.rp_cholesky(X, ny.Gaussian(0.5), 40, random_state=0)
    left = K - found.factor @ found.factor.T
    assert np.abs(left[found.pivots]).max() < 1e-7
    assert abs(np.trace(left) - found.trace_error) < 1e-8
    few = ny.rp_cholesky(X, ny.Gaussian(0.5), 40, tolerance=0.1, random_state=0)
    assert few.trace_error <= 0.1 * len(X) and len(few.pivots) < 40


def test_effective_dimension_and_audit(waves):
    X, _ = waves
    kernel, alpha = ny.Gaussian(0.5), 0.5
    d_eff = exact_scores(kernel(X), alpha).sum()
    assert abs(ny.effective_dimension(X, kernel, alpha, method="exact") - d_eff) < 1e-8
    told = ny.audit(X, kernel, alpha, method="bless-r", rows=50, random_state=0)
    exact = exact_scores(kernel(X), alpha)[told["rows"]]
    assert np.abs(told["scores"] / exact - 1).max() < 2e-3


@pytest.mark.parametrize("method", ["exact", "rejection", "swap"])
def test_k_dpps_draw_by_their_law(method, rng):
    """Tests the frequencies of all 10 pairs of 5 rows. Chi-squared with 9 degrees of freedom
    exceeds 49.6 with probability 1.3e-7."""
    X = rng.normal(size=(5, 2))
    K, draws = ny.Gaussian(1.0)(X), 2000
    k_dpp = ny.KDPP(ny.Gaussian(1.0), method=method, steps=50).fit(X)
    drawn = k_dpp.sample(2, draws, random_state=1)
    assert drawn.shape == (draws, 2)
    pairs = list(itertools.combinations(range(5), 2))
    weights = np.array([np.linalg.det(K[np.ix_(pair, pair)]) for pair in pairs])
    expected = draws * weights / weights.sum()
    counts = [np.sum(np.all(np.sort(drawn, axis=1) == pair, axis=1)) for pair in pairs]
    assert np.sum((counts - expected) ** 2 / expected) < 49.6


def test_a_first_subset_is_that_of_all_eigenvectors(rng):
    X = rng.standard_normal((900, 10))
    k_dpp = ny.KDPP(ny.Gaussian(4.0), method="exact").fit(X)
    first = k_dpp.sample(30, random_state=1)
    assert k_dpp._sampler is None
    second = k_dpp.sample(30, random_state=1)
    assert k_dpp._sampler is not None
    assert np.array_equal(first, second)
    assert np.array_equal(k_dpp.sample(30, 2, random_state=1)[:1], first)


def test_draws_by_rejection_depend_on_their_seed_alone(rng):
    X = rng.standard_normal((3000, 3))
    k_dpp = ny.KDPP(ny.Gaussian(1.0), method="rejection").fit(X)
    first = k_dpp.sample(5, 2, random_state=1)
    assert not np.array_equal(k_dpp.sample(5, 2, random_state=2), first)
    k_dpp.sample(6, random_state=1)  # prepares for another size
    again = pickle.loads(pickle.dumps(k_dpp))
    for other in (k_dpp, again):
        assert np.array_equal(other.sample(5, 2, random_state=1), first)


def test_k_dpps_tell_their_law(rng):
    X = rng.normal(size=(6, 2))
    k_dpp = ny.KDPP(ny.Gaussian(1.0)).fit(X)
    K = ny.Gaussian(1.0)(X)
    assert np.isclose(k_dpp.log_det([0, 3]), np.log(np.linalg.det(K[np.ix_([0, 3], [0, 3])])))
    total = sum(np.exp(k_dpp.log_probability(c)) for c in itertools.combinations(range(6), 3))
    assert np.isclose(total, 1)
    assert np.isclose(k_dpp.inclusion_probabilities(3).sum(), 3)
    again = pickle.loads(pickle.dumps(k_dpp))
    assert np.array_equal(again.sample(3, 4, random_state=0), k_dpp.sample(3, 4, random_state=0))
    precomputed = ny.KDPP("precomputed").fit(K)
    assert np.isclose(precomputed.log_det([0, 3]), k_dpp.log_det([0, 3]))


def _pairs_by_law(L, keep):
    """All pairs of 6 rows, and their probabilities among the pairs that `keep` keeps."""
    pairs = [pair for pair in itertools.combinations(range(len(L)), 2) if keep(pair)]
    weights = np.array([np.linalg.det(L[np.ix_(pair, pair)]) for pair in pairs])
    return pairs, weights / weights.sum()


@pytest.mark.parametrize("method", ["exact", "rejection", "swap"])
def test_k_dpps_with_quality_and_given_rows(method, rng):
    """Chi-squared with 14 degrees of freedom exceeds 60 with probability 1.2e-7, with 4 exceeds
    40 with 4e-8."""
    X, q, draws = rng.normal(size=(6, 2)), np.array([1.0, 2.0, 0.5, 3.0, 1.5, 1.0]), 2000
    L = ny.Gaussian(1.0)(X) * np.outer(q, q)
    k_dpp = ny.KDPP(ny.Gaussian(1.0), method=method, steps=60).fit(X, quality=q)
    for given, limit in ((None, 60), ([4], 40)):
        pairs, p = _pairs_by_law(L, lambda pair: given is None or 4 in pair)
        drawn = k_dpp.sample(2, draws, given=given, random_state=1)
        assert given is None or np.all(drawn[:, 0] == 4)
        counts = [np.sum(np.all(np.sort(drawn, axis=1) == pair, axis=1)) for pair in pairs]
        assert np.sum(counts) == draws
        assert np.sum((counts - draws * p) ** 2 / (draws * p)) < limit
    assert np.array_equal(k_dpp.sample(2, given=[3, 1]), [[3, 1]])
    assert np.isclose(k_dpp.log_det([0, 3]), np.log(np.linalg.det(L[np.ix_([0, 3], [0, 3])])))
    pairs, p = _pairs_by_law(L, lambda pair: True)
    assert np.isclose(np.exp(k_dpp.log_probability(pairs[3])), p[3])


def test_k_dpps_within_quotas(rng):
    """Chi-squared with 8 degrees of freedom exceeds 48 with probability 1e-7."""
    X, groups, draws = rng.normal(size=(6, 2)), list("abbaba"), 2000
    k_dpp = ny.KDPP(ny.Gaussian(1.0), steps=60).fit(X, groups=groups)
    exact = ny.KDPP(ny.Gaussian(1.0), method="exact").fit(X, groups=groups)
    pairs, p = _pairs_by_law(ny.Gaussian(1.0)(X), lambda pair: groups[pair[0]] != groups[pair[1]])
    for how, quotas in ((k_dpp, None), (k_dpp, {"a": 1, "b": 1}), (exact, None)):
        drawn = how.sample(2, draws, quotas=quotas, random_state=1)
        counts = [np.sum(np.all(np.sort(drawn, axis=1) == pair, axis=1)) for pair in pairs]
        assert np.sum(counts) == draws
        assert np.sum((counts - draws * p) ** 2 / (draws * p)) < 48
    drawn = k_dpp.sample(3, 50, given=[0], quotas={"a": 3}, random_state=1)
    assert np.all(np.sort(drawn, axis=1) == [0, 3, 5])


def test_the_greedy_choice(rng):
    X, groups = rng.normal(size=(60, 2)), np.arange(60) % 3
    greedy = ny.KDPP(ny.Gaussian(0.5), method="greedy")
    chosen = greedy.fit(X).sample(6)
    assert np.array_equal(chosen[0], ny.landmarks(X, ny.Gaussian(0.5), 6, method="greedy"))
    assert greedy.log_det(chosen[0]) >= greedy.log_det(range(6))
    within = greedy.fit(X, groups=groups).sample(6, given=[7], quotas={1: 4, 2: 2})[0]
    assert within[0] == 7
    assert np.array_equal(np.bincount(groups[within]), [0, 4, 2])
    again = pickle.loads(pickle.dumps(greedy))
    assert np.array_equal(again.sample(6, given=[7], quotas={1: 4, 2: 2})[0], within)


def test_certificates_bound_the_distance_to_exact_regression(waves):
    X, y = waves
    kernel, alpha = ny.Gaussian(0.5), 0.01
    exact = ny.KernelRidge(alpha, kernel=kernel, fit_intercept=True).fit(X, y).predict(X)
    for count in (5, 60):
        model = ny.NystroemRidge([alpha], kernel=kernel, n_components=count, random_state=0)
        model.fit(X, y)
        distance = np.sqrt(np.mean((model.predict(X) - exact) ** 2))
        report = ny.certificate(model, X, y, random_state=0)
        assert distance <= report.bound[0]
        both = ny.certificate(model, X, y, passes=8)
        assert both.lower[0] - 1e-9 <= distance <= both.bound[0] + 1e-9
    assert report.verdict == "Close"


@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_a_fitted_constant_of_zero_counts_as_a_constant(kind, waves):
    """The exact regression of comparison has a constant if the model was fitted with one, whatever
    its value: here targets are shifted so that it is 0."""
    X, y = waves
    kernel, alpha = ny.Gaussian(0.5), 3.0
    options = {"kernel": kernel, "landmarks": np.arange(5)}
    model = ny.NystroemRidge([alpha], **options).fit(X.astype(kind), (y + 3).astype(kind))
    rest = y + 3 - model.intercept_
    model.intercept_ = 0.0
    f = model.predict(X.astype(kind))
    exact = [
        ny.KernelRidge(alpha, kernel=kernel, fit_intercept=constant).fit(X, rest).predict(X)
        for constant in (True, False)
    ]
    distance, other = (np.sqrt(np.mean((f - g) ** 2)) for g in exact)
    report = ny.certificate(model, X.astype(kind), rest.astype(kind), passes=40)
    slack = 1e-9 if kind == "f8" else 1e-3 * distance
    assert report.lower[0] - slack <= distance <= report.bound[0] + slack
    assert not report.lower[0] - slack <= other <= report.bound[0] + slack


def test_a_path_has_the_leave_one_out_errors_that_fits_have(waves):
    X, y = waves
    X, y = X[:40], y[:40]
    alphas = [1e-3, 1e-1, 10.0]
    model = ny.NystroemRidge(
        alphas, kernel=ny.Gaussian(0.5), landmarks=np.arange(15), fit_intercept=False
    ).fit(X, y)
    for alpha, loo in zip(alphas, model.loo_, strict=True):
        errors = []
        for i in range(40):
            w = np.ones(40)
            w[i] = 0
            left = ny.NystroemRidge(
                [alpha], kernel=ny.Gaussian(0.5), landmarks=np.arange(15), fit_intercept=False
            ).fit(X, y, w)
            errors.append(y[i] - left.predict(X[i : i + 1])[0])
        assert np.isclose(np.mean(np.square(errors)), loo, rtol=1e-6)
    assert model.alpha_ == alphas[np.argmin(model.loo_)]
    assert np.isclose(model.best_score_, -model.loo_.min())


def test_each_target_may_have_its_alpha(waves, rng):
    X, y = waves
    Y = np.column_stack([y, rng.normal(size=len(y))])
    model = ny.NystroemRidge(alpha_per_target=True, n_components=40, random_state=0).fit(X, Y)
    assert model.alpha_[0] < model.alpha_[1]
    for j in range(2):
        alone = ny.NystroemRidge([model.alpha_[j]], n_components=40, random_state=0).fit(X, Y[:, j])
        assert np.allclose(alone.predict(X), model.predict(X)[:, j], atol=1e-6)


def test_parts_of_the_rows_give_the_fit_to_all(waves):
    X, y = waves
    w = np.linspace(0.5, 1.5, len(y))
    grid, Z = [1e-4, 1e-2, 1.0], X[::10]
    parts = ny.NystroemRidge(grid, kernel=ny.Gaussian(0.5), landmarks=Z)
    for some in np.array_split(np.arange(len(y)), 4):
        parts = pickle.loads(pickle.dumps(parts)).partial_fit(X[some], y[some], w[some])
    whole = ny.NystroemRidge(grid, kernel=ny.Gaussian(0.5), landmarks=Z, criterion="gcv")
    whole.fit(X, y, w)
    assert parts.n_seen_ == len(y) and np.isclose(parts.alpha_, whole.alpha_)
    assert np.allclose(parts.gcv_, whole.gcv_, rtol=1e-6)
    assert np.allclose(parts.predict(X), whole.predict(X), atol=1e-7)
    with pytest.raises(ValueError, match="targets"):
        parts.partial_fit(X, np.column_stack([y, y]))
    assert not hasattr(parts.fit(X, y), "n_seen_")


def test_rows_are_not_copied():
    """With a reversed view of 64 MB of rows, the peak memory of the process grows by less than half
    of that."""
    import subprocess
    import sys

    program = (
        "import resource, numpy as np, nystrom as ny\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "X = np.random.default_rng(0).random((400_000, 20))[:, ::-1]\n"
        "y, Z = X[:, 0].copy(), X[:20]\n"
        "ny.Gaussian(1.0).diag(X[:100])\n"
        "before = peak()\n"
        "model = ny.NystroemRidge([1.0], kernel=ny.Gaussian(1.0), landmarks=Z).fit(X, y)\n"
        "model.predict(X)\n"
        "assert peak() - before < 32, peak() - before\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def spectrum(values, rng):
    """A random symmetric matrix with these eigenvalues."""
    Q, _ = np.linalg.qr(rng.normal(size=(len(values), len(values))))
    return (Q * values) @ Q.T


@pytest.mark.parametrize("method", ["auto", "exact", "rejection", "swap"])
def test_matrices_without_a_dpp_are_refused(method, rng):
    K = spectrum(np.r_[np.ones(8), -0.3], rng)
    hidden = spectrum(np.r_[np.full(38, 2.0), 1.0, -0.01], rng)  # each pair of rows is definite
    good = spectrum(np.arange(1.0, 10.0), rng)
    A = rng.normal(size=(9, 9)) + 1j * rng.normal(size=(9, 9))
    gap, tilted = good.copy(), good.copy()
    gap[2, 3] = gap[3, 2] = np.nan
    tilted[0, 1] += 0.1
    cases = [
        (np.array([[1.0, 2, 0], [2, 1, 0], [0, 0, 1]]), "smallest eigenvalue .* -1; add 1.01"),
        ((K + K.T) / 2, "smallest eigenvalue .* -0.3; add"),
        ((hidden + hidden.T) / 2, "smallest eigenvalue that it has is -0.01; add 0.0101"),
        (-np.eye(3), "not positive semi-definite"),
        (A @ A.conj().T, "Complex"),
        (tilted, r"not symmetric: entry \(0, 1\).*K \+ K.T"),
        (gap, "nan in row 2, column 3"),
        (good[:, :4], "square"),
    ]
    for L, words in cases:
        for scale in (1.0, 1e-9, 1e9):
            if scale == 1.0 or words in ("Complex", "square"):
                with pytest.raises(ValueError, match=words):
                    ny.KDPP("precomputed", method=method).fit(L).sample(2, random_state=0)
            else:
                with pytest.raises(ValueError):
                    ny.KDPP("precomputed", method=method).fit(scale * L).sample(2, random_state=0)


def test_rounding_is_no_negative_eigenvalue(rng):
    X = rng.normal(size=(60, 2)).astype("f4")
    K = ny.Gaussian(3.0)(X)
    assert np.linalg.eigvalsh(K.astype(float))[0] < 0
    for L in (K, K.astype(float), np.zeros((5, 5)) + np.eye(5)):
        assert ny.KDPP("precomputed").fit(L).sample(3, random_state=0).shape == (1, 3)
    shifted = np.array([[1.0, 2, 0], [2, 1, 0], [0, 0, 1]]) + 1.01 * np.eye(3)  # as the error asks
    assert ny.KDPP("precomputed").fit(shifted).sample(2, random_state=0).shape == (1, 2)


def test_many_rows_are_checked_in_pairs(rng):
    from nystrom import _psd

    L = np.eye(_psd.MOST_FACTORED + 10)
    _psd.check_psd(L)
    L[-1, 3] = L[3, -1] = 1.5
    with pytest.raises(ValueError, match="of the rows 3 and 5009 alone is -0.5; add 0.505"):
        _psd.check_psd(L)


def test_two_samples_are_told_apart_by_their_distribution_only():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 2)), rng.normal(size=(400, 2))
    same = ny.two_sample_test(X, Y, random_state=0)
    assert same.pvalue > 0.05 and same.left_out == (0, 0) and same.bins == (300, 400)
    other = ny.two_sample_test(X, 1.5 * Y, random_state=0)
    assert other.pvalue == 0.001 and other.statistic > same.statistic
    assert ny.two_sample_test(X, 1.5 * Y, random_state=0, n_jobs=1) == other
    # every row a landmark: the biased estimate of Gretton et al. (2012)
    K = ny.Gaussian(1.0)(np.vstack([X[:50], Y[:70]]))
    exact = K[:50, :50].mean() + K[50:, 50:].mean() - 2 * K[:50, 50:].mean()
    found = ny.two_sample_test(X[:50], Y[:70], ny.Gaussian(1.0), random_state=0)
    assert abs(found.statistic**2 - exact) < 1e-9
    single = ny.two_sample_test(X.astype("f4"), 1.5 * Y.astype("f4"), random_state=0)
    assert single.pvalue == 0.001


def test_impossible_samples_are_refused():
    X = np.zeros((5, 2))
    with pytest.raises(ValueError, match="Y 3; they must"):
        ny.two_sample_test(X, np.zeros((5, 3)))
    with pytest.raises(ValueError, match="at least 2"):
        ny.two_sample_test(np.eye(3), np.eye(3)[:1])
    with pytest.raises(ValueError, match="take 999"):
        ny.two_sample_test(np.eye(3), np.eye(3), n_permutations=0)
