"""The compiled half of the package. Functions release the GIL, and Ctrl-C interrupts them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Spec = tuple[Any, ...]
Array = NDArray[np.float64] | NDArray[np.float32]
#: Rows as points: an array, or a CSR matrix of SciPy without repeated columns.
Points = Any
Column = tuple[str, np.ndarray] | tuple[str, list[str], np.ndarray]
Fitted = tuple[Array, Array, dict[str, Any]]

def kernel_block(
    spec: Spec, X: Points, Y: Points | None = None, n_jobs: int | None = None
) -> Array: ...
def kernel_diagonal(spec: Spec, X: Points) -> Array: ...
def pack_bits(X: NDArray[np.uint8]) -> NDArray[np.float64]: ...
def instruction_set() -> str: ...
def half_of_free_memory() -> int | None: ...
def in_python(text: str) -> str: ...
def threads(n_jobs: int | None = None) -> int: ...
def nystroem_factor(W: Array, n_jobs: int | None = None) -> tuple[Array, Array]: ...
def nystroem_features(
    spec: Spec | None, X: Points, Z: Points | None, R: Array, n_jobs: int | None = None
) -> Array: ...
def exact(
    spec: Spec,
    X: Points,
    Y: Array,
    weights: Array | None,
    mu: float,
    *,
    intercept: bool,
    direct: bool | None,
    tolerance: float,
    max_iterations: int,
    memory: int | None,
    seed: int,
    n_jobs: int | None = None,
) -> Fitted: ...
def exact_on_gpu(
    spec: Spec,
    X: Array,
    Y: Array,
    weights: Array | None,
    mu: float,
    *,
    card: str | None,
    intercept: bool,
    tolerance: float,
    max_iterations: int,
    memory: int | None,
    seed: int,
    n_jobs: int | None = None,
) -> Fitted: ...
def falkon(
    spec: Spec,
    X: Points,
    Y: Array,
    weights: Array | None,
    Z: Points,
    mu: float,
    *,
    uniform: bool,
    intercept: bool,
    tolerance: float,
    max_iterations: int,
    memory: int | None,
    seed: int,
    n_jobs: int | None = None,
) -> Fitted: ...
def nystrom_path(
    spec: Spec,
    X: Points,
    Y: Array,
    weights: Array | None,
    Z: Points,
    mus: list[float],
    *,
    intercept: bool,
    gcv: bool,
    per_target: bool,
    n_jobs: int | None = None,
) -> tuple[Array, Array, list[int], NDArray[np.float64], dict[str, Any]]: ...
def accumulate(
    spec: Spec,
    X: Array,
    Y: Array,
    weights: Array | None,
    Z: Array,
    state: bytes | None,
    *,
    offset: list[float] | None,
    before: Array | None = None,
    n_jobs: int | None = None,
) -> bytes: ...
def merge(
    spec: Spec,
    Z: Array,
    states: list[bytes],
    *,
    offset: list[float] | None,
    targets: int,
    n_jobs: int | None = None,
) -> bytes: ...
def row_sums(
    spec: Spec,
    X: Array,
    Y: Array,
    weights: Array | None,
    Z: Array,
    asked: Array | int | None,
    *,
    before: int,
    n_jobs: int | None = None,
) -> bytes: ...
def merge_row_sums(
    spec: Spec,
    Z: Array,
    answers: list[bytes],
    asked: Array | int | None,
    *,
    targets: int,
    n_jobs: int | None = None,
) -> bytes: ...
def falkon_passes(
    spec: Spec,
    Z: Array,
    targets: int,
    penalty: float,
    ask: Callable[[Array | int | None], bytes],
    *,
    uniform: bool,
    intercept: bool,
    tolerance: float,
    max_iterations: int,
    memory: int | None,
    seed: int,
    n_jobs: int | None = None,
) -> Fitted: ...
def solve(
    spec: Spec,
    Z: Array,
    state: bytes,
    mus: list[float],
    *,
    offset: list[float] | None,
    targets: int,
    n_jobs: int | None = None,
) -> tuple[Array, Array, int, list[float]]: ...
def squeak(
    spec: Spec,
    X: Array,
    state: bytes | None,
    law: dict[str, Any],
    *,
    settle: bool,
    seed: int,
    first: int = 0,
    n_jobs: int | None = None,
) -> tuple[bytes, Array, list[int], list[float], int]: ...
def squeak_merge(
    spec: Spec,
    Z: Array,
    left: bytes,
    right: bytes,
    law: dict[str, Any],
    *,
    seed: int,
    n_jobs: int | None = None,
) -> bytes: ...
def squeak_scores(
    spec: Spec, X: Array, state: bytes, law: dict[str, Any], n_jobs: int | None = None
) -> Array: ...
def predict(
    spec: Spec,
    X: Points,
    Z: Points,
    coefficients: Array,
    intercept: list[float],
    n_jobs: int | None = None,
) -> Array: ...
def certificate(
    spec: Spec,
    X: Points,
    Y: Array,
    weights: Array | None,
    Z: Points,
    coefficients: Array,
    intercept: list[float],
    mu: float,
    *,
    fit_intercept: bool,
    rows: int,
    passes: int | None,
    confidence: float,
    tolerance: float,
    memory: int | None,
    seed: int,
    n_jobs: int | None = None,
) -> tuple[str, str]: ...
def leverage_scores(
    spec: Spec,
    X: Points,
    mu: float,
    method: str,
    columns: int | None,
    seed: int,
    n_jobs: int | None = None,
) -> Array: ...
def landmarks(
    spec: Spec,
    X: Points,
    count: int,
    method: str,
    mu: float,
    seed: int,
    n_jobs: int | None = None,
) -> NDArray[np.int64]: ...
def rp_cholesky(
    spec: Spec, X: Points, count: int, tolerance: float, seed: int, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], Array, float]: ...
def audit(
    spec: Spec,
    X: Points,
    mu: float,
    method: str,
    columns: int | None,
    rows: int,
    seed: int,
    n_jobs: int | None = None,
) -> dict[str, Any]: ...
def kernel_pca(
    spec: Spec, X: Points, rows: list[int], components: int, n_jobs: int | None = None
) -> tuple[Array, list[float], dict[str, Any]]: ...
def spectral_embedding(
    spec: Spec, X: Points, rows: list[int], components: int, n_jobs: int | None = None
) -> tuple[Array, NDArray[np.float64], float]: ...
def kernel_k_means(
    spec: Spec,
    X: Points,
    rows: list[int],
    clusters: int,
    starts: int,
    iterations: int,
    seed: int,
    n_jobs: int | None = None,
) -> tuple[Array, list[float], NDArray[np.int64], dict[str, Any]]: ...
def two_sample(
    spec: Spec | None,
    X: Points,
    first: int,
    landmarks: int,
    permutations: int,
    bins: int,
    seed: int,
    n_jobs: int | None = None,
) -> tuple[float, float, list[int], int, list[int]]: ...
def k_dpp(
    spec: Spec,
    X: Points,
    size: int,
    draws: int,
    method: str,
    steps: int,
    seed: int,
    n_jobs: int | None = None,
) -> list[list[int]]: ...
def subsets(
    spec: Spec,
    X: Points,
    size: int,
    draws: int,
    method: str,
    steps: int,
    seed: int,
    quality: list[float] | None,
    given: list[int],
    groups: list[int] | None,
    quotas: list[int] | None,
    n_jobs: int | None = None,
) -> list[list[int]]: ...
def log_det(spec: Spec, X: Points, items: list[int]) -> float: ...

class KDppSampler:
    def __new__(
        cls,
        spec: Spec,
        X: Points,
        quality: list[float] | None = None,
        n_jobs: int | None = None,
    ) -> KDppSampler: ...
    def sample(
        self, size: int, draws: int, seed: int, n_jobs: int | None = None
    ) -> list[list[int]]: ...
    def inclusion(self, size: int) -> list[float]: ...
    def log_probability(self, items: list[int]) -> float: ...
    @property
    def rank(self) -> int: ...

class RejectionSampler:
    def __new__(
        cls, spec: Spec, X: Points, size: int, n_jobs: int | None = None
    ) -> RejectionSampler: ...
    def sample(
        self, spec: Spec, X: Points, draws: int, seed: int, n_jobs: int | None = None
    ) -> list[list[int]]: ...

class Report:
    @staticmethod
    def from_bytes(bytes: bytes) -> Report: ...
    def json(self) -> str: ...
    def left_out(self) -> list[str]: ...

class Model:
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def predict(
        self, columns: list[Column], n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, list[str]]: ...
    def intervals(
        self, columns: list[Column], level: float, n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]: ...
    def deviations(
        self, columns: list[Column], n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def html(self, report: Report | None, command: str) -> str: ...
    def describe(self) -> dict[str, Any]: ...

class Features:
    @staticmethod
    def from_bytes(bytes: bytes) -> Features: ...
    def apply(self, columns: list[Column]) -> tuple[NDArray[np.float64], list[str]]: ...
    def describe(self) -> dict[str, Any]: ...

def fit_features(columns: list[Column], options: dict[str, Any]) -> Features: ...
def fit_table(
    columns: list[Column],
    targets: list[str],
    options: dict[str, Any],
    tell: Callable[[str, float, float | None], object] | None = None,
    n_jobs: int | None = None,
) -> tuple[Model, Report]: ...
def work_in(seconds: float, n_jobs: int | None = None) -> float: ...
