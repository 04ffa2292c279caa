//! Tells the program which compiler built it, for `run.json`.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    if let Ok(output) = Command::new(rustc).arg("--version").output()
        && let Ok(version) = String::from_utf8(output.stdout)
    {
        println!("cargo::rustc-env=XTASK_RUSTC_VERSION={}", version.trim());
    }
}
