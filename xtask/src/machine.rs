//! What this run ran on, when, and how much memory it took.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// The time as RFC 3339 has it, in seconds.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The processor's name, where the system tells.
pub fn cpu_model() -> Option<String> {
    field("/proc/cpuinfo", "model name")
}

/// The compiler that built this program, where the build could tell.
pub fn rustc_version() -> Option<&'static str> {
    option_env!("XTASK_RUSTC_VERSION")
}

/// The commit checked out in the folder, where git can tell; `+` marks local changes.
pub fn git_revision(folder: &Path) -> Option<String> {
    // `--exclude=*`: the commit's own name, whatever tags there are
    let describe = ["describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"];
    let output = Command::new("git").arg("-C").arg(folder).args(describe).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Starts a new measurement of the peak of resident memory; false where the system has no such
/// thing.
pub fn reset_peak_memory() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The peak of resident memory since [`reset_peak_memory`], in MB (10⁶ bytes).
pub fn peak_memory_mb() -> Option<f64> {
    let kib: f64 = field("/proc/self/status", "VmHWM")?.strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// The value in the first line `key : value` of a file of the kernel.
fn field(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(k, _)| k.trim() == key).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_peak_sees_an_allocation() {
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(peak_memory_mb().unwrap() > 64.0, "{} bytes", block.len());
    }
}
