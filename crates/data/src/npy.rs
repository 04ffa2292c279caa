//! NumPy's `.npy` format, one array in binary.

use std::io::Read;

use crate::bad_cells::Survey;
use crate::column::{Categories, Column, Values};
use crate::doubts::Doubts;
use crate::error::{Place, Problem, Result, place::excerpt};
use crate::gzip::uncompressed;
use crate::npy_times::Times;
use crate::number::{LARGEST_EXACT, half};
use crate::table::Table;

/// The first bytes of every `.npy` file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";
/// The longest header that is accepted, in bytes.
pub(crate) const MAX_HEADER: usize = 1 << 20;

/// Reads `.npy` files, plain or compressed: a matrix with one case per row, or a vector as one
/// column. Entries are floats, integers or booleans of either byte order, in C or Fortran order.
/// `datetime64` gives dates or instants as text, `timedelta64` gives seconds; `NaT` is missing.
///
/// The format is that of NumPy's `numpy.lib.format`, versions 1 to 3. Columns are called `c1`,
/// `c2`, …, since the file has no names. A column with a whole number beyond 2⁵³ is text, since
/// `f64` cannot tell such numbers apart. Values that are not finite are errors, as in every format.
/// In errors, the line is the row, from 1.
///
/// ```
/// use nystrom_data::{Npy, npy_bytes};
///
/// let file = npy_bytes(2, 3, [1.0, 2.0, 10.0, 20.0, 100.0, 200.0]);           // column by column
/// let table = Npy::new().read(&file[..], "x.npy")?;
/// assert_eq!(table.numbers("c2")?, [10.0, 20.0]);
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Npy {
    _private: (),
}

impl Npy {
    /// A reader. It has no options, since the file describes itself.
    pub fn new() -> Self {
        Npy::default()
    }

    /// Reads all of `reader`, plain or compressed. Errors call the file `name`.
    ///
    /// Memory: the file plus the table. The header is not trusted: nothing is allocated for values
    /// that are not in the file.
    ///
    /// # Errors
    /// [`DataError::At`](crate::DataError::At) with row and column of a value that is not finite,
    /// or for a damaged or unsuitable file; [`DataError::Io`](crate::DataError::Io).
    pub fn read(&self, reader: impl Read, name: &str) -> Result<Table> {
        self.survey(reader, name)?.finite()
    }

    /// Reads all of `reader` like [`read`](Npy::read), but lists values that are not finite instead
    /// of failing. In the table they are missing.
    ///
    /// # Errors
    /// Those of [`read`](Npy::read) that do not concern a single value.
    pub fn survey(&self, reader: impl Read, name: &str) -> Result<Survey> {
        let at = |problem: Problem| problem.at(Place::new(name));
        let bytes = uncompressed(reader, name)?;
        let (text, data) = header(&bytes).map_err(at)?;
        let header = Header::parse(text).map_err(at)?;
        let (rows, columns) = header.sizes().map_err(at)?;
        let expected =
            rows.checked_mul(columns).and_then(|count| count.checked_mul(header.item.size));
        if expected != Some(data.len()) {
            return Err(at(Problem::NpyLength {
                rows,
                columns,
                size: header.item.size,
                found: data.len(),
            }));
        }
        let (columns, doubts) = header.columns(data, [rows, columns], 0);
        Ok(Survey { table: Table::new(name, columns)?, doubts })
    }
}

/// The text of the header, and the data after it.
pub(crate) fn header(bytes: &[u8]) -> std::result::Result<(&str, &[u8]), Problem> {
    let broken = |what: &'static str| Problem::NpyHeader { what: what.to_owned() };
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or_else(|| broken("the file does not start with \\x93NUMPY"))?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        [version, ..] if *version > 3 => return Err(broken("its version is above 3")),
        _ => return Err(broken("the file breaks off")),
    };
    if length > MAX_HEADER || length > rest.len() {
        return Err(broken("the header is longer than the file"));
    }
    let (text, data) = rest.split_at(length);
    std::str::from_utf8(text).map(|text| (text, data)).map_err(|_| broken("the header is not text"))
}

