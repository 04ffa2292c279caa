//! Kernels in files (feature `serde`). A kernel is stored under its name and loaded by its
//! constructor, so that a damaged file is an error: it never loads as an invalid kernel, or as
//! another kernel.

#[cfg(feature = "serde")]
pub use named::{LoadedKernel, SavedKernel};
#[cfg(feature = "serde")]
pub(crate) use named::{Named, read, write};

#[cfg(feature = "serde")]
mod named {
    use nystrom_linalg_core::{Error, Result};
    use serde::de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, Visitor};
    use serde::ser::{Error as _, SerializeMap};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::fmt;
    use std::marker::PhantomData;

    /// A kernel that can be saved. Files store it under its name.
    ///
    /// Implemented by all kernels of this crate except closures ([`FromFn`](crate::FromFn)). Their
    /// serialised form contains the name. Loading a file that holds another kernel is an error that
    /// gives both names.
    ///
    /// A user's own kernel derives `Serialize` and `Deserialize` and implements
    /// [`name`](Self::name). It is then stored under that name in models, streams, sums and
    /// products.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, LoadedKernel, Matern32, SavedKernel};
    /// let text = serde_json::to_string(&Gaussian::new(3.0)?).unwrap();
    /// assert_eq!(text, r#"{"gaussian":{"profile":null,"length_scale":3.0}}"#);
    /// let other: LoadedKernel<Matern32> = serde_json::from_str(&text).unwrap();
    /// let message = other.0.unwrap_err().to_string();
    /// assert!(message.contains("`gaussian`, not `matern-3/2`"), "{message}");
    ///
    /// #[derive(serde::Serialize, serde::Deserialize)]
    /// struct Brownian { scale: f64 }
    /// impl SavedKernel for Brownian {
    ///     fn name() -> String {
    ///         "brownian".into()
    ///     }
    /// }
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    #[diagnostic::on_unimplemented(
        message = "the kernel `{Self}` cannot be saved or loaded",
        label = "has no name in files",
        note = "a closure (`FromFn`) cannot be written to a file: make it a struct that \
                implements `Kernel`",
        note = "derive `Serialize` and `Deserialize` for your own kernel and implement \
                `SavedKernel`",
        note = "for `Isotropic` and `Ard` with your own profile, implement `SavedProfile` for the \
                profile"
    )]
    pub trait SavedKernel: Serialize + DeserializeOwned {
        /// The name of the kernel in files, which no other kernel should have.
        fn name() -> String;

        /// Writes the name and, under it, the serialised kernel.
        ///
        /// # Errors
        /// Those of the format.
        fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            write(&Self::name(), self, serializer)
        }

        /// Reads a kernel that [`save`](Self::save) wrote. If the file holds another kernel, the
        /// result is `Ok` with an [`Error::Incompatible`] inside the [`LoadedKernel`].
        ///
        /// # Errors
        /// Those of the format.
        fn load<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<LoadedKernel<Self>, D::Error> {
            read(deserializer, Self::name(), Ok)
        }
    }

    /// The kernel loaded from a file, or [`Error::Incompatible`] with both names if the file holds
    /// another kernel.
    #[derive(Debug, Clone)]
    pub struct LoadedKernel<K>(pub Result<K>);

    impl<'de, K: SavedKernel> Deserialize<'de> for LoadedKernel<K> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            K::load(deserializer)
        }
    }

    impl<K: SavedKernel> Serialize for LoadedKernel<K> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match &self.0 {
                Ok(kernel) => kernel.save(serializer),
                Err(error) => Err(S::Error::custom(error)),
            }
        }
    }

    impl<K: SavedKernel> SavedKernel for Box<K> {
        fn name() -> String {
            K::name()
        }
        fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            (**self).save(serializer)
        }
        fn load<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<LoadedKernel<Self>, D::Error> {
            Ok(LoadedKernel(K::load(deserializer)?.0.map(Box::new)))
        }
    }

    /// A component of a kernel, which is written under its own name.
    pub(crate) struct Named<'a, K>(pub &'a K);

    impl<K: SavedKernel> Serialize for Named<'_, K> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.save(serializer)
        }
    }

    /// Writes `{name: fields}`.
    pub(crate) fn write<F: Serialize + ?Sized, S: Serializer>(
        name: &str,
        fields: &F,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, fields)?;
        map.end()
    }

    /// Reads the fields under `name`, and calls the constructor `make`.
    pub(crate) fn read<'de, D: Deserializer<'de>, F: DeserializeOwned, K>(
        deserializer: D,
        name: String,
        make: fn(F) -> Result<K>,
    ) -> Result<LoadedKernel<K>, D::Error> {
        deserializer.deserialize_map(Reader { name, make, fields: PhantomData })
    }

    struct Reader<F, K> {
        name: String,
        make: fn(F) -> Result<K>,
        fields: PhantomData<F>,
    }

    impl<'de, F: DeserializeOwned, K> Visitor<'de> for Reader<F, K> {
        type Value = LoadedKernel<K>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(out, "the kernel `{0}` under its name, {{\"{0}\": …}}", self.name)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let Reader { name, make, .. } = self;
            let Some(key) = map.next_key::<String>()? else {
                return Err(A::Error::custom(format!(
                    "no kernel where `{name}` should be; the file is damaged"
                )));
            };
            if key == name {
                let fields = map.next_value()?;
                return match map.next_key::<IgnoredAny>()? {
                    None => Ok(LoadedKernel(make(fields))),
                    Some(_) => Err(A::Error::custom(format!(
                        "more than one kernel where only `{name}` should be; the file is \
                             damaged"
                    ))),
                };
            }
            let problem = format!(
                "the file holds the kernel `{key}`, not `{name}`; load it as the kernel it was \
                 saved as"
            );
            let error = Error::Incompatible { what: "kernel", problem };
            match skip(map) {
                Ok(()) => Ok(LoadedKernel(Err(error))),
                // the format cannot skip values, or the rest of the file is damaged too
                Err(_) => Err(A::Error::custom(error)),
            }
        }
    }

    /// Reads and drops the value of the last key and all further entries.
    fn skip<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
        map.next_value::<IgnoredAny>()?;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// `checked_on_load! { Stored => Profile { field: Type }, |stored| constructor }` defines the
