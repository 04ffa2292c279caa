//! The instruction set used by vectorised code.

use pulp::{Arch, Simd, WithSimd};

/// Runs `op` with the widest vector registers of this machine, detected at run time: AVX-512, AVX2,
/// NEON, or none.
///
/// A program built with `RUSTFLAGS='--cfg nystrom_simd="avx2"'` uses AVX2 in place of AVX-512, and
/// with `"scalar"` no vector registers, so that tests can run code that this machine would not
/// choose. These settings do not affect faer, whose products and factorisations detect the
/// registers on their own.
///
/// ```
/// use nystrom_linalg_core::dispatch;
/// struct Lanes;
/// impl pulp::WithSimd for Lanes {
///     type Output = usize;
///     fn with_simd<S: pulp::Simd>(self, _: S) -> usize {
///         S::F64_LANES
///     }
/// }
/// assert!([1, 2, 4, 8].contains(&dispatch(Lanes)));
/// ```
#[inline(always)]
pub fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    arch().dispatch(op)
}

#[inline(always)]
#[expect(clippy::disallowed_methods, reason = "the one place that detects")]
fn arch() -> Arch {
    if cfg!(nystrom_simd = "scalar") {
        return Arch::Scalar;
    }
    #[cfg(all(nystrom_simd = "avx2", target_arch = "x86_64"))]
    if let Some(avx2) = pulp::x86::V3::try_new() {
        return Arch::V3(avx2);
    }
    Arch::new()
}

/// The name of the instruction set that [`dispatch`] chooses: `V4` (AVX-512), `V3` (AVX2), `Neon`
/// or `Scalar`. Rounding errors differ between instruction sets.
///
/// ```
/// assert!(!nystrom_linalg_core::instruction_set().is_empty());
/// ```
#[must_use]
pub fn instruction_set() -> &'static str {
    struct Name;
    impl WithSimd for Name {
        type Output = &'static str;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> &'static str {
            std::any::type_name::<S>().rsplit("::").next().unwrap_or("")
        }
    }
    dispatch(Name)
}

#[cfg(test)]
mod tests {
    use super::instruction_set;

    #[test]
    fn a_build_for_one_instruction_set_obeys() {
        let name = instruction_set();
        if cfg!(nystrom_simd = "scalar") {
            assert_eq!(name, "Scalar");
        } else if cfg!(nystrom_simd = "avx2") {
            assert!(["V3", "Scalar"].contains(&name), "{name}");
        }
    }
}
