# celgate: everything that a developer or CI runs. `make demo` and `make test` need Rust (cargo), Go, a C compiler and make; all else is
# fetched by them.

GO ?= go
CARGO ?= cargo
CC ?= cc
export CELGATE_CORPUS ?= $(abspath ../shared/corpus)
# One place for what is built; removed by `make clean`.
BIN := bin

.DEFAULT_GOAL := help

.PHONY: help
help:
	@echo 'make demo            run every scenario of examples/ against a real kube-apiserver (10 minutes cold, seconds warm)'
	@echo 'make test            formatting, lints, unit tests, differential tests, end-to-end tests'
	@echo 'make run             a kube-apiserver with an etcd inside, to try policies on'
	@echo 'make lib             target/release/libcelgate.a and include/celgate.h, for your own apiserver'
	@echo 'make bench           upstream'"'"'s plugin and ours side by side; results in benchmarks/results'
	@echo 'make differential    generated expressions in cel-go and the core: CASES=100000 SEED=1'
	@echo 'make differential-cases the expressions of tests/cases in cel-go and the core'
	@echo 'make differential-admission generated worlds of policies and requests, in our plugin and upstream'"'"'s: WORLDS=20000 REQUESTS=50 SEED=1'
	@echo 'make differential-webhooks generated worlds of webhooks, requests and a server that is called: WORLDS=4000 REQUESTS=50 SEED=1'
	@echo 'make soak            both plugins under load while everything changes: TIME=30m SEED=1; soak-race, soak-asan'
	@echo 'make bench-expressions the evaluator alone beside cel-go, the cel crate and the C++ runtime'
	@echo 'make bench-by-hand   the core beside the same checks written by hand in Rust'
	@echo 'make test-upstream   upstream'"'"'s own integration suite with our plugin compiled in'
	@echo 'make conformance     the tests of cel-spec, in the core and in cel-go'
	@echo 'make check-memory    race detector, AddressSanitizer and forced collections over the boundary'
	@echo 'make fuzz            every fuzz target for TIME (default 60s); see tests/fuzz/README.md'
	@echo 'make record          record examples/*/expected.json from upstream'"'"'s engine'

.PHONY: prerequisites
prerequisites:
	@missing=; for tool in $(CARGO) $(GO) $(CC); do command -v $$tool >/dev/null 2>&1 || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then echo "missing:$$missing. celgate needs Rust 1.90 or newer (cargo), Go 1.26 or newer and a C compiler" >&2; exit 1; fi

.PHONY: lib
lib: prerequisites
	$(CARGO) build --release --locked

include go/cmd/kube-apiserver/targets.mk

.PHONY: demo
demo: server
	@mkdir -p $(BIN) && cd go && $(GO) build -o ../$(BIN)/demo ./cmd/demo
	$(BIN)/demo $(DEMO_FLAGS)

.PHONY: record
record: server
	@mkdir -p $(BIN) && cd go && $(GO) build -o ../$(BIN)/demo ./cmd/demo
	$(BIN)/demo --admission-engine=upstream --record

include tests/targets.mk
include benchmarks/targets.mk

.PHONY: clean
clean:
	rm -rf $(BIN) build target
