#!/bin/sh
# Evaluates the same expressions with cel-go and with celgate, and compares values, errors and cost.
# CELGATE_CORPUS names a directory of policies to take expressions from as well.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/eval" .
cargo build --quiet --release --package celgate-k8s --example eval_dump
target=${CARGO_TARGET_DIR:-../../../target}
"$work/eval" list >"$work/list"
"$work/eval" values >"$work/values"
"$work/eval" dump <"$work/list" >"$work/upstream"
"$target/release/examples/eval_dump" "$work/values" <"$work/list" >"$work/ours"
"$work/eval" compare "$work/list" "$work/upstream" "$work/ours"
