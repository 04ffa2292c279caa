//! Damage to numbers of eight bytes, which leaves the length of a file as it is. The tests of the
//! crates with binary states use it, beside `damage.rs`.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Numbers that take the place of others.
#[derive(Debug, Clone)]
pub struct Words(Vec<(Place, u64)>);

#[derive(Debug, Clone)]
enum Place {
    /// Sizes and counts stand first.
    Early(usize),
    Any(Index),
}

/// One to four numbers: counts at which sizes overflow, and values that are hardly any.
pub fn words() -> impl Strategy<Value = Words> {
    let counts =
        [0, 1, 2, 3, 7, 1 << 10, 1 << 20, 1 << 32, 1 << 53, 1 << 63, u64::MAX - 1, u64::MAX];
    let values = [
        -0.0,
        1.0,
        -1.0,
        1e-320,
        1e-160,
        1e160,
        1e308,
        -1e308,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let place = prop_oneof![
        1 => (0..16_usize).prop_map(Place::Early),
        2 => any::<Index>().prop_map(Place::Any),
    ];
    let word = prop_oneof![
        3 => select(counts.to_vec()),
        3 => select(values.to_vec()).prop_map(f64::to_bits),
        1 => (-3.0..3.0_f64).prop_map(f64::to_bits),
        1 => any::<u64>(),
    ];
    prop::collection::vec((place, word), 1..5).prop_map(Words)
}

impl Words {
    /// Puts them into the bytes, from byte `start` on.
    pub fn apply(&self, bytes: &mut [u8], start: usize) {
        let Some(bytes) = bytes.get_mut(start..).filter(|bytes| bytes.len() >= 8) else { return };
        let count = bytes.len() / 8;
        for (place, word) in &self.0 {
            let at = match place {
                Place::Early(at) => at % count,
                Place::Any(at) => at.index(count),
            };
            bytes[8 * at..8 * (at + 1)].copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// The content of a state of `nystrom_krr`, with the checksum that belongs to it.
pub fn with_fnv(content: &[u8]) -> Vec<u8> {
    let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let check = content.iter().fold(0xcbf2_9ce4_8422_2325, hash);
    [content, &check.to_le_bytes()].concat()
}
