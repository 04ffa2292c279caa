#!/usr/bin/env bash
# Installs Mesa's software Vulkan if there is none (on Debian, as root), and tests the crate on it.
# With the argument `small`, only one product of each kernel, and without the program.
#
# NYSTROM_GPU names another adapter to test. NYSTROM_GPU_TARGET is the target folder.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
export CARGO_TARGET_DIR=${NYSTROM_GPU_TARGET:-$PWD/target}
if [ -z "${NYSTROM_GPU:-}" ] && ! ls /usr/share/vulkan/icd.d/lvp_icd* > /dev/null 2>&1; then
  if ! { apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends mesa-vulkan-drivers libvulkan1; }; then
    echo "NOT TESTED: Mesa's software Vulkan is missing and could not be installed; as root on" \
      "Debian, run apt-get install mesa-vulkan-drivers libvulkan1"
    exit 0
  fi
fi
# Mesa asks for it, though nothing is drawn
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/tmp}
cargo fmt --check
if [ "${1:-}" = small ]; then
  cargo test --locked --no-default-features --test it -- precision::
else
  cargo clippy --all-targets --locked -- -D warnings
  cargo test --locked
fi
