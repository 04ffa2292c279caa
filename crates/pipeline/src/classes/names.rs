//! The names of classes: the texts that are one class, and the order of the classes.

use crate::error::{Error, Result};
use std::collections::HashMap;

/// The largest number of classes.
pub(crate) const MOST_CLASSES: usize = 100;

/// The classes of a target, made of the different texts of its column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Names {
    /// The names as they were read, in increasing order; numbers by value.
    pub names: Vec<String>,
    /// Whether all names are numbers.
    pub numbers: bool,
    /// The class of each text, in the order in which texts were given.
    pub of: Vec<usize>,
    /// Notes about texts that are taken for one class.
    pub notes: Vec<String>,
}

impl Names {
    /// The classes of different texts, each with its number of rows.
    ///
    /// Texts that differ only in case or blanks are one class, and so are equal numbers if all
    /// texts are numbers. The name of a class is the text that most of its rows have.
    ///
    /// # Errors
    /// [`Error::Values`] for one class and for more than 100.
    ///
    /// # Cost
    /// O(L log L) for L texts.
    pub fn of(target: &str, texts: &[(&str, u64)]) -> Result<Names> {
        let numbers = texts.iter().all(|(text, _)| decimal(text).is_some());
        let key = |text: &str| key(text, numbers);
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut classes: Vec<Vec<usize>> = Vec::new();
        for (i, (text, _)) in texts.iter().enumerate() {
            let place = *places.entry(key(text)).or_insert(classes.len());
            if place == classes.len() {
                classes.push(Vec::new());
            }
            classes[place].push(i);
        }
        for alike in &mut classes {
            alike.sort_by(|&i, &j| texts[j].1.cmp(&texts[i].1).then(texts[i].0.cmp(texts[j].0)));
        }
        classes.sort_by(|a, b| ordered(texts[a[0]].0, texts[b[0]].0, numbers));
        check(target, &classes.iter().map(|alike| texts[alike[0]].0).collect::<Vec<_>>())?;
        let mut of = vec![0; texts.len()];
        let mut notes = Vec::new();
        for (class, alike) in classes.iter().enumerate() {
            alike.iter().for_each(|&i| of[i] = class);
            let (name, others) = (texts[alike[0]].0, &alike[1..]);
            if !others.is_empty() {
                let others = crate::error::first_names(others.iter().map(|&i| texts[i].0));
                notes.push(format!(
                    "the target {target:?} spells the class {name:?} as {others} too: taken for \
                     one class"
                ));
            }
        }
        let names = classes.iter().map(|alike| texts[alike[0]].0.to_owned()).collect();
        Ok(Names { names, numbers, of, notes })
    }
}

fn check(target: &str, names: &[&str]) -> Result<()> {
    match names {
        [] | [_] => {
            let what = format!("has the class {:?} in every row", names.first().unwrap_or(&""));
            Err(Error::values(target, what, "take another target"))
        }
        [one, other, ..] if names.len() > MOST_CLASSES => {
            let what = format!(
                "holds {} different values, such as {one:?} and {other:?}; at most {MOST_CLASSES} can be \
                 told apart as classes",
                names.len()
            );
            let remedy = "write the rare ones as one value such as \"other\", or take a column \
                          with fewer values for the target";
            Err(Error::values(target, what, remedy))
        }
        _ => Ok(()),
    }
}

/// The key that all names of one class share.
pub(crate) fn key(name: &str, numbers: bool) -> String {
    let number = if numbers { decimal(name) } else { None };
    number.unwrap_or_else(|| {
        let words: Vec<&str> = name.split_whitespace().collect();
        words.join(" ").to_lowercase()
    })
}

/// The order of two names: numbers by their exact value, texts by their characters.
fn ordered(a: &str, b: &str, numbers: bool) -> std::cmp::Ordering {
    if !numbers {
        return a.cmp(b);
    }
    let value = |text: &str| text.trim().parse::<f64>().unwrap_or(f64::NAN);
    let digits = |text: &str| {
        let digits = text.trim().trim_start_matches(['-', '+']).trim_start_matches('0');
        (digits.len(), digits.to_owned())
    };
    let rounded = value(a).total_cmp(&value(b));
    // whole numbers that are equal after rounding
    let exact = if value(a) < 0.0 { digits(b).cmp(&digits(a)) } else { digits(a).cmp(&digits(b)) };
    rounded.then(exact)
}

/// The exact value of a decimal number as text, which is the same for equal numbers only, with any
/// number of digits. `None` for other texts and for numbers beyond `f64`.
pub(super) fn decimal(text: &str) -> Option<String> {
    let text = text.trim();
    text.parse::<f64>().ok().filter(|value| value.is_finite())?;
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let exponent = exponent.parse::<i64>().ok()? + (digits.len() - significant.len()) as i64
        - fraction.len() as i64;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    Some(format!("{sign}{significant}e{exponent}"))
}

/// A text that is a finite number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[(&str, u64)]) -> Names {
        Names::of("y", texts).unwrap()
    }

    #[test]
    fn numbers_are_sorted_by_value_and_keep_their_spelling() {
        let names = found(&[("10", 1), ("9", 1), ("1e5", 1), ("00501", 1), ("-0.5", 1)]);
        assert_eq!(names.names, ["-0.5", "9", "10", "00501", "1e5"]);
        assert!(names.numbers && names.notes.is_empty());
        assert_eq!(names.of, [2, 1, 4, 3, 0]);
        // one text among them, and all are texts
        let names = found(&[("10", 1), ("9", 1), ("many", 1)]);
        assert!(!names.numbers);
        assert_eq!(names.names, ["10", "9", "many"]);
    }

    #[test]
    fn equal_numbers_are_one_class_and_neighbours_beyond_2_53_are_not() {
        let names = found(&[("1", 3), ("1.0", 5), ("2", 4), ("+2.00", 1)]);
        assert_eq!(names.names, ["1.0", "2"]);
        assert_eq!(names.of, [0, 0, 1, 1]);
        assert_eq!(names.notes.len(), 2);
        let ids = ["9007199254740993", "9007199254740992", "9007199254740994"];
        assert_eq!(found(&ids.map(|id| (id, 2))).names, [ids[1], ids[0], ids[2]]);
        for (a, b) in [("1e5", "100000"), ("0", "-0.0"), (".5", "5e-1"), ("1.50", "15E-1")] {
            assert_eq!(decimal(a), decimal(b), "{a} {b}");
        }
        for text in ["", "x", "1e999", "inf", "NaN", "0x10", "1_000", "--1"] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn case_and_blanks_make_no_class() {
        let names = found(&[("Yes", 2), ("yes", 7), ("no", 3), ("YES ", 1), ("not  now", 1)]);
        assert_eq!(names.names, ["no", "not  now", "yes"]);
        assert_eq!(names.of, [2, 2, 0, 2, 1]);
        assert!(names.notes[0].contains("\"yes\"") && names.notes[0].contains("\"Yes\""));
    }

    #[test]
    fn sixty_thousand_names_are_refused_at_once() {
        let names: Vec<String> = (0..60_000).map(|i| format!("name {i}")).collect();
        let texts: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let error = Names::of("y", &texts).unwrap_err().to_string();
        for part in ["60000", "\"name 0\"", "\"name 1\"", "at most 100", "other"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
