"""Kernel methods that scale, with guarantees: scikit-learn estimators over a Rust library.

>>> import numpy as np
>>> from nystrom import NystroemRidge
>>> X = np.linspace(0, 6, 200).reshape(-1, 1)
>>> model = NystroemRidge(n_components=30, random_state=0).fit(X, np.sin(X[:, 0]))
>>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 1e-3)
True
"""

from importlib.metadata import PackageNotFoundError, version

from ._best import KernelRegressor
from ._classifier import KernelClassifier
from ._embedding import KernelKMeans, KernelPCA, SpectralEmbedding
from ._falkon import Falkon
from ._features import TableFeatures
from ._functions import (
    KDPP,
    CertificateReport,
    PartialCholesky,
    audit,
    certificate,
    effective_dimension,
    landmarks,
    leverage_scores,
    rp_cholesky,
)
from ._kernels import (
    FromBlocks,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    MinMax,
    Periodic,
    Polynomial,
    PowerExponential,
    PowerExponentialL1,
    Product,
    RationalQuadratic,
    Scaled,
    SlowKernelWarning,
    Sum,
    Tanimoto,
)
from ._machine import show_versions
from ._nystroem_ridge import NystroemRidge
from ._ridge import KernelRidge
from ._stream import SqueakRegressor
from ._transform import Nystroem
from ._two_sample import TwoSampleTest, two_sample_test

try:
    __version__ = version("nystrom")
except PackageNotFoundError:  # run from the source tree
    __version__ = "0"

__all__ = [
    "KDPP",
    "CertificateReport",
    "Falkon",
    "FromBlocks",
    "Gaussian",
    "Kernel",
    "KernelClassifier",
    "KernelKMeans",
    "KernelPCA",
    "KernelRegressor",
    "KernelRidge",
    "Laplacian",
    "Linear",
    "Matern",
    "MinMax",
    "Nystroem",
    "NystroemRidge",
    "PartialCholesky",
    "Periodic",
    "Polynomial",
    "PowerExponential",
    "PowerExponentialL1",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "SlowKernelWarning",
    "SpectralEmbedding",
    "SqueakRegressor",
    "Sum",
    "TableFeatures",
    "Tanimoto",
    "TwoSampleTest",
    "audit",
    "certificate",
    "effective_dimension",
    "landmarks",
    "leverage_scores",
    "rp_cholesky",
    "show_versions",
    "two_sample_test",
]
