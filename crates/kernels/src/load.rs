//! Kernels in files (feature `serde`): under their names, and back through their constructors. So a
//! damaged file is an error and never a kernel that is none, nor another one.

#[cfg(feature = "serde")]
pub use named::{LoadedKernel, SavedKernel};
#[cfg(feature = "serde")]
pub(crate) use named::{Named, Old, read, write};

#[cfg(feature = "serde")]
mod named {
    use nystrom_linalg_core::{Error, Result};
    use serde::de::value::{MapAccessDeserializer, StringDeserializer};
    use serde::de::{
        DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, IntoDeserializer, MapAccess,
        Visitor,
    };
    use serde::ser::{Error as _, SerializeMap};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::fmt;
    use std::marker::PhantomData;

    /// A kernel that can be saved: it has a name, and stands under it in files.
    ///
    /// All kernels of this crate are, but closures ([`FromFn`](crate::FromFn)). They write their
    /// names whenever they are serialised; a file that holds another kernel is refused with both
    /// names.
    ///
    /// Your own derives serde's two traits and takes one line here. It then stands under its name
    /// in models, streams, sums and products.
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
        note = "a kernel of your own derives `Serialize` and `Deserialize` and implements \
                `SavedKernel`",
        note = "`Isotropic` and `Ard` of a profile of your own need `SavedProfile` for the profile"
    )]
    pub trait SavedKernel: Serialize + DeserializeOwned {
        /// What it is called in files; no other kernel should be called so.
        fn name() -> String;

        /// Writes the name, and under it the kernel as it serialises itself.
        ///
        /// # Errors
        /// Those of the format.
        fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            write(&Self::name(), self, serializer)
        }

        /// Reads what [`save`](Self::save) wrote. Another kernel is no error of the format, but a
        /// typed one inside.
        ///
        /// # Errors
        /// Those of the format.
        fn load<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<LoadedKernel<Self>, D::Error> {
            read(deserializer, Self::name(), Old { fields: &[], known: false }, Ok)
        }
    }

    /// What a file held: the kernel asked for, or [`Error::Incompatible`] with the names of both.
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

    /// A part of a kernel, to be written under its name.
    pub(crate) struct Named<'a, K>(pub &'a K);

    impl<K: SavedKernel> Serialize for Named<'_, K> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.save(serializer)
        }
    }

    /// How the kernel stood in files before kernels had names.
    pub(crate) struct Old {
        pub fields: &'static [&'static str],
        /// Whether no other kernel of this crate had the same.
        pub known: bool,
    }

    /// All fields that kernels had before they had names, but the `gaussian` of a periodic one:
    /// that is a name now.
    const OLD_FIELDS: [&str; 14] = [
        "profile",
        "length_scale",
        "length_scales",
        "beta",
        "bias",
        "degree",
        "gamma",
        "offset",
        "period",
        "matrix",
        "first",
        "second",
        "kernel",
        "factor",
    ];

    /// `{name: fields}`.
    pub(crate) fn write<F: Serialize + ?Sized, S: Serializer>(
        name: &str,
        fields: &F,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, fields)?;
        map.end()
    }

    /// The kernel that `make` makes of the fields under `name`, or of fields without a name where
    /// these are known to be its own.
    pub(crate) fn read<'de, D: Deserializer<'de>, F: DeserializeOwned, K>(
        deserializer: D,
        name: String,
        old: Old,
        make: fn(F) -> Result<K>,
    ) -> Result<LoadedKernel<K>, D::Error> {
        deserializer.deserialize_map(Reader { name, old, make, fields: PhantomData })
    }

    struct Reader<F, K> {
        name: String,
        old: Old,
        make: fn(F) -> Result<K>,
        fields: PhantomData<F>,
    }

    impl<'de, F: DeserializeOwned, K> Visitor<'de> for Reader<F, K> {
        type Value = LoadedKernel<K>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(out, "the kernel `{0}` under its name, {{\"{0}\": …}}", self.name)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let Reader { name, old, make, .. } = self;
            let Some(key) = map.next_key::<String>()? else {
                return Err(A::Error::custom(format!(
                    "no kernel where `{name}` should be; the file is damaged"
                )));
            };
            if key == name {
                let fields = map.next_value()?;
                return match map.next_key::<IgnoredAny>()? {
                    None => Ok(LoadedKernel(make(fields))),
                    Some(_) => {
                        Err(A::Error::custom(format!("more than one kernel beside `{name}`")))
                    }
                };
            }
            let own = old.fields.contains(&&*key);
            let problem = match (OLD_FIELDS.contains(&&*key), own) {
                (true, true) if old.known => {
                    let fields = F::deserialize(MapAccessDeserializer::new(PutBack {
                        key: Some(key),
                        rest: map,
                    }))?;
                    return Ok(LoadedKernel(make(fields)));
                }
                (true, true) => format!(
                    "it was saved before kernels had names, and several kernels have its fields; \
                     if it is `{name}`, put \
                     {{\"{name}\": …}} around the kernel in the file"
                ),
                (true, false) => format!(
                    "it was saved before kernels had names, and its field `{key}` is none of \
                     `{name}`; load it as the \
                     kernel it was"
                ),
                (false, _) => {
                    format!(
                        "the file holds the kernel `{key}`, not `{name}`; load it as the kernel \
                         it was saved as"
                    )
                }
            };
            let error = Error::Incompatible { what: "kernel", problem };
            match skip(map) {
                Ok(()) => Ok(LoadedKernel(Err(error))),
                // a format that cannot skip, or what follows is damaged too
                Err(_) => Err(A::Error::custom(error)),
            }
        }
    }

    /// Reads the value of the last key and all that follows.
    fn skip<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
        map.next_value::<IgnoredAny>()?;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    /// A map whose first key was read already.
    struct PutBack<A> {
        key: Option<String>,
        rest: A,
    }

    impl<'de, A: MapAccess<'de>> MapAccess<'de> for PutBack<A> {
        type Error = A::Error;

        fn next_key_seed<S: DeserializeSeed<'de>>(
            &mut self,
            seed: S,
        ) -> Result<Option<S::Value>, A::Error> {
            match self.key.take() {
                Some(key) => {
                    let key: StringDeserializer<A::Error> = key.into_deserializer();
                    seed.deserialize(key).map(Some)
                }
                None => self.rest.next_key_seed(seed),
            }
        }

        fn next_value_seed<S: DeserializeSeed<'de>>(
            &mut self,
            seed: S,
        ) -> Result<S::Value, A::Error> {
            self.rest.next_value_seed(seed)
        }
    }
}

