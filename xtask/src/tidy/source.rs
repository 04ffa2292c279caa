//! What library code must not do behind its caller's back.

use super::Violation;
use super::tokens::{Token, library_tokens};
use super::tree::Tree;

/// Crates whose job it is to read files.
const READS_FILES: [&str; 1] = ["crates/data/"];

const PRINTS: &str = "a library does not print: return what there is to say";
const RANDOM: &str = "randomness is an argument, `rng: &mut dyn Rng`, so that a seed fixes the result";
const CLOCK: &str = "a library does not look at the clock: its results depend on its arguments alone";
const ENVIRONMENT: &str = "a library does not read the environment: its results depend on its arguments alone";
const FILES: &str = "a library does not touch the disk; loaders live in crates/data";

/// Sequences of tokens, and why they are not wanted.
const PRINTING: &[(&[&str], &str)] = &[
    (&["println", "!"], PRINTS),
    (&["print", "!"], PRINTS),
    (&["eprintln", "!"], PRINTS),
    (&["eprint", "!"], PRINTS),
    (&["dbg", "!"], PRINTS),
];

const HIDDEN_INPUTS: &[(&[&str], &str)] = &[
    (&["thread_rng"], RANDOM),
    (&["from_os_rng"], RANDOM),
    (&["from_entropy"], RANDOM),
    (&["rand", ":", ":", "rng", "("], RANDOM),
    (&["SystemTime"], CLOCK),
    (&["Instant", ":", ":", "now"], CLOCK),
    (&["std", ":", ":", "env"], ENVIRONMENT),
    (&["std", ":", ":", "fs"], FILES),
];

/// `println!` and its like.
pub fn no_printing(tree: &Tree) -> Vec<Violation> {
    search(tree, PRINTING)
}

/// Global generators, clocks, the environment, the disk.
pub fn no_hidden_inputs(tree: &Tree) -> Vec<Violation> {
    search(tree, HIDDEN_INPUTS)
}

/// Where a crate that otherwise sees only K may name the kernels' crate.
const KNOW_POINTS: [&str; 2] = ["crates/leverage/src/squeak/", "crates/leverage/src/spectral_density/"];

/// In `leverage`, only the methods that need points name `nystrom_kernels`.
pub fn kernels_stay_where_points_are(tree: &Tree) -> Vec<Violation> {
    let why = "only squeak/ and spectral_density/ know points: everything else takes a `PsdMatrix`";
    let found = search(tree, &[(&["nystrom_kernels"], why)]);
    let elsewhere = |v: &Violation| {
        v.path.starts_with("crates/leverage/") && !KNOW_POINTS.iter().any(|home| v.path.starts_with(home))
    };
    found.into_iter().filter(elsewhere).collect()
}

/// Products go through `linalg_core::ops`, outside of it.
pub fn products_are_counted(tree: &Tree) -> Vec<Violation> {
    let why =
        "products go through `linalg_core::ops`, where the bits do not depend on the threads and the flops are counted";
    let found = search(tree, &[(&["linalg", ":", ":", "matmul"], why)]);
    found.into_iter().filter(|v| !v.path.starts_with("crates/linalg-core/")).collect()
}

fn search(tree: &Tree, patterns: &[(&[&str], &str)]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.library_sources() {
        let tokens = match library_tokens(text) {
            Ok(tokens) => unfold_imports(tokens),
            Err((line, why)) => {
                violations.push(Violation::new(path, line, why));
                continue;
            }
        };
        for (pattern, reason) in patterns {
            if *reason == FILES && READS_FILES.iter().any(|home| path.starts_with(home)) {
                continue;
            }
            let places =
                tokens.windows(pattern.len()).filter(|window| window.iter().zip(*pattern).all(|(t, p)| t.text == *p));
            violations
                .extend(places.map(|at| Violation::new(path, at[0].line, format!("`{}`: {reason}", pattern.concat()))));
        }
    }
    violations
}

