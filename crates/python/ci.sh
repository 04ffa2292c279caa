#!/usr/bin/env bash
# Installs the package in a fresh environment, as a user would, and tests it. Arguments are further
# requirements, such as 'scikit-learn==1.6.*' 'numpy<2'.
#
# It is compiled in the profile of the tests, in a target directory of its own.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 PIP_DISABLE_PIP_VERSION_CHECK=1
export CARGO_TARGET_DIR=${NYSTROM_PYTHON_TARGET:-$PWD/target}
home=$CARGO_TARGET_DIR/ci
cargo fmt --check
rm -rf "$home"
python3 -m venv "$home"
bin=$home/bin
"$bin/pip" install --quiet 'maturin>=1.9,<2' numpy scikit-learn pandas polars pyarrow pytest "$@"
PATH=$bin:$PATH "$bin/pip" install --quiet --no-deps --no-build-isolation \
  --config-settings=build-args='--profile dev --locked' .
"$bin/pytest" -p no:cacheprovider
