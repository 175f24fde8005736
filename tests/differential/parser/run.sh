#!/bin/sh
# Compares celgate's parser with cel-go's over the policy corpus, cel-spec's tests, cel-go's own tests, the expressions in
# this directory, and mutations of all of them. Fails on the first run with a difference.
set -eu
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
CELGATE_CORPUS=${CELGATE_CORPUS:-$root/../shared/corpus}
CEL_SPEC=$(go list -m -f '{{.Dir}}' cel.dev/expr)
CEL_GO=$(go list -m -f '{{.Dir}}' github.com/google/cel-go)
export CELGATE_CORPUS CEL_SPEC CEL_GO
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/parser" .
cargo build --quiet --manifest-path "$root/Cargo.toml" -p celgate-cel --example dump_ast
dump_ast=${CARGO_TARGET_DIR:-$root/target}/debug/examples/dump_ast
"$work/parser" list >"$work/expressions"
"$work/parser" dump <"$work/expressions" >"$work/cel-go"
"$dump_ast" <"$work/expressions" >"$work/celgate"
"$work/parser" compare "$work/expressions" "$work/cel-go" "$work/celgate"
"$work/parser" dump -macros <"$work/expressions" >"$work/cel-go"
"$dump_ast" --macro-calls <"$work/expressions" >"$work/celgate"
"$work/parser" compare "$work/expressions" "$work/cel-go" "$work/celgate"
