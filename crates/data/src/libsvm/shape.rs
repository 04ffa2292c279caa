//! The columns of a libsvm file, which are known only after all of its rows were read.

/// The columns of a libsvm file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Shape {
    /// The greatest index.
    pub greatest: usize,
    /// Whether there is an index 0.
    pub from_zero: bool,
    /// Whether a row has a `qid`.
    pub queries: bool,
    /// Whether the `qid` of a row is not a number.
    pub text_queries: bool,
    /// For each part of the label, whether one of its values is not a number.
    pub text_labels: Vec<bool>,
}

impl Shape {
    pub fn of_labels(parts: usize) -> Shape {
        Shape { text_labels: vec![false; parts], ..Shape::default() }
    }

    /// Adds the columns of other rows.
    pub fn merge(&mut self, other: &Shape) {
        self.greatest = self.greatest.max(other.greatest);
        self.from_zero |= other.from_zero;
        self.queries |= other.queries;
        self.text_queries |= other.text_queries;
        for (ours, theirs) in self.text_labels.iter_mut().zip(&other.text_labels) {
            *ours |= theirs;
        }
    }

    /// The index of the first feature.
    pub fn first(&self) -> usize {
        usize::from(!self.from_zero)
    }
}
