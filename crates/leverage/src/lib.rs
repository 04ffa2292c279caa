//! Ridge leverage scores: exact and approximate, with their guarantees.
