#!/bin/sh
# Compares the functions on strings, lists and sets with cel-go's: values, errors and cost. The programs are those of ../eval.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/extensions" .
go build -C ../eval -o "$work/eval" .
cargo build --quiet --package celgate-k8s --example eval_dump
target=${CARGO_TARGET_DIR:-../../../target}
"$work/extensions" >"$work/list"
"$work/eval" values >"$work/values"
"$work/eval" dump <"$work/list" >"$work/upstream"
"$target/debug/examples/eval_dump" "$work/values" <"$work/list" >"$work/ours"
"$work/eval" compare "$work/list" "$work/upstream" "$work/ours"
