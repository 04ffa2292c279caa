//! Dates and times; all cells of a column determine its format.

use super::cell::bare;
use super::clock::{Token, is_utc, of_clock, tokens};
use super::forms::{DateWord, named, plain_date};
use jiff::civil::{Date, DateTime, Time};
use serde::{Deserialize, Serialize};

/// The order of the parts of dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    YearMonthDay,
    YearDayMonth,
    DayMonthYear,
    MonthDayYear,
    /// Without a day: the first day of the month.
    YearMonth,
    MonthYear,
}

/// How the cells of a column are read as instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeFormat {
    pub order: Order,
    /// Whether all cells are also dates with day and month exchanged, so that an option decides.
    pub ambiguous: bool,
}

/// The parts of a date in their order, and the time of day with its offset from UTC in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Parts {
    /// The numbers in their order; a month that is a name is 0.
    numbers: [u32; 3],
    count: usize,
    /// The number of digits of each number.
    lengths: [usize; 3],
    /// The place and the number of a month that is written as a name.
    month: Option<(usize, u32)>,
    time: Option<Time>,
    offset: i64,
    /// A mark between numbers.
    mark: char,
}

/// Years of two digits are 19xx from this one on, otherwise 20xx.
const PIVOT: u32 = 69;

impl TimeFormat {
    /// The format of these different texts, if all are dates; `day_first` decides where day and
    /// month could be either.
    pub fn of_all<'a>(
        texts: impl Iterator<Item = &'a str> + Clone,
        day_first: bool,
    ) -> Option<TimeFormat> {
        let first = Parts::of(texts.clone().next()?)?;
        let orders: Vec<Order> = first
            .orders(day_first)
            .into_iter()
            .filter(|order| {
                texts.clone().all(|text| {
                    Parts::of(text).is_some_and(|parts| parts.instant(*order).is_some())
                })
            })
            .collect();
        let order = *orders.first()?;
        // `19-03-01`: dates of a table are near each other
        let span = |order: Order| {
            let instants = texts.clone().filter_map(|text| Parts::of(text)?.instant(order));
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            let (from, to) = instants.fold(ends, |(a, b), t| (a.min(t), b.max(t)));
            to - from
        };
        let year_first = Order::YearMonthDay;
        if orders.contains(&year_first) && span(year_first) < span(order) {
            return Some(TimeFormat { order: year_first, ambiguous: false });
        }
        let either = [Order::DayMonthYear, Order::MonthDayYear];
        // points are written between day, month and year
        let ambiguous = first.mark != '.' && either.iter().all(|order| orders.contains(order));
        Some(TimeFormat { order, ambiguous })
    }

    /// Seconds since 1970 began in UTC, or in the local time of the column.
    pub fn instant(self, text: &str) -> Option<f64> {
        Parts::of(text)?.instant(self.order)
    }

    /// The order of the parts, in words.
    pub fn describe(self) -> &'static str {
        self.order.parts().1
    }
}

impl Order {
    /// The positions of year, month and day, and the order in words.
    fn parts(self) -> ((usize, usize, Option<usize>), &'static str) {
        match self {
            Order::YearMonthDay => ((0, 1, Some(2)), "year, month, day"),
            Order::YearDayMonth => ((0, 2, Some(1)), "year, day, month"),
            Order::DayMonthYear => ((2, 1, Some(0)), "day, month, year"),
            Order::MonthDayYear => ((2, 0, Some(1)), "month, day, year"),
            Order::YearMonth => ((0, 1, None), "year, month"),
            Order::MonthYear => ((1, 0, None), "month, year"),
        }
    }
}

/// The seconds since 1970 of a whole number such as 20190131.
pub(super) fn of_digits(value: f64) -> Option<f64> {
    if value.fract() != 0.0 || !(19_000_101.0..=21_001_231.0).contains(&value) {
        return None;
    }
    let number = value as u32;
    seconds(date(number / 10_000, number / 100 % 100, number % 100)?, None, 0)
}

