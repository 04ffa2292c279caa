#!/usr/bin/env bash
# Installs Open MPI where it is missing (Debian, as root), and tests the crate with real jobs.
#
# NYSTROM_MPI_TARGET is the folder for what is compiled; in that of the other crates, whose profile
# is the same, their dependencies are not compiled again.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
export CARGO_TARGET_DIR=${NYSTROM_MPI_TARGET:-$PWD/target}
if ! command -v mpirun > /dev/null || ! command -v mpicc > /dev/null \
  || ! ls /usr/lib/llvm-*/lib/libclang.so* > /dev/null 2>&1; then
  if ! { apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends \
      libopenmpi-dev openmpi-bin libclang-dev; }; then
    echo "NOT TESTED: Open MPI is not here and cannot be installed (as root, from Debian's packages)"
    exit 0
  fi
fi
cargo fmt --check
cargo test --locked
