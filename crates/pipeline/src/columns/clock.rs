//! The pieces of a text that may be a date, and times of day with their offset from UTC.

use jiff::civil::Time;
use jiff::{Span, SpanTotal, Unit};

/// The seconds of a day.
const DAY: i64 = 86_400;

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Number(&'a str),
    Word(&'a str),
    Mark(char),
}

/// Whether a word names UTC.
pub(super) fn is_utc(word: &str) -> bool {
    ["Z", "UTC", "GMT"].iter().any(|name| name.eq_ignore_ascii_case(word))
}

/// A time of day and its offset from UTC in seconds.
pub(super) fn of_clock(tokens: &[Token<'_>]) -> Option<(Time, i64)> {
    let number = |digits: &str| digits.parse::<i8>().ok().filter(|_| digits.len() <= 2);
    let [Token::Number(hour), Token::Mark(':'), Token::Number(minute), rest @ ..] = tokens else {
        return None;
    };
    let (mut hour, minute) = (number(hour)?, number(minute)?);
    let (second, rest) = match rest {
        [Token::Mark(':'), Token::Number(second), rest @ ..] => (number(second)?, rest),
        rest => (0, rest),
    };
    let (nanoseconds, mut rest) = match rest {
        [Token::Mark('.' | ','), Token::Number(digits), rest @ ..] => {
            let digits: String = digits.chars().chain("000000000".chars()).take(9).collect();
            (digits.parse().ok()?, rest)
        }
        rest => (0, rest),
    };
    if let Some((half, behind)) = half_of_day(behind_blanks(rest)) {
        (hour, rest) = match (half, hour) {
            (0, 1..=11) | (12, 12) => (hour, behind),
            (0, 12) => (0, behind),
            (12, 1..=11) => (hour + 12, behind),
            _ => (hour, rest),
        };
    }
    let offset = match behind_blanks(rest) {
        [] => 0,
        [Token::Word(word)] if is_utc(word) => 0,
        [Token::Mark(sign @ ('+' | '-')), Token::Number(hours)] => of_offset(*sign, hours, "")?,
        [
            Token::Mark(sign @ ('+' | '-')),
            Token::Number(hours),
            Token::Mark(':'),
            Token::Number(minutes),
        ] => of_offset(*sign, hours, minutes)?,
        _ => return None,
    };
    // a leap second
    let second = second.min(59);
    if (hour, minute, second, nanoseconds) == (24, 0, 0, 0) {
        // the end of a day is the start of the next
        return Some((Time::midnight(), offset - DAY));
    }
    Some((Time::new(hour, minute, second, nanoseconds).ok()?, offset))
}

/// A duration of several units in seconds, such as `14h 38m`, `1 days 06:26:19` and `PT3H2M`, or a
/// time of day such as `2:30 PM`, in seconds since midnight.
pub(super) fn duration(text: &str) -> Option<f64> {
    if text.len() > 48 || !text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let half = |token: &Token<'_>| matches!(token, Token::Word(w) if is_half(w));
    let dotted = text.to_ascii_lowercase().replace("a.m.", "am").replace("p.m.", "pm");
    let text = if dotted.ends_with("am") || dotted.ends_with("pm") { &*dotted } else { text };
    if let Some(tokens) = tokens(text).filter(|tokens| tokens.iter().any(half)) {
        let (time, offset) = of_clock(&tokens)?;
        let since = time.duration_since(Time::midnight());
        return (offset == 0).then(|| since.as_secs_f64());
    }
    // as pandas writes what is negative: `-1 days +23:30:00`
    if let Some((days, clock)) = text.split_once(" days +") {
        let days: f64 = days.parse().ok()?;
        return Some(days * DAY as f64 + duration(clock)?);
    }
    let clock = || format!("0 days {text}");
    let span: Span = text.parse().or_else(|_| clock().parse()).ok()?;
    // months and years have no length
    span.total(SpanTotal::from(Unit::Second).days_are_24_hours()).ok()
}

/// Whether a text is a duration that needs more than a number and a unit.
pub(super) fn is_compound(text: &str) -> bool {
    let numbers = |tokens: Vec<Token<'_>>| {
        tokens.iter().filter(|token| matches!(token, Token::Number(_))).count()
    };
    text.starts_with(['P', 'p']) || tokens(text).is_some_and(|tokens| numbers(tokens) > 1)
}

fn behind_blanks<'a, 'b>(mut tokens: &'a [Token<'b>]) -> &'a [Token<'b>] {
    while let [Token::Mark(' '), behind @ ..] = tokens {
        tokens = behind;
    }
    tokens
}

/// The first hour of the half of the day that `am` or `a.m.` names, and the tokens after it.
fn half_of_day<'a, 'b>(tokens: &'a [Token<'b>]) -> Option<(i8, &'a [Token<'b>])> {
    let begins = |word: &str| if word.starts_with(['a', 'A']) { 0 } else { 12 };
    match tokens {
        [Token::Word(word), behind @ ..] if is_half(word) => Some((begins(word), behind)),
        [Token::Word(half), Token::Mark('.'), Token::Word("m" | "M"), behind @ ..]
            if ["a", "p"].iter().any(|one| one.eq_ignore_ascii_case(half)) =>
        {
            let dot: &[Token<'_>] = &[Token::Mark('.')];
            let behind = behind.strip_prefix(dot).unwrap_or(behind);
            Some((begins(half), behind))
        }
        _ => None,
    }
}

fn is_half(word: &str) -> bool {
    ["am", "pm"].iter().any(|half| half.eq_ignore_ascii_case(word))
}

fn of_offset(sign: char, hours: &str, minutes: &str) -> Option<i64> {
    let all = format!("{hours}{minutes}");
    let (hours, minutes) = match all.len() {
        1 | 2 => (all.parse::<i64>().ok()?, 0),
        4 => (all[..2].parse().ok()?, all[2..].parse().ok()?),
        _ => return None,
    };
    let seconds = 3600 * hours + 60 * minutes;
    (hours <= 15 && minutes < 60).then_some(if sign == '-' { -seconds } else { seconds })
}

pub(super) fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let (mut rest, mut found) = (text, Vec::new());
    while let Some(c) = rest.chars().next() {
        let run = |is: fn(&char) -> bool| rest.chars().take_while(is).count();
        let length = match c {
            _ if c.is_ascii_digit() => run(char::is_ascii_digit),
            _ if c.is_ascii_alphabetic() => run(char::is_ascii_alphabetic),
            '-' | '/' | '.' | ':' | ',' | '+' => 1,
            c if c.is_ascii_whitespace() => {
                found.push(Token::Mark(' '));
                rest = rest.trim_start();
                continue;
            }
            _ => return None,
        };
        let (piece, behind) = rest.split_at(length);
        found.push(match c {
            _ if c.is_ascii_digit() => Token::Number(piece),
            _ if c.is_ascii_alphabetic() => Token::Word(piece),
            mark => Token::Mark(mark),
        });
        rest = behind;
    }
    Some(found)
}
