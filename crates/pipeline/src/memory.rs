//! The memory that a fit may use where nobody says how much.

use sysinfo::{
    CGroupLimits, MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid,
};

use crate::effort::rounded;

/// Half of the memory that this process can still get, in bytes, to two digits: the default of the
/// command line and of Python. None if the system does not tell.
///
/// In a container, or wherever else a control group of Linux limits the process, what the group has
/// left counts, for a process that takes more is killed. Files that the system keeps in memory
/// count as free, since they give way.
///
/// ```
/// if let Some(bytes) = nystrom_pipeline::half_of_free_memory() {
///     println!("--memory {bytes}");
/// }
/// ```
pub fn half_of_free_memory() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let limits = get_current_pid().ok().and_then(|own| {
        let (this, kind) = (ProcessesToUpdate::Some(&[own]), ProcessRefreshKind::nothing());
        system.refresh_processes_specifics(this, false, kind);
        system.process(own)?.cgroup_limits()
    });
    half(system.available_memory(), limits.as_ref())
}

/// Half of what the machine has available and the group has left; none of 0, which stands for
/// "unknown".
fn half(available: u64, limits: Option<&CGroupLimits>) -> Option<u64> {
    let left = limits.map_or(u64::MAX, |own| own.total_memory.saturating_sub(own.rss));
    let free = available.min(left);
    (available > 0).then(|| rounded(free as f64 / 2.0, 2) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_machine_and_group_counts() {
        let group = |total_memory, rss| CGroupLimits { total_memory, rss, ..Default::default() };
        assert_eq!(half(8_000_000_000, None), Some(4_000_000_000));
        assert_eq!(half(8_246_000_000, None), Some(4_100_000_000)); // two digits
        assert_eq!(half(8_000_000_000, Some(&group(2_000_000_000, 0))), Some(1_000_000_000));
        assert_eq!(
            half(8_000_000_000, Some(&group(2_000_000_000, 1_500_000_000))),
            Some(250_000_000)
        );
        assert_eq!(half(8_000_000_000, Some(&group(64_000_000_000, 0))), Some(4_000_000_000));
        assert_eq!(half(8_000_000_000, Some(&group(1, 2))), Some(0)); // nothing left, not unknown
        assert_eq!(half(0, None), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_tells() {
        let found = half_of_free_memory().unwrap();
        assert!(found > 0 && found < 1 << 50, "{found}");
    }
}