/// struct `Stored`, which has the fields in a file, and the conversion that serde's attribute
/// `try_from` on the profile calls.
macro_rules! checked_on_load {
    ($stored:ident => $profile:ty { $($field:ident: $type:ty),* }, $make:expr) => {
        #[cfg(feature = "serde")]
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $stored {
            $($field: $type),*
        }

        #[cfg(feature = "serde")]
        impl TryFrom<$stored> for $profile {
            type Error = nystrom_linalg_core::Error;
            fn try_from(stored: $stored) -> nystrom_linalg_core::Result<Self> {
                let make: fn($stored) -> nystrom_linalg_core::Result<Self> = $make;
                make(stored)
            }
        }
    };
}
pub(crate) use checked_on_load;

/// Serde for a kernel: its fields and its component kernels are written under its name and loaded
/// by its constructor.
macro_rules! saved_kernel {
    (
        [$($generic:ident: ($($bound:tt)+)),*] $kernel:ty = $name:expr,
        { $($(#[$attribute:meta])* $field:ident: $type:ty),* }
        of { $($part:ident: $part_type:ty),* }, $make:expr
    ) => {
        #[cfg(feature = "serde")]
        const _: () = {
            use $crate::load::{LoadedKernel, SavedKernel, read, write};

            #[derive(serde::Serialize)]
            #[serde(bound(serialize = ""))]
            struct Fields<'a, $($generic: $($bound)+),*> {
                $($(#[$attribute])* $field: &'a $type,)*
                $($part: $crate::load::Named<'a, $part_type>,)*
                #[serde(skip)]
                borrowed: std::marker::PhantomData<&'a ()>, // without fields, too
            }

            #[derive(serde::Deserialize)]
            #[serde(deny_unknown_fields, bound(deserialize = ""))]
            struct Stored<$($generic: $($bound)+),*> {
                $($(#[$attribute])* $field: $type,)*
                $($part: LoadedKernel<$part_type>,)*
            }

            impl<$($generic: $($bound)+),*> SavedKernel for $kernel {
                fn name() -> String {
                    $name
                }
                fn save<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let fields = Fields {
                        $($field: &self.$field,)*
                        $($part: $crate::load::Named(&self.$part),)*
                        borrowed: std::marker::PhantomData,
                    };
                    write(&Self::name(), &fields, serializer)
                }
                fn load<'de, D: serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<LoadedKernel<Self>, D::Error> {
                    let make: fn(Stored<$($generic),*>) -> nystrom_linalg_core::Result<Self> =
                        $make;
                    read(deserializer, Self::name(), make)
                }
            }

            impl<$($generic: $($bound)+),*> serde::Serialize for $kernel {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok,
                    S::Error> {
                    self.save(serializer)
                }
            }

            impl<'de, $($generic: $($bound)+),*> serde::Deserialize<'de> for $kernel {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self,
                    D::Error> {
                    Self::load(deserializer)?.0.map_err(serde::de::Error::custom)
                }
            }
        };
    };
}
pub(crate) use saved_kernel;
