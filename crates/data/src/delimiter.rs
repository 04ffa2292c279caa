//! The delimiter of fields, and guessing it from the beginning of a file.

/// What separates fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    /// This ASCII character.
    At(u8),
    /// Runs of blanks and tabs.
    WhiteSpace,
    /// To be guessed from the first lines.
    Guess,
}

/// The first of tab, semicolon, vertical bar, comma and white space that splits all lines into the
/// same number of fields.
///
/// The semicolon is tried before the comma because commas may be decimal ones. If no delimiter
/// splits the lines evenly, the guess is the character that is most frequent in the first line, or
/// the comma if the line has none of them.
pub(crate) fn guess(lines: &[&str]) -> Split {
    const CHARACTERS: [Split; 4] =
        [Split::At(b'\t'), Split::At(b';'), Split::At(b'|'), Split::At(b',')];
    let lines: Vec<&str> = lines.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    let Some(first) = lines.first() else { return Split::At(b',') };
    let even = |split: &Split| {
        let width = fields(first, *split);
        width > 1 && lines.iter().all(|line| fields(line, *split) == width)
    };
    // the last of equals: the comma
    let most = CHARACTERS.into_iter().max_by_key(|split| fields(first, *split));
    let found = CHARACTERS.into_iter().chain([Split::WhiteSpace]).find(even);
    found.or(most).unwrap_or(Split::At(b','))
}

/// The structure of the first lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Beginning {
    /// Number of lines before the header: `sep=;`, titles, comments.
    pub skipped: u64,
    /// The delimiter that was found.
    pub split: Option<Split>,
    /// Whether rows have one field more than the header; their first field is then a row name.
    pub row_names: bool,
    /// Whether the header is a comment, as `numpy.savetxt` writes it.
    pub commented: bool,
}

impl Beginning {
    /// Finds the structure of a file with these first lines. `asked` is its delimiter, or
    /// [`Split::Guess`].
    ///
    /// The header is the first line such that it and all lines after it have the same number of
    /// fields. The lines before it are skipped. If there is no such line, the first line is the
    /// header.
    pub fn of(lines: &[&str], asked: Split) -> Beginning {
        let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
        let excel = lines.get(first).and_then(|line| separator(line));
        let (start, asked) = match (excel, asked) {
            (Some(mark), Split::Guess) => (first + 1, Split::At(mark)),
            (Some(_), asked) => (first + 1, asked),
            (None, asked) => (0, asked),
        };
        let rest = &lines[start.min(lines.len())..];
        let candidates = match asked {
            Split::Guess => vec![
                Split::At(b'\t'),
                Split::At(b';'),
                Split::At(b'|'),
                Split::At(b','),
                Split::WhiteSpace,
            ],
            asked => vec![asked],
        };
        // a quoted field may run over several lines, and then numbers of fields say nothing
        let broken = rest.iter().any(|line| line.bytes().filter(|b| *b == b'"').count() % 2 == 1);
        if !broken {
            for skipped in 0..rest.len().saturating_sub(1) {
                for &split in &candidates {
                    let titles = &rest[..skipped];
                    let width = rest.get(skipped).map_or(0, |line| fields(line, split));
                    let short = |line: &&str| {
                        is_comment(line) || fields(line, split) < width || is_padded(line, split)
                    };
                    let found = even(&rest[skipped..], split).filter(|row_names| {
                        titles.iter().all(short) && !(*row_names && skipped > 0)
                    });
                    if let Some(row_names) = found {
                        // a comment `# x,y` above rows of numbers is the header
                        let commented = !row_names
                            && titles
                                .last()
                                .is_some_and(|line| is_header_comment(line, split, width))
                            && rest[skipped].split(|c| is_mark(c, split)).any(is_number);
                        let skipped = if commented { skipped - 1 } else { skipped };
                        let before = rest[..skipped].iter().all(|line| line.trim().is_empty());
                        let skipped = if before { 0 } else { skipped };
                        let (skipped, split) = ((start + skipped) as u64, Some(split));
                        return Beginning { skipped, split, row_names, commented };
                    }
                }
            }
        }
        let split = (excel.is_some()).then_some(asked);
        Beginning { skipped: start as u64, split, ..Beginning::default() }
    }
}

