#!/usr/bin/env bash
# measure.sh PART [OPTION]: measures a card, and prints a line of JSON for each result. A part takes
# at most four minutes.
#
#   devices    the adapters
#   speed      kernel values a second for d = 3, 10, 32, 90 and 1 and 28 right-hand sides;
#              --peak FMA_PER_SECOND adds the share of the card's rate (NVIDIA H100: 3.3e13)
#   error      the error against f64 on 200 rows
#   time-100k, time-500k, time-1m
#              a fit with all rows as centres (d = 10): the residual after every iteration, one run
#              for all tolerances; it stops at 1e-3, or after --limit SECONDS (200)
#   centres    a product with K_nm and one with its transpose, n = 1e6, M = 512,000
#   small      every part in a tiny size, such as on an adapter in software
#
# --name NAME chooses another adapter than the best card. --rows N and --centres M are other sizes.
# Needs the program and the driver only: build with `cargo build --release`, and set
# NYSTROM_GPU_PROGRAM to where the program has been copied.
set -euo pipefail
cd "$(dirname "$0")"
program=${NYSTROM_GPU_PROGRAM:-${CARGO_TARGET_DIR:-target}/release/nystrom-gpu}
measure() {
  timeout 240 "$program" measure "$@"
}
part=${1:-}
shift || true
case $part in
  devices) exec "$program" devices ;;
  speed | error) measure "$part" "$@" ;;
  time-100k) measure time --rows 100000 "$@" ;;
  time-500k) measure time --rows 500000 "$@" ;;
  time-1m) measure time --rows 1000000 "$@" ;;
  centres) measure centres --rows 1000000 "$@" ;;
  small)
    measure speed "$@"
    measure error "$@"
    measure time --rows 2000 "$@"
    measure centres --rows 3000 --centres 1500 "$@"
    ;;
  *)
    grep '^#' "$0" | tail -n +2
    exit 1
    ;;
esac
