//! The work of every capability, counted and held to its documentation: flops, kernel values and
//! bytes at the peak; no clock.
//!
//! A formula here is the one that the documentation of the method states, with the terms of lower
//! order that the sizes of a test make visible. What a method does is counted by
//! `linalg_core::work`. A program of its own: all that is allocated counts.
#![allow(missing_docs)]

mod embedding;
mod iterative;
mod measure;
mod regression;
mod sampling;
mod scores;
mod selection;
mod span;
mod streams;
