//! How many rows of each group a subset must have.

use nystrom_linalg_core::{Error, Indices, PivotedCholesky, Result, Scalar, validate};

/// Names the groups of the rows in errors.
const GROUPS: &str = "groups of the rows";

/// Quotas: k_g rows of every group g, where each row belongs to one group. The groups are numbered
/// from 0.
///
/// A quota of 0 excludes a group. [`GreedyByGroup`](crate::GreedyByGroup) and `SwapChain` of
/// `nystrom-dpp` choose subsets within quotas.
///
/// ```
/// use nystrom_linalg_core::Error;
/// use nystrom_sketch::Quotas;
/// // rows 0, 1 and 4 are in group 0, rows 2 and 3 in group 1
/// let groups = vec![0, 0, 1, 1, 0];
/// let quotas = Quotas::new(groups.clone(), vec![1, 2])?;
/// assert_eq!((quotas.size(), quotas.group(4)), (3, 0));
/// assert!(matches!(
///     Quotas::new(groups.clone(), vec![1, 3]),
///     Err(Error::Quota { group: 1, quota: 3, found: 2, .. })
/// ));
/// // in proportion to 3 and 2 rows: 2.4 and 1.6 of 4
/// assert_eq!(Quotas::proportional(groups, 4)?.quotas(), [2, 2]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Quotas {
    groups: Vec<usize>,
    quotas: Vec<usize>,
}

impl Quotas {
    /// The group of every row, and the quota of every group.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] for a row of a group that has no quota; [`Error::Quota`] for a
    /// group with fewer rows than its quota.
    pub fn new(groups: Vec<usize>, quotas: Vec<usize>) -> Result<Self> {
        Indices::from(&groups).check(quotas.len(), GROUPS)?;
        let problem = "rows are in the group; lower the quota";
        for (group, (found, &quota)) in counts(&groups, quotas.len()).zip(&quotas).enumerate() {
            if found < quota {
                return Err(Error::Quota { group, quota, found, problem });
            }
        }
        Ok(Quotas { groups, quotas })
    }

    /// Quotas for a subset of `size` rows in proportion to the numbers of rows of the groups, by
    /// largest remainders: group g with n_g of n rows first gets ⌊size·n_g/n⌋ rows. The rows still
    /// missing go, one each, to the groups with the largest remainders, of equal ones to the first.
    ///
    /// # Errors
    /// [`Error::Empty`] if `size` is 0, [`Error::TooMany`] if it exceeds n.
    pub fn proportional(groups: Vec<usize>, size: usize) -> Result<Self> {
        let n = groups.len();
        validate::at_most("rows in a subset", size, n)?;
        let sizes: Vec<usize> = counts(&groups, largest(&groups) + 1).collect();
        let share = |rows: usize| size as u128 * rows as u128;
        let mut quotas: Vec<usize> =
            sizes.iter().map(|&rows| (share(rows) / n as u128) as usize).collect();
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&g| std::cmp::Reverse(share(sizes[g]) % n as u128)); // stable
        let missing = size - quotas.iter().sum::<usize>();
        order[..missing].iter().for_each(|&g| quotas[g] += 1);
        Quotas::new(groups, quotas)
    }

    /// The quotas of the rows `rest` after the rows `given` were chosen, both rows of these quotas;
    /// row i of the result is row `rest[i]`.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] for a row that does not exist. [`Error::Quota`] if more rows of a
    /// group are given than its quota, or too few are left.
    pub fn after(&self, given: &[usize], rest: &[usize]) -> Result<Self> {
        for rows in [given, rest] {
            Indices::from(rows).check(self.groups.len(), "rows of the quotas")?;
        }
        let mut quotas = self.quotas.clone();
        let of_given: Vec<usize> = given.iter().map(|&i| self.groups[i]).collect();
        let problem = "of its rows must be included; raise the quota, or include fewer";
        for (group, found) in counts(&of_given, quotas.len()).enumerate() {
            let quota = quotas[group];
            quotas[group] =
                quota.checked_sub(found).ok_or(Error::Quota { group, quota, found, problem })?;
        }
        Quotas::new(rest.iter().map(|&i| self.groups[i]).collect(), quotas)
    }

    /// Checks that these are quotas of `m` rows in all, of `n` rows.
    ///
    /// # Errors
    /// [`Error::Shape`] if they are not.
    pub fn check(&self, n: usize, m: usize) -> Result<()> {
        validate::same_size("number of rows with groups", n, self.groups.len())?;
        validate::same_size("sum of the quotas against the size of the subset", m, self.size())
    }

    /// The number of rows of a subset: the sum of the quotas.
    pub fn size(&self) -> usize {
        self.quotas.iter().sum()
    }

    /// The group of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn group(&self, row: usize) -> usize {
        self.groups[row]
    }

    /// The group of every row.
    pub fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// The quota of every group.
    pub fn quotas(&self) -> &[usize] {
        &self.quotas
    }

    /// For every group, the number of rows that are missing beside these.
    pub(crate) fn missing(&self, chosen: &[usize]) -> Vec<usize> {
        let mut missing = self.quotas.clone();
        for &i in chosen {
            missing[self.groups[i]] = missing[self.groups[i]].saturating_sub(1);
        }
        missing
    }

    /// An error for the first group of which the pivots of `f` are too few.
    pub(crate) fn check_filled<T: Scalar>(&self, f: &PivotedCholesky<T>) -> Result<()> {
        let missing = self.missing(f.pivots());
        let Some(group) = missing.iter().position(|&missing| missing > 0) else { return Ok(()) };
        let quota = self.quotas[group];
        let problem = "of its rows are independent of the rows chosen before them; lower the quota";
        Err(Error::Quota { group, quota, found: quota - missing[group], problem })
    }
}

fn largest(groups: &[usize]) -> usize {
    groups.iter().copied().max().unwrap_or(0)
}

/// The number of rows of each group.
fn counts(groups: &[usize], number: usize) -> impl Iterator<Item = usize> {
    let mut counts = vec![0; number];
    groups.iter().for_each(|&g| counts[g] += 1);
    counts.into_iter()
}
