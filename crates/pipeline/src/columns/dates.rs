//! Dates, which are refused rather than taken for text with many levels.

/// Whether a text looks like a date: three numbers with the same mark between them. One of them is
/// a year, or the first two are at most 31 and 12. A time of day may follow.
pub(crate) fn is_date(text: &str) -> bool {
    let day = text.trim().split(['T', ' ']).next().unwrap_or_default();
    let Some(mark) = day.chars().find(|c| !c.is_ascii_digit()) else { return false };
    if !"-/.".contains(mark) {
        return false;
    }
    let parts: Vec<&str> = day.split(mark).collect();
    let [a, b, c] = parts[..] else { return false };
    let number = |part: &str| part.parse::<u32>().ok().filter(|_| part.len() <= 4);
    match (number(a), number(b), number(c)) {
        (Some(a), Some(b), Some(c)) => {
            let small = |x: u32, y: u32| (1..=31).contains(&x) && (1..=31).contains(&y);
            (a >= 1000 && small(b, c)) || (small(a, b) && !(100..1000).contains(&c))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn dates_are_told_from_other_texts() {
        for date in
            ["2020-01-31", "2020-01-31T10:00:00Z", "31.12.1999", "12/31/99", "1/2/2020 5:00"]
        {
            assert!(is_date(date), "{date}");
        }
        for other in ["", "red", "1.5", "10-20", "1-2-3-4", "192.168.0.1", "A-1-2020", "2020-99-1"]
        {
            assert!(!is_date(other), "{other}");
        }
    }
}
