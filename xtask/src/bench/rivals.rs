//! Who stands beside us in the comparison, and times put together from several benches.

use super::comparison::{Peer, Rates, Rival};
use super::criterion::Measurements;

/// Steps of the swap chain in one time of its bench.
const STEPS: f64 = 200.0;

/// A peer that prints one number.
pub const fn peer(
    name: &'static str,
    arguments: &'static str,
    tool: &'static str,
    key: &'static str,
) -> Rival {
    Rival::Peer(Peer { name, arguments, tool, only: &[], key })
}

/// The blocked fit with NumPy.
pub const fn blocked(arguments: &'static str) -> Rival {
    peer("NumPy, blocked", arguments, "numpy_blocked_whitened", "fit_s")
}

/// The fit with scikit-learn.
pub const fn scikit(arguments: &'static str) -> Rival {
    peer("scikit-learn", arguments, "sklearn_Nystroem+Ridge", "fit_s")
}

/// A Cholesky factorisation with SciPy.
pub const fn potrf(size: &'static [(&'static str, &'static str)]) -> Rival {
    Rival::Peer(Peer {
        name: "SciPy (OpenBLAS)",
        arguments: "T7 --tool potrf",
        tool: "scipy_potrf",
        only: size,
        key: "wall_min",
    })
}

/// A step of DPPy's chain.
pub const fn dppy_step(arguments: &'static str) -> Rival {
    peer("DPPy, CPU time", arguments, "dppy_mcmc_kdpp", "cpu_per_iter")
}

/// The chain's step: one matrix-vector product of order c and c kernel entries.
pub fn step(rates: &Rates<'_>, c: u32) -> Option<f64> {
    let product = rates.0.seconds(&format!("k_dpp_200_swap_steps/matvec/{c}"))? / STEPS;
    Some(product + f64::from(c) / rates.tile("f64/matern32/d=3")?)
}

/// Our chain's step.
pub fn metropolis(ours: &Measurements, c: u32) -> Option<f64> {
    ours.seconds(&format!("k_dpp_200_swap_steps/metropolis n=4000/{c}")).map(|s| s / STEPS)
}

/// An iteration: a tenth of the difference that ten of them make.
pub fn falkon_iteration(ours: &Measurements) -> Option<f64> {
    let of =
        |iterations: u32| ours.seconds(&format!("falkon_n200000/{iterations} iterations/m=1000"));
    Some((of(10)? - of(0)?) / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iteration_is_a_tenth_of_the_difference() {
        let times = [
            ("falkon_n200000/0 iterations/m=1000", 1.0),
            ("falkon_n200000/10 iterations/m=1000", 3.0),
        ];
        assert_eq!(falkon_iteration(&Measurements::from(times)), Some(0.2));
    }
}
