//! Kernel ridge regression: exact, and Nyström by streamed normal equations.