impl Parts {
    /// The parts of a text that is a date, with or without a time of day.
    fn of(text: &str) -> Option<Parts> {
        let rewritten = plain_date(bare(text));
        let text = rewritten.as_deref().unwrap_or(bare(text));
        // longer texts are no dates
        if text.len() < 5 || text.len() > 48 || !text.is_ascii() {
            return None;
        }
        let tokens = tokens(text)?;
        let begin =
            tokens.windows(2).position(|pair| matches!(pair, [Token::Number(_), Token::Mark(':')]));
        let (mut date, clock) = match begin {
            Some(place) => tokens.split_at(place),
            None => (&tokens[..], &[][..]),
        };
        let (time, mut offset) = match clock {
            [] => (None, Some(0)),
            clock => of_clock(clock).map(|(time, offset)| (Some(time), Some(offset)))?,
        };
        while let Some((Token::Mark(' ' | ',') | Token::Word("t" | "T"), rest)) = date.split_last()
        {
            date = rest;
        }
        // 2020-01-31Z
        if let (None, [rest @ .., Token::Word(word)]) = (time, date)
            && is_utc(word)
        {
            (date, offset) = (rest, Some(0));
        }
        let compact = Parts::compact(date, (time, clock.is_empty()));
        compact.or_else(|| Parts::of_date(date, time, offset.unwrap_or(0)))
    }

    /// The parts before any is read.
    fn at(time: Option<Time>, offset: i64) -> Parts {
        let (numbers, count, lengths, month, mark) = ([0; 3], 0, [0; 3], None, ' ');
        Parts { numbers, count, lengths, month, time, offset, mark }
    }

