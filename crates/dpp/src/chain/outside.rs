//! The items outside Y, numbered.

/// The n − c items outside Y, numbered 0, …, n − c − 1 so that an exchange renumbers at most two of
/// them.
///
/// Number r stands for item r, or if item r is in Y, for one of the items n − c, …, n − 1 outside Y
/// (its stand-in); there are as many of these as items of Y below n − c. O(c) memory; O(log c) time
/// for a look-up, O(c) for an exchange, which allocates no memory.
#[derive(Debug, Clone)]
pub(super) struct Outside {
    len: usize,
    stand_ins: Vec<(usize, usize)>, // (number in Y, its stand-in), increasing
}

impl Outside {
    /// The items outside Y = `members`, which is increasing, of n items.
    pub fn new(n: usize, members: &[usize]) -> Self {
        let len = n - members.len();
        let low = members.iter().copied().filter(|&y| y < len);
        let high = (len..n).filter(|x| members.binary_search(x).is_err());
        let mut stand_ins = Vec::with_capacity(members.len() + 1);
        stand_ins.extend(low.zip(high));
        Outside { len, stand_ins }
    }

    /// n − c, the number of items outside Y.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The item with that number.
    pub fn item(&self, number: usize) -> usize {
        self.place(number).map_or(number, |at| self.stand_ins[at].1)
    }

    /// Exchanges v ∈ Y for u ∉ Y. Returns the numbers that now may stand for another item.
    pub fn exchange(&mut self, v: usize, u: usize) -> [usize; 2] {
        let number = if u < self.len { u } else { self.number_of_high(u) };
        let successor = match self.place(v) {
            Ok(at) => self.stand_ins.remove(at).1,
            Err(_) => v, // n − c or above: no number of its own
        };
        if number != v {
            match self.place(number) {
                Ok(at) => self.stand_ins[at].1 = successor,
                Err(at) => self.stand_ins.insert(at, (number, successor)),
            }
        }
        [number, v]
    }

    /// The position of the stand-in of a number, or the position for its insertion.
    fn place(&self, number: usize) -> Result<usize, usize> {
        self.stand_ins.binary_search_by_key(&number, |&(number, _)| number)
    }

    /// The number of an item u ≥ n − c outside Y. O(c).
    fn number_of_high(&self, u: usize) -> usize {
        let found = self.stand_ins.iter().find(|(_, stand_in)| *stand_in == u);
        found.expect("an item outside Y has a number").0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn numbers_stand_for_what_is_outside() {
        let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
        for (n, c) in [(1, 1), (5, 1), (5, 4), (9, 3), (9, 7), (40, 20)] {
            let mut members: Vec<usize> =
                (0..c).map(|i| (i * 2) % n + usize::from(i * 2 >= n && n % 2 == 0)).collect();
            members.sort_unstable();
            let mut outside = Outside::new(n, &members);
            for _ in 0..200 * usize::from(c < n) {
                let before: Vec<usize> = (0..n - c).map(|r| outside.item(r)).collect();
                let (v, u) = (rng.random_range(0..c), outside.item(rng.random_range(0..n - c)));
                let renumbered = outside.exchange(members[v], u);
                members[v] = u;
                members.sort_unstable();
                let after: Vec<usize> = (0..n - c).map(|r| outside.item(r)).collect();
                let mut all: Vec<usize> = after.iter().chain(&members).copied().collect();
                all.sort_unstable();
                assert!(
                    all.iter().copied().eq(0..n),
                    "n = {n}, Y = {members:?}, outside {after:?}"
                );
                assert!((0..n - c).all(|r| before[r] == after[r] || renumbered.contains(&r)));
            }
        }
    }
}
