//! The program `nystrom-gpu`: all of `nystrom`, on graphics cards. `devices` lists them, `measure`
//! measures one.

mod card;
mod measure;

use clap::Parser;
use nystrom_gpu::adapters;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: nystrom_cli::LargePages = nystrom_cli::LargePages;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("devices") => {
            devices();
            ExitCode::SUCCESS
        }
        Some("measure") => match measure::run(&measure::Options::parse_from(&words[1..])) {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("error: {problem}");
                ExitCode::FAILURE
            }
        },
        _ => nystrom_cli::main_with_cards(&card::open),
    }
}

/// Lists the adapters, as `--gpu=NAME` names them.
fn devices() {
    let all = adapters();
    for adapter in &all {
        println!("{adapter}");
    }
    if all.is_empty() {
        eprintln!(
            "no graphics card found; install the driver of the card (Vulkan, Metal or D3D12)"
        );
    }
}
