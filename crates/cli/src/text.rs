//! Formatting of numbers, names and counts for people.

use nystrom_pipeline::TargetScale;
pub use nystrom_pipeline::{first_names, rounded};

/// Four significant digits: `0.01234`, `12.34`, `1.23e-7`.
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    match value {
        _ if value == 0.0 || !value.is_finite() => format!("{value}"),
        _ if !(1e-3..1e6).contains(&magnitude) => {
            let text = format!("{value:.2e}");
            text.replace(".00e", "e")
        }
        _ => {
            let decimals = (3 - magnitude.log10().floor() as i32).clamp(0, 9) as usize;
            let text = format!("{value:.decimals$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
    }
}

/// How targets on a scale are fitted, unless they are fitted as they are.
pub fn target_scale(scale: TargetScale) -> Option<&'static str> {
    match scale {
        TargetScale::Plain => None,
        TargetScale::Log => Some("fitted as its logarithm; predictions are means of the target"),
        TargetScale::Root => Some("fitted as its square root; predictions are means of the target"),
    }
}

/// `, about 5 min to go`: the time for the share `left` of a work, of which the share `done` took
/// `seconds`; empty if nothing is done yet.
pub fn to_go(seconds: f64, done: f64, left: f64) -> String {
    match done > 0.0 {
        true => format!(", {} to go", duration(seconds * left / done)),
        false => String::new(),
    }
}

/// `512 bytes`, `4.2 kB`, `1.6 GB`.
pub fn bytes(count: u64) -> String {
    let count = count as f64;
    match [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
        .into_iter()
        .find(|(unit, _)| count >= *unit)
    {
        Some((unit, name)) => format!("{:.1} {name}", count / unit),
        None => format!("{count} bytes"),
    }
}

/// `under a second`, `about 40 s`, `about 5 min`, `about 3 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1.0 => "under a second".into(),
        _ if seconds < 100.0 => format!("about {seconds:.0} s"),
        _ if seconds < 6000.0 => format!("about {:.0} min", seconds / 60.0),
        _ => format!("about {:.0} h", seconds / 3600.0),
    }
}

/// `"a", "b"`.
pub fn names(names: &[impl std::fmt::Debug]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// The name of a value on the command line.
pub fn option(value: &impl clap::ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// `1 row`, `20 rows`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// The most items that are printed on a line each.
const LINES: usize = 20;

/// One line for each item; if there are more than [`LINES`], one line with their number and the
/// first three.
pub fn few(all: &[impl std::fmt::Display], what: &str) -> Vec<String> {
    let words = |some: &[_]| some.iter().map(ToString::to_string).collect::<Vec<String>>();
    if all.len() <= LINES {
        return words(all);
    }
    let first = words(&all[..3]).join("; ");
    vec![format!("{} {what}: {first}; and {} more (--json lists all)", all.len(), all.len() - 3)]
}
