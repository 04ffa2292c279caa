//! The repository is tidy, and each rule finds what breaks it.

use super::*;
use crate::reference::{FULL_REFERENCE, REFERENCE};
use crate::testing::{record, run_with};

#[test]
fn the_repository_is_tidy() {
    let violations = check(RULES, &Tree::read(&crate::workspace::root()).unwrap());
    let list: String = violations.iter().map(|violation| format!("\n{violation}")).collect();
    assert!(violations.is_empty(), "{list}");
}

/// A made-up tree: each file below its name, with WIDE for words of 101 columns.
const UNTIDY: &str = r##"
=== README.md
[a](docs/ARCHITECTURE.md#top), [b](docs), [c](https://example.org/x), [d](#here)
![gone](docs/gone.svg)
`krr::Falkon`, `krr::{Falkon::fit, Falkonry}`, `std::fs`
<!-- number: self-check | open -->1.4<!-- /number -->
<!-- example: whole -->
```rust
fn main() {}
```
<!-- example: part -->

```rust
let x = 1;
```
```rust
fn main() {}
```
<!-- example: whole -->
```rust
fn main() { old() }
```
WIDE
| WIDE |
[WIDE](README.md)
```text
WIDE
```
=== docs/ARCHITECTURE.md
krr -> linalg-core sketch
`nothing.rs`
### `crates/krr` — regression
- `a.rs`, `b.rs`, `c.rs`, `d.rs`, `draw.rs`, `long.rs`, `user/`: `inner.rs`.
- `gone.rs`, `old/`
## B
`none.rs`
=== docs/CHOOSING.md
<!-- number: self-check | open -->1.2<!-- /number -->
=== docs/guides/guide.md
<!-- example: whole -->
```rust
fn main() {}
```
<!-- example: part -->
```rust
let x = 2;
```
=== crates/krr/Cargo.toml
[package]
name = "nystrom-krr"
[dependencies]
faer = "1"
nystrom-sketch.workspace = true
nystrom-dpp = { workspace = true }
[dev-dependencies]
nystrom-data = { workspace = true }
=== crates/new/Cargo.toml
[package]
name = "nystrom-new"
[lints]
workspace = true
=== crates/krr/src/lib.rs
mod user;
pub use c::Item;
use user::inner::Deep;
=== crates/krr/src/a.rs
use std::fmt;
use crate::{b::{self, B}, d::D as E};
=== crates/krr/src/b.rs
fn f() { g!(1, crate::c::C::<u8>::new()) }
=== crates/krr/src/c.rs
struct C {
    #[serde(with = "super::a")]
    a: super::Deep,
}
=== crates/krr/src/d.rs
/// WIDE
fn d() { f(WIDE) }
#[cfg(test)]
mod tests {
    use crate::a::A;
    struct A { rng: Pcg64 }
}
=== crates/krr/src/user/mod.rs
mod inner;
fn f(item: crate::Item) {}
=== crates/krr/src/user/inner.rs
use super::A;
=== crates/krr/src/draw.rs
fn f(n: usize, rng: &mut dyn rand::Rng) {}
fn g(
    n: usize,
    rng: &mut dyn Rng,
) {}
fn h(draw: impl Fn(&mut dyn Rng) -> u8, n: usize) -> Pcg64 { Pcg64::new(n) }
fn f(rng: &mut dyn Rng, n: usize) {}
fn g(n: usize, rng: &mut impl Rng) {}
fn h<R: Rng + ?Sized>(n: usize, rng: &mut R) {}
struct A<'a>(&'a mut dyn Rng);
struct B {
    rng: Option<rand_pcg::Pcg64>,
}
=== crates/krr/src/method.rs
/// Picks.
///
/// # Cost
/// 1
///
/// # Source
/// A.
#[derive(Debug)]
pub struct Falkon;
impl<T: Scalar> LandmarkSelector<T> for Falkon { pub fn fit() {} }
/// Scores.
///
/// # Cost
/// 1
pub struct B<T>(T);
impl<T: Scalar> RidgeLeverage<T> for B<T> {}
/// Fits.
pub struct NewKrr;
=== crates/nystrom/examples/part.rs
fn main() {
    // shown: begin
    let x = 1;
    // shown: end
}
=== crates/nystrom/examples/whole.rs
fn main() {}
"##;

/// The places that each of [`RULES`] finds there, below `crates/` for code.
const FOUND: [&str; RULES.len()] = [
    "krr/src/long.rs:401",
    "README.md:21 krr/src/d.rs:1",
    "krr/src/draw.rs:7 krr/src/draw.rs:8 krr/src/draw.rs:9 krr/src/draw.rs:10 krr/src/draw.rs:12",
    "krr/src/method.rs:15 krr/src/method.rs:18",
    "krr/Cargo.toml krr/src/lib.rs krr/src/lib.rs",
    "krr/Cargo.toml:6 new/Cargo.toml",
    "krr/src/a.rs:2 krr/src/b.rs:1 krr/src/c.rs:2 krr/src/c.rs:3 krr/src/user/mod.rs:2",
    "README.md:2",
    "docs/ARCHITECTURE.md:3 docs/ARCHITECTURE.md:5 docs/ARCHITECTURE.md:5",
    "README.md:3",
    "README.md:14 README.md:17 docs/guides/guide.md:5",
    "README.md docs/EXPERIMENTS.md",
];

#[test]
fn every_rule_finds_what_breaks_it() {
    let wide = "word ".repeat(20) + "x";
    let untidy = UNTIDY.replace("WIDE", &wide);
    let mut files: Vec<(&str, &str)> =
        untidy.split("=== ").skip(1).filter_map(|file| file.split_once('\n')).collect();
    let long = "\n".repeat(401);
    files.push(("crates/krr/src/long.rs", &long));
    let reference = serde_json::to_string(&run_with(record())).unwrap();
    files.extend([REFERENCE, FULL_REFERENCE].map(|path| (path, &*reference)));
    let tree = Tree::of(&files);
    for (rule, places) in RULES.chunks(1).zip(FOUND) {
        let found = check(rule, &tree);
        let places_found = found.iter().filter_map(|violation| violation.split(": ").next());
        let places_found = places_found.map(|place| place.trim_start_matches("crates/"));
        assert_eq!(places_found.collect::<Vec<_>>().join(" "), places, "{found:#?}");
    }
}