pub(crate) struct Header {
    pub item: Item,
    pub fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Parses `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
    pub fn parse(text: &str) -> std::result::Result<Header, Problem> {
        let value = |key: &'static str| {
            let quoted = [format!("'{key}'"), format!("\"{key}\"")];
            let found = quoted.iter().find_map(|key| text.split_once(key.as_str()));
            let after = found.and_then(|(_, after)| after.trim_start().strip_prefix(':'));
            after
                .map(str::trim_start)
                .ok_or_else(|| Problem::NpyHeader { what: format!("the header lacks {key:?}") })
        };
        let descr = value("descr")?;
        let fortran = value("fortran_order")?.starts_with("True");
        let shape = value("shape")?
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map(|(inside, _)| inside);
        let sizes = shape.map(|inside| {
            let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
            sizes.map(|size| size.parse().ok()).collect::<Option<Vec<usize>>>()
        });
        let shape = sizes.flatten().ok_or_else(|| Problem::NpyHeader {
            what: "its shape is no list of sizes".to_owned(),
        })?;
        Ok(Header { item: Item::parse(descr)?, fortran, shape })
    }

    pub fn sizes(&self) -> std::result::Result<(usize, usize), Problem> {
        match self.shape[..] {
            [0, ..] => Err(Problem::NoRows),
            [rows] => Ok((rows, 1)),
            [rows, columns] if columns > 0 => Ok((rows, columns)),
            _ => Err(Problem::NpyShape { shape: format!("{:?}", self.shape) }),
        }
    }

    /// The columns of a block of `rows` rows, which follows `before` other rows. A column with a
    /// whole number beyond 2⁵³ is text, since `f64` cannot tell such numbers apart.
    pub fn columns(
        &self,
        data: &[u8],
        [rows, columns]: [usize; 2],
        before: usize,
    ) -> (Vec<Column>, Vec<Doubts>) {
        let size = self.item.size;
        let bytes = |i: usize, j: usize| {
            let item = if self.fortran { j * rows + i } else { i * columns + j } * size;
            &data[item..item + size]
        };
        let column = |j: usize| {
            let (name, mut doubts) = (format!("c{}", j + 1), Doubts::default());
            let whole = |i| self.item.whole(bytes(i, j));
            if let Some(times) = self.item.times {
                // the least `i64` is NaT
                let count = |i| whole(i)?.try_into().ok().filter(|count| *count != i64::MIN);
                return (times.column(name, (0..rows).map(count)), doubts);
            }
            let is_beyond = |whole: i128| whole.unsigned_abs() > u128::from(LARGEST_EXACT);
            if (0..rows).any(|i| whole(i).is_some_and(is_beyond)) {
                let digits = (0..rows).map(|i| Some(whole(i)?.to_string()));
                let values = Values::Categories(Categories::of(digits.collect()));
                return (Column { name, values }, doubts);
            }
            let value = |i| self.item.number(bytes(i, j));
            let numbers = (0..rows).map(|i| doubts.finite(value(i), (before + i) as u64 + 1));
            (Column::numbers(name, numbers.collect()), doubts)
        };
        (0..columns).map(column).unzip()
    }
}

/// The type of the entries.
pub(crate) struct Item {
    kind: u8,
    pub size: usize,
    big_endian: bool,
    /// The meaning of whole numbers that count time.
    times: Option<Times>,
}

impl Item {
    /// Parses a type such as `'<f8'`, or `'<M8[ns]'` for times.
    fn parse(descr: &str) -> std::result::Result<Item, Problem> {
        let unsuitable = || Problem::NpyType {
            text: excerpt(descr.split(", 'fortran").next().unwrap_or(descr).trim()),
        };
        let quote = descr.chars().next().filter(|c| "'\"".contains(*c)).ok_or_else(unsuitable)?;
        let text = descr[1..].split(quote).next().unwrap_or_default().as_bytes();
        let (order, kind, size) = match text {
            [order @ (b'<' | b'>' | b'|' | b'='), kind, size @ ..] => (*order, *kind, size),
            _ => return Err(unsuitable()),
        };
        let size = std::str::from_utf8(size).map_err(|_| unsuitable())?;
        let (size, unit) = size.split_once('[').unwrap_or((size, ""));
        let size = size.parse().map_err(|_| unsuitable())?;
        let times = unit.strip_suffix(']').and_then(|unit| Times::parse(kind, unit));
        match (kind, size, times) {
            (b'f', 2 | 4 | 8, None)
            | (b'i' | b'u', 1 | 2 | 4 | 8, None)
            | (b'b', 1, None)
            | (b'M' | b'm', 8, Some(_)) => {
                Ok(Item { kind, size, big_endian: order == b'>', times })
            }
            _ => Err(unsuitable()),
        }
    }

    fn bits(&self, bytes: &[u8]) -> u64 {
        let mut little = [0; 8];
        for (i, byte) in bytes.iter().enumerate() {
            little[if self.big_endian { self.size - 1 - i } else { i }] = *byte;
        }
        u64::from_le_bytes(little)
    }

    /// The whole number in `size` bytes; `None` for floats.
    fn whole(&self, bytes: &[u8]) -> Option<i128> {
        let (bits, unused) = (self.bits(bytes), 64 - 8 * self.size as u32);
        match self.kind {
            b'f' => None,
            b'i' | b'M' | b'm' => Some((((bits << unused) as i64) >> unused).into()),
            _ => Some(bits.into()),
        }
    }

    /// The number in `size` bytes. Integers beyond 2⁵³ are rounded.
    pub fn number(&self, bytes: &[u8]) -> f64 {
        match (self.whole(bytes), self.size) {
            (Some(whole), _) => whole as f64,
            (None, 2) => half(self.bits(bytes) as u16),
            (None, 4) => f64::from(f32::from_bits(self.bits(bytes) as u32)),
            (None, _) => f64::from_bits(self.bits(bytes)),
        }
    }
}

/// The bytes of an `.npy` file with an `f64` matrix, whose entries are given column by column. With
/// one column it is a vector.
///
/// See [`Npy`] for an example.
pub fn npy_bytes(rows: usize, columns: usize, entries: impl IntoIterator<Item = f64>) -> Vec<u8> {
    let shape = if columns == 1 { format!("({rows},)") } else { format!("({rows}, {columns})") };
    let mut header = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': {shape}, }}");
    while !(MAGIC.len() + 4 + header.len() + 1).is_multiple_of(64) {
        header.push(' '); // data begin at a multiple of 64 bytes
    }
    header.push('\n');
    let mut bytes =
        [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
    entries.into_iter().for_each(|entry| bytes.extend(entry.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
    }

    fn read(header: &str, data: &[u8]) -> Result<Table> {
        Npy::new().read(&file(header, data)[..], "t.npy")
    }

    #[test]
    fn whole_numbers_that_floats_would_merge_are_texts() {
        let wide = [1_i64 << 53, (1 << 53) + 1, -7, i64::MIN];
        let bytes: Vec<u8> = wide.iter().flat_map(|v| v.to_le_bytes()).collect();
        let header = "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 2), }";
        let table = read(header, &bytes).unwrap();
        for (j, expected) in
            [["9007199254740992", "9007199254740993"], ["-7", "-9223372036854775808"]]
                .into_iter()
                .enumerate()
        {
            let texts = table.categories(j).unwrap();
            assert_eq!([0, 1].map(|i| texts.get(i).unwrap()), expected);
        }
        let bytes: Vec<u8> = [1_i64 << 53, 2, 3, 4].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(read(header, &bytes).unwrap().numbers("c1").unwrap()[0], 2f64.powi(53));
    }

    #[test]
    fn types_orders_and_byte_orders() {
        let header = |descr: &str, fortran: &str| {
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': (2, 2), }}")
        };
        let second = |descr: &str, fortran: &str, data: &[u8]| {
            read(&header(descr, fortran), data).unwrap().numbers("c2").unwrap().to_vec()
        };
        assert_eq!(second("<i2", "False", &[1, 0, 254, 255, 3, 0, 4, 0]), [-2.0, 4.0]);
        assert_eq!(second("<i2", "True", &[1, 0, 254, 255, 3, 0, 4, 0]), [3.0, 4.0]);
        assert_eq!(second(">u2", "False", &[0, 1, 1, 0, 0, 3, 0, 4]), [256.0, 4.0]);
        assert_eq!(second("|b1", "False", &[0, 1, 1, 0]), [1.0, 0.0]);
        let floats: Vec<u8> =
            [1.0f32, -2.5, 3.0, 4.0].iter().flat_map(|v| v.to_be_bytes()).collect();
        assert_eq!(second(">f4", "False", &floats), [-2.5, 4.0]);
        assert_eq!(second("|i1", "False", &[1, 255, 3, 128]), [-1.0, -128.0]);
        let halves = [0x3c00_u16, 0xc000, 0x0001, 0x7bff];
        let little = halves.map(u16::to_le_bytes).concat();
        assert_eq!(second("<f2", "False", &little), [-2.0, 65504.0]);
        assert_eq!(second(">f2", "False", &halves.map(u16::to_be_bytes).concat()), [-2.0, 65504.0]);
    }

    #[test]
    fn times_of_both_byte_orders() {
        let header = |descr: &str| {
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3,), }}")
        };
        let counts = [0, i64::MIN, -1];
        let table = read(&header(">M8[us]"), &counts.map(i64::to_be_bytes).concat()).unwrap();
        let texts = table.categories("c1").unwrap();
        assert_eq!((texts.get(1), texts.get(2)), (None, Some("1969-12-31T23:59:59.999999")));
        let table = read(&header("<m8[2h]"), &counts.map(i64::to_le_bytes).concat()).unwrap();
        assert_eq!((table.missing(), table.numbers("c1").unwrap()[2]), (1, -7200.0));
        for descr in ["<M8", "<M8[as]", "<M4[s]", "<m8[Y]", "<i8[s]", "<f8[s]", "<M8[s"] {
            let error = read(&header(descr), &[0; 24]).unwrap_err();
            assert!(matches!(error.problem(), Some(Problem::NpyType { .. })), "{descr}: {error}");
        }
    }

    #[test]
    fn what_numpy_writes_is_read() {
        // numpy.save of numpy.array([[1.5, 2.5]]): version 1.0, header padded to 128 bytes in all
        let mut header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }".to_owned();
        header += &" ".repeat(117 - header.len());
        header.push('\n');
        let data: Vec<u8> = [1.5f64, 2.5].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(read(&header, &data).unwrap().numbers("c2").unwrap(), [2.5]);
        let written = npy_bytes(3, 1, [1.0, 2.0, 3.0]);
        assert_eq!((written.len() - 24) % 64, 0);
        assert_eq!(
            Npy::new().read(&written[..], "t.npy").unwrap().numbers("c1").unwrap(),
            [1.0, 2.0, 3.0]
        );
    }

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        let nan: Vec<u8> =
            [1.0, 2.0, f64::NAN, 4.0f64].iter().flat_map(|v| v.to_le_bytes()).collect();
        let header = |descr: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")
        };
        let message = |header: String, data: &[u8]| read(&header, data).unwrap_err().to_string();
        let cases = [
            (
                message(header("'<f8'", "(2, 2)"), &nan),
                "t.npy:2, column 1 (\"c1\"): \"NaN\" is not a finite number",
            ),
            (message(header("'<f8'", "(2, 3)"), &nan), "is the file complete?"),
            (message(header("'|O'", "(2, 2)"), &nan), "save it as float64"),
            (message(header("[('a', '<f8')]", "(2,)"), &nan), "save it as float64"),
            (message(header("'<f8'", "(2, 2, 1)"), &nan), "reshape it"),
            (message(header("'<f8'", "()"), &nan), "reshape it"),
            (message(header("'<f8'", "(0, 3)"), &[]), "no rows"),
            (
                message(header("'<f8'", &format!("({}, 8)", usize::MAX / 4)), &[]),
                "is the file complete?",
            ),
            (message("{'descr': '<f8'}".into(), &[]), "lacks \"fortran_order\""),
            (
                Npy::new().read(&b"a,b\n1,2\n"[..], "t.npy").unwrap_err().to_string(),
                "does not start with",
            ),
            (Npy::new().read(MAGIC, "t.npy").unwrap_err().to_string(), "breaks off"),
        ];
        for (message, part) in cases {
            assert!(message.contains(part), "{message} lacks {part}");
        }
    }
}
