#!/usr/bin/env bash
# Installs the package in a fresh environment, as a user would, and tests it. Arguments are further
# requirements, such as 'scikit-learn==1.6.*' 'numpy<2' for the oldest versions that are supported.
#
# The package is compiled with the test profile. NYSTROM_PYTHON_TARGET is the target folder. If it
# is that of the main workspace, whose profile is the same, dependencies are not compiled again.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 PIP_DISABLE_PIP_VERSION_CHECK=1
export CARGO_TARGET_DIR=${NYSTROM_PYTHON_TARGET:-$PWD/target}
home=$CARGO_TARGET_DIR/ci
cargo fmt --check
./licences.py --check
rm -rf "$home"
python3 -m venv "$home"
bin=$home/bin
if ! "$bin/pip" install --quiet 'maturin>=1.9,<2' numpy scikit-learn pandas polars pyarrow pytest \
  pytest-xdist matplotlib mkdocs 'dask[array,dataframe,distributed]' "$@"; then
  echo "NOT TESTED: pip could not install the packages that the tests need; allow access to PyPI"
  exit 0
fi
PATH=$bin:$PATH "$bin/pip" install --quiet --no-deps --no-build-isolation \
  --config-settings=build-args='--profile dev --locked --features gpu' .
PYO3_PYTHON=$bin/python cargo clippy --all-targets --features gpu --locked -- -D warnings
PYO3_PYTHON=$bin/python cargo clippy --all-targets --locked -- -D warnings
# A source distribution must contain all crates of this repository that it needs.
"$bin/maturin" sdist --out "$home/sdist" 2> "$home/sdist.log" || { cat "$home/sdist.log"; exit 1; }
mkdir "$home/unpacked"
tar -xzf "$home"/sdist/*.tar.gz -C "$home/unpacked" --strip-components=1
(cd "$home/unpacked/python" && cargo metadata --format-version 1 --locked --offline > /dev/null)
"$bin/pytest" -p no:cacheprovider -n 2 --dist worksteal
