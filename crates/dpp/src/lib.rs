//! k-determinantal point processes (planned; empty in this release).
