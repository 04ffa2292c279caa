//! Examples run: as they are where they are quick, in small where they take a size.
#![allow(dead_code)] // the `main` of those that take a size

macro_rules! example {
    ($name:ident, $file:literal) => {
        #[path = $file]
        mod $name;
    };
}

example!(csv_to_model, "../../examples/csv_to_model.rs");
example!(leverage_scores, "../../examples/leverage_scores.rs");
example!(million_rows, "../../examples/million_rows.rs");
example!(own_kernel, "../../examples/own_kernel.rs");
example!(own_selector, "../../examples/own_selector.rs");
example!(stream_squeak, "../../examples/stream_squeak.rs");

#[test]
fn quick_examples_run_as_they_are() {
    own_kernel::main().unwrap();
    own_selector::main().unwrap();
}

#[test]
fn examples_with_a_size_run_in_small() {
    leverage_scores::run(None, 1e-3).unwrap();
    million_rows::run(3000, 60).unwrap();
    stream_squeak::run(6).unwrap();
}

/// The program of `docs/start.md`, on a file of the repository. Linear regression is off by 4.56.
#[test]
fn a_file_becomes_a_model() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let file = format!("{root}/crates/data/src/catalog/embedded/ccpp.csv.gz");
    let error = csv_to_model::run(&file, "EP").unwrap();
    assert!((3.0..4.0).contains(&error), "{error}");
}

/// What the stream says of d_eff is d_eff, not half of it.
#[test]
fn the_stream_estimates_the_effective_dimension() {
    use nystrom::prelude::*;
    let estimate = stream_squeak::run(2).unwrap();
    let (first, second) = (stream_squeak::block(0), stream_squeak::block(1));
    let x =
        Mat::from_fn(2000, 2, |i, j| if i < 1000 { first[(i, j)] } else { second[(i - 1000, j)] });
    let k = KernelMatrix::new(Gaussian::new(0.5).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let exact = exact_scores(&k, Ridge::Absolute(10.0)).unwrap().d_eff();
    assert!((0.8..1.2).contains(&(estimate / exact)), "{estimate} for {exact}");
}
