//! Tests of what the crate draws and writes.

mod drawing;
mod fit;
mod markup;