    /// `20190131`, and `20190131T101500`.
    fn compact(date: &[Token<'_>], (time, alone): (Option<Time>, bool)) -> Option<Parts> {
        let (digits, behind) = match date {
            [Token::Number(digits)] => (*digits, None),
            [Token::Number(digits), Token::Word("T" | "t"), Token::Number(behind), ..] if alone => {
                (*digits, Some(*behind))
            }
            _ => return None,
        };
        if digits.len() != 8 || !(digits.starts_with("19") || digits.starts_with("20")) {
            return None;
        }
        let part = |from: usize, to: usize| digits.get(from..to)?.parse::<u32>().ok();
        let time = match behind {
            Some(behind) if behind.len() == 6 => {
                let part = |from: usize| behind.get(from..from + 2)?.parse::<i8>().ok();
                Some(Time::new(part(0)?, part(2)?, part(4)?, 0).ok()?)
            }
            Some(_) => return None,
            None => time,
        };
        Some(Parts {
            numbers: [part(0, 4)?, part(4, 6)?, part(6, 8)?],
            count: 3,
            lengths: [4, 2, 2],
            mark: '-',
            ..Parts::at(time, 0)
        })
    }

    fn of_date(date: &[Token<'_>], time: Option<Time>, offset: i64) -> Option<Parts> {
        let mut parts = Parts::at(time, offset);
        for token in date {
            match *token {
                Token::Number(digits) if parts.count < 3 && digits.len() <= 4 => {
                    parts.numbers[parts.count] = digits.parse().ok()?;
                    parts.lengths[parts.count] = digits.len();
                    parts.count += 1;
                }
                Token::Word(word) => match named(word) {
                    Some(DateWord::Month(month)) if parts.month.is_none() && parts.count < 3 => {
                        parts.month = Some((parts.count, month));
                        parts.count += 1;
                    }
                    Some(DateWord::Nothing) => {}
                    _ => return None,
                },
                // `7.5/10` is no date
                Token::Mark(mark @ ('-' | '/' | '.')) if [mark, ' '].contains(&parts.mark) => {
                    parts.mark = mark;
                }
                Token::Mark(' ' | ',') => {}
                _ => return None,
            }
        }
        let sound = match (parts.count, parts.month) {
            (3, Some(_)) => true,
            (3, None) => parts.mark != ' ',
            // a month and a year; numbers alone only as 2020-01
            (2, Some((place, _))) => place == 0 || parts.lengths[0] == 4,
            (2, None) => {
                let of = |length| parts.lengths.iter().position(|other| *other == length);
                let year = of(4).map(|place| parts.numbers[place]);
                let sound = year.is_some_and(|year| (1800..2200).contains(&year));
                sound && of(2).is_some() && matches!(parts.mark, '-' | '/')
            }
            _ => false,
        };
        sound.then_some(parts)
    }

    /// The possible orders of a date of this form, the likeliest first.
    fn orders(&self, day_first: bool) -> Vec<Order> {
        use Order::*;
        match (self.count, self.month) {
            (2, Some((0, _))) => vec![MonthYear],
            (2, Some(_)) => vec![YearMonth],
            (2, None) if self.lengths[0] == 2 => vec![MonthYear],
            (2, None) => vec![YearMonth],
            (_, Some((0, _))) => vec![MonthDayYear],
            (_, Some((1, _))) if self.lengths[0] == 4 => vec![YearMonthDay],
            (_, Some((1, _))) => vec![DayMonthYear],
            (_, Some(_)) => vec![YearDayMonth],
            _ if self.lengths[0] == 4 => vec![YearMonthDay, YearDayMonth],
            _ => {
                let mut orders = vec![MonthDayYear, DayMonthYear];
                if day_first || self.mark == '.' {
                    orders.reverse();
                }
                if self.lengths == [2; 3] {
                    orders.push(YearMonthDay);
                }
                orders
            }
        }
    }

    /// Seconds since 1970, if the date exists.
    fn instant(&self, order: Order) -> Option<f64> {
        let ((year, month, day), _) = order.parts();
        let is_month_there = self.month.is_none_or(|(found, _)| found == month);
        if self.count != 2 + usize::from(day.is_some()) || !is_month_there {
            return None;
        }
        let number = |place: usize| self.numbers[place];
        let year = match (number(year), self.lengths[year]) {
            (year, 4) => year,
            (year, 2) if year < PIVOT => 2000 + year,
            (year, 2) => 1900 + year,
            _ => return None,
        };
        let month = self.month.map_or(number(month), |(_, month)| month);
        seconds(date(year, month, day.map_or(1, number))?, self.time, self.offset)
    }
}

fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let small = |part: u32| i8::try_from(part).ok();
    Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?).ok()
}

