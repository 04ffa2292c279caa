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
        TargetScale::Log => Some("fitted as its logarithm; predictions are in its own units"),
        TargetScale::Root => Some("fitted as its square root; predictions are in its own units"),
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

/// The lines of a text, of at most `width` characters unless a word is longer. Breaks are at
/// blanks; other blanks stay.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    joined(text.split(' ').map(str::to_owned), width, "")
}

/// The lines of a command, which a shell reads as one line: each but the last ends with a
/// backslash, and no break is inside quotes.
pub fn wrapped_command(command: &str, width: usize) -> Vec<String> {
    let words = shlex::split(command).unwrap_or_default();
    let quoted = words.iter().map(|word| shlex::try_join([&**word]).unwrap_or_default());
    joined(quoted, width, " \\")
}

/// Words joined by blanks to lines of at most `width` characters, if words allow that. Each line
/// but the last ends with `end`.
fn joined(words: impl IntoIterator<Item = String>, width: usize, end: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let long = |line: &str, word: &str| {
        line.chars().count() + 1 + word.chars().count() + end.chars().count() > width
    };
    for word in words {
        match lines.last_mut() {
            Some(line) if !long(line, &word) => *line += &format!(" {word}"),
            Some(_) if word.is_empty() => {} // a second blank where the line breaks
            Some(line) => {
                line.truncate(line.trim_end().len());
                *line += end;
                lines.push(word);
            }
            None => lines.push(word),
        }
    }
    lines
}

/// `44 % below`, `3 % above`, `no better than`: an error compared with that of a prediction that
/// uses no features. None without a positive finite error to compare with.
pub fn compared(error: f64, baseline: f64) -> Option<String> {
    let percent = 100.0 * (error / baseline - 1.0);
    let size = percent.abs();
    Some(match percent {
        _ if !(baseline > 0.0 && percent.is_finite()) => return None,
        _ if size < 0.5 => "no better than".to_owned(),
        _ if percent < -99.5 && error > 0.0 => format!("{} of", number(error / baseline)),
        _ if percent < 0.0 => format!("{size:.0} % below"),
        _ if percent < 1000.0 => format!("{size:.0} % above"),
        _ => format!("{} times", number(rounded(error / baseline, 2))),
    })
}

/// `RMSE 3.42 (y), 44 % below predicting the mean (6.11)`.
pub fn against_mean(target: &str, rmse: f64, mean_rmse: f64) -> String {
    let error = format!("RMSE {} ({target})", number(rmse));
    match compared(rmse, mean_rmse) {
        Some(than) => format!("{error}, {than} predicting the mean ({})", number(mean_rmse)),
        None => error,
    }
}

/// `9146 rows held out`, where `which` is `held out`.
pub fn rows_of(rows: usize, which: &str) -> String {
    format!("{} {which}", count(rows, "row")).trim_end().to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrapped("one two  three four", 10), ["one two", "three four"]);
        assert_eq!(wrapped("one  two three ", 9), ["one  two", "three "]);
        assert_eq!(wrapped("incomprehensible words", 10), ["incomprehensible", "words"]);
        assert_eq!(wrapped("", 10), [""]);
    }

    #[test]
    fn a_shell_reads_a_wrapped_command_as_one_line() {
        let command = r#"nystrom fit 'my own houses.csv' --target "a \" b" -o it\ is.bin -q"#;
        let words = shlex::split(command).unwrap();
        for width in [1, 10, 20, 35, 200] {
            let lines = wrapped_command(command, width);
            // a shell first takes away a backslash before the end of a line
            let text = lines.join("\n            ").replace("\\\n", "");
            assert_eq!(shlex::split(&text).as_ref(), Some(&words), "{text}");
            assert_eq!(lines.len() == 1, width == 200, "{text}");
            assert!(lines.iter().all(|line| line.len() <= width.max(21)), "{lines:?}");
        }
        assert_eq!(wrapped_command("a b c d", 6), ["a b \\", "c d"]);
    }

    #[test]
    fn errors_are_compared_with_those_of_a_constant() {
        for (error, said) in [
            (0.0, "100 % below"),
            (0.001, "5e-4 of"),
            (1.1, "45 % below"),
            (1.991, "no better than"),
            (2.1, "5 % above"),
            (50.0, "25 times"),
        ] {
            assert_eq!(compared(error, 2.0).as_deref(), Some(said), "{error}");
        }
        for (error, baseline) in [(1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::NAN), (1.0, -1.0)] {
            assert_eq!(compared(error, baseline), None);
        }
    }
}