/// `checked_on_load! { Stored => Profile { field: Type }, |stored| constructor }` defines the
/// struct `Stored`, the fields as they stand in a file, and the conversion that serde's attribute
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

/// Serde for a kernel: its fields, and its parts that are kernels, under its name; loaded by the
/// constructor. `known`: whether the fields without a name can be of no other kernel.
macro_rules! saved_kernel {
    (
        [$($generic:ident: ($($bound:tt)+)),*] $kernel:ty = $name:expr, known: $known:expr,
        { $($(#[$attribute:meta])* $field:ident: $type:ty),* }
        of { $($part:ident: $part_type:ty),* }, $make:expr
    ) => {
        #[cfg(feature = "serde")]
        const _: () = {
            use $crate::load::{LoadedKernel, Old, SavedKernel, read, write};

            #[derive(serde::Serialize)]
            #[serde(bound(serialize = ""))]
            struct Fields<'a, $($generic: $($bound)+),*> {
                $($(#[$attribute])* $field: &'a $type,)*
                $($part: $crate::load::Named<'a, $part_type>,)*
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
                    };
                    write(&Self::name(), &fields, serializer)
                }
                fn load<'de, D: serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<LoadedKernel<Self>, D::Error> {
                    let make: fn(Stored<$($generic),*>) -> nystrom_linalg_core::Result<Self> =
                        $make;
                    let fields = &[$(stringify!($field),)* $(stringify!($part),)*];
                    read(deserializer, Self::name(), Old { fields, known: $known }, make)
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