/// Rewrites `std::{a, b::c}` as `std::a std::b::c`, one level deep.
fn unfold_imports(tokens: Vec<Token>) -> Vec<Token> {
    let mut unfolded = Vec::with_capacity(tokens.len());
    let is = |i: usize, text: &str| tokens.get(i).is_some_and(|token: &Token| token.text == text);
    let mut depth: Option<usize> = None; // of braces inside `std::{ … }`
    for (i, token) in tokens.iter().enumerate() {
        let opens = i >= 3 && is(i - 3, "std") && is(i - 2, ":") && is(i - 1, ":") && token.text == "{";
        match (&mut depth, token.text.as_str()) {
            (None, _) if opens => depth = Some(1),
            (None, _) => {}
            (Some(d), "{") => *d += 1,
            (Some(1), "}") => depth = None,
            (Some(d), "}") => *d -= 1,
            (Some(1), ",") => {
                let prefix = ["std", ":", ":"].map(|text| Token { text: text.into(), line: token.line });
                unfolded.extend(prefix);
                continue;
            }
            _ => {}
        }
        if !opens {
            unfolded.push(token.clone());
        }
    }
    unfolded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[("crates/a/src/lib.rs", text)]);
        no_hidden_inputs(&tree).into_iter().map(|violation| (violation.line, violation.text)).collect()
    }

    #[test]
    fn printing_is_found_with_its_line() {
        let tree = Tree::of(&[
            (
                "crates/a/src/lib.rs",
                "fn f() {\n    println!(\"x\");\n}\n#[cfg(test)]\nmod tests { fn g() { dbg!(1); } }",
            ),
            ("xtask/src/main.rs", "fn main() { println!(); }"),
            ("crates/a/tests/t.rs", "fn main() { println!(); }"),
        ]);
        assert_eq!(no_printing(&tree), [Violation::new("crates/a/src/lib.rs", 2, format!("`println!`: {PRINTS}"))]);
    }

    #[test]
    fn hidden_inputs_are_found() {
        for text in [
            "use std::time::SystemTime;",
            "fn f() { Instant::now(); }",
            "fn f() { rand::rng(); }",
            "fn f() { Pcg64::from_os_rng(); }",
            "use rand::thread_rng;",
            "use std::{collections::HashMap, fs};",
            "use std::{env::var, fmt};",
            "fn f() { std::fs::read(\"x\"); }",
        ] {
            assert_eq!(hidden(text).len(), 1, "{text}: {:?}", hidden(text));
        }
    }

    #[test]
    fn what_only_looks_like_one_is_left_alone() {
        for text in [
            "/// Unlike `thread_rng`, `SystemTime`.\nfn f(now: Instant) {}",
            "fn f(rng: &mut dyn rand::Rng) {}",
            "use std::{fmt, time::Duration};\nuse crate::{env, fs};",
            "#[cfg(test)]\nmod tests { use std::fs; }",
        ] {
            assert_eq!(hidden(text), [], "{text}");
        }
    }

    #[test]
    fn kernels_are_found_where_only_matrices_are_known() {
        let text = "use nystrom_kernels::Points;";
        let paths = ["crates/leverage/src/exact.rs", "crates/leverage/src/squeak/mod.rs", "crates/krr/src/exact.rs"];
        let found = kernels_stay_where_points_are(&Tree::of(&paths.map(|path| (path, text))));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), (paths[0], 1));
    }

    #[test]
    fn products_are_found_where_they_are_not_counted() {
        let text = "fn f() { faer::linalg::matmul::matmul(); }";
        let paths = ["crates/krr/src/model.rs", "crates/linalg-core/src/ops.rs"];
        let found = products_are_counted(&Tree::of(&paths.map(|path| (path, text))));
        assert_eq!(found.iter().map(|v| v.path.as_str()).collect::<Vec<_>>(), paths[..1]);
    }

    #[test]
    fn only_loaders_read_files() {
        let text = "use std::fs;\nuse std::env;";
        let tree = Tree::of(&[("crates/data/src/lib.rs", text), ("crates/krr/src/lib.rs", text)]);
        let places: Vec<_> = no_hidden_inputs(&tree).into_iter().map(|v| (v.path, v.line)).collect();
        let expected = [("crates/data/src/lib.rs", 2), ("crates/krr/src/lib.rs", 2), ("crates/krr/src/lib.rs", 1)];
        assert_eq!(places, expected.map(|(path, line)| (path.to_owned(), line)));
    }
}
