//! What the cells of a grid differ in.

/// What a cell is computed on, beside its size: a kernel with its ridge, a data set, a row of the
/// paper's table.
pub trait Setting: Sync {
    /// Its name in seeds, tables and claims; unlike that of the other settings.
    fn label(&self) -> String;
}

/// Makes a type a setting, by what a function says of it.
macro_rules! labelled {
    ($setting:ty, $label:expr) => {
        impl $crate::lab::Setting for $setting {
            fn label(&self) -> String {
                let label: fn(&Self) -> String = $label;
                label(self)
            }
        }
    };
}
pub(crate) use labelled;

labelled!(&str, |name| (*name).into());
// a number of points, where the abscissa is something else
labelled!(usize, |n| format!("n = {n}"));
labelled!(Set, |set| set.label.into());

/// A data set by the paper's name and the catalog's; a made one by a name and one fit for files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set {
    /// The paper's name.
    pub label: &'static str,
    /// The catalog's.
    pub name: &'static str,
}
