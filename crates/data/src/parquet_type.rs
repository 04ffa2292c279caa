//! The content of the columns of a Parquet file.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::data_type::{ByteArray, Int96};
use parquet::schema::types::ColumnDescriptor;

use crate::instant;
use crate::number::half;

/// The content of a column, which determines how its stored values are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Holds {
    /// Numbers; whole numbers are divided by this.
    Numbers(f64),
    Unsigned,
    /// Whole numbers of which one is beyond 2⁵³; they are read as text.
    Digits {
        unsigned: bool,
    },
    /// Decimals stored as bytes, to be divided by this.
    Decimals(f64),
    /// Half-precision floats.
    Halves,
    Text,
    /// Bytes of no declared type, read as UTF-8 text.
    Bytes,
    /// Days since 1970.
    Days,
    /// Instants: nanoseconds per unit, and whether they are UTC.
    Instants(i128, bool),
    /// Times of day: nanoseconds per unit.
    Clock(i128),
    /// Content that cannot be a column of a table, in words.
    Nothing(&'static str),
}

impl Holds {
    pub fn of(column: &ColumnDescriptor) -> Holds {
        match (column.max_rep_level(), column.path().parts().len()) {
            (0, 1) => Holds::of_value(column),
            (0, _) => Holds::Nothing("parts of a structure"),
            // `name.list.element`, or `name.array`
            (1, 1..=3) if !Holds::of_value(column).is_text() => Holds::of_value(column),
            _ => Holds::Nothing("lists of other things than numbers"),
        }
    }

    /// The content of the values of a column, or of the elements of its lists.
    fn of_value(column: &ColumnDescriptor) -> Holds {
        use ConvertedType::{
            DATE, DECIMAL, ENUM, JSON, TIME_MICROS, TIME_MILLIS, TIMESTAMP_MICROS,
            TIMESTAMP_MILLIS, UINT_8, UINT_16, UINT_32, UINT_64, UTF8,
        };
        let scale = 10f64.powi(column.type_scale());
        match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
            (Type::INT96, ..) => Holds::Instants(1, false),
            (Type::INT32, Some(LogicalType::Date), _) | (Type::INT32, _, DATE) => Holds::Days,
            (_, Some(LogicalType::Timestamp(of)), _) => {
                Holds::Instants(nanoseconds(of.unit), of.is_adjusted_to_u_t_c)
            }
            (_, Some(LogicalType::Time(of)), _) => Holds::Clock(nanoseconds(of.unit)),
            (_, _, TIMESTAMP_MILLIS) => Holds::Instants(1_000_000, true),
            (_, _, TIMESTAMP_MICROS) => Holds::Instants(1000, true),
            (_, _, TIME_MILLIS) => Holds::Clock(1_000_000),
            (_, _, TIME_MICROS) => Holds::Clock(1000),
            (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16), _) => Holds::Halves,
            (Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Decimal(_)), _)
            | (Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY, _, DECIMAL) => Holds::Decimals(scale),
            (Type::BYTE_ARRAY, _, UTF8 | ENUM | JSON) => Holds::Text,
            (Type::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum), _) => Holds::Text,
            (Type::BYTE_ARRAY, ..) => Holds::Bytes,
            (Type::FIXED_LEN_BYTE_ARRAY, ..) => Holds::Nothing("bytes"),
            (_, _, UINT_8 | UINT_16 | UINT_32 | UINT_64) => Holds::Unsigned,
            (_, _, DECIMAL) => Holds::Numbers(scale),
            _ => Holds::Numbers(1.0),
        }
    }

    /// Whether values are read as text.
    pub fn is_text(self) -> bool {
        use Holds::{Bytes, Clock, Days, Digits, Instants, Text};
        matches!(self, Text | Bytes | Days | Instants(..) | Clock(_) | Digits { .. })
    }

    /// The text of a stored whole number; `None` if there is no such date.
    pub fn text(self, value: i128) -> Option<ByteArray> {
        let text = match self {
            Holds::Days => instant::of_days(i64::try_from(value).ok()?)?,
            Holds::Instants(unit, utc) => instant::of_nanoseconds(value.checked_mul(unit)?, utc)?,
            Holds::Clock(unit) => instant::clock(value.checked_mul(unit)?),
            _ => value.to_string(),
        };
        Some(text.into_bytes().into())
    }

    /// The text of an instant that is stored as nanoseconds of a day and a Julian day, as Spark
    /// does.
    pub fn julian(self, value: &Int96) -> Option<ByteArray> {
        /// The Julian day of 1 January 1970.
        const EPOCH: i128 = 2_440_588;
        let [low, high, day] = value.data() else { return None };
        let nanoseconds = (i128::from(*high) << 32) + i128::from(*low);
        let days = i128::from(*day as i32) - EPOCH;
        self.text(days * 86_400_000_000_000 + nanoseconds)
    }

    /// The number that is stored in these bytes.
    pub fn number(self, bytes: &[u8]) -> f64 {
        match self {
            Holds::Decimals(scale) => big_endian(bytes) / scale,
            Holds::Halves => {
                bytes.try_into().map_or(f64::NAN, |bytes| half(u16::from_le_bytes(bytes)))
            }
            _ => f64::NAN,
        }
    }
}

fn nanoseconds(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::MILLIS => 1_000_000,
        TimeUnit::MICROS => 1000,
        TimeUnit::NANOS => 1,
    }
}

/// A whole number in two's complement, big-endian; `None` for more than 16 bytes.
pub(crate) fn whole(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let start = if negative { -1_i128 } else { 0 };
    (bytes.len() <= 16).then(|| bytes.iter().fold(start, |sum, b| (sum << 8) | i128::from(*b)))
}

/// Like [`whole`], for any number of bytes, rounded to `f64`.
fn big_endian(mut bytes: &[u8]) -> f64 {
    // drop leading bytes that only repeat the sign
    while let [first, rest @ ..] = bytes
        && bytes.len() > 16
        && rest.first().is_some_and(|next| *first == if next & 0x80 != 0 { 0xff } else { 0 })
    {
        bytes = rest;
    }
    if let Some(value) = whole(bytes) {
        return value as f64;
    }
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let value = bytes.iter().fold(0.0, |sum, byte| 256.0 * sum + f64::from(*byte));
    if negative { value - 256f64.powi(bytes.len() as i32) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_numbers() {
        assert_eq!(big_endian(&[0x01, 0x00]), 256.0);
        assert_eq!(big_endian(&[0xff, 0xfe]), -2.0);
        assert_eq!(big_endian(&[&[0xff; 17][..], &[0xfe]].concat()), -2.0);
        assert_eq!(big_endian(&[]), 0.0);
    }
}
