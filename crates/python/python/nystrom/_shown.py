"""What fitted estimators show of themselves."""

from __future__ import annotations

import html
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

#: The facts about a fitted estimator, as pairs of a label and a text.
Facts = list[tuple[str, str]]


class _Shown:
    """A base class for estimators. `print(model)` and notebooks show facts about a fitted model
    below its parameters; `repr(model)` is that of scikit-learn."""

    def _facts(self) -> Facts:
        """The facts about the fitted model."""
        raise NotImplementedError

    def _facts_if_fitted(self) -> Facts:
        try:
            check_is_fitted(self)
        except NotFittedError:
            return []
        return self._facts()

    def __str__(self) -> str:
        facts = self._facts_if_fitted()
        width = max((len(label) for label, _ in facts), default=0)
        return "\n".join([repr(self), *(f"  {label:{width}}  {text}" for label, text in facts)])

    def _repr_html_inner(self) -> str:
        """What `_repr_html_` of scikit-learn calls."""
        return self._with_facts(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        shown["text/plain"] = str(self)
        if "text/html" in shown:
            shown["text/html"] = self._with_facts(shown["text/html"])
        return shown

    def _with_facts(self, diagram: str) -> str:
        facts = self._facts_if_fitted()
        if not facts:
            return diagram
        cells = "".join(
            f'<tr><th style="text-align:left">{html.escape(label)}</th>'
            f'<td style="text-align:left">{html.escape(text)}</td></tr>'
            for label, text in facts
        )
        return f"<table>{cells}</table>{diagram}"


def short(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}"


def against(error: float, constant: float, what: str, unit: str = "") -> str:
    """`, 44 % below predicting the mean (6.11)`: an error compared with that of a prediction that
    uses no features."""
    if not constant > 0.0:
        return ""
    percent = 100.0 * (error / constant - 1.0)
    size = f"{abs(percent):.0f} %"
    than = f"{size} below" if percent < 0.0 else f"{size} above"
    if abs(percent) < 0.5:
        than = "no better than"
    return f", {than} predicting {what} ({short(constant)}{unit})"


def kernel_text(estimator: Any) -> str:
    """The kernel of an estimator that has the parameters of scikit-learn's kernels."""
    kernel = estimator.kernel
    if not isinstance(kernel, str):
        return getattr(kernel, "__name__", None) or repr(kernel)
    names = ("gamma", "degree", "coef0")
    given = [(name, getattr(estimator, name)) for name in names]
    default = type(estimator)().get_params(deep=False)
    some = [f"{name}={value!r}" for name, value in given if value != default[name]]
    return ", ".join([kernel, *some])


def landmarks_text(count: int, how: Any) -> str:
    """`30 by rpcholesky`, `30 given`."""
    return f"{count} by {how}" if isinstance(how, str) else f"{count} given"
