#!/bin/sh
# Compares celgate's Kubernetes libraries with upstream's: value, error text and cost of every expression in cases.txt and
# of random ones, and the code points that Go prints as they are. Fails on any difference.
#
#   run.sh [random expressions, default 20000] [seed, default 1]
set -eu
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/libraries" .
cargo build --quiet --manifest-path "$root/Cargo.toml" -p celgate-k8s --example eval_libraries
celgate=${CARGO_TARGET_DIR:-$root/target}/debug/examples/eval_libraries
"$work/libraries" printable >"$work/printable"
"$celgate" printable | cmp - "$work/printable"
"$work/libraries" generate "${1:-20000}" "${2:-1}" >"$work/random"
cat cases.txt "$work/random" >"$work/expressions"
"$work/libraries" eval <"$work/expressions" >"$work/upstream"
"$celgate" <"$work/expressions" >"$work/celgate"
"$work/libraries" compare "$work/expressions" "$work/upstream" "$work/celgate"
