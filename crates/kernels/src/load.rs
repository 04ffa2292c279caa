//! Loading kernels (feature `serde`): through their constructors, so that a damaged file is an error and never a kernel that is none.

/// `checked_on_load! { Stored [P] => Kernel<P> { field: Type }, |stored| constructor }` defines the struct `Stored<P>`, the fields as they
/// stand in a file, and the conversion that `#[serde(try_from = "Stored<P>")]` on the kernel calls. `[]` if nothing is generic.
macro_rules! checked_on_load {
    ($stored:ident [$($generic:ident)?] => $kernel:ty { $($field:ident: $type:ty),* }, $make:expr) => {
        #[cfg(feature = "serde")]
        #[derive(serde::Deserialize)]
        struct $stored$(<$generic>)? {
            $($field: $type),*
        }

        #[cfg(feature = "serde")]
        impl$(<$generic>)? TryFrom<$stored$(<$generic>)?> for $kernel {
            type Error = nystrom_linalg_core::Error;
            fn try_from(stored: $stored$(<$generic>)?) -> nystrom_linalg_core::Result<Self> {
                let make: fn($stored$(<$generic>)?) -> nystrom_linalg_core::Result<Self> = $make;
                make(stored)
            }
        }
    };
}
pub(crate) use checked_on_load;
