//! What this run ran on, when, and how much memory it took.

use std::fs;
use std::process::Command;
use std::time::SystemTime;

/// The time as RFC 3339 has it, in seconds.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The processor's name, where the system tells.
pub fn cpu_model() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    field(&info, "model name").map(str::to_owned)
}

/// The compiler that built this program, where the build could tell.
pub fn rustc_version() -> Option<&'static str> {
    option_env!("XTASK_RUSTC_VERSION")
}

/// The commit checked out in the folder, where git can tell; `+` marks local changes.
pub fn git_revision(folder: &std::path::Path) -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").arg("-C").arg(folder).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let revision = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if changed { revision + "+" } else { revision })
}

/// Starts a new measurement of the peak of resident memory; false where the system has no such
/// thing.
pub fn reset_peak_memory() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The peak of resident memory since [`reset_peak_memory`], in MB (10⁶ bytes).
pub fn peak_memory_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kib: f64 = field(&status, "VmHWM")?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// The value in the first line `key : value`.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(k, _)| k.trim() == key)
        .map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found() {
        let text = "Name:\txtask\nVmHWM:\t   2048 kB\nmodel name\t: A: B\n";
        assert_eq!(field(text, "VmHWM"), Some("2048 kB"));
        assert_eq!(field(text, "model name"), Some("A: B"));
        assert_eq!(field(text, "VmPeak"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_peak_sees_an_allocation() {
        let before = peak_memory_mb().unwrap();
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(peak_memory_mb().unwrap() >= before.min(64.0), "{} bytes", block.len());
        assert!(peak_memory_mb().unwrap() > 64.0);
    }
}
