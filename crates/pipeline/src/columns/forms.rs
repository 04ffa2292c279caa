//! Dates of other forms (quarters, weeks, those that programs write), and the words in dates.

use jiff::civil::{ISOWeekDate, Weekday};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A date of another form in the form of [`TimeFormat`](super::time::TimeFormat): a quarter or a
/// week as its first day, and a date of `ctime` or of a web server with the time after the date.
pub(super) fn plain_date(text: &str) -> Option<String> {
    let marked = text.contains(['q', 'Q', 'w', 'W']) || text.matches(':').count() > 1;
    if !marked || text.len() > 48 || !text.is_ascii() {
        return None;
    }
    let upper = text.to_ascii_uppercase();
    let words: Vec<&str> = upper.split([' ', '-', ':']).filter(|word| !word.is_empty()).collect();
    let numbered = |word: &str, mark| word.strip_prefix(mark)?.parse::<i8>().ok();
    // 2019-Q3, 2019Q3, Q3 2019
    let split = match words[..] {
        [one] if one.is_ascii() && one.len() > 4 => vec![&one[..4], &one[4..]],
        _ => words.clone(),
    };
    if let [a, b] = split[..] {
        let quarter = |year: &str, of: &str| {
            let quarter = numbered(of, 'Q').filter(|q| (1..=4).contains(q))?;
            Some(format!("{}-{:02}", year_of(year)?, 3 * quarter - 2))
        };
        if let Some(found) = quarter(a, b).or_else(|| quarter(b, a)) {
            return Some(found);
        }
    }
    // 2019-W09, 2019W09, 2019-W09-3
    if let [of, week, ref day @ ..] = split[..]
        && let (Some(year), Some(week)) = (year_of(of), numbered(week, 'W'))
        && day.len() < 2
    {
        let day = day.first().map_or(Some(1), |day| day.parse().ok())?;
        let day = Weekday::from_monday_one_offset(day).ok()?;
        return ISOWeekDate::new(year, week, day).ok().map(|date| date.date().to_string());
    }
    let parts: Vec<&str> = text.split_whitespace().collect();
    let clock = |word: &str| word.contains(':') && word.starts_with(|c: char| c.is_ascii_digit());
    match parts[..] {
        // Fri Mar 15 04:41:45 +0000 2019
        [_, month, day, time, ref zone @ .., year]
            if clock(time)
                && zone.len() < 2
                && named(month).is_some()
                && year_of(year).is_some() =>
        {
            Some(format!("{day} {month} {year} {time}{}", zone.first().unwrap_or(&"")))
        }
        // 15/Mar/2019:04:41:45 +0000
        [date, ref zone @ ..] if zone.len() < 2 && date.matches(':').count() == 3 => {
            let (date, time) = date.split_once(':')?;
            let is_date = date.matches('/').count() == 2;
            is_date.then(|| format!("{date} {time}{}", zone.first().unwrap_or(&"")))
        }
        _ => None,
    }
}

/// A year of four digits.
fn year_of(word: &str) -> Option<i16> {
    word.parse().ok().filter(|_| word.len() == 4)
}

/// The meaning of a word in a date.
pub(super) enum DateWord {
    Month(u32),
    /// The name of a day, or the ending of its number, as in `3rd`.
    Nothing,
}

pub(super) fn named(word: &str) -> Option<DateWord> {
    let word = word.to_ascii_lowercase();
    let is = |name: &str| word.starts_with(name) && (word.len() == 3 || is_whole(&word));
    if let Some(month) = MONTHS.iter().position(|name| is(name)) {
        return Some(DateWord::Month(month as u32 + 1));
    }
    let nothing = DAYS.iter().any(|name| is(name)) || matches!(&*word, "st" | "nd" | "rd" | "th");
    nothing.then_some(DateWord::Nothing)
}

/// Whether this is the whole name of a month or day.
fn is_whole(word: &str) -> bool {
    const WHOLE: &str = "january february march april may june july august september sept october \
                         november december monday tuesday tues wednesday thursday thur thurs \
                         friday saturday sunday";
    WHOLE.split_whitespace().any(|name| name == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_forms_are_written_plainly() {
        for (texts, plain) in [
            (&["2019Q3", "2019-Q3", "Q3 2019", "q3-2019"][..], "2019-07"),
            (&["2019-W09", "2019W09", "2019-W09-1"], "2019-02-25"),
            (&["2019-W09-7"], "2019-03-03"),
            (&["Fri Mar 15 04:41:45 +0000 2019"], "15 Mar 2019 04:41:45+0000"),
            (&["Fri Mar 15 04:41:45 2019"], "15 Mar 2019 04:41:45"),
            (&["15/Mar/2019:04:41:45 +0000"], "15/Mar/2019 04:41:45+0000"),
        ] {
            for text in texts {
                assert_eq!(plain_date(text).as_deref(), Some(plain), "{text}");
            }
        }
        for other in ["2019-W60", "2019Q5", "Q", "W", "2019-03-15 10:20:30", "a:b:c", "12:30:15"] {
            assert_eq!(plain_date(other), None, "{other}");
        }
    }
}
