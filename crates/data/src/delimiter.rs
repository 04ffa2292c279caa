//! Where the fields of a line end, and a guess of it from the beginning of a file.

/// Where fields end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    /// At this ASCII character.
    At(u8),
    /// At runs of blanks and tabs.
    WhiteSpace,
    /// To be guessed from the first lines.
    Guess,
}

/// The first of tab, semicolon, vertical bar, comma and white space that splits all lines into the
/// same number of fields.
///
/// The semicolon comes before the comma because a comma may be the decimal one. If none splits them
/// evenly, it is the character that the first line has most of, and a comma if it has none.
pub(crate) fn guess(lines: &[&str]) -> Split {
    const CHARACTERS: [Split; 4] =
        [Split::At(b'\t'), Split::At(b';'), Split::At(b'|'), Split::At(b',')];
    let lines: Vec<&str> = lines.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    let Some(first) = lines.first() else { return Split::At(b',') };
    let even = |split: &Split| {
        let width = fields(first, *split);
        width > 1 && lines.iter().all(|line| fields(line, *split) == width)
    };
    // the comma if all are equal
    let most = CHARACTERS.into_iter().max_by_key(|split| fields(first, *split));
    let found = CHARACTERS.into_iter().chain([Split::WhiteSpace]).find(even);
    found.or(most).unwrap_or(Split::At(b','))
}

/// The number of fields of a line; delimiters inside quotes do not count.
fn fields(line: &str, split: Split) -> usize {
    let Split::At(delimiter) = split else { return line.split_whitespace().count() };
    let mut quoted = false;
    let ends = line.bytes().filter(|&byte| {
        quoted ^= byte == b'"';
        byte == delimiter && !quoted
    });
    ends.count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_recognised() {
        for (text, split) in [
            ("a,b\n1,2", Split::At(b',')),
            ("a;b\n1,5;2,5", Split::At(b';')),
            ("1,5;2,5\n1,25;2", Split::At(b';')),
            ("a\tb c\n1,5\t2", Split::At(b'\t')),
            ("a|b\n1|2", Split::At(b'|')),
            ("\n a  b\n0.1   2\n", Split::WhiteSpace),
            ("\"a;b\",c\n1,2", Split::At(b',')),
            ("\"a;b\";c\n1;2", Split::At(b';')),
            ("a, b\n1, 2", Split::At(b',')),
            ("a;b;c\n1;2\n3;4;5", Split::At(b';')), // ragged: an error to come, about semicolons
            ("a b\n1 2\n3", Split::At(b',')),
            ("a\n1\n2", Split::At(b',')),
            ("", Split::At(b',')),
        ] {
            let lines: Vec<&str> = text.split('\n').collect();
            assert_eq!(guess(&lines), split, "{text:?}");
        }
    }
}
