//! What the cells of a grid differ in.

/// What a cell is computed on, beside its size: a kernel with its ridge, a data set, a row of the
/// paper's table.
pub trait Setting: Sync {
    /// Its name in seeds, tables and claims; unlike that of the other settings.
    fn label(&self) -> String;
}

/// A setting whose label is its field of that name, or what a function makes of it.
macro_rules! labelled {
    ($setting:ty) => {
        $crate::lab::labelled!($setting, |setting| setting.label.into());
    };
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

impl Setting for &str {
    fn label(&self) -> String {
        (*self).into()
    }
}

/// A number of points, where the abscissa is something else.
impl Setting for usize {
    fn label(&self) -> String {
        format!("n = {self}")
    }
}

/// A data set by the paper's name and the catalog's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set {
    /// The paper's name.
    pub label: &'static str,
    /// The catalog's.
    pub name: &'static str,
}

labelled!(Set);

impl Set {
    /// These names.
    pub const fn new(label: &'static str, name: &'static str) -> Self {
        Set { label, name }
    }
}
