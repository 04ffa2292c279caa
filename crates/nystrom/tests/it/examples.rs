//! Examples run: as they are where they are quick, in small where they take a size.
#![allow(dead_code)] // the `main` of those that take a size

macro_rules! example {
    ($name:ident, $file:literal) => {
        #[path = $file]
        mod $name;
    };
}

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
