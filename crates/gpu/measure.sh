#!/usr/bin/env bash
# measure.sh PART [OPTION]: measures products on a card, and prints a line of JSON for each.
#
#   devices   the adapters
#   speed     kernel values a second for d = 3, 10, 32, 90 and 1 and 28 right-hand sides;
#             --peak FMA_PER_SECOND adds the share of the card's rate (NVIDIA H100: 3.3e13)
#   error     the error against f64 on 200 rows
#
# --name NAME chooses another adapter than the first discrete card. Needs the program and the
# driver only: build with `cargo build --release` and set NYSTROM_GPU_PROGRAM to where the program
# has been copied.
set -euo pipefail
cd "$(dirname "$0")"
program=${NYSTROM_GPU_PROGRAM:-${CARGO_TARGET_DIR:-target}/release/nystrom-gpu}
case ${1:-} in
  devices | speed | error) exec timeout 240 "$program" "$@" ;;
  *)
    grep '^#' "$0" | tail -n +2
    exit 1
    ;;
esac
