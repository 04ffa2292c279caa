#!/usr/bin/env bash
# Installs Open MPI if it is missing (on Debian, as root), and tests the crate with real jobs.
#
# NYSTROM_MPI_TARGET is the target folder. If it is that of the main workspace, whose profile is the
# same, dependencies are not compiled again.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
export CARGO_TARGET_DIR=${NYSTROM_MPI_TARGET:-$PWD/target}
if ! command -v mpirun > /dev/null || ! command -v mpicc > /dev/null \
  || ! ls /usr/lib/llvm-*/lib/libclang.so* > /dev/null 2>&1; then
  if ! { apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends \
      libopenmpi-dev openmpi-bin libclang-dev; }; then
    echo "NOT TESTED: Open MPI is missing and could not be installed; as root on Debian, run" \
      "apt-get install libopenmpi-dev openmpi-bin libclang-dev"
    exit 0
  fi
fi
cargo fmt --check
cargo test --locked
