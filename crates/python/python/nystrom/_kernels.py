"""Kernels: classes, scikit-learn's names of kernels, and its Gaussian-process kernels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import pairwise_kernels

from . import _native
from ._bits import packed, takes_bits
from ._sparse import csr, dense, like

Spec = tuple[Any, ...]


class SlowKernelWarning(UserWarning):
    """Warns that the kernel is evaluated by Python, which is slow."""


class Kernel(BaseEstimator):
    """A positive semi-definite kernel function of two points.

    Kernels can be added (`Gaussian() + Linear()`), multiplied, and scaled (`2.0 * Gaussian()`). A
    call with one or two arrays or sparse matrices of rows returns the kernel matrix.
    """

    #: Whether the points are rows of bits.
    _bits: bool = False

    def _spec(self) -> Spec:
        """The description from which the compiled half builds the kernel."""
        raise NotImplementedError

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """The kernel matrix `K[i, j] = k(X[i], Y[j])`. If `Y` is None, it is `X`."""
        X = points(X, self)
        if Y is not None:
            Y = points(Y, self)
            X = csr(X) if sparse.issparse(Y) else X
            Y = like(Y, X)
        return _native.kernel_block(self._spec(), X, Y)

    def diag(self, X: Any) -> np.ndarray:
        """The diagonal of the kernel matrix, `k(X[i], X[i])`."""
        return _native.kernel_diagonal(self._spec(), points(X, self))

    def __add__(self, other: Kernel) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    def __rmul__(self, factor: float) -> Kernel:
        return Scaled(self, float(factor)) if isinstance(factor, Real) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class Gaussian(Kernel):
    """The Gaussian kernel, exp(-|x - y|^2 / (2 l^2)). `length_scale` is one number l, or a sequence
    with one for each column."""

    def __init__(self, length_scale: Any = 1.0) -> None:
        self.length_scale = length_scale

    def _spec(self) -> Spec:
        return ("gaussian", lengths(self.length_scale))


class Matern(Kernel):
    """The Matérn kernel of smoothness `nu`. Functions of nu = 0.5 are continuous but not
    differentiable, those of nu = 1.5 are once differentiable. `length_scale` is one number, or a
    sequence with one for each column."""

    def __init__(self, nu: float = 1.5, length_scale: Any = 1.0) -> None:
        self.nu = nu
        self.length_scale = length_scale

    def _spec(self) -> Spec:
        return ("matern", float(self.nu), lengths(self.length_scale))


class Laplacian(Kernel):
    """The Laplacian kernel exp(-|x - y|_1 / l), with the L1 distance as in scikit-learn."""

    def __init__(self, length_scale: float = 1.0) -> None:
        self.length_scale = length_scale

    def _spec(self) -> Spec:
        return ("laplacian-l1", float(self.length_scale))


class RationalQuadratic(Kernel):
    """The rational quadratic kernel, (1 + |x - y|^2 / (2 alpha l^2))^(-alpha)."""

    def __init__(self, alpha: float = 1.0, length_scale: Any = 1.0) -> None:
        self.alpha = alpha
        self.length_scale = length_scale

    def _spec(self) -> Spec:
        return ("rational-quadratic", float(self.alpha), lengths(self.length_scale))


class PowerExponential(Kernel):
    """The power exponential kernel, exp(-(|x - y| / l)^power), 0 < power <= 2."""

    def __init__(self, power: float = 1.0, length_scale: Any = 1.0) -> None:
        self.power = power
        self.length_scale = length_scale

    def _spec(self) -> Spec:
        return ("power-exponential", float(self.power), lengths(self.length_scale))


class PowerExponentialL1(Kernel):
    """The power exponential kernel of the L1 distance, exp(-(|x - y|_1 / l)^power),
    0 < power <= 1."""

    def __init__(self, power: float = 1.0, length_scale: float = 1.0) -> None:
        self.power = power
        self.length_scale = length_scale

    def _spec(self) -> Spec:
        return ("power-exponential-l1", float(self.power), float(self.length_scale))


class Linear(Kernel):
    """The linear kernel, <x, y> + bias."""

    def __init__(self, bias: float = 0.0) -> None:
        self.bias = bias

    def _spec(self) -> Spec:
        return ("linear", float(self.bias))


class Polynomial(Kernel):
    """The polynomial kernel, (gamma <x, y> + coef0)^degree."""

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _spec(self) -> Spec:
        return ("polynomial", whole("degree", self.degree, 0), float(self.gamma), float(self.coef0))


class Periodic(Kernel):
    """The periodic kernel, exp(-2 sum_k sin^2(pi (x_k - y_k) / period) / l^2)."""

    def __init__(self, period: float = 1.0, length_scale: float = 1.0) -> None:
        self.period = period
        self.length_scale = length_scale

    def _spec(self) -> Spec:
        return ("periodic", float(self.period), float(self.length_scale))


class Tanimoto(Kernel):
    """The Tanimoto (Jaccard) kernel of rows of bits, such as fingerprints of molecules: the number
    of common ones, divided by the number of positions with a one in either row.

    Rows are bytes (`uint8`), as `numpy.packbits(X, axis=1)` makes them, or `bool`.

    >>> import numpy as np
    >>> bits = np.array([[1, 1, 0, 1], [0, 1, 0, 1]], dtype=bool)
    >>> bool(np.isclose(Tanimoto()(np.packbits(bits, axis=1))[0, 1], 2 / 3))
    True
    """

    _bits = True

    def _spec(self) -> Spec:
        return ("tanimoto",)


class MinMax(Kernel):
    """The min-max kernel sum_k min(x_k, y_k) / sum_k max(x_k, y_k) of counts, or of other numbers
    that are not negative. Of zeros and ones it is the Tanimoto kernel."""

    def _spec(self) -> Spec:
        return ("min-max",)


class Sum(Kernel):
    """The sum of two kernels."""

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first = first
        self.second = second

    @property
    def _bits(self) -> bool:
        return both_bits(self.first, self.second)

    def _spec(self) -> Spec:
        return ("sum", self.first._spec(), self.second._spec())


class Product(Kernel):
    """The product of two kernels."""

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first = first
        self.second = second

    @property
    def _bits(self) -> bool:
        return both_bits(self.first, self.second)

    def _spec(self) -> Spec:
        return ("product", self.first._spec(), self.second._spec())


class Scaled(Kernel):
    """A kernel times a factor > 0."""

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    @property
    def _bits(self) -> bool:
        return self.kernel._bits

    def _spec(self) -> Spec:
        return ("scaled", self.kernel._spec(), float(self.factor))


class FromBlocks(Kernel):
    """A kernel defined by a Python function of two arrays of rows that returns the kernel matrix.

    It is slow: Python evaluates the blocks, in one thread at a time. The function must be positive
    semi-definite, which is not checked.
    """

    def __init__(self, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
        self.function = function

    def _spec(self) -> Spec:
        function = self.function

        def block(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
            return np.asarray(function(X, Y), dtype=X.dtype)

        return ("blocks", block)


def both_bits(first: Kernel, second: Kernel) -> bool:
    """Whether both kernels take rows of bits; a ValueError if only one does."""
    if first._bits != second._bits:
        raise ValueError(
            f"{first!r} and {second!r} take different points, bits and numbers; combine kernels "
            "of the same points"
        )
    return first._bits


#: The kernels that take sparse points, by their names in a description, and their combinations.
SPARSE = (
    "gaussian", "matern", "rational-quadratic", "power-exponential", "power-exponential-l1",
    "laplacian-l1", "linear", "polynomial", "min-max",
)
COMBINATIONS = ("sum", "product", "scaled")


def takes_sparse(kernel: Any) -> bool:
    """Whether sparse rows are points of a kernel."""
    if isinstance(kernel, str):
        return kernel in ("linear", "rbf", "laplacian", "minmax", "poly", "polynomial")
    if isinstance(kernel, Kernel):
        return _is_sparse_spec(kernel._spec())
    return hasattr(kernel, "theta") and _is_sparse_spec(of_gaussian_process(kernel, 1))


def _is_sparse_spec(spec: Spec) -> bool:
    if spec[0] in COMBINATIONS:
        return all(_is_sparse_spec(part) for part in spec[1:] if isinstance(part, tuple))
    return spec[0] in SPARSE


def points(X: Any, kernel: Any) -> Any:
    """Rows as the compiled half takes them as points of a kernel: an array, or a CSR matrix."""
    if takes_bits(kernel):
        return packed(X)
    return matrix(X if takes_sparse(kernel) else dense(X))


def matrix(X: Any) -> Any:
    """X as a matrix of `float64` or `float32`, dense or CSR, copied only if necessary."""
    X = X if sparse.issparse(X) else np.asarray(X)
    if X.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: pass X.real, or np.hstack([X.real, X.imag]) to use both "
            "parts"
        )
    if X.dtype not in (np.float64, np.float32) or not X.dtype.isnative:
        X = X.astype(np.float64)
    if X.ndim != 2:
        raise ValueError(f"expected a matrix with a point in each row, got shape {X.shape}")
    return aligned(X)


def aligned(X: Any) -> Any:
    """X as the compiled half reads it. An array is copied only if its numbers are not aligned in
    memory, as in packed records."""
    if sparse.issparse(X):
        return csr(X)
    return X if X.flags.aligned else X.copy()


def lengths(value: Any) -> float | list[float]:
    """One length scale, or one for each column."""
    return float(value) if np.ndim(value) == 0 else [float(length) for length in value]


def whole(name: str, value: Any, least: int) -> int:
    """The value as an integer; a ValueError if it is not an integer of at least `least`. 3.0 is
    an integer."""
    if not np.isfinite(value) or int(value) != value or value < least:
        raise ValueError(
            f"{name} = {value} is not valid: it must be an integer of at least {least}"
        )
    return int(value)


def positive(name: str, value: Any) -> float:
    """The value as a float; a ValueError unless it is positive and finite."""
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} = {value} is not valid: it must be positive and finite")
    return float(value)


def spec_of(
    kernel: Any,
    n_features: int,
    *,
    gamma: float | None = None,
    degree: float | None = None,
    coef0: float | None = None,
    kernel_params: Mapping[str, Any] | None = None,
) -> Spec:
    """The description from which the compiled half builds a kernel.

    `kernel` is a `Kernel`, one of scikit-learn's names (with the parameters), one of its
    Gaussian-process kernels, or a Python function of two points.
    """
    if isinstance(kernel, Kernel):
        # each with its default values, here and in scikit-learn's KernelRidge
        given: dict[str, tuple[Any, list[Any]]] = {
            "gamma": (gamma, [None]),
            "degree": (degree, [None, 3]),
            "coef0": (coef0, [None, 1]),
            "kernel_params": (kernel_params, [None]),
        }
        wrong = [name for name, (value, none) in given.items() if value not in none]
        if wrong:
            raise ValueError(
                f"{wrong[0]} has no effect on the kernel {kernel!r}, which has its own parameters; "
                f"leave {wrong[0]} out"
            )
        return kernel._spec()
    gamma = 1.0 / n_features if gamma is None else gamma
    match kernel:
        case "linear":
            return Linear()._spec()
        case "rbf":
            return Gaussian(1.0 / math.sqrt(2.0 * positive("gamma", gamma)))._spec()
        case "laplacian":
            return Laplacian(1.0 / positive("gamma", gamma))._spec()
        case "tanimoto":
            return Tanimoto()._spec()
        case "minmax":
            return MinMax()._spec()
        case "poly" | "polynomial":
            degree, coef0 = (3 if degree is None else degree), (1 if coef0 is None else coef0)
            return Polynomial(whole("degree", degree, 0), gamma, coef0)._spec()
        case str():
            return by_scikit_learn(kernel, gamma, coef0, kernel_params)
    if callable(kernel) and not hasattr(kernel, "theta"):
        params = dict(kernel_params or {})
        slow(f"the kernel {getattr(kernel, '__name__', kernel)!r} is a Python function of points")

        def values(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
            return pairwise_kernels(X, Y, metric=kernel, **params)

        return FromBlocks(values)._spec()
    if hasattr(kernel, "theta"):
        spec = of_gaussian_process(kernel, n_features)
        if is_slow(spec):
            slow(f"the kernel {kernel}, or a part of it, has no counterpart here")
        return spec
    raise ValueError(
        f"kernel = {kernel!r} is not a kernel; use a kernel of nystrom or of "
        "sklearn.gaussian_process, a name such as 'rbf', or a function of two points"
    )


def positive(name: str, value: float) -> float:
    if not value > 0 or not math.isfinite(value):
        raise ValueError(f"{name} = {value} is not valid: it must be a positive finite number")
    return float(value)


def is_slow(spec: Spec) -> bool:
    """Whether Python evaluates the kernel."""
    parts = [part for part in spec[1:] if isinstance(part, tuple)]
    return spec[0] == "blocks" or any(map(is_slow, parts))


def slow(what: str) -> None:
    """Warns that Python will evaluate the kernel."""
    text = f"{what}: it is evaluated by Python, far slower than nystrom's own kernels"
    warnings.warn(text, SlowKernelWarning, stacklevel=4)


def by_scikit_learn(
    name: str, gamma: float, coef0: float | None, params: Mapping[str, Any] | None
) -> Spec:
    """A kernel that only scikit-learn has, by its name there."""
    known = {"additive_chi2": {}, "chi2": {"gamma": gamma}, "cosine": {}}
    if name == "sigmoid":
        raise ValueError("the sigmoid kernel is not positive semi-definite; use another one")
    if name not in known:
        names = "linear, rbf, laplacian, poly, polynomial, tanimoto, minmax"
        names = ", ".join([names, *sorted(known)])
        raise ValueError(f"there is no kernel {name!r}; the names are {names}, and precomputed")
    slow(f"the kernel {name!r} is scikit-learn's")
    values = known[name] | dict(params or {})
    return FromBlocks(lambda X, Y: pairwise_kernels(X, Y, metric=name, **values))._spec()


def of_gaussian_process(kernel: Any, n_features: int) -> Spec:
    """A kernel of `sklearn.gaussian_process.kernels`, replaced by nystrom's own where possible."""
    from sklearn.gaussian_process import kernels as gp

    def part(kernel: Any) -> Spec:
        return of_gaussian_process(kernel, n_features)

    match kernel:
        case gp.Product(k1=gp.ConstantKernel() as constant, k2=other):
            return ("scaled", part(other), float(constant.constant_value))
        case gp.Product(k1=other, k2=gp.ConstantKernel() as constant):
            return ("scaled", part(other), float(constant.constant_value))
        case gp.Product():
            return ("product", part(kernel.k1), part(kernel.k2))
        case gp.Sum():
            return ("sum", part(kernel.k1), part(kernel.k2))
        case gp.WhiteKernel():
            raise ValueError("leave the WhiteKernel out: alpha is added to the diagonal instead")
        case gp.Matern() if math.isfinite(kernel.nu):
            return Matern(kernel.nu, kernel.length_scale)._spec()
        case gp.RBF():  # including Matern with nu = inf, which is a subclass
            return Gaussian(kernel.length_scale)._spec()
        case gp.RationalQuadratic():
            return RationalQuadratic(kernel.alpha, kernel.length_scale)._spec()
        case gp.DotProduct():
            return Linear(kernel.sigma_0**2)._spec()
        case gp.ExpSineSquared() if n_features == 1:
            return Periodic(kernel.periodicity, kernel.length_scale)._spec()
    return FromBlocks(lambda X, Y: kernel(X, Y))._spec()
