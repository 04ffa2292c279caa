//! The pieces of a text that may be a date, and times of day with their offset from UTC.

use jiff::civil::Time;

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
    while let [Token::Mark(' '), behind @ ..] = rest {
        rest = behind;
    }
    if let [Token::Word(word), behind @ ..] = rest {
        let half = word.to_ascii_lowercase();
        match (&*half, hour) {
            ("am", 1..=11) => rest = behind,
            ("am", 12) => (hour, rest) = (0, behind),
            ("pm", 1..=11) => (hour, rest) = (hour + 12, behind),
            ("pm", 12) => rest = behind,
            _ => {}
        }
    }
    while let [Token::Mark(' '), behind @ ..] = rest {
        rest = behind;
    }
    let offset = match rest {
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
    // the end of a day
    let (hour, second) = (if hour == 24 { 0 } else { hour }, second.min(59));
    Some((Time::new(hour, minute, second, nanoseconds).ok()?, offset))
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