/// `Some(false)` if all lines have the same number of fields, at least two. `Some(true)` if all but
/// the first have one field more, a row name. `None` otherwise.
fn even(lines: &[&str], split: Split) -> Option<bool> {
    let lines: Vec<&str> = lines.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    let (header, rows) = lines.split_first()?;
    // a title such as `Sales of May,,` above a header
    let title =
        |row: &&str| !is_padded(row, split) && !row.split(|c| is_mark(c, split)).any(is_number);
    if is_padded(header, split) && rows.iter().take(TITLES).any(title) {
        return None;
    }
    let width = fields(header, split);
    let of_rows =
        |width: usize| !rows.is_empty() && rows.iter().all(|row| fields(row, split) == width);
    if width > 1 && of_rows(width) && !is_comment(header) {
        return Some(false);
    }
    // rows may end in empty fields
    if let Split::At(mark) = split {
        let trimmed = |line: &str| fields(line.trim_end_matches(char::from(mark)), split);
        let width = trimmed(header);
        if width > 1 && rows.iter().all(|row| trimmed(row) == width) && !is_comment(header) {
            return Some(false);
        }
    }
    let number = |row: &&str| {
        let Split::At(delimiter) = split else {
            return row.split_whitespace().skip(1).any(is_number);
        };
        row.split(char::from(delimiter)).skip(1).any(is_number)
    };
    let named = of_rows(width + 1) && rows.first().is_some_and(number) && !is_comment(header);
    named.then_some(true)
}

/// Number of lines after a title among which a header is sought.
const TITLES: usize = 3;

/// Whether a line has three fields or more of which at most one is not empty, as titles in a
/// spreadsheet have.
fn is_padded(line: &str, split: Split) -> bool {
    let Split::At(_) = split else { return false };
    let some = line.split(|c| is_mark(c, split)).filter(|field| !field.trim().is_empty());
    fields(line, split) > 2 && some.count() < 2
}

/// Whether a line is a comment `# …` that holds `width` names.
fn is_header_comment(line: &str, split: Split, width: usize) -> bool {
    let Some(names) = line.trim_start().strip_prefix('#') else { return false };
    fields(names.trim(), split) == width && !names.split(|c| is_mark(c, split)).any(is_number)
}

fn is_mark(c: char, split: Split) -> bool {
    match split {
        Split::At(mark) => c == char::from(mark),
        _ => c.is_whitespace(),
    }
}

fn is_number(text: &str) -> bool {
    text.trim().trim_matches('"').parse::<f64>().is_ok()
}

/// Whether a line begins like a comment, and not like a header.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["# ", "//", "%", "## "].iter().any(|start| line.starts_with(start))
}

/// The delimiter in a line such as `sep=;`, which tells it to Excel.
fn separator(line: &str) -> Option<u8> {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    match line.trim_matches('"').strip_prefix("sep=")?.as_bytes() {
        [] => Some(b'\t'),
        [mark] if mark.is_ascii() => Some(*mark),
        _ => None,
    }
}

/// The number of fields of a line. Delimiters inside quotes do not count.
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
    fn headers_are_found_behind_titles_and_comments() {
        let of = |text: &str| {
            let lines: Vec<&str> = text.split('\n').collect();
            let found = Beginning::of(&lines, Split::Guess);
            (found.skipped, found.split, found.row_names)
        };
        let comma = Some(Split::At(b','));
        assert_eq!(of("a,b\n1,2\n3,4"), (0, comma, false));
        assert_eq!(of("sep=;\na;b\n1,5;2"), (1, Some(Split::At(b';')), false));
        assert_eq!(of("A title\na,b\n1,2\n3,4"), (1, comma, false));
        assert_eq!(of("# a, b\n# c\na,b\n1,2\n3,4"), (2, comma, false));
        assert_eq!(of("#id,b\n1,2\n3,4"), (0, comma, false));
        assert_eq!(of("Sales, of all\n\na,b,c\n1,2,3\n3,4,5"), (2, comma, false));
        assert_eq!(of("a,y\n1,2\n3,4,5"), (0, None, false));
        assert_eq!(of("x,y\n1,0.5,2\n2,0.25,3"), (0, comma, true));
        assert_eq!(of("a,b\n1,2\n3"), (0, None, false));
        assert_eq!(of("a\n1\n2"), (0, None, false));
        assert_eq!(of("\n\na,b\n1,2"), (0, comma, false));
        assert_eq!(of("Sales of May,,\n,,\na,b,c\n1,2,3\n3,4,5"), (2, comma, false));
        assert_eq!(of("a,,\n1,2,3\n3,4,5"), (0, comma, false));
        assert_eq!(of("# y,x\n1,2\n3,4"), (0, comma, false));
        let commented = |text: &str| {
            let lines: Vec<&str> = text.split('\n').collect();
            Beginning::of(&lines, Split::Guess).commented
        };
        assert!(commented("# y,x\n1,2\n3,4") && commented("# made\n# y,x\n1,red\n3,blue"));
        assert!(!commented("# made by, hand\na,b\n1,2") && !commented("a,b\n1,2"));
    }

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
