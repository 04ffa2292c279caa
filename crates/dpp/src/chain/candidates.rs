//! The items that a step may bring in.

use super::outside::Outside;
use nystrom_sketch::Quotas;
use std::ops::Range;

/// The items outside Y, numbered so that those that may replace an item of Y have consecutive
/// numbers: all of them, or with quotas those of its group. An exchange renumbers at most two
/// items, of one group.
#[derive(Debug, Clone)]
pub(super) struct Candidates {
    outside: Vec<Outside>, // of each group, whose items have places 0, 1, …
    groups: Option<Groups>,
}

/// The groups of the items. 2n numbers.
#[derive(Debug, Clone)]
struct Groups {
    of: Vec<(usize, usize)>, // the group of each item, and its place there
    members: Vec<Vec<usize>>,
    first: Vec<usize>, // the number of the first item outside Y of each group
}

impl Candidates {
    /// All items outside Y = `members`, which is increasing, of n items.
    pub fn all(n: usize, members: &[usize]) -> Self {
        Candidates { outside: vec![Outside::new(n, members)], groups: None }
    }

    /// The items outside Y, group by group.
    pub fn by_group(quotas: &Quotas, Y: &[usize]) -> Self {
        let (mut members, mut of) = (vec![Vec::new(); quotas.quotas().len()], Vec::new());
        for (item, &group) in quotas.groups().iter().enumerate() {
            of.push((group, members[group].len()));
            members[group].push(item);
        }
        let mut inside = vec![Vec::new(); members.len()];
        for &y in Y {
            inside[of[y].0].push(of[y].1);
        }
        inside.iter_mut().for_each(|places| places.sort_unstable());
        let outside: Vec<Outside> =
            members.iter().zip(&inside).map(|(all, Y)| Outside::new(all.len(), Y)).collect();
        let first = outside.iter().scan(0, |next, group| {
            *next += group.len();
            Some(*next - group.len())
        });
        let groups = Some(Groups { first: first.collect(), of, members });
        Candidates { outside, groups }
    }

    /// n − c, the number of items outside Y.
    pub fn len(&self) -> usize {
        self.outside.iter().map(Outside::len).sum()
    }

    /// The numbers of the items that may replace v ∈ Y.
    pub fn instead_of(&self, v: usize) -> Range<usize> {
        match &self.groups {
            None => 0..self.outside[0].len(),
            Some(Groups { of, first, .. }) => {
                let group = of[v].0;
                first[group]..first[group] + self.outside[group].len()
            }
        }
    }

    /// The item with that number.
    pub fn item(&self, number: usize) -> usize {
        match &self.groups {
            None => self.outside[0].item(number),
            Some(Groups { first, members, .. }) => {
                // the last group that starts there: those before it with the same start are empty
                let group = first.partition_point(|&first| first <= number) - 1;
                members[group][self.outside[group].item(number - first[group])]
            }
        }
    }

    /// Exchanges v ∈ Y for u ∉ Y, with quotas of the same group.
    pub fn exchange(&mut self, v: usize, u: usize) {
        match &self.groups {
            None => self.outside[0].exchange(v, u),
            Some(Groups { of, .. }) => self.outside[of[v].0].exchange(of[v].1, of[u].1),
        };
    }
}