/// Seconds since 1970 began.
fn seconds(date: Date, time: Option<Time>, offset: i64) -> Option<f64> {
    let instant = DateTime::from_parts(date, time.unwrap_or(Time::midnight()));
    let since = instant.duration_since(Date::constant(1970, 1, 1).to_datetime(Time::midnight()));
    Some(since.as_secs_f64() - offset as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    /// Days since 1970 by an independent count, for years from 1970.
    fn days(year: u32, month: usize, day: u32) -> f64 {
        let leap =
            |y: u32| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
        let years: u32 = (1970..year).map(|y| if leap(y) { 366 } else { 365 }).sum();
        let lengths =
            [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let months: u32 = lengths[..month - 1].iter().sum();
        f64::from(years + months + day - 1)
    }

    fn read(texts: &[&str], day_first: bool) -> Option<(TimeFormat, Vec<f64>)> {
        let format = TimeFormat::of_all(texts.iter().copied(), day_first)?;
        Some((format, texts.iter().map(|text| format.instant(text)).collect::<Option<_>>()?))
    }

    #[test]
    fn the_same_day_in_many_formats() {
        let wanted = days(2019, 12, 31) * DAY;
        for text in [
            "2019-12-31",
            "2019/12/31",
            "2019.12.31",
            "31.12.2019",
            "31/12/2019",
            "12/31/2019",
            "31.12.19",
            "31-Dec-2019",
            "31 December 2019",
            "Dec 31 2019",
            "Dec 31, 2019",
            "December 31st, 2019",
            "Tue, 31 Dec 2019",
            "Tuesday 31 Dec 2019",
            "31-Dec-19",
            "20191231",
            "20191231T000000",
            "2019-12-31T00:00:00Z",
            "2019-12-31 00:00",
            "2019-12-31T02:00:00+02:00",
            "2019-12-30 19:00:00.000-0500",
            "12/31/2019 12:00 AM",
            "'2019-12-31'",
        ] {
            let found = read(&[text], false).map(|(_, values)| values[0]);
            assert_eq!(found, Some(wanted), "{text}");
        }
        assert_eq!(read(&["2019-12-30 24:00"], false).unwrap().1[0], wanted);
        let half = read(&["1/2/2020 5:30:15 PM"], true).unwrap().1[0];
        assert_eq!(half, days(2020, 2, 1) * DAY + 63_015.0);
        for text in ["2020-02", "02-2020", "02/2020", "2020/02", "Feb 2020", "Feb-20"] {
            assert_eq!(read(&[text], false).unwrap().1[0], days(2020, 2, 1) * DAY, "{text}");
        }
        let dotted = read(&["15 Mar 2019 04:41:45 p.m."], false).unwrap().1[0];
        assert_eq!(dotted, days(2019, 3, 15) * DAY + 60_105.0);
        assert_eq!(of_digits(20_200_229.0), Some(days(2020, 2, 29) * DAY));
        assert_eq!(of_digits(20_190_229.0), None);
        assert_eq!(
            read(&["2021-03-01T00:25:00UTC"], false).unwrap().1[0],
            days(2021, 3, 1) * DAY + 1500.0
        );
    }

    #[test]
    fn all_cells_decide_which_part_is_the_day() {
        let order = |texts: &[&str], first: bool| {
            read(texts, first).map(|(format, _)| (format.order, format.ambiguous))
        };
        assert_eq!(order(&["03/04/2019", "25/04/2019"], false), Some((Order::DayMonthYear, false)));
        assert_eq!(order(&["03/04/2019", "04/25/2019"], true), Some((Order::MonthDayYear, false)));
        assert_eq!(order(&["03/04/2019"], false), Some((Order::MonthDayYear, true)));
        assert_eq!(order(&["03/04/2019"], true), Some((Order::DayMonthYear, true)));
        assert_eq!(order(&["03.04.2019"], false), Some((Order::DayMonthYear, false)));
        assert_eq!(order(&["04.25.2019"], false), Some((Order::MonthDayYear, false)));
        // the year comes first unless a cell says otherwise
        assert_eq!(order(&["2019-03-04"], true), Some((Order::YearMonthDay, false)));
        // years of two digits: dates of a table are near each other
        let years = ["17-03-01", "19-12-28", "18-05-11"];
        assert_eq!(order(&years, false), Some((Order::YearMonthDay, false)));
        let days = ["01/03/17", "28/12/19", "11/05/18"];
        assert_eq!(order(&days, false), Some((Order::DayMonthYear, false)));
        assert_eq!(order(&["25/04/2019", "04/25/2019"], false), None);
        assert_eq!(order(&["2019-25-04", "2019-01-02"], false), Some((Order::YearDayMonth, false)));
    }

    #[test]
    fn other_texts_are_no_dates() {
        let long = ["192.168.0.1", "2020-99-1", "30 February 2019"];
        let short = [
            "", "red", "1.5", "10-20", "1-2-3-4", "A-1-2020", "555-1234", "week 9", "7.5/10",
            "2019-W60", "2019Q5", "19-Dec", "1.2.3", "12:30", "2019", "May", "12345678",
        ];
        for other in long.into_iter().chain(short) {
            assert_eq!(read(&[other], false), None, "{other}");
        }
    }
}
