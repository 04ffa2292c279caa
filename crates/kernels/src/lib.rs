//! Positive definite kernels, evaluated in fast vectorised blocks.
