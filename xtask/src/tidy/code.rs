//! What a line, a file, a function and a method look like.

use std::collections::BTreeSet;

use super::Found;
use super::tree::{Tree, code, find};
use crate::width::{MOST_COLUMNS, width};

const MOST_LINES: usize = 400;

/// No Rust file is longer than 400 lines.
pub fn files_are_short(tree: &Tree, found: &mut Found) {
    for (path, text) in tree.files("", ".rs") {
        let lines = text.lines().count();
        if lines > MOST_LINES {
            let text = format!("{lines} lines, more than {MOST_LINES}");
            found.add(path, MOST_LINES + 1, format!("{text}: one idea per file, split it"));
        }
    }
}

/// No line of Markdown or of a comment is wider than 100 columns, where it can be broken: table
/// rows, links, measured numbers and what a program prints cannot. For code rustfmt sees to it.
pub fn lines_are_short(tree: &Tree, found: &mut Found) {
    for (path, text) in tree.files("", ".rs").chain(tree.files("", ".md")) {
        let mut printed = false; // between "```text" and "```"
        for (i, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                printed = line == "```text";
            }
            let is_code = path.ends_with(".rs") && !line.trim_start().starts_with("//");
            let words = line.trim_start_matches([' ', '/', '!']);
            let whole = ["](", "://", "<!-- number:"].iter().any(|mark| words.contains(mark));
            let can_break = !(is_code || printed || whole || words.starts_with('|'));
            if can_break && width(line) > MOST_COLUMNS {
                let text = format!("{} columns, more than {MOST_COLUMNS}", width(line));
                found.add(path, i + 1, format!("{text}: break the line"));
            }
        }
    }
}

/// A generator is `rng: &mut dyn Rng`, the last argument, and no field of a struct.
pub fn generators_are_arguments(tree: &Tree, found: &mut Found) {
    let last = r"(&mut )?dyn (?:\w+::)*Rng\b(,?\s*\))?";
    let typed = r": (?:&mut )?(?:impl |\w+<)?(?:\w+::)*(?:\w*Rng|Pcg\d\w*)\b";
    for (path, text) in tree.library_sources() {
        for (line, named) in find(&code(text), &format!("{last}|{typed}")) {
            if named.get(1).is_none() || named.get(2).is_none() {
                let text = "a generator is the last argument, `rng: &mut dyn Rng`, and never \
                            stored: keep a key, `Streams`";
                found.add(path, line, text);
            }
        }
    }
}

/// Every public type that selects landmarks, estimates scores or is a regression (`…Krr`) has
/// `# Cost`; the first two also `# Source`.
pub fn methods_have_cost_and_source(tree: &Tree, found: &mut Found) {
    let stage = r"(?m)^impl.* (?:LandmarkSelector|RidgeLeverage)<\w+> for (\w+)";
    let stages = tree.library_sources().flat_map(|(_, text)| find(text, stage));
    let stages: BTreeSet<&str> = stages.map(|(_, stage)| stage.extract::<1>().1[0]).collect();
    for (path, text) in tree.library_sources() {
        for (line, defined) in find(text, r"(?m)((?:^(?:///|#\[).*\n)*)^pub struct (\w+)") {
            let (_, [documentation, name]) = defined.extract();
            let is_stage = stages.contains(name);
            let sections = [
                ("# Cost", "entries of K, flops, memory", is_stage || name.ends_with("Krr")),
                ("# Source", "paper, algorithm", is_stage),
            ];
            for (heading, what, needed) in sections {
                if needed && !documentation.contains(&format!("/// {heading}\n")) {
                    let text = format!("`{name}` is a method: its docs need `{heading}` ({what})");
                    found.add(path, line + documentation.lines().count(), text);
                }
            }
        }
    }
}

/// The lines of a library's `lib.rs` that have clippy refuse what `clippy.toml` lists.
const LISTED: [&str; 2] = [
    "#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]\n",
    "#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]\n",
];

/// Every package takes the workspace's lints, which refuse an undocumented public item; every
/// library those of `clippy.toml`.
pub fn lints_are_switched_on(tree: &Tree, found: &mut Found) {
    let inherited = ["[lints]\nworkspace = true\n"];
    for (file, wanted) in [("/Cargo.toml", &inherited[..]), ("/src/lib.rs", &LISTED)] {
        for (path, text) in tree.files("crates/", file) {
            for lines in wanted.iter().filter(|lines| !text.contains(**lines)) {
                found.add(path, 0, format!("lacks {lines:?}: lints do not check it"));
            }
        }
    }
}
