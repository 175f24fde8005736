#!/bin/sh
# Compares celgate's type checker with cel-go's in the environment of ValidatingAdmissionPolicy: the policy corpus with its
# variables, cases.txt, and the expressions of the parser's comparison (cel-spec, cel-go's tests, mutations). Left out are
# long ones, on which cel-go's parser and checker can take minutes. Fails on any difference.
set -eu
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
CELGATE_CORPUS=${CELGATE_CORPUS:-$root/../shared/corpus}
CELGATE_MUTATIONS=${CELGATE_MUTATIONS:-10000}
CEL_SPEC=$(go list -m -f '{{.Dir}}' cel.dev/expr)
CEL_GO=$(go list -m -f '{{.Dir}}' github.com/google/cel-go)
export CELGATE_CORPUS CELGATE_MUTATIONS CEL_SPEC CEL_GO
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/checker" .
cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p celgate-k8s --example check_dump
check_dump=${CARGO_TARGET_DIR:-$root/target}/release/examples/check_dump
"$work/checker" list >"$work/cases"
(cd ../parser && go run . list) | awk 'length($0) < 800 { print "-pa " $0 }' >>"$work/cases"
"$work/checker" dump <"$work/cases" >"$work/cel-go"
"$check_dump" <"$work/cases" >"$work/celgate"
"$work/checker" compare "$work/cases" "$work/cel-go" "$work/celgate"
